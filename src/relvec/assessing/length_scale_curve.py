"""Evidence and held-out predictions against the length-scale of the kernel."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state, check_X_y
from sklearn.utils.parallel import Parallel, delayed

from relvec._checks import check_integer
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.assessing._length_scale import LengthScaleFamily, compute_spacing
from relvec.assessing.refit import predict_after_fit, refit

__all__ = ["EvidenceCurve", "evidence_curve"]

CRITERIA = {
    "log_evidence": "log evidence",
    "penalised_evidence": "penalised evidence",
    "tied_evidence": "tied evidence",
    "mlpd": "cross-validated MLPD",
}
"""Criteria for the length-scale, and what messages and plots call them; larger is better."""
N_DEFAULT = 20
"""Length-scales by default; from a quarter of the spacing to the extent of the data, a step is a
factor of about 1.4 with a hundred inputs of one feature."""


@dataclass(frozen=True, eq=False)
class EvidenceCurve:
    """Criteria of model selection as functions of the length-scale of the kernel.

    Returned by `evidence_curve`.

    Parameters
    ----------
    length_scales : ndarray of shape (n_length_scales,)
        Length-scales, in increasing order.
    log_evidence : ndarray of shape (n_length_scales,)
        Log evidence at the optimal precisions and noise variance, in nats.
    penalised_evidence : ndarray of shape (n_length_scales,)
        The same less ``ln(n_samples) / 2`` for each precision in the model, and for the
        length-scale.
    tied_evidence : ndarray of shape (n_length_scales,)
        Log evidence of the model with one precision for all basis functions.
    mlpd, mlpd_error : ndarray of shape (n_length_scales,)
        Mean log predictive density of held-out rows by cross-validation, in nats, and its standard
        error over rows; NaN without cross-validation.
    n_relevant : ndarray of shape (n_length_scales,)
        Number of basis functions in the model.
    noise_variance : ndarray of shape (n_length_scales,)
        Noise variance of the model.
    spacing : float
        Spacing of the inputs: mean distance of neighbouring values of one feature, or median
        distance to the nearest neighbour for several.
    own_length_scale : float or None
        Length-scale of the estimator itself, given or learnt; None if it has several, or no kernel.
    name : str
        Name of the estimator, for legends.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor, evidence_curve
    >>> x = np.linspace(-10, 10, 50)[:, np.newaxis]
    >>> y = np.sinc(x[:, 0] / np.pi) + 0.05 * np.random.default_rng(0).normal(size=50)
    >>> curve = evidence_curve(RVMRegressor(), x, y, length_scales=[0.5, 2.0, 8.0], cv=None)
    >>> curve.best["log_evidence"], curve.best["tied_evidence"]
    (2.0, 2.0)
    """

    length_scales: Vector
    log_evidence: Vector
    penalised_evidence: Vector
    tied_evidence: Vector
    mlpd: Vector
    mlpd_error: Vector
    n_relevant: Vector
    noise_variance: Vector
    spacing: float
    own_length_scale: float | None
    name: str

    @property
    def best(self) -> dict[str, float]:
        """Length-scale at the maximum of each criterion; without MLPD if it was not computed."""
        return {
            key: float(self.length_scales[np.argmax(values)])
            for key in CRITERIA
            if not np.isnan(values := getattr(self, key)).all()
        }

    @property
    def is_below_spacing(self) -> bool:
        """Whether the log evidence is largest at a length-scale below the spacing of the inputs."""
        return self.best["log_evidence"] < self.spacing

    def to_dict(self) -> dict[str, Any]:
        """Return one array per quantity, with an entry per length-scale, for a data frame.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor, evidence_curve
        >>> x = np.linspace(-3, 3, 20)[:, np.newaxis]
        >>> curve = evidence_curve(
        ...     RVMRegressor(), x, np.sin(x[:, 0]), length_scales=[1, 2], cv=None
        ... )
        >>> list(curve.to_dict())[:3]
        ['length_scale', 'log_evidence', 'penalised_evidence']
        """
        return {
            "length_scale": self.length_scales,
            **{key: getattr(self, key) for key in CRITERIA},
            "mlpd_error": self.mlpd_error,
            "n_relevant": self.n_relevant,
            "noise_variance": self.noise_variance,
        }

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """Return the maximum of each criterion as a table in text, with a warning if there is one.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor, evidence_curve
        >>> x = np.linspace(-3, 3, 20)[:, np.newaxis]
        >>> curve = evidence_curve(
        ...     RVMRegressor(), x, np.sin(x[:, 0]), length_scales=[1, 2], cv=None
        ... )
        >>> print(curve.summary())
        RVMRegressor: 2 length-scales from 1 to 2; spacing of the inputs 0.316
        criterion               length-scale       maximum  basis functions
        log evidence                       2...
        """
        low, high = self.length_scales[[0, -1]]
        lines = [
            f"{self.name}: {len(self.length_scales)} length-scales from {low:.3g} to {high:.3g}; "
            f"spacing of the inputs {self.spacing:.3g}",
            f"{'criterion':22}{'length-scale':>14}{'maximum':>14}{'basis functions':>17}",
        ]
        for key, best in self.best.items():
            place = int(np.searchsorted(self.length_scales, best))
            count = "all" if key == "tied_evidence" else f"{self.n_relevant[place]:.0f}"
            lines.append(
                f"{CRITERIA[key]:22}{best:14.3g}{getattr(self, key)[place]:14.4g}{count:>17}"
            )
        if self.own_length_scale is not None:
            lines.append(f"The estimator itself has length-scale {self.own_length_scale:.3g}.")
        if self.is_below_spacing:
            lines.append(self.describe_failure())
        return "\n".join(lines)

    def describe_failure(self) -> str:
        """Return why a length-scale below the spacing of the inputs should not be chosen.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor, evidence_curve
        >>> x = np.linspace(-3, 3, 20)[:, np.newaxis]
        >>> curve = evidence_curve(
        ...     RVMRegressor(), x, np.sin(x[:, 0]), length_scales=[1, 2], cv=None
        ... )
        >>> curve.describe_failure()[:16]
        'The log evidence'
        """
        others = ", ".join(
            f"{CRITERIA[key]} {best:.3g}"
            for key, best in self.best.items()
            if key != "log_evidence"
        )
        return (
            f"The log evidence is largest at length-scale {self.best['log_evidence']:.3g}, but the "
            f"spacing of the inputs is {self.spacing:.3g}. Basis functions that are narrower than "
            "the spacing give every target a variance of its own, which raises the evidence when "
            "the noise is strong (signal variance below about 2.6 times the noise variance), "
            "whatever the function. Do not choose the length-scale by this maximum. Length-scales "
            f"by the other criteria: {others}."
        )


def evidence_curve(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    length_scales: ArrayLike | None = None,
    cv: int | None = 5,
    name: str | None = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> EvidenceCurve:
    """Compute evidence and held-out predictions as functions of the length-scale of the kernel.

    Four criteria are compared. The evidence (marginal likelihood) at the optimal precisions is a
    usable criterion where the noise is weak. Where it is strong it picks length-scales below the
    spacing of the inputs; a warning says so. The penalised evidence subtracts ``ln(n_samples) / 2``
    for every precision in the model, the tied evidence is that of the model with one precision for
    all basis functions, and the mean log predictive density (MLPD) is that of held-out rows.

    Parameters
    ----------
    estimator : RVMRegressor or SparseBayesRegressor
        The model, with a kernel that has a length-scale; it is not changed. If the kernel has
        several, they keep their ratios and their geometric mean is varied.
    X : array-like of shape (n_samples, n_features)
        Inputs. Standardise features of different units.
    y : array-like of shape (n_samples,)
        Target.
    length_scales : array-like of shape (n_length_scales,), optional
        Length-scales. By default 20, evenly spaced on a logarithmic axis from a quarter of the
        spacing of the inputs to their extent.
    cv : int or None, default=5
        Number of folds for the MLPD; every fold is a fit at every length-scale. None leaves it out.
    name : str, optional
        Name of the estimator, for legends; by default that of its class.
    n_jobs : int, optional
        Number of parallel jobs, as in scikit-learn.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.

    Returns
    -------
    curve : EvidenceCurve
        All criteria; `summary` describes and `relvec.plotting.EvidenceCurveDisplay` plots them.

    Warns
    -----
    UserWarning
        If the log evidence is largest at a length-scale below the spacing of the inputs.

    References
    ----------
    M. E. Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1,
    section 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor, evidence_curve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-10, 10, size=(60, 1))
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=60)
    >>> curve = evidence_curve(RVMRegressor(), X, y, length_scales=[0.2, 0.5, 1, 2, 4, 8])
    >>> curve.best["penalised_evidence"], curve.best["mlpd"]
    (2.0, 2.0)
    >>> curve.is_below_spacing
    False
    """
    X, target = check_X_y(X, y, dtype=np.float64, y_numeric=True)
    family = LengthScaleFamily(estimator, X)
    spacing = compute_spacing(family.scale_inputs(X))
    scales = _check_length_scales(length_scales, family.scale_inputs(X), spacing)
    folds: list[Any] = []
    if cv is not None:
        cv = check_integer("cv", cv, minimum=2)
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        folds = list(KFold(cv, shuffle=True, random_state=seed).split(X))
    found = Parallel(n_jobs=n_jobs)(
        delayed(_assess)(family, float(scale), X, target, folds) for scale in scales
    )
    values = {key: np.array([each[key] for each in found]) for key in found[0]}
    n_parameters = values.pop("n_precisions") + 1  # and the length-scale
    curve = EvidenceCurve(
        length_scales=scales,
        penalised_evidence=values["log_evidence"] - 0.5 * n_parameters * np.log(len(target)),
        spacing=spacing,
        own_length_scale=_find_own_length_scale(estimator, family, X, target),
        name=type(estimator).__name__ if name is None else str(name),
        **values,
    )
    if curve.is_below_spacing:
        warnings.warn(curve.describe_failure(), UserWarning, stacklevel=2)
    return curve


def _check_length_scales(length_scales: Any, X: Matrix, spacing: float) -> Vector:
    """Return length-scales in increasing order, by default around those that the inputs resolve."""
    if not np.isfinite(spacing):
        raise ValueError("all rows of X are equal, so that no length-scale can be compared.")
    if length_scales is None:
        # Below the spacing all kernels are alike; beyond the extent of the inputs all are flat.
        extent = float(np.linalg.norm(np.ptp(X, axis=0)))
        return np.geomspace(0.25 * spacing, max(extent, spacing), N_DEFAULT)
    values = np.unique(np.asarray(length_scales, dtype=np.float64))
    if np.ndim(length_scales) != 1 or not len(values):
        raise ValueError(
            f"length_scales must be a sequence of positive numbers; got {length_scales!r}."
        )
    if not (np.isfinite(values) & (values > 0.0)).all():
        raise ValueError(f"length_scales must be positive and finite; got {length_scales!r}.")
    return values


def _assess(
    family: LengthScaleFamily, length_scale: float, X: Matrix, y: Vector, folds: list[Any]
) -> dict[str, float]:
    """Compute all criteria at one length-scale."""
    estimator = family.make(length_scale)
    # calibration changes predictions only
    model = refit(clone(estimator).set_params(calibrate=False), X, y)
    tied = refit(family.make_tied(length_scale).set_params(calibrate=False), X, y)
    scores = [predict_after_fit(estimator, X, y, train, test, {}) for train, test in folds]
    densities = np.concatenate([each.log_density for each in scores]) if scores else np.empty(0)
    n_relevant = len(model.relevance_)
    is_tied = getattr(model, "precision", "atom") == "tied"
    return {
        "log_evidence": float(model.log_evidence_),
        "n_precisions": int(n_relevant > 0) if is_tied else n_relevant,
        "tied_evidence": float(tied.log_evidence_),
        "mlpd": float(densities.mean()) if scores else np.nan,
        "mlpd_error": float(densities.std(ddof=1) / np.sqrt(len(y))) if scores else np.nan,
        "n_relevant": n_relevant,
        "noise_variance": float(model.noise_variance_),
    }


def _find_own_length_scale(
    estimator: Any, family: LengthScaleFamily, X: Matrix, y: Vector
) -> float | None:
    """Return the length-scale of the estimator itself, given or learnt, if it is a single one."""
    values = family.own_length_scales
    if estimator.length_scales is not None:
        model = refit(clone(estimator).set_params(calibrate=False), X, y)
        values = np.ravel(getattr(model, "length_scale_", values))
    return float(values[0]) if len(np.unique(values)) == 1 and np.isfinite(values[0]) else None
