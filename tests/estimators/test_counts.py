"""Regression of counts: fits, predictions, exposure, weights, bad input."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import sklearn
from scipy import integrate, stats
from sklearn.base import clone
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import mean_poisson_deviance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from relvec import SparseBayesCountRegressor
from relvec.bases import KernelBasis, LinearBasis
from relvec.io import load, save
from relvec.likelihoods import Bernoulli, NegativeBinomial, Poisson

NOT_COUNTS = "its targets are fractions, and fractions are no counts"
EXPECTED_TO_FAIL = dict.fromkeys(
    (
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_regressor_data_not_an_array",
        "check_regressors_no_decision_function",
        "check_regressors_train",
    ),
    NOT_COUNTS,
)

RNG = np.random.default_rng(7)
X = RNG.uniform(size=(150, 1))
LOG_RATE = 1.0 + 1.2 * np.sin(2.0 * np.pi * X[:, 0])
Y = RNG.poisson(np.exp(LOG_RATE))
EXPOSURE = RNG.uniform(0.2, 3.0, size=150)
EXPOSED = RNG.poisson(EXPOSURE * np.exp(LOG_RATE))
MODEL = SparseBayesCountRegressor().fit(X, EXPOSED, exposure=EXPOSURE)
KINDS = [
    {"likelihood": likelihood, "precision": precision}
    for likelihood in ("poisson", "negative_binomial", "auto")
    for precision in ("atom", "tied")
]

# ------------------------------------------------------------------ evidence and posterior


@pytest.mark.parametrize("likelihood", [Poisson(), NegativeBinomial(3.0)])
def test_evidence_agrees_with_quadrature(likelihood):
    column = np.array([[1.0], [-0.5], [0.3], [1.2], [-1.0], [0.7]])
    counts = np.array([4, 1, 2, 5, 0, 2])
    model = SparseBayesCountRegressor(
        LinearBasis(), likelihood=likelihood, fit_intercept=False, min_gain=0.0
    ).fit(column, counts)
    [precision] = model.weight_precision_

    def joint(weight):
        log_density = likelihood.bind(counts).total_log_density(weight * column[:, 0])
        return math.exp(log_density) * stats.norm.pdf(weight, scale=precision**-0.5)

    evidence = integrate.quad(joint, -5.0, 5.0, epsabs=1e-14)[0]
    assert model.log_evidence_ == pytest.approx(math.log(evidence), abs=0.03)
    # mean and standard deviation of the nearest Gaussian, against those of the posterior
    mean = integrate.quad(lambda w: w * joint(w), -5.0, 5.0)[0] / evidence
    square = integrate.quad(lambda w: w * w * joint(w), -5.0, 5.0)[0] / evidence
    std = math.sqrt(square - mean**2)
    assert model.coef_[0] == pytest.approx(mean, abs=0.03 * std)
    assert math.sqrt(model.weight_covariance_[0, 0]) == pytest.approx(std, rel=0.05)


def test_constant_rate_has_the_mean_of_its_gamma_posterior():
    model = SparseBayesCountRegressor(min_gain=1e6).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), Y.mean(), rtol=1e-4)
    mean, std = model.predict_log_rate(X[:1], return_std=True)
    exact = stats.loggamma(Y.sum())
    assert mean[0] + math.log(len(Y)) == pytest.approx(exact.mean(), abs=1e-3)
    assert std[0] == pytest.approx(exact.std(), rel=1e-2)


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_search_is_monotone_and_converges(options):
    model = SparseBayesCountRegressor(**options).fit(X, Y)
    assert model.converged_
    assert np.diff(model.trace_).min(initial=0.0) > -1e-6
    assert model.objective_ == pytest.approx(model.trace_.max(), abs=1e-6)
    assert model.score(X, np.exp(LOG_RATE).round()) > 0.8


def test_shape_maximises_the_evidence():
    counts = np.random.default_rng(1).negative_binomial(2.0, 2.0 / (2.0 + np.exp(LOG_RATE)))
    free = SparseBayesCountRegressor(likelihood="negative_binomial").fit(X, counts)
    assert 1.0 < free.shape_ < 5.0
    for factor in (0.8, 1.25):
        given = NegativeBinomial(factor * free.shape_)
        held = SparseBayesCountRegressor(likelihood=given).fit(X, counts)
        assert held.shape_ == factor * free.shape_
        assert held.objective_ < free.objective_ + 1e-2
    chosen = SparseBayesCountRegressor(likelihood="auto").fit(X, counts)
    assert chosen.likelihood_ == "negative_binomial"
    poisson = SparseBayesCountRegressor().fit(X, counts)
    assert chosen.overdispersion_gain_ == pytest.approx(free.objective_ - poisson.objective_)


def test_poisson_counts_stay_poisson():
    model = SparseBayesCountRegressor(likelihood="auto").fit(X, Y)
    assert model.likelihood_ == "poisson"
    assert model.shape_ == math.inf
    assert -1e-3 < model.overdispersion_gain_ < 3.0
    assert not hasattr(SparseBayesCountRegressor().fit(X, Y), "overdispersion_gain_")


@pytest.mark.filterwarnings("ignore:.*did not converge")  # the reference, slow to converge
def test_second_initialisation_finds_wide_kernels():
    # Wide kernels explain a sine only together: a search that begins without any stops at one.
    basis = KernelBasis(gamma=6.0)
    model = SparseBayesCountRegressor(basis).fit(X, EXPOSED, exposure=EXPOSURE)
    dense = SparseBayesCountRegressor(basis, solver="mackay")
    reference = dense.fit(X, EXPOSED, exposure=EXPOSURE)
    assert model.log_evidence_ > reference.log_evidence_ - 0.5


@pytest.mark.parametrize("prior", ["bic", "ric"])
def test_smoothness_priors(prior):
    model = SparseBayesCountRegressor(prior=prior).fit(X, Y)
    assert len(model.coef_) <= len(SparseBayesCountRegressor().fit(X, Y).coef_) + 1
    assert model.score(X, np.exp(LOG_RATE).round()) > 0.8


# ------------------------------------------------------------------ exposure and weights


@pytest.mark.parametrize("precision", ["atom", "tied"])
def test_units_of_exposure_do_not_matter(precision):
    model = SparseBayesCountRegressor(precision=precision)
    hours = clone(model).fit(X, EXPOSED, exposure=EXPOSURE)
    seconds = clone(model).fit(X, EXPOSED, exposure=3600.0 * EXPOSURE)
    np.testing.assert_array_equal(hours.relevance_, seconds.relevance_)
    np.testing.assert_allclose(hours.predict(X), 3600.0 * seconds.predict(X), rtol=1e-5)
    assert hours.log_evidence_ == pytest.approx(seconds.log_evidence_, abs=1e-4)


def test_rows_can_be_pooled():
    # Counts of one input add up, and so do their exposures.
    places = np.repeat(X[:40], 2, axis=0)
    counts, exposure = EXPOSED[:80], EXPOSURE[:80]
    basis = KernelBasis(gamma=10.0)
    apart = SparseBayesCountRegressor(basis).fit(places, counts, exposure=exposure)
    pooled = SparseBayesCountRegressor(basis).fit(
        X[:40], counts.reshape(40, 2).sum(axis=1), exposure=exposure.reshape(40, 2).sum(axis=1)
    )
    np.testing.assert_allclose(apart.predict(X), pooled.predict(X), rtol=1e-3)


def test_exposure_multiplies_predictions():
    np.testing.assert_allclose(MODEL.predict(X, exposure=5.0), 5.0 * MODEL.predict(X))
    np.testing.assert_allclose(
        MODEL.predict(X, exposure=EXPOSURE), EXPOSURE * MODEL.predict(X, exposure=1.0)
    )
    wide, narrow = (np.ptp(MODEL.predict_interval(X, 0.9, exposure=e)) for e in (50.0, 1.0))
    assert wide > 10.0 * narrow


@pytest.mark.parametrize("precision", ["atom", "tied"])
@pytest.mark.parametrize("likelihood", ["poisson", "negative_binomial"])
def test_weights_are_frequencies(likelihood, precision):
    weight = RNG.integers(0, 3, size=60)
    rows = np.repeat(np.arange(60), weight)
    options = {"likelihood": likelihood, "precision": precision}
    weighted = SparseBayesCountRegressor(**options).fit(
        X[:60], Y[:60], sample_weight=weight, exposure=EXPOSURE[:60]
    )
    repeated = SparseBayesCountRegressor(**options).fit(X[rows], Y[rows], exposure=EXPOSURE[rows])
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-3)
    assert weighted.log_evidence_ == pytest.approx(repeated.log_evidence_, abs=1e-3)


# ------------------------------------------------------------------ predictions


@pytest.mark.parametrize(
    "model", [MODEL, SparseBayesCountRegressor(likelihood=NegativeBinomial(2))]
)
def test_predictive_distribution_is_consistent(model):
    model = clone(model).fit(X, EXPOSED, exposure=EXPOSURE)
    new, exposure = X[:4], np.array([0.5, 1.0, 2.0, 4.0])
    counts = np.arange(600)
    pmf = model.predict_pmf(new, counts, exposure=exposure)
    np.testing.assert_allclose(pmf.sum(axis=1), 1.0, atol=1e-6)
    mean, std = model.predict(new, exposure, return_std=True)
    np.testing.assert_allclose(pmf @ counts, mean, rtol=1e-5)
    np.testing.assert_allclose(np.sqrt(pmf @ counts**2 - (pmf @ counts) ** 2), std, rtol=1e-4)
    cumulated = np.cumsum(pmf, axis=1)
    low, high = model.predict_interval(new, 0.9, exposure=exposure).T.astype(int)
    rows = np.arange(4)
    assert (cumulated[rows, high] >= 0.95 - 1e-9).all()
    assert (cumulated[rows, high - 1] < 0.95 + 1e-9).all()
    assert (cumulated[rows, low] >= 0.05 - 1e-9).all()
    density = model.log_predictive_density(new, [3, 0, 7, 2], exposure=exposure)
    np.testing.assert_allclose(density, np.log(pmf[rows, [3, 0, 7, 2]]), atol=1e-8)
    draws = model.sample_y(new, 4000, random_state=0, exposure=exposure)
    np.testing.assert_allclose(draws.mean(axis=1), mean, rtol=0.1)
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.1)


def test_samples_are_reproducible_and_whole():
    draws = MODEL.sample_y(X, 3, random_state=1)
    np.testing.assert_array_equal(draws, MODEL.sample_y(X, 3, random_state=1))
    assert draws.shape == (150, 3)
    assert (draws == np.floor(draws)).all()


def test_score_and_deviance_are_those_of_scikit_learn():
    mean = MODEL.predict(X, exposure=EXPOSURE)
    expected = mean_poisson_deviance(EXPOSED, mean)
    assert MODEL.deviance(X, EXPOSED, exposure=EXPOSURE) == pytest.approx(expected)
    peer = PoissonRegressor(alpha=0.0, max_iter=1000).fit(X, Y)
    linear = SparseBayesCountRegressor(LinearBasis(), min_gain=0.0).fit(X, Y)
    assert linear.score(X, Y) == pytest.approx(peer.score(X, Y), abs=2e-3)
    weight = np.arange(150.0)
    peer = PoissonRegressor(alpha=0.0, max_iter=1000).fit(X, Y, sample_weight=weight)
    null = mean_poisson_deviance(
        Y, np.full(150, np.average(Y, weights=weight)), sample_weight=weight
    )
    fitted = mean_poisson_deviance(Y, linear.predict(X), sample_weight=weight)
    assert linear.score(X, Y, sample_weight=weight) == pytest.approx(1.0 - fitted / null)
    assert MODEL.score(X, EXPOSED, exposure=EXPOSURE) > 0.5


@pytest.mark.parametrize("precision", ["atom", "tied"])
def test_log_rate_returns_to_its_mean_far_from_the_data(precision):
    model = SparseBayesCountRegressor(precision=precision).fit(X, Y)
    inside, _ = model.predict_log_rate(X, return_std=True)
    mean, std = model.predict_log_rate([[50.0]], return_std=True)
    assert mean[0] == pytest.approx(inside.mean(), abs=0.3)
    assert std[0] == pytest.approx(inside.std(), rel=0.2)
    assert model.extrapolating([[50.0]])[0] == pytest.approx(1.0)
    plain = SparseBayesCountRegressor(precision=precision, error_bars="plain").fit(X, Y)
    assert plain.predict_log_rate([[50.0]])[0] == pytest.approx(plain.intercept_)
    with pytest.raises(ValueError, match="cannot measure extrapolation"):
        plain.extrapolating(X)


@pytest.mark.slow
def test_expected_rates_are_bounded_where_nothing_is_known():
    # Rates of .01 and 100 side by side: a log-normal of their spread would expect thousands.
    counts = np.random.default_rng(2).poisson(np.where(X[:, 0] > 0.5, 100.0, 0.01))
    for options in KINDS:
        model = SparseBayesCountRegressor(**options).fit(X, counts)
        rate = model.predict(np.linspace(-3.0, 4.0, 200)[:, None])
        assert rate.max() < 400.0
        assert model.score(X, counts) > 0.5


def test_samples_have_the_moments_of_the_log_rate_away_from_the_data():
    new = np.array([[0.3], [1.2], [30.0]])
    mean, std = MODEL.predict_log_rate(new, return_std=True)
    draws = MODEL.count_model_.sample_functions(new, 20_000, np.random.default_rng(0))
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=0.03)
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.05)


# ------------------------------------------------------------------ tied precisions


def test_tied_precisions_are_one_for_each_width():
    model = SparseBayesCountRegressor(precision="tied").fit(X, Y)
    sizes = np.cumsum([4 + 3, 8 + 3, 16 + 3, 32 + 3])
    width = np.searchsorted(sizes, model.relevance_, side="right")
    for each in np.unique(width):
        assert len(np.unique(model.weight_precision_[width == each])) == 1
    assert model.n_atoms_ == sizes[-1]


def test_tied_precision_of_several_features_has_learnt_length_scales():
    inputs = np.random.default_rng(3).uniform(size=(350, 3))
    counts = np.random.default_rng(4).poisson(np.exp(1.0 + 2.0 * inputs[:, 1]))
    model = SparseBayesCountRegressor(precision="tied").fit(inputs, counts)
    assert len(np.unique(model.weight_precision_)) == 1
    assert len(model.relevance_) == 300
    assert np.argmax(model.feature_gain_) == 1
    given = KernelBasis(gamma=1.0, centers=20) + LinearBasis()
    union = SparseBayesCountRegressor(given, precision="tied").fit(inputs, counts)
    assert len(np.unique(union.weight_precision_)) <= 2


@pytest.mark.parametrize("options", [{"prior": "bic"}, {"solver": "exact"}])
def test_tied_precisions_have_their_own_solver(options):
    with pytest.raises(ValueError, match="has a solver of its own and a flat prior"):
        SparseBayesCountRegressor(precision="tied", **options).fit(X, Y)


# ------------------------------------------------------------------ degenerate data

STRESS = {
    "zeros": (X[:50], np.zeros(50)),
    "one event": (X[:50], np.eye(50)[3]),
    "one large count": (X[:50], 1e4 * np.eye(50)[3]),
    "huge": (X, np.random.default_rng(0).poisson(1e6 * np.exp(LOG_RATE))),
    "five rows": (X[:5], np.array([0, 1, 5, 2, 0])),
    "two rows": (X[:2], np.array([0, 7])),
    "one row": (X[:1], np.array([4])),
    "one row without events": (X[:1], np.array([0])),
    "constant counts": (X[:60], np.full(60, 7)),
    "constant inputs": (np.ones((30, 1)), Y[:30]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STRESS)
def test_every_fit_converges(name):
    inputs, counts = STRESS[name]
    for options in KINDS:
        model = SparseBayesCountRegressor(**options).fit(inputs, counts)
        assert model.converged_
        where = np.vstack([inputs, inputs + 9.0])
        mean, std = model.predict_log_rate(where, return_std=True)
        assert np.isfinite(mean).all()
        assert (std > 0.0).all()
        assert np.isfinite(model.log_predictive_density(inputs, counts)).all()
        assert np.isfinite(model.predict_interval(where[:3])).all()
        assert np.isfinite(model.score(inputs, counts))


def test_no_events_means_half_an_event():
    exposure = np.full(50, 4.0)
    model = SparseBayesCountRegressor(likelihood="auto").fit(
        X[:50], np.zeros(50), exposure=exposure
    )
    assert model.predict(X[:50], exposure=exposure).sum() == pytest.approx(0.5)
    assert len(model.coef_) == 0
    assert model.overdispersion_gain_ == 0.0
    assert model.score(X[:50], np.zeros(50), exposure=exposure) == 0.0
    without = SparseBayesCountRegressor(fit_intercept=False).fit(X[:50], np.zeros(50))
    assert without.converged_


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([-1.0, 0.0, 2.0], "position 0 is -1 .* cannot be negative"),
        ([0.0, 2.5, 1.0], "position 1 is 2.5 .* give the numbers of events as y"),
        ([0.0, np.nan, 1.0], "must be finite; the value at position 1 is NaN"),
        (["a", "b", "c"], "y must contain numbers"),
        ([0.0, 3e300, 1.0], "counts of at most 1e[+]12; the value at position 1 is 3e[+]300"),
    ],
)
def test_targets_that_are_no_counts(counts, message):
    with pytest.raises(ValueError, match=message):
        SparseBayesCountRegressor().fit(X[:3], counts)


@pytest.mark.parametrize(
    ("exposure", "message"),
    [
        (
            [1.0, 0.0, 1.0],
            "exposure must be positive and finite, from 1e-100 to 1e[+]100; got 0. It",
        ),
        ([1.0, -2.0, 1.0], "got -2"),
        ([1.0, np.inf, 1.0], "got inf"),
        (np.nan, "got nan"),
        (1e-300, "from 1e-100 to 1e[+]100; got 1e-300. Use another unit"),
        (1e300, "from 1e-100 to 1e[+]100; got 1e[+]300. Use another unit"),
        ([1.0, 2.0], r"each of the 3 rows; got shape \(2,\)"),
        ("long", "must hold positive numbers; got 'long'"),
    ],
)
def test_exposures_that_are_not_positive(exposure, message):
    with pytest.raises(ValueError, match=message):
        SparseBayesCountRegressor().fit(X[:3], Y[:3], exposure=exposure)
    with pytest.raises(ValueError, match=message):
        MODEL.predict(X[:3], exposure=exposure)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"likelihood": "posson"}, ValueError, "Did you mean 'poisson'"),
        ({"likelihood": Bernoulli()}, TypeError, "Poisson\\(\\) or NegativeBinomial"),
        ({"likelihood": Poisson}, TypeError, "Poisson\\(\\) or NegativeBinomial"),
        ({"likelihood": NegativeBinomial(-1.0)}, ValueError, "shape must be"),
        ({"precision": "group"}, ValueError, "precision must be one of"),
        ({"error_bars": "augmented"}, ValueError, "error_bars must be one of"),
        ({"fit_intercept": 1}, TypeError, "fit_intercept must be True or False"),
        ({"basis": "rbf"}, TypeError, "basis must be a Basis"),
        ({"min_gain": -1.0}, ValueError, "min_gain"),
        ({"prior": "laplace"}, ValueError, "laplace"),
    ],
)
def test_options_that_are_not_valid(options, error, message):
    with pytest.raises(error, match=message):
        SparseBayesCountRegressor(**options).fit(X, Y)


def test_arguments_that_are_not_valid():
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        MODEL.predict_interval(X, 1.0)
    with pytest.raises(ValueError, match="counts must hold counts"):
        MODEL.predict_pmf(X, [0.5])
    with pytest.raises(ValueError, match="counts must have one dimension"):
        MODEL.predict_pmf(X, [[1, 2]])
    with pytest.raises(ValueError, match="at least 1"):
        MODEL.sample_y(X, 0)


def test_relevance_vectors_are_the_centres_of_kernels():
    np.testing.assert_array_equal(MODEL.relevance_vectors_, X[MODEL.relevance_])
    for other in ({"precision": "tied"}, {"basis": LinearBasis()}):
        model = SparseBayesCountRegressor(**other).fit(X, Y)
        assert not hasattr(model, "relevance_vectors_")
        with pytest.raises(AttributeError, match="Use relevance_ and atoms_"):
            model.relevance_vectors_  # noqa: B018


def test_report_of_a_model_of_counts():
    report = MODEL.report(X, EXPOSED, exposure=EXPOSURE, title="Calls", cv=0)
    assert report.title == "Calls"


# ------------------------------------------------------------------ the ecosystem


class RoundedTargets(SparseBayesCountRegressor):
    """Fits the rounded targets of checks whose targets are fractions."""

    def fit(self, X, y, sample_weight=None, exposure=None):
        """Fit the rounded targets."""
        return super().fit(X, np.rint(np.asarray(y, dtype=float)), sample_weight, exposure)


@pytest.mark.estimator_check
@parametrize_with_checks(
    [SparseBayesCountRegressor()],
    expected_failed_checks=lambda estimator: EXPECTED_TO_FAIL,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


# The score of check_regressors_train is computed with targets that are fractions.
@pytest.mark.estimator_check
@pytest.mark.parametrize("check", sorted(set(EXPECTED_TO_FAIL) - {"check_regressors_train"}))
def test_scikit_learn_check_with_rounded_targets(check):
    getattr(estimator_checks, check)("RoundedTargets", RoundedTargets())


@pytest.mark.estimator_check
@pytest.mark.parametrize(
    "check",
    [
        "check_fit2d_1sample",
        "check_fit2d_1feature",
        "check_fit_idempotent",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_sample_weight_equivalence_on_dense_data",
    ],
)
def test_scikit_learn_check_of_tied_precisions(check):
    model = RoundedTargets(likelihood="auto", precision="tied")
    getattr(estimator_checks, check)("RoundedTargets", model)


@pytest.mark.parametrize("options", [KINDS[0], KINDS[5]], ids=str)
def test_files_and_pickles(options, tmp_path):
    model = SparseBayesCountRegressor(**options).fit(X, EXPOSED, exposure=EXPOSURE)
    again = [pickle.loads(pickle.dumps(model)), load(save(model, tmp_path / "counts.relvec"))]
    for other in again:
        np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-12)
        np.testing.assert_array_equal(other.predict_interval(X[:9]), model.predict_interval(X[:9]))
        assert other.likelihood_ == model.likelihood_
        assert other.shape_ == model.shape_


def test_pipelines_pass_exposure_on():
    pipeline = make_pipeline(StandardScaler(), SparseBayesCountRegressor())
    pipeline.fit(X, EXPOSED, sparsebayescountregressor__exposure=EXPOSURE)
    np.testing.assert_allclose(pipeline.predict(X), MODEL.predict(X), rtol=1e-3)
    with sklearn.config_context(enable_metadata_routing=True):
        step = SparseBayesCountRegressor().set_fit_request(exposure=True)
        step.set_predict_request(exposure=True).set_score_request(exposure=True)
        routed = make_pipeline(StandardScaler(), step).fit(X, EXPOSED, exposure=EXPOSURE)
        expected = routed.predict(X, exposure=EXPOSURE)
        np.testing.assert_allclose(expected, EXPOSURE * pipeline.predict(X), rtol=1e-3)
        score = routed.score(X, EXPOSED, exposure=EXPOSURE)
    assert score == pytest.approx(MODEL.score(X, EXPOSED, exposure=EXPOSURE), abs=1e-3)


def test_names_of_features():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.random.default_rng(5).normal(size=(200, 3)), columns=list("abc"))
    counts = np.random.default_rng(6).poisson(np.exp(1.0 + frame["b"]))
    model = SparseBayesCountRegressor(LinearBasis()).fit(frame, counts)
    assert model.atom_names() == ["b"]
    assert model.coef_[0] == pytest.approx(1.0, abs=0.1)
    assert model.intercept_ == pytest.approx(1.0, abs=0.1)
    assert list(model.feature_names_in_) == ["a", "b", "c"]


def test_a_fit_removes_attributes_of_the_last_one():
    model = SparseBayesCountRegressor(likelihood="auto").fit(X, Y)
    assert hasattr(model, "overdispersion_gain_")
    model.set_params(likelihood="poisson", basis=LinearBasis()).fit(X, Y)
    assert not hasattr(model, "overdispersion_gain_")
    assert not hasattr(model, "length_scale_")


@pytest.mark.slow
def test_many_features():
    inputs = np.random.default_rng(8).normal(size=(80, 120))
    counts = np.random.default_rng(9).poisson(2.0, size=80)
    model = SparseBayesCountRegressor().fit(inputs, counts)
    assert model.model_kind_ in ("null", "none")
    np.testing.assert_allclose(model.predict(inputs), counts.mean(), rtol=0.2)
