"""Conformance checks for user-defined extensions.

A dictionary, kernel, basis, prior, likelihood, solver or sampler that passes its check works with
the rest of the library. Each check raises `AssertionError` with a message that names the object and
what is wrong.
"""

from relvec.testing.bases import check_basis
from relvec.testing.dictionaries import check_dictionary
from relvec.testing.kernels import check_kernel
from relvec.testing.likelihoods import check_likelihood
from relvec.testing.moves import check_move
from relvec.testing.priors import check_prior
from relvec.testing.samplers import check_sampler
from relvec.testing.solvers import check_solver

__all__ = [
    "check_basis",
    "check_dictionary",
    "check_kernel",
    "check_likelihood",
    "check_move",
    "check_prior",
    "check_sampler",
    "check_solver",
]
