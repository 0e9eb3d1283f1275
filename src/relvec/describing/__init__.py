"""Summaries of fitted models, shared by plots, reports and notebooks; no drawing, no HTML.

Functions accept a fitted estimator of relvec, or a pipeline that ends in one, and use its public
attributes only.

Examples
--------
>>> import numpy as np
>>> from relvec import SparseBayesRegressor
>>> from relvec.bases import LinearBasis
>>> from relvec.describing import collect_weights
>>> X = np.random.default_rng(0).normal(size=(50, 3))
>>> model = SparseBayesRegressor(LinearBasis(), noise_variance=0.1).fit(X, X[:, 1])
>>> [weights.atoms for weights in collect_weights(model, ["age", "bmi", "sex"])]
[['bmi']]
"""

from relvec.describing.atoms import AtomEvidence, compute_atom_evidence
from relvec.describing.calibration import (
    ReliabilityCurve,
    compute_critical_value,
    compute_normal_quantiles,
    compute_quantile_band,
    compute_wilson_interval,
)
from relvec.describing.denoised import get_denoising_model
from relvec.describing.distributions import (
    compute_quantile_residuals,
    has_simple_noise,
    lacks_exposure,
    lacks_noise,
    models_counts,
    predict_distribution,
)
from relvec.describing.inputs import (
    InputGrid,
    InputSlice,
    compute_range,
    convert_to_matrix,
    find_column,
    get_column_names,
    make_grid,
    make_slice,
    match_container,
)
from relvec.describing.models import (
    check_classifier,
    check_labels,
    get_final_estimator,
    get_fitted_attribute,
    get_kernel_centers,
    is_kernel_search,
    name_estimators,
    transform_inputs,
)
from relvec.describing.names import (
    check_feature_names,
    format_class_label,
    format_count,
    get_feature_names,
    shorten,
)
from relvec.describing.noise import NoiseConstancy, assess_noise_constancy
from relvec.describing.predictions import (
    EXTRAPOLATION_THRESHOLD,
    compute_extrapolation,
    find_transform,
    has_extrapolation,
    make_interval_function,
    predict_transformed,
    predict_with_std,
)
from relvec.describing.relevance import get_feature_gain, order_features
from relvec.describing.residual_checks import (
    NoiseAdvice,
    ResidualChecks,
    advise_on_noise,
    check_residuals,
)
from relvec.describing.rootogram import Rootogram, compute_rootogram
from relvec.describing.sampling import (
    Inclusion,
    PosteriorRange,
    SamplingSummary,
    is_sampled,
    list_basis_inclusion,
    list_feature_inclusion,
    shorten_chains,
    summarise_sampling,
)
from relvec.describing.structure_parts import (
    PartPosterior,
    StructurePart,
    evaluate_centred,
    list_parts,
)
from relvec.describing.structures import (
    DescribedPart,
    StructureDescription,
    describe_structure,
    explain,
    make_clauses,
)
from relvec.describing.summary import FitSummary, get_objective_traces, summarise_fit
from relvec.describing.weights import Weights, collect_weights

__all__ = [
    "EXTRAPOLATION_THRESHOLD",
    "AtomEvidence",
    "DescribedPart",
    "FitSummary",
    "Inclusion",
    "InputGrid",
    "InputSlice",
    "NoiseAdvice",
    "NoiseConstancy",
    "PartPosterior",
    "PosteriorRange",
    "ReliabilityCurve",
    "ResidualChecks",
    "Rootogram",
    "SamplingSummary",
    "StructureDescription",
    "StructurePart",
    "Weights",
    "advise_on_noise",
    "assess_noise_constancy",
    "check_classifier",
    "check_feature_names",
    "check_labels",
    "check_residuals",
    "collect_weights",
    "compute_atom_evidence",
    "compute_critical_value",
    "compute_extrapolation",
    "compute_normal_quantiles",
    "compute_quantile_band",
    "compute_quantile_residuals",
    "compute_range",
    "compute_rootogram",
    "compute_wilson_interval",
    "convert_to_matrix",
    "describe_structure",
    "evaluate_centred",
    "explain",
    "find_column",
    "find_transform",
    "format_class_label",
    "format_count",
    "get_column_names",
    "get_denoising_model",
    "get_feature_gain",
    "get_feature_names",
    "get_final_estimator",
    "get_fitted_attribute",
    "get_kernel_centers",
    "get_objective_traces",
    "has_extrapolation",
    "has_simple_noise",
    "is_kernel_search",
    "is_sampled",
    "lacks_exposure",
    "lacks_noise",
    "list_basis_inclusion",
    "list_feature_inclusion",
    "list_parts",
    "make_clauses",
    "make_grid",
    "make_interval_function",
    "make_slice",
    "match_container",
    "models_counts",
    "name_estimators",
    "order_features",
    "predict_distribution",
    "predict_transformed",
    "predict_with_std",
    "shorten",
    "shorten_chains",
    "summarise_fit",
    "summarise_sampling",
    "transform_inputs",
]
