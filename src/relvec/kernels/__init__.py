"""Kernels that scikit-learn lacks, and the fast evaluation of any kernel."""

from relvec.kernels.definition import KernelLike, KernelProfile
from relvec.kernels.evaluate import (
    GaussianDictionary,
    KernelDictionary,
    kernel_block,
    kernel_dictionary,
)
from relvec.kernels.gradients import (
    parameter_gradient,
    raw_scale_slope,
    scale_gradient,
    scale_jacobian,
)
from relvec.kernels.pairwise import Cosine, Laplacian, Linear, Polynomial, Sigmoid
from relvec.kernels.periodic import Periodic
from relvec.kernels.resolve import (
    KERNEL_NAMES,
    LEARNT_BY_DEFAULT,
    resolve_gamma,
    resolve_kernel,
)
from relvec.kernels.scaled import ScaledInputs, scaled_inputs, takes_any_inputs
from relvec.kernels.spectral import SpectralMixture
from relvec.kernels.splines import LinearSpline, ThinPlateSpline
from relvec.kernels.strings import SpectrumDictionary, StringSpectrum
from relvec.kernels.warped import Warped

__all__ = [
    "KERNEL_NAMES",
    "LEARNT_BY_DEFAULT",
    "Cosine",
    "GaussianDictionary",
    "KernelDictionary",
    "KernelLike",
    "KernelProfile",
    "Laplacian",
    "Linear",
    "LinearSpline",
    "Periodic",
    "Polynomial",
    "ScaledInputs",
    "Sigmoid",
    "SpectralMixture",
    "SpectrumDictionary",
    "StringSpectrum",
    "ThinPlateSpline",
    "Warped",
    "kernel_block",
    "kernel_dictionary",
    "parameter_gradient",
    "raw_scale_slope",
    "resolve_gamma",
    "resolve_kernel",
    "scale_gradient",
    "scale_jacobian",
    "scaled_inputs",
    "takes_any_inputs",
]
