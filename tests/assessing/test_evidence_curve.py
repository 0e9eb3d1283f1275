"""Criteria against the length-scale: values, spacing, and where the evidence fails."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from relvec import RVMClassifier, RVMRegressor, SparseBayesRegressor, evidence_curve
from relvec.assessing._length_scale import LengthScaleFamily, compute_spacing
from relvec.bases import KernelBasis, LinearBasis
from relvec.kernels import LinearSpline, ScaledInputs

GRID = np.linspace(-10.0, 10.0, 100)[:, np.newaxis]


def sinc(noise, seed, n=100, x=None):
    rng = np.random.default_rng(seed)
    X = GRID if x is None else x
    return X, np.sinc(X[:, 0] / np.pi) + noise * rng.normal(size=len(X))


def log_normal_density(y, covariance):
    """Log density of the contrasts that do not depend on the intercept."""
    basis = np.linalg.qr(np.column_stack([np.ones(len(y)), np.eye(len(y))[:, 1:]]))[0][:, 1:]
    projected, target = basis.T @ covariance @ basis, basis.T @ y
    return -0.5 * (
        len(target) * np.log(2.0 * np.pi)
        + np.linalg.slogdet(projected)[1]
        + target @ np.linalg.solve(projected, target)
    )


@pytest.mark.parametrize("kernel", [RBF(1.0), LinearSpline(3.0)])
def test_criteria_are_those_of_models_fitted_one_by_one(kernel):
    X, y = sinc(0.2, 3)
    scales = [4.0, 0.7, 1.5]
    curve = evidence_curve(RVMRegressor(kernel), X, y, length_scales=scales, cv=3, random_state=4)
    np.testing.assert_array_equal(curve.length_scales, sorted(scales))
    for place, scale in enumerate(curve.length_scales):
        model = RVMRegressor(type(kernel)(scale), length_scales=None).fit(X, y)
        assert curve.log_evidence[place] == pytest.approx(model.log_evidence_)
        assert curve.n_relevant[place] == len(model.relevance_)
        penalty = 0.5 * (len(model.relevance_) + 1) * np.log(100)
        assert curve.penalised_evidence[place] == pytest.approx(model.log_evidence_ - penalty)
        assert curve.noise_variance[place] == pytest.approx(model.noise_variance_)
        basis = KernelBasis(type(kernel)(scale))
        tied = SparseBayesRegressor(basis, precision="tied").fit(X, y)
        assert curve.tied_evidence[place] == pytest.approx(tied.log_evidence_)


def test_tied_evidence_is_the_density_of_a_gaussian_process_of_rank_n():
    X, y = sinc(0.2, 3, x=np.linspace(-5.0, 5.0, 30)[:, np.newaxis])
    curve = evidence_curve(RVMRegressor(), X, y, length_scales=[1.3], cv=None)
    model = SparseBayesRegressor(KernelBasis(RBF(1.3)), precision="tied").fit(X, y)
    features = RBF(1.3)(X)
    covariance = features @ features.T / model.weight_precision_[0]
    covariance += model.noise_variance_ * np.eye(30)
    assert curve.tied_evidence[0] == pytest.approx(log_normal_density(y, covariance), abs=1e-6)


def test_mlpd_is_that_of_held_out_rows():
    X, y = sinc(0.2, 5, x=np.linspace(-5.0, 5.0, 40)[:, np.newaxis])
    model = RVMRegressor(RBF(1.5))
    curve = evidence_curve(model, X, y, length_scales=[1.5], cv=4, random_state=9)
    seed = np.random.RandomState(9).randint(np.iinfo(np.int32).max)
    density = []
    for train, test in KFold(4, shuffle=True, random_state=seed).split(X):
        mean, std = model.fit(X[train], y[train]).predict(X[test], return_std=True)
        z = (y[test] - mean) / std
        density.append(-0.5 * z**2 - np.log(std) - 0.5 * np.log(2.0 * np.pi))
    density = np.concatenate(density)
    assert curve.mlpd[0] == pytest.approx(density.mean())
    assert curve.mlpd_error[0] == pytest.approx(density.std(ddof=1) / np.sqrt(40))


@pytest.mark.slow
def test_weak_noise_needs_no_warning_with_the_default_estimator():
    for seed in (401, 402, 403):  # signal variance is 7 times the noise variance
        curve = evidence_curve(RVMRegressor(), *sinc(0.1, seed), cv=None)
        assert not curve.is_below_spacing
        assert 0.5 < curve.best["tied_evidence"] < 4.0


@pytest.mark.slow
def test_strong_noise_gives_a_warning_and_other_criteria_a_length_scale():
    below = []
    for seed in range(411, 414):
        X, y = sinc(0.4, seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            curve = evidence_curve(
                RVMRegressor(), X, y, length_scales=np.geomspace(0.05, 20.0, 10), cv=2
            )
        below.append(curve.is_below_spacing)
        assert below[-1] == any("narrower than the spacing" in str(w.message) for w in caught)
        assert (curve.describe_failure() in curve.summary()) == below[-1]
        for key in ("penalised_evidence", "tied_evidence", "mlpd"):
            assert curve.best[key] > 2.0 * curve.spacing
    assert sum(below) >= 2


@pytest.mark.slow
def test_default_length_scales_reach_from_below_the_spacing_to_the_extent():
    curve = evidence_curve(RVMRegressor(), *sinc(0.1, 7), cv=None)
    assert len(curve.length_scales) == 20
    assert curve.length_scales[0] == pytest.approx(0.25 * 20.0 / 99.0)
    assert curve.length_scales[-1] == pytest.approx(20.0)
    assert curve.own_length_scale == pytest.approx(RVMRegressor().fit(*sinc(0.1, 7)).length_scale_)
    assert np.isnan(curve.mlpd).all()
    assert "mlpd" not in curve.best


def test_threshold_of_the_warning():
    # one variance for each target, at its best value: the log density less that of the true
    # normal distribution, per target, for signal and noise of total variance one
    targets = np.random.default_rng(0).normal(size=1_000_000)
    own = norm.logpdf(targets, scale=np.abs(targets)).mean()
    gap = own - norm.logpdf(targets).mean()
    assert 2.0 * gap == pytest.approx(np.euler_gamma + np.log(2.0), abs=0.01)
    # the function explains the signal: the noise variance is 1 / (1 + SNR) of the total
    assert np.exp(2.0 * gap) - 1.0 == pytest.approx(2.6, abs=0.05)


def test_spacing():
    assert compute_spacing(GRID) == pytest.approx(20.0 / 99.0)
    assert compute_spacing(np.repeat(GRID, 3, axis=0)) == pytest.approx(20.0 / 99.0)
    lattice = np.array([[i, j] for i in range(5) for j in range(5)], float)
    assert compute_spacing(lattice) == 1.0
    assert compute_spacing(np.ones((4, 2))) == np.inf


def test_several_length_scales_keep_their_ratios():
    X = np.random.default_rng(0).normal(size=(6, 2))
    kernel = RBF(1.0) + Matern([2.0, 4.0])
    family = LengthScaleFamily(RVMRegressor(kernel), X)
    changed = family.make_kernel(1.0)  # the geometric mean was 2
    assert changed.k1.length_scale == pytest.approx(0.5)
    np.testing.assert_allclose(changed.k2.length_scale, [1.0, 2.0])
    single = LengthScaleFamily(RVMRegressor(RBF([1.0, 4.0])), X)
    np.testing.assert_allclose(single.scale_inputs(X), X / [0.5, 2.0])
    learnt = LengthScaleFamily(RVMRegressor(ScaledInputs(RBF(1.0), [4.0, 0.25])), X)
    np.testing.assert_allclose(learnt.scale_inputs(X), X * [2.0, 0.5])


@pytest.mark.slow
def test_bases_and_options_of_the_estimator_are_kept():
    X, y = sinc(0.1, 2)
    own = SparseBayesRegressor(
        KernelBasis(RBF(2.0), centers=12, center_method="grid"), precision="tied", prior="flat"
    )
    curve = evidence_curve(own, X, y, length_scales=[2.0], cv=None, name="grid")
    assert curve.n_relevant[0] == 12
    assert curve.log_evidence[0] == curve.tied_evidence[0]
    penalty = 0.5 * 2 * np.log(100)
    assert curve.penalised_evidence[0] == pytest.approx(curve.log_evidence[0] - penalty)
    assert curve.own_length_scale == 2.0
    assert curve.name == "grid"
    assert own.length_scales is None
    robust = RVMRegressor(RBF(2.0), noise="student_t", prior="bic", noise_variance=None)
    evidence_curve(robust, X, y, length_scales=[2.0], cv=None)


@pytest.mark.parametrize(
    ("estimator", "options", "kind", "message"),
    [
        (Ridge(), {}, TypeError, "RVMRegressor, or a SparseBayesRegressor"),
        (RVMClassifier(), {}, TypeError, "RVMRegressor"),
        (SparseBayesRegressor(LinearBasis()), {}, TypeError, "one KernelBasis"),
        (RVMRegressor("linear"), {}, ValueError, "a kernel with a length-scale"),
        (RVMRegressor("precomputed"), {}, ValueError, "a kernel with a length-scale"),
        (RVMRegressor(lambda X, Z: X @ Z.T), {}, ValueError, "a kernel with a length-scale"),
        (RVMRegressor(), {"length_scales": [1.0, -1.0]}, ValueError, "positive and finite"),
        (RVMRegressor(), {"length_scales": 1.0}, ValueError, "a sequence"),
        (RVMRegressor(), {"cv": 1}, ValueError, "cv must be"),
    ],
)
def test_bad_arguments_raise(estimator, options, kind, message):
    X, y = sinc(0.1, 0)
    with pytest.raises(kind, match=message):
        evidence_curve(estimator, X, y, **{"length_scales": [1.0], **options})


def test_equal_inputs_raise():
    with pytest.raises(ValueError, match="all rows of X are equal"):
        evidence_curve(RVMRegressor(), np.ones((6, 1)), np.arange(6.0))


def test_moved_kernels_are_not_those_of_the_tied_evidence():
    X, y = sinc(0.1, 0, n=40, x=GRID[::3])
    options = {"length_scales": [1.0, 3.0], "cv": None}
    moved = evidence_curve(RVMRegressor(tune_atoms="widths"), X, y, **options)
    plain = evidence_curve(RVMRegressor(), X, y, **options)
    np.testing.assert_allclose(moved.tied_evidence, plain.tied_evidence)
