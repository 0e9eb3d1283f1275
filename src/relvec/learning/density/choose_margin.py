"""Fit candidates for the reference density of one variable by maximum likelihood."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

from relvec.learning.density.margins import (
    ExponentialMargin,
    LogNormalMargin,
    Margin,
    NormalMargin,
    StudentMargin,
    TwoNormalsMargin,
    UniformMargin,
)
from relvec.learning.density.sample import Sample

__all__ = ["choose_margins"]


def choose_margins(
    sample: Sample, support: tuple[float, float], name: str | None = None
) -> list[Margin]:
    """Return the simplest margin and, if there is a more likely one, the most likely of those.

    Likelihoods have a penalty of half the log of the number of observations for each parameter:
    the expansion of Schwarz (1978) of the evidence.

    Parameters
    ----------
    sample : Sample
        Values of the variable.
    support : tuple of float
        Lower and upper end; infinite where there is none.
    name : str, optional
        Name of the margin to return if it is among the candidates.
    """
    lower, upper = support
    if math.isfinite(lower) and math.isfinite(upper):
        return [UniformMargin(lower, upper - lower)]
    if math.isinf(lower) and math.isinf(upper):
        margins = _on_line(sample)
    elif math.isfinite(lower):
        margins = _on_half_line(sample, lower, 1.0)
    else:
        margins = _on_half_line(sample, upper, -1.0)
    for margin in margins:
        if margin.name == name:
            return [margin]

    def value(margin: Margin) -> float:
        likelihood = float(sample.weight @ margin.log_density(sample.values))
        return likelihood - 0.5 * margin.n_parameters * math.log(sample.total)

    best = max(margins, key=value)
    return margins[:1] if best is margins[0] else [margins[0], best]


def _on_line(sample: Sample) -> list[Margin]:
    thinned = sample.thin()
    normal = NormalMargin(sample.mean, sample.std)
    return [normal, _fit_student(thinned), _fit_two_normals(thinned)]


def _on_half_line(sample: Sample, edge: float, sign: float) -> list[Margin]:
    distance = sign * (sample.values - edge)
    mean = float(sample.weight @ distance) / sample.total
    found: list[Margin] = [ExponentialMargin(edge, sign * mean)]
    if distance.min() > 0.0:
        logs = Sample(np.log(distance), sample.weight)
        if logs.std > 0.0:
            found.append(LogNormalMargin(logs.mean, logs.std, edge, sign))
    return found


def _fit_student(sample: Sample) -> StudentMargin:
    """Fit Student's t density: EM for location and scale inside, a search over df outside."""
    location, scale = sample.median, sample.spread

    def fit(log_df: float) -> StudentMargin:
        df, centre, width = math.exp(log_df), location, scale
        for _ in range(50):
            squares = ((sample.values - centre) / width) ** 2
            # Expected precisions of the scale mixture of normals; then weighted moments (Lange,
            # Little and Taylor, 1989).
            shares = sample.weight * (df + 1.0) / (df + squares)
            centre = float(shares @ sample.values / shares.sum())
            # Divided by the sum of the shares instead of the number of observations: the
            # parameter-expanded EM of Liu, Rubin and Wu (1998), which converges faster.
            new = math.sqrt(float(shares @ (sample.values - centre) ** 2 / shares.sum()))
            change, width = abs(new - width), max(new, 1e-9 * scale)
            if change < 1e-4 * width:
                break
        return StudentMargin(centre, width, df)

    def loss(log_df: float) -> float:
        return -float(sample.weight @ fit(log_df).log_density(sample.values))

    bounds = (math.log(0.5), math.log(100.0))
    return fit(minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.05}).x)


def _fit_two_normals(sample: Sample) -> TwoNormalsMargin:
    """Fit a mixture of two normal densities around one mean, by EM from two starts."""
    fits = [_mix(sample, fraction, ratio) for fraction, ratio in ((0.1, 6.0), (0.5, 4.0))]
    return max(fits, key=lambda each: float(sample.weight @ each.log_density(sample.values)))


def _mix(sample: Sample, fraction: float, ratio: float) -> TwoNormalsMargin:
    x, weight = sample.values, sample.weight
    centre, narrow = sample.median, sample.spread
    wide, last = ratio * narrow, -math.inf
    for _ in range(200):
        z = (x - centre) ** 2
        odds = np.log(fraction / (1.0 - fraction) * narrow / wide)
        odds = odds + 0.5 * z * (1.0 / narrow**2 - 1.0 / wide**2)
        in_wide = 1.0 / (1.0 + np.exp(-np.clip(odds, -500.0, 500.0)))
        density = np.logaddexp(0.0, odds) - 0.5 * z / narrow**2
        value = float(weight @ density) + sample.total * math.log((1.0 - fraction) / narrow)
        if value - last < 0.01:
            break
        last = value
        far, near = weight * in_wide, weight * (1.0 - in_wide)
        # Neither component may vanish: the map to scores must stay invertible.
        fraction = min(max(float(far.sum()) / sample.total, 1e-3), 0.999)
        precision = near / narrow**2 + far / wide**2
        centre = float(precision @ x / precision.sum())
        z = (x - centre) ** 2
        narrow = math.sqrt(max(float(near @ z) / max(float(near.sum()), 1e-9), 1e-18 * wide**2))
        wide = math.sqrt(float(far @ z) / max(float(far.sum()), 1e-9))
        wide = max(wide, 1.01 * narrow)
    return TwoNormalsMargin(centre, narrow, fraction, wide / narrow)
