"""Labels of wide data by a model that is linear in all inputs alike.

With more inputs than rows only as many directions matter as there are rows: those in which the
rows differ. A linear kernel centred on these has one atom for each, whose weights are independent
if those of the inputs, in units of their standard deviations, are. The cost is that of the inner
products of the rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from relvec._linalg import limit_blas_threads
from relvec._typing import Matrix
from relvec.bases import KernelBasis
from relvec.error_bars import fit_label_novelty
from relvec.estimators._class_model import ClassModel
from relvec.priors import FlatPrior
from relvec.solvers import LaplaceRidgeSolver

if TYPE_CHECKING:
    from relvec.estimators._classification_plan import ClassificationFit, ClassificationPlan
    from relvec.estimators._plan import Data
    from relvec.learning import LearntLengthScales

__all__ = ["fit_linear_labels"]


def fit_linear_labels(
    plan: ClassificationPlan, learnt: LearntLengthScales, data: Data
) -> ClassificationFit:
    """Fit the linear model, of several classes one for each against the rest.

    Its predictions are those of the mode, which the precision is chosen by, and far away those
    of kernels.
    """
    basis = KernelBasis(learnt.kernel, centers=_directions(learnt, data))
    linear = replace(
        plan,
        basis=basis,
        solver=LaplaceRidgeSolver(),
        prior=FlatPrior(),
        min_gain=0.0,
        multi_class="one_vs_rest",
        is_signed=False,
    )
    fit = linear.fit(basis, data)
    assert learnt.replaced is not None
    models = []
    for model in fit.class_model.models:
        novelty = None
        if plan.error_bars != "plain":
            kernel, logit = learnt.replaced.kernel, model.mean(data.X)
            novelty = fit_label_novelty(kernel, data.X, data.weight, logit[:, None])
        models.append(replace(model, novelty=novelty, averages=False))
    class_model = ClassModel(
        models,
        fit.bound,
        intercept_is_fitted=fit.class_model.intercept_is_fitted,
        shares=fit.class_model.shares,
    )
    return replace(fit, class_model=class_model)


def _directions(learnt: LearntLengthScales, data: Data) -> Matrix:
    """Centres of linear kernels that are orthonormal coordinates of the scaled inputs.

    One for each direction in which the rows differ.
    """
    root = np.sqrt(learnt.scale)
    rows = data.X if data.weight is None else data.X[data.weight > 0.0]
    scaled = (rows - rows.mean(axis=0)) * root
    with limit_blas_threads(float(scaled.size) * min(scaled.shape)):
        _, size, directions = np.linalg.svd(scaled, full_matrices=False)
    kept = size > 1e-8 * size.max(initial=0.0)
    return np.divide(directions[kept], root, out=np.zeros_like(directions[kept]), where=root > 0.0)
