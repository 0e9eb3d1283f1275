"""The function `denoise`: denoising in one call."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from relvec._checks import check_bool, check_integer, find_closest_name
from relvec._signals import as_numbers, make_wrapper
from relvec._typing import ArrayLike, Vector
from relvec.denoising.layout import Layout
from relvec.denoising.noise import read_noise_variance
from relvec.denoising.tiles import process_stream
from relvec.denoising.tuning import DEFAULT
from relvec.estimators._progress import resolve_progress
from relvec.estimators.denoising import SmoothDenoiser
from relvec.priors import SmoothnessPrior

__all__ = ["denoise"]

OPTIONS = tuple(SmoothDenoiser._get_param_names())
"""Names of the keyword options."""


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
        Evenly spaced samples in one, two or more dimensions: a list, an array, a pandas or polars
        Series, a colour image, a memory-mapped file. NaN counts as missing. For an iterator over
        consecutive pieces of a one-dimensional signal the result is an iterator over pieces.
    return_std : bool, default=False
        Also return the posterior standard deviation of every sample.
    x, mask, sample_weight
        Positions, which samples were observed (True), and relative precisions: see
        `SmoothDenoiser.fit`.
    out : array, optional
        Where the result is written, for instance a memory-mapped file as large as the signal.
    n_samples : int, optional
        Length of the whole signal, only for an iterator: the penalty depends on it. By default the
        penalty is that of a million samples.
    **options : dict
        Parameters of `SmoothDenoiser`: ``mode``, ``dictionary``, ``prior``, ``noise_std``,
        ``neighbours``, ``boundary``, ``channel_axis``, ``n_jobs``, ``progress``, ...

    Returns
    -------
    denoised : array
        In the same container type as the signal, as floating-point numbers.
    std : array
        Only if `return_std`.

    See Also
    --------
    SmoothDenoiser : The same as an estimator, with noise level, weights and error estimates.

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
        hint = find_closest_name(name, OPTIONS)
        raise TypeError(
            f"denoise() has no option {name!r}."
            + (f" Did you mean {hint!r}?" if hint else f" It takes {', '.join(OPTIONS)}.")
        )
    if isinstance(signal, Iterator):
        if return_std or any(given is not None for given in (out, x, mask, sample_weight)):
            raise ValueError(
                "A signal that arrives in pieces takes none of return_std, out, x, mask and "
                "sample_weight. Mark missing samples by NaN, and omit the others."
            )
        return _denoise_stream(signal, n_samples, options)
    if n_samples is not None:
        raise ValueError(
            f"n_samples is only for iterators; got n_samples={n_samples!r} and a signal of known "
            "length. Omit n_samples."
        )
    if isinstance(out, np.ndarray) and np.shares_memory(out, np.asarray(np.ma.getdata(signal))):
        raise ValueError(
            "out must not share memory with the signal, which is read again where tiles overlap. "
            "Pass another array."
        )
    denoiser = SmoothDenoiser(**{**options, "with_std": return_std})
    denoiser._denoise(signal, x, mask, sample_weight, out)
    wrap = make_wrapper(signal)
    denoised = wrap(denoiser.signal_) if out is None else out
    return (denoised, wrap(denoiser.std_)) if return_std else denoised


def _denoise_stream(
    pieces: Iterator[Any], n_samples: int | None, options: dict[str, Any]
) -> Iterator[Vector]:
    """Denoise a signal that arrives in pieces, with the noise level of its first tile."""
    denoiser = SmoothDenoiser(**{**options, "with_std": False, "channel_axis": None})
    tuning = denoiser.tuning or DEFAULT
    side = tuning.tile_side(1)
    prior = denoiser._resolve_prior()
    denoiser._resolve_scheme((side,))
    if np.ndim(denoiser.noise_std):
        raise ValueError(
            "noise_std of a signal that arrives in pieces must be one number or the name of an "
            f"estimate; got shape {np.shape(denoiser.noise_std)}."
        )
    read_noise_variance(denoiser.noise_std, (side,), None)
    # the penalty depends on the length of the signal; without it, assume a million samples
    total = 1 << 20 if n_samples is None else check_integer("n_samples", n_samples, minimum=2)
    denoiser.set_params(prior=SmoothnessPrior(float(prior.bind(total).penalty)))
    n_tiles = 0 if n_samples is None else math.ceil(total / side)
    progress = resolve_progress(denoiser.progress)
    known: tuple[Layout, list[float]] | None = None
    n_done = 0

    def work(tile: Vector) -> Vector:
        """Denoise a tile with the noise level of the first tile."""
        nonlocal known, n_done
        n_done += 1
        is_known = known is not None or not isinstance(denoiser.noise_std, str)
        denoised = tile  # stays so if the tile has fewer than two observed samples
        if not is_known or np.count_nonzero(~np.isnan(tile)) >= 2:
            denoiser._denoise(tile, None, None, None, None, known)
            known, denoised = (denoiser._layout, denoiser._variances), denoiser.signal_
        if progress is not None:
            progress(n_done, max(n_tiles, n_done) if n_tiles else 0)
        return denoised

    return process_stream(map(_as_line, pieces), work, side, tuning.tile_overlap(1))


def _as_line(piece: Any) -> Vector:
    """Return a piece of a stream, or a single sample, as a vector of real numbers."""
    values = as_numbers([piece] if np.ndim(piece) == 0 else piece)
    if values.ndim > 1 or values.dtype.kind == "c":
        raise ValueError(
            "A signal that arrives in pieces must be one-dimensional and real; got a piece of "
            f"shape {values.shape} and type {values.dtype}."
        )
    return values.astype(np.float64)
