"""Test signals of the denoising literature by name: clean, in parts, and with noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from relvec._checks import check_bool, check_choice, check_integer, check_positive
from relvec._typing import Matrix, Vector
from relvec.datasets import jumps_and_peaks as jumps
from relvec.datasets import oscillations as waves

__all__ = ["GRIDS", "SIGNAL_NAMES", "NoisySignal", "make_noisy_signal", "make_parts", "make_signal"]

Formula = Callable[[Vector], Vector]

GRIDS = ("wavelab", "linspace")
"""Sample positions: ``1/n, 2/n, ..., 1`` or ``linspace(0, 1, n)``."""

_SIGNALS: dict[str, tuple[Formula, ...]] = {
    "Blocks": (jumps.blocks,),
    "Bumps": (jumps.bumps,),
    "HeaviSine": (jumps.heavisine,),
    "Doppler": (waves.doppler,),
    "Sinc": (jumps.sinc,),
    "BlocksSinc": (jumps.blocks, jumps.sinc),
    "Ramp": (jumps.ramp,),
    "Cusp": (jumps.cusp,),
    "Sing": (jumps.singularity,),
    "Leopold": (jumps.kronecker,),
    "Piece-Regular": (jumps.piece_regular,),
    "Piece-Polynomial": (jumps.piece_polynomial,),
    "Spikes": (jumps.spikes,),
    "Square": (jumps.square,),
    "Telegraph": (jumps.telegraph,),
    "HiSine": (waves.hisine,),
    "LoSine": (waves.losine,),
    "LinChirp": (waves.linchirp,),
    "TwoChirp": (waves.twochirp,),
    "QuadChirp": (waves.quadchirp,),
    "MishMash": (waves.quadchirp, waves.linchirp_slow, waves.hisine),
    "WernerSorrows": (waves.werner_chirps, waves.hisine, jumps.bumps),
    "HypChirps": (waves.hyp_chirps,),
    "LinChirps": (waves.linchirps,),
    "Chirps": (waves.chirps,),
    "Gabor": (waves.gabor,),
    "SineOneOverX": (waves.sine_one_over_x,),
    "Riemann": (waves.riemann,),
    "AmFm": (waves.am_fm,),
    "Harmonics": (waves.harmonics,),
}

SIGNAL_NAMES = tuple(_SIGNALS)
"""Signals of `make_signal`."""

# Schmolck's Sinc includes both ends of [-10, 10], even where his Bumps is on WaveLab's grid.
_ALWAYS_LINSPACE: frozenset[Formula] = frozenset({jumps.sinc})


class NoisySignal(NamedTuple):
    """A clean signal and the same with noise.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Positions of the samples in [0, 1].
    clean : ndarray of shape (n,)
        The signal.
    noisy : ndarray of shape (n,)
        The signal with Gaussian white noise added.
    noise_std : float
        Standard deviation of the noise.

    Examples
    --------
    >>> from relvec.datasets import make_noisy_signal
    >>> data = make_noisy_signal("Blocks", 256, snr=5, random_state=0)
    >>> round(float((data.noisy - data.clean).std() / data.noise_std), 1)
    1.0
    """

    x: Vector
    clean: Vector
    noisy: Vector
    noise_std: float


def make_signal(name: str, n: int = 1024, *, grid: str = "wavelab") -> Vector:
    """Make a clean test signal of the denoising literature.

    Parameters
    ----------
    name : str
        One of `SIGNAL_NAMES`; case, hyphens, underscores and spaces are ignored. "Blocks",
        "Bumps", "HeaviSine" and "Doppler" are those of Donoho and Johnstone (1994), "Sinc" and
        "BlocksSinc" those of Schmolck (2008). "Spikes", "Square", "Telegraph", "AmFm" and
        "Harmonics" are ours; all others are WaveLab's.
    n : int, default=1024
        Number of samples, at least 16.
    grid : {"wavelab", "linspace"}, default="wavelab"
        Samples at ``1/n, 2/n, ..., 1`` as in WaveLab, or at ``linspace(0, 1, n)`` as in the
        listing of Schmolck (2008). "Sinc" always includes both ends.

    Returns
    -------
    signal : ndarray of shape (n,)

    See Also
    --------
    make_parts : The components of a mixture.
    make_noisy_signal : The same with noise.

    References
    ----------
    Buckheit and Donoho (1995), WaveLab and reproducible research.
    Schmolck (2008), Smooth relevance vector machines, appendix A.2.

    Examples
    --------
    >>> from relvec.datasets import make_signal
    >>> make_signal("heavisine", 16)[:3].round(3)
    array([2.828, 4.   , 2.828])
    """
    total: Vector = make_parts(name, n, grid=grid).sum(axis=0)
    return total


def make_parts(name: str, n: int = 1024, *, grid: str = "wavelab") -> Matrix:
    """Make the components whose sum is the signal `name`: the truth for source separation.

    Parameters
    ----------
    name : str
        One of `SIGNAL_NAMES`. "BlocksSinc" (steps, then a smooth curve), "MishMash" and
        "WernerSorrows" have several components; all others have one.
    n : int, default=1024
        Number of samples, at least 16.
    grid : {"wavelab", "linspace"}, default="wavelab"
        As in `make_signal`.

    Returns
    -------
    parts : ndarray of shape (n_parts, n)

    Examples
    --------
    >>> from relvec.datasets import make_parts
    >>> steps, curve = make_parts("BlocksSinc", 64)
    >>> float(abs(steps[32:]).max()), float(abs(curve[:32]).max())
    (0.0, 0.0)
    """
    canonical = _canonical(name)
    # with fewer samples some pieces of the signals would be empty
    n = check_integer("n", n, minimum=16)
    check_choice("grid", grid, GRIDS)
    formulas = _SIGNALS[canonical]
    if canonical != "BlocksSinc":
        return np.stack([_sample(formula, n, grid) for formula in formulas])
    # Blocks fills the first half and Sinc the second, each on its own grid.
    parts = np.zeros((2, n))
    parts[0, : n // 2] = _sample(formulas[0], n // 2, grid)
    parts[1, n // 2 :] = _sample(formulas[1], n - n // 2, grid)
    return parts


def make_noisy_signal(
    name: str,
    n: int = 1024,
    *,
    snr: float = 7.0,
    grid: str = "wavelab",
    exact_noise: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> NoisySignal:
    """Make a test signal with Gaussian white noise.

    Parameters
    ----------
    name : str
        One of `SIGNAL_NAMES`.
    n : int, default=1024
        Number of samples, at least 16.
    snr : float, default=7.0
        Signal-to-noise ratio: standard deviation of the clean signal over that of the noise.
    grid : {"wavelab", "linspace"}, default="wavelab"
        As in `make_signal`.
    exact_noise : bool, default=False
        Shift and scale the noise to a sample mean of zero and exactly the specified sample
        standard deviation, as in the tables of Schmolck (2008). Mean squared errors then vary less
        between draws.
    random_state : int, RandomState or None, default=None
        Seed of the noise.

    Returns
    -------
    signal : NoisySignal
        With the fields `x`, `clean`, `noisy` and `noise_std`.

    Examples
    --------
    >>> from relvec.datasets import make_noisy_signal
    >>> x, clean, noisy, noise_std = make_noisy_signal("Bumps", 128, snr=2.0, random_state=0)
    >>> round(noise_std**2, 3)
    0.119
    """
    snr = check_positive("snr", snr)
    check_bool("exact_noise", exact_noise)
    clean = make_signal(name, n, grid=grid)
    draw = check_random_state(random_state).standard_normal(n)
    if exact_noise:
        draw = (draw - draw.mean()) / draw.std(ddof=1)
    noise_std = float(clean.std(ddof=1)) / snr
    return NoisySignal(_positions(n, grid), clean, clean + noise_std * draw, noise_std)


def _positions(n: int, grid: str) -> Vector:
    """Return the positions of the samples in [0, 1]."""
    return np.arange(1, n + 1) / n if grid == "wavelab" else np.linspace(0.0, 1.0, n)


def _sample(formula: Formula, n: int, grid: str) -> Vector:
    """Evaluate one formula on a grid."""
    return formula(_positions(n, "linspace" if formula in _ALWAYS_LINSPACE else grid))


def _plain(name: str) -> str:
    """Return the name in lower case, without hyphens, underscores and spaces."""
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")


def _canonical(name: str) -> str:
    """Return the name as spelled in `SIGNAL_NAMES`; an unknown name raises an error."""
    if isinstance(name, str):
        for known in SIGNAL_NAMES:
            if _plain(known) == _plain(name):
                return known
    return check_choice("name", name, SIGNAL_NAMES)
