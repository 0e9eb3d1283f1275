"""Skewed targets: the option `target_transform` of regressors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import DRVMRegressor, RVMRegressor, SparseBayesRegressor, explore_optima
from relvec.bases import KernelBasis, LinearBasis
from relvec.describing import compute_atom_evidence
from relvec.io import ExportError, export_python, load, save
from relvec.likelihoods import IdentityTransform, LogTransform, YeoJohnsonTransform
from relvec.moments import SufficientStatistics
from relvec.reporting import make_report
from tests.estimators import checks

REGRESSORS = [RVMRegressor(), SparseBayesRegressor(LinearBasis()), DRVMRegressor()]


def make_sales(n_rows, seed, kind="lognormal"):
    """Make positive targets with multiplicative noise, and their expected values."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 3.0, size=(n_rows, 1))
    level = np.exp(1.0 + np.sin(1.5 * X[:, 0]))
    if kind == "lognormal":
        return X, level * np.exp(0.6 * rng.normal(size=n_rows)), level * np.exp(0.18)
    return X, level * rng.gamma(3.0, 1.0 / 3.0, size=n_rows), level


@pytest.fixture(scope="module")
def sales():
    X, y, _ = make_sales(150, 7)
    return X, y


@pytest.fixture(scope="module")
def logs(sales):
    return RVMRegressor(target_transform="log").fit(*sales)


def test_log_is_a_fit_to_logarithms(sales, logs):
    X, y = sales
    plain = RVMRegressor().fit(X, np.log(y))
    np.testing.assert_array_equal(logs.coef_, plain.coef_)
    assert logs.noise_variance_ == plain.noise_variance_
    mean, std = plain.predict(X, return_std=True)
    np.testing.assert_allclose(logs.predict(X), np.exp(mean + 0.5 * std**2))
    np.testing.assert_allclose(
        logs.predict_interval(X, 0.8), np.exp(plain.predict_interval(X, 0.8))
    )
    np.testing.assert_allclose(
        logs.log_predictive_density(X, y), plain.log_predictive_density(X, np.log(y)) - np.log(y)
    )
    # The evidence is that of n - 1 contrasts.
    jacobian = -149.0 / 150.0 * np.log(y).sum()
    assert logs.log_evidence_ == pytest.approx(plain.log_evidence_ + jacobian)
    assert logs.objective_ == pytest.approx(plain.objective_ + jacobian)


def test_without_an_intercept_all_rows_count(sales):
    X, y = sales
    options = {"gamma": 0.5, "fit_intercept": False}
    plain = RVMRegressor(**options).fit(X, np.log(y))
    logs = RVMRegressor(**options, target_transform="log").fit(X, y)
    assert logs.log_evidence_ == pytest.approx(plain.log_evidence_ - np.log(y).sum())


@pytest.mark.parametrize("kind", ["auto", "log", "yeo-johnson"])
def test_units_of_the_target_do_not_matter(sales, kind):
    """Cents instead of euros: the same model, and an evidence that counts the unit only."""
    X, y = sales
    one = RVMRegressor(gamma=0.5, target_transform=kind).fit(X, y)
    other = RVMRegressor(gamma=0.5, target_transform=kind).fit(X, 100.0 * y)
    np.testing.assert_allclose(other.predict(X), 100.0 * one.predict(X), rtol=1e-4)
    assert type(one.target_transform_) is type(other.target_transform_)
    shift = one.log_evidence_ - other.log_evidence_
    assert shift == pytest.approx(149.0 * np.log(100.0), abs=0.01)


def test_evidence_of_the_true_transform_is_larger(sales):
    X, y = sales
    kinds = {
        kind: RVMRegressor(target_transform=kind).fit(X, y).log_evidence_
        for kind in (None, "log", "yeo-johnson", "auto")
    }
    assert kinds["log"] > kinds[None] + 30.0
    assert kinds["yeo-johnson"] > kinds[None] + 30.0
    assert kinds["auto"] == kinds["log"]


def test_power_maximises_the_evidence(sales):
    """The cheap estimate of power and scale is close to the maximum of the actual evidence."""
    X, y = sales
    model = RVMRegressor(gamma=0.5, target_transform="yeo-johnson").fit(X, y)
    found = model.target_transform_

    def evidence(transform):
        fit = RVMRegressor(gamma=0.5).fit(X, transform.forward(y))
        return fit.log_evidence_ + 149.0 / 150.0 * transform.log_slope(y).sum()

    assert evidence(found) == pytest.approx(model.log_evidence_)
    powers = np.linspace(0.0, 2.0, 9)
    best = max(evidence(YeoJohnsonTransform(p, found.origin, found.scale)) for p in powers)
    assert model.log_evidence_ > best - 1.0


def test_mean_and_deviation_against_draws(logs):
    X = np.linspace(-2.0, 2.0, 4)[:, np.newaxis]
    mean, std = logs.predict(X, return_std=True)
    draws = logs.sample_y(X, 100_000, random_state=0)
    assert draws.min() > 0.0
    np.testing.assert_allclose(draws.mean(axis=1), mean, rtol=0.02)
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.05)
    function, function_std = logs.predict(X, return_std=True, include_noise=False)
    curves = logs.sample_y(X, 20_000, random_state=0, include_noise=False)
    np.testing.assert_allclose(function, mean)
    np.testing.assert_allclose(curves.mean(axis=1), mean, rtol=0.02)
    np.testing.assert_allclose(curves.std(axis=1), function_std, rtol=0.05)
    assert (function_std < std).all()
    limits = logs.predict_interval(X, 0.9, include_noise=False)
    inside = (limits[:, :1] < curves) & (curves < limits[:, 1:])
    np.testing.assert_allclose(inside.mean(axis=1), 0.9, atol=0.01)


def test_yeo_johnson_against_draws(sales):
    model = RVMRegressor(gamma=0.5, target_transform="yeo-johnson").fit(*sales)
    X = np.linspace(-2.0, 2.0, 3)[:, np.newaxis]
    mean, std = model.predict(X, return_std=True)
    draws = model.sample_y(X, 100_000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=1), mean, rtol=0.02)
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.06)
    curves = model.sample_y(X, 2000, random_state=0, include_noise=False)
    function, function_std = model.predict(X, return_std=True, include_noise=False)
    np.testing.assert_allclose(function, mean, rtol=1e-6)
    np.testing.assert_allclose(curves.std(axis=1), function_std, rtol=0.1)


def test_intervals_are_positive_and_asymmetric(sales, logs):
    X, _ = sales
    grid = np.linspace(-6.0, 6.0, 50)[:, np.newaxis]
    assert (logs.predict_interval(grid, 0.999) > 0.0).all()
    low, high = logs.predict_interval(X, 0.95).T
    mean = logs.predict(X)
    assert (high - mean > mean - low).all()
    assert (RVMRegressor().fit(*sales).predict_interval(X, 0.95)[:, 0] < 0.0).any()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lognormal", "gamma"])
def test_coverage_by_quartile_of_the_prediction(kind):
    """Of 50 % and 95 % intervals, over seeds that were not used to choose anything."""
    covered = {"none": [], "auto": []}
    for seed in range(500, 512):
        X, y, _ = make_sales(200, seed, kind)
        new, target, _ = make_sales(1000, seed + 10_000, kind)
        for name, option in (("none", None), ("auto", "auto")):
            model = RVMRegressor(target_transform=option).fit(X, y)
            quartile = np.argsort(np.argsort(model.predict(new))) * 4 // len(new)
            shares = []
            for coverage in (0.5, 0.95):
                low, high = model.predict_interval(new, coverage).T
                inside = (low <= target) & (target <= high)
                shares.append([inside[quartile == number].mean() for number in range(4)])
            covered[name].append(shares)
    half, most = np.mean(covered["auto"], axis=0)
    assert np.abs(half - 0.5).max() < 0.05
    assert np.abs(most - 0.95).max() < 0.025
    half, most = np.mean(covered["none"], axis=0)
    assert half[0] > 0.8  # small targets: far too wide
    assert half[3] < 0.45
    assert most[3] < 0.92


@pytest.mark.slow
def test_gaussian_targets_are_not_transformed():
    """At least 95 % of fits to Gaussian noise are the default fit, bit for bit."""
    kept = []
    for seed in range(700, 712):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-10.0, 10.0, size=(100, 1))
        sinc = np.sinc(X[:, 0] / np.pi)
        for y in (sinc + 0.1 * rng.normal(size=100), 5.0 + 3.0 * sinc + 0.5 * rng.normal(size=100)):
            auto, default = (
                RVMRegressor(target_transform="auto").fit(X, y),
                RVMRegressor().fit(X, y),
            )
            kept.append(isinstance(auto.target_transform_, IdentityTransform))
            if kept[-1]:
                np.testing.assert_array_equal(auto.predict(X), default.predict(X))
                assert auto.log_evidence_ == default.log_evidence_
    assert np.mean(kept) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["varying", "outliers", "heavy tails"])
def test_symmetric_noise_is_not_taken_for_skewness(kind):
    """Nearly all fits to symmetric noise of any kind are the default fit."""
    kept = []
    for seed in range(800, 812):
        rng = np.random.default_rng(seed)
        if kind == "varying":  # Goldberg, Williams & Bishop 1998
            x = rng.uniform(size=200)
            y = 2.0 * np.sin(2.0 * np.pi * x) + (x + 0.5) * rng.normal(size=200)
        else:
            x = rng.uniform(-10.0, 10.0, size=150)
            is_outlier = rng.random(150) < 0.1
            noise = rng.normal(size=150) * np.where(is_outlier, 10.0, 1.0)
            noise = noise if kind == "outliers" else rng.standard_t(3.0, size=150)
            y = np.sinc(x / np.pi) + 0.1 * noise
        model = RVMRegressor(target_transform="auto").fit(x[:, np.newaxis], y)
        kept.append(model.target_transform_ == IdentityTransform())
    assert np.mean(kept) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lognormal", "gamma", "outliers"])
def test_skewed_targets_are_transformed(kind):
    """All of them, also if the logarithm has little noise and outliers."""
    for seed in range(800, 806):
        X, y, mean = make_sales(200, seed, "gamma" if kind == "gamma" else "lognormal")
        if kind == "outliers":
            rng = np.random.default_rng(seed)
            std = np.where(rng.random(200) < 0.08, 0.5, 0.1)
            y = mean * np.exp(std * rng.normal(size=200))
        model = RVMRegressor(target_transform="auto").fit(X, y)
        assert model.target_transform_ != IdentityTransform()


def test_noise_that_varies_on_the_transformed_scale():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3.0, 3.0, size=(200, 1))
    std = 0.1 + 0.25 * (X[:, 0] + 3.0)
    y = np.exp(1.0 + np.sin(1.5 * X[:, 0]) + std * rng.normal(size=200))
    model = RVMRegressor(noise="heteroscedastic", target_transform="log").fit(X, y)
    plain = RVMRegressor(noise="heteroscedastic").fit(X, np.log(y))
    assert model.noise_gain_ == plain.noise_gain_ > 10.0
    grid = np.linspace(-2.5, 2.0, 5)[:, np.newaxis]
    np.testing.assert_allclose(
        model.predict_interval(grid), np.exp(plain.predict_interval(grid)), rtol=1e-10
    )
    draws = model.sample_y(grid, 100_000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=1), model.predict(grid), rtol=0.05)
    assert (model.predict([[9.0], [3.0]], return_std=True)[1] < 1e4).all()


@pytest.mark.parametrize("noise", ["student_t", "contaminated", "robust"])
def test_heavy_tailed_noise_is_refused(noise):
    X, y, _ = make_sales(60, 0)
    with pytest.raises(ValueError, match="with which a transformed target has no mean"):
        RVMRegressor(noise=noise, target_transform="auto").fit(X, y)


def test_targets_skewed_to_the_left():
    X, y, _ = make_sales(150, 3)
    model = RVMRegressor(gamma=0.5, target_transform="auto").fit(X, -y)
    transform = model.target_transform_
    assert isinstance(transform, YeoJohnsonTransform)
    assert transform.power > 1.5
    low, high = model.predict_interval(X, 0.9).T
    mean = model.predict(X)
    assert (mean - low > high - mean).all()


@pytest.mark.parametrize("regressor", REGRESSORS, ids=repr)
def test_every_regressor(regressor, tmp_path):
    """Clone, pickle, model file, pipeline, leave-one-out: the same in units of the target."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = np.exp(X[:, 0] - 0.5 * X[:, 1] + 0.3 * rng.normal(size=60))
    model = clone(regressor).set_params(target_transform="log").fit(X, y)
    assert model.target_transform_ == LogTransform()
    assert clone(model).target_transform == "log"
    assert model.score(X, y) > 0.6
    expected = model.predict(X, return_std=True)
    save(model, tmp_path / "model.relvec")
    for other in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model.relvec")):
        np.testing.assert_array_equal(other.predict(X, return_std=True), expected)
        assert other.target_transform_ == LogTransform()
        assert other.log_evidence_ == model.log_evidence_
    mean, std = model.leave_one_out(X, y)
    assert 0.5 < np.sqrt(np.mean(((y - mean) / std) ** 2)) < 2.0


def test_leave_one_out_is_that_of_logarithms(sales, logs):
    X, y = sales
    mean, std = RVMRegressor().fit(X, np.log(y)).leave_one_out(X, np.log(y))
    expected = np.exp(mean + 0.5 * std**2)
    np.testing.assert_allclose(logs.leave_one_out(X, y)[0], expected)


def test_yeo_johnson_in_a_file(sales, tmp_path):
    X, y = sales
    model = RVMRegressor(gamma=0.5, target_transform="yeo-johnson").fit(X, y - 3.0)
    save(model, tmp_path / "model.relvec")
    other = load(tmp_path / "model.relvec")
    assert other.target_transform_ == model.target_transform_
    np.testing.assert_array_equal(other.predict_interval(X), model.predict_interval(X))


def test_several_outputs_have_their_own_transforms(sales):
    X, y = sales
    noise = np.random.default_rng(0).normal(size=150)
    both = np.c_[y, np.sin(X[:, 0]) + 0.3 * noise]
    model = RVMRegressor(target_transform="auto").fit(X, both)
    assert model.target_transform_ == [LogTransform(), IdentityTransform()]
    assert model.predict(X).shape == (150, 2)
    assert (model.predict_interval(X)[:, 0, 0] > 0.0).all()
    assert model.sample_y(X, 3).shape == (150, 2, 3)
    assert model.log_predictive_density(X, both).shape == (150, 2)
    assert model.leave_one_out(X, both)[0].shape == (150, 2)


def test_weights_are_frequencies(sales):
    """Weight 2 is a row given twice; weight 0 a row left out, whatever its target is."""
    X, y = sales
    weight = np.random.default_rng(2).integers(0, 3, size=150).astype(float)
    repeated = np.repeat(np.arange(150), weight.astype(int))
    wrong = np.where(weight == 0.0, -1.0, y)
    for kind in ("log", "auto", "yeo-johnson"):
        options = {"gamma": 0.5, "target_transform": kind, "calibrate": False}
        weighted = RVMRegressor(**options).fit(X, y if kind == "yeo-johnson" else wrong, weight)
        again = RVMRegressor(**options).fit(X[repeated], y[repeated])
        grid = np.linspace(-3.0, 3.0, 20)[:, np.newaxis]
        np.testing.assert_allclose(weighted.predict(grid), again.predict(grid), rtol=2e-3)
        assert weighted.log_evidence_ == pytest.approx(again.log_evidence_, abs=0.02)


def test_order_of_rows(sales):
    X, y = sales
    order = np.random.default_rng(5).permutation(150)
    one = RVMRegressor(target_transform="auto").fit(X, y)
    other = RVMRegressor(target_transform="auto").fit(X[order], y[order])
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-4)


@pytest.mark.parametrize(("wrong", "named"), [(-2.0, "y = -2 in row 3"), (0.0, "y = 0 in row 3")])
def test_logarithms_need_positive_targets(sales, wrong, named):
    X, y = sales[0], sales[1].copy()
    y[3] = wrong
    with pytest.raises(ValueError, match=rf'(?s)needs positive targets; 1 of 150.*{named}.*"yeo-j'):
        RVMRegressor(target_transform="log").fit(X, y)
    model = RVMRegressor(gamma=0.5, target_transform="auto").fit(X, y)
    assert isinstance(model.target_transform_, YeoJohnsonTransform)
    assert not model.target_transform_.of_log


@pytest.mark.parametrize("kind", ["auto", "log", "yeo-johnson"])
@pytest.mark.parametrize("level", [3.0, 1e-8, 1e8])
def test_constant_targets(kind, level):
    X = np.linspace(0.0, 1.0, 20)[:, np.newaxis]
    model = RVMRegressor(gamma=1.0, target_transform=kind).fit(X, np.full(20, level))
    np.testing.assert_allclose(model.predict(X), level, rtol=1e-6)


@pytest.mark.parametrize("n_rows", [2, 5, 12])
@pytest.mark.parametrize("kind", ["auto", "log", "yeo-johnson"])
def test_few_rows(n_rows, kind):
    X, y, _ = make_sales(n_rows, 0)
    model = RVMRegressor(gamma=0.5, target_transform=kind, noise_variance=None).fit(X, y)
    assert np.isfinite(model.predict(X, return_std=True)).all()
    if kind == "auto" and n_rows < 10:
        assert model.target_transform_ == IdentityTransform()


def test_errors():
    X, y, _ = make_sales(40, 0)
    variance = np.full(40, 0.1)
    with pytest.raises(ValueError, match=r"target_transform must be one of .*or None; got 'exp'"):
        RVMRegressor(target_transform="exp").fit(X, y)
    with pytest.raises(ValueError, match="Use target_transform=None with known noise"):
        RVMRegressor(target_transform="log", noise_variance=0.1).fit(X, y)
    with pytest.raises(ValueError, match="Use target_transform=None with known noise"):
        RVMRegressor(target_transform="auto").fit(X, y, noise_variance=variance)
    model = RVMRegressor(gamma=0.5, target_transform="log").fit(X, y)
    with pytest.raises(ValueError, match=r"return_cov is not available.*`sample_y`"):
        model.predict(X, return_cov=True)
    with pytest.raises(ValueError, match=r"noise_variance, .*is not available"):
        model.predict(X, return_std=True, noise_variance=0.1)
    with pytest.raises(ValueError, match="needs positive targets"):
        model.leave_one_out(X, -y)
    with pytest.raises(ExportError, match=r"target_transform_\.forward\(y\)"):
        export_python(model, "model.py")
    basis = KernelBasis(gamma=0.5, centers=X[:5])
    atoms = basis.bind(X).atoms
    statistics = SufficientStatistics(5).update(atoms.evaluate(X), y)
    with pytest.raises(ValueError, match="needs the targets, which moments do not contain"):
        SparseBayesRegressor.from_moments(statistics, basis, X, target_transform="log")


def test_components_are_those_of_the_transformed_target(sales):
    X, y = sales
    basis = KernelBasis(gamma=0.5) + LinearBasis()
    model = SparseBayesRegressor(basis, target_transform="log", error_bars="plain").fit(X, y)
    total = model.predict_components(X).sum(axis=1) + model.intercept_
    median = np.sqrt(model.predict_interval(X, 0.5).prod(axis=1))
    np.testing.assert_allclose(np.exp(total), median)


def test_other_tools_use_it(sales, logs):
    X, y = sales
    grid = GridSearchCV(RVMRegressor(gamma=0.5), {"target_transform": [None, "log"]}, cv=3)
    assert grid.fit(X, y).best_params_["target_transform"] in (None, "log")
    pipeline = make_pipeline(StandardScaler(), RVMRegressor(target_transform="log")).fit(X, y)
    assert (pipeline.predict(X) > 0.0).all()
    compute_atom_evidence(logs, X, y, None, None)
    report = explore_optima(RVMRegressor(gamma=0.5, target_transform="log"), X, y, n_runs=2)
    assert report.rank == 1
    warm = RVMRegressor(gamma=0.5, target_transform="log", warm_start=True).fit(X, y)
    first = warm.log_evidence_
    assert warm.fit(X, y).log_evidence_ == pytest.approx(first, abs=0.1)
    assert warm.set_params(target_transform=None).fit(X, y).target_transform_ == IdentityTransform()


@pytest.mark.slow
def test_reports(sales, logs):
    X, y = sales
    default = make_report(RVMRegressor().fit(X, y), X, y, cv=3)
    assert "The residuals are skewed" in default.html
    report = make_report(logs, X, y, cv=3, n_bootstrap=3)
    assert "The residuals are skewed" not in report.html
    assert "transform of the target" in report.html
    (training, *_) = report.metrics.values() if isinstance(report.metrics, dict) else report.metrics
    assert training is not None
    assert report.evidence.log_evidence == logs.log_evidence_
    assert report.evidence.log_evidence_gain > 10.0


@pytest.mark.estimator_check
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:Rows are repeated"
)
@checks.parametrize_with_checks_of_the_configuration(
    [RVMRegressor(target_transform="auto"), RVMRegressor(target_transform="yeo-johnson")]
)
def test_scikit_learn_check(estimator, check):
    checks.run(estimator, check)
