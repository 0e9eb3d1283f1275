"""What reports, plots and notebooks say about a fitted model: facts, no drawing and no HTML.

Functions take any fitted estimator of relvec, or a pipeline that ends in one, and rely on its
public attributes.

Examples
--------
>>> import numpy as np
>>> from relvec import SparseBayesRegressor
>>> from relvec.bases import LinearBasis
>>> from relvec.describing import weights_of
>>> X = np.random.default_rng(0).normal(size=(50, 3))
>>> model = SparseBayesRegressor(LinearBasis(), noise_variance=0.1).fit(X, X[:, 1])
>>> [weights.atoms for weights in weights_of(model, ["age", "bmi", "sex"])]
[['bmi']]
"""

from relvec.describing.atoms import AtomEvidence, atoms_of
from relvec.describing.calibration import (
    ReliabilityCurve,
    normal_quantiles,
    normal_reach,
    quantile_band,
    wilson,
)
from relvec.describing.denoised import plain_model
from relvec.describing.inputs import (
    InputGrid,
    InputSlice,
    column_of,
    grid_over,
    like_table,
    numbers_of,
    slice_along,
    span_of,
    table_names,
)
from relvec.describing.models import (
    attribute_of,
    centers_of,
    check_classifier,
    check_labels,
    named,
    predictor,
    seen_by,
)
from relvec.describing.names import check_names, count_of, label_name, names_of, shorten
from relvec.describing.predictions import (
    BEYOND,
    extrapolation_of,
    predicted,
    tells_extrapolation,
)
from relvec.describing.relevance import gain_of, order_of_inputs
from relvec.describing.summary import Summary, summary_of, traces_of
from relvec.describing.weights import Weights, weights_of

__all__ = [
    "BEYOND",
    "AtomEvidence",
    "InputGrid",
    "InputSlice",
    "ReliabilityCurve",
    "Summary",
    "Weights",
    "atoms_of",
    "attribute_of",
    "centers_of",
    "check_classifier",
    "check_labels",
    "check_names",
    "column_of",
    "count_of",
    "extrapolation_of",
    "gain_of",
    "grid_over",
    "label_name",
    "like_table",
    "named",
    "names_of",
    "normal_quantiles",
    "normal_reach",
    "numbers_of",
    "order_of_inputs",
    "plain_model",
    "predicted",
    "predictor",
    "quantile_band",
    "seen_by",
    "shorten",
    "slice_along",
    "span_of",
    "summary_of",
    "table_names",
    "tells_extrapolation",
    "traces_of",
    "weights_of",
    "wilson",
]
