"""Kernels that scikit-learn does not have, and fast evaluation of any kernel."""

from relvec.kernels.definition import KernelLike, KernelProfile
from relvec.kernels.evaluate import (
    GaussianDictionary,
    KernelDictionary,
    kernel_block,
    kernel_dictionary,
)
from relvec.kernels.gradients import (
    center_gradient,
    log_scale_gradient,
    parameter_gradient,
    raw_scale_gradient,
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
from relvec.kernels.scaled import ScaledInputs, accepts_any_n_features, scale_features
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
    "accepts_any_n_features",
    "center_gradient",
    "kernel_block",
    "kernel_dictionary",
    "log_scale_gradient",
    "parameter_gradient",
    "raw_scale_gradient",
    "resolve_gamma",
    "resolve_kernel",
    "scale_features",
    "scale_jacobian",
]
