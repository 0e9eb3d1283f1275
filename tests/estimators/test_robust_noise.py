"""Regressors with heavy-tailed noise: outliers, clean data, attributes, predictions, files."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import DRVMRegressor, RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis
from relvec.datasets import make_friedman
from relvec.io import load, save
from relvec.likelihoods import ContaminatedNoise, StudentNoise
from relvec.moments import SufficientStatistics

NEUTRAL = {"df_": np.inf, "noise_gain_": 0.0}
LINE = np.linspace(-10.0, 10.0, 50)[:, None]


def sinc(X):
    return np.sinc(X[:, 0] / np.pi)


def make_sinc(seed, share=0.0, n=100):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10.0, 10.0, size=(n, 1))
    is_outlier = rng.random(n) < share
    size = rng.uniform(1.0, 4.0, n) * rng.choice([-1.0, 1.0], n)
    return X, sinc(X) + 0.1 * rng.normal(size=n) + is_outlier * size, is_outlier


@pytest.fixture(scope="module")
def contaminated():
    X, y, is_outlier = make_sinc(3, 0.15, n=150)
    return RVMRegressor(noise="robust").fit(X, y), X, y, is_outlier


@pytest.fixture(scope="module")
def student():
    rng = np.random.default_rng(7)
    X = rng.uniform(-10.0, 10.0, size=(150, 1))
    y = sinc(X) + 0.1 * rng.standard_t(2.0, size=150)
    return RVMRegressor(noise="robust").fit(X, y), X, y


def test_outliers_have_no_influence_and_are_found(contaminated):
    model, X, y, is_outlier = contaminated
    (noise,) = (output.noise for output in model.outputs_)
    assert isinstance(noise, ContaminatedNoise)
    rmse = np.sqrt(np.mean((model.predict(LINE) - sinc(LINE)) ** 2))
    plain = RVMRegressor().fit(X, y)
    assert rmse < 0.05
    assert rmse < 0.3 * np.sqrt(np.mean((plain.predict(LINE) - sinc(LINE)) ** 2))
    np.testing.assert_array_equal(model.outlier_probability_ > 0.5, is_outlier)
    assert model.row_weight_[is_outlier].max() < 0.05
    assert model.row_weight_[~is_outlier].min() > 0.3
    assert model.contamination_ == pytest.approx([noise.share, noise.ratio])
    assert model.contamination_[0] == pytest.approx(is_outlier.mean(), abs=0.05)
    assert model.noise_variance_**0.5 == pytest.approx(0.1, rel=0.25)
    assert model.noise_gain_ > 100.0
    assert model.df_ == np.inf
    assert model.log_evidence_ > plain.log_evidence_ + 100.0


def test_student_t_noise_is_chosen_where_it_is_right(student):
    model, X, y = student
    assert isinstance(model.outputs_[0].noise, StudentNoise)
    assert 1.0 <= model.df_ < 6.0
    np.testing.assert_array_equal(model.contamination_, [0.0, 1.0])
    rmse = np.sqrt(np.mean((model.predict(LINE) - sinc(LINE)) ** 2))
    assert rmse < np.sqrt(np.mean((RVMRegressor().fit(X, y).predict(LINE) - sinc(LINE)) ** 2))


@pytest.mark.parametrize("noise", ["student_t", "contaminated", "robust"])
def test_clean_data_give_the_default_fit_exactly(noise):
    X, y, _ = make_sinc(4)
    plain, model = RVMRegressor().fit(X, y), RVMRegressor(noise=noise).fit(X, y)
    for each in ({"return_std": True}, {"return_cov": True}):
        for one, other in zip(
            plain.predict(LINE, **each), model.predict(LINE, **each), strict=True
        ):
            np.testing.assert_array_equal(one, other)
    assert model.log_evidence_ == plain.log_evidence_
    np.testing.assert_array_equal(model.row_weight_, np.ones(len(y)))
    np.testing.assert_array_equal(model.outlier_probability_, np.zeros(len(y)))
    for name, value in NEUTRAL.items():
        assert getattr(model, name) == value
    assert not hasattr(plain, "row_weight_")


@pytest.mark.slow
def test_structure_that_outliers_hide_is_found():
    """The default fit has no features, or is linear."""
    X, y, _ = make_sinc(100, 0.3)
    assert RVMRegressor().fit(X, y).model_kind_ in ("null", "none")
    model = RVMRegressor(noise="contaminated").fit(X, y)
    assert model.model_kind_ == "isotropic"
    assert np.sqrt(np.mean((model.predict(LINE) - sinc(LINE)) ** 2)) < 0.08
    X, y = make_friedman(1, n_samples=150, random_state=5)
    rng = np.random.default_rng(0)
    y[:12] += rng.choice([-1.0, 1.0], 12) * rng.uniform(10.0, 40.0, 12)
    new, truth = make_friedman(1, n_samples=300, noise=0.0, random_state=6)
    errors = [
        np.sqrt(np.mean((RVMRegressor(noise=noise).fit(X, y).predict(new) - truth) ** 2))
        for noise in ("constant", "contaminated")
    ]
    assert errors[1] < 1.0 < 2.0 < errors[0]


def test_predictions_are_mixtures_of_the_fitted_noise(contaminated, student):
    for model, *_ in (contaminated, student):
        (output,) = model.outputs_
        mean, spread = model.predict(LINE, return_std=True, include_noise=False)
        rng, noise = np.random.default_rng(0), output.noise.components(np.zeros((20_000, 1)))
        draws = noise.sample(1, rng)[:, 0]
        scale = np.sqrt(model.calibration_ * model.noise_variance_)
        target = mean[7] + spread[7] * rng.standard_normal(20_000) + scale * draws
        lower, upper = model.predict_interval(LINE[7:8], coverage=0.9)[0]
        assert np.mean((target > lower) & (target < upper)) == pytest.approx(0.9, abs=0.01)
        sample = model.sample_y(LINE[7:8], n_samples=20_000)[0]
        assert np.mean((sample > lower) & (sample < upper)) == pytest.approx(0.9, abs=0.01)
        grid = np.linspace(lower, upper, 4001)
        density = np.exp(model.log_predictive_density(np.repeat(LINE[7:8], 4001, axis=0), grid))
        assert np.trapezoid(density, grid) == pytest.approx(0.9, abs=1e-3)


def test_covariance_is_that_of_the_expected_information(contaminated, student):
    for model, X, y, *_ in (contaminated, student):
        (output,) = model.outputs_
        posterior, atoms = output.posterior, output.atoms.evaluate(X)
        squared = (y - posterior.predict(atoms)) ** 2 + posterior.variance(atoms)
        # Weights of the last regression differ from these by the last step of the search.
        weight = output.noise.information_ratio * output.noise.row_weight(squared)
        columns = np.column_stack([atoms, np.ones(len(y))])
        precision = columns.T @ (columns * weight[:, None]) / model.noise_variance_
        precision += np.diag(np.append(model.weight_precision_, 0.0))
        expected = np.sqrt(np.einsum("ij,jk,ik->i", columns, np.linalg.inv(precision), columns))
        np.testing.assert_allclose(np.sqrt(posterior.variance(atoms)), expected, rtol=0.05)


def test_leave_one_out(contaminated, student):
    model, X, y, is_outlier = contaminated
    mean, std = model.leave_one_out(X, y)
    fitted = model.predict(X)
    # an outlier had no influence: without it the prediction is the same
    np.testing.assert_allclose(mean[is_outlier], fitted[is_outlier], atol=0.01)
    away = np.abs(y - mean)[~is_outlier]
    assert (away >= np.abs(y - fitted)[~is_outlier] - 1e-9).all()
    assert np.std(y[~is_outlier] - mean[~is_outlier]) == pytest.approx(0.1, rel=0.25)
    _, total = model.predict(X, return_std=True)
    np.testing.assert_allclose(std, total, rtol=0.2)
    model, X, y = student
    mean, _ = model.leave_one_out(X, y)
    assert np.isfinite(mean).all()


def test_error_bars_far_away_are_those_of_the_function_not_of_outliers(contaminated):
    model, *_ = contaminated
    _, far = model.predict([[60.0]], return_std=True, include_noise=False)
    # the standard deviation of sinc itself is 0.33, that of the targets about 1
    assert 0.15 < far[0] < 0.6


@pytest.mark.slow
def test_frequency_weights_are_copies():
    X, y, _ = make_sinc(5, 0.1, n=60)
    count = np.random.default_rng(1).integers(0, 3, 60)
    weighted = RVMRegressor(gamma=0.06, noise="robust").fit(X, y, sample_weight=count)
    copied = RVMRegressor(gamma=0.06, noise="robust")
    copied.fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(weighted.predict(LINE), copied.predict(LINE), atol=1e-4)
    assert weighted.noise_gain_ == pytest.approx(copied.noise_gain_, abs=0.01)
    np.testing.assert_allclose(
        np.repeat(weighted.outlier_probability_, count), copied.outlier_probability_, atol=1e-3
    )


@pytest.mark.slow
def test_every_output_has_its_own_noise():
    X, y, is_outlier = make_sinc(6, 0.15)
    clean = np.cos(X[:, 0] / 2.0) + 0.1 * np.random.default_rng(0).normal(size=100)
    model = RVMRegressor(noise="robust").fit(X, np.column_stack([y, clean]))
    assert isinstance(model.outputs_[0].noise, ContaminatedNoise)
    assert model.outputs_[1].noise is None
    assert model.outlier_probability_.shape == model.row_weight_.shape == (100, 2)
    assert model.contamination_.shape == (2, 2)
    np.testing.assert_array_equal(model.outlier_probability_[:, 0] > 0.5, is_outlier)
    np.testing.assert_array_equal(model.row_weight_[:, 1], np.ones(100))
    assert model.noise_gain_[0] > 50.0 > model.noise_gain_[1] == 0.0
    assert model.df_.tolist() == [np.inf, np.inf]
    mean, std = model.predict(LINE, return_std=True)
    assert np.sqrt(np.mean((mean[:, 0] - sinc(LINE)) ** 2)) < 0.06
    assert np.sqrt(np.mean((mean[:, 1] - np.cos(LINE[:, 0] / 2.0)) ** 2)) < 0.06
    assert std[:, 1].max() < 0.3 < std[:, 0].min()


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        SparseBayesRegressor(KernelBasis(gamma=0.06) + LinearBasis(), noise="robust"),
        SparseBayesRegressor(LinearBasis(), noise="contaminated"),
        DRVMRegressor(noise="robust"),
        RVMRegressor(gamma=0.06, noise="student_t", error_bars="augmented"),
        RVMRegressor(gamma=0.06, noise="robust", fit_intercept=False, calibrate=False),
        RVMRegressor(gamma=0.06, noise="robust", prior="bic"),
        make_pipeline(StandardScaler(), RVMRegressor(noise="robust")),
    ],
    ids=["sum", "linear", "drvm", "augmented", "no_intercept", "bic", "pipeline"],
)
def test_every_regressor_and_option(model):
    X, y, is_outlier = make_sinc(8, 0.1, n=80)
    truth = sinc(LINE)
    if "LinearBasis(), noise" in repr(model):
        y, truth = y - sinc(X) + 0.3 * X[:, 0], 0.3 * LINE[:, 0]
    fitted = clone(model).fit(X, y)
    clean = clone(model).fit(X[~is_outlier], y[~is_outlier])
    error, least = (np.sqrt(np.mean((each.predict(LINE) - truth) ** 2)) for each in (fitted, clean))
    assert error < 1.3 * least + 0.01
    last = fitted if not hasattr(fitted, "steps") else fitted[-1]
    assert last.outlier_probability_[is_outlier].min() > 0.5


STRESS = {
    "all_outliers": lambda X, y: (X, 100.0 * np.random.default_rng(0).standard_cauchy(len(y))),
    "five_rows": lambda X, y: (X[:5], np.append(y[:4], 50.0)),
    "one_row": lambda X, y: (X[:1], y[:1]),
    "constant": lambda X, y: (X, np.full(len(y), 3.0)),
    "constant_but_one": lambda X, y: (X, np.append(np.zeros(len(y) - 1), 1.0)),
    "far_outlier": lambda X, y: (X, np.append(y[:-1], 1e5)),
    "copies": lambda X, y: (np.tile(X, (2, 1)), np.tile(y, 2)),
    "half": lambda X, y: (X, y + np.where(np.arange(len(y)) % 2, 3.0, 0.0)),
    "no_noise": lambda X, y: (X, sinc(X) + np.where(np.arange(len(y)) == 7, 3.0, 0.0)),
    "mostly_zero": lambda X, y: (X, np.where(np.arange(len(y)) % 3, 0.0, y)),
    "large_units": lambda X, y: (X, 1e12 * np.append(y[:-1], 5.0)),
    "small_units": lambda X, y: (X, 1e-12 * np.append(y[:-1], 5.0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", STRESS)
def test_stress(case):
    X, y = STRESS[case](*make_sinc(9, n=50)[:2])
    with warnings.catch_warnings():
        for text in ("Rows are repeated", ".*cannot estimate the noise variance"):
            warnings.filterwarnings("ignore", text, UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RVMRegressor(noise="robust").fit(X, y)
    found = [*model.predict(X, return_std=True), *model.leave_one_out(X, y)]
    found += [model.predict_interval(X), model.log_predictive_density(X, y), model.sample_y(X, 2)]
    found += [model.outlier_probability_, model.row_weight_, model.noise_gain_]
    assert all(np.isfinite(each).all() for each in found)
    assert (model.row_weight_ > 0.0).all()
    if case in ("far_outlier", "large_units", "small_units"):
        assert model.row_weight_.argmin() == len(y) - 1
        assert model.outlier_probability_[-1] > 0.99
    if case == "no_noise":
        assert np.abs(model.predict(X) - sinc(X)).max() < 1e-4


def test_units_have_no_effect(contaminated):
    model, X, y, _ = contaminated
    other = RVMRegressor(noise="robust").fit(2.0 * X + 5.0, 1e3 * y - 7.0)
    np.testing.assert_allclose(other.predict(2.0 * X + 5.0), 1e3 * model.predict(X) - 7.0, atol=1.0)
    np.testing.assert_allclose(other.row_weight_, model.row_weight_, atol=1e-3)


def test_files_pickles_and_clones(contaminated, student, tmp_path):
    for number, (model, *_) in enumerate((contaminated, student)):
        save(model, tmp_path / f"{number}.relvec")
        for other in (load(tmp_path / f"{number}.relvec"), pickle.loads(pickle.dumps(model))):
            for one, two in zip(
                model.predict(LINE, return_std=True),
                other.predict(LINE, return_std=True),
                strict=True,
            ):
                np.testing.assert_array_equal(one, two)
            np.testing.assert_array_equal(other.row_weight_, model.row_weight_)
            assert other.df_ == model.df_
        fresh = clone(model)
        assert fresh.noise == "robust"
        assert not hasattr(fresh, "row_weight_")


def test_a_later_fit_with_constant_noise_has_no_such_attributes():
    X, y, _ = make_sinc(4)
    model = RVMRegressor(gamma=0.06, noise="robust").fit(X, y)
    assert hasattr(model, "outlier_probability_")
    model.set_params(noise="constant").fit(X, y)
    for name in ("outlier_probability_", "row_weight_", "df_", "contamination_"):
        assert not hasattr(model, name)


def test_errors():
    X, y, _ = make_sinc(4)
    with pytest.raises(ValueError, match=r"noise must be one of .*robust.*got 'huber'"):
        RVMRegressor(noise="huber").fit(X, y)
    with pytest.raises(ValueError, match="noise_variance"):
        RVMRegressor(noise="robust", noise_variance=0.1).fit(X, y)
    basis = KernelBasis(gamma=0.06, centers=LINE)
    statistics = SufficientStatistics(50).update(basis.bind(X).atoms.evaluate(X), y)
    with pytest.raises(ValueError, match="noise='robust' needs the training rows"):
        SparseBayesRegressor.from_moments(statistics, basis, X, noise="robust")


def test_displays_draw_the_intervals_of_the_mixture(contaminated):
    pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    from relvec.plotting import PredictedObservedDisplay, RegressionFitDisplay

    model, X, y, _ = contaminated
    along = RegressionFitDisplay.from_estimator(model, X, y, coverage=0.8)
    limits = model.predict_interval(along.x[:, None], coverage=0.8)
    (path,) = along.band_.get_paths()
    assert path.vertices[:, 1].max() == pytest.approx(limits.max())
    observed = PredictedObservedDisplay.from_estimator(model, X, y, coverage=0.8)
    lower, upper = model.predict_interval(X, coverage=0.8).T
    assert observed.coverage_ == pytest.approx(np.mean((y >= lower) & (y <= upper)))
    pyplot.close("all")
