"""Kernels that scikit-learn lacks, and the fast evaluation of any kernel."""

from relvec.kernels.evaluate import KernelEvaluator, KernelLike, kernel_block
from relvec.kernels.pairwise import Cosine, Laplacian, Linear, Polynomial, Sigmoid
from relvec.kernels.resolve import KERNEL_NAMES, resolve_gamma, resolve_kernel
from relvec.kernels.splines import LinearSpline, ThinPlateSpline

__all__ = [
    "KERNEL_NAMES",
    "Cosine",
    "KernelEvaluator",
    "KernelLike",
    "Laplacian",
    "Linear",
    "LinearSpline",
    "Polynomial",
    "Sigmoid",
    "ThinPlateSpline",
    "kernel_block",
    "resolve_gamma",
    "resolve_kernel",
]
