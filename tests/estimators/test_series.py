"""Bases of series in estimators, as a user calls them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_score

import relvec.estimators._regression_plan as regression_plan
from relvec import (
    SampledSparseBayesRegressor,
    SparseBayesClassifier,
    SparseBayesCountRegressor,
    SparseBayesRegressor,
)
from relvec.bases import (
    KernelBasis,
    LinearBasis,
    PeriodicBasis,
    RampBasis,
    SlopeWalkBasis,
    SmoothBasis,
    StepBasis,
    WalkBasis,
)
from relvec.io import ExportError, export_c, export_onnx, export_python, load, save
from relvec.moments import SufficientStatistics
from relvec.reporting import make_report

MONTHS = np.arange(120.0)[:, None]


def season(t):
    return np.sin(2 * np.pi * t / 12) + 0.4 * np.cos(4 * np.pi * t / 12)


def sample(seed=0, n=120, slope=0.03, noise=0.3):
    t = np.arange(float(n))
    rng = np.random.default_rng(seed)
    return t[:, None], slope * t + season(t) + noise * rng.normal(size=n)


def trend_and_season():
    return SmoothBasis() + PeriodicBasis(period=12.0) + LinearBasis()


def test_sum_of_trend_and_season():
    X, y = sample()
    model = SparseBayesRegressor(trend_and_season()).fit(X, y)
    assert model.precision == "auto"
    assert model.converged_
    assert model.basis.bases[0].length_scale is None  # parameters of the estimator stay
    assert model.basis_.bases[0].length_scale > 0.0
    assert 0.2 < model.basis_.bases[1].length_scale < 3.0
    bound = model.basis_.bind(X)
    labels = bound.groups("part")[model.outputs_[0].active]
    for part in np.unique(labels):
        precision = model.weight_precision_[labels == part]
        assert np.ptp(precision) < 1e-9 * precision[0]
    ahead = np.arange(120.0, 144.0)[:, None]
    mean, std = model.predict(ahead, return_std=True)
    assert np.abs(mean - 0.03 * ahead[:, 0] - season(ahead[:, 0])).max() < 3.0 * std.max()
    parts = model.predict_components(X)
    assert parts.sum(axis=1) + model.intercept_ == pytest.approx(model.predict(X))
    names = [each.name for each in model.components_]
    assert names == ["SmoothBasis", "PeriodicBasis", "LinearBasis"]


def test_the_learnt_basis_gives_the_same_model():
    X, y = sample(1)
    model = SparseBayesRegressor(trend_and_season()).fit(X, y)
    again = SparseBayesRegressor(model.basis_, calibrate=False).fit(X, y)
    assert again.log_evidence_ == pytest.approx(model.log_evidence_, abs=1e-6)
    assert again.predict(X) == pytest.approx(model.predict(X), abs=1e-6)


def test_learning_raises_the_evidence():
    X, y = sample(2)
    learnt = SparseBayesRegressor(trend_and_season()).fit(X, y)
    for length, within in ((3.0, 0.3), (10.0, 2.0), (40.0, 0.3)):
        basis = SmoothBasis(length) + PeriodicBasis(12.0, length_scale=within) + LinearBasis()
        fixed = SparseBayesRegressor(basis, calibrate=False).fit(X, y)
        # The prior of length-scales is worth up to two nats.
        assert learnt.log_evidence_ > fixed.log_evidence_ - 2.0


def test_every_fold_learns(monkeypatch):
    calls = []
    original = regression_plan.learn_prior_spectra

    def record(basis, X, *args, **options):
        calls.append(len(X))
        return original(basis, X, *args, **options)

    monkeypatch.setattr(regression_plan, "learn_prior_spectra", record)
    X, y = sample(3)
    SparseBayesRegressor(trend_and_season()).fit(X, y)
    assert calls == [120] + [96] * 5
    SparseBayesRegressor(SmoothBasis(5.0)).fit(X, y)
    assert len(calls) == 6


@pytest.mark.parametrize(
    "basis",
    [SmoothBasis(), WalkBasis(), PeriodicBasis(12.0) * SmoothBasis(), SmoothBasis(200.0)],
    ids=repr,
)
@pytest.mark.parametrize("error_bars", ["novelty", "plain"])
def test_bands_far_away_are_those_of_the_prior(basis, error_bars):
    X, y = sample(4)
    model = SparseBayesRegressor(basis, error_bars=error_bars, calibrate=False).fit(X, y)
    far = np.array([[-1e6], [-400.0], [600.0], [1e6]])
    if "200" in repr(basis):
        far = np.array([[-1e6], [1e6]])
    _, std = model.predict(far, return_std=True, include_noise=False)
    atoms = model.atoms_.evaluate(far)
    prior = np.sqrt(np.sum(atoms**2 / model.weight_precision_, axis=1))
    if isinstance(basis, WalkBasis):  # of the increment from the nearest input
        nearest = model.atoms_.evaluate(np.array([[0.0], [0.0], [119.0], [119.0]]))
        prior = np.sqrt(np.sum((atoms - nearest) ** 2 / model.weight_precision_, axis=1))
    assert (std > 0.99 * prior).all()
    inside = model.predict(X, return_std=True, include_noise=False)[1]
    assert (std > 2.0 * inside.mean()).all()


def test_bands_of_walks_grow():
    X, y = sample(5)
    ahead = np.array([[119.0], [130.0], [150.0], [170.0]])
    for basis in (WalkBasis(), SlopeWalkBasis() + PeriodicBasis(12.0)):
        std = SparseBayesRegressor(basis).fit(X, y).predict(ahead, return_std=True)[1]
        assert (np.diff(std) > 0.0).all()
        back = SparseBayesRegressor(basis).fit(X, y).predict(-ahead[::-1] + 119, return_std=True)[1]
        assert (np.diff(back) < 0.0).all()


def test_a_longer_extension_is_the_same_model_in_range():
    X, y = sample(6)
    ends = []
    for extension in (0.5, 2.0):
        basis = WalkBasis(extension=extension, n_terms=400) + PeriodicBasis(12.0, length_scale=1.0)
        model = SparseBayesRegressor(basis, calibrate=False).fit(X, y)
        ends.append((model.predict(X), model.log_evidence_, model.predict([[250.0]], True)))
    assert ends[0][0] == pytest.approx(ends[1][0], abs=0.02)
    assert ends[0][1] == pytest.approx(ends[1][1], abs=0.2)
    assert ends[1][2][1] > 1.1 * ends[0][2][1]


def test_mixed_with_kernels():
    """The variance that kernels add away from the data stays."""
    X, y = sample(7)
    model = SparseBayesRegressor(PeriodicBasis(12.0) + KernelBasis(gamma=0.001)).fit(X, y)
    assert model.outputs_[0].novelty is not None
    std = model.predict([[60.0], [1e4]], return_std=True)[1]
    assert std[1] > 2.0 * std[0]
    learnt = SparseBayesRegressor(PeriodicBasis(12.0) + KernelBasis(), length_scales="isotropic")
    assert learnt.fit(X, y).basis_.bases[0].length_scale > 0.0


def test_precision():
    X, y = sample(8)
    basis = PeriodicBasis(12.0)
    auto, tied = (
        SparseBayesRegressor(basis, precision=each).fit(X, y).predict(X)
        for each in ("auto", "tied")
    )
    np.testing.assert_array_equal(auto, tied)
    with pytest.raises(ValueError, match='precision="atom" does not fit UnionBasis'):
        SparseBayesRegressor(LinearBasis() + basis, precision="atom").fit(X, y)
    # Single columns have no spectrum: they are selected one by one.
    shapes = SparseBayesRegressor(RampBasis() + StepBasis(40.0) + StepBasis(80.0)).fit(X, y)
    assert "basis_" not in vars(shapes)
    assert shapes.atom_names() == ["ramp(x0, 0)"]
    assert SparseBayesRegressor().precision == "auto"


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (SparseBayesRegressor(SmoothBasis(), prior="bic"), 'needs prior="flat"'),
        (SparseBayesRegressor(SmoothBasis(), solver="mackay"), 'needs solver="auto"'),
        (SparseBayesRegressor(SmoothBasis(), min_gain=3.0), 'needs min_gain="auto"'),
        (SampledSparseBayesRegressor(SmoothBasis()), "Use SparseBayesRegressor"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_options_that_do_not_fit(model, match):
    with pytest.raises(ValueError, match=match):
        model.fit(*sample(9))


def test_zero_weights_and_repetitions():
    X, y = sample(10, n=80)
    rng = np.random.default_rng(0)
    outliers = np.array([[-5000.0], [9000.0]])
    padded, weight = np.vstack([X, outliers]), np.append(np.ones(80), [0.0, 0.0])
    model = SparseBayesRegressor(trend_and_season(), calibrate=False)
    first = clone(model).fit(X, y).predict(X)
    second = clone(model).fit(padded, np.append(y, rng.normal(size=2)), sample_weight=weight)
    assert second.predict(X) == pytest.approx(first, abs=1e-5)


def test_files_copies_and_exports(tmp_path):
    X, y = sample(11)
    basis = SlopeWalkBasis() + PeriodicBasis(12.0) * WalkBasis() + RampBasis() + StepBasis(60.0)
    basis = basis + SmoothBasis(n_terms=30)
    model = SparseBayesRegressor(basis).fit(X, y)
    expected = model.predict(X, return_std=True)
    for copy in (
        pickle.loads(pickle.dumps(model)),
        load(save(model, tmp_path / "model.relvec")),
        clone(model).fit(X, y),
    ):
        assert repr(copy.basis_) == repr(model.basis_)
        for one, two in zip(copy.predict(X, return_std=True), expected, strict=True):
            np.testing.assert_array_equal(one, two)
    for export in (export_c, export_python, export_onnx):
        with pytest.raises(ExportError, match="cannot be exported"):
            export(model, tmp_path / "model")


@pytest.mark.parametrize("noise", ["heteroscedastic", "student_t"])
def test_noise_models(noise):
    X, y = sample(12)
    y[::17] += 4.0
    model = SparseBayesRegressor(trend_and_season(), noise=noise).fit(X, y)
    assert np.corrcoef(model.predict(X), 0.03 * X[:, 0] + season(X[:, 0]))[0, 1] > 0.9


def test_several_outputs_and_known_noise():
    X, y = sample(13)
    targets = np.column_stack([y, np.sin(X[:, 0] / 9.0)])
    model = SparseBayesRegressor(trend_and_season()).fit(X, targets)
    assert model.predict(X).shape == (120, 2)
    known = SparseBayesRegressor(trend_and_season()).fit(X, y, noise_variance=np.full(120, 0.09))
    assert known.basis_.bases[0].length_scale > 0.0
    assert SparseBayesRegressor(trend_and_season()).fit(X, np.ones(120)).predict(X)[0] == 1.0


def test_moments_use_the_defaults():
    X, y = sample(14)
    basis = SmoothBasis() + PeriodicBasis(12.0)
    atoms = basis.bind(X).atoms
    moments = SufficientStatistics(len(atoms)).update(atoms.evaluate(X), y)
    model = SparseBayesRegressor.from_moments(moments, basis, X)
    assert model.basis_.bases[0].length_scale is None
    assert model.predict(X) == pytest.approx(0.03 * X[:, 0] + season(X[:, 0]), abs=1.0)


def test_classifier_and_counts():
    rng = np.random.default_rng(15)
    labels = season(MONTHS[:, 0]) + 0.3 * rng.normal(size=120) > 0.0
    basis = SmoothBasis() + PeriodicBasis(12.0)
    classifier = SparseBayesClassifier(basis).fit(MONTHS, labels)
    assert classifier.score(MONTHS, labels) > 0.85
    counts = rng.poisson(np.exp(1.0 + season(MONTHS[:, 0])))
    model = SparseBayesCountRegressor(SlopeWalkBasis() + PeriodicBasis(12.0)).fit(MONTHS, counts)
    assert model.score(MONTHS, counts) > 0.6
    assert len(np.unique(model.weight_precision_)) <= 3
    with pytest.raises(ValueError, match='precision="atom" does not fit'):
        SparseBayesCountRegressor(basis, precision="atom").fit(MONTHS, counts)


def test_several_features_and_names():
    rng = np.random.default_rng(16)
    X = rng.uniform(size=(150, 3))
    y = np.sin(6 * X[:, 0]) * np.cos(4 * X[:, 2]) + X[:, 1] + 0.1 * rng.normal(size=150)
    basis = SmoothBasis() * SmoothBasis(feature=2) + SmoothBasis(feature=1)
    model = SparseBayesRegressor(basis).fit(X, y)
    new = rng.uniform(size=(200, 3))
    truth = np.sin(6 * new[:, 0]) * np.cos(4 * new[:, 2]) + new[:, 1]
    assert np.sqrt(np.mean((model.predict(new) - truth) ** 2)) < 0.08
    assert model.atom_names()[0].startswith("smooth 1 (x0, length-scale ")


def test_cross_validation():
    X, y = sample(17, n=60)
    model = SparseBayesRegressor(PeriodicBasis(12.0) + LinearBasis())
    folds = KFold(5, shuffle=True, random_state=0)
    assert cross_val_score(model, X, y, cv=folds).min() > 0.6


@pytest.mark.slow
def test_report():
    X, y = sample(18)
    model = SparseBayesRegressor(trend_and_season()).fit(X, y)
    assert "basis functions" in make_report(model, X, y, cv=3, n_bootstrap=3).html


@pytest.mark.slow
@pytest.mark.parametrize(
    "basis",
    [
        trend_and_season(),
        SlopeWalkBasis() + PeriodicBasis(12.0),
        WalkBasis() + PeriodicBasis(12.0),
    ],
    ids=["smooth", "slope walk", "walk"],
)
def test_coverage_in_range_and_of_forecasts(basis):
    """Intervals of 95 % at the defaults: held-out rows, and the next 20 % of the record."""
    inside, ahead = [], []
    for seed in range(500, 530):
        rng = np.random.default_rng(seed)
        X, y = sample(seed, n=144, slope=0.03 * rng.normal())
        order = rng.permutation(120)
        model = SparseBayesRegressor(basis).fit(X[order[:100]], y[order[:100]])
        for rows, shares in ((order[100:], inside), (np.arange(120, 144), ahead)):
            mean, std = model.predict(X[rows], return_std=True)
            shares.append(np.mean(np.abs(y[rows] - mean) < 1.96 * std))
    assert 0.90 <= np.mean(inside) <= 0.98
    assert 0.90 <= np.mean(ahead) <= 0.98


@pytest.mark.slow
def test_one_precision_per_column_does_not_cover():
    """Forecasts of a level that wanders: why `precision="atom"` is an error."""
    basis, covered = WalkBasis() + PeriodicBasis(12.0, length_scale=1.0), []
    for seed in range(600, 620):
        X, y = sample(seed, n=144, slope=0.0)
        y = y + 0.15 * np.cumsum(np.random.default_rng(seed + 10_000).normal(size=144))
        columns = basis.bind(X[:120]).atoms.evaluate(X)
        shares = []
        for inputs, each in ((X, basis), (columns, LinearBasis())):
            model = SparseBayesRegressor(each).fit(inputs[:120], y[:120])
            mean, std = model.predict(inputs[120:], return_std=True)
            shares.append(np.mean(np.abs(y[120:] - mean) < 1.96 * std))
        covered.append(shares)
    tied, single = np.mean(covered, axis=0)
    assert tied > 0.85
    assert single < tied - 0.15, (single, tied)
