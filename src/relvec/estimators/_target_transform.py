"""Fits with transformed targets: the choice of the transform, and the Jacobian in the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from relvec._typing import Vector
from relvec.estimators._noise import estimate_noise_gain, fit_noise_model
from relvec.estimators._output import FittedOutput, RegressionFit
from relvec.estimators._transform_profile import (
    TransformProfile,
    TransformTuning,
    list_families,
)
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
        fit = _fit_with(final, data, transforms)
    else:
        fit = fit_noise_model(final, choices[0].fit, _transform_data(data, transforms))
        fit = _with_transforms(fit, data, transforms)
    outputs = [
        replace(output, transform_gain=choice.gain)
        for output, choice in zip(fit.outputs, choices, strict=True)
    ]
    return replace(fit, outputs=tuple(outputs))


class _Choice(NamedTuple):
    """Transform of one output, and the fit with it and constant noise, on the transformed scale."""

    transform: TargetTransform | None
    fit: RegressionFit
    gain: float = 0.0
    """Gain in log evidence over no transform, in nats, less the penalty of its parameters."""


def _choose(plan: RegressionPlan, data: Data, tuning: TransformTuning, may_keep: bool) -> _Choice:
    """Choose the transform of a single output."""
    before = _without_other_starts(plan, [None]).run(data)
    target = data.targets[:, 0]
    is_used = np.ones(len(target), bool) if data.weight is None else data.weight > 0.0
    known, weight = target[is_used], None if data.weight is None else data.weight[is_used]
    if len(known) < (tuning.min_rows if may_keep else 2) or np.ptp(known) == 0.0:
        if may_keep:
            return _Choice(None, before)
        transform: TargetTransform = YeoJohnsonTransform(1.0)
        return _Choice(transform, _run_with(plan, data, transform))
    profile = TransformProfile.make(before, data, tuning)
    families = list_families(known, weight, tuning, is_free=may_keep)
    gain, transform = max(map(profile.maximise, families), key=lambda each: each[0])
    if not may_keep:
        return _Choice(transform, _run_with(plan, data, transform))
    if gain < tuning.min_gain:
        return _Choice(None, before)
    after = _run_with(plan, data, transform)
    log_evidence = _with_transforms(after, data, [transform]).outputs[0].posterior.log_evidence
    actual_gain = log_evidence - before.outputs[0].posterior.log_evidence
    if isinstance(transform, YeoJohnsonTransform):
        actual_gain -= tuning.parameter_penalty
    # Both must gain: the estimate, which compares the same Gaussian process, and the evidence,
    # which may compare models of different kinds.
    if actual_gain < tuning.min_gain:
        return _Choice(None, before)
    # Noise that varies, or has heavy tails, can look like skewness although it is symmetric: the
    # transform must gain more than such noise. The logarithm, without parameters that could fit
    # outliers, may gain by such noise itself.
    required = tuning.min_gain + estimate_noise_gain(plan, before, data)
    total_gain = actual_gain
    if actual_gain < required and isinstance(transform, LogTransform):
        total_gain += estimate_noise_gain(plan, after, _transform_data(data, [transform]))
    if total_gain < required:
        return _Choice(None, before)
    return _Choice(transform, after, actual_gain)


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
    outputs = [_with_transform(*each, data.weight) for each in columns]
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
