"""Alternation of a weighted regression and a model of its noise, by a common bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

__all__ = ["Alternation", "ReweightTuning", "alternate"]

Fit = TypeVar("Fit")
Noise = TypeVar("Noise")


@dataclass(frozen=True)
class ReweightTuning:
    """Constants of the alternation."""

    max_steps: int = 25
    """Largest number of regressions."""
    tol: float = 0.02
    """Rise of the bound, in nats, below which to stop."""


class Alternation(NamedTuple, Generic[Fit, Noise]):
    """The best regression and noise model of an alternation."""

    fit: Fit
    noise: Noise
    bound: float
    trace: tuple[float, ...]
    """Bound after each step."""


def alternate(
    fit: Fit,
    model_noise: Callable[[Fit], Noise | None],
    regress: Callable[[Noise, Fit | None], Fit],
    compute_bound: Callable[[Fit, Noise], float],
    tuning: ReweightTuning = ReweightTuning(),  # noqa: B008  # immutable
) -> Alternation[Fit, Noise] | None:
    """Alternate between a noise model and a regression with its variances.

    A regression that starts from the basis functions found under earlier variances may stay in a
    local maximum. So, when the bound no longer rises, one regression starts from scratch, and the
    alternation goes on if that raises the bound.

    Parameters
    ----------
    fit : object
        Regression to start from.
    model_noise : callable
        Fits the noise to the residuals of a regression; None if the noise is constant.
    regress : callable
        Fits a regression with the variances of a noise model, starting from an earlier one, or
        from scratch (None).
    compute_bound : callable
        Lower bound of the log evidence of a regression and the noise model that weighted it.
    tuning : ReweightTuning, optional
        Constants.

    Returns
    -------
    best : Alternation or None
        The pair of highest bound; None if the first noise model is constant.

    Examples
    --------
    Robust location: the weight of an observation falls with its distance.

    >>> import numpy as np
    >>> from relvec.learning.reweight import alternate
    >>> values = np.array([1.0, 1.2, 0.8, 9.0])
    >>> best = alternate(
    ...     values.mean(),
    ...     lambda location: 1.0 / (1.0 + (values - location) ** 2),
    ...     lambda weight, _: np.average(values, weights=weight),
    ...     lambda location, _: -np.log1p((values - location) ** 2).sum(),
    ... )
    >>> round(float(best.fit), 1)
    1.0
    """
    best: Alternation[Fit, Noise] | None = None
    trace: list[float] = []
    from_scratch, last = False, -float("inf")
    for _ in range(tuning.max_steps):
        noise = model_noise(fit)
        if noise is None:
            break
        fit = regress(noise, None if from_scratch else fit)
        bound = compute_bound(fit, noise)
        trace.append(bound)
        before = last if best is None else max(best.bound, last)
        if best is None or bound > best.bound:
            best = Alternation(fit, noise, bound, ())
        if bound < before + tuning.tol:
            if from_scratch:
                break
            from_scratch = True
        else:
            from_scratch = False
        last = bound
    return None if best is None else best._replace(trace=tuple(trace))
