"""Result of a bias–variance decomposition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from relvec._typing import Matrix, Vector
from relvec.assessing._split import (
    estimate_jackknife_error,
    leave_one_fit_out,
    split_squared_error,
)

__all__ = ["BiasVariance", "ErrorParts"]


class ErrorParts(NamedTuple):
    """Mean squared error and its parts, or the standard errors of these.

    Examples
    --------
    >>> ErrorParts(mse=1.0, squared_bias=0.2, variance=0.3, noise=0.5).mse
    1.0
    """

    mse: float
    squared_bias: float
    variance: float
    noise: float


@dataclass(frozen=True, eq=False)
class BiasVariance:
    """Mean squared error of an estimator, and its decomposition.

    Returned by `bias_variance_decomposition`. With data sets of a generator, ``mse = squared_bias +
    variance + noise`` for new targets at the test inputs. With bootstrap samples of one data set
    squared bias and noise cannot be separated from data alone: ``mse = bias_and_noise + variance``
    holds exactly, and `squared_bias` is what is left of the first after `noise`, the noise variance
    that the model estimated or that was given.

    Parameters
    ----------
    name : str
        Name of the estimator, for legends.
    X : array-like of shape (n_points, n_features)
        Test inputs. With bootstrap samples, the rows that were out of bag at least twice.
    reference : ndarray of shape (n_points,)
        The function at the test inputs; with bootstrap samples, the targets.
    mean_prediction : ndarray of shape (n_points,)
        Mean prediction of the fits at each test input.
    point_remainder : ndarray of shape (n_points,)
        Squared bias at each test input, which may be negative because it is unbiased; with
        bootstrap samples, squared bias plus noise.
    point_variance : ndarray of shape (n_points,)
        Variance of the predictions of the fits at each test input.
    point_noise : ndarray of shape (n_points,)
        Noise variance at each test input; NaN if not known.
    point_remainder_error, point_variance_error : ndarray of shape (n_points,)
        Standard errors of both, by the jackknife over fits.
    standard_error : ErrorParts
        Standard errors of the means over the test inputs, which are fixed: how much they would vary
        with other data sets or bootstrap samples of the same number.
    n_fits : int
        Number of fits.
    is_separated : bool
        Whether squared bias and noise are separated by the known function.
    kernel_fixed : bool, default=False
        Whether the kernel was fixed at its learnt parameters in the fits.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from relvec import bias_variance_decomposition
    >>> X = np.linspace(-1, 1, 20)[:, np.newaxis]
    >>> def make(seed):
    ...     return X, X[:, 0] + 0.1 * np.random.default_rng(seed).normal(size=20)
    >>> result = bias_variance_decomposition(
    ...     LinearRegression(), make, function=lambda X: X[:, 0], random_state=0
    ... )
    >>> round(result.variance, 3), round(result.noise, 3)  # in theory 0.01 * 2 / 20, and 0.01
    (0.001, 0.01)
    """

    name: str
    X: Any
    reference: Vector
    mean_prediction: Vector
    point_remainder: Vector
    point_variance: Vector
    point_noise: Vector
    point_remainder_error: Vector
    point_variance_error: Vector
    standard_error: ErrorParts
    n_fits: int
    is_separated: bool
    kernel_fixed: bool = False

    @property
    def n_rows(self) -> int:
        """Number of test inputs."""
        return len(self.reference)

    @property
    def variance(self) -> float:
        """Variance of the fits, averaged over the test inputs."""
        return float(np.mean(self.point_variance))

    @property
    def noise(self) -> float:
        """Noise variance, averaged over the test inputs."""
        return float(np.mean(self.point_noise))

    @property
    def squared_bias(self) -> float:
        """Squared bias, averaged over the test inputs.

        With a known function it is unbiased, and may be slightly negative. With bootstrap samples
        it depends on the noise variance, and is at least zero.
        """
        remainder = float(np.mean(self.point_remainder))
        return remainder if self.is_separated else float(np.maximum(remainder - self.noise, 0.0))

    @property
    def bias_and_noise(self) -> float:
        """Mean squared error without the variance of the fits."""
        remainder = float(np.mean(self.point_remainder))
        return remainder + self.noise if self.is_separated else remainder

    @property
    def mse(self) -> float:
        """Expected squared error of a prediction of a new target."""
        return self.bias_and_noise + self.variance

    @property
    def parts(self) -> ErrorParts:
        """Mean squared error and its parts."""
        return ErrorParts(self.mse, self.squared_bias, self.variance, self.noise)

    def to_dict(self) -> dict[str, Any]:
        """Return one array per quantity, with an entry per test input, for a data frame.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LinearRegression
        >>> from relvec import bias_variance_decomposition
        >>> X = np.linspace(-1, 1, 20)[:, np.newaxis]
        >>> y = X[:, 0] + 0.1 * np.random.default_rng(0).normal(size=20)
        >>> result = bias_variance_decomposition(LinearRegression(), (X, y), random_state=0)
        >>> list(result.to_dict())
        ['reference', 'mean_prediction', 'bias_and_noise', 'variance', 'noise']
        """
        first = "squared_bias" if self.is_separated else "bias_and_noise"
        return {
            "reference": self.reference,
            "mean_prediction": self.mean_prediction,
            first: self.point_remainder,
            "variance": self.point_variance,
            "noise": self.point_noise,
        }

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """Return the decomposition as a table in text.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LinearRegression
        >>> from relvec import bias_variance_decomposition
        >>> X = np.linspace(-1, 1, 20)[:, np.newaxis]
        >>> y = X[:, 0] + 0.1 * np.random.default_rng(0).normal(size=20)
        >>> result = bias_variance_decomposition(
        ...     LinearRegression(), (X, y), noise_variance=0.01, random_state=0
        ... )
        >>> print(result.summary())
        LinearRegression: 100 fits to bootstrap samples, out-of-bag errors of 20 rows
        ...
        Squared bias and noise cannot be separated from data alone...
        """
        source = (
            f"fits to data sets of the generator, {self.n_rows} test inputs"
            if self.is_separated
            else f"fits to bootstrap samples, out-of-bag errors of {self.n_rows} rows"
        )
        lines = [f"{self.name}: {self.n_fits} {source}", f"{'':14}{'value':>12}{'std error':>12}"]
        for label, value, error in zip(
            ("MSE", "squared bias", "variance", "noise"),
            self.parts,
            self.standard_error,
            strict=True,
        ):
            lines.append(f"{label:14}{value:12.4g}{error:12.2g}")
        if not self.is_separated:
            lines.append(
                "Squared bias and noise cannot be separated from data alone: the noise is "
                + (
                    "not known. Give noise_variance."
                    if np.isnan(self.noise)
                    else "the given value, or the estimate of the model."
                )
            )
            lines.append(
                "A bootstrap sample contains about two thirds of the rows, so this MSE is larger "
                "than that of the model."
            )
        return "\n".join(lines)


def make_result(
    name: str,
    X: Any,
    predictions: Matrix,
    reference: Vector,
    noise: Vector,
    *,
    noise_of_fits: Vector,
    is_separated: bool,
    kernel_fixed: bool = False,
) -> BiasVariance:
    """Decompose the errors of predictions, of shape (n_fits, n_points).

    `noise_of_fits` has the mean squared noise of the data set of each fit, for the standard error
    of the noise; equal numbers if the noise variance is given.
    """
    mean, split = split_squared_error(predictions, reference)
    left_out = leave_one_fit_out(predictions, reference)
    remainder, variance = map(_average_known, left_out)
    others = (noise_of_fits.sum() - noise_of_fits) / max(len(noise_of_fits) - 1, 1)
    total = remainder + variance + (others if is_separated else 0.0)
    errors = [
        float(estimate_jackknife_error(each)) for each in (total, remainder, variance, others)
    ]
    return BiasVariance(
        name=name,
        X=X,
        reference=reference,
        mean_prediction=mean,
        point_remainder=split.remainder,
        point_variance=split.variance,
        point_noise=noise,
        point_remainder_error=np.asarray(estimate_jackknife_error(left_out.remainder)),
        point_variance_error=np.asarray(estimate_jackknife_error(left_out.variance)),
        standard_error=ErrorParts(*errors),
        n_fits=len(predictions),
        is_separated=is_separated,
        kernel_fixed=kernel_fixed,
    )


def _average_known(values: Matrix) -> Vector:
    """Return the mean of each row without missing values; NaN if all are missing."""
    count = np.count_nonzero(~np.isnan(values), axis=1)
    mean = np.full(len(values), np.nan)
    np.divide(np.nansum(values, axis=1), count, out=mean, where=count > 0)
    return mean
