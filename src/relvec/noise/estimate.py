"""Public estimate of the noise level of signals and images."""

from __future__ import annotations

import warnings
from typing import Literal, overload

import numpy as np

from relvec._checks import check_bool, check_choice
from relvec._signals import as_mask, as_numbers, resolve_channel_axis
from relvec._typing import ArrayLike, Vector
from relvec.noise.level import METHODS, estimate_noise_level
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
    """Estimate the standard deviation of the white noise in a signal, image or volume.

    The classical estimate is the median absolute deviation (MAD) of the finest wavelet
    coefficients (Donoho and Johnstone, 1994). It is right for signals that are smooth except at a
    few points, and far too large for fast oscillations and texture. The default estimate
    transforms the signal in many ways (wavelets, lapped cosines of several frame sizes, Fourier,
    samples), finds regions of the coefficients that contain no signal, and measures the noise
    there.

    Parameters
    ----------
    signal : array-like
        Evenly spaced samples in any number of dimensions, real or complex; also a pandas or polars
        Series. NaN counts as missing. For complex signals the noise level is that of the real
        part and of the imaginary part, which are assumed to be equal.
    method : {"auto", "envelope", "mad", "patches"}, default="auto"
        "envelope" is described above. "patches" uses the smallest principal components of
        the patches of an image. "mad" is the classical estimate. "auto" is "patches" for
        images of at least 128 x 128 pixels, otherwise "envelope".
    mask : array-like of bool, shaped like `signal` without its channels, or None, default=None
        True where a sample is observed. If gaps leave few contiguous samples, differences of
        neighbours are used; the estimate may then be too large.
    channel_axis : int, None or "auto", default="auto"
        Axis of colours or channels, each with its own noise level. "auto" finds colours (the last
        of three axes, of length 3 or 4), the columns of a data frame, and the two to four columns
        of a long array.
    return_report : bool, default=False
        Also return the reliability of the estimate.

    Returns
    -------
    std : float or ndarray of shape (n_channels,)
        Standard deviation of the noise; zero if no noise is found.
    report : NoiseLevel or list of NoiseLevel
        Only if `return_report`; a list if there are channels.

    Warns
    -----
    NoiseLevelWarning
        If no noise is found, or if no part of the signal looks like pure noise. The second warning
        needs at least 512 samples; with fewer, see ``report.is_weak``.

    Notes
    -----
    For white Gaussian noise and most signals the median relative error is about 8 % at 256 samples,
    3 % at 1024, 1.5 % at 4096 and 0.5 % at 65536. A signal that itself looks like white noise
    cannot be distinguished from noise. For coloured noise the result is the level of the quietest
    frequency band.

    For arrays with three or more axes (without channels) the planes along the two longest axes
    are used together; if there are many, evenly spaced ones. Axes shorter than 16 do not count; if
    only one axis is longer, lines along it are used.

    Below 32 samples the estimate is the MAD of second differences.

    References
    ----------
    Donoho and Johnstone (1994), Ideal spatial adaptation by wavelet shrinkage, Biometrika 81.
    Pyatykh, Hesser and Zheng (2013), Image noise level estimation by principal component
    analysis, IEEE Transactions on Image Processing 22.

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
        report = estimate_noise_level(values, observed=observed, method=method)
        _warn_about(report, "")
        return (report.std, report) if return_report else report.std
    channels = np.moveaxis(values, axis, 0)
    reports = [estimate_noise_level(each, observed=observed, method=method) for each in channels]
    for number, report in enumerate(reports):
        _warn_about(report, f"Channel {number}: ")
    stds = np.array([report.std for report in reports])
    return (stds, reports) if return_report else stds


def _warn_about(report: NoiseLevel, where: str) -> None:
    text = report.warning()
    if text is not None:
        warnings.warn(where + text, NoiseLevelWarning, stacklevel=3)
