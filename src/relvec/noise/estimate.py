"""The noise level of whatever a user calls a signal or an image."""

from __future__ import annotations

import warnings
from typing import Literal, overload

import numpy as np

from relvec._checks import check_bool, check_choice
from relvec._signals import as_mask, as_numbers, resolve_channel_axis
from relvec._typing import ArrayLike, Vector
from relvec.noise.level import METHODS, noise_level
from relvec.noise.report import NoiseLevel, NoiseLevelWarning

__all__ = ["estimate_noise"]


@overload
def estimate_noise(
    signal: ArrayLike,
    *,
    method: str = ...,
    mask: ArrayLike | None = ...,
    channel_axis: int | str | None = ...,
    return_report: Literal[False] = ...,
) -> float | Vector: ...


@overload
def estimate_noise(
    signal: ArrayLike,
    *,
    method: str = ...,
    mask: ArrayLike | None = ...,
    channel_axis: int | str | None = ...,
    return_report: Literal[True],
) -> tuple[float | Vector, NoiseLevel | list[NoiseLevel]]: ...


def estimate_noise(
    signal: ArrayLike,
    *,
    method: str = "auto",
    mask: ArrayLike | None = None,
    channel_axis: int | str | None = "auto",
    return_report: bool = False,
) -> float | Vector | tuple[float | Vector, NoiseLevel | list[NoiseLevel]]:
    """Standard deviation of the white noise in a signal, image or volume.

    The classical estimate, the median of the finest wavelet coefficients, is right for signals that
    are smooth but for a few places, and wrong by any factor for those with fast oscillations or
    texture. This one looks at many dictionaries (wavelets, lapped cosines of many widths, Fourier,
    samples), finds the regions that the signal leaves empty, and measures the noise there.

    Parameters
    ----------
    signal : array-like
        Samples at equal distances: numbers in any number of dimensions, a pandas or polars
        Series, real or complex. NaN counts as missing. Of complex signals the level is that of the
        real part, and of the imaginary part, taken to be equal.
    method : {"auto", "envelope", "mad", "patches"}, default="auto"
        "envelope" is described above. "patches" uses the smallest principal components of
        the patches of an image. "mad" is the classical estimate. "auto" takes "patches" for
        images of at least 128 x 128 pixels, and "envelope" for all else.
    mask : array-like of bool, shaped like `signal` without its channels, or None, default=None
        True where a value may be used. If few unbroken stretches are left, differences of
        neighbours are used, which may give too large a level.
    channel_axis : int, None or "auto", default="auto"
        Axis of colours or channels, each of which has a noise level of its own. "auto" finds
        colours (the last of three axes, of three or four entries), the columns of a data frame,
        and the two to four columns of a long array.
    return_report : bool, default=False
        Also return what is known about the reliability.

    Returns
    -------
    std : float or ndarray of shape (n_channels,)
        Standard deviation of the noise; zero if none is found.
    report : NoiseLevel or list of NoiseLevel
        Only if `return_report`; a list if there are channels.

    Warns
    -----
    NoiseLevelWarning
        If no noise is found, or if nothing in the signal looks like noise alone. Signals of fewer
        than 512 samples give a weak estimate (see ``report.is_weak``) and cause only the first.

    Notes
    -----
    For white Gaussian noise half of the errors are below about 3 % at 1024 samples, 1.5 % at 4096
    and 0.5 % at 65536, for most signals; at 256 samples below 8 %. A signal that itself looks
    like white noise cannot be told from noise. Of coloured noise the level of the quietest
    band is returned.

    Of arrays with three or more dimensions (without channels) the planes along the two longest
    axes are looked at together, evenly spread ones if there are many. Axes shorter than 16 do not
    make a plane; where only one axis is longer, lines along it are looked at together.

    Below 32 samples the median of second differences is used.

    Examples
    --------
    >>> from relvec import estimate_noise
    >>> from relvec.datasets import make_noisy_signal
    >>> signal = make_noisy_signal("MishMash", 4096, snr=5.0, random_state=0)
    >>> round(signal.noise_std, 2), round(estimate_noise(signal.noisy), 2)
    (0.24, 0.24)
    """
    check_choice("method", method, METHODS)
    check_bool("return_report", return_report)
    values = as_numbers(signal)
    axis = resolve_channel_axis(signal, values.shape, channel_axis)
    spatial = values.shape if axis is None else values.shape[:axis] + values.shape[axis + 1 :]
    observed = None if mask is None else as_mask(mask, spatial)
    if axis is None:
        report = noise_level(values, observed=observed, method=method)
        _warn_about(report, "")
        return (report.std, report) if return_report else report.std
    channels = np.moveaxis(values, axis, 0)
    reports = [noise_level(each, observed=observed, method=method) for each in channels]
    for number, report in enumerate(reports):
        _warn_about(report, f"Channel {number}: ")
    stds = np.array([report.std for report in reports])
    return (stds, reports) if return_report else stds


def _warn_about(report: NoiseLevel, where: str) -> None:
    text = report.warning()
    if text is not None:
        warnings.warn(where + text, NoiseLevelWarning, stacklevel=3)
