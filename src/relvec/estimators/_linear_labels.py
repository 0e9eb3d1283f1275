"""Linear classification with more features than rows.

With more features than rows only as many directions matter as there are rows: those in which the
rows differ. A linear kernel centred on each of these directions is one atom. If the weights of the
standardised features are independent a priori, so are the weights of these atoms. The cost is that
of the inner products of the rows.
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
    """Fit a linear model of all features; for several classes one for each against the rest.

    Predictions are those at the mode, because the precision is chosen by the log loss there. Away
    from the data the novelty process is that of kernels.
    """
    basis = KernelBasis(learnt.kernel, centers=_compute_directions(learnt, data))
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
        models.append(replace(model, novelty=novelty, marginalises=False))
    class_model = ClassModel(
        models,
        fit.bound,
        intercept_is_fitted=fit.class_model.intercept_is_fitted,
        class_prior=fit.class_model.class_prior,
    )
    return replace(fit, class_model=class_model)


def _compute_directions(learnt: LearntLengthScales, data: Data) -> Matrix:
    """Return centres of linear kernels: orthonormal directions of the standardised features.

    There is one for each direction in which the rows differ (singular value decomposition).
    """
    root = np.sqrt(learnt.scale)
    rows = data.X if data.weight is None else data.X[data.weight > 0.0]
    # Kernel of scaled inputs: sqrt(scale) is divided out of the centres again at the end, so that
    # the kernel of x and a centre is the coordinate of scaled x along a unit direction.
    scaled = (rows - rows.mean(axis=0)) * root
    with limit_blas_threads(float(scaled.size) * min(scaled.shape)):
        _, size, directions = np.linalg.svd(scaled, full_matrices=False)
    # Smaller singular values are rounding errors: squares in the Gram matrix are below 1e-16.
    kept = size > 1e-8 * size.max(initial=0.0)
    return np.divide(directions[kept], root, out=np.zeros_like(directions[kept]), where=root > 0.0)
