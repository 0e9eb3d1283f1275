"""Reading and writing of signals: arrays, sounds and images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from relvec.cli.errors import CommandError
from relvec.cli.sources import Source, format_of

__all__ = ["Signal", "read_signal"]

COLOURS = ("L", "RGB", "RGBA", "LA", "I", "I;16", "F")
"""Image modes that are kept; others are converted to RGB."""
GREY = {"1": "L", "I;16B": "I", "I;16L": "I;16"}
"""Greyscale modes that are converted to another greyscale mode."""


@dataclass(frozen=True)
class Signal:
    """Samples of a file, and a function that writes such samples to another file."""

    samples: np.ndarray
    channel_axis: int | None
    write: Callable[[np.ndarray, str, str], None]
    what: str
    unit: str = ""
    rate: float | None = None
    """Sampling rate of a sound in Hz."""


def read_signal(source: Source) -> Signal:
    """Read an array, a sound or an image."""
    return {"npy": _read_array, "wav": _read_sound, "image": _read_image}[source.format](source)


def _read_array(source: Source) -> Signal:
    try:
        samples = np.load(source.path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise CommandError(f"{source.name} is not a NumPy npy file: {error}.") from error

    def write(values: np.ndarray, path: str, name: str) -> None:
        np.save(path, values)

    shape = " × ".join(map(str, samples.shape))
    return Signal(samples, None, write, f"array of {shape}")


def _read_sound(source: Source) -> Signal:
    from scipy.io import wavfile

    try:
        rate, samples = wavfile.read(source.path)
    except (ValueError, EOFError) as error:
        raise CommandError(f"{source.name} is not a wav file that can be read: {error}.") from error

    def write(values: np.ndarray, path: str, name: str) -> None:
        if format_of(name, ("wav", "npy")) == "npy":
            np.save(path, values)
        else:
            wavfile.write(path, rate, _cast_to(values, samples.dtype))

    channels = "1 channel" if samples.ndim == 1 else f"{samples.shape[1]} channels"
    what = f"sound of {len(samples) / rate:.2f} s, {channels}, {rate} Hz"
    full = 1.0 if samples.dtype.kind == "f" else float(np.iinfo(samples.dtype).max)
    unit = f"full scale is {full:.0f}"
    return Signal(samples, None if samples.ndim == 1 else 1, write, what, unit, float(rate))


def _read_image(source: Source) -> Signal:
    image_of, upright = _pillow()
    try:
        with image_of.open(source.path) as opened:
            # apply the EXIF orientation, which the new file will not have
            image = upright(opened)
            if image.mode not in COLOURS:
                image = image.convert(GREY.get(image.mode, "RGB"))
    except (OSError, ValueError) as error:
        raise CommandError(f"{source.name} is not an image that can be read: {error}.") from error
    pixels = np.asarray(image)
    # the alpha channel is copied, not denoised
    has_alpha = image.mode in ("LA", "RGBA")
    colours = pixels[..., 0] if image.mode == "LA" else pixels[..., :-1] if has_alpha else pixels

    def write(values: np.ndarray, path: str, name: str) -> None:
        if format_of(name, ("image", "npy")) == "npy":
            np.save(path, values)
            return
        painted = _cast_to(values, pixels.dtype)
        if has_alpha and not name.lower().endswith((".jpg", ".jpeg", ".bmp")):
            painted = np.dstack([painted, pixels[..., -1]])
        # high JPEG quality, so that compression adds little noise
        image_of.fromarray(painted).save(path, quality=95)

    what = f"image of {image.width} × {image.height}"
    return Signal(
        colours, 2 if colours.ndim == 3 else None, write, what, _describe_range(pixels.dtype)
    )


def _describe_range(dtype: np.dtype[Any]) -> str:
    """Describe the value of white, for integer images."""
    white = np.iinfo(dtype).max if dtype.kind in "iu" else 0
    return f"white is {white}" if 0 < white < 2**16 else ""


def _pillow() -> tuple[Any, Callable[[Any], Any]]:
    try:
        from PIL import Image, ImageOps
    except ModuleNotFoundError as error:
        raise CommandError("Images require Pillow. Install it with: pip install pillow") from error
    return Image, ImageOps.exif_transpose


def _cast_to(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Convert samples to a data type; integers are rounded and clipped to their range."""
    if dtype.kind not in "iu":
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)
