"""Fits of labels converge, without exception: the objective never falls, and ends where it must."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics.pairwise import rbf_kernel

from relvec import RVMClassifier, SparseBayesClassifier
from relvec.bases import KernelBasis, LinearBasis, PrecomputedBasis
from relvec.datasets import make_snake
from relvec.laplace import find_mode
from relvec.likelihoods import Bernoulli

SNAKES = {
    "narrow": (100, KernelBasis(gamma=4.0)),
    "wide": (200, KernelBasis(gamma=1.0)),
    "four widths": (120, sum((KernelBasis(gamma=g) for g in (4, 1, 0.25)), KernelBasis(gamma=16))),
}


@pytest.fixture(autouse=True)
def without_warnings():
    """A warning of any kind is a failure, but that kernels are too narrow where they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*the model overfits")
        yield


def check_converged(model, X):
    assert model.converged_
    assert (np.diff(model.trace_) > 0.0).all()
    assert model.trace_[-1] == pytest.approx(model.objective_, abs=1e-9)
    probability = model.predict_proba(X)
    assert np.isfinite(probability).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["flat", "aic"])
@pytest.mark.parametrize("snake", SNAKES)
def test_twenty_snakes(snake, prior):
    n_samples, basis = SNAKES[snake]
    entropies = []
    for seed in range(20):
        X, y, truth = make_snake(n_samples, random_state=seed, return_truth=True)
        model = SparseBayesClassifier(basis, prior=prior).fit(X, y)
        check_converged(model, X)
        new, _ = truth.sample(1000, random_state=seed + 1000)
        p, q = truth.probability(new), model.predict_proba(new)[:, 1]
        entropies.append(-np.mean(p * np.log(q) + (1.0 - p) * np.log(1.0 - q)))
    # guessing costs log(2) = .69; the best that can be done is .263
    limit = {"narrow": 0.41, "wide": 0.34, "four widths": 0.39}[snake]
    assert np.mean(entropies) < limit + 0.03 * (prior == "aic")


def separable():
    return make_blobs(60, centers=[(-2.0, 0.0), (2.0, 0.0)], cluster_std=0.3, random_state=0)


def one_positive():
    X, _ = separable()
    return X, (np.arange(60) == 7).astype(int)


def repeated_rows():
    X, y = make_moons(40, noise=0.3, random_state=1)
    return np.repeat(X, 4, axis=0), np.repeat(y, 4)


def contradicting_rows():
    X, y = make_moons(40, noise=0.3, random_state=1)
    return np.vstack([X, X]), np.append(y, 1 - y)


def random_labels():
    rng = np.random.default_rng(0)
    return rng.normal(size=(80, 3)), rng.integers(0, 2, 80)


def four_rows():
    return np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])


CASES = (separable, one_positive, repeated_rows, contradicting_rows, random_labels, four_rows)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["sequential", "exact"])
@pytest.mark.parametrize("prior", ["flat", "aic", "ric"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_hard_cases(case, prior, solver):
    X, y = case()
    for gamma in (0.01, 1.0, 100.0):
        check_converged(RVMClassifier(gamma=gamma, prior=prior, solver=solver).fit(X, y), X)
    check_converged(SparseBayesClassifier(LinearBasis(), prior=prior, solver=solver).fit(X, y), X)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["softmax", "shared", "one_vs_rest"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_hard_cases_with_a_third_class(case, form):
    X, y = case()
    X, y = np.vstack([X, X[:2] + 5.0]), np.append(y, [2, 2])
    for gamma in (0.01, 1.0, 100.0):
        check_converged(RVMClassifier(gamma=gamma, multi_class=form).fit(X, y), X)


@pytest.mark.parametrize("form", ["softmax", "shared", "one_vs_rest"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_copies_of_columns_change_nothing(n_classes, form):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(90, 6))
    y = np.digitize(X[:, 0] - X[:, 1] + rng.logistic(size=90), [0.0, 2.0][: n_classes - 1])
    options = {"min_gain": 0.1, "multi_class": form}
    once = SparseBayesClassifier(PrecomputedBasis(), **options).fit(X, y)
    thrice = SparseBayesClassifier(PrecomputedBasis(), **options).fit(np.hstack([X, X, X]), y)
    check_converged(thrice, np.hstack([X, X, X]))
    assert thrice.objective_ == pytest.approx(once.objective_, abs=2e-3)
    # different classes may use different copies
    np.testing.assert_array_equal(np.unique(thrice.relevance_ % 6), once.relevance_)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("form", ["softmax", "shared", "one_vs_rest"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_units_of_columns_do_not_matter(n_classes, form, scale):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 6))
    y = np.digitize(X[:, 0] - X[:, 1] + rng.logistic(size=90), [0.0, 2.0][: n_classes - 1])
    options = {"min_gain": 0.1, "multi_class": form}
    plain = SparseBayesClassifier(PrecomputedBasis(), **options).fit(X, y)
    scaled = SparseBayesClassifier(PrecomputedBasis(), **options).fit(X * scale, y)
    check_converged(scaled, X * scale)
    assert scaled.objective_ == pytest.approx(plain.objective_, abs=1e-6)
    np.testing.assert_allclose(
        scaled.predict_proba(X * scale), plain.predict_proba(X), rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize("seed", range(5))
def test_exact_end_is_a_maximum(seed):
    """Neither a small change of a precision nor a weak new atom raises the evidence."""
    X, y = make_snake(80, random_state=seed)
    model = RVMClassifier(gamma=1.0, solver="exact").fit(X, y)
    labels = Bernoulli().bind(y, offset=model.intercept_[0])
    atoms = rbf_kernel(X, gamma=1.0)
    active, log_precision = model.relevance_, np.log(model.weight_precision_[0])

    def evidence(index, values):
        mode = find_mode(atoms[:, index], values, labels, has_intercept=False, tol=1e-14)
        return mode.log_evidence

    best = evidence(active, log_precision)
    assert best == pytest.approx(model.log_evidence_, abs=1e-4)
    slopes = []
    for place in range(len(active)):
        step = np.zeros(len(active))
        step[place] = 1e-2
        up, down = (evidence(active, log_precision + sign * step) for sign in (1, -1))
        slopes.append((up - down) / 2e-2)
    inner = np.sqrt((atoms[:, active] ** 2).mean(axis=0) / model.weight_precision_[0]) < 99.0
    assert np.abs(slopes)[inner].max() < 2e-3
    assert np.abs(slopes)[inner].max() == pytest.approx(model.class_model_.certificate[0], abs=2e-3)
    least = 1e-3  # what counts as a gain
    for atom in np.setdiff1d(np.arange(80), active)[::7]:
        entered = evidence(np.append(active, atom), np.append(log_precision, np.log(1e4)))
        assert entered - best < least


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["sequential", "exact"])
def test_logits_are_bounded(solver):
    for seed in range(8):
        X, y = make_snake(80, random_state=seed)
        for largest in (5.0, 100.0):
            model = RVMClassifier(gamma=4.0, solver=solver, largest_logit=largest).fit(X, y)
            atoms = rbf_kernel(X, model.relevance_vectors_, gamma=4.0)
            spread = np.sqrt((atoms**2).mean(axis=0) / model.weight_precision_[0])
            assert spread.max() < largest * (1.0 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["softmax", "shared", "one_vs_rest"])
def test_order_of_rows_and_classes_does_not_matter(form):
    X, y = make_snake(300, random_state=5)
    y = y + (X[:, 0] > 1.0)
    rng = np.random.default_rng(0)
    order, names = rng.permutation(300), np.array([2, 0, 1])
    options = {"gamma": 2.0, "multi_class": form}
    model = RVMClassifier(**options).fit(X, y)
    new = rng.normal(size=(50, 2)) * [2.0, 1.0]
    shuffled = RVMClassifier(**options).fit(X[order], y[order])
    np.testing.assert_allclose(shuffled.predict_proba(new), model.predict_proba(new), atol=1e-5)
    renamed = RVMClassifier(**options).fit(X, names[y])
    np.testing.assert_allclose(
        renamed.predict_proba(new)[:, names], model.predict_proba(new), atol=1e-5
    )
    np.testing.assert_allclose(
        shuffled.decision_function(new, return_std=True)[1],
        model.decision_function(new, return_std=True)[1],
        rtol=1e-4,
    )


@pytest.mark.slow
@pytest.mark.parametrize("shift", [1e3, 1e6, 1e8])
@pytest.mark.parametrize("form", ["softmax", "shared", "one_vs_rest"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_far_from_zero(n_classes, form, shift):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 4))
    y = np.digitize(X[:, 0] - X[:, 1] + rng.logistic(size=90), [0.0, 2.0][: n_classes - 1])
    options = {"min_gain": 0.1, "multi_class": form}
    here = SparseBayesClassifier(LinearBasis(), **options).fit(X, y)
    there = SparseBayesClassifier(LinearBasis(), **options).fit(X + shift, y)
    assert there.objective_ == pytest.approx(here.objective_, abs=1e-4)
    # averages over weights are found by steps that end at a tolerance
    np.testing.assert_allclose(there.predict_proba(X + shift), here.predict_proba(X), atol=1e-4)
