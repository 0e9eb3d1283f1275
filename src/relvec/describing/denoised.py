"""The model behind a fitted denoiser, for plots of its coefficients."""

from __future__ import annotations

from typing import Any

from relvec._checks import check_integer
from relvec.denoising.plain import PlainModel

__all__ = ["get_denoising_model"]


def get_denoising_model(denoiser: Any, channel: int | None) -> PlainModel:
    """Return the plain model of a fitted denoiser, or that of one of its channels.

    Parameters
    ----------
    denoiser : SmoothDenoiser or PlainModel
        Fitted.
    channel : int or None
        Index of the channel; needed if the signal has several.
    """
    model = denoiser if isinstance(denoiser, PlainModel) else getattr(denoiser, "model_", None)
    if isinstance(model, list):
        if channel is None:
            raise ValueError(
                f"The signal has {len(model)} channels, each with its own coefficients. Choose "
                "one, for instance channel=0."
            )
        channel = check_integer("channel", channel, minimum=0)
        if channel >= len(model):
            raise ValueError(f"channel must be below {len(model)}; got {channel}.")
        model = model[channel]
    elif channel not in (None, 0):
        raise ValueError(f"The signal has a single channel; got channel={channel!r}.")
    if not isinstance(model, PlainModel):
        raise TypeError(
            f"The plot needs a fitted SmoothDenoiser, or its model_; got {type(denoiser).__name__}."
        )
    if not model.noise_variance > 0.0:
        raise ValueError(
            "The noise standard deviation is zero, so coefficients cannot be plotted in units of "
            "it. Fit the denoiser with noise_std=..."
        )
    return model
