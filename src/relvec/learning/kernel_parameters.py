"""Learning of the parameters of a kernel, from several initialisations.

The evidence of a Gaussian process has many local maxima in the period of a kernel, and is flat if
other parameters are far from suitable values. Periods and frequencies are initialised at the peaks
of a periodogram, other parameters at the best of a few multiples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from relvec._linalg import solve_lower
from relvec._typing import Matrix, Vector
from relvec.learning.process import Process
from relvec.learning.process_search import ProcessFit, ProcessSearch
from relvec.learning.tuning import LengthScaleTuning

__all__ = [
    "PERIODS",
    "find_parameters_at_bounds",
    "find_spectral_peaks",
    "is_one_of",
    "learn_parameters",
    "name_parameters",
    "place_periods",
]

PERIODS, FREQUENCIES = ("period", "periodicity"), ("means",)
"""Names of kernel parameters that are initialised from a periodogram."""


def name_parameters(kernel: Kernel) -> list[str]:
    """Name of every element of `theta`, as in `get_params`."""
    free = [each for each in kernel.hyperparameters if not each.fixed]
    return [each.name for each in free for _ in range(each.n_elements)]


def is_one_of(name: str, kinds: tuple[str, ...]) -> bool:
    """Whether a parameter of a kernel is of one of some kinds."""
    return name.rpartition("__")[2] in kinds  # before that, the sums and products it is in


def learn_parameters(search: ProcessSearch, scale: Vector, max_iter: int) -> ProcessFit | None:
    """Maximise the evidence over the parameters of the kernel, from several initialisations.

    Parameters
    ----------
    search : ProcessSearch
        The data and the kernel.
    scale : ndarray of shape (n_features,)
        Input scales of the features, which are held.
    max_iter : int
        Largest number of steps of the last ascent.

    Returns
    -------
    fit : ProcessFit or None
        The best local optimum; None if the kernel is not a covariance at its own parameters.
    """
    tuning, given = search.tuning, search.start(scale)
    # The Cholesky factorisation failed at the given parameters: not positive definite.
    if given.objective == -math.inf:
        return None
    if not len(given.theta):
        return search.maximise(given, max_iter, "none")
    thetas = [given.theta, *_start_at_peaks(search.kernel, search.process, tuning)]
    # The given parameters are kept as a start of their own, in case the sweep leads to a worse
    # local maximum.
    starts = [given, *(_sweep_parameters(search, given._replace(theta=theta)) for theta in thetas)]
    ends = [search.maximise(start, tuning.initial_steps, "none") for start in starts]
    return search.maximise(max(ends, key=attrgetter("objective")), max_iter, "none")


def _sweep_parameters(search: ProcessSearch, fit: ProcessFit) -> ProcessFit:
    """Set each parameter, one after the other, to the best of a few multiples; periods are held."""
    fit = search.evaluate(fit)
    low, high = np.asarray(search.kernel.bounds).T
    for place, name in enumerate(name_parameters(search.kernel)):
        if is_one_of(name, PERIODS + FREQUENCIES):
            continue
        trials = [fit]
        for factor in search.tuning.parameter_factors:
            theta = fit.theta.copy()
            # theta is the logarithm of a parameter: a factor becomes a summand.
            theta[place] = np.clip(theta[place] + math.log(factor), low[place], high[place])
            trials.append(search.evaluate(fit._replace(theta=theta)))
        fit = max(trials, key=attrgetter("objective"))
    return fit


def _start_at_peaks(kernel: Any, process: Process, tuning: LengthScaleTuning) -> list[Vector]:
    """Initialise periods and frequencies at peaks of the periodogram, one vector per first peak."""
    if not any(is_one_of(name, PERIODS + FREQUENCIES) for name in name_parameters(kernel)):
        return []
    peaks = find_spectral_peaks(process.X, process.targets, process.weight, tuning.n_peaks)
    return place_periods(kernel, np.array(kernel.theta), np.asarray(kernel.bounds).T, peaks)


def place_periods(kernel: Any, theta: Vector, bounds: Matrix, peaks: Vector) -> list[Vector]:
    """Return copies of log parameters with periods at spectral peaks, one for each first peak.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    theta : ndarray of shape (n_parameters,)
        Its log parameters.
    bounds : ndarray of shape (2, n_parameters)
        Bounds of the log parameters.
    peaks : ndarray of shape (n_peaks,)
        Frequencies.
    """
    names, (low, high) = name_parameters(kernel), bounds
    places = [i for i, name in enumerate(names) if is_one_of(name, PERIODS + FREQUENCIES)]
    thetas = []
    for first in range(len(peaks) if places else 0):
        theta = theta.copy()
        for number, place in enumerate(places):
            # Several periodic components start at different peaks, in cyclic order from `first`.
            frequency = peaks[(first + number) % len(peaks)]
            theta[place] = math.log(frequency)
            if is_one_of(names[place], PERIODS):
                # A function of some period also has its multiples as periods; respect the bound.
                n_periods = max(1, math.ceil(math.exp(low[place]) * frequency))
                theta[place] = math.log(n_periods / frequency)
        thetas.append(np.clip(theta, low, high))
    return thetas


def find_parameters_at_bounds(search: ProcessSearch, fit: ProcessFit) -> tuple[str, ...]:
    """Find the names of the parameters at a bound beyond which the evidence would rise."""
    if not len(fit.theta):
        return ()
    point = search.process.evaluate(search.kernel, *fit[:4])
    if point is None:
        return ()
    low, high = np.asarray(search.kernel.bounds).T
    close = search.tuning.negligible_change
    # Derivative along the outward normal of the active bound; zero if no bound is active.
    outward = np.where(fit.theta > high - close, point.theta, 0.0)
    outward = np.where(fit.theta < low + close, -point.theta, outward)
    risen = outward > search.tuning.negligible_loss
    return tuple(dict.fromkeys(np.array(name_parameters(search.kernel))[risen].tolist()))


def find_spectral_peaks(
    X: Matrix, targets: Matrix, weight: Vector, n_peaks: int, factor: Matrix | None = None
) -> Vector:
    """Find the frequencies at which a sinusoid of one feature explains most variance, best first.

    This is a Lomb-Scargle periodogram: least squares of a sine, a cosine and a constant at every
    frequency, summed over the targets. The spacing is a fifth of the resolution. The largest
    frequency has half a period in the median gap between values of the feature.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    targets : ndarray of shape (n_samples, n_targets)
        Targets, times the roots of the weights.
    weight : ndarray of shape (n_samples,)
        Frequency weights of the rows.
    n_peaks : int
        Number of frequencies.
    factor : ndarray of shape (n_samples, n_samples), default=None
        Cholesky factor of the covariance of the targets without the sinusoid. Least squares are
        then generalised: a trend, or another component, that the covariance describes has no peak.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.learning.kernel_parameters import find_spectral_peaks
    >>> x = np.random.default_rng(0).uniform(0, 10, size=(80, 1))
    >>> 1.0 / find_spectral_peaks(x, np.sin(2 * np.pi * x / 1.7), np.ones(80), 1).round(1)
    array([1.66666667])
    """
    found = []
    share, centre = _make_centring(weight, factor)
    targets = centre(targets if factor is None else targets / np.sqrt(weight)[:, None])
    for column in X.T:
        gaps = np.diff(np.unique(column))
        if not len(gaps):
            continue
        # gaps.sum() is the range T of the feature; the resolution is 1 / T.
        step = 0.2 / gaps.sum()
        # Nyquist frequency of the median gap, as a number of steps.
        most = min(0.5 / np.median(gaps) / step, 10_000.0)  # clustered values have tiny gaps
        frequency = step * np.arange(1.0, math.floor(most) + 2.0)
        # Relative to one value: for a large offset, sine and cosine would lose digits in the
        # reduction of the angle. The phase of the origin has no effect on the explained variance.
        angle = 2.0 * math.pi * np.multiply.outer(column - column[0], frequency)
        # Centring both sides projects the constant out of the least-squares problem, as in the
        # generalised Lomb-Scargle periodogram.
        waves = [centre(np.cos(angle)), centre(np.sin(angle))]
        (cc, cs), (_, ss) = [[share @ (a * b) for b in waves] for a in waves]
        along = [(share[:, None] * targets).T @ wave for wave in waves]
        # Explained variance b' A^-1 b with the 2 x 2 Gram matrix A of centred cosine and sine.
        power = ss * along[0] ** 2 - 2.0 * cs * along[0] * along[1] + cc * along[1] ** 2
        determinant = cc * ss - cs**2
        is_identified = determinant > 1e-9 * cc * ss  # else cosine and sine are collinear
        power = np.where(is_identified, power / np.where(is_identified, determinant, 1.0), 0.0).sum(
            axis=0
        )
        # Strict on one side only, so that a plateau counts as one peak.
        before, after = np.r_[-np.inf, power[:-1]], np.r_[power[1:], -np.inf]
        for place in np.flatnonzero((power > before) & (power >= after) & is_identified):
            found.append((float(power[place]), float(frequency[place])))
    return np.array([frequency for _, frequency in sorted(found, reverse=True)[:n_peaks]])


def _make_centring(
    weight: Vector, factor: Matrix | None
) -> tuple[Vector, Callable[[Matrix], Matrix]]:
    """Return weights of sums over rows, and a function that projects the constant out of columns.

    With the Cholesky factor ``L`` of a covariance, columns ``c`` become ``L^-1 W^1/2 c`` before.
    """
    share = weight / weight.sum()
    if factor is None:
        return share, lambda columns: columns - share @ columns
    root = np.sqrt(weight)[:, None]
    constant = solve_lower(factor, root)[:, 0]
    constant /= np.linalg.norm(constant)

    def centre(columns: Matrix) -> Matrix:
        white = solve_lower(factor, np.asfortranarray(root * columns))
        result: Matrix = white - np.multiply.outer(constant, constant @ white)
        return result

    return np.full(len(weight), 1.0 / len(weight)), centre
