"""Latent functions with any likelihood: mode, curvature, evidence, gradient."""

from relvec.laplace.mode import Mode, find_mode

__all__ = ["Mode", "find_mode"]
