"""Convergence of Markov chains: R-hat, effective sample sizes and Monte Carlo standard errors.

The definitions are those of Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021,
"Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of
MCMC"), with the same conventions as ArviZ. Draws are arrays of shape (n_chains, n_draws), or
(n_chains, n_draws, n_quantities) for several quantities at once. Results have shape () or
(n_quantities,). Quantities with draws that are not finite, and chains of fewer than four draws,
have NaN throughout.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import betaincinv, ndtri
from scipy.stats import rankdata

from relvec._checks import check_probability
from relvec._typing import ArrayLike, BoolArray, IndexArray, Vector

__all__ = [
    "ChainSummary",
    "compute_ess_bulk",
    "compute_ess_tail",
    "compute_mcse_mean",
    "compute_mcse_quantile",
    "compute_mcse_std",
    "compute_r_hat",
    "summarise_chains",
]

TAIL_LEVELS = (0.05, 0.95)
"""Quantiles whose effective sample size is that of the tails."""
FEWEST_DRAWS = 4
"""Two per half of a chain: the least that has a variance."""


def compute_r_hat(draws: ArrayLike) -> Vector:
    """Compute the rank-normalised split R-hat, the larger one of bulk and folded draws.

    Each chain is split into halves, so that one chain has an R-hat as well. It is NaN if all
    draws are equal, as in ArviZ, and infinite if each chain is constant at a value of its own.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)

    Returns
    -------
    r_hat : float or ndarray of shape (n_quantities,)

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.sampling import compute_r_hat
    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> bool(compute_r_hat(draws) < 1.01)
    True
    >>> round(float(compute_r_hat(draws + [[0.0], [0.0], [0.0], [2.0]])), 1)
    1.3
    """
    array, is_valid, shape = _arrange(draws)
    halves = _split(array)
    folded = np.abs(halves - np.median(halves, axis=(1, 2), keepdims=True))
    # A folded quantity may be constant (two values of equal frequency); then the bulk decides.
    larger = np.fmax(_compare_variances(_normalise(halves)), _compare_variances(_normalise(folded)))
    return _finish(larger, is_valid, shape)


def compute_ess_bulk(draws: ArrayLike) -> Vector:
    """Compute the effective sample size of the bulk: that of the rank-normalised draws.

    It is the number of draws if all of them are equal.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)

    Returns
    -------
    ess : float or ndarray of shape (n_quantities,)

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.sampling import compute_ess_bulk
    >>> steps = np.random.default_rng(0).normal(size=(4, 1000))
    >>> slow = np.cumsum(steps, axis=1)  # random walks
    >>> bool(compute_ess_bulk(steps) > 3000), bool(compute_ess_bulk(slow) < 40)
    (True, True)
    """
    array, is_valid, shape = _arrange(draws)
    return _finish(_compute_ess(_normalise(_split(array))), is_valid, shape)


def compute_ess_tail(draws: ArrayLike) -> Vector:
    """Compute the effective sample size of the tails: the smaller one of the 5 and 95 % quantiles.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)

    Returns
    -------
    ess : float or ndarray of shape (n_quantities,)

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.sampling import compute_ess_tail
    >>> draws = np.random.default_rng(0).normal(size=(4, 1000, 2))
    >>> bool((compute_ess_tail(draws) > 3000).all())
    True
    """
    array, is_valid, shape = _arrange(draws)
    low, high = (_compute_quantile_ess(array, level) for level in TAIL_LEVELS)
    return _finish(np.minimum(low, high), is_valid, shape)


def compute_mcse_mean(draws: ArrayLike) -> Vector:
    """Compute the Monte Carlo standard error of the mean.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)

    Returns
    -------
    error : float or ndarray of shape (n_quantities,)

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.sampling import compute_mcse_mean
    >>> draws = np.random.default_rng(0).normal(size=(4, 2500))
    >>> round(float(compute_mcse_mean(draws)), 2)
    0.01
    """
    array, is_valid, shape = _arrange(draws)
    array, exponent = _rescale(array)
    error = _compute_std(array) / np.sqrt(_compute_ess(_split(array)))
    return _finish(np.ldexp(error, exponent), is_valid, shape)


def compute_mcse_std(draws: ArrayLike) -> Vector:
    """Compute the Monte Carlo standard error of the standard deviation, by the delta method.

    It is zero if all draws are equal, where ArviZ has NaN.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)

    Returns
    -------
    error : float or ndarray of shape (n_quantities,)

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.sampling import compute_mcse_std
    >>> draws = np.random.default_rng(0).normal(size=(4, 2500))
    >>> round(float(compute_mcse_std(draws)), 3)
    0.007
    """
    array, is_valid, shape = _arrange(draws)
    array, exponent = _rescale(array)
    squared = (array - array.mean(axis=(1, 2), keepdims=True)) ** 2
    variance = squared.mean(axis=(1, 2))
    of_variance = (squared**2).mean(axis=(1, 2)) - variance**2
    error = np.zeros(len(array))
    varies = ~_is_constant(array) & (variance > 0.0)
    ess = _compute_ess(_split(squared))[varies]
    error[varies] = np.sqrt(np.maximum(of_variance[varies], 0.0) / ess / variance[varies]) / 2.0
    return _finish(np.ldexp(error, exponent), is_valid, shape)


def compute_mcse_quantile(draws: ArrayLike, level: float) -> Vector:
    """Compute the Monte Carlo standard error of a quantile: half a 68 % interval of its rank.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)
    level : float
        Probability of the quantile.

    Returns
    -------
    error : float or ndarray of shape (n_quantities,)

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.sampling import compute_mcse_quantile
    >>> draws = np.random.default_rng(0).normal(size=(4, 2500))
    >>> round(float(compute_mcse_quantile(draws, 0.95)), 2)
    0.02
    """
    level = check_probability("level", level)
    array, is_valid, shape = _arrange(draws)
    ess = _compute_quantile_ess(array, level)
    ordered = np.sort(array.reshape(len(array), -1), axis=1)
    n_total = ordered.shape[1]
    # The quantile of the beta distribution of the rank, one standard deviation either side.
    low, high = (
        betaincinv(ess * level + 1.0, ess * (1.0 - level) + 1.0, p) * n_total - 1.0
        for p in (0.1586553, 0.8413447)
    )
    first = np.floor(np.maximum(low, 0.0)).astype(np.intp)
    last = np.ceil(np.minimum(high, n_total - 1)).astype(np.intp)
    rows = np.arange(len(array))
    return _finish(0.5 * (ordered[rows, last] - ordered[rows, first]), is_valid, shape)


class ChainSummary(NamedTuple):
    """Posterior summary of one quantity, and the convergence of its chains.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.sampling import summarise_chains
    >>> draws = np.random.default_rng(0).normal(1.0, 0.1, size=(4, 1000))
    >>> (noise,) = summarise_chains({"noise std": draws})
    >>> noise.name, round(noise.mean, 2), noise.has_converged()
    ('noise std', 1.0, True)
    """

    name: str
    mean: float
    std: float
    """Standard deviation of the draws, with Bessel's correction."""
    quantile_5: float
    quantile_95: float
    mcse_mean: float
    """Monte Carlo standard error of the mean."""
    mcse_std: float
    ess_bulk: float
    ess_tail: float
    r_hat: float
    """NaN if all draws are equal or some of them are not finite."""

    def has_converged(self, max_r_hat: float = 1.01, min_ess: float = 400.0) -> bool:
        """Whether R-hat and effective sample sizes are within the bounds of Vehtari et al.

        A quantity that is constant, with the same value in all chains, counts as converged.
        """
        if self.std == 0.0:
            return True
        return self.r_hat <= max_r_hat and min(self.ess_bulk, self.ess_tail) >= min_ess


def summarise_chains(draws: Mapping[str, ArrayLike]) -> list[ChainSummary]:
    """Summarise the draws of several quantities.

    Parameters
    ----------
    draws : mapping of str to array-like
        Name of each quantity, and its draws of shape (n_chains, n_draws); or of shape
        (n_chains, n_draws, n_quantities), where each column is summarised under a numbered name.

    Returns
    -------
    summaries : list of ChainSummary

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.sampling import summarise_chains
    >>> rng = np.random.default_rng(0)
    >>> draws = {"noise std": rng.normal(size=(4, 500)), "weight": rng.normal(size=(4, 500, 2))}
    >>> [each.name for each in summarise_chains(draws)]
    ['noise std', 'weight[0]', 'weight[1]']
    """
    summaries = []
    for name, values in draws.items():
        array, is_valid, shape = _arrange(values, name)
        flat = array.reshape(len(array), -1)
        low, high = np.quantile(flat, TAIL_LEVELS, axis=1)
        columns = [
            _finish(each, is_valid, is_valid.shape)
            for each in (flat.mean(axis=1), _compute_std(array), low, high)
        ]
        columns += [
            np.reshape(each, is_valid.shape)
            for each in (
                compute_mcse_mean(values),
                compute_mcse_std(values),
                compute_ess_bulk(values),
                compute_ess_tail(values),
                compute_r_hat(values),
            )
        ]
        for index, numbers in enumerate(np.transpose(columns).tolist()):
            summaries.append(ChainSummary(name if shape == () else f"{name}[{index}]", *numbers))
    return summaries


def _arrange(draws: ArrayLike, name: str = "draws") -> tuple[Vector, BoolArray, tuple[int, ...]]:
    """Return draws as (n_quantities, n_chains, n_draws), which are valid, and the result shape.

    Draws of quantities that are not valid are replaced by zeros.
    """
    array = np.asarray(draws)
    if array.ndim not in (2, 3) or array.dtype.kind not in "biuf" or 0 in array.shape[:2]:
        raise ValueError(
            f"{name} must be numbers of shape (n_chains, n_draws) or (n_chains, n_draws, "
            f"n_quantities); got an array of shape {array.shape} and type {array.dtype}."
        )
    shape = array.shape[2:]
    moved = np.moveaxis(array.reshape(*array.shape[:2], -1), 2, 0).astype(np.float64)
    is_valid = np.isfinite(moved).all(axis=(1, 2)) & (array.shape[1] >= FEWEST_DRAWS)
    if shape == (0,):
        # medians of empty arrays are an error; `_finish` takes the placeholder out again
        return np.zeros((1, *array.shape[:2])), is_valid, shape
    return np.where(is_valid[:, None, None], moved, 0.0), is_valid, shape


def _finish(values: Vector, is_valid: BoolArray, shape: tuple[int, ...]) -> Any:
    """Return the results with NaN for quantities that are not valid; a scalar for one."""
    return np.where(is_valid, values[: len(is_valid)], np.nan).reshape(shape)[()]


def _split(array: Vector) -> Vector:
    """Split chains into halves; the middle draw of an odd number is left out."""
    half = max(array.shape[2] // 2, 1)  # one draw has no halves, and no result
    return np.concatenate([array[:, :, :half], array[:, :, -half:]], axis=1)


def _normalise(array: Vector) -> Vector:
    """Replace draws by normal scores of their ranks over all chains (Blom 1958)."""
    ranks = rankdata(array.reshape(len(array), -1), axis=1)
    scores = ndtri((ranks - 0.375) / (ranks.shape[1] + 0.25))
    return np.asarray(scores.reshape(array.shape))


def _is_constant(array: Vector) -> BoolArray:
    return np.asarray(array.max(axis=(1, 2)) == array.min(axis=(1, 2)))


def _rescale(array: Vector) -> tuple[Vector, IndexArray]:
    """Divide each quantity by a power of two, so that its fourth powers are in range.

    Returns the exponents as well.
    """
    exponent = np.frexp(np.abs(array).max(axis=(1, 2)))[1]
    return np.ldexp(array, -exponent[:, None, None]), exponent


def _compute_std(array: Vector) -> Vector:
    """Return the standard deviation over all chains; exactly zero if the draws are equal."""
    scaled, exponent = _rescale(array)
    n_total = array.shape[1] * array.shape[2]
    std = np.ldexp(np.sqrt(scaled.var(axis=(1, 2)) * n_total / max(n_total - 1, 1)), exponent)
    return np.where(_is_constant(array), 0.0, std)


def _compare_variances(chains: Vector) -> Vector:
    """Compute R-hat from the variances within and between chains."""
    n_draws = chains.shape[2]
    if n_draws < 2:
        return np.full(len(chains), np.nan)
    within = chains.var(axis=2, ddof=1).mean(axis=1)
    between = n_draws * chains.mean(axis=2).var(axis=1, ddof=1)
    # Means of equal numbers may differ by rounding.
    is_constant = _is_constant(chains)
    with np.errstate(divide="ignore", invalid="ignore"):
        r_hat = np.sqrt((between / within + n_draws - 1) / n_draws)
    return np.where(is_constant, np.nan, r_hat)


def _compute_quantile_ess(array: Vector, level: float) -> Vector:
    """Compute the effective sample size of a quantile: that of the indicator below it."""
    quantile = np.quantile(array, level, axis=(1, 2), keepdims=True)
    return _compute_ess(_split((array <= quantile).astype(np.float64)))


def _compute_ess(chains: Vector) -> Vector:
    """Compute effective sample sizes from autocorrelations, by Geyer's initial sequences."""
    n_chains, n_draws = chains.shape[1:]
    n_total = n_chains * n_draws
    if n_draws < 2:
        return np.full(len(chains), float(n_total))
    covariance = _compute_autocovariance(chains).mean(axis=1)
    within = covariance[:, :1] * n_draws / (n_draws - 1.0)
    total = covariance[:, :1] + chains.mean(axis=2).var(axis=1, ddof=1)[:, None]
    is_constant = _is_constant(chains)
    rho = 1.0 - (within - covariance) / np.where(is_constant[:, None], 1.0, total)
    rho[:, 0] = 1.0

    # Initial positive sequence: pairs of neighbouring lags up to the first sum that is not
    # positive.
    pairs = rho[:, : n_draws // 2 * 2].reshape(len(chains), -1, 2).sum(axis=2)
    longest = max((n_draws - 3) // 2, 0)
    is_end = pairs[:, : longest + 1] <= 0.0
    n_pairs = np.where(is_end.any(axis=1), is_end.argmax(axis=1), longest)
    # Initial monotone sequence: no pair exceeds those before it.
    cumulated = np.cumsum(np.minimum.accumulate(pairs, axis=1), axis=1)
    rows = np.arange(len(chains))
    sum_of_pairs = np.where(n_pairs > 0, cumulated[rows, n_pairs - 1], 0.0)
    # The even lag of the last pair counts once, which reduces the variance for antithetic chains.
    last = rho[rows, 2 * n_pairs]
    last = np.where((last > 0.0) | (pairs[rows, n_pairs] >= 0.0), last, 0.0)
    autocorrelation_time = -1.0 + 2.0 * sum_of_pairs + last
    ess = n_total / np.maximum(autocorrelation_time, 1.0 / np.log10(n_total))
    return np.where(is_constant, float(n_total), ess)


def _compute_autocovariance(chains: Vector) -> Vector:
    """Compute the autocovariance of each chain at all lags, by the fast Fourier transform."""
    n_draws = chains.shape[2]
    n_padded = next_fast_len(2 * n_draws, real=True)
    spectrum = rfft(chains - chains.mean(axis=2, keepdims=True), n=n_padded, axis=2)
    power = spectrum.real**2 + spectrum.imag**2
    return np.asarray(irfft(power, n=n_padded, axis=2)[:, :, :n_draws] / n_draws)
