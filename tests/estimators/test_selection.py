"""Estimators with feature selection."""

from __future__ import annotations

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from relvec import DRVMRegressor, PFCVMClassifier, RVMRegressor
from relvec.datasets import make_friedman, make_ring, make_twonorm
from relvec.learning import LengthScaleLearner

# checks of weights repeat rows, which is told
pytestmark = pytest.mark.filterwarnings("ignore:Rows are repeated:UserWarning")

RNG = np.random.default_rng(31)
N, P = 80, 4
X = RNG.normal(size=(N, P))
F = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 2] ** 2
Y = F + 0.1 * RNG.normal(size=N)
LABELS = np.where(F + 0.1 * RNG.normal(size=N) > np.median(F), "yes", "no")
TEST = RNG.normal(size=(100, P))
TRUTH = np.sin(1.5 * TEST[:, 0]) + 0.5 * TEST[:, 2] ** 2
NAMES = ["alpha", "beta", "gamma", "delta"]


# targets without noise and targets that are noise: a warning is then right
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Rows are repeated")
@pytest.mark.filterwarnings("ignore:No features were selected")  # labels of some checks are noise
@pytest.mark.estimator_check
@parametrize_with_checks(
    [
        DRVMRegressor(length_scale_uncertainty=True),
        PFCVMClassifier(select="always"),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def regressor():
    return DRVMRegressor(select="always", min_feature_gain=3.0).fit(X, Y)


@pytest.fixture(scope="module")
def classifier():
    return PFCVMClassifier(select="always", min_feature_gain=3.0).fit(X, LABELS)


# ------------------------------------------------------------------ what is found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_friedman(seed):
    inputs, targets = make_friedman(1, 200, random_state=seed)
    model = DRVMRegressor().fit(inputs, targets)
    assert model.features_selected_
    always = DRVMRegressor(select="always").fit(inputs, targets)
    np.testing.assert_array_equal(model.length_scale_, always.length_scale_)
    kept = model.get_support()
    assert kept[:5].all()
    assert kept.sum() <= 7  # one or two that do not matter may stay
    new, truth = make_friedman(1, 500, noise=0.0, random_state=100)
    assert np.mean((model.predict(new) - truth) ** 2) < 1.0
    np.testing.assert_array_equal(kept, model.feature_relevance_ > 0.0)
    np.testing.assert_array_equal(kept, model.feature_relevance_std_ > 0.0)
    assert (model.feature_relevance_std_[:5] < model.feature_relevance_[:5]).all()
    assert (model.feature_inclusion_probability_[:5] > 0.9).all()
    assert (model.feature_inclusion_probability_[~kept] <= 0.5 + 1e-9).all()


@pytest.mark.slow
def test_friedman_at_a_penalty():
    inputs, targets = make_friedman(1, 200, random_state=0)
    model = DRVMRegressor(min_feature_gain=4.0).fit(inputs, targets)
    np.testing.assert_array_equal(model.get_support(indices=True), np.arange(5))


@pytest.mark.slow
def test_ring():
    inputs, labels = make_ring(150, n_features=10, random_state=0)
    model = PFCVMClassifier().fit(inputs, labels)
    np.testing.assert_array_equal(model.get_support(indices=True), [0, 1])
    assert model.features_selected_
    assert model.model_kind_ == "ard"
    new, truth = make_ring(500, n_features=10, random_state=1)
    assert model.score(new, truth) > 0.93


@pytest.mark.slow
def test_twonorm_keeps_all():
    inputs, labels = make_twonorm(120, random_state=0)
    model = PFCVMClassifier().fit(inputs, labels)
    assert model.get_support().all()
    assert not model.features_selected_
    assert model.model_kind_ == "isotropic"
    np.testing.assert_allclose(model.feature_relevance_, model.feature_relevance_[0])
    new, truth = make_twonorm(500, random_state=1)
    assert model.score(new, truth) > 0.9


def weak_inputs(seed, n_inputs=20):
    """All features are about equally relevant, each a little."""
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.5, 1.5, n_inputs) / np.sqrt(n_inputs)
    inputs, new = rng.normal(size=(200, n_inputs)), rng.normal(size=(1000, n_inputs))
    along, truth = inputs @ weight, new @ weight
    targets = along + 0.3 * np.sin(2.0 * along) + rng.normal(size=200)
    return inputs, targets, new, truth + 0.3 * np.sin(2.0 * truth)


@pytest.mark.slow
def test_weak_features_are_kept():
    errors = {"auto": 0.0, "always": 0.0}
    for seed in range(2):
        inputs, targets, new, truth = weak_inputs(seed)
        for select in errors:
            model = DRVMRegressor(select=select).fit(inputs, targets)
            errors[select] += np.mean((model.predict(new) - truth) ** 2)
            assert model.features_selected_ == (select == "always")
            assert model.get_support().all() == (select == "auto")
            chance = model.feature_inclusion_probability_
            assert np.isnan(chance).all() == (select == "auto")
            std = model.feature_relevance_std_[model.get_support()]
            assert np.isnan(std).all() if model.model_kind_ == "linear" else (std > 0.0).all()
    assert errors["auto"] < errors["always"]


@pytest.mark.slow
def test_refinement_may_separate_length_scales():
    inputs, targets, _, _ = weak_inputs(0)
    begun = DRVMRegressor(n_refinements=0, select="never").fit(inputs, targets)
    assert begun.model_kind_ == "isotropic"
    np.testing.assert_allclose(begun.feature_relevance_, begun.feature_relevance_[0])
    ended = DRVMRegressor(select="never").fit(inputs, targets)
    assert ended.model_kind_ == "ard"
    assert not ended.features_selected_
    assert ended.objective_ > begun.objective_


@pytest.mark.slow
@pytest.mark.parametrize("n_refinements", [0, 3])
def test_select_always_equals_ard_length_scales(n_refinements):
    inputs, targets, new, _ = weak_inputs(0, 10)
    model = DRVMRegressor(select="always", n_refinements=n_refinements).fit(inputs, targets)
    same = RVMRegressor(
        length_scales=LengthScaleLearner("ard", n_refinements=n_refinements), prior="ric"
    )
    same.fit(inputs, targets)
    np.testing.assert_array_equal(model.length_scale_, same.length_scale_)
    np.testing.assert_array_equal(model.predict(new), same.predict(new))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "target"), [(DRVMRegressor, Y), (PFCVMClassifier, LABELS)], ids=["DRVM", "PFCVM"]
)
def test_select_determines_feature_selection(estimator, target):
    never = estimator(select="never").fit(X, target)
    assert never.get_support().all()
    assert not never.features_selected_
    always = estimator(select="always").fit(X, target)
    assert always.model_kind_ == "ard"
    assert always.features_selected_
    assert estimator().fit(X[:, :1], target).get_support().all()


@pytest.mark.slow
def test_min_feature_gain_is_a_penalty(regressor, classifier):
    np.testing.assert_array_equal(regressor.get_support(indices=True), [0, 2])
    np.testing.assert_array_equal(classifier.get_support(indices=True), [0, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is left cannot explain the target
        dear = DRVMRegressor(select="always", min_feature_gain=1e6, n_refinements=0).fit(X, Y)
    assert dear.get_support().sum() == 1


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["matern52", "laplacian", "rational_quadratic", RBF(2.0)])
def test_kernels(kernel):
    model = DRVMRegressor(kernel, min_feature_gain=3.0).fit(X, Y)
    np.testing.assert_array_equal(model.get_support(indices=True), [0, 2])
    assert model.score(TEST, TRUTH) > 0.8
    labels = PFCVMClassifier(kernel, select="always", min_feature_gain=3.0).fit(X, LABELS)
    np.testing.assert_array_equal(labels.get_support(indices=True), [0, 2])
    assert np.isfinite(labels.feature_relevance_std_).all()


@pytest.mark.slow
def test_three_classes():
    inputs, target = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[target]
    model = PFCVMClassifier().fit(inputs[::2], names[::2])
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]
    assert model.score(inputs[1::2], names[1::2]) > 0.9
    probability = model.predict_proba(inputs)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert model.feature_relevance_.shape == (4,)
    assert np.isfinite(model.feature_relevance_std_).all()


# ------------------------------------------------------------------ signs


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"centers": 30, "random_state": 0}, {"solver": "exact"}])
def test_weights_have_the_sign_of_the_class_of_their_centre(options):
    model = PFCVMClassifier(**options).fit(X, LABELS)
    assert len(model.coef_)
    rows = [
        int(np.flatnonzero((centre == X).all(axis=1))[0]) for centre in model.relevance_vectors_
    ]
    sign = np.where(LABELS[rows] == model.classes_[1], 1.0, -1.0)
    assert (sign * np.ravel(model.coef_) > 0.0).all()


@pytest.mark.slow
def test_weights_of_several_classes_have_their_signs():
    inputs, target = load_iris(return_X_y=True)
    model = PFCVMClassifier().fit(inputs, target)
    for k, coef in enumerate(model.coef_):
        sign = np.where(target[model.relevance_] == k, 1.0, -1.0)
        assert (sign * coef >= 0.0).all()
        assert (coef != 0.0).any()


@pytest.mark.slow
def test_free_signs_fit_at_least_as_well():
    signed = PFCVMClassifier(select="never").fit(X, LABELS)
    free = PFCVMClassifier(select="never", signed=False).fit(X, LABELS)
    assert free.objective_ > signed.objective_ - 1.0
    with pytest.raises(ValueError, match=r"constrain(ts on)? the signs"):
        PFCVMClassifier(solver="mackay").fit(X, LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the textbook algorithm says where it ended
        textbook = PFCVMClassifier(solver="mackay", signed=False, select="never").fit(X, LABELS)
    assert textbook.score(X, LABELS) > 0.8


# ------------------------------------------------------------------ error bars


@pytest.mark.slow
@pytest.mark.parametrize("error_bars", ["novelty", "plain", "augmented"])
def test_propagation_only_adds(error_bars):
    options = {"error_bars": error_bars}
    plain = DRVMRegressor(**options).fit(X, Y)
    full = DRVMRegressor(length_scale_uncertainty=True, **options).fit(X, Y)
    far = np.vstack([TEST, 3.0 * TEST])
    mean, std = plain.predict(far, return_std=True)
    mean_full, std_full = full.predict(far, return_std=True)
    np.testing.assert_array_equal(mean, mean_full)
    assert (std_full >= std).all()
    assert (std_full > 1.0001 * std).any()
    _, covariance = full.predict(TEST, return_cov=True)
    np.testing.assert_allclose(np.sqrt(covariance.diagonal()), std_full[:100], rtol=1e-6)
    assert np.linalg.eigvalsh(covariance).min() > 0.0
    draws = full.sample_y(TEST[:5], 4000)
    np.testing.assert_allclose(draws.std(axis=1), std_full[:5], rtol=0.1)


@pytest.mark.slow
def test_deviations_are_in_units_of_relevances():
    units = np.array([1e-3, 1e4, 10.0, 1.0])
    one = DRVMRegressor(length_scale_uncertainty=True, min_feature_gain=3.0).fit(X, Y)
    other = DRVMRegressor(length_scale_uncertainty=True, min_feature_gain=3.0).fit(X * units, Y)
    np.testing.assert_allclose(other.feature_relevance_, one.feature_relevance_, rtol=1e-2)
    np.testing.assert_allclose(other.feature_relevance_std_, one.feature_relevance_std_, rtol=5e-2)
    _, std = one.predict(TEST, return_std=True)
    _, std_there = other.predict(TEST * units, return_std=True)
    np.testing.assert_allclose(std_there, std, rtol=2e-2)


@pytest.mark.slow
def test_several_outputs():
    both = np.column_stack([Y, X[:, 3] + 0.1 * np.random.default_rng(1).normal(size=N)])
    model = DRVMRegressor(length_scale_uncertainty=True).fit(X, both)
    assert {0, 2, 3} <= set(model.get_support(indices=True))
    mean, std = model.predict(TEST, return_std=True)
    assert mean.shape == std.shape == (100, 2)
    plain = DRVMRegressor().fit(X, both).predict(TEST, return_std=True)[1]
    assert (std >= plain).all()


@pytest.mark.parametrize("target", [np.ones(N), RNG.normal(size=N)], ids=["constant", "noise"])
def test_unrelated_targets_select_no_feature(target):
    model = DRVMRegressor(length_scale_uncertainty=True, n_refinements=3).fit(X, target)
    assert model.model_kind_ in ("none", "null")
    assert not model.features_selected_
    assert not model.get_support().any()
    assert (model.feature_inclusion_probability_ <= 0.5).all()
    assert np.isinf(model.feature_relevance_std_[model.feature_relevance_ > 0.0]).all()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert model.transform(TEST).shape == (len(TEST), 0)
    mean, std = model.predict(TEST, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()


@pytest.mark.slow
def test_noise_selects_nothing_however_often_it_is_tried():
    """Gains by single features are large where short length-scales fit the noise."""
    for seed in range(100, 108):
        rng = np.random.default_rng(seed)
        inputs, target = rng.normal(size=(200, 10)), rng.normal(size=200)
        assert (
            not DRVMRegressor(n_refinements=0, effort="fast")
            .fit(inputs, target)
            .get_support()
            .any()
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [PFCVMClassifier(solver="mackay"), PFCVMClassifier(prior="gamma")]
)
def test_the_fixed_point_cannot_constrain_signs(model):
    with pytest.raises(ValueError, match=r"constrain(ts on)? the signs"):
        model.fit(X, LABELS)
    model.set_params(signed=False).fit(X[:60], LABELS[:60])


# ------------------------------------------------------------------ a selector


def test_is_a_selector(regressor, classifier):
    for model in (regressor, classifier):
        kept = model.get_support(indices=True)
        np.testing.assert_array_equal(model.transform(TEST), TEST[:, kept])
        back = model.inverse_transform(TEST[:, kept])
        np.testing.assert_array_equal(back[:, kept], TEST[:, kept])
        assert (np.delete(back, kept, axis=1) == 0.0).all()
        assert list(model.get_feature_names_out()) == ["x0", "x2"]
        assert list(model.get_feature_names_out(NAMES)) == ["alpha", "gamma"]
        with pytest.raises(ValueError, match="input_features|features"):
            model.get_feature_names_out(["one"])


@pytest.mark.slow
def test_pipelines_keep_the_names_of_columns():
    frame = pd.DataFrame(X, columns=NAMES)
    pipeline = make_pipeline(
        StandardScaler(), DRVMRegressor(min_feature_gain=3.0), LinearRegression()
    ).set_output(transform="pandas")
    pipeline.fit(frame, Y)
    selected = pipeline[:-1].transform(frame)
    assert isinstance(selected, pd.DataFrame)
    assert list(selected.columns) == ["alpha", "gamma"]
    assert list(pipeline[-1].feature_names_in_) == ["alpha", "gamma"]
    assert pipeline.predict(frame).shape == (N,)
    labels = make_pipeline(
        PFCVMClassifier(select="always", min_feature_gain=3.0), LogisticRegression()
    ).set_output(transform="pandas")
    labels.fit(frame, LABELS)
    assert list(labels[0].get_feature_names_out()) == ["alpha", "gamma"]
    assert list(labels[-1].feature_names_in_) == ["alpha", "gamma"]


def test_attributes_need_a_fit():
    for model in (DRVMRegressor(), PFCVMClassifier()):
        for ask in ("get_support", "get_feature_names_out"):
            with pytest.raises(NotFittedError):
                getattr(model, ask)()
        for name in ("feature_inclusion_probability_", "features_selected_"):
            with pytest.raises(NotFittedError):
                getattr(model, name)
        with pytest.raises(NotFittedError):
            model.transform(X)


@pytest.mark.slow
def test_inclusion_probability_is_half_at_the_penalty(regressor):
    learnt = regressor.learnt_length_scales_
    chance = regressor.feature_inclusion_probability_
    assert ((chance > 0.5) == (learnt.gain > learnt.penalty)).all()
    constant = np.column_stack([X, np.ones(N)])
    assert DRVMRegressor().fit(constant, Y).feature_inclusion_probability_[-1] == 0.0


# ------------------------------------------------------------------ columns


@pytest.mark.slow
def test_constant_and_duplicated_columns():
    more = np.column_stack([X, np.full(N, 3.0), X[:, 0]])
    model = DRVMRegressor(min_feature_gain=3.0).fit(more, Y)
    kept = set(model.get_support(indices=True))
    assert 4 not in kept
    assert 2 in kept
    assert {0, 5} & kept
    assert not {1, 3} & kept
    new = np.column_stack([TEST, np.full(100, 3.0), TEST[:, 0]])
    assert model.score(new, TRUTH) > 0.9
    labels = PFCVMClassifier(select="always", min_feature_gain=3.0).fit(more, LABELS)
    assert {0, 5} & set(labels.get_support(indices=True))
    assert not labels.get_support()[4]


def test_only_constant_columns():
    model = DRVMRegressor(length_scale_uncertainty=True).fit(np.ones((N, 2)), Y)
    np.testing.assert_allclose(model.predict(np.ones((3, 2))), Y.mean())
    assert not model.get_support().any()


@pytest.mark.slow
@pytest.mark.parametrize("model", [DRVMRegressor(), PFCVMClassifier(select="always")], ids=str)
def test_many_features(model):
    rng = np.random.default_rng(2)
    n, p = 60, 2000
    inputs = rng.normal(size=(n, p))
    target = 2.0 * inputs[:, 3] + inputs[:, 1500] + 0.1 * rng.normal(size=n)
    if isinstance(model, PFCVMClassifier):
        target = (target > 0.0).astype(int)
    tracemalloc.start()
    try:
        model.fit(inputs, target)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert model.feature_relevance_[3] > 0.0
    assert model.transform(inputs).shape[1] == model.get_support().sum() < 20
    assert peak < 0.5 * 8 * n * n * p  # not a matrix for each input


# ------------------------------------------------------------------ weights, copies, options


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [DRVMRegressor(error_bars="plain"), PFCVMClassifier(error_bars="plain")],
    ids=["targets", "labels"],
)
def test_weights_are_copies(model):
    labels = isinstance(model, PFCVMClassifier)
    counts = np.random.default_rng(0).choice([0, 1, 2], p=[0.2, 0.6, 0.2], size=N)
    rows = np.repeat(np.arange(N), counts)
    target = LABELS if labels else Y
    weighted = clone(model).fit(X, target, sample_weight=counts)
    copies = clone(model).fit(X[rows], target[rows])
    np.testing.assert_allclose(weighted.length_scale_, copies.length_scale_, rtol=1e-2, atol=1e-9)
    np.testing.assert_allclose(
        weighted.feature_relevance_std_, copies.feature_relevance_std_, rtol=2e-2, atol=1e-9
    )
    ask = "predict_proba" if labels else "predict"
    np.testing.assert_allclose(getattr(weighted, ask)(TEST), getattr(copies, ask)(TEST), atol=5e-3)


@pytest.mark.slow
def test_class_weights_are_weights():
    by_class = {"no": 1.0, "yes": 3.0}
    weighted = PFCVMClassifier(class_weight=by_class).fit(X, LABELS)
    rows = PFCVMClassifier().fit(X, LABELS, sample_weight=np.where(LABELS == "yes", 3.0, 1.0))
    np.testing.assert_allclose(weighted.predict_proba(TEST), rows.predict_proba(TEST))
    plain = PFCVMClassifier().fit(X, LABELS)
    assert weighted.predict_proba(TEST)[:, 1].mean() > plain.predict_proba(TEST)[:, 1].mean()
    PFCVMClassifier(class_weight="balanced").fit(X, LABELS)


@pytest.mark.slow
def test_pickles_and_clones(regressor, classifier):
    for model, ask in ((regressor, "predict"), (classifier, "predict_proba")):
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(getattr(copy, ask)(TEST), getattr(model, ask)(TEST))
        np.testing.assert_array_equal(copy.get_support(), model.get_support())
    full = DRVMRegressor(length_scale_uncertainty=True).fit(X, Y)
    copy = pickle.loads(pickle.dumps(full))
    np.testing.assert_array_equal(
        copy.predict(TEST, return_std=True)[1], full.predict(TEST, return_std=True)[1]
    )
    again = clone(full).fit(X, Y)
    np.testing.assert_array_equal(again.predict(TEST), full.predict(TEST))


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (
            DRVMRegressor(length_scale_uncertainty="yes"),
            (TypeError, ValueError),
            "length_scale_uncertainty",
        ),
        (DRVMRegressor(n_refinements=-1), ValueError, "n_refinements"),
        (DRVMRegressor(select="maybe"), ValueError, "select must be one of"),
        (DRVMRegressor(min_feature_gain="none"), ValueError, "min_gain|min_feature_gain"),
        (DRVMRegressor("precomputed"), ValueError, "precomputed|square"),
        (
            DRVMRegressor(lambda A, B: A @ B.T),
            ValueError,
            "kernels given by name and for kernel obj",
        ),
        (DRVMRegressor("sigmoid"), ValueError, "only be learnt for covariance functions"),
        (PFCVMClassifier(select="maybe"), ValueError, "select"),
        (PFCVMClassifier(signed="yes"), (TypeError, ValueError), "signed"),
        (
            PFCVMClassifier(lambda A, B: A @ B.T),
            ValueError,
            "kernels given by name and for kernel obj",
        ),
    ],
)
def test_misspelt_options(model, error, message):
    with pytest.raises(error, match=message):
        model.fit(X, LABELS if isinstance(model, PFCVMClassifier) else Y)


@pytest.mark.slow
def test_centres_in_number_do_not_depend_on_units():
    units = np.array([1e-6, 1e6, 1e2, 1e-3])
    model = RVMRegressor(centers=25, random_state=0).fit(X, Y)
    other = RVMRegressor(centers=25, random_state=0).fit(X * units, Y)
    np.testing.assert_allclose(other.predict(TEST * units), model.predict(TEST), atol=1e-3)
