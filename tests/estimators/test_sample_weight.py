"""A weight says how often a row counts: two is the row twice, zero the row left out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import estimator_checks

from relvec import RVMClassifier, RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis, PrecomputedBasis
from tests.estimators.problems import brute_posterior, gaussian, smooth

X, Y = smooth(n=50)
COUNTS = np.random.default_rng(7).choice([0, 1, 2], p=[0.2, 0.6, 0.2], size=50)
ROWS = np.repeat(np.arange(50), COUNTS)
FAR = 3.0 * X[:10]

# (the error bars of "novelty" have tests of their own)
PLAIN = RVMRegressor(gamma=0.1, error_bars="plain", calibrate=False)
MODELS = [
    PLAIN,
    clone(PLAIN).set_params(gamma="scale"),  # a width that depends on the data
    clone(PLAIN).set_params(solver="mackay"),
    clone(PLAIN).set_params(solver="textbook"),
    clone(PLAIN).set_params(prior="bic", effort="thorough"),
    clone(PLAIN).set_params(error_bars="augmented"),
    clone(PLAIN).set_params(fit_intercept=False),
    clone(PLAIN).set_params(low_memory=True),
    clone(PLAIN).set_params(noise_variance=0.04),
    clone(PLAIN).set_params(centers=15, random_state=0),
    SparseBayesRegressor(LinearBasis()),
    SparseBayesRegressor(LinearBasis(), low_memory=True),
    SparseBayesRegressor(PolynomialBasis(2) + KernelBasis(gamma=0.1), error_bars="plain"),
]


def check_same(model, other, rtol=1e-6):
    assert model.log_evidence_ == pytest.approx(other.log_evidence_, rel=1e-8)
    assert model.noise_variance_ == pytest.approx(other.noise_variance_, rel=rtol)
    for mine, its in zip(
        model.predict(np.vstack([X, FAR]), return_std=True),
        other.predict(np.vstack([X, FAR]), return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(mine, its, rtol=rtol)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_weights_are_repetitions(model):
    weighted = clone(model).fit(X, Y, COUNTS)
    repeated = clone(model).fit(X[ROWS], Y[ROWS])
    check_same(weighted, repeated)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_zero_weight_removes_the_row(model):
    keep = COUNTS > 0
    spoilt_X, spoilt_y = X.copy(), Y.copy()
    spoilt_X[~keep], spoilt_y[~keep] = 1e3, -1e6
    with_zeros = clone(model).fit(spoilt_X, spoilt_y, keep.astype(float))
    check_same(with_zeros, clone(model).fit(X[keep], Y[keep]))


def test_zero_weight_leaves_no_trace_in_the_error_bars():
    keep = COUNTS > 0
    spoilt_X, spoilt_y = X.copy(), Y.copy()
    spoilt_X[~keep], spoilt_y[~keep] = 1e3, -1e6
    with_zeros = RVMRegressor(gamma=0.1).fit(spoilt_X, spoilt_y, keep.astype(float))
    check_same(with_zeros, RVMRegressor(gamma=0.1).fit(X[keep], Y[keep]))


def test_error_bars_of_weighted_rows_are_those_of_repeated_rows():
    model = RVMRegressor(gamma=0.1)
    check_same(clone(model).fit(X, Y, COUNTS), clone(model).fit(X[ROWS], Y[ROWS]))


def test_error_bars_of_weighted_rows_in_many_dimensions():
    """The pivots cannot cover the inputs, so an offset is chosen from weighted residuals."""
    wide, target = smooth(d=40, n=50)
    model = RVMRegressor(gamma=0.005, noise_variance=0.04)
    weighted = clone(model).fit(wide, target, COUNTS)
    repeated = clone(model).fit(wide[ROWS], target[ROWS])
    assert weighted.outputs_[0].novelty.unexplained(wide[ROWS]).max() > 0.1
    np.testing.assert_allclose(
        weighted.predict(2 * wide, return_std=True)[1],
        repeated.predict(2 * wide, return_std=True)[1],
        rtol=1e-6,
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Rows are repeated")
def test_augmented_error_bars_of_weighted_rows_without_noise():
    """With almost no noise, |k|^2 - |L^-1 Phi'k|^2 would cancel to rounding errors."""
    model = RVMRegressor(error_bars="augmented")
    estimator_checks.check_sample_weight_equivalence_on_dense_data("RVMRegressor", model)


def test_leave_one_out_leaves_out_all_of_a_row():
    """With its weight a row goes as a whole; without, one observation of it."""
    weight = np.random.default_rng(2).choice([1.0, 2.0, 2.5], size=50)
    model = clone(PLAIN).fit(X, Y, weight)
    Phi = gaussian(model, X, 0.1)
    for given in (weight, None):
        mean, std = model.leave_one_out(X, Y, given)
        for row in range(0, 50, 7):
            rest = weight.copy()
            rest[row] -= 1.0 if given is None else weight[row]
            expected, covariance = brute_posterior(
                Phi, Y, model.weight_precision_, model.noise_variance_, rest
            )
            design = np.append(Phi[row], 1.0)
            assert mean[row] == pytest.approx(design @ expected, rel=1e-6)
            variance = design @ covariance @ design + model.noise_variance_
            assert std[row] ** 2 == pytest.approx(variance, rel=1e-5)


def test_weights_that_count_as_hardly_any_sample_are_doubted():
    with pytest.warns(UserWarning, match="sample_weight sums to 1, so the data count as that many"):
        RVMRegressor(gamma=0.1, noise_variance=0.04).fit(X, Y, np.full(50, 1 / 50))


class TestWeightsThatAreNoCounts:
    VARIANCES = np.random.default_rng(3).uniform(0.01, 0.2, size=50)
    MESSAGE = "not made of whole numbers"

    @pytest.mark.parametrize("model", [RVMRegressor(gamma=0.1), RVMClassifier(gamma=0.1)])
    def test_inverse_variances_are_doubted_at_the_place_of_the_call(self, model):
        target = Y if isinstance(model, RVMRegressor) else np.median(Y) < Y
        with pytest.warns(UserWarning, match=self.MESSAGE) as caught:
            model.fit(X, target, 1.0 / self.VARIANCES)
        assert caught[0].filename == __file__

    @pytest.mark.parametrize(
        "weight",
        [
            np.full(50, 7.0),
            1.0 / VARIANCES * np.mean(1.0 / VARIANCES) ** -1.0,
            np.r_[np.full(45, 0.1), np.full(5, 15.5)],
            np.r_[np.zeros(25), np.full(25, 1.9)],
        ],
        ids=["counts", "divided by their mean", "a few large ones", "of half of the rows"],
    )
    def test_others_are_not(self, weight):
        RVMRegressor(gamma=0.1, noise_variance=0.04).fit(X, Y, weight)

    def test_weights_of_classes_are_not(self):
        weights = {False: 3.5, True: 10.25}
        RVMClassifier(gamma=0.1, class_weight=weights).fit(X, np.median(Y) < Y)
        RVMClassifier(gamma=0.1, class_weight="balanced").fit(X, np.quantile(Y, 0.7) < Y)


def test_rows_of_zero_weight_are_not_centres():
    weight = np.ones(50)
    weight[RVMRegressor(gamma=0.1).fit(X, Y).relevance_] = 0.0
    model = RVMRegressor(gamma=0.1).fit(X, Y, weight)
    assert len(model.relevance_)
    assert (weight[model.relevance_] > 0).all()
    np.testing.assert_array_equal(model.relevance_vectors_, X[model.relevance_])


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [RVMRegressor("precomputed"), SparseBayesRegressor(PrecomputedBasis())]
)
@pytest.mark.parametrize("low_memory", [True, False])
def test_rows_of_zero_weight_are_not_centres_of_a_precomputed_kernel(model, low_memory):
    K = rbf_kernel(X, gamma=0.1)
    weight = np.ones(50)
    weight[clone(model).fit(K, Y).relevance_] = 0.0
    keep = np.flatnonzero(weight)
    weighted = clone(model).set_params(low_memory=low_memory).fit(K, Y, weight)
    assert (weight[weighted.relevance_] > 0).all()
    reduced = clone(model).fit(K[np.ix_(keep, keep)], Y[keep])
    np.testing.assert_array_equal(weighted.relevance_, keep[reduced.relevance_])
    np.testing.assert_allclose(weighted.predict(K), reduced.predict(K[:, keep]), rtol=1e-6)


@pytest.mark.slow
def test_equal_weights_of_one_change_nothing():
    model, plain = RVMRegressor().fit(X, Y, np.ones(50)), RVMRegressor().fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    np.testing.assert_array_equal(
        RVMRegressor().fit(X, Y, sample_weight=1.0).predict(X), plain.predict(X)
    )


def test_fractions_agree_with_the_weighted_posterior():
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=50)
    model = RVMRegressor(gamma=0.1, error_bars="plain").fit(X, Y, weight)
    mean, covariance = brute_posterior(
        gaussian(model, X, 0.1), Y, model.weight_precision_, model.noise_variance_, weight
    )
    np.testing.assert_allclose(model.coef_, mean[:-1], rtol=1e-5)
    assert model.intercept_ == pytest.approx(mean[-1], rel=1e-5)
    np.testing.assert_allclose(model.weight_covariance_, covariance[:-1, :-1], rtol=1e-4)


def test_one_row_with_weight():
    with pytest.warns(UserWarning, match="cannot estimate the noise from so few samples"):
        model = RVMRegressor().fit(X, Y, np.eye(50)[3])
    np.testing.assert_allclose(model.predict(X), Y[3])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-np.ones(50), "Negative values in data passed to `sample_weight`"),
        (np.ones(49), r"sample_weight.shape == \(49,\), expected \(50,\)"),
        (np.zeros(50), "at least one non-zero"),
        (np.r_[np.nan, np.ones(49)], "sample_weight contains NaN"),
        (np.r_[np.inf, np.ones(49)], "sample_weight contains infinity"),
        (np.ones((50, 1)), "must be 1D array or scalar"),
    ],
)
def test_bad_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        RVMRegressor().fit(X, Y, weight)
