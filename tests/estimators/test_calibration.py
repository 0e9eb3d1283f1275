"""Held-out rows calibrate error bars and decide between several models."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import BayesianRidge
from sklearn.preprocessing import StandardScaler

from relvec import DRVMRegressor, RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis
from relvec.estimators import _calibrate, _regression_plan
from relvec.estimators._held_out import HeldOutPredictions, find_distinct_rows, split_folds
from relvec.estimators._plan import Data, PlanTuning
from relvec.estimators._regression_plan import RegressionPlan
from relvec.io import load, save
from relvec.learning import LengthScaleLearner
from relvec.moments import SufficientStatistics

RNG = np.random.default_rng(7)
X = RNG.uniform(-3.0, 3.0, size=(60, 2))
Y = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.3 * RNG.normal(size=60)
NEW = RNG.uniform(-3.0, 3.0, size=(40, 2))
NARROW = RVMRegressor(gamma=0.3, error_bars="plain")
"""Kernels so narrow that the choice of vectors costs something."""


# ------------------------------------------------------------------ the factor


def held_out(n_rows=50, n_outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    shape = (n_rows, n_outputs)
    variance, noise, extra = (rng.uniform(0.0, high, shape) for high in (2.0, 0.5, 1.0))
    squared = 3.0 * (variance + noise + extra) * rng.chisquare(1, shape)
    weight = rng.choice([1.0, 2.0, 3.0], n_rows)
    return HeldOutPredictions(squared, variance, noise, extra, weight, np.ones_like(noise))


@pytest.mark.parametrize("dof_fraction", [1.0, 0.7])
def test_calibration_matches_squared_errors_and_variances(dof_fraction):
    held = held_out()
    factor = held.calibration(dof_fraction)
    ratio = held.squared_error / (factor * (held.variance + held.noise) + held.extra)
    np.testing.assert_allclose(
        np.average(ratio, axis=0, weights=held.weight), dof_fraction, rtol=1e-5
    )
    assert (factor > 1.0).all()


def test_without_novelty_the_factor_is_the_mean_squared_standardised_error():
    held = held_out()._replace(extra=np.zeros((50, 2)))
    standardised = held.squared_error / (held.variance + held.noise)
    expected = np.average(standardised, axis=0, weights=held.weight)
    np.testing.assert_allclose(held.calibration(), expected, rtol=1e-5)


def test_variances_never_shrink():
    held = held_out()
    assert (held._replace(squared_error=held.squared_error / 100.0).calibration() == 1.0).all()


def test_weights_count_rows():
    held = held_out()
    repeated = HeldOutPredictions(
        *(np.repeat(each, held.weight.astype(int), axis=0) for each in held)
    )
    repeated = repeated._replace(weight=np.ones(len(repeated.weight)))
    np.testing.assert_allclose(repeated.calibration(0.9), held.calibration(0.9), rtol=1e-6)
    total = held.variance + held.noise + held.extra
    density = -0.5 * (np.log(2.0 * np.pi * total) + held.squared_error / total).sum(axis=1)
    np.testing.assert_allclose(held.log_density(calibrate=False), density)
    factor = held.calibration()
    wide = held._replace(variance=factor * held.variance, noise=factor * held.noise)
    np.testing.assert_allclose(
        held.log_density(calibrate=True), wide.log_density(calibrate=False), rtol=1e-6
    )


# ------------------------------------------------------------------ the rows


def test_folds_contain_every_row_once_or_enough_rows():
    folds = split_folds(53, 5, enough=1000)
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(53))
    assert len(folds) == 5
    assert [len(fold) for fold in split_folds(4000, 5, enough=1000)] == [800, 800]
    assert len(split_folds(5000, 5, enough=1000)) == 1


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_distinct_rows_do_not_depend_on_order_copies_or_units(kind):
    targets = np.round(Y, 1)[:, None]  # of which some are equal
    count = RNG.choice([1, 2], size=len(X))
    rows = RNG.permutation(np.repeat(np.arange(len(X)), count))
    groups = np.zeros(len(rows), dtype=np.intp)
    weighted = Data(kind(X), targets, count.astype(float), groups[: len(X)])
    repeated = Data(kind(X[rows]), targets[rows], None, groups)
    mine, counts = find_distinct_rows(weighted)
    theirs, other = find_distinct_rows(repeated)
    np.testing.assert_array_equal(counts, other)
    np.testing.assert_array_equal(X[mine], X[rows][theirs])
    if kind is np.asarray:
        moved = Data(X * [1e-3, 50.0] + 2.0, 3.0 * targets - 1.0, None, groups)
        np.testing.assert_array_equal(find_distinct_rows(moved)[0], mine)


def test_rows_of_no_weight_are_not_there():
    weight = np.r_[np.zeros(20), np.ones(40)]
    rows, counts = find_distinct_rows(Data(X, Y[:, None], weight, np.zeros(60, dtype=np.intp)))
    assert rows.min() == 20
    assert len(rows) == 40
    assert (counts == 1.0).all()
    left_out = clone(NARROW).fit(X[20:], Y[20:]).calibration_
    assert clone(NARROW).fit(X, Y, weight).calibration_ == pytest.approx(left_out, rel=1e-6)


# ------------------------------------------------------------------ of a model


def by_hand(model, X, y):
    """Mean squared standardised error of five folds, each predicted by a fit to the others.

    The noise variance is the mean over folds.
    """
    data = Data(X, y[:, None], None, np.zeros(len(y), dtype=np.intp))
    order, _ = find_distinct_rows(data)
    squares, variances, noises = [], [], []
    for fold in split_folds(len(y), 5, enough=1000):
        test = order[fold]
        train = np.setdiff1d(order, test)
        bare = clone(model).set_params(calibrate=False, effort="fast").fit(X[train], y[train])
        mean, std = bare.predict(X[test], return_std=True, include_noise=False)
        squares.append((y[test] - mean) ** 2)
        variances.append(std**2)
        noises.append(np.full(len(test), bare.noise_variance_))
    squares, variances, noises = map(np.concatenate, (squares, variances, noises))
    return float(np.mean(squares / (variances + noises.mean())))


@pytest.mark.parametrize(
    "model",
    [NARROW, SparseBayesRegressor(LinearBasis() + KernelBasis(gamma=0.3), error_bars="plain")],
)
def test_calibration_is_that_of_five_refits(model):
    expected = by_hand(model, X, Y)
    assert expected > 1.02
    assert clone(model).fit(X, Y).calibration_ == pytest.approx(expected, rel=1e-3)


def test_learnt_length_scales_count_as_degrees_of_freedom():
    model = RVMRegressor(error_bars="plain", length_scales="ard").fit(X, Y)
    held = RVMRegressor(model.kernel_, length_scales=None, error_bars="plain")
    learnt = model.learnt_length_scales_
    dof_fraction = 1.0 - 2.0 * learnt.n_scales * max(0.5, learnt.penalty) / len(Y)
    expected = by_hand(held, X, Y) / dof_fraction
    assert learnt.n_scales == 2
    assert expected > 1.02
    assert model.calibration_ == pytest.approx(expected, rel=1e-3)


def test_plain_posterior_times_the_factor():
    model, bare = (clone(NARROW).set_params(calibrate=on).fit(X, Y) for on in (True, False))
    assert bare.calibration_ == 1.0
    assert model.calibration_ > 1.02
    np.testing.assert_array_equal(model.predict(NEW), bare.predict(NEW))
    for include_noise in (True, False):
        options = {"return_std": True, "include_noise": include_noise}
        wide, std = (each.predict(NEW, **options)[1] for each in (model, bare))
        np.testing.assert_allclose(wide, np.sqrt(model.calibration_) * std, rtol=1e-9)
    for name in ("noise_variance_", "log_evidence_", "coef_", "weight_precision_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(bare, name))


@pytest.mark.parametrize("error_bars", ["plain", "novelty", "augmented"])
def test_all_kinds_of_answers_agree(error_bars):
    model = RVMRegressor(gamma=0.3, error_bars=error_bars).fit(X, Y)
    assert model.calibration_ > 1.02
    points = np.vstack([NEW[:10], [[9.0, 9.0]]])
    mean, std = model.predict(points, return_std=True)
    covariance = model.predict(points, return_cov=True)[1]
    np.testing.assert_allclose(np.sqrt(covariance.diagonal()), std, rtol=1e-6)
    low, high = model.predict_interval(points, 0.95).T
    np.testing.assert_allclose((high - low) / 2.0, 1.959964 * std, rtol=1e-5)
    draws = model.sample_y(points, 4000, random_state=0)
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.06)
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=0.1)
    density = model.log_predictive_density(points, mean)
    np.testing.assert_allclose(density, -0.5 * np.log(2.0 * np.pi * std**2), rtol=1e-6)


def test_each_output_has_its_own_factor():
    both = np.column_stack([Y, np.random.default_rng(3).normal(size=60)])
    model = clone(NARROW).fit(X, both)
    alone = [clone(NARROW).fit(X, target).calibration_ for target in both.T]
    assert model.calibration_.shape == (2,)
    np.testing.assert_allclose(model.calibration_, alone, rtol=1e-6)
    std = model.predict(NEW, return_std=True)[1]
    bare = clone(NARROW).set_params(calibrate=False).fit(X, both).predict(NEW, return_std=True)[1]
    np.testing.assert_allclose(std / bare, np.sqrt([model.calibration_] * len(NEW)), rtol=1e-9)


def test_weights_are_repeated_rows_in_any_order():
    count = np.random.default_rng(1).choice([1, 2], size=60)
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(60), count))
    # With learnt length-scales, sums that are rounded differently, on another processor or in
    # another order, may lead to another optimum of nearly equal evidence.
    for model, rtol in ((NARROW, 2e-3), (RVMRegressor(), 3e-2)):
        weighted = clone(model).fit(X, Y, count.astype(float))
        repeated = clone(model).fit(X[rows], Y[rows])
        assert repeated.calibration_ == pytest.approx(weighted.calibration_, rel=0.5 * rtol)
        np.testing.assert_allclose(
            repeated.predict(NEW, return_std=True)[1],
            weighted.predict(NEW, return_std=True)[1],
            rtol=rtol,
        )


def test_nothing_is_held_out_where_there_is_nothing_to_learn_from_it():
    few = PlanTuning().min_held_out_rows - 1
    assert RVMRegressor().fit(X[:few], Y[:few]).calibration_ == 1.0
    assert RVMRegressor(noise_variance=0.09).fit(X, Y).calibration_ == 1.0
    assert RVMRegressor().fit(X, np.full(60, 2.0)).calibration_ == 1.0
    atoms = LinearBasis().bind(X).atoms
    statistics = SufficientStatistics(len(atoms)).update(atoms.evaluate(X), Y)
    model = SparseBayesRegressor.from_moments(statistics, LinearBasis(), X)
    assert model.calibration_ == 1.0


def test_noise_is_never_more_than_all_that_varies():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.standard_t(1.5, size=20)
    model = RVMRegressor(gamma=0.5).fit(X, y)
    assert model.calibration_ * model.noise_variance_ <= y.var(ddof=1) * (1.0 + 1e-9)


def test_files_keep_it(tmp_path):
    model = clone(NARROW).fit(X, Y)
    save(model, tmp_path / "model.relvec")
    other = load(tmp_path / "model.relvec")
    assert other.calibration_ == model.calibration_
    np.testing.assert_array_equal(
        other.predict(NEW, return_std=True)[1], model.predict(NEW, return_std=True)[1]
    )


def test_folds_that_chose_the_length_scales_also_calibrate(monkeypatch):
    """With many features everything is learnt again in each fold: no further fits are needed."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 120))
    y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=60)
    held = []
    original = HeldOutPredictions.calibration

    def spy(self, dof_fraction=1.0):
        held.append((self, dof_fraction))
        return original(self, dof_fraction)

    monkeypatch.setattr(HeldOutPredictions, "calibration", spy)
    monkeypatch.setattr(_calibrate, "_fit_best_candidate", None)
    model = RVMRegressor().fit(X, y)
    used, dof_fraction = held[-1]
    assert dof_fraction == 1.0
    assert len(used.weight) == 60
    assert model.calibration_ == pytest.approx(float(original(used)[0]))


# ------------------------------------------------------------------ simpler models


def weak_effects(seed, n_samples=150, n_inputs=50):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples + 500, n_inputs))
    y = X @ (0.35 * rng.normal(size=n_inputs)) + rng.normal(size=len(X))
    return X[:n_samples], y[:n_samples], X[n_samples:], y[n_samples:]


def test_many_weak_effects_are_linear():
    X, y, X_new, y_new = weak_effects(0)
    model = RVMRegressor().fit(X, y)
    assert model.model_kind_ == "linear"
    scaler = StandardScaler().fit(X)
    ridge = BayesianRidge().fit(scaler.transform(X), y)
    np.testing.assert_allclose(
        model.predict(X_new), ridge.predict(scaler.transform(X_new)), atol=0.02 * y.std()
    )
    low, high = model.predict_interval(X_new, 0.95).T
    assert 0.92 <= np.mean((low <= y_new) & (y_new <= high)) <= 0.99


def test_noise_gets_the_null_model():
    rng = np.random.default_rng(0)
    n_null = 0
    for _ in range(4):
        X, y = rng.normal(size=(120, 10)), rng.normal(size=120)
        model = RVMRegressor().fit(X, y)
        n_null += model.model_kind_ == "null"
        if model.model_kind_ == "null":
            assert len(model.relevance_) == 0
            mean, std = model.predict(X[:3], return_std=True)
            np.testing.assert_allclose(mean, y.mean())
            np.testing.assert_allclose(std, y.std(ddof=1) * np.sqrt(1.0 + 1.0 / 120), rtol=1e-3)
    assert n_null >= 3


@pytest.mark.parametrize("model", [RVMRegressor(), DRVMRegressor()])
def test_real_signals_are_not_thrown_away(model):
    rng = np.random.default_rng(3)
    n_null = 0
    for _ in range(5):
        X = rng.normal(size=(100, 1))
        y = np.sqrt(0.2) * X[:, 0] + np.sqrt(0.8) * rng.normal(size=100)
        n_null += len(clone(model).fit(X, y).relevance_) == 0
    assert n_null <= 1


def test_one_feature_may_have_a_short_length_scale():
    rng = np.random.default_rng(1)
    x, new = rng.uniform(0.0, 1.0, size=(120, 1)), np.linspace(0.0, 1.0, 200)[:, None]
    truth, f = (np.exp(-0.5 * ((each[:, 0] - 0.5) / 0.05) ** 2) for each in (new, x))
    y = f + 0.1 * rng.normal(size=120)
    model = RVMRegressor().fit(x, y)
    wide = RVMRegressor(length_scales=LengthScaleLearner("isotropic", scale_factor=0.5)).fit(x, y)
    assert model.learnt_length_scales_.scale_factor == 1.0
    assert wide.learnt_length_scales_.scale_factor == 0.5
    error, other = (np.mean((each.predict(new) - truth) ** 2) for each in (model, wide))
    assert error < 0.7 * other
    measured = DRVMRegressor(n_refinements=0, length_scale_uncertainty=True).fit(x, y)
    assert measured.learnt_length_scales_.scale_factor == 1.0
    assert (measured.feature_relevance_std_ > 0.0).all()
    assert measured.outputs_[0].scale_uncertainty is not None


@pytest.mark.parametrize("seed", [0, 3])
def test_one_proposal_is_compared_before_it_is_fitted(seed, monkeypatch):
    """With the same result: only the novelty process of the folds depends on a fit to all rows."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-10.0, 10.0, size=(80, 1)), 0.1 * rng.normal(size=80)
    y += np.sinc(x[:, 0] / np.pi)
    sizes = []
    fit = RegressionPlan.fit
    monkeypatch.setattr(
        RegressionPlan, "fit", lambda *args: sizes.append(len(args[2].targets)) or fit(*args)
    )
    model = RVMRegressor().fit(x, y)
    assert sizes.count(80) == 1
    assert sizes[-1] == 80
    monkeypatch.setattr(_regression_plan, "compare_before_fit", lambda *args: None)
    other = RVMRegressor().fit(x, y)
    assert model.learnt_length_scales_.scale_factor == other.learnt_length_scales_.scale_factor
    assert model.calibration_ == pytest.approx(other.calibration_, rel=1e-2)
    new = np.linspace(-15.0, 15.0, 50)[:, None]
    for one, two in zip(
        model.predict(new, return_std=True), other.predict(new, return_std=True), strict=True
    ):
        np.testing.assert_allclose(one, two, rtol=1e-2, atol=1e-8)


@pytest.mark.parametrize(
    "model",
    [
        RVMRegressor(error_bars="plain"),
        RVMRegressor(length_scales=LengthScaleLearner("auto", n_refinements=1)),
        SparseBayesRegressor(KernelBasis() + LinearBasis(), length_scales="isotropic"),
    ],
)
def test_where_that_takes_a_fit_to_all_rows_there_is_one(model):
    x = np.linspace(-3.0, 3.0, 40)[:, None]
    data = Data(x, np.sin(2.0 * x), None, np.zeros(40, dtype=np.intp))
    plan = model._resolve()
    assert _calibrate.compare_before_fit(plan, plan.learn_length_scales(data)[0], data) is None


def test_copies_of_rows_warn():
    with pytest.warns(UserWarning, match="each occurs 4 times in X and y on average"):
        copied = clone(NARROW).fit(np.tile(X, (4, 1)), np.tile(Y, 4))
    clone(NARROW).fit(X, Y, np.full(60, 4.0))  # which is what is said to be true
    # what the copies hide, held-out rows see
    assert copied.calibration_ > 2.0


@pytest.mark.slow
@pytest.mark.parametrize("model", [RVMRegressor(), DRVMRegressor()])
def test_coverage_of_new_targets(model):
    """At the defaults; without calibration 0.89 and less."""
    coverage = []
    for number in range(4):
        X, y, X_new, y_new = weak_effects(100 + number)
        model.fit(X, y)
        low, high = model.predict_interval(X_new, 0.95).T
        coverage.append(np.mean((low <= y_new) & (y_new <= high)))
    assert 0.925 <= np.mean(coverage) <= 0.98


def test_repeated_discrete_values_are_not_copies():
    """Three binary features and a binary target: few distinct rows of forty, all observed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) > 0.0
    y = X[:, 0] ^ (rng.random(40) < 0.2)
    RVMRegressor().fit(X, y)  # warnings are errors
    with pytest.warns(UserWarning, match="Rows are repeated: each occurs 4 times"):
        # continuous targets are not equal by coincidence
        RVMRegressor().fit(np.tile(X, (4, 1)), np.tile(y + 0.1 * rng.normal(size=40), 4))


def test_wide_noise_gets_the_null_model():
    rng = np.random.default_rng(11)
    for _ in range(3):
        X, y = rng.normal(size=(60, 150)), rng.normal(size=60)
        assert RVMRegressor().fit(X, y).model_kind_ == "null"


def sparse_effects(seed, n_samples=120, n_inputs=150, n_effects=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_inputs))
    y = X[:, :n_effects] @ np.full(n_effects, 1.0) + rng.normal(size=n_samples)
    return X, y


@pytest.mark.parametrize("n_inputs", [40, 150])
def test_a_few_linear_effects_are_chosen(n_inputs):
    X, y = sparse_effects(3, n_inputs=n_inputs)
    model = DRVMRegressor().fit(X[:100], y[:100])
    assert (model.model_kind_, model.features_selected_) == ("linear", True)
    support = model.get_support()
    assert support[:4].all()
    assert support.sum() < 8
    np.testing.assert_array_equal(np.flatnonzero(support), model.relevance_)
    chance = model.feature_inclusion_probability_
    assert (chance[support] > 0.5).all()
    assert (chance[~support] <= 0.5).all()


def test_refinement_in_wide_data_is_calibrated():
    """Refined length-scales fit better than they predict; error bars must account for it."""
    rng = np.random.default_rng(5)
    factors = rng.normal(size=(1080, 15))
    of = rng.integers(0, 15, 400)
    X = factors[:, of] * rng.uniform(0.4, 1.0, 400) + 0.6 * rng.normal(size=(1080, 400))
    y = factors[:, :4] @ [1.0, -0.8, 0.6, 0.5] + 0.6 * rng.normal(size=1080)
    mean, std = DRVMRegressor().fit(X[:80], y[:80]).predict(X[80:], return_std=True)
    assert np.mean(np.abs(y[80:] - mean) < 1.96 * std) > 0.9


def test_straight_lines_are_mostly_linear():
    """Kernels with long length-scales are nearly linear; some are kept where folds favour them."""
    found = []
    for n_inputs in (1, 2, 5):
        for seed in range(4):
            rng = np.random.default_rng(seed)
            X = rng.uniform(-1, 1, size=(60, n_inputs))
            y = 1.0 + X @ rng.normal(size=n_inputs) + 0.05 * rng.normal(size=60)
            found.append(RVMRegressor().fit(X, y).model_kind_ == "linear")
    assert sum(found) >= 8
