"""Estimators that learn the length-scales of their features."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from sklearn.model_selection import GridSearchCV

from relvec import (
    DRVMRegressor,
    RVMClassifier,
    RVMRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
)
from relvec.bases import KernelBasis, LinearBasis
from relvec.estimators._length_scales import EXPOSED
from relvec.learning import LengthScaleLearner

# checks of weights repeat rows, which is told
pytestmark = pytest.mark.filterwarnings("ignore:Rows are repeated:UserWarning")

RNG = np.random.default_rng(21)
N, P = 80, 4
X = RNG.normal(size=(N, P))
F = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 2] ** 2
Y = F + 0.1 * RNG.normal(size=N)
LABELS = np.where(F + 0.1 * RNG.normal(size=N) > np.median(F), "high", "low")
TEST = RNG.normal(size=(200, P))
TRUTH = np.sin(1.5 * TEST[:, 0]) + 0.5 * TEST[:, 2] ** 2
UNITS = np.array([1e-6, 1e6, 1e2, 1e-3])


def test_length_scales_improve_predictions():
    learnt = RVMRegressor().fit(X, Y)
    plain = RVMRegressor(length_scales=None).fit(X, Y)
    error, before = (np.mean((m.predict(TEST) - TRUTH) ** 2) for m in (learnt, plain))
    assert error < 0.5 * before
    assert learnt.model_kind_ == "ard"
    np.testing.assert_array_equal(np.flatnonzero(learnt.feature_relevance_ > 1e-3), [0, 2])
    np.testing.assert_allclose(
        learnt.feature_relevance_, 0.5 * X.var(axis=0) / learnt.length_scale_**2, rtol=1e-9
    )
    assert learnt.feature_gain_.shape == (P,)
    assert learnt.feature_relevance_path_.shape == (
        len(learnt.feature_relevance_path_objective_),
        P,
    )
    assert learnt.learnt_length_scales_.kind == "ard"


@pytest.mark.parametrize("seed", [0, 1])
def test_fast_oscillations_are_found(seed):
    """Six periods per standard deviation: at long length-scales the evidence is flat."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 10.0, size=(250, 1))
    y = np.sin(12.0 * x[:, 0]) + 0.1 * rng.normal(size=250)
    new = np.linspace(0.2, 9.8, 300)[:, None]
    residual = RVMRegressor().fit(x, y).predict(new) - np.sin(12.0 * new[:, 0])
    assert np.sqrt(np.mean(residual**2)) < 0.12


@pytest.mark.slow
@pytest.mark.parametrize("scales", ["auto", "ard", "isotropic"])
def test_units_of_columns_do_not_matter(scales):
    model = RVMRegressor(length_scales=scales).fit(X, Y)
    other = RVMRegressor(length_scales=scales).fit((X + 2.0) * UNITS, Y)
    mean, std = model.predict(TEST, return_std=True)
    mean_there, std_there = other.predict((TEST + 2.0) * UNITS, return_std=True)
    np.testing.assert_allclose(mean_there, mean, atol=1e-4)
    np.testing.assert_allclose(std_there, std, rtol=1e-4)
    np.testing.assert_allclose(
        other.feature_relevance_, model.feature_relevance_, rtol=1e-2, atol=1e-6
    )


@pytest.mark.slow
def test_units_of_columns_do_not_matter_to_classifiers():
    model = RVMClassifier().fit(X, LABELS)
    other = RVMClassifier().fit(X * UNITS, LABELS)
    np.testing.assert_allclose(
        other.predict_proba(TEST * UNITS), model.predict_proba(TEST), atol=1e-4
    )


@pytest.mark.slow
@pytest.mark.parametrize("scales", ["ard", "isotropic"])
def test_constant_columns_change_nothing(scales):
    model = RVMRegressor(length_scales=scales).fit(X, Y)

    def padded(A):
        return np.column_stack([np.full(len(A), 5.0), A, np.zeros(len(A))])

    other = RVMRegressor(length_scales=scales).fit(padded(X), Y)
    np.testing.assert_allclose(other.predict(padded(TEST)), model.predict(TEST), atol=1e-5)
    assert other.feature_relevance_[0] == other.feature_relevance_[-1] == 0.0


@pytest.mark.slow
def test_collinear_columns_do_no_harm():
    def padded(A):
        return np.column_stack([A, A[:, 0], A[:, 0] - 2.0 * A[:, 2]])

    model, other = RVMRegressor().fit(X, Y), RVMRegressor().fit(padded(X), Y)
    error = np.mean((model.predict(TEST) - TRUTH) ** 2)
    assert np.mean((other.predict(padded(TEST)) - TRUTH) ** 2) < 3.0 * error + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["rbf", "matern32", "matern52", "laplacian", RBF(2.0)])
@pytest.mark.parametrize("n_refinements", [0, 3])
def test_kernels(kernel, n_refinements):
    model = RVMRegressor(
        kernel, length_scales=LengthScaleLearner("ard", n_refinements=n_refinements)
    ).fit(X, Y)
    assert model.score(TEST, TRUTH) > 0.8
    assert {0, 2} <= set(np.flatnonzero(model.feature_relevance_))


def test_parameters_of_kernel_objects():
    kernel = ConstantKernel(1.0, "fixed") * Matern([1.0] * P, nu=2.5)
    model = RVMRegressor(kernel, length_scales="kernel").fit(X, Y)
    length = model.atoms_.kernel.k2.length_scale
    assert max(length[[0, 2]]) < min(length[[1, 3]])
    assert model.model_kind_ == "kernel"
    np.testing.assert_array_equal(kernel.k2.length_scale, [1.0] * P)
    with pytest.raises(ValueError, match="got the name 'rbf'. Use length_scales=\"ard\""):
        RVMRegressor(length_scales="kernel").fit(X, Y)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [RVMRegressor, RVMClassifier])
@pytest.mark.parametrize(
    "options",
    [
        {"gamma": 0.5},
        {"gamma": "auto"},
        {"kernel": RBF(1.0)},
        {"kernel": "poly"},
        {"length_scales": None},
    ],
    ids=str,
)
def test_a_given_gamma_is_used(estimator, options):
    target = LABELS if estimator is RVMClassifier else Y
    model, plain = estimator(**options), estimator(**{**options, "length_scales": None})
    model.fit(X, target)
    plain.fit(X, target)
    assert not any(hasattr(model, name) for name in ("learnt_length_scales_", *EXPOSED))
    np.testing.assert_array_equal(model.predict(TEST), plain.predict(TEST))


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [SparseBayesRegressor, SparseBayesClassifier])
def test_other_estimators_learn_when_asked(estimator):
    target = LABELS if estimator is SparseBayesClassifier else Y
    assert not hasattr(estimator().fit(X, target), "length_scale_")
    assert hasattr(estimator(length_scales="ard").fit(X, target), "length_scale_")


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [RVMRegressor(length_scales="ard"), RVMClassifier(length_scales="ard")],
    ids=["targets", "labels"],
)
def test_refit_without_length_scales_deletes_their_attributes(model):
    target = LABELS if isinstance(model, RVMClassifier) else Y
    model.fit(X, target)
    assert all(hasattr(model, name) for name in ("learnt_length_scales_", *EXPOSED))
    model.set_params(length_scales=None).fit(X, target)
    assert not any(hasattr(model, name) for name in ("learnt_length_scales_", *EXPOSED))


def test_bases_without_length_scales_are_refused():
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    with pytest.raises(ValueError, match='got kernel="precomputed"'):
        RVMRegressor("precomputed", length_scales="ard").fit(K, Y)
    RVMRegressor("precomputed", noise_variance=0.01).fit(K, Y)  # "auto" leaves it
    with pytest.raises(ValueError, match="for kernels given by name and for kernel objects; got"):
        RVMRegressor(lambda A, B: A @ B.T, length_scales="ard").fit(X, Y)
    RVMRegressor(lambda A, B: A @ B.T).fit(X, Y)
    with pytest.raises(
        ValueError, match="length-scales can be learnt for exactly one KernelBasis; got 0"
    ):
        SparseBayesRegressor(LinearBasis(), length_scales="ard").fit(X, Y)
    two = KernelBasis() + KernelBasis("laplacian")
    with pytest.raises(
        ValueError, match="length-scales can be learnt for exactly one KernelBasis; got 2"
    ):
        SparseBayesRegressor(two, length_scales="ard").fit(X, Y)
    with pytest.raises(ValueError, match="only be learnt for covariance functions"):
        RVMRegressor("sigmoid", length_scales="ard").fit(X, Y)
    with pytest.raises((TypeError, ValueError), match="[Ss]parse"):
        RVMRegressor(length_scales="ard").fit(csr_array(X), Y)


@pytest.mark.parametrize(
    ("scales", "error", "message"),
    [
        ("arc", ValueError, "scales"),
        (True, TypeError, "scales must be one of"),
        (3.0, TypeError, "None or a LengthScaleLearner"),
        (LengthScaleLearner("none"), ValueError, "kind"),
        (LengthScaleLearner(scale_factor=-1.0), ValueError, "scale_factor"),
    ],
)
@pytest.mark.parametrize("estimator", [RVMRegressor, RVMClassifier])
def test_misspelt_length_scales(estimator, scales, error, message):
    with pytest.raises(error, match=message):
        estimator(length_scales=scales).fit(X, LABELS if estimator is RVMClassifier else Y)


@pytest.mark.slow
def test_several_outputs_share_length_scales():
    both = np.column_stack([Y, X[:, 3] + 0.1 * np.random.default_rng(1).normal(size=N)])
    model = RVMRegressor(length_scales="ard").fit(X, both)
    assert {0, 2, 3} <= set(np.flatnonzero(model.feature_relevance_))
    assert model.length_scale_.shape == (P,)
    mean, std = model.predict(TEST, return_std=True)
    assert mean.shape == std.shape == (200, 2)
    assert np.mean((mean[:, 0] - TRUTH) ** 2) < 0.1
    assert np.mean((mean[:, 1] - TEST[:, 3]) ** 2) < 0.1


@pytest.mark.slow
def test_a_constant_output_does_not_stop_the_refinement():
    scales = LengthScaleLearner("ard", n_refinements=3)
    alone = RVMRegressor(length_scales=scales).fit(X, Y)
    for other in (np.ones(N), np.random.default_rng(0).normal(size=N)):
        model = RVMRegressor(length_scales=scales).fit(X, np.column_stack([Y, other]))
        assert np.isnan(
            model.feature_relevance_path_objective_
        ).any()  # a step of the sparse evidence
        assert np.mean((model.predict(TEST)[:, 0] - TRUTH) ** 2) < 0.05
    assert np.isnan(alone.feature_relevance_path_objective_).any()


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        RVMRegressor(length_scales="ard", error_bars="plain"),
        RVMRegressor(error_bars="plain"),
        RVMRegressor(length_scales=LengthScaleLearner("ard", n_refinements=3), error_bars="plain"),
        RVMClassifier(error_bars="plain"),
        SparseBayesRegressor(
            KernelBasis() + LinearBasis(), length_scales="ard", error_bars="plain"
        ),
    ],
    ids=["ard", "auto", "refined", "labels", "sum"],
)
def test_weights_are_copies(model):
    labels = isinstance(model, RVMClassifier)
    # of labels, rounding decides at seed 2 between two local maxima
    rng = np.random.default_rng(5 if labels else 2)
    counts = rng.choice([0, 1, 2], p=[0.2, 0.6, 0.2], size=N)
    rows = np.repeat(np.arange(N), counts)
    target = LABELS if labels else Y
    weighted = clone(model).fit(X, target, sample_weight=counts)
    copies = clone(model).fit(X[rows], target[rows])
    rtol = 1e-2 if getattr(model.length_scales, "n_refinements", 0) else 1e-9
    np.testing.assert_allclose(weighted.length_scale_, copies.length_scale_, rtol=rtol, atol=1e-12)
    ask = "predict_proba" if labels else "predict"
    np.testing.assert_allclose(
        getattr(weighted, ask)(TEST), getattr(copies, ask)(TEST), rtol=1e-3, atol=1e-3
    )


@pytest.mark.slow
def test_sums_of_bases_keep_their_lines():
    target = np.sin(2.0 * X[:, 0]) + 3.0 * X[:, 1] + 0.05 * np.random.default_rng(3).normal(size=N)
    model = SparseBayesRegressor(LinearBasis() + KernelBasis(), length_scales="ard").fit(X, target)
    assert any(name == "x1" for name in model.atom_names())
    assert model.feature_relevance_[0] == model.feature_relevance_.max()
    assert model.feature_relevance_[1] < 0.1 * model.feature_relevance_[0]
    refined = SparseBayesRegressor(
        LinearBasis() + KernelBasis(), length_scales=LengthScaleLearner("ard", n_refinements=3)
    ).fit(X, target)
    wanted = np.sin(2.0 * TEST[:, 0]) + 3.0 * TEST[:, 1]
    for each in (model, refined):
        assert each.score(TEST, wanted) > 0.99


@pytest.mark.slow
def test_refinement_raises_the_objective():
    rough = RVMRegressor(length_scales="ard").fit(X, Y)
    fine = RVMRegressor(length_scales=LengthScaleLearner("ard", n_refinements=3)).fit(X, Y)
    assert fine.objective_ > rough.objective_
    assert len(fine.feature_relevance_path_) > len(rough.feature_relevance_path_)


def test_many_rows_decide_on_a_choice_of_them():
    rng = np.random.default_rng(5)
    inputs = rng.normal(size=(1200, 2))
    truth = np.sin(1.5 * inputs[:, 0])
    few = {
        "centers": 40,
        "random_state": 0,
        "length_scales": LengthScaleLearner("auto", max_rows=60),
    }
    model = RVMRegressor(effort="fast", **few).fit(inputs, truth + 0.1 * rng.normal(size=1200))
    assert model.score(inputs, truth) > 0.98
    labels = RVMClassifier(**few).fit(inputs, truth + 0.3 * rng.normal(size=1200) > 0.0)
    assert labels.score(inputs, truth > 0.0) > 0.95
    for each in (model, labels):  # centres are rows of all, not of those that decided
        np.testing.assert_array_equal(each.relevance_vectors_, inputs[each.relevance_])


@pytest.mark.slow
def test_can_be_pickled_cloned_and_searched():
    model = RVMRegressor(length_scales=LengthScaleLearner("ard", max_rows=40)).fit(X, Y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(TEST), model.predict(TEST))
    np.testing.assert_array_equal(clone(model).fit(X, Y).predict(TEST), model.predict(TEST))
    search = GridSearchCV(
        RVMRegressor(length_scales=LengthScaleLearner("ard", max_rows=30)),
        {"length_scales__scale_factor": [0.5, 1.0]},
        cv=2,
    ).fit(X, Y)
    assert search.best_params_["length_scales__scale_factor"] in (0.5, 1.0)


def test_the_learner_is_not_changed_by_fit():
    learner = LengthScaleLearner("ard", max_rows=50)
    before = dict(vars(learner))
    RVMRegressor(length_scales=learner).fit(X, Y)
    assert vars(learner) == before


def test_warm_start_with_learnt_length_scales():
    model = RVMRegressor(length_scales="ard", warm_start=True).fit(X, Y)
    first = model.objective_
    model.fit(X, Y)
    assert model.objective_ == pytest.approx(first, abs=1e-3)


@pytest.mark.slow
def test_regressors_that_select_inherit_the_refinement():
    same = RVMRegressor(length_scales=LengthScaleLearner("auto", n_refinements=3), prior="ric").fit(
        X, Y
    )
    model = DRVMRegressor().fit(X, Y)
    np.testing.assert_allclose(model.length_scale_, same.length_scale_)
    np.testing.assert_allclose(model.predict(TEST), same.predict(TEST))


@pytest.mark.slow
def test_an_output_without_noise_does_not_dominate_the_others():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(100, 4))
    targets = np.column_stack(
        [np.sin(2.0 * inputs[:, 0]) + 0.1 * rng.normal(size=100), inputs[:, 1] ** 2]
    )
    for model in (RVMRegressor(), DRVMRegressor()):
        model.fit(inputs, targets)
        assert model.feature_relevance_[0] > 0.0
        assert model.feature_relevance_[1] > 0.0
        assert np.corrcoef(model.predict(inputs)[:, 0], targets[:, 0])[0, 1] > 0.95


@pytest.mark.slow
def test_the_choice_of_rows_does_not_depend_on_columns_or_units():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(700, 5))
    target = np.sin(2.0 * inputs[:, 0]) + inputs[:, 1] + 0.3 * rng.normal(size=700)
    model = RVMRegressor(length_scales="ard", centers=50, random_state=0).fit(inputs, target)
    other = RVMRegressor(length_scales="ard", centers=50, random_state=0).fit(
        inputs[:, ::-1] * 3.0, target
    )
    np.testing.assert_allclose(
        other.feature_relevance_[::-1], model.feature_relevance_, rtol=1e-4, atol=1e-8
    )
