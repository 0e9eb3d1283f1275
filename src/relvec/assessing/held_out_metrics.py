"""Metrics of held-out predictions inside and outside the range of the training inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from relvec._checks import check_probability
from relvec._typing import BoolArray, Vector
from relvec.describing import compute_critical_value, compute_wilson_interval

__all__ = ["CoverageOutside", "Estimate", "HeldOutMetrics"]

LEVELS = (0.5, 0.95)
"""Coverages of the intervals in tables and plots."""


class Estimate(NamedTuple):
    """A metric and its standard error.

    Examples
    --------
    >>> Estimate(0.9, 0.03).standard_error
    0.03
    """

    value: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class HeldOutMetrics:
    """Metrics of the predictive distributions of rows that a model was not fitted to.

    Standard errors take rows as independent.

    Parameters
    ----------
    error : ndarray of shape (n_rows,)
        Target minus predictive mean.
    quantile : ndarray of shape (n_rows,)
        Quantile residuals: standard normal if the predictive distributions are right; of Gaussian
        predictions the errors over their standard deviations.
    log_density : ndarray of shape (n_rows,)
        Log predictive density of the targets, in nats.

    Examples
    --------
    >>> import numpy as np
    >>> metrics = HeldOutMetrics(np.zeros(4), np.array([0.1, -3.0, 0.5, 1.0]), np.zeros(4))
    >>> metrics.coverage(0.95).value, metrics.coverage(0.5).value
    (0.75, 0.5)
    """

    error: Vector
    quantile: Vector
    log_density: Vector

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.error)

    @property
    def rmse(self) -> Estimate:
        """Root mean squared error."""
        squares = self.error**2
        rmse = float(np.sqrt(np.mean(squares)))
        # d sqrt(m) = dm / (2 sqrt(m))
        return Estimate(rmse, 0.5 * _standard_error(squares) / rmse if rmse > 0.0 else 0.0)

    @property
    def mlpd(self) -> Estimate:
        """Mean log predictive density, in nats."""
        return Estimate(float(np.mean(self.log_density)), _standard_error(self.log_density))

    def coverage(self, level: float) -> Estimate:
        """Return the share of targets in central intervals of a coverage, with binomial error.

        Parameters
        ----------
        level : float
            Nominal coverage, between 0 and 1.

        Examples
        --------
        >>> import numpy as np
        >>> z = np.random.default_rng(0).normal(size=1000)
        >>> HeldOutMetrics(z, z, z).coverage(0.5).standard_error
        0.016
        """
        inside = self._covered(check_probability("level", level))
        share = float(np.mean(inside))
        return Estimate(share, float(np.sqrt(share * (1.0 - share) / self.n_rows)))

    def coverage_interval(self, level: float) -> Vector:
        """Return the 95 % Wilson score interval of a coverage, as lower and upper end.

        Parameters
        ----------
        level : float
            Nominal coverage, between 0 and 1.

        Examples
        --------
        >>> import numpy as np
        >>> HeldOutMetrics(np.zeros(9), np.zeros(9), np.zeros(9)).coverage_interval(0.95).round(1)
        array([0.7, 1. ])
        """
        share = np.array([self.coverage(level).value])
        ends: Vector = compute_wilson_interval(share, self.n_rows, compute_critical_value(0.95))[
            :, 0
        ]
        return ends

    def _covered(self, level: float) -> BoolArray:
        return np.abs(self.quantile) <= compute_critical_value(level)


@dataclass(frozen=True, eq=False)
class CoverageOutside:
    """Error bars inside and outside the range of the training inputs.

    Returned by `coverage_outside`.

    Parameters
    ----------
    name : str
        Name of the estimator, for legends.
    inside : HeldOutMetrics
        Out-of-fold predictions of the rows inside, by cross-validation without the others.
    outside : HeldOutMetrics
        Predictions of the rows outside, of the estimator fitted to all rows inside.
    is_outside : ndarray of shape (n_samples,)
        Which rows are outside.
    held_out : str
        Description of the rows outside.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor, coverage_outside
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, size=(80, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=80)
    >>> result = coverage_outside(RVMRegressor(), X, y)
    >>> result.outside.n_rows, result.outside.rmse.value > result.inside.rmse.value
    (16, True)
    """

    name: str
    inside: HeldOutMetrics
    outside: HeldOutMetrics
    is_outside: BoolArray
    held_out: str

    def difference(self) -> dict[str, Estimate]:
        """Return outside minus inside of each metric, with the standard error of the difference.

        The rows differ, so their variances add up.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor, coverage_outside
        >>> x = np.linspace(-5, 5, 50)[:, np.newaxis]
        >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=50)
        >>> list(coverage_outside(RVMRegressor(gamma=0.5), x, y).difference())
        ['coverage of 50 %', 'coverage of 95 %', 'MLPD', 'RMSE']
        """
        pairs = zip(_collect(self.inside).items(), _collect(self.outside).values(), strict=True)
        return {
            label: Estimate(
                outside.value - inside.value,
                float(np.hypot(outside.standard_error, inside.standard_error)),
            )
            for (label, inside), outside in pairs
        }

    def compare(self, other: CoverageOutside) -> dict[str, Estimate]:
        """Return the mean differences to another estimator on the rows outside, paired by row.

        Positive differences of the MLPD, and negative ones of the squared error, are in favour of
        this estimator.

        Parameters
        ----------
        other : CoverageOutside
            Result of another estimator with the same data and the same rows held out.

        Returns
        -------
        differences : dict of str to Estimate
            Differences of coverages, MLPD and mean squared error, with paired standard errors.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor, coverage_outside
        >>> x = np.linspace(-5, 5, 50)[:, np.newaxis]
        >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=50)
        >>> novelty, plain = (
        ...     coverage_outside(RVMRegressor(gamma=0.5, error_bars=kind), x, y)
        ...     for kind in ("novelty", "plain")
        ... )
        >>> novelty.compare(plain)["MLPD"].value > 0.0
        True
        """
        if not np.array_equal(self.is_outside, other.is_outside):
            raise ValueError(
                "results can be compared row by row only if the same rows were held out: call "
                "coverage_outside with the same X, where, feature and share."
            )
        mine, theirs = self.outside, other.outside
        rows = {
            f"coverage of {100 * level:g} %": mine._covered(level).astype(np.float64)
            - theirs._covered(level)
            for level in LEVELS
        }
        rows["MLPD"] = mine.log_density - theirs.log_density
        rows["MSE"] = mine.error**2 - theirs.error**2
        return {
            key: Estimate(float(np.mean(each)), _standard_error(each)) for key, each in rows.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics inside and outside with their standard errors, for a data frame.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor, coverage_outside
        >>> x = np.linspace(-5, 5, 50)[:, np.newaxis]
        >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=50)
        >>> table = coverage_outside(RVMRegressor(gamma=0.5), x, y).to_dict()
        >>> list(table)
        ['metric', 'inside', 'inside_error', 'outside', 'outside_error']
        """
        inside, outside = _collect(self.inside), _collect(self.outside)
        return {
            "metric": list(inside),
            "inside": np.array([each.value for each in inside.values()]),
            "inside_error": np.array([each.standard_error for each in inside.values()]),
            "outside": np.array([each.value for each in outside.values()]),
            "outside_error": np.array([each.standard_error for each in outside.values()]),
        }

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """Return the metrics as a table in text.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor, coverage_outside
        >>> x = np.linspace(-5, 5, 50)[:, np.newaxis]
        >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=50)
        >>> print(coverage_outside(RVMRegressor(gamma=0.5), x, y).summary())
        RVMRegressor: held out: smallest and largest values of x0
                                  inside          outside
        rows                          40               10
        coverage of 50 %  ...
        """
        table = self.to_dict()
        lines = [
            f"{self.name}: held out: {self.held_out}",
            f"{'':18}{'inside':>16}{'outside':>17}",
            f"{'rows':18}{self.inside.n_rows:16d}{self.outside.n_rows:17d}",
        ]
        for label, *cells in zip(*table.values(), strict=True):
            inside, outside = (f"{cells[i]:.3g} ± {cells[i + 1]:.1g}" for i in (0, 2))
            lines.append(f"{label:18}{inside:>16}{outside:>17}")
        lines.append("± one standard error; rows are taken as independent.")
        return "\n".join(lines)


def _collect(metrics: HeldOutMetrics) -> dict[str, Estimate]:
    """Return all metrics by the name that tables give them."""
    shares = {f"coverage of {100 * level:g} %": metrics.coverage(level) for level in LEVELS}
    return {**shares, "MLPD": metrics.mlpd, "RMSE": metrics.rmse}


def _standard_error(values: Vector) -> float:
    """Return the standard error of a mean."""
    if len(values) < 2:
        return float("nan")
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))
