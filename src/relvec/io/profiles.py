"""Kernels that can be written as a formula."""

from __future__ import annotations

from typing import Any

from relvec.kernels import KernelProfile
from relvec.kernels.definition import get_kernel_property

__all__ = ["ExportError", "read_kernel"]


class ExportError(ValueError):
    """A model that cannot be written as a formula; the message says why and what to do."""


def read_kernel(kernel: Any) -> KernelProfile:
    """Return the kernel as a function of one number, as its definition says.

    Parameters
    ----------
    kernel : Kernel or callable
        Of the inputs of a model.
    """
    profile = get_kernel_property(kernel, "profile")
    found: KernelProfile | None = None if profile is None else profile()
    if found is None:
        raise ExportError(
            f"the kernel {kernel!r} cannot be exported; RBF, Laplacian, Matern (nu 1/2, 3/2, 5/2), "
            "rational quadratic, thin-plate spline, linear, dot product, polynomial and sigmoid "
            "kernels can, also with learnt scales and times a constant, and kernels of your own "
            "with a method `profile`. Use relvec.io.save, or fit with one of these."
        )
    return found
