"""What the guide claims of priors, inputs and outliers, on data of its own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import train_test_split

from relvec import (
    DRVMRegressor,
    PFCVMClassifier,
    RVMClassifier,
    RVMRegressor,
    SmoothDenoiser,
    SparseBayesRegressor,
)
from relvec.bases import LinearBasis, WaveletBasis
from relvec.datasets import make_friedman, make_noisy_signal, make_ring
from relvec.solvers.gaussian.rate import MAX_ERROR_RATIO
from tests.helpers_claims import GUIDE, claimed


def test_a_third_of_useless_columns_stay_without_a_penalty() -> None:
    (share,) = claimed(GUIDE / "bases.md", r"still raises the evidence with probability #")
    assert chi2.sf(1.0, 1) == pytest.approx(share, abs=0.005)
    kept = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        model = SparseBayesRegressor(LinearBasis(), min_gain=0.0, effort="fast")
        kept.append(len(model.fit(rng.normal(size=(400, 60)), rng.normal(size=400)).coef_) / 60)
    assert np.mean(kept) == pytest.approx(share, abs=0.08)
    for page, words in {
        "idea": "About a third of irrelevant basis functions raise the evidence",
        "priors": "still raises the evidence (the marginal likelihood) with probability 0.32",
    }.items():
        assert words in (GUIDE / f"{page}.md").read_text("utf-8")


def test_a_third_of_the_power_of_the_noise_stays_without_a_penalty() -> None:
    pytest.importorskip("pywt")
    text = (GUIDE / "priors.md").read_text("utf-8")
    assert "Without a penalty, a third of the noise power remains." in text
    noise = np.random.default_rng(0).normal(size=8192)
    model = SmoothDenoiser("plain", prior="flat", noise_std=1.0, with_std=False).fit(noise)
    assert np.mean(model.signal_**2) == pytest.approx(1.0 / 3.0, abs=0.03)


@pytest.mark.slow
def test_few_inputs_that_do_not_matter_stay() -> None:
    (most,) = claimed(GUIDE / "features.md", r"at most # of those that do not matter")
    (often,) = claimed(GUIDE / "features.md", r"less than once in #")
    models = {
        "auto": DRVMRegressor(select="always", effort="fast", n_refinements=0, calibrate=False)
    }
    models["dear"] = clone(models["auto"]).set_params(min_feature_gain=3.0)
    kept: dict[str, list[int]] = {"auto": [], "dear": []}
    for seed in range(8):
        X, y = make_friedman(1, n_samples=120, n_features=20, random_state=2000 + seed)
        for name, model in models.items():
            support = model.fit(X, y).get_support()
            assert support[:5].all()
            kept[name].append(int(support[5:].sum()))
    assert np.mean(kept["auto"]) <= most
    assert sum(kept["dear"]) <= 8 * 15 / often + 2.0  # and chance


@pytest.mark.slow
def test_pictures_of_inputs() -> None:
    X, y = make_friedman(1, n_samples=240, random_state=0)
    model = DRVMRegressor().fit(X, y)
    relevance = model.feature_relevance_
    assert not relevance[5:].any()
    assert relevance[[3, 4]].max() < relevance[[0, 1]].min() / 50.0  # "a hundredth"
    assert np.argmax(model.feature_gain_) == 3
    kept, rows = claimed(GUIDE / "features.md", r"a disc, carried by # of # points")
    X, y = make_ring(int(rows), n_features=50, random_state=0)
    assert len(PFCVMClassifier().fit(X, y).relevance_) == kept


CURVES = {
    "sinc": lambda x: np.sinc(x / np.pi),
    "sine": np.sin,
    "step": np.tanh,
    "bump on a line": lambda x: 0.1 * x + np.exp(-(x**2) / 2),
}
DENSE = np.linspace(-9.5, 9.5, 600)[:, np.newaxis]


@pytest.mark.slow
@pytest.mark.parametrize("name", CURVES)
def test_a_penalty_makes_models_smaller_and_wide_kernels_make_curves_smoother(name: str) -> None:
    curve = CURVES[name]
    found: dict[str, list[tuple[float, ...]]] = {}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-10, 10, size=(100, 1))
        y = curve(X[:, 0]) + 0.3 * rng.normal(size=100)
        for label, options in {
            "narrow": {"gamma": 4.0},
            "narrow, penalised": {"gamma": 4.0, "prior": "bic"},
            "learnt": {},
        }.items():
            model = RVMRegressor(effort="fast", **options).fit(X, y)
            mean = model.predict(DENSE)
            rough = np.sqrt(np.mean(np.diff(mean, 2) ** 2))
            error = np.sqrt(np.mean((mean - curve(DENSE[:, 0])) ** 2))
            found.setdefault(label, []).append((len(model.relevance_), rough, error))
    averages = np.array([np.mean(rows, axis=0) for rows in found.values()]).T
    vectors, rough, error = (dict(zip(found, row, strict=True)) for row in averages)
    assert vectors["narrow, penalised"] < 0.8 * vectors["narrow"]
    assert rough["narrow, penalised"] > 0.7 * rough["narrow"]
    assert rough["learnt"] < 0.5 * rough["narrow"]
    assert error["learnt"] < 1.1 * min(error["narrow"], error["narrow, penalised"])


def test_a_high_penalty_wants_a_noise_level() -> None:
    pytest.importorskip("pywt")
    data = make_noisy_signal("Bumps", 256, snr=7, random_state=0)
    x, error = data.x[:, np.newaxis], {}
    for prior in ("bic", "ric"):
        for variance in (None, data.noise_std**2):
            model = SparseBayesRegressor(
                WaveletBasis("haar"), prior=prior, noise_variance=variance, fit_intercept=False
            ).fit(x, data.noisy)
            error[prior, variance is None] = np.std(model.predict(x) - data.clean)
    assert error["ric", False] < 0.5 * error["ric", True]
    assert error["bic", True] < 0.5 * error["ric", True]


def test_the_flat_prior_charges_columns_about_as_much_as_ric() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 60))
    y = X[:, :3].sum(axis=1) + rng.normal(size=100)
    kept = {
        prior: len(SparseBayesRegressor(LinearBasis(), prior=prior).fit(X, y).coef_)
        for prior in ("flat", "aic", "bic", "ric")
    }
    assert abs(kept["flat"] - kept["ric"]) <= 1
    assert kept["flat"] <= kept["bic"] <= kept["aic"]


@pytest.mark.slow
def test_one_wild_row_raises_the_noise_level() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-10, 10, size=(100, 1))
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=100)
    wild = int(np.argmin(np.abs(X[:, 0] - 6.0)))
    before = RVMRegressor().fit(X, y)
    y[wild] += 5.0
    after = RVMRegressor().fit(X, y)
    assert after.noise_variance_ > 10 * before.noise_variance_
    assert after.predict(X[[wild]]) > before.predict(X[[wild]]) + 0.1
    assert wild in RVMRegressor(gamma=5.0).fit(X, y).relevance_


@pytest.mark.slow
def test_bands_are_widest_just_outside_the_data() -> None:
    pattern = r"up to # times as wide as far away for sinc, about # times for an exponential"
    sinc, growth = claimed(GUIDE / "error_bars.md", pattern)
    found: dict[str, list[float]] = {"sinc": [], "growth": []}
    for seed in range(10, 16):
        rng = np.random.default_rng(seed)
        x = rng.uniform(-10, 10, size=100)
        z = rng.uniform(0, 10, size=40)
        for name, inputs, target, line in (
            ("sinc", x, np.sinc(x / np.pi) + 0.1 * rng.normal(size=100), np.linspace(-30, 30, 601)),
            ("growth", z, np.exp(z / 3) + 0.5 * rng.normal(size=40), np.linspace(-10, 20, 601)),
        ):
            model = RVMRegressor().fit(inputs[:, None], target)
            std = model.predict(line[:, None], return_std=True)[1]
            found[name].append(std.max() / std[[0, -1]].max())
    assert 1.1 < max(found["sinc"]) < sinc + 0.2
    assert np.median(found["growth"]) == pytest.approx(growth, abs=0.6)


@pytest.mark.slow
def test_laplace_prior_predicts_weak_effects_about_as_well_as_ridge() -> None:
    (within,) = claimed(GUIDE / "priors.md", r"The prediction error is within # % of that of ridge")
    ours, theirs = [], []
    for seed in range(20, 25):
        rng = np.random.default_rng(seed)
        X, effects = rng.normal(size=(1200, 50)), 0.15 * rng.normal(size=50)
        y = X @ effects + rng.normal(size=1200)
        lasso = SparseBayesRegressor(LinearBasis(), prior="laplace").fit(X[:200], y[:200])
        ridge = BayesianRidge().fit(X[:200], y[:200])
        for errors, model in ((ours, lasso), (theirs, ridge)):
            errors.append(np.sqrt(np.mean((model.predict(X[200:]) - y[200:]) ** 2)))
    assert np.mean(ours) < (1.0 + within / 100.0) * np.mean(theirs)


def test_when_a_learnt_rate_is_refused() -> None:
    (percent,) = claimed(
        GUIDE / "priors.md",
        r"generalised cross-validation error is more than # % above that under the flat",
    )
    assert pytest.approx(1.0 + percent / 100.0) == MAX_ERROR_RATIO


@pytest.mark.slow
def test_smaller_bounds_of_logits_make_larger_models() -> None:
    times, bound = claimed(
        GUIDE / "classification.md", r"have # times as many as with a bound of #, those"
    )
    kept = np.zeros(2)
    for load in (load_iris, load_wine):
        data, classes = load(return_X_y=True)
        for split in range(3):
            X, _, y, _ = train_test_split(data, classes, random_state=split, stratify=classes)
            cautious = RVMClassifier(average=False).fit(X, y)
            bold = RVMClassifier(average=False, largest_logit=bound).fit(X, y)
            kept += len(cautious.relevance_), len(bold.relevance_)
    assert kept[0] / kept[1] == pytest.approx(times, abs=0.4)
