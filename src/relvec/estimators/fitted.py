"""Basis and optimisation problem of a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from relvec._typing import ArrayLike
from relvec.bases import BoundBasis, LinearBasis
from relvec.bases.base import Basis
from relvec.estimators._inputs import read_weight
from relvec.estimators._length_scales import with_learnt_kernels
from relvec.estimators._plan import Data
from relvec.estimators._solvers import choose_precision
from relvec.estimators._target_transform import check_support
from relvec.solvers import Problem

__all__ = ["fitted_basis", "fitted_precision", "fitted_problem"]


def fitted_basis(model: Any) -> Basis:
    """Return the basis of a fitted model, with its learnt kernel.

    Parameters
    ----------
    model : regressor or classifier of relvec
        Fitted model.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> from relvec.estimators.fitted import fitted_basis
    >>> X = np.linspace(-3, 3, 31)[:, None]
    >>> model = RVMRegressor(gamma=2.0, noise_variance=0.01).fit(X, np.exp(-(X[:, 0] ** 2)))
    >>> fitted_basis(model)
    KernelBasis(gamma=2.0)
    """
    if getattr(model, "model_kind_", None) == "linear":
        return LinearBasis()
    basis: Basis = model._resolve_basis()
    learnt = getattr(model, "learnt_length_scales_", None)
    return basis if learnt is None else with_learnt_kernels(basis, learnt)


def fitted_precision(model: Any) -> str:
    """Return "atom" or "tied", which the option `precision` of a fitted model stands for.

    Parameters
    ----------
    model : regressor or classifier of relvec
        Fitted model.

    Examples
    --------
    >>> from relvec import SparseBayesRegressor
    >>> from relvec.bases import SmoothBasis
    >>> from relvec.estimators.fitted import fitted_precision
    >>> X = np.linspace(0, 10, 40)[:, None]
    >>> fitted_precision(SparseBayesRegressor(SmoothBasis(2.0)).fit(X, np.sin(X[:, 0])))
    'tied'
    """
    return choose_precision(getattr(model, "precision", "atom"), fitted_basis(model))


def fitted_problem(
    model: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> tuple[Problem, BoundBasis]:
    """Return the optimisation problem of a fitted regressor with one target, and its bound basis.

    A fitted model stores active atoms only. The problem of all candidate atoms is made again from
    the training data, without the search.

    Parameters
    ----------
    model : regressor of relvec
        Fitted model.
    X : array-like of shape (n_samples, n_features)
        Training inputs.
    y : array-like of shape (n_samples,)
        Training targets.
    sample_weight : array-like of shape (n_samples,), optional
        Frequency weights of the fit.

    Returns
    -------
    problem : Problem
        Problem that the solver was given.
    bound : BoundBasis
        All candidate atoms.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> from relvec.estimators.fitted import fitted_problem
    >>> X = np.linspace(-3, 3, 31)[:, None]
    >>> y = np.exp(-(X[:, 0] ** 2))
    >>> problem, bound = fitted_problem(RVMRegressor(gamma=2.0).fit(X, y), X, y)
    >>> problem.moments.n_atoms, len(bound.atoms)
    (31, 31)
    """
    inputs, plan = np.asarray(X, dtype=np.float64), model._resolve()
    if getattr(plan, "tune_atoms", None) is not None:
        raise ValueError(
            f"with tune_atoms={plan.tune_atoms!r} the basis functions of the model are not among "
            "the candidates, so their problem cannot be made again. Use tune_atoms=None."
        )
    weight = None if sample_weight is None else read_weight(sample_weight, inputs)
    random_state = check_random_state(plan.random_state)
    bound = fitted_basis(model).bind(inputs, sample_weight=weight, random_state=random_state)
    target = np.asarray(y, dtype=np.float64).reshape(-1, 1)
    output = model.outputs_[0]
    if output.transform is not None:
        check_support(output.transform, target[:, 0], weight)
        target = output.transform.forward(target)
    data = Data(inputs, target, weight, np.zeros(len(target), int))
    row_variance = output.find_row_variance(inputs, target[:, 0], weight)
    if row_variance is not None:
        data = data._replace(row_variance=row_variance[:, None])
    (moments,) = plan.compute_moments(bound, data)
    return plan.make_problem(moments, bound), bound
