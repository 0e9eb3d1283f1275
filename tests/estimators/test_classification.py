"""Classifiers: two classes and several, probabilities and decisions."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from scipy.special import logit, softmax
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from relvec import RVMClassifier, SparseBayesClassifier
from relvec.bases import KernelBasis, LinearBasis, PrecomputedBasis
from relvec.priors import GammaPrior, SmoothnessPrior
from tests.estimators import checks

FORMS = ("softmax", "shared", "one_vs_rest")


@pytest.mark.estimator_check
@parametrize_with_checks([RVMClassifier(), SparseBayesClassifier(LinearBasis(), low_memory=True)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.estimator_check
@checks.parametrize_with_checks_of_the_configuration(
    [
        RVMClassifier("precomputed"),
        RVMClassifier(multi_class="shared", prior="bic"),
        RVMClassifier(length_scales=None, multi_class="one_vs_rest", solver="exact"),
        SparseBayesClassifier(LinearBasis(), prior="aic"),
        SparseBayesClassifier(precision="tied", multi_class="one_vs_rest"),
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_check_of_the_configuration(estimator, check):
    checks.run(estimator, check)


def moons(n=200, seed=0):
    return make_moons(n, noise=0.25, random_state=seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("prior", ["flat", "bic"])
def test_two_classes(seed, prior):
    X, y = moons(seed=seed)
    model = RVMClassifier(gamma=2.0, prior=prior).fit(X, y)
    test, labels = moons(1000, seed=seed + 100)
    assert model.converged_
    assert (np.diff(model.trace_) > 0.0).all()
    assert len(model.relevance_) < 20
    assert model.score(test, labels) > 0.9
    assert log_loss(labels, model.predict_proba(test)) < 0.27
    np.testing.assert_allclose(model.relevance_vectors_, X[model.relevance_])


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_several_classes(form):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    train = np.arange(150) % 2 == 0
    model = RVMClassifier(gamma=0.2, multi_class=form).fit(X[train], names[train])
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]
    assert model.score(X[~train], names[~train]) > 0.92
    probability = model.predict_proba(X[~train])
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    plug_in = model.predict_proba(X[~train], marginalise=False)
    assert plug_in.max(axis=1).mean() > probability.max(axis=1).mean()
    odds, std = model.decision_function(X[~train], return_std=True)
    assert odds.shape == std.shape == probability.shape
    assert (std > 0.0).all()
    assert model.coef_.shape == (3, len(model.relevance_))
    assert model.trace_[-1] == pytest.approx(model.objective_)
    assert (np.diff(model.trace_) > 0.0).all()


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1]])
def test_labels_of_any_kind(labels):
    X, y = moons()
    model = RVMClassifier(gamma=2.0).fit(X, np.array(labels)[y])
    plain = RVMClassifier(gamma=2.0).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert set(model.predict(X)) == set(labels)


def test_hard_cases_converge():
    X, y = make_blobs(60, centers=2, cluster_std=0.3, random_state=0)
    one = np.zeros(60)
    one[7] = 1.0
    cases = [(X, y), (X, one), (np.repeat(X, 3, axis=0), np.repeat(y, 3)), (X[:4], [0, 1, 0, 1])]
    for inputs, labels in cases:
        model = RVMClassifier(gamma=1.0).fit(inputs, labels)
        assert model.converged_
        assert np.isfinite(model.predict_proba(inputs)).all()


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_of_columns_do_not_matter(scale):
    X, y = moons()
    plain = SparseBayesClassifier(PrecomputedBasis()).fit(X, y)
    scaled = SparseBayesClassifier(PrecomputedBasis()).fit(X * [1.0, scale], y)
    assert scaled.objective_ == pytest.approx(plain.objective_, abs=1e-3)


def test_weights_count_rows():
    X, y = moons(80)
    counts = np.random.default_rng(0).integers(0, 4, 80)
    options = {"gamma": 2.0, "error_bars": "plain"}
    weighted = RVMClassifier(**options).fit(X, y, sample_weight=counts)
    repeated = RVMClassifier(**options).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert weighted.objective_ == pytest.approx(repeated.objective_, abs=1e-6)
    balanced = RVMClassifier(gamma=2.0, class_weight="balanced").fit(
        X[y * np.arange(80) % 3 < 2], y[y * np.arange(80) % 3 < 2]
    )
    assert balanced.converged_


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logits_are_uncertain_far_from_the_data(n_classes):
    X, y = moons()
    if n_classes == 3:
        y = y + (X[:, 0] > 1.2)
    far = [[40.0, 40.0]]
    options = {"gamma": 2.0, "fit_intercept": True}
    novel = RVMClassifier(**options).fit(X, y)
    plain = RVMClassifier(**options, error_bars="plain").fit(X, y)
    assert np.all(novel.decision_function(far, return_std=True)[1] > 1.0)
    even = 1.0 / n_classes
    distance = np.abs(novel.predict_proba(far) - even).max()
    assert distance < np.abs(plain.predict_proba(far) - even).max()
    np.testing.assert_allclose(novel.predict_proba(X), plain.predict_proba(X), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_probabilities_far_away_are_the_class_prior(form):
    X, y = load_iris(return_X_y=True)
    X, y = np.vstack([X, X[y == 2]]), np.append(y, y[y == 2])
    model = RVMClassifier(gamma=0.2, multi_class=form, error_bars="plain").fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[99.0] * 4])[0], [0.25, 0.25, 0.5], rtol=1e-6)
    fitted = RVMClassifier(gamma=0.2, multi_class=form, fit_intercept=True).fit(X, y)
    assert not np.allclose(fitted.intercept_, model.intercept_)
    assert fitted.score(X, y) > 0.95
    assert model.score(X, y) > 0.95


def test_decisions_of_least_loss():
    X, y = moons()
    model = RVMClassifier(gamma=2.0).fit(X, y)
    even = model.decide(X, [[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_array_equal(even.labels, model.predict(X))
    np.testing.assert_allclose(even.expected_loss, model.predict_proba(X).min(axis=1))
    wary = model.decide(X, [[0.0, 1.0], [20.0, 0.0]], reject_cost=0.3)
    assert (wary.labels == 1).sum() > (even.labels == 1).sum()
    assert (wary.expected_loss <= 0.3).all()
    assert wary.is_rejected.any()
    with pytest.raises(ValueError, match="true classes in rows and decisions in columns"):
        model.decide(X, [[0.0, 1.0]])
    with pytest.raises(ValueError, match="cost_matrix must contain numbers"):
        model.decide(X, [["a", "b"], ["c", "d"]])


def test_models_are_small_and_pickled():
    X, y = moons(300)
    model = RVMClassifier(gamma=2.0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert len(pickle.dumps(model)) < 40_000
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"multi_class": "sofmax"}, "Did you mean 'softmax'"),
        ({"error_bars": "none"}, "error_bars"),
        ({"penalty_curvature": "b"}, "penalty_curvature"),
        ({"largest_logit": 0.0}, "largest_logit"),
        ({"min_gain": -1.0}, "min_gain"),
        ({"solver": "exakt"}, "Did you mean 'exact'"),
        ({"prior": GammaPrior(1e-3, 1e-3), "solver": "sequential"}, "infinite precision"),
    ],
)
def test_bad_options(options, message):
    X, y = moons(40)
    with pytest.raises(ValueError, match=message):
        RVMClassifier(**options).fit(X, y)


def test_one_class_and_no_fit():
    X, _ = moons(40)
    with pytest.raises(ValueError, match="only one class"):
        RVMClassifier().fit(X, np.zeros(40))
    with pytest.raises(NotFittedError):
        RVMClassifier().predict(X)


@pytest.mark.parametrize("gamma", [1e-4, 1e-3, 1e-2, 0.1])
def test_wide_kernels_are_used(gamma):
    """Nearly constant kernels need a free intercept, which "auto" gives them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    y = X[:, 0] - X[:, 1] + 0.5 * rng.logistic(size=200) > 0.5
    model = RVMClassifier(gamma=gamma).fit(X, y)
    assert 0 < len(model.relevance_) < 30
    assert model.score(X, y) > 0.8


def by_hand(model, X):
    """Posterior of the weights of a softmax, dense: mean and covariance of all logits."""
    n_classes, active = len(model.classes_), model.relevance_
    atoms = rbf_kernel(X, X[active], gamma=model.gamma)
    precision = model.weight_precision_
    pairs = [
        (k, i) for k in range(n_classes) for i in range(len(active)) if precision[k, i] < 1e300
    ]
    logits = atoms @ model.coef_.T + model.intercept_
    y = softmax(logits, axis=1)
    hessian = np.diag([precision[pair] for pair in pairs])
    for a, (k, i) in enumerate(pairs):
        for b, (m, j) in enumerate(pairs):
            curvature = y[:, k] * ((k == m) - y[:, m])
            hessian[a, b] += atoms[:, i] @ (curvature * atoms[:, j])
    return pairs, np.linalg.inv(hessian)


def compute_novelty_fraction(model, X):
    return model.class_model_.models[0].novelty.share(X)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["softmax", "shared"])
def test_several_classes_against_dense_algebra(form):
    X, y = moons(90)
    y = y + (X[:, 0] > 1.2)
    model = RVMClassifier(gamma=4.0, multi_class=form, error_bars="plain").fit(X, y)
    pairs, covariance = by_hand(model, X)
    new = moons(20, seed=1)[0]
    atoms = rbf_kernel(new, X[model.relevance_], gamma=4.0)
    rows = np.zeros((20, 3, len(pairs)))
    for a, (k, i) in enumerate(pairs):
        rows[:, k, a] = atoms[:, i]
    joint = np.einsum("nka,ab,nlb->nkl", rows, covariance, rows)
    std = model.decision_function(new, return_std=True)[1]
    np.testing.assert_allclose(std, np.sqrt(np.einsum("nkk->nk", joint)), rtol=2e-3)
    mean = atoms @ model.coef_.T + model.intercept_
    # probabilities are averages over another Gaussian, see tests of `find_nearest_gaussian`
    (binary,) = model.class_model_.models
    factor = binary.variational_posterior.factor / binary.variational_posterior.scale[:, None]
    joint = np.einsum("nka,ab,nlb->nkl", rows, np.linalg.inv(factor @ factor.T), rows)
    logits = rows @ binary.variational_posterior.weights + binary.fixed_intercept
    rng = np.random.default_rng(0)
    draws = [rng.multivariate_normal(m, c, size=20_000) for m, c in zip(logits, joint, strict=True)]
    expected = [softmax(draw, axis=1).mean(axis=0) for draw in draws]
    np.testing.assert_allclose(model.predict_proba(new), expected, atol=0.012)
    np.testing.assert_allclose(
        model.predict_proba(new, marginalise=False), softmax(mean, axis=1), rtol=1e-6
    )
    # far away probabilities are the class prior, and logits are uncertain
    novel = RVMClassifier(gamma=4.0, multi_class=form).fit(X, y)
    kept = 1.0 - compute_novelty_fraction(novel, new) ** 8
    mixed = kept[:, None] * model.predict_proba(new) + (1.0 - kept[:, None]) * np.bincount(y) / 90
    np.testing.assert_allclose(novel.predict_proba(new), mixed, rtol=1e-9)
    far = [[30.0, 30.0]]
    np.testing.assert_allclose(novel.predict_proba(far)[0], np.bincount(y) / 90, rtol=1e-6)
    assert (novel.decision_function(far, return_std=True)[1] > std.mean()).all()


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_logarithms_of_probabilities(form):
    X, y = make_blobs(90, centers=3, cluster_std=0.2, random_state=0)
    model = RVMClassifier(gamma=0.1, multi_class=form).fit(X, y)
    for marginalise in (True, False):
        np.testing.assert_allclose(
            model.predict_log_proba(X, marginalise=marginalise),
            np.log(model.predict_proba(X, marginalise=marginalise)),
            rtol=1e-6,
        )
    assert not np.allclose(
        model.predict_log_proba(X), model.predict_log_proba(X, marginalise=False)
    )
    two = RVMClassifier("linear").fit(X[y < 2], y[y < 2])
    there = X[y < 2][:1] * 1000.0 - 999.0 * X[y < 2].mean(axis=0)
    odds = two.decision_function(there, marginalise=False)[0]
    assert abs(odds) > 100.0
    logs = two.predict_log_proba(there, marginalise=False)[0]
    assert logs.min() == pytest.approx(-abs(odds), rel=1e-9)


def test_one_vs_rest_fits_a_binary_model_for_each_class():
    X, y = load_iris(return_X_y=True)
    options = {"gamma": 0.2, "error_bars": "plain"}
    model = RVMClassifier(multi_class="one_vs_rest", **options).fit(X, y)
    each = [RVMClassifier(**options).fit(X, y == k) for k in range(3)]
    assert model.log_evidence_ == pytest.approx(sum(one.log_evidence_ for one in each))
    assert model.objective_ == pytest.approx(sum(one.objective_ for one in each))
    odds, std = model.decision_function(X, return_std=True, marginalise=False)
    for k, one in enumerate(each):
        alone, alone_std = one.decision_function(X, return_std=True, marginalise=False)
        np.testing.assert_allclose(odds[:, k], alone, rtol=1e-8)
        np.testing.assert_allclose(std[:, k], alone_std, rtol=1e-8)
    alone = np.column_stack([one.predict_proba(X)[:, 1] for one in each])
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability, alone / alone.sum(axis=1, keepdims=True), rtol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), logit(probability), rtol=1e-6)


def test_penalty_of_shared_atoms_is_counted_once():
    X, y = load_iris(return_X_y=True)
    options = {"gamma": 0.2, "multi_class": "shared"}
    model = RVMClassifier(min_gain=0.5, **options).fit(X, y)
    paid = model.log_evidence_ - model.objective_
    assert paid == pytest.approx(0.5 * len(model.relevance_))
    own = RVMClassifier(gamma=0.2, min_gain=0.5).fit(X, y)
    used = np.isfinite(own.weight_precision_).sum()
    assert own.log_evidence_ - own.objective_ == pytest.approx(0.5 * used)


@pytest.mark.slow
def test_rows_of_no_weight_lend_no_atoms():
    X, y = moons(120)
    weight = (np.arange(120) % 3 > 0).astype(float)
    for form in FORMS:
        model = RVMClassifier(gamma=2.0, multi_class=form)
        model.fit(X, y + (X[:, 0] > 1.2), sample_weight=weight)
        assert (weight[model.relevance_] > 0.0).all()


def test_weights_of_classes():
    X, y = moons(120)
    counts = np.random.default_rng(0).integers(0, 3, 120)
    options = {"gamma": 2.0, "class_weight": "balanced"}
    weighted = RVMClassifier(**options).fit(X, y, sample_weight=counts)
    repeated = RVMClassifier(**options).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert weighted.objective_ == pytest.approx(repeated.objective_, abs=1e-6)
    by_hand = RVMClassifier(gamma=2.0).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    by_class = RVMClassifier(gamma=2.0, class_weight={1: 3.0}).fit(X, y)
    assert by_class.objective_ == pytest.approx(by_hand.objective_, abs=1e-9)
    rare = RVMClassifier(gamma=2.0).fit(X, y, sample_weight=np.full(120, 1e-3))
    share = np.average(y)
    assert rare.predict_proba([[60.0, 60.0]])[0, 1] == pytest.approx(share, abs=1e-6)
    for bad in ({0: np.nan}, {0: -1.0}, {0: np.inf}):
        with pytest.raises(ValueError, match="class_weight must contain finite"):
            RVMClassifier(class_weight=bad).fit(X, y)
    with pytest.raises(ValueError, match="Give at least one row a positive weight"):
        RVMClassifier(class_weight={0: 0.0, 1: 0.0}).fit(X, y)


def test_inputs_too_large_for_a_length_scale():
    X, y = moons(40)
    with pytest.raises(ValueError, match="leave the range of floating-point numbers"):
        RVMClassifier().fit(X * 1e160, y)


@pytest.mark.slow
def test_learning_by_heart_is_said():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    with pytest.warns(ConvergenceWarning, match=r"kept \d+ of 178 kernels"):
        RVMClassifier(gamma=10.0).fit(X, y)


@pytest.mark.parametrize("gamma", [0.001, 0.1, 1.0, 10.0])
def test_doubt_grows_far_away_in_many_dimensions(gamma):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 20))
    y = X[:, 0] + 0.5 * rng.logistic(size=200) > 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RVMClassifier(gamma=gamma).fit(X, y)
    new = rng.normal(size=(100, 20))
    near = model.decision_function(new, return_std=True)[1]
    far = model.decision_function(100.0 * new, return_std=True)[1]
    spread = np.std(model.decision_function(X, marginalise=False))
    assert model.intercept_is_fitted_ == (gamma < 0.1)
    if spread > 0.0:
        assert (far > 0.9 * spread).all()
        assert np.median(near) < spread


@pytest.mark.slow
def test_no_failed_approximation_for_separable_classes():
    """A fold in which two atoms, with probabilities of 0 or 1, had a log evidence of +5.8."""
    X, y = load_iris(return_X_y=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    train, test = list(folds)[3]
    model = RVMClassifier().fit(X[train], y[train])
    assert model.converged_
    assert model.log_evidence_ < 0.0
    assert model.score(X[train], y[train]) > 0.9
    assert model.score(X[test], y[test]) > 0.9
    assert log_loss(y[test], model.predict_proba(X[test])) < 0.35


def test_probabilities_do_not_depend_on_the_size_of_blocks():
    X, y = load_iris(return_X_y=True)
    joint = RVMClassifier(gamma=0.3, multi_class="softmax").fit(X, y).class_model_.models[0]
    whole = joint.predict(X).mean
    for entries in (1, 20_000):  # one row, then a few, at a time
        parts = joint.predict(X, block_entries=entries).mean
        np.testing.assert_allclose(parts, whole, rtol=1e-12)
    assert joint.predict(X[:0]).mean.shape == (0, 3)


@pytest.mark.slow
@pytest.mark.parametrize("multi_class", FORMS)
def test_penalties_of_groups_of_atoms(multi_class):
    X, y = make_blobs(90, centers=3, cluster_std=1.5, random_state=0)

    def fitted(prior):
        basis = LinearBasis() + KernelBasis("rbf", gamma=0.2)
        return SparseBayesClassifier(basis, prior=prior, multi_class=multi_class).fit(X, y)

    equal, plain = fitted(SmoothnessPrior([1.0, 1.0], by="part")), fitted(SmoothnessPrior(1.0))
    np.testing.assert_array_equal(equal.relevance_, plain.relevance_)
    assert equal.objective_ == pytest.approx(plain.objective_, abs=1e-9)
    dear_kernels = fitted(SmoothnessPrior([0.0, 5.0], by="part"))
    assert {0, 1} <= set(dear_kernels.relevance_)
    assert np.count_nonzero(dear_kernels.relevance_ > 1) <= np.count_nonzero(equal.relevance_ > 1)
    assert len(dear_kernels.relevance_) <= 3
