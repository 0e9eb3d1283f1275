"""relvec: sparse Bayesian learning for Python.

Small, probabilistic, interpretable models: relevance vector machines and their descendants, in
the manner of scikit-learn. Predictions are distributions, wider where the data say less.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from relvec.assessing import (
        bias_variance_decomposition,
        coverage_outside,
        evidence_curve,
    )
    from relvec.comparing import compare_models
    from relvec.estimators import (
        DRVMRegressor,
        KernelSearchRegressor,
        PFCVMClassifier,
        RVMClassifier,
        RVMRegressor,
        SampledRVMClassifier,
        SampledRVMRegressor,
        SampledSparseBayesClassifier,
        SampledSparseBayesRegressor,
        SmoothDenoiser,
        SparseBayesClassifier,
        SparseBayesCountRegressor,
        SparseBayesDensity,
        SparseBayesRegressor,
        denoise,
        explore_optima,
    )
    from relvec.noise import estimate_noise

_ROOMS = (
    "assessing",
    "bases",
    "datasets",
    "io",
    "kernels",
    "noise",
    "plotting",
    "priors",
    "published",
    "reporting",
    "sampling",
    "solvers",
    "testing",
)
"""Modules that are offered without an import of their own: ``relvec.plotting``."""

_HOMES = {
    "DRVMRegressor": "relvec.estimators",
    "KernelSearchRegressor": "relvec.estimators",
    "PFCVMClassifier": "relvec.estimators",
    "RVMClassifier": "relvec.estimators",
    "RVMRegressor": "relvec.estimators",
    "SampledRVMClassifier": "relvec.estimators",
    "SampledRVMRegressor": "relvec.estimators",
    "SampledSparseBayesClassifier": "relvec.estimators",
    "SampledSparseBayesRegressor": "relvec.estimators",
    "SmoothDenoiser": "relvec.estimators",
    "SparseBayesClassifier": "relvec.estimators",
    "SparseBayesCountRegressor": "relvec.estimators",
    "SparseBayesDensity": "relvec.estimators",
    "SparseBayesRegressor": "relvec.estimators",
    "bias_variance_decomposition": "relvec.assessing",
    "coverage_outside": "relvec.assessing",
    "compare_models": "relvec.comparing",
    "denoise": "relvec.estimators",
    "estimate_noise": "relvec.noise",
    "evidence_curve": "relvec.assessing",
    "explore_optima": "relvec.estimators",
}

__all__ = [
    "DRVMRegressor",
    "KernelSearchRegressor",
    "PFCVMClassifier",
    "RVMClassifier",
    "RVMRegressor",
    "SampledRVMClassifier",
    "SampledRVMRegressor",
    "SampledSparseBayesClassifier",
    "SampledSparseBayesRegressor",
    "SmoothDenoiser",
    "SparseBayesClassifier",
    "SparseBayesCountRegressor",
    "SparseBayesDensity",
    "SparseBayesRegressor",
    "__version__",
    "bias_variance_decomposition",
    "compare_models",
    "coverage_outside",
    "denoise",
    "estimate_noise",
    "evidence_curve",
    "explore_optima",
]


def __getattr__(name: str) -> Any:
    """Load public names when they are first used (PEP 562)."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"relvec.{name}")
    raise AttributeError(f"module 'relvec' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])
