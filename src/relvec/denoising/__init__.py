"""Denoising: shift-averaged transforms, shared precisions, blends of transforms."""

from __future__ import annotations

from relvec.denoising.tuning import DenoisingTuning

__all__ = ["DenoisingTuning"]
