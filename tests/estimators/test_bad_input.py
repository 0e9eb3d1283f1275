"""Bad input raises an error that names the problem and the remedy."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from relvec import (
    DRVMRegressor,
    RVMClassifier,
    RVMRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)
from relvec.bases import FunctionBasis, KernelBasis, LinearBasis, UnionBasis
from relvec.kernels import Warped
from relvec.priors import GammaPrior, InverseGamma, SmoothnessPrior
from relvec.published import FixedPointSolver, LaplaceFixedPointSolver
from relvec.solvers import LaplaceSolver, SequentialSolver
from tests.estimators.problems import smooth

X, Y = smooth(n=30)


@pytest.fixture(scope="module")
def fitted():
    return RVMRegressor(gamma=0.1).fit(X, Y)


def put(array, value):
    array = array.astype(type(value) if isinstance(value, complex) else float)
    array.flat[4] = value
    return array


# ------------------------------------------------------------------ data


@pytest.mark.parametrize(
    ("inputs", "target", "message"),
    [
        (put(X, np.nan), Y, r"X must be finite; the value at row \d+, column \d+ is NaN"),
        (put(X, np.inf), Y, r"X must be finite; the value at row \d+, column \d+ is inf"),
        (X, put(Y, np.nan), r"y must be finite; the value at position \d+ is NaN"),
        (X, put(Y, -np.inf), r"y must be finite; the value at position \d+ is -inf"),
        (X, Y[:-1], r"inconsistent numbers of samples: \[30, 29\]"),
        (X[:, 0], Y, "Expected 2D array, got 1D array"),
        (X[None], Y, "Found array with dim 3"),
        (X, Y[:, None, None], "Found array with dim 3"),
        (X, None, "requires y to be passed"),
        (X[:0], Y[:0], r"Found array with 0 sample\(s\)"),
        (X[:, :0], Y, r"Found array with 0 feature\(s\)"),
        (X, put(Y, 1j), "Complex data not supported"),
        (put(X, 1j), Y, "Complex data not supported"),
        (X, np.full(30, "red"), "y must contain numbers; .*red.* RVMClassifier"),
        (np.full((30, 2), "red"), Y, "row 0 holds the string .red.*StringSpectrum"),
        (X, np.array(["red"] * 30, dtype=object), "y must contain numbers; .*red.* RVMClassifier"),
    ],
)
def test_data(inputs, target, message):
    for model in (RVMRegressor(), SparseBayesRegressor(LinearBasis())):
        with pytest.raises(ValueError, match=message):
            model.fit(inputs, target)
        assert not hasattr(model, "outputs_")


@pytest.mark.parametrize("scale", [1e80, 1e-75])
def test_kernels_whose_squares_are_no_numbers(scale):
    """Once gave an empty model: squares of the inputs are finite, their products are not."""
    for model, target in (
        (RVMRegressor("linear"), Y),
        (RVMClassifier("linear"), np.arange(30) % 2),
    ):
        with pytest.raises(ValueError, match="basis bound to X has values up to .* Rescale X"):
            model.fit(scale * X, target)
    assert RVMRegressor().fit(scale * X, Y).score(scale * X, Y) > 0.8


@pytest.mark.parametrize("scale", [1e200, 1e-155])
def test_values_whose_squares_overflow_are_refused(scale):
    for model, target in ((RVMRegressor(), Y), (RVMClassifier(), np.arange(30) % 2)):
        with pytest.raises(ValueError, match="^X has values up to .* Rescale X"):
            model.fit(scale * X, target)


@pytest.mark.parametrize("scale", [1e200, 1e141, 1e-155, 1e-160, 1e-161, 1e-300])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_target_whose_squares_are_no_numbers(scale, n_outputs):
    """Once an OverflowError, the logarithm of zero, or an endless loop."""
    target = scale * (Y if n_outputs == 1 else np.column_stack([Y, -Y]))
    for model in (RVMRegressor(gamma=0.1), SparseBayesRegressor(LinearBasis())):
        with pytest.raises(ValueError, match="leave the range of floating-point numbers.*Rescale"):
            model.fit(X, target)


def test_columns_of_words():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"size": Y, "colour": ["red"] * 30})
    with pytest.raises(ValueError, match="column 'colour' holds 'red'"):
        RVMRegressor().fit(frame, Y)


# ------------------------------------------------------------------ parameters


@pytest.mark.slow
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kernel": "rfb"}, r"kernel must be one of .*; got 'rfb'. Did you mean 'rbf'\?"),
        ({"kernel": "laplace"}, r"got 'laplace'. Did you mean 'laplacian'\?"),
        ({"prior": "flatt"}, r"prior must be one of .*; got 'flatt'. Did you mean 'flat'\?"),
        ({"prior": "BIC"}, r"got 'BIC'. Did you mean 'bic'\?"),
        ({"solver": "sequental"}, r"solver must be one of .* Did you mean 'sequential'\?"),
        ({"effort": "through"}, r"effort must be one of .* Did you mean 'thorough'\?"),
        ({"error_bars": "novel"}, r"error_bars must be one of .* Did you mean 'novelty'\?"),
        ({"error_bars": None}, r"error_bars must be one of .*; got None."),
        ({"centers": "al"}, "centers must be \"all\", a number or an array; got 'al'."),
        (
            {"centers": 5, "center_method": "kmeans"},
            r"center_method must be one of .* Did you mean 'kmeans\+\+'\?",
        ),
        ({"centers": 0}, "centers must be an integer of at least 1; got 0."),
        ({"centers": np.ones((3, 2))}, r"an array of shape \(n_centers, 3\).*got .* \(3, 2\)."),
        ({"centers": put(X, np.nan)}, "centers must be finite; the value at row 1, column 1"),
        ({"gamma": -1}, 'gamma must be a positive number or "scale" or "auto"; got -1.'),
        ({"gamma": 0.0}, "gamma must be a positive number .*; got 0.0."),
        ({"gamma": np.nan}, "gamma must be a positive number .*; got nan."),
        ({"gamma": "scal"}, r"gamma must be one of .* Did you mean 'scale'\?"),
        ({"kernel": "polynomial", "degree": 0}, "degree must be an integer of at least 1; got 0."),
        ({"kernel": "sigmoid", "coef0": np.inf}, "coef0 must be finite; got inf."),
        ({"noise_variance": 0}, "noise_variance must be a positive number.*; got 0."),
        ({"noise_variance": -0.5}, "noise_variance must be a positive number.*; got -0.5."),
        ({"noise_variance": np.inf}, "noise_variance must be a positive number.*; got inf."),
        ({"min_gain": -1}, 'min_gain must be a non-negative number or "auto"; got -1.'),
        ({"min_gain": "aut"}, "min_gain must be a non-negative number or \"auto\"; got 'aut'."),
        ({"min_gain": np.nan}, "min_gain must be a non-negative number .*; got nan."),
        ({"kernel": RBF([1.0, 2.0])}, "has 2 length-scales, but the inputs have 3 features"),
        ({"kernel": RBF() + WhiteKernel()}, "noise belongs to the likelihood.*noise_variance"),
        ({"kernel": ConstantKernel() * (RBF() + WhiteKernel()) ** 2}, "contains a WhiteKernel"),
        ({"prior": "gamma", "solver": "sequential"}, 'Gamma prior.*Use solver="mackay"'),
        ({"prior": GammaPrior(), "solver": "textbook"}, 'Gamma prior.*Use solver="mackay"'),
        ({"prior": GammaPrior(1.0, 0.0)}, "has no maximum.*Use a positive rate"),
        ({"solver": SequentialSolver(max_iter=0)}, "max_iter must be an integer of at least 1"),
        ({"solver": SequentialSolver("quick")}, "effort must be one of 'fast', .*; got 'quick'."),
        ({"solver": SequentialSolver(tol=0.0)}, "tol must be a positive number; got 0.0."),
        ({"solver": FixedPointSolver("mckay")}, r"update must be one of .* mean 'mackay'\?"),
        (
            {"kernel": "precomputed"},
            r"square kernel matrix .* got shape \(30, 3\). .*SparseBayesRegressor",
        ),
        ({"random_state": "a"}, "'a' cannot be used to seed"),
    ],
    ids=str,
)
def test_values_of_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        RVMRegressor(**params).fit(X, Y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kernel": None}, r"kernel must be a name, .* or a function k\(X, Z\); got None"),
        ({"kernel": RBF}, "kernel must be a name, .*; got <class"),
        ({"kernel": 3}, "kernel must be a name, .*; got 3 of type int"),
        ({"gamma": None}, "gamma must be a positive number .*; got None of type NoneType"),
        ({"gamma": [0.1]}, r"gamma must be a positive number .*; got \[0.1\] of type list"),
        ({"centers": 2.5}, "centers must be an integer .*; got 2.5 of type float"),
        ({"noise_variance": "auto"}, "noise_variance must be .*; got 'auto' of type str"),
        ({"noise_variance": True}, "noise_variance must be .*; got True of type bool"),
        ({"min_gain": None}, 'min_gain must be .* or "auto"; got None'),
        ({"solver": 3}, "solver must be one of .*; got 3"),
        ({"solver": SequentialSolver}, "solver must be .*SequentialSolver"),
        ({"prior": 3}, "prior must be one of .* or a Prior such as .*; got 3."),
        ({"fit_intercept": "no"}, "fit_intercept must be .*; got 'no'"),
        ({"warm_start": "no"}, "warm_start must be .*; got 'no'"),
        ({"low_memory": "aut"}, "low_memory must be .* or \"auto\"; got 'aut'"),
        ({"kernel": "polynomial", "degree": 2.5}, "degree must be an integer .*; got 2.5"),
        ({"kernel": "polynomial", "coef0": "a"}, "coef0 must be a number; got 'a' of type str"),
    ],
    ids=str,
)
def test_types_of_parameters(params, message):
    with pytest.raises(TypeError, match=message):
        RVMRegressor(**params).fit(X, Y)


@pytest.mark.parametrize("solver", [LaplaceSolver(), LaplaceFixedPointSolver()], ids=repr)
def test_solver_of_latent_functions_in_a_regressor(solver):
    with pytest.raises(TypeError, match="is for classification; .*such as SequentialSolver"):
        RVMRegressor(gamma=0.1, solver=solver).fit(X, Y)


@pytest.mark.parametrize("solver", [SequentialSolver(), FixedPointSolver()], ids=repr)
def test_solver_of_regression_in_a_classifier(solver):
    with pytest.raises(TypeError, match="is for regression; .*such as LaplaceSolver"):
        RVMClassifier(gamma=0.1, solver=solver).fit(X, Y > 0)


@pytest.mark.parametrize("by", [[0, 1], [0, 0, 1]])
def test_labels_of_other_atoms(by):
    columns = np.random.default_rng(0).normal(size=(40, 6))
    prior = SmoothnessPrior("bic", by=by)
    for model, target in (
        (SparseBayesRegressor(LinearBasis(), prior=prior), columns[:, 0]),
        (SparseBayesClassifier(LinearBasis(), prior=prior), columns[:, 0] > 0),
    ):
        with pytest.raises(ValueError, match="one label for each of the 6 atoms"):
            model.fit(columns, target)


@pytest.mark.parametrize(
    ("kernel", "function"),
    [("rbf", np.log), (np.log, RBF()), (RBF, np.log), (RBF(), "log"), (RBF(), RBF())],
)
def test_parts_of_a_warped_kernel(kernel, function):
    with pytest.raises(TypeError, match="a kernel object and a function"):
        Warped(kernel, function)


@pytest.mark.parametrize("basis", ["rbf", LinearBasis, RBF(), 3])
def test_basis_that_is_none(basis):
    with pytest.raises(TypeError, match=r"basis must be a Basis such as KernelBasis\(\).*; got "):
        SparseBayesRegressor(basis).fit(X, Y)


def test_empty_union():
    with pytest.raises(ValueError, match="UnionBasis needs at least one basis"):
        SparseBayesRegressor(UnionBasis([])).fit(X, Y)


def test_union_with_something_that_is_no_basis():
    with pytest.raises(TypeError, match=r"UnionBasis needs bases .*; bases\[1\] is 3 of type int"):
        SparseBayesRegressor(UnionBasis([LinearBasis(), 3])).fit(X, Y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"error_bars": "novel"}, "error_bars must be one of"),
        ({"effort": "much"}, "effort must be one of"),
        ({"prior": "flatt"}, "prior must be one of"),
        ({"noise_variance": -1.0}, "noise_variance must be"),
        ({"fit_intercept": "no"}, "fit_intercept must be"),
    ],
    ids=str,
)
def test_a_mistake_is_found_before_the_work(params, message):
    def kernel(A, B):
        raise AssertionError("minutes of work before the mistake was found")

    with pytest.raises((TypeError, ValueError), match=message):
        RVMRegressor(kernel, **params).fit(X, Y)


def test_sum_of_a_basis_and_something_else():
    with pytest.raises(TypeError, match="unsupported operand"):
        KernelBasis() + 3


def test_unknown_parameter():
    with pytest.raises(ValueError, match="Invalid parameter 'gama' for estimator RVMRegressor"):
        RVMRegressor().set_params(gama=2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'gama'"):
        RVMRegressor(gama=2)


def test_only_the_first_parameter_is_positional():
    with pytest.raises(TypeError, match="positional argument"):
        RVMRegressor("rbf", 0.1)


# ------------------------------------------------------------------ functions of the user


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda A, B: np.ones(len(A)), r"returned an array of shape \(30,\); it must return"),
        (lambda A, B: np.ones((len(B), 2)), r"returned an array of shape .*it must return shape"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "must be finite; the value at row 0"),
        (lambda A, B: [[1.0] * len(B)] * len(A), "returned list; it must return an ndarray"),
        (lambda A, B: A @ B.T + 0j, "returned values of dtype complex128; .* real numbers"),
        (lambda A, B: None, "returned NoneType; it must return an ndarray"),
    ],
)
def test_kernel_functions(kernel, message):
    with pytest.raises(ValueError, match=message):
        RVMRegressor(kernel).fit(X, Y)


def test_kernel_that_fails_only_at_new_inputs():
    def kernel(A, B):
        values = A @ B.T
        values[np.abs(A).max(axis=1) > 50] = np.inf
        return values

    model = RVMRegressor(kernel).fit(X, Y)
    with pytest.raises(ValueError, match="must be finite; the value at row 0, column 0 is inf"):
        model.predict(np.full((1, 3), 100.0))


def test_functions_of_a_basis():
    with pytest.raises(ValueError, match=r"function 'sum' returned an array of shape \(\)"):
        SparseBayesRegressor(FunctionBasis([np.sum])).fit(X, Y)
    with pytest.raises(TypeError, match=r"functions\[1\] is 3 of type int"):
        SparseBayesRegressor(FunctionBasis([np.sin, 3])).fit(X, Y)


# ------------------------------------------------------------------ fitted models


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.predict(X),
        lambda model: model.predict(X, return_std=True),
        lambda model: model.predict_interval(X),
        lambda model: model.sample_y(X),
        lambda model: model.log_predictive_density(X, Y),
        lambda model: model.leave_one_out(X, Y),
        lambda model: model.atom_names(),
        lambda model: model.relevance_vectors_,
        lambda model: model.weight_covariance_,
        lambda model: model.well_determined_,
        lambda model: model.candidates_,
    ],
)
def test_not_fitted(ask):
    with pytest.raises(NotFittedError, match="This RVMRegressor instance is not fitted yet"):
        ask(RVMRegressor())


@pytest.mark.parametrize("inputs", [X[:, :2], np.column_stack([X, X])])
def test_other_number_of_features(fitted, inputs):
    message = f"X has {inputs.shape[1]} features, but RVMRegressor is expecting 3 features"
    for ask in (fitted.predict, fitted.predict_interval, fitted.sample_y):
        with pytest.raises(ValueError, match=message):
            ask(inputs)
    with pytest.raises(ValueError, match=message):
        fitted.leave_one_out(inputs, Y)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (put(X, np.nan), r"X must be finite; the value at row \d+, column \d+ is NaN"),
        (put(X, np.inf), r"X must be finite; the value at row \d+, column \d+ is inf"),
        (X[0], "Expected 2D array, got 1D array"),
        (X[:0], r"Found array with 0 sample\(s\)"),
        ([["a", "b", "c"]], "holds the string .a.*StringSpectrum"),
    ],
)
def test_new_inputs(fitted, inputs, message):
    with pytest.raises(ValueError, match=message):
        fitted.predict(inputs)


@pytest.mark.parametrize("coverage", [0, 1, 0.0, 1.0, 95, -0.5, np.nan])
def test_coverage_out_of_range(fitted, coverage):
    with pytest.raises(ValueError, match=f"coverage must be .* strictly .* got {coverage!r}"):
        fitted.predict_interval(X, coverage)


@pytest.mark.parametrize("coverage", ["95%", [0.5, 0.9], None, True])
def test_coverage_that_is_no_number(fitted, coverage):
    with pytest.raises(TypeError, match="coverage must be a number"):
        fitted.predict_interval(X, coverage)


def test_two_kinds_of_uncertainty_at_once(fitted):
    with pytest.raises(ValueError, match="return_std and return_cov exclude each other"):
        fitted.predict(X, return_std=True, return_cov=True)


def test_number_of_draws(fitted):
    with pytest.raises(ValueError, match="n_samples must be an integer of at least 1; got 0"):
        fitted.sample_y(X, 0)
    with pytest.raises(TypeError, match="n_samples must be an integer of at least 1; got 1.5"):
        fitted.sample_y(X, 1.5)


def test_targets_that_do_not_fit_the_model(fitted):
    with pytest.raises(ValueError, match="y has 2 outputs, but the model was fitted with 1"):
        fitted.log_predictive_density(X, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[30, 29\]"):
        fitted.leave_one_out(X, Y[:-1])
    with pytest.raises(ValueError, match=r"y must be finite; the value at position \d+ is NaN"):
        fitted.log_predictive_density(X, put(Y, np.nan))


def test_vectors_of_a_precomputed_kernel():
    model = RVMRegressor("precomputed").fit(X @ X.T, Y)
    with pytest.raises(
        AttributeError, match='not available with kernel="precomputed".*Use relevance_'
    ):
        model.relevance_vectors_  # noqa: B018
    with pytest.raises(ValueError, match="X has 3 features, but .* expecting 30"):
        model.predict(X)


def test_failed_fit_leaves_the_old_model(fitted):
    before = fitted.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        fitted.fit(put(X, np.nan), Y)
    np.testing.assert_array_equal(fitted.predict(X), before)


def test_feature_selection_takes_no_prior_that_keeps_all_atoms():
    X, y = smooth()
    with pytest.raises(
        ValueError, match="DRVMRegressor selects relevance vectors, but prior='gamma' keeps"
    ):
        DRVMRegressor(prior="gamma").fit(X, y)


@pytest.mark.parametrize(
    "model", [RVMRegressor(Warped(RBF(), np.log), length_scales="ard")], ids=["ard"]
)
def test_length_scales_of_warped_inputs_are_refused(model):
    X, y = smooth()
    with pytest.raises(
        ValueError, match="shifts and rescales features, but .* is a kernel of transformed features"
    ):
        model.fit(np.exp(X), y)


def test_default_priors_are_not_shared():
    first, second = GammaPrior(), RVMRegressor(prior=GammaPrior())
    second.set_params(prior__noise=InverseGamma(1.0, 50.0))
    assert first.noise == GammaPrior().noise == "tipping"
