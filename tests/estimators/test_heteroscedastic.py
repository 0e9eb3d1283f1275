"""Noise variance that depends on the inputs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import DRVMRegressor, RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis
from relvec.estimators.fitted import fitted_problem
from relvec.io import export_c, export_python, load, save
from relvec.moments import SufficientStatistics


def make_rows(seed=0, n=200, varies=True):
    """Goldberg, Williams and Bishop (1998): the standard deviation grows from 1/2 to 3/2."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    std = x + 0.5 if varies else np.full(n, 0.75)
    return x[:, None], 2.0 * np.sin(2.0 * np.pi * x) + std * rng.normal(size=n), std


def make_several(seed=0, n=250):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, 3))
    std = 0.1 * np.exp(1.2 * X[:, 1])
    return X, np.sin(3.0 * X[:, 0]) + X[:, 1] + std * rng.normal(size=n), std


X, Y, STD = make_rows()
MODEL = RVMRegressor(noise="heteroscedastic").fit(X, Y)
CONSTANT = RVMRegressor().fit(X, Y)
NEW = np.array([[-4.0], [0.05], [0.5], [0.95], [6.0]])


def test_noise_level_follows_the_truth():
    assert MODEL.noise_gain_ > 5.0
    std, interval = MODEL.predict_noise(X, 0.95)
    assert np.corrcoef(std, STD)[0, 1] > 0.9
    inside = (interval[:, 0] < STD) & (interval[:, 1] > STD)
    assert inside.mean() > 0.7
    assert (interval[:, 0] < std).all()
    assert (std < interval[:, 1]).all()
    wider = MODEL.predict_noise(X, 0.99)[1]
    assert (wider[:, 0] < interval[:, 0]).all()
    np.testing.assert_array_equal(MODEL.predict_noise(X), std)


def test_evidence_is_comparable_with_constant_noise():
    gain = MODEL.log_evidence_ - CONSTANT.log_evidence_
    assert MODEL.noise_gain_ == pytest.approx(gain, abs=1e-9)
    assert CONSTANT.noise_gain_ == 0.0
    # the harmonic mean of the noise variances of the rows
    output = MODEL.outputs_[0]
    relative = output.find_row_variance(X, Y, None, None) / output.noise_unit
    rows = relative * output.posterior.noise_variance
    assert MODEL.noise_variance_ == pytest.approx(1.0 / np.mean(1.0 / rows), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("several", [False, True])
def test_constant_noise_is_the_default_fit_exactly(several):
    kept = 0
    for seed in range(300, 308):
        X, y, _ = make_rows(seed, 150, varies=False)
        if several:
            X = np.hstack([X, np.random.default_rng(seed).random((150, 2))])
        model = RVMRegressor(noise="heteroscedastic").fit(X, y)
        if model.noise_gain_ > 0.0:
            kept += 1
            continue
        default = RVMRegressor().fit(X, y)
        for mine, other in zip(
            model.predict(X, return_std=True), default.predict(X, return_std=True), strict=True
        ):
            np.testing.assert_array_equal(mine, other)
        assert model.log_evidence_ == default.log_evidence_
        assert model.outputs_[0].noise is None
    # 5 % of such data would be 0.4 of 8
    assert kept <= 1


@pytest.mark.slow
def test_predictions_are_better_and_intervals_cover_everywhere():
    better, inside = [], []
    for seed in range(400, 406):
        X, y, _ = make_rows(seed)
        X_new, y_new, std = make_rows(seed + 5000, 800)
        default = RVMRegressor().fit(X, y)
        model = RVMRegressor(noise="heteroscedastic").fit(X, y)
        density = [m.log_predictive_density(X_new, y_new).mean() for m in (model, default)]
        better.append(density[0] - density[1])
        low, high = model.predict_interval(X_new).T
        covered = (low < y_new) & (y_new < high)
        inside.append([covered[rows].mean() for rows in np.array_split(np.argsort(std), 4)])
    assert np.mean(better) > 0.05
    assert (np.mean(inside, axis=0) > 0.90).all()
    assert (np.mean(inside, axis=0) < 0.985).all()


def test_all_predictions_have_the_local_noise():
    function, spread = MODEL.predict(NEW, return_std=True, include_noise=False)
    mean, std = MODEL.predict(NEW, return_std=True)
    np.testing.assert_array_equal(mean, function)
    noise = MODEL.predict_noise(NEW)
    np.testing.assert_allclose(std**2, spread**2 + noise**2, rtol=1e-9)
    covariance = MODEL.predict(NEW, return_cov=True)[1]
    np.testing.assert_allclose(covariance.diagonal(), std**2, rtol=1e-9)
    draws = MODEL.sample_y(NEW, 40_000)
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.05)
    low, high = np.quantile(draws, [0.05, 0.95], axis=1)
    np.testing.assert_allclose(MODEL.predict_interval(NEW, 0.9).T, [low, high], atol=0.12)
    # a density that integrates to one
    grid = np.linspace(-60.0, 60.0, 40_001)
    density = np.exp(MODEL.log_predictive_density(np.full((len(grid), 1), 0.3), grid))
    assert np.trapezoid(density, grid) == pytest.approx(1.0, abs=1e-6)


def test_far_from_the_data_the_noise_is_bounded():
    std = MODEL.predict_noise(np.array([[-1e6], [-3.0], [4.0], [1e6]]))
    np.testing.assert_allclose(std, std[0], rtol=1e-3)
    assert STD.min() < std[0] < STD.max()


def test_leave_one_out_is_the_refit_with_noise_held():
    mean, std = MODEL.leave_one_out(X, Y)
    output = MODEL.outputs_[0]
    posterior, atoms = output.posterior, output.atoms.evaluate(X)
    relative = output.find_row_variance(X, Y, None, None) / output.noise_unit
    precision = posterior.weight_precision
    noise = MODEL.predict_noise(X)
    for row in (0, 17, 120):
        others = np.arange(len(Y)) != row
        design = np.column_stack([atoms[others], np.ones(len(Y) - 1)])
        weight = 1.0 / (posterior.noise_variance * relative[others])
        hessian = design.T @ (design * weight[:, None]) + np.diag(np.append(precision, 0.0))
        covariance = np.linalg.inv(hessian)
        here = np.append(atoms[row], 1.0)
        expected = here @ covariance @ design.T @ (weight * Y[others])
        assert mean[row] == pytest.approx(expected, rel=1e-6)
        variance = output.calibration * here @ covariance @ here + noise[row] ** 2
        assert std[row] == pytest.approx(np.sqrt(variance), rel=1e-6)


def test_weights_are_copies_of_rows():
    count = np.random.default_rng(1).integers(0, 3, size=len(Y))
    rows = np.repeat(np.arange(len(Y)), count)
    weighted = clone(MODEL).fit(X, Y, sample_weight=count.astype(float))
    copied = clone(MODEL).fit(X[rows], Y[rows])
    assert weighted.noise_gain_ == pytest.approx(copied.noise_gain_, rel=1e-6)
    assert weighted.noise_gain_ > 0.0
    np.testing.assert_allclose(weighted.predict(NEW), copied.predict(NEW), rtol=1e-6)
    np.testing.assert_allclose(weighted.predict_noise(NEW), copied.predict_noise(NEW), rtol=1e-6)


def test_several_outputs_have_noise_of_their_own():
    steady = make_rows(3, varies=False)[1]
    targets = np.column_stack([Y, steady])
    model = RVMRegressor(gamma=10.0, noise="heteroscedastic").fit(X, targets)
    single = RVMRegressor(gamma=10.0, noise="heteroscedastic").fit(X, Y)
    default = RVMRegressor(gamma=10.0).fit(X, targets)
    assert model.noise_gain_[0] == pytest.approx(single.noise_gain_, rel=1e-9)
    assert model.noise_gain_[1] == 0.0
    assert model.outputs_[1].noise is None
    std, interval = model.predict_noise(NEW, 0.9)
    assert std.shape == (5, 2)
    assert interval.shape == (5, 2, 2)
    np.testing.assert_allclose(std[:, 0], single.predict_noise(NEW), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(NEW)[:, 1], default.predict(NEW)[:, 1])


@pytest.mark.slow
def test_several_features_and_drvm():
    X, y, std = make_several()
    for model in (RVMRegressor(noise="heteroscedastic"), DRVMRegressor(noise="heteroscedastic")):
        model.fit(X, y)
        assert model.noise_gain_ > 20.0
        assert np.corrcoef(np.log(model.predict_noise(X)), np.log(std))[0, 1] > 0.9
    kept = clone(model).set_params(length_scale_uncertainty=True).fit(X, y)
    assert kept.outputs_[0].scale_uncertainty is not None
    assert (kept.predict(X, return_std=True)[1] >= kept.predict_noise(X)).all()


def test_other_bases_and_inputs():
    X, y, std = make_several()
    straight = 2.0 * X[:, 1] + y - np.sin(3.0 * X[:, 0])
    linear = SparseBayesRegressor(LinearBasis(), noise="heteroscedastic")
    linear.fit(X, straight)
    assert np.corrcoef(np.log(linear.predict_noise(X)), np.log(std))[0, 1] > 0.9
    # of sparse inputs only the predicted level is used
    rows = sparse.csr_array(X)
    level = clone(linear).fit(rows, straight)
    assert not len(level.outputs_[0].noise.dictionary.features)
    assert np.corrcoef(np.log(level.predict_noise(rows)), np.log(std))[0, 1] > 0.9
    mixed = SparseBayesRegressor(
        KernelBasis(gamma=1.0) + LinearBasis(), noise="heteroscedastic"
    ).fit(X, y)
    assert np.corrcoef(np.log(mixed.predict_noise(X)), np.log(std))[0, 1] > 0.9


def test_noise_of_a_kernel_matrix_depends_on_the_level():
    X, y, _ = make_rows(6)
    y = 3.0 * X[:, 0] + 0.1 * np.exp(2.5 * X[:, 0]) * np.random.default_rng(6).normal(size=200)
    kernel = np.exp(-((X - X.T) ** 2))
    model = RVMRegressor("precomputed", noise="heteroscedastic").fit(kernel, y)
    assert model.noise_gain_ > 10.0
    truth = 0.1 * np.exp(2.5 * X[:, 0])
    assert np.corrcoef(np.log(model.predict_noise(kernel)), np.log(truth))[0, 1] > 0.9


def test_files_pickles_and_clones(tmp_path):
    save(MODEL, tmp_path / "model.relvec")
    for copy in (load(tmp_path / "model.relvec"), pickle.loads(pickle.dumps(MODEL))):
        np.testing.assert_array_equal(
            copy.predict_noise(NEW, 0.9)[1], MODEL.predict_noise(NEW, 0.9)[1]
        )
        np.testing.assert_array_equal(copy.predict_interval(NEW), MODEL.predict_interval(NEW))
    assert clone(MODEL).noise == "heteroscedastic"


def test_exports_of_error_bars_raise_and_means_are_exported():
    for export in (export_python, export_c):
        with pytest.raises(ValueError, match="noise is not constant .*std=False"):
            export(MODEL)
        assert "noise" not in export(MODEL, std=False)


def test_pipelines_and_cross_validation():
    model = make_pipeline(StandardScaler(), RVMRegressor(gamma=0.5, noise="heteroscedastic"))
    assert cross_val_score(model, X, Y, cv=3).mean() > 0.4


def test_problem_of_a_fitted_model_has_its_noise():
    problem, _ = fitted_problem(MODEL, X, Y)
    output = MODEL.outputs_[0]
    assert problem.moments.target_mean == pytest.approx(output.posterior.target_mean, rel=1e-9)
    assert fitted_problem(CONSTANT, X, Y)[0].moments.target_mean == pytest.approx(Y.mean())


def test_constant_and_exact_targets():
    line = np.linspace(0.0, 1.0, 30)[:, None]
    for target in (np.full(30, 2.0), 3.0 * line[:, 0]):
        model = SparseBayesRegressor(LinearBasis(), noise="heteroscedastic").fit(line, target)
        assert model.noise_gain_ == 0.0
        assert np.isfinite(model.predict_noise(line)).all()


def test_invalid_use():
    with pytest.raises(ValueError, match="noise must be one of .*'heteroscedastic'"):
        RVMRegressor(noise="varying").fit(X, Y)
    with pytest.raises(ValueError, match="estimates the noise, but noise_variance"):
        RVMRegressor(noise="heteroscedastic", noise_variance=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="coverage must"):
        MODEL.predict_noise(X, 1.0)
    known = RVMRegressor(gamma=10.0).fit(X, Y, noise_variance=STD**2)
    with pytest.raises(ValueError, match="the noise of new rows is not known"):
        known.predict_noise(X)
    basis = KernelBasis(gamma=10.0, centers=X[:20])
    atoms = basis.bind(X).atoms
    moments = SufficientStatistics(len(atoms)).update(atoms.evaluate(X), Y)
    with pytest.raises(ValueError, match="needs the training rows, which moments do not contain"):
        SparseBayesRegressor.from_moments(moments, basis, X, noise="heteroscedastic")


@pytest.mark.slow
def test_interval_of_constant_noise_is_that_of_a_variance_estimate():
    inside = []
    for seed in range(40):
        X, y, std = make_rows(seed, 60, varies=False)
        low, high = RVMRegressor(gamma=10.0).fit(X, y).predict_noise(X[:1], 0.9)[1][0]
        inside.append(low < std[0] < high)
    assert 0.75 < np.mean(inside) <= 1.0
