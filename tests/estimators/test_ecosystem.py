"""Regressors among the tools of scikit-learn, and with every container of numbers."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVMRegressor, SparseBayesRegressor
from relvec.bases import FunctionBasis, KernelBasis, LinearBasis, PolynomialBasis, PrecomputedBasis
from relvec.error_bars import PivotTuning
from relvec.solvers import SequentialSolver
from tests.estimators.problems import linear, sinc, smooth

X, Y = smooth()

# Kernels much narrower than the gaps between inputs can explain the noise, and must warn.
too_narrow = pytest.mark.filterwarnings(
    "ignore:.* reached the cap:sklearn.exceptions.ConvergenceWarning"
)


def same_model(model, other, at=X):
    np.testing.assert_allclose(model.predict(at), other.predict(at), rtol=1e-10)
    assert model.log_evidence_ == pytest.approx(other.log_evidence_, rel=1e-12)


# ------------------------------------------------------------------ model selection


def test_pipeline_equals_the_model_on_standardised_features():
    units = np.array([1.0, 100.0, 0.01])
    pipeline = make_pipeline(StandardScaler(), RVMRegressor(gamma=0.1)).fit(X * units, Y)
    alone = RVMRegressor(gamma=0.1).fit((X - X.mean(axis=0)) / X.std(axis=0), Y)
    np.testing.assert_allclose(
        pipeline.predict(X * units), alone.predict((X - X.mean(axis=0)) / X.std(axis=0)), rtol=1e-7
    )
    mean, std = pipeline.predict(X * units, return_std=True)
    assert mean.shape == std.shape == (60,)


def test_pipeline_passes_names_of_set_output_on():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    pipeline = make_pipeline(StandardScaler(), RVMRegressor()).set_output(transform="pandas")
    model = pipeline.fit(frame, Y)[-1]
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert not hasattr(model, "set_output")  # it predicts arrays, and transforms nothing


@too_narrow
def test_grid_search_over_kernels_and_gamma():
    grid = {"kernel": ["rbf", "laplacian", RBF(3.0)], "gamma": [1e-4, 0.1, 1000.0]}
    search = GridSearchCV(RVMRegressor(effort="fast", prior="bic"), grid, cv=3).fit(X, Y)
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    assert search.best_params_["gamma"] != 1000.0
    assert search.best_score_ > 0.6
    worst = search.cv_results_["mean_test_score"][search.cv_results_["param_gamma"] == 1000.0]
    assert worst.min() < 0.3  # the parameter reaches the kernel


@too_narrow
def test_grid_search_inside_a_union():
    model = SparseBayesRegressor(KernelBasis() + LinearBasis(), effort="fast")
    grid = {"basis__basis0__gamma": [1 / 9, 1000.0], "basis__basis0__kernel": ["rbf"]}
    search = GridSearchCV(model, grid, cv=3).fit(*sinc())  # no straight line fits
    assert search.best_params_["basis__basis0__gamma"] == 1 / 9
    assert search.best_estimator_.basis.bases[0].gamma == 1 / 9
    assert model.basis.bases[0].gamma == "scale"


@pytest.mark.slow
@too_narrow
def test_grid_search_inside_a_kernel_object_and_a_solver():
    model = SparseBayesRegressor(KernelBasis(RBF(1.0)), solver=SequentialSolver("fast"))
    grid = {"basis__kernel__length_scale": [1e-3, 2.0], "solver__effort": ["fast", "balanced"]}
    search = GridSearchCV(model, grid, cv=3).fit(X, Y)
    assert search.best_params_["basis__kernel__length_scale"] == 2.0


@pytest.mark.slow
def test_cross_validation_splits_both_sides_of_a_precomputed_kernel():
    K = laplacian_kernel(X, gamma=0.1)
    scores = cross_val_score(RVMRegressor("precomputed"), K, Y, cv=3)
    again = cross_val_score(RVMRegressor(lambda A, B: laplacian_kernel(A, B, 0.1)), X, Y, cv=3)
    np.testing.assert_allclose(scores, again, rtol=1e-6)
    assert scores.min() > 0.5


@pytest.mark.slow
def test_folds_in_other_processes():
    model = RVMRegressor(gamma=0.1)
    alone = cross_val_score(model, X, Y, cv=2)
    np.testing.assert_allclose(cross_val_score(model, X, Y, cv=2, n_jobs=2), alone, rtol=1e-9)


# ------------------------------------------------------------------ parameters


def test_clone_is_unfitted_and_independent():
    model = SparseBayesRegressor(KernelBasis(gamma=0.1) + LinearBasis()).fit(X, Y)
    copy = clone(model)
    assert not hasattr(copy, "outputs_")
    copy.set_params(basis__basis0__gamma=5.0)
    assert model.basis.bases[0].gamma == 0.1
    same_model(clone(model).fit(X, Y), model)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        RVMRegressor(gamma=1, prior="bic"),
        RVMRegressor(ConstantKernel(2.0) * Matern(2.0)),
        RVMRegressor(centers=X[:20], center_method="kmeans++"),
        SparseBayesRegressor(KernelBasis() + PolynomialBasis(2)),
        SparseBayesRegressor(solver=SequentialSolver("fast"), low_memory=True),
    ],
)
def test_fit_leaves_parameters_alone(model):
    before = {name: pickle.dumps(value) for name, value in model.get_params(deep=False).items()}
    names = set(vars(model))
    with np.errstate(all="raise"):
        assert model.fit(X, Y) is model
    after = {name: pickle.dumps(value) for name, value in model.get_params(deep=False).items()}
    assert after == before
    public = {name for name in set(vars(model)) - names if not name.startswith("_")}
    assert all(name.endswith("_") for name in public)


@pytest.mark.slow
def test_set_params_changes_the_next_fit():
    model = RVMRegressor(gamma=0.1).fit(X, Y)
    model.set_params(gamma=2.0, prior="bic").fit(X, Y)
    same_model(model, RVMRegressor(gamma=2.0, prior="bic").fit(X, Y))


@pytest.mark.slow
def test_shown_as_text_and_as_html():
    model = SparseBayesRegressor(KernelBasis(gamma=2) + LinearBasis(), prior="bic")
    assert "".join(repr(model).split()) == (
        "SparseBayesRegressor(basis=UnionBasis(bases=[KernelBasis(gamma=2),LinearBasis()]),"
        "prior='bic')"
    )
    assert repr(RVMRegressor()) == "RVMRegressor()"
    for shown in (model, clone(model).fit(X, Y)):
        html = shown._repr_html_()
        assert "SparseBayesRegressor" in html
        assert "KernelBasis" in html


# ------------------------------------------------------------------ files


def many_rows(n):
    rng = np.random.default_rng(8)
    inputs = rng.normal(size=(n, 8))
    signal = np.sin(2 * inputs[:, 0]) + np.cos(inputs[:, 1]) + inputs[:, 2]
    return inputs, signal + 0.5 * rng.standard_normal(n)


def test_file_of_twenty_vectors_in_eight_dimensions():
    model = RVMRegressor(gamma=0.05, centers=40, random_state=0).fit(*many_rows(300))
    assert 15 <= len(model.relevance_) <= 25
    # 8 kB of pivots, 3 kB of the triangle, 1 kB of vectors, and the rest
    assert len(pickle.dumps(model)) < 8 * PivotTuning.max_values + 8_500


def test_file_does_not_grow_with_the_rows():
    inputs, target = many_rows(300)
    few = RVMRegressor(gamma=0.05, centers=40, random_state=0).fit(inputs, target)
    # five copies of every row, each a fifth of an observation: the same model
    many = clone(few).fit(
        np.tile(inputs, (5, 1)), np.tile(target, 5), sample_weight=np.full(1500, 0.2)
    )
    assert len(many.relevance_) == len(few.relevance_)
    assert abs(len(pickle.dumps(many)) - len(pickle.dumps(few))) < 200


def test_file_of_a_large_fit_is_set_by_its_vectors():
    model = RVMRegressor(gamma=0.01, prior="bic").fit(*many_rows(1500))
    n_vectors = len(model.relevance_)
    # the pivots of the error bars, one triangle (stored as a square), and the rest
    assert (
        len(pickle.dumps(model))
        < 8 * (PivotTuning.max_values + n_vectors * (n_vectors + 20)) + 4_000
    )


@pytest.mark.parametrize(
    "model",
    [
        RVMRegressor(gamma=0.1),
        RVMRegressor(gamma=0.1, error_bars="augmented"),
        RVMRegressor(laplacian_kernel, error_bars="plain"),
        SparseBayesRegressor(LinearBasis() + PolynomialBasis(2) + KernelBasis(gamma=0.1)),
        SparseBayesRegressor(FunctionBasis([np.sin, np.cos])),
    ],
)
def test_loaded_model_predicts_identically(model, tmp_path):
    model = clone(model).fit(X, Y)
    joblib.dump(model, tmp_path / "model.joblib")
    for loaded in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        for mine, its in zip(
            model.predict(X + 1, return_std=True),
            loaded.predict(X + 1, return_std=True),
            strict=True,
        ):
            np.testing.assert_array_equal(mine, its)
        assert loaded.atom_names() == model.atom_names()


def test_predicting_does_not_make_the_file_grow():
    model = RVMRegressor(gamma=0.1).fit(X, Y)
    before = len(pickle.dumps(model))
    model.predict(X, return_cov=True)
    model.sample_y(X)
    assert len(pickle.dumps(model)) == before


# ------------------------------------------------------------------ containers


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library):
    frames = pytest.importorskip(library)
    inputs, target = linear(d=6)
    names = [f"gene {i}" for i in range(6)]
    frame = frames.DataFrame({name: inputs[:, i] for i, name in enumerate(names)})
    model = SparseBayesRegressor(LinearBasis()).fit(frame, frames.Series(target))
    assert list(model.feature_names_in_) == names
    assert model.atom_names() == ["gene 1", "gene 4"]
    same_model_at = SparseBayesRegressor(LinearBasis()).fit(inputs, target).predict(inputs)
    np.testing.assert_allclose(model.predict(frame), same_model_at, rtol=1e-10)
    with pytest.raises(ValueError, match="feature names should match.*\n.*unseen at fit time"):
        model.predict(
            frame.rename(columns={"gene 0": "gen 0"})
            if library == "pandas"
            else frame.rename({"gene 0": "gen 0"})
        )
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(frame[names[::-1]])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(inputs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        np.ascontiguousarray,
        lambda A: np.repeat(np.repeat(A, 2, axis=0), 3, axis=1)[::2, ::3],
        lambda A: A[::-1][::-1],
        lambda A: A.tolist(),
        lambda A: A.astype(object),
        lambda A: A.astype(">f8"),
    ],
    ids=["fortran", "c", "strided", "reversed", "list", "object", "big-endian"],
)
def test_layouts(convert):
    model = RVMRegressor(gamma=0.1).fit(convert(X), convert(Y[:, None])[0:60])
    reference = RVMRegressor(gamma=0.1).fit(X, Y[:, None])
    np.testing.assert_allclose(model.predict(convert(X)), reference.predict(X), rtol=1e-9)


def test_single_precision_is_raised_to_double():
    model = RVMRegressor(gamma=0.1).fit(X.astype(np.float32), Y.astype(np.float32))
    reference = RVMRegressor(gamma=0.1).fit(
        X.astype(np.float32).astype(float), Y.astype(np.float32).astype(float)
    )
    same_model(model, reference, X.astype(np.float32))
    assert model.predict(X.astype(np.float32)).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, bool])
def test_whole_numbers(dtype):
    rng = np.random.default_rng(4)
    inputs = rng.integers(0, 2 if dtype is bool else 100, size=(50, 3)).astype(dtype)
    target = inputs.astype(float) @ [1.0, -2.0, 0.0]
    target = (target + rng.normal(size=50)).round().astype(np.int64)
    model = SparseBayesRegressor(LinearBasis()).fit(inputs, target)
    same_model(model, SparseBayesRegressor(LinearBasis()).fit(inputs.astype(float), target), inputs)
    assert model.score(inputs, target) > 0.3


def test_read_only_memory_maps(tmp_path):
    for name, array in (("X", X), ("y", Y)):
        joblib.dump(array, tmp_path / name)
    inputs, target = (joblib.load(tmp_path / name, mmap_mode="r") for name in ("X", "y"))
    assert isinstance(inputs, np.memmap)
    same_model(RVMRegressor(gamma=0.1).fit(inputs, target), RVMRegressor(gamma=0.1).fit(X, Y))
    np.testing.assert_array_equal(inputs, X)


def test_inputs_are_not_changed():
    inputs, target, weight = X.copy(order="F"), Y.copy(), np.tile([1.0, 2.0], 30)
    for model in (RVMRegressor(), SparseBayesRegressor(LinearBasis())):
        model.fit(inputs, target, weight).predict(inputs, return_std=True)
    np.testing.assert_array_equal(inputs, X)
    np.testing.assert_array_equal(target, Y)
    np.testing.assert_array_equal(weight, np.tile([1.0, 2.0], 30))


def test_model_keeps_no_view_of_the_inputs():
    inputs = X.copy()
    model = RVMRegressor(gamma=0.1).fit(inputs, Y)
    before = model.predict(X, return_std=True)
    inputs[:] = 0.0
    for mine, then in zip(model.predict(X, return_std=True), before, strict=True):
        np.testing.assert_array_equal(mine, then)


# ------------------------------------------------------------------ sparse matrices


@pytest.mark.slow
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
@pytest.mark.parametrize("basis", [LinearBasis(), PrecomputedBasis()])
def test_sparse_matrices_equal_dense_ones(container, basis):
    inputs, target = linear(d=30)
    inputs[np.abs(inputs) < 0.8] = 0.0
    dense = SparseBayesRegressor(basis).fit(inputs, target)
    model = SparseBayesRegressor(basis).fit(container(inputs), target)
    np.testing.assert_array_equal(model.relevance_, dense.relevance_)
    assert model.log_evidence_ == pytest.approx(dense.log_evidence_, rel=1e-9)
    for mine, its in zip(
        model.predict(container(inputs), return_std=True),
        dense.predict(inputs, return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(mine, its, rtol=1e-7)


@pytest.mark.parametrize("low_memory", [True, False])
def test_sparse_matrices_with_weights(low_memory):
    inputs, target = linear(d=30)
    inputs[np.abs(inputs) < 0.8] = 0.0
    weight = np.random.default_rng(0).integers(0, 4, size=80).astype(float)
    model = SparseBayesRegressor(LinearBasis(), low_memory=low_memory)
    dense = clone(model).fit(inputs, target, weight)
    model.fit(sparse.csr_array(inputs), target, weight)
    np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        RVMRegressor(),
        SparseBayesRegressor(),
        SparseBayesRegressor(LinearBasis() + KernelBasis()),
        SparseBayesRegressor(PolynomialBasis()),
    ],
)
def test_sparse_matrices_are_refused_by_other_bases(model):
    assert not model.__sklearn_tags__().input_tags.sparse
    with pytest.raises(TypeError, match=r"Basis needs dense inputs; .*pass X.toarray\(\)"):
        model.fit(sparse.csr_array(X), Y)


def test_sparse_matrices_are_refused_by_a_dense_model():
    with pytest.raises(TypeError, match=r"KernelBasis needs dense inputs; .*pass X.toarray\(\)"):
        RVMRegressor().fit(X, Y).predict(sparse.csr_array(X))


# ------------------------------------------------------------------ metadata


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_through_pipeline_and_search():
    weight = np.tile([1.0, 1.0, 1.0, 2.0], 15)
    model = RVMRegressor().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
    search = GridSearchCV(pipeline, {"rvmregressor__gamma": [0.1]}, cv=2)
    search.fit(X, Y, sample_weight=weight)
    scaled = StandardScaler().fit_transform(X)
    same_model(search.best_estimator_[-1], RVMRegressor(gamma=0.1).fit(scaled, Y, weight), scaled)


@pytest.mark.usefixtures("routing")
def test_weights_without_a_request_are_an_error():
    search = GridSearchCV(RVMRegressor(), {"gamma": [0.1]}, cv=2)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        search.fit(X, Y, sample_weight=np.ones(60))


def test_score_is_weighted_r2():
    inputs, target = sinc()
    model = RVMRegressor().fit(inputs, target)
    weight = np.r_[np.ones(50), np.zeros(50)]
    assert model.score(inputs, target, weight) == pytest.approx(
        model.score(inputs[:50], target[:50])
    )
