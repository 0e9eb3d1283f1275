"""Error bars of 95 %: how often they hold, inside the data, in a gap, and outside."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from relvec import DRVMRegressor, RVMRegressor, SparseBayesRegressor
from relvec.bases import KernelBasis, LinearBasis, PolynomialBasis

# A few of many fits may end a hair before the tolerance; that is not what is measured here.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LINE = np.linspace(-10, 10, 801)
IN_GAP = (LINE > 1.5) & (LINE < 6)
REGIONS = {
    "in data": LINE[~IN_GAP],
    "gap": LINE[IN_GAP],
    "edge": np.concatenate([np.linspace(-12.5, -10, 100), np.linspace(10, 12.5, 100)]),
    "outside": np.concatenate([np.linspace(-16, -12.5, 100), np.linspace(12.5, 16, 100)]),
}


def judge(model, X, target):
    """Return the share of targets inside 95 % intervals and the negative log density."""
    low, high = model.predict_interval(X, 0.95).T
    return (
        np.mean((low <= target) & (target <= high)),
        -model.log_predictive_density(X, target).mean(),
    )


def sinc_with_a_gap(error_bars, n_seeds=16):
    """Average coverage and nlpd of each region over draws of 100 noisy points."""
    results = {name: [] for name in REGIONS}
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-10, 5.5, 100)
        x = np.where(x > 1.5, x + 4.5, x)
        y = np.sinc(x / np.pi) + 0.1 * rng.standard_normal(100)
        model = RVMRegressor(error_bars=error_bars).fit(x[:, None], y)
        for name, line in REGIONS.items():
            new = np.sinc(line / np.pi) + 0.1 * rng.standard_normal(len(line))
            results[name].append(judge(model, line[:, None], new))
    return {name: np.mean(values, axis=0) for name, values in results.items()}


@pytest.fixture(scope="module")
def sinc_results():
    return {kind: sinc_with_a_gap(kind) for kind in ("novelty", "plain", "augmented")}


def test_default_is_novelty():
    assert RVMRegressor().error_bars == "novelty"


@pytest.mark.slow
def test_coverage_inside_the_data(sinc_results):
    assert 0.93 <= sinc_results["novelty"]["in data"][0] <= 0.97


@pytest.mark.slow
def test_coverage_in_a_gap(sinc_results):
    assert sinc_results["novelty"]["gap"][0] >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize(("region", "least"), [("edge", 0.95), ("outside", 0.97)])
def test_coverage_outside(sinc_results, region, least):
    assert sinc_results["novelty"][region][0] >= least


@pytest.mark.slow
@pytest.mark.parametrize("region", ["gap", "outside"])
def test_plain_error_bars_fail_where_nothing_is_known(sinc_results, region):
    plain, novelty = sinc_results["plain"][region], sinc_results["novelty"][region]
    assert plain[0] < 0.85
    assert plain[0] < novelty[0] - 0.1
    assert plain[1] > novelty[1]


@pytest.mark.slow
def test_novelty_costs_nothing_inside_the_data(sinc_results):
    assert sinc_results["novelty"]["in data"][1] <= sinc_results["plain"]["in data"][1] + 0.01


@pytest.mark.slow
def test_augmentation_lies_between(sinc_results):
    coverage = {kind: result["gap"][0] for kind, result in sinc_results.items()}
    assert coverage["plain"] < coverage["augmented"] <= coverage["novelty"] + 0.02


@pytest.mark.slow
@pytest.mark.parametrize("curve", [lambda x: (x - 5.0) ** 2, lambda x: 2.0 * np.exp(x / 3.0)])
def test_coverage_where_a_curve_goes_on(curve):
    """Just outside the data the band holds both the curve as it goes on and the mean of targets."""
    covered = []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        x, line = rng.uniform(0, 10, 60), np.r_[np.linspace(-3, 0, 50), np.linspace(10, 13, 50)]
        model = RVMRegressor().fit(x[:, None], curve(x) + rng.normal(size=60))
        covered.append(judge(model, line[:, None], curve(line) + rng.normal(size=100))[0])
    assert np.mean(covered) >= 0.90


# ------------------------------------------------------------------ Boston housing


@pytest.fixture(scope="module")
def boston_results():
    folder = os.environ.get("RELVEC_DATA")
    if not folder:
        pytest.skip("set RELVEC_DATA to the folder that holds boston.npz")
    with np.load(Path(folder) / "boston.npz", allow_pickle=False) as data:
        X, y = data["X"], data["y"]
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    score = X @ np.linalg.svd(X, full_matrices=False)[2][0]
    score *= np.sign(score @ X[:, 0])  # the upper quarter has much crime and industry
    is_low = score <= np.quantile(score, 0.75)
    low, high = np.flatnonzero(is_low), np.flatnonzero(~is_low)
    models = {
        "default": RVMRegressor(),
        "novelty": RVMRegressor(gamma=1 / 16),
        "plain": RVMRegressor(gamma=1 / 16, error_bars="plain"),
    }
    results = {name: [] for name in models}
    for seed in range(10):
        shuffled = np.random.default_rng(seed).permutation(low)
        train, test = shuffled[:200], shuffled[200:]
        for name, model in models.items():
            model.fit(X[train], y[train])
            results[name].append([judge(model, X[rows], y[rows]) for rows in (test, high)])
    return {kind: np.array(values) for kind, values in results.items()}


@pytest.mark.slow
def test_boston_far_from_the_training_districts(boston_results):
    default, novelty, plain = (each.mean(axis=0)[1] for each in boston_results.values())
    assert default[0] >= 0.85
    assert novelty[0] >= 0.85
    assert plain[0] < 0.5
    assert novelty[1] < plain[1] - 1.0


@pytest.mark.slow
def test_boston_density_near_the_training_districts(boston_results):
    novelty, plain = (boston_results[kind].mean(axis=0)[0] for kind in ("novelty", "plain"))
    assert novelty[0] > 0.92
    assert novelty[1] < plain[1]  # one factor for all rows does not know where they are novel


@pytest.mark.slow
def test_boston_coverage_near_the_training_districts(boston_results):
    """With a given width 93 to 97 %, within three standard errors over the splits."""
    coverage = boston_results["novelty"][:, 0, 0]
    error = coverage.std(ddof=1) / np.sqrt(len(coverage))
    assert error < 0.012
    assert 0.93 - 3 * error <= coverage.mean() <= 0.97 + 3 * error


# ------------------------------------------------------------------ beyond the data


def readme_example():
    rng = np.random.default_rng(0)
    X = rng.uniform(-10, 10, size=(100, 1))
    return X, np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=100)


@pytest.mark.parametrize("model", [RVMRegressor(), DRVMRegressor(), RVMRegressor(gamma=1 / 9)])
def test_far_away_the_mean_is_plausible_and_the_band_holds_the_truth(model):
    X, y = readme_example()
    model.fit(X, y)
    far = np.array([[30.0], [-40.0], [1e6]])
    mean, std = model.predict(far, return_std=True)
    assert (np.abs(mean - y.mean()) < 0.5).all()
    assert (np.abs(mean - np.sinc(far[:, 0] / np.pi)) < 2.0 * std).all()
    np.testing.assert_allclose(model.extrapolating(far), 1.0)
    assert (model.extrapolating(X) == 0.0).all()


def test_a_linear_part_goes_on_beyond_the_data():
    X = np.linspace(-5, 5, 60)[:, None]
    y = 2.0 * X[:, 0] + np.exp(-(X[:, 0] ** 2))
    y = y + 0.05 * np.random.default_rng(0).normal(size=60)
    model = SparseBayesRegressor(LinearBasis() + KernelBasis(gamma=1.0)).fit(X, y)
    assert model.predict([[50.0]])[0] == pytest.approx(100.0, rel=0.05)


@pytest.mark.parametrize(
    "model",
    [
        RVMRegressor(gamma=1 / 9, error_bars="plain"),
        SparseBayesRegressor(PolynomialBasis(3), min_gain=0.0),
    ],
)
def test_models_that_cannot_tell_say_so(model):
    X, y = readme_example()
    with pytest.raises(ValueError, match="cannot tell which inputs are beyond its data"):
        model.fit(X, y).extrapolating(X)


def test_a_model_without_atoms_is_the_same_everywhere():
    X, y = readme_example()
    model = RVMRegressor("linear").fit(X, y)
    assert not len(model.relevance_)
    np.testing.assert_array_equal(model.extrapolating([[0.0], [99.0]]), 0.0)


def test_repeated_rows_and_weights_have_the_same_band():
    X, y = readme_example()
    weight = np.r_[np.full(50, 2.0), np.ones(50)]
    twice = RVMRegressor(gamma=1 / 9).fit(np.r_[X[:50], X], np.r_[y[:50], y])
    weighted = RVMRegressor(gamma=1 / 9).fit(X, y, weight)
    far = np.linspace(-20, 20, 41)[:, None]
    for mine, theirs in zip(
        twice.predict(far, return_std=True), weighted.predict(far, return_std=True), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-6)


def test_the_units_of_targets_and_inputs_do_not_matter():
    X, y = readme_example()
    far = np.array([[0.0], [11.0], [30.0]])
    mean, std = RVMRegressor().fit(X, y).predict(far, return_std=True)
    other, wide = RVMRegressor().fit(1e6 * X, 3.0 + 1e-9 * y).predict(1e6 * far, return_std=True)
    np.testing.assert_allclose((other - 3.0) / 1e-9, mean, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(wide / 1e-9, std, rtol=1e-2)
