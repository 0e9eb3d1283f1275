"""Models that can be exported, inputs for them, and their predictions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from relvec.io.extract import extract_formula
from tests.io import zoo

KERNELS = (
    "rbf_each",
    "matern",
    "rational_quadratic",
    "dot_product",
    "constant",
    "laplacian",
    "linear",
    "polynomial",
    "sigmoid",
    "thin_plate_spline",
)
REGRESSORS = (
    "regressor",
    "regressor_given_width",
    "regressor_plain",
    "regressor_no_intercept",
    "regressor_few_centres",
    "regressor_constant",
    "regressor_null",
    "two_outputs",
    "two_outputs_scales",
    "learnt_kernel",
    "precomputed",
    "drvm",
    "linear_basis",
    "feature_names",
    "scaled_pipeline",
    "prior_gamma",
    *(f"kernel_{name}" for name in KERNELS),
)
CLASSIFIERS = (
    "classifier",
    "classifier_intercept",
    "classifier_plain",
    "classifier_booleans",
    "classifier_basis",
    "softmax",
    "softmax_scales",
    "softmax_intercept",
    "softmax_shared",
    "one_vs_rest",
    "pfcvm",
    "pfcvm_three",
)
EXPORTABLE = REGRESSORS + CLASSIFIERS
REFUSED = {
    "regressor_augmented": "keeps all training rows",
    "drvm_propagate": "or fit with length_scale_uncertainty=False",
    "polynomial_basis": "this model has PolynomialAtoms",
    "cosine_basis": "this model has CosineAtoms",
    "union": "this model has UnionAtoms",
    "several_kernels": "this model has UnionAtoms",
    "tuned_atoms": "this model has UnionAtoms",
    "kernel_periodic": r"the kernel ExpSineSquared\(.* cannot be exported",
    "kernel_sum": "cannot be exported",
    "kernel_cosine": r"the kernel Cosine\(\) cannot be exported",
    "mixed_pipeline": r"this pipeline has ColumnTransformer.* Export its last step, model\[-1\]",
    "logarithms": "this pipeline has FunctionTransformer",
    "searched": "GridSearchCV cannot be exported.* Export its best_estimator_",
    "sampled_rvm": "differ from draw to draw.* evidence_model_, instead; or fit with sample_length",
    "sampled_linear": "Export the mean alone, with std=False .* or the model of highest evidence",
    "sampled_two": "averages probabilities .* Export the model of highest evidence, evidence_m",
    "kernel_search_shapes": "KernelSearchRegressor cannot be exported.* store them as a table",
    "denoiser": "SmoothDenoiser cannot be exported",
}


def points(name: str, n: int = 1000) -> np.ndarray:
    """Inputs near the data and far away, that are the same in single precision."""
    if name == "precomputed":
        return zoo.SQUARE[:20].astype(np.float32).astype(np.float64)
    rng = np.random.default_rng(5)
    near, far = rng.normal(size=(n // 2, 3)), 5.0 * rng.normal(size=(n - n // 2, 3))
    return np.vstack([near, far]).astype(np.float32).astype(np.float64)


def truth(name: str, X: np.ndarray) -> dict[str, np.ndarray]:
    """Return the predictions of the model itself, with one column for each output or class."""
    model, _ = zoo.fitted(name)
    inputs = pd.DataFrame(X, columns=["a", "b", "c"]) if name == "feature_names" else X
    if name in CLASSIFIERS:
        return {"label": model.predict(inputs), "probabilities": model.predict_proba(inputs)}
    if name == "scaled_pipeline":
        model, inputs = model[-1], model[:-1].transform(inputs)
    mean, std = model.predict(inputs, return_std=True)
    return {"mean": mean.reshape(len(X), -1), "std": std.reshape(len(X), -1)}


def check(
    name: str, found: dict[str, np.ndarray], expected, precision: str, tolerance: float = 1e-12
) -> None:
    """Compare with the model: to a tolerance, or to what single precision can do."""
    if precision == "float64":
        for what in found:
            if what != "label":
                size = np.abs(expected[what]).max()
                np.testing.assert_allclose(
                    found[what], expected[what], rtol=tolerance, atol=tolerance * size
                )
        return
    # graphs multiply by inverse factors, which rounds a little worse than what is measured here
    allowed = max(
        1e-5,
        5.0
        * extract_formula(zoo.fitted(name)[0]).measure_rounding_error("float32", inputs_too=True),
    )
    assert allowed < 0.01
    for what in found:
        if what == "probabilities":
            assert np.abs(found[what] - expected[what]).max() < allowed
        elif what != "label":
            assert (np.abs(found[what] - expected[what]) / expected["std"]).max() < allowed
