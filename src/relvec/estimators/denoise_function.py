"""Denoising as a function."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from relvec._checks import check_bool, check_integer, nearest
from relvec._signals import as_numbers, like
from relvec._typing import ArrayLike, Vector
from relvec.denoising.layout import Layout
from relvec.denoising.noise import given_variance
from relvec.denoising.tiles import stream
from relvec.denoising.tuning import DEFAULT
from relvec.estimators._progress import resolve_progress
from relvec.estimators.denoising import SmoothDenoiser
from relvec.priors import SmoothnessPrior

__all__ = ["denoise"]

OPTIONS = tuple(SmoothDenoiser._get_param_names())
"""What may be said besides the signal."""


def denoise(
    signal: Any,
    *,
    return_std: bool = False,
    x: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    out: Any = None,
    n_samples: int | None = None,
    **options: Any,
) -> Any:
    """Remove white noise from a signal, image or volume.

    Parameters
    ----------
    signal : array-like or iterator
        Samples at equal distances in one, two or more dimensions: a list, an array of any
        numbers, a pandas or polars Series, a colour image, a memory-mapped file. NaN counts as
        missing. An iterator of consecutive pieces of a line gives an iterator of pieces.
    return_std : bool, default=False
        Also return the posterior standard deviation of every sample.
    x, mask, sample_weight
        Positions, gaps and relative precisions: see `SmoothDenoiser.fit`.
    out : array, optional
        Where to put the result, for instance a memory-mapped file as large as the signal.
    n_samples : int, optional
        Length of the whole signal, for an iterator: the penalty of a component depends on it.
        Without it the penalty is that of a million samples.
    **options : dict
        Parameters of `SmoothDenoiser`: ``mode``, ``dictionary``, ``prior``, ``noise_std``,
        ``neighbours``, ``boundary``, ``channel_axis``, ``n_jobs``, ``progress``, ...

    Returns
    -------
    denoised : array
        In the container the signal came in, as floating-point numbers.
    std : array
        Only if `return_std`.

    See Also
    --------
    SmoothDenoiser : The same as an estimator, with everything it found.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import denoise
    >>> rng = np.random.default_rng(0)
    >>> t = np.linspace(0, 1, 2000)
    >>> noisy = np.sin(2 * np.pi * 3 * t) + 0.3 * rng.normal(size=2000)
    >>> clean = denoise(noisy)
    >>> bool(np.mean((clean - np.sin(2 * np.pi * 3 * t)) ** 2) < 0.002)
    True
    """
    check_bool("return_std", return_std)
    for name in [each for each in options if each not in OPTIONS]:
        hint = nearest(name, OPTIONS)
        raise TypeError(
            f"denoise() has no option {name!r}."
            + (f" Did you mean {hint!r}?" if hint else f" It takes {', '.join(OPTIONS)}.")
        )
    if isinstance(signal, Iterator):
        if return_std or any(given is not None for given in (out, x, mask, sample_weight)):
            raise ValueError(
                "A signal that arrives in pieces takes none of return_std, out, x, mask and "
                "sample_weight; mark missing samples by NaN."
            )
        return _denoise_stream(signal, n_samples, options)
    if n_samples is not None:
        raise ValueError("n_samples is for iterators; the length of this signal is known.")
    if isinstance(out, np.ndarray) and np.shares_memory(out, np.asarray(np.ma.getdata(signal))):
        raise ValueError(
            "out must not overlap with the signal, which is read again where tiles overlap. "
            "Pass another array."
        )
    denoiser = SmoothDenoiser(**{**options, "with_std": return_std})
    denoiser._denoise(signal, x, mask, sample_weight, out)
    wrap = like(signal)
    denoised = wrap(denoiser.signal_) if out is None else out
    return (denoised, wrap(denoiser.std_)) if return_std else denoised


def _denoise_stream(
    pieces: Iterator[Any], n_samples: int | None, options: dict[str, Any]
) -> Iterator[Vector]:
    """Denoise a line that arrives in pieces, its noise level taken from the first tile."""
    denoiser = SmoothDenoiser(**{**options, "with_std": False, "channel_axis": None})
    tuning = denoiser.tuning or DEFAULT
    side = tuning.tile_side(1)
    prior = denoiser._resolve_prior()
    denoiser._resolve_scheme((side,))
    if np.ndim(denoiser.noise_std):
        raise ValueError(
            "The noise of a signal that arrives in pieces must be one number or the name of an "
            f"estimate; got noise_std of shape {np.shape(denoiser.noise_std)}."
        )
    given_variance(denoiser.noise_std, (side,), None)
    # of unknown length, it costs what a million samples do
    total = 1 << 20 if n_samples is None else check_integer("n_samples", n_samples, minimum=2)
    denoiser.set_params(prior=SmoothnessPrior(float(prior.bind(total).penalty)))
    n_tiles = 0 if n_samples is None else math.ceil(total / side)
    progress = resolve_progress(denoiser.progress)
    known: tuple[Layout, list[float]] | None = None
    n_done = 0

    def work(tile: Vector) -> Vector:
        """Denoise a tile with the noise level of the first."""
        nonlocal known, n_done
        n_done += 1
        is_known = known is not None or not isinstance(denoiser.noise_std, str)
        denoised = tile  # a gap as wide as a tile: nothing is known
        if not is_known or np.count_nonzero(~np.isnan(tile)) >= 2:
            denoiser._denoise(tile, None, None, None, None, known)
            known, denoised = (denoiser._layout, denoiser._variances), denoiser.signal_
        if progress is not None:
            progress(n_done, max(n_tiles, n_done) if n_tiles else 0)
        return denoised

    return stream(map(_as_line, pieces), work, side, tuning.tile_overlap(1))


def _as_line(piece: Any) -> Vector:
    """View a piece of a stream, or a single sample, as real numbers."""
    values = as_numbers([piece] if np.ndim(piece) == 0 else piece)
    if values.ndim > 1 or values.dtype.kind == "c":
        raise ValueError(
            "A signal that arrives in pieces must be a line of real numbers; got a piece of "
            f"shape {values.shape} and type {values.dtype}."
        )
    return values.astype(np.float64)
