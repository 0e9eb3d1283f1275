"""Fits with transformed targets: the choice of the transform, and the Jacobian in the evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize

from relvec._typing import IndexArray, Matrix, Vector
from relvec.estimators._noise import fit_noise_model
from relvec.estimators._output import FittedOutput, RegressionFit
from relvec.likelihoods import LogTransform, TargetTransform, YeoJohnsonTransform

if TYPE_CHECKING:
    from relvec.estimators._plan import Data
    from relvec.estimators._regression_plan import RegressionPlan

__all__ = [
    "NO_KNOWN_NOISE",
    "TRANSFORM_KINDS",
    "check_support",
    "check_untransformed",
    "fit_transformed",
]

TRANSFORM_KINDS = ("auto", "log", "yeo-johnson")
"""Values of the option `target_transform`, besides None."""

NO_KNOWN_NOISE = (
    "is in squared units of the target, but with target_transform the noise is that of the "
    "transformed target. Use target_transform=None with known noise variances; or transform y "
    "yourself, and divide noise standard deviations by the derivative of the inverse."
)
"""Error about known noise variances, after what was given."""


@dataclass(frozen=True)
class TransformTuning:
    """Constants of the choice of a transform."""

    min_gain: float = 3.0
    """Gain in log evidence, in nats, from which on targets are transformed."""
    parameter_penalty: float = 2.0
    """Nats that a Yeo-Johnson transform must gain in addition: its power and scale are fitted,
    which gains one nat on average if the targets need no transform."""
    n_rows: int = 400
    """Rows from which power and scale are estimated."""
    n_columns: int = 1000
    """Basis functions that are used for that."""
    min_rows: int = 10
    """With fewer rows "auto" does not transform: skewness cannot be estimated from them."""
    largest_ratio: float = 3.0
    """Positive targets whose largest is at most this multiple of the smallest are far from zero:
    intervals of a Yeo-Johnson transform remain positive."""


def fit_transformed(
    plan: RegressionPlan, data: Data, tuning: TransformTuning | None = None
) -> RegressionFit:
    """Fit a plan to transformed targets; "auto" keeps the targets unless a transform gains enough.

    The transform is chosen with constant Gaussian noise, then the noise model is fitted to the
    transformed targets.
    """
    kind, tuning = plan.target_transform, tuning or TransformTuning()
    assert kind is not None
    if data.statistics is not None:
        raise ValueError(
            f"target_transform={kind!r} needs the targets, which moments do not contain. Use "
            "target_transform=None, and compute the moments of transformed targets."
        )
    final = replace(plan, target_transform=None)
    plain = replace(final, noise="constant")
    columns = [data._replace(targets=target[:, None]) for target in data.targets.T]
    if kind == "log":
        for column in columns:
            check_support(LogTransform(), column.targets[:, 0], column.weight)
        return _fit_with(final, data, [LogTransform()] * len(columns))
    choices = [_choose(plain, each, tuning, may_keep=kind == "auto") for each in columns]
    transforms = [choice.transform for choice in choices]
    if len(choices) > 1:  # outputs share length-scales: fit them together
        return _fit_with(final, data, transforms)
    (choice,) = choices
    latent = _transform_data(data, transforms)
    fit = fit_noise_model(final, choice.fit, latent)
    return _with_transforms(fit, data, transforms)


class _Choice(NamedTuple):
    """Transform of one output, and the fit with it and constant noise, on the transformed scale."""

    transform: TargetTransform | None
    fit: RegressionFit


def _choose(plan: RegressionPlan, data: Data, tuning: TransformTuning, may_keep: bool) -> _Choice:
    """Choose the transform of a single output."""
    before = _without_other_starts(plan, [None]).run(data)
    target = data.targets[:, 0]
    known = target if data.weight is None else target[data.weight > 0.0]
    if len(known) < (tuning.min_rows if may_keep else 2) or np.ptp(known) == 0.0:
        if may_keep:
            return _Choice(None, before)
        transform: TargetTransform = YeoJohnsonTransform(1.0)
        return _Choice(transform, _run_with(plan, data, transform))
    profile = _Profile.make(before, data, tuning)
    candidates = [*map(profile.maximise, _list_families(known, tuning, may_keep))]
    gain, transform = max(candidates, key=lambda each: each[0])
    if not may_keep:
        return _Choice(transform, _run_with(plan, data, transform))
    needed = tuning.min_gain
    if isinstance(transform, YeoJohnsonTransform):
        needed += tuning.parameter_penalty
    if gain < needed:
        return _Choice(None, before)
    after = _run_with(plan, data, transform)
    evidence = [_with_transforms(after, data, [transform]), before]
    first, second = (fit.outputs[0].posterior.log_evidence for fit in evidence)
    # Both must gain: the estimate, which compares the same Gaussian process, and the evidence,
    # which may compare models of different kinds.
    return _Choice(transform, after) if first - second >= needed else _Choice(None, before)


class _Family(NamedTuple):
    """Transforms with a power and a scale, and the bounds of these."""

    make: Callable[[float, float], TargetTransform]
    unit: float
    """Robust standard deviation of the targets: unit of the scale."""
    powers: tuple[float, float]
    """Bounds of the power; equal if there is nothing to estimate."""
    penalty: float


def _list_families(target: Vector, tuning: TransformTuning, may_keep: bool) -> list[_Family]:
    """Return the families of transforms to compare."""
    low, high = float(target.min()), float(target.max())
    families = []
    if may_keep and low > 0.0:
        log, spread = np.log(target), _robust_std(np.log(target))
        middle = float(np.median(log))
        families.append(_Family(lambda *_: LogTransform(), 1.0, (1.0, 1.0), 0.0))
        families.append(
            _Family(
                lambda power, scale: YeoJohnsonTransform(power, middle, scale, of_log=True),
                spread,
                (1.0, 2.0),
                tuning.parameter_penalty,
            )
        )
    if not may_keep or low <= 0.0 or high <= tuning.largest_ratio * low:
        # Zero is a natural origin of targets of one sign that come close to it.
        is_far = low * high > 0.0 and max(abs(low), abs(high)) <= tuning.largest_ratio * min(
            abs(low), abs(high)
        )
        origin = float(np.median(target)) if low * high < 0.0 or is_far else 0.0
        families.append(
            _Family(
                lambda power, scale: YeoJohnsonTransform(power, origin, scale),
                _robust_std(target),
                (0.0, 2.0),
                tuning.parameter_penalty,
            )
        )
    return families


def _robust_std(values: Vector) -> float:
    """Return the interquartile range over that of a standard Gaussian, or the deviation if zero."""
    low, high = np.quantile(values, [0.25, 0.75])
    return float((high - low) / 1.349) or float(np.std(values))


@dataclass(frozen=True, eq=False)
class _Profile:
    """Evidence of transforms by a Gaussian process with the basis functions of a fit.

    All weights have the same precision. Noise variance, precision and intercept are profiled or
    integrated out, so the eigenvalues of the Gram matrix are computed once for all transforms
    (warped Gaussian processes with fixed length-scales: Snelson, Rasmussen & Ghahramani 2004).
    """

    target: Vector
    weight: Vector
    eigenvalues: Vector
    eigenvectors: Matrix
    n_factor: float
    """Number of observations over that of the rows in the profile."""
    has_intercept: bool

    @classmethod
    def make(cls, fit: RegressionFit, data: Data, tuning: TransformTuning) -> _Profile:
        """Make the profile from some rows of the data of a fit."""
        (output,) = fit.outputs
        target, weight = data.targets[:, 0], data.weight
        weight = np.ones(len(target)) if weight is None else weight
        # Evenly spaced ranks of the targets: their distribution is kept, and the choice does not
        # depend on the order of rows.
        order = np.argsort(target, kind="stable")
        rows = _thin(order[weight[order] > 0.0], tuning.n_rows)
        columns = np.union1d(
            _thin(np.arange(len(fit.bound.atoms)), tuning.n_columns), output.active
        )
        atoms = fit.bound.atoms.subset(columns.astype(np.intp)).evaluate(data.X[rows])
        target, total, weight = target[rows], float(weight.sum()), weight[rows]
        has_intercept = output.posterior.has_intercept
        if has_intercept:
            atoms = atoms - np.average(atoms, axis=0, weights=weight)
        atoms = atoms * np.sqrt(weight)[:, None]
        norm = np.sqrt(np.square(atoms).sum(axis=0))
        # Constant columns have no norm but rounding errors.
        atoms = atoms / np.where(norm > 1e-10 * norm.max(initial=0.0), norm, np.inf)
        values, vectors = np.linalg.eigh(atoms @ atoms.T)
        factor = total / float(weight.sum())
        return cls(target, weight, np.maximum(values, 0.0), vectors, factor, has_intercept)

    def maximise(self, family: _Family) -> tuple[float, TargetTransform]:
        """Return the gain in log evidence by the best of a family, less its penalty, and it."""
        before = self._log_evidence(self.target, np.zeros(len(self.target)))
        least, most = family.powers

        def lose(values: Sequence[float]) -> float:
            transform = family.make(float(values[0]), family.unit * math.exp(values[1]))
            slope = transform.log_slope(self.target)
            return before - self._log_evidence(transform.forward(self.target), slope)

        if least == most:
            return -self.n_factor * lose((least, 0.0)), family.make(least, family.unit)
        # Scales from a hundredth of the spread of the targets, where the transform is a power, to
        # ten times it, where it is linear.
        bounds = [(least, most), (-4.6, 2.3)]
        starts = [
            (0.75 * least + 0.25 * most, 0.0),
            (0.25 * least + 0.75 * most, 0.0),
            (least, -2.0),
        ]
        found = [minimize(lose, start, method="L-BFGS-B", bounds=bounds) for start in starts]
        best = min(found, key=lambda each: float(each.fun))
        transform = family.make(float(best.x[0]), family.unit * math.exp(float(best.x[1])))
        return -self.n_factor * float(best.fun) - family.penalty, transform

    def _log_evidence(self, z: Vector, log_slope: Vector) -> float:
        """Return the log evidence of transformed targets, without constants."""
        n_rows = float(self.weight.sum())
        n_contrasts = n_rows - float(self.has_intercept)
        centre = np.average(z, weights=self.weight) if self.has_intercept else 0.0
        squared = (self.eigenvectors.T @ (np.sqrt(self.weight) * (z - centre))) ** 2
        # The ratio of signal to noise variance, from no signal to hardly any noise.
        ratio = np.concatenate([[0.0], np.geomspace(1e-4, 1e6, 24)])[:, None]
        spectrum = 1.0 + ratio * self.eigenvalues
        log_det, quadratic = np.log(spectrum).sum(axis=1), (squared / spectrum).sum(axis=1)
        best = np.max(-0.5 * (log_det + n_contrasts * np.log(np.maximum(quadratic, 1e-300))))
        return float(best) + n_contrasts / n_rows * float(self.weight @ log_slope)


def _thin(index: IndexArray, n_most: int) -> IndexArray:
    """Return evenly spaced entries."""
    if len(index) <= n_most:
        return index
    return index[np.linspace(0, len(index) - 1, n_most).round().astype(np.intp)]


def _run_with(plan: RegressionPlan, data: Data, transform: TargetTransform) -> RegressionFit:
    """Fit transformed targets; the fit knows nothing of the transform."""
    return _without_other_starts(plan, [transform]).run(_transform_data(data, [transform]))


def _fit_with(
    plan: RegressionPlan, data: Data, transforms: Sequence[TargetTransform | None]
) -> RegressionFit:
    """Fit transformed targets, and add the transforms to the fit."""
    plan = _without_other_starts(plan, transforms)
    return _with_transforms(plan.run(_transform_data(data, transforms)), data, transforms)


def _without_other_starts(
    plan: RegressionPlan, transforms: Sequence[TargetTransform | None]
) -> RegressionPlan:
    """Return the plan without a warm start if that was fitted with other kinds of transforms."""
    before = [type(output.transform) for output in plan.previous]
    return plan if before == list(map(type, transforms)) else replace(plan, previous=())


def _transform_data(data: Data, transforms: Sequence[TargetTransform | None]) -> Data:
    """Return the data with transformed targets."""
    targets = data.targets.copy()
    for number, transform in enumerate(transforms):
        if transform is None:
            continue
        column = targets[:, number]
        is_inside = transform.supports(column)
        # Rows of weight zero may be outside the support; their targets have no influence.
        targets[:, number] = transform.forward(np.where(is_inside, column, column[is_inside][0]))
    return data._replace(targets=targets)


def _with_transforms(
    fit: RegressionFit, data: Data, transforms: Sequence[TargetTransform | None]
) -> RegressionFit:
    """Return a fit with the transforms of its outputs, and their Jacobian in the evidence."""
    columns = zip(fit.outputs, data.targets.T, transforms, strict=True)
    outputs = [_with_transform(output, *each, data.weight) for output, *each in columns]
    return replace(fit, outputs=tuple(outputs))


def _with_transform(
    output: FittedOutput,
    target: Vector,
    transform: TargetTransform | None,
    weight: Vector | None,
) -> FittedOutput:
    if transform is None:
        return output
    posterior = output.posterior
    rows = np.ones(len(target)) if weight is None else weight
    is_used = rows > 0.0
    total = float(rows[is_used] @ transform.log_slope(target[is_used]))
    # With an intercept the evidence is that of n - 1 contrasts: n - 1 mean slopes. It then does not
    # depend on the unit of z, as with the transforms of unit mean slope of Box & Cox (1964).
    jacobian = total * posterior.n_effective / float(rows.sum())
    return replace(
        output,
        posterior=replace(posterior, log_evidence=posterior.log_evidence + jacobian),
        objective=output.objective + jacobian,
        transform=transform,
        log_jacobian=jacobian,
    )


def check_support(transform: TargetTransform, target: Vector, weight: Vector | None = None) -> None:
    """Raise unless a transform can be applied to all targets of positive weight."""
    is_outside = ~transform.supports(target)
    if weight is not None:
        is_outside &= weight > 0.0
    rows = np.flatnonzero(is_outside)
    if len(rows):
        raise ValueError(
            f"The transform {transform} needs positive targets; {len(rows)} of {len(target)} are "
            f"not, such as y = {target[rows[0]]:g} in row {rows[0]}. Use "
            'target_transform="yeo-johnson", which is for targets of any sign, or "auto".'
        )


def check_untransformed(outputs: Sequence[FittedOutput], what: str, hint: str = "Omit it.") -> None:
    """Raise if targets were transformed, in which case `what` is not available."""
    transforms = [output.transform for output in outputs if output.transform is not None]
    if transforms:
        raise ValueError(
            f"{what} is not available, as the model is that of a transformed target "
            f"({transforms[0]}). {hint}"
        )
