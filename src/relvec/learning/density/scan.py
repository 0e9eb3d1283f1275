"""Search for a narrow peak on a smooth background, whose uncertainty counts.

A signal of ``A`` events adds ``A S_j`` to the expected counts ``mu_j`` of the bins, with ``S`` the
shape of the peak. To first order this is a further atom ``S_j / mu_j`` of the log intensity. With
the weights of the background integrated out, its slope is ``q`` and its information ``s`` (Tipping
and Faul, 2003): the signal is ``q / s`` events with standard deviation ``s^(-1/2)``, and ``q /
s^(1/2)`` is a standard normal variable if there is no signal (Rao's score test).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from relvec._typing import Matrix, Vector
from relvec.dictionaries import DenseDictionary
from relvec.laplace import Mode, find_mode
from relvec.learning.density.fit import bind_counts
from relvec.learning.density.fitted import FittedDensity
from relvec.learning.density.grid import product_of

__all__ = ["PeakScan", "scan_peaks"]


@dataclass(frozen=True)
class PeakScan:
    """Result of a search for a peak: for each position the signal and its significance.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesDensity
    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate([rng.uniform(size=2000), rng.normal(0.7, 0.01, size=100)])
    >>> background = SparseBayesDensity(support=(0, 1), widths=[0.5, 0.25]).fit(x[:, None])
    >>> scan = background.scan_peaks(np.linspace(0.05, 0.95, 91), width=0.01)
    >>> float(scan.position[scan.z.argmax()].round(2)), bool(scan.z.max() > 5)
    (0.7, True)
    """

    position: Vector
    """Position of the peak."""
    signal: Vector
    """Number of events in a peak there; negative where there are too few."""
    std: Vector
    """Its standard deviation if there is no signal, background uncertainty included: the unit of
    significance. It is not the error of a signal that is there, whose own noise adds to it."""
    z: Vector
    """Local significance: `signal` over `std`."""
    largest: Vector
    """Largest `z` of each simulated background."""

    @property
    def local_p_value(self) -> Vector:
        """Probability of a larger `z` at one position without a signal."""
        result: Vector = ndtr(-self.z)
        return result

    @property
    def global_p_value(self) -> float:
        """Share of simulated backgrounds with a larger `z` anywhere; NaN without simulations."""
        if not len(self.largest):
            return float("nan")
        # The observed one counts as well, so that the share is never zero.
        return float((1 + np.sum(self.largest >= self.z.max())) / (1 + len(self.largest)))


def scan_peaks(
    fitted: FittedDensity,
    position: Vector,
    width: float,
    n_simulations: int,
    rng: np.random.Generator,
) -> PeakScan:
    """Test for a Gaussian peak at each position.

    Parameters
    ----------
    fitted : FittedDensity
        Density of one variable.
    position : ndarray
        Positions of the peak.
    width : float
        Its standard deviation.
    n_simulations : int
        Number of simulated backgrounds, drawn from the posterior and fitted with the same
        precisions.
    rng : numpy Generator
        Source of random numbers.
    """
    (axis,) = fitted.atoms.axes
    edges = fitted.coordinates.inverse(axis.edges[:, None])[:, 0]
    shape = np.abs(np.diff(ndtr((edges[:, None] - position) / width), axis=0))
    columns = fitted.atoms.evaluate(product_of([axis.centres]))[:, :-1]
    mode = _fit_background(fitted, columns, fitted.counts, fitted.weights)
    signal, std = _score(mode, shape)
    largest = []
    for weights in fitted.draw_weights(n_simulations, rng).T:
        counts = rng.poisson(_expect(fitted, columns, weights)).astype(np.float64)
        simulated = _fit_background(fitted, columns, counts, weights)
        largest.append(np.divide(*_score(simulated, shape)).max())
    return PeakScan(position, signal, std, signal / std, np.array(largest))


def _expect(fitted: FittedDensity, columns: Matrix, weights: Vector) -> Vector:
    offset = bind_counts(fitted.atoms.axes, fitted.coordinates, fitted.counts).offset_or_zero
    result: Vector = np.exp(columns @ weights[:-1] + weights[-1] + offset)
    return result


def _fit_background(fitted: FittedDensity, columns: Matrix, counts: Vector, start: Vector) -> Mode:
    likelihood = bind_counts(fitted.atoms.axes, fitted.coordinates, counts)
    return find_mode(columns, fitted.log_precision, likelihood, start)


def _score(mode: Mode, shape: Matrix) -> tuple[Vector, Vector]:
    """Return the number of events in each peak, and its standard deviation."""
    expected = mode.hessian.rows
    atoms = shape / expected[:, None]
    _, information, _ = mode.hessian.compute_entry_statistics(DenseDictionary(atoms))
    s = np.maximum(information[:, 0], np.finfo(float).tiny)
    return mode.slope @ atoms / s, 1.0 / np.sqrt(s)
