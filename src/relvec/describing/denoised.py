"""The plain model behind a denoiser, for the pictures of its coefficients."""

from __future__ import annotations

from typing import Any

from relvec._checks import check_integer
from relvec.denoising.plain import PlainModel

__all__ = ["plain_model"]


def plain_model(denoiser: Any, channel: int | None) -> PlainModel:
    """Return the plain model of a fitted denoiser, of one channel if it has several."""
    model = denoiser if isinstance(denoiser, PlainModel) else getattr(denoiser, "model_", None)
    if isinstance(model, list):
        if channel is None:
            raise ValueError(
                f"The signal has {len(model)} parts, each with coefficients of its own. Say which "
                "one to draw, for instance channel=0."
            )
        channel = check_integer("channel", channel, minimum=0)
        if channel >= len(model):
            raise ValueError(f"channel must be below {len(model)}; got {channel}.")
        model = model[channel]
    elif channel not in (None, 0):
        raise ValueError(f"The signal has one part only; got channel={channel!r}.")
    if not isinstance(model, PlainModel):
        raise TypeError(
            "The picture needs a fitted SmoothDenoiser, or its model_; got "
            f"{type(denoiser).__name__}."
        )
    if not model.noise_variance > 0.0:
        raise ValueError(
            "The noise is zero, so coefficients cannot be drawn in units of it. Fit the denoiser "
            "with noise_std=..."
        )
    return model
