"""Checks of the noise of a regressor by its standardised residuals, and the option that helps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom, kurtosis, kurtosistest, norm, skew, skewtest

from relvec._typing import Vector
from relvec.describing.distributions import lacks_noise
from relvec.describing.models import get_final_estimator
from relvec.describing.noise import NoiseConstancy, assess_residual_constancy
from relvec.describing.sampling import is_sampled

__all__ = ["NoiseAdvice", "ResidualChecks", "advise_on_noise", "check_residuals"]


@dataclass(frozen=True)
class CheckLimits:
    """From which size and significance on a deviation is worth another option."""

    n_rows: int = 50
    """With fewer rows nothing is said: p-values are approximate, and tests have no power."""
    p_value: float = 0.001
    """Significance of skewness and tails."""
    rows_per_term: float = 5.0
    """Rows for each term of the test of constancy, below which it is not relied on."""
    skewness: float = 0.5
    kurtosis: float = 1.0
    """Smaller values change 95 % intervals by less than a tenth of their length."""
    gross: float = 6.0
    """Gross errors are farther from the median than this multiple of the standard deviation, by the
    median absolute deviation, which they cannot inflate: two of a billion normal values are."""
    gross_share: float = 0.01
    """Share of gross errors from which on a noise model for them is worth while."""
    factor: float = 1.5
    """Ratio of actual to known noise variance, or its inverse, that is worth estimating."""


LIMITS = CheckLimits()


class ResidualChecks(NamedTuple):
    """Moments of standardised residuals, which are standard normal if the model is right."""

    n_rows: int
    mean_square: float
    skewness: float
    skewness_p: float
    central_skewness: float
    """Kelly's coefficient, from the deciles: not due to a few outliers on one side."""
    kurtosis: float
    """Excess kurtosis: zero for normal residuals, positive for heavier tails."""
    kurtosis_p: float
    n_beyond: int
    """Residuals beyond four standard deviations."""
    beyond_p: float
    """Probability of at least as many if the residuals are normal."""
    constancy: NoiseConstancy
    is_positive: bool = False
    """Whether all targets are positive."""
    has_gross_errors: bool = False
    """Whether there are outliers that stand apart from the other residuals."""

    @property
    def is_skewed(self) -> bool:
        """Whether the residuals are significantly skewed."""
        is_clear = abs(self.skewness) > LIMITS.skewness and self.skewness_p < LIMITS.p_value
        if self.is_positive:
            return is_clear
        # Two standard errors of Kelly's coefficient, 1.05 / sqrt(n) for normal values (simulated):
        # the centre must confirm what a few outliers on one side could have caused. Of positive
        # targets skewness is common, and it is weak in the centre if the noise grows with them.
        limit = 2.1 / np.sqrt(self.n_rows)
        return is_clear and bool(np.sign(self.skewness) * self.central_skewness > limit)

    @property
    def is_heavy_tailed(self) -> bool:
        """Whether the residuals have significantly heavier tails than a normal distribution."""
        has_kurtosis = self.kurtosis > LIMITS.kurtosis and self.kurtosis_p < LIMITS.p_value
        return has_kurtosis or self.beyond_p < LIMITS.p_value


class NoiseAdvice(NamedTuple):
    """A finding about the noise, and the option that models it."""

    finding: str
    option: str
    value: str


def check_residuals(estimator: Any, X: Any, target: Vector, score: Vector) -> ResidualChecks | None:
    """Check standardised residuals; None if there are too few.

    Parameters
    ----------
    estimator : regressor or pipeline
        Fitted to one target.
    X : array-like or data frame
        Inputs of the rows.
    target : ndarray of shape (n_samples,)
        Targets.
    score : ndarray of shape (n_samples,)
        Standardised residuals, or quantile residuals, preferably of held-out rows.

    Examples
    --------
    >>> from relvec import RVMRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, size=(300, 1))
    >>> y = np.sin(6 * X[:, 0]) + 0.1 * rng.standard_t(2, size=300)
    >>> model = RVMRegressor().fit(X, y)
    >>> mean, std = model.leave_one_out(X, y)
    >>> checks = check_residuals(model, X, y, (y - mean) / std)
    >>> checks.is_heavy_tailed
    True
    >>> advise_on_noise(checks, model).value
    'robust'
    """
    score = np.where(np.isfinite(score), score, np.sign(score) * 8.2)
    if len(score) < LIMITS.n_rows or not np.ptp(score) > 0.0:
        return None
    n_beyond = int(np.count_nonzero(np.abs(score) > 4.0))
    beyond_p = float(binom.sf(n_beyond - 1, len(score), 2.0 * norm.sf(4.0)))
    return ResidualChecks(
        len(score),
        float(np.mean(score**2)),
        float(skew(score)),
        float(skewtest(score).pvalue),
        _kelly_skewness(score),
        float(kurtosis(score)),
        float(kurtosistest(score).pvalue),
        n_beyond,
        beyond_p,
        assess_residual_constancy(estimator, X, score),
        bool(np.min(target) > 0.0),
        _has_gross_errors(score),
    )


def _has_gross_errors(score: Vector) -> bool:
    """Whether outliers stand apart from the other residuals.

    The tails of skewed and of unequal noise have more residuals at three to six deviations than
    beyond; gross errors have not.
    """
    away = np.abs(score - np.median(score))
    deviation = 1.4826 * float(np.median(away))  # the standard deviation, if they were normal
    n_gross = int(np.count_nonzero(away > LIMITS.gross * deviation))
    n_far = int(np.count_nonzero(away > 0.5 * LIMITS.gross * deviation))
    return deviation > 0.0 and n_gross >= LIMITS.gross_share * len(score) and 2 * n_gross > n_far


def _kelly_skewness(score: Vector) -> float:
    low, middle, high = np.quantile(score, [0.1, 0.5, 0.9])
    return float((low + high - 2.0 * middle) / max(high - low, np.finfo(float).tiny))


def advise_on_noise(checks: ResidualChecks, estimator: Any) -> NoiseAdvice | None:
    """Return the most urgent finding about the noise, if an option helps that is not in use.

    Gross errors on one side or in one region look like skewness or unequal noise, and the function
    follows them, so they come first. Skewed targets have unequal noise and heavy tails too, and
    unequal noise has heavy tails, so these are considered in this order.
    """
    model = get_final_estimator(estimator)
    if is_sampled(model):  # which has no noise models, unlike that of highest evidence
        model = model.evidence_model_
    if lacks_noise(model):
        return _advise_on_known_noise(checks, model)
    is_transformed = getattr(model, "target_transform", None) is not None
    if checks.has_gross_errors and model.noise == "constant" and not is_transformed:
        return _advise_robust_noise(checks)
    if checks.is_skewed and not is_transformed:
        finding = f"The residuals are skewed (skewness {checks.skewness:.1f})."
        return NoiseAdvice(finding, "target_transform", "auto")
    if model.noise != "constant":
        return None
    constancy = checks.constancy
    has_rows = checks.n_rows >= LIMITS.rows_per_term * constancy.n_terms
    if has_rows and constancy.recommends_heteroscedastic:
        finding = (
            f"The noise is not constant ({_format_p(constancy.p_value)}): its standard deviation "
            f"is about {min(constancy.ratio, 99.0):.1f} times as large in the noisiest quarter of "
            "the rows as in the quietest."
        )
        return NoiseAdvice(finding, "noise", "heteroscedastic")
    return _advise_robust_noise(checks) if checks.is_heavy_tailed else None


def _advise_robust_noise(checks: ResidualChecks) -> NoiseAdvice:
    finding = (
        f"The residuals have heavy tails (excess kurtosis {checks.kurtosis:.1f}; "
        f"{checks.n_beyond} of {checks.n_rows} beyond 4 standard deviations): outliers."
    )
    return NoiseAdvice(finding, "noise", "robust")


def _advise_on_known_noise(checks: ResidualChecks, model: Any) -> NoiseAdvice | None:
    """Compare the known noise with the residuals."""
    ratio = checks.mean_square
    if model.scale_noise or 1.0 / LIMITS.factor < ratio < LIMITS.factor:
        return None
    finding = (
        f"The squared residuals are {ratio:.2g} times as large as the known noise implies: the "
        "given variances may be known up to a factor only."
    )
    return NoiseAdvice(finding, "scale_noise", "")


def _format_p(p_value: float) -> str:
    return "p < 0.0001" if p_value < 1e-4 else f"p = {p_value:.2g}"
