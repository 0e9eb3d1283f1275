"""Estimators with the kernel fixed, for refits that do not learn it again."""

from __future__ import annotations

from typing import Any

from relvec.bases import LinearBasis
from relvec.estimators import RVMRegressor, SparseBayesRegressor
from relvec.learning.learnt import SPARSE_LINEAR
from relvec.solvers import NullSolver, OddsLearner, RidgeSolver

__all__ = ["fix_learnt_kernel"]

NOISE_OPTIONS = ("noise", "scale_noise", "target_transform")
"""Options of regressors that refits with another basis keep."""


def fix_learnt_kernel(model: Any) -> tuple[Any, bool]:
    """Return a fitted model with its learnt kernel fixed, for fast refits; and whether it has one.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
    >>> model = RVMRegressor().fit(X, np.sin(X[:, 0]))
    >>> fixed, has_learnt_kernel = fix_learnt_kernel(model)
    >>> fixed.length_scales is None, has_learnt_kernel
    (True, True)
    """
    own = model.get_params(deep=False)
    if not hasattr(model, "learnt_length_scales_") or "kernel" not in own:
        return model, False
    simple = {"linear": RidgeSolver(), SPARSE_LINEAR: OddsLearner(), "null": NullSolver()}.get(
        model.learnt_length_scales_.group
    )
    if simple is not None:  # a linear or null model, without kernels
        kept = {name: own[name] for name in NOISE_OPTIONS if name in own}
        return SparseBayesRegressor(LinearBasis(), solver=simple, **kept), False
    kernel = model.kernel_
    shared = RVMRegressor().get_params(deep=False).keys() & own.keys()
    options = {
        name: own[name] for name in shared - {"kernel", "length_scales", "gamma", "warm_start"}
    }
    return RVMRegressor(kernel, length_scales=None, **options), True
