"""What other packages get wrong in classification, and what their users ask for.

Sources as in `test_peer_failures`: their issue trackers, and trying them.
"""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVMClassifier, SparseBayesClassifier
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis, PrecomputedBasis
from relvec.datasets import make_ripley_mixture
from relvec.priors import GammaPrior
from relvec.published import LaplaceFixedPointSolver
from relvec.solvers import LaplaceSolver

FORMS = ("softmax", "shared", "one_vs_rest")


def moons(n=150, seed=0):
    return make_moons(n, noise=0.25, random_state=seed)


def three_classes():
    X, y = load_iris(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


# ------------------------------------------------------------------ kernels


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_precomputed_kernel_predicts_what_the_kernel_does(form):
    """fastrvm can fit a precomputed kernel but never predict."""
    X, y, new, _ = three_classes()
    options = {"multi_class": form, "error_bars": "plain", "fit_intercept": True}
    for kernel in (rbf_kernel, laplacian_kernel):
        by_matrix = RVMClassifier("precomputed", **options).fit(kernel(X, gamma=0.2), y)
        by_kernel = RVMClassifier(lambda A, B, k=kernel: k(A, B, gamma=0.2), **options).fit(X, y)
        np.testing.assert_array_equal(by_matrix.relevance_, by_kernel.relevance_)
        np.testing.assert_allclose(
            by_matrix.predict_proba(kernel(new, X, gamma=0.2)),
            by_kernel.predict_proba(new),
            rtol=1e-5,
            atol=1e-9,
        )


def test_integer_gamma():
    """fastrvm refuses gamma=1 with a bare AssertionError."""
    X, y = moons()
    whole, real = RVMClassifier(gamma=1).fit(X, y), RVMClassifier(gamma=1.0).fit(X, y)
    np.testing.assert_array_equal(whole.predict_proba(X), real.predict_proba(X))


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel", ["linear", "poly", "sigmoid", "laplacian", RBF(0.5), Matern(1.0), rbf_kernel]
)
def test_every_kind_of_kernel(kernel):
    """Function kernels fail in fastrvm and sklearn-rvm."""
    X, y = moons()
    model = RVMClassifier(kernel).fit(X, y)
    assert model.converged_
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize(
    ("model", "shift"),
    [(RVMClassifier("linear"), 10.0), (SparseBayesClassifier(LinearBasis()), 1e6)],
)
def test_linear_models_have_an_intercept(model, shift):
    """fastrvm and others have none by default."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) + shift
    y = X[:, 0] + 0.3 * rng.logistic(size=200) > shift + 1.0
    assert model.fit(X, y).score(X, y) > 0.85
    assert np.mean(model.predict(X)) == pytest.approx(np.mean(y), abs=0.05)


# ------------------------------------------------------------------ probabilities


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_several_classes_have_probabilities(form):
    """scikit-rvm raises an AttributeError here, since 2016."""
    X, y, new, labels = three_classes()
    model = RVMClassifier(gamma=0.2, multi_class=form).fit(X, y)
    probability = model.predict_proba(new)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(new), model.classes_[probability.argmax(axis=1)])
    np.testing.assert_allclose(model.predict_log_proba(new), np.log(probability))
    assert log_loss(labels, probability) < 0.35


def test_no_class_is_ignored():
    """In sklearn-bayes the posterior of a classifier ignores one class (its issue 18)."""
    X, y = moons(300)
    model = RVMClassifier(gamma=2.0).fit(X, y)
    mirrored = RVMClassifier(gamma=2.0).fit(X, 1 - y)
    np.testing.assert_allclose(
        mirrored.predict_proba(X)[:, ::-1], model.predict_proba(X), rtol=1e-6, atol=1e-9
    )


def test_ripley_errors_are_those_of_others():
    """sklearn-bayes errs on 14.5 % of Ripley's test set where the rest err on 9.6 %."""
    errors = []
    for seed in range(5):
        X, y, truth = make_ripley_mixture(250, random_state=seed, return_truth=True)
        model = RVMClassifier(gamma=4.0).fit(X, y)
        assert len(model.relevance_) < 10
        errors.append(1.0 - model.score(*truth.sample(2000, random_state=seed + 100)))
    assert np.mean(errors) < 0.105  # at best .089


def test_probabilities_average_over_the_weights():
    """fastrvm, sklearn-rvm and scikit-rvm give those of the most probable weights."""
    X, y = moons(60)
    model = RVMClassifier(gamma=4.0, error_bars="plain").fit(X, y)
    mean, std = model.decision_function(X, return_std=True, marginalise=False)
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    exact = expit(mean[:, None] + std[:, None] * points) @ weights / weights.sum()
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], exact, atol=0.02)
    plug_in = model.predict_proba(X, marginalise=False)[:, 1]
    np.testing.assert_allclose(plug_in, expit(mean), rtol=1e-9)
    assert np.abs(plug_in - 0.5).mean() > np.abs(exact - 0.5).mean()


@pytest.mark.slow
def test_softmax_is_one_model_and_not_logits_of_several():
    """fastrvm takes the softmax of binary models that were fitted independently."""
    X, y, new, labels = three_classes()
    together = RVMClassifier(gamma=0.2, fit_intercept=True).fit(X, y)
    logits = np.column_stack(
        [
            RVMClassifier(gamma=0.2, fit_intercept=True)
            .fit(X, y == k)
            .decision_function(new, marginalise=False)
            for k in range(3)
        ]
    )
    apart = softmax(logits, axis=1)
    assert log_loss(labels, together.predict_proba(new, marginalise=False)) < log_loss(
        labels, apart
    )


# ------------------------------------------------------------------ conduct


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_refitting_and_subsets_change_nothing(form):
    """sklearn-rvm, scikit-rvm and sklearn-bayes answer differently the second time."""
    X, y, new, _ = three_classes()
    model = RVMClassifier(gamma=0.2, multi_class=form).fit(X, y)
    first = model.predict_proba(new)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(new), first)
    np.testing.assert_allclose(
        np.vstack([model.predict_proba(row[None]) for row in new[:5]]), first[:5], rtol=1e-10
    )


def test_unequal_classes():
    """scikit-rvm needed equal numbers (its issue 5)."""
    X, y = moons(200)
    kept = (y == 0) | (np.arange(200) % 12 == 0)
    model = RVMClassifier(gamma=2.0).fit(X[kept], y[kept])
    share = y[kept].mean()
    assert model.predict_proba(X[kept])[:, 1].mean() == pytest.approx(share, abs=0.05)
    far = model.predict_proba([[50.0, 50.0]])[0, 1]
    assert far == pytest.approx(share, rel=0.05)


def test_unrelated_labels_give_the_class_prior():
    """ "0 samples" is what sklearn-rvm and scikit-rvm say when all atoms are pruned."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 4 == 0
    model = SparseBayesClassifier(LinearBasis(), min_gain=50.0).fit(X, y)
    assert model.coef_.shape == (1, 0)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.25, atol=0.02)
    kernels = RVMClassifier(min_gain=50.0).fit(X, y)
    np.testing.assert_allclose(kernels.predict_proba(X)[:, 1], 0.25, rtol=1e-9)


def test_coefficients_belong_to_the_vectors():
    """In sklearn-rvm the coefficients include the bias, and the vectors do not (its issue 25)."""
    X, y = moons()
    model = RVMClassifier(gamma=2.0, fit_intercept=True).fit(X, y)
    by_hand = rbf_kernel(X, model.relevance_vectors_, gamma=2.0) @ model.coef_[0]
    np.testing.assert_allclose(
        model.decision_function(X, marginalise=False), by_hand + model.intercept_[0], rtol=1e-7
    )


@pytest.mark.slow
def test_more_features_than_rows():
    """scikit-rvm fails on 200 x 21 (its issue 12)."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 300))
    y = X[:, 7] > 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (RVMClassifier(), SparseBayesClassifier(LinearBasis())):
            assert model.fit(X, y).converged_
    assert 7 in model.relevance_


def test_unconverged_fits_warn():
    """sklearn-bayes stops at its limit without a word; fastrvm returns an unfitted model."""
    X, y = moons(400)
    for solver in (LaplaceSolver(max_iter=1), LaplaceFixedPointSolver(max_iter=2)):
        with pytest.warns(ConvergenceWarning, match="did not converge"):
            model = RVMClassifier(gamma=2.0, solver=solver).fit(X, y)
        assert not model.converged_
        assert np.isfinite(model.predict_proba(X)).all()


# ------------------------------------------------------------------ company


@pytest.mark.slow
def test_among_the_tools_of_scikit_learn():
    X, y = moons()
    grid = {"rvmclassifier__gamma": [0.01, 1.0, 100.0]}
    pipeline = make_pipeline(StandardScaler(), RVMClassifier())
    search = GridSearchCV(pipeline, grid, cv=3, scoring="neg_log_loss").fit(X, y)
    assert search.best_params_["rvmclassifier__gamma"] == 1.0
    assert cross_val_score(RVMClassifier(gamma=2.0), X, y, cv=3).mean() > 0.85
    calibrated = CalibratedClassifierCV(RVMClassifier(gamma=2.0), cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.85
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))
    assert clone(pipeline).get_params()["rvmclassifier__gamma"] == "scale"


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_sparse_matrices(form):
    rng = np.random.default_rng(6)
    X = sparse.random(200, 30, density=0.2, random_state=6, format="csr")
    dense = X.toarray()
    y = np.digitize(3.0 * dense[:, 3] - 3.0 * dense[:, 8] + 0.1 * rng.normal(size=200), [-0.3, 0.3])
    model = SparseBayesClassifier(LinearBasis(), multi_class=form)
    by_sparse = clone(model).fit(X, y)
    by_dense = clone(model).fit(dense, y)
    np.testing.assert_array_equal(by_sparse.relevance_, by_dense.relevance_)
    np.testing.assert_allclose(by_sparse.predict_proba(X), by_dense.predict_proba(dense), atol=1e-5)


@pytest.mark.parametrize(
    "basis",
    [
        KernelBasis(gamma=2.0) + LinearBasis(),
        KernelBasis(gamma=2.0) + KernelBasis("laplacian"),
        PolynomialBasis(degree=3),
        KernelBasis(gamma=2.0, centers=20),
        KernelBasis(gamma=2.0, centers=25, center_method="grid"),
        KernelBasis(gamma=2.0, centers=[[-1.0, 0.3], [0.0, 1.0], [1.0, -0.5], [2.0, 0.2]]),
    ],
    ids=str,
)
def test_bases_and_centres(basis):
    X, y = moons(200)
    model = SparseBayesClassifier(basis, random_state=0).fit(X, y)
    assert model.converged_
    assert model.score(X, y) > 0.78  # four centres can do no better
    assert len(model.atom_names()) == len(model.relevance_)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["auto", "em"])
def test_gamma_priors(solver):
    X, y = moons(80)
    model = RVMClassifier(gamma=2.0, prior=GammaPrior(1e-2, 1e-2), solver=solver).fit(X, y)
    assert model.converged_
    assert model.score(X, y) > 0.85
    X, y, _, _ = three_classes()
    with pytest.raises(ValueError, match='multi_class="one_vs_rest"'):
        RVMClassifier(prior=GammaPrior(1e-2, 1e-2)).fit(X, y)
    several = RVMClassifier(gamma=0.2, prior=GammaPrior(1e-2, 1e-2), multi_class="one_vs_rest")
    assert several.fit(X, y).score(X, y) > 0.9


def test_low_memory_changes_nothing():
    X, y = moons(300)
    stored, made = (RVMClassifier(gamma=2.0, low_memory=low).fit(X, y) for low in (False, True))
    np.testing.assert_array_equal(stored.relevance_, made.relevance_)
    np.testing.assert_allclose(stored.predict_proba(X), made.predict_proba(X), rtol=1e-6)


def test_design_matrix_of_your_own():
    X, y = moons(100)
    design = np.column_stack([X, X**2, X**3])
    model = SparseBayesClassifier(PrecomputedBasis()).fit(design, y)
    assert model.predict(design).shape == (100,)
    assert model.score(design, y) > 0.8
