"""Kernels that can be exported."""

from __future__ import annotations

from typing import Any

from relvec.kernels import KernelProfile
from relvec.kernels.definition import get_kernel_property

__all__ = ["ExportError", "read_kernel"]


class ExportError(ValueError):
    """A model that cannot be exported; the message states the reason and what to do."""


def read_kernel(kernel: Any) -> KernelProfile:
    """Return the profile of a kernel: its value as a function of one number (distance or product).

    Parameters
    ----------
    kernel : Kernel or callable
        Kernel of the model.
    """
    profile = get_kernel_property(kernel, "profile")
    found: KernelProfile | None = None if profile is None else profile()
    if found is None:
        raise ExportError(
            f"the kernel {kernel!r} cannot be exported; kernels that can: RBF, Laplacian, Matern "
            "(nu 1/2, 3/2, 5/2), rational quadratic, thin-plate spline, linear, dot product, "
            "polynomial and sigmoid, also with learnt length-scales and times a constant, and your "
            "own kernels with a method `profile`. Fit with one of these, or use relvec.io.save."
        )
    return found
