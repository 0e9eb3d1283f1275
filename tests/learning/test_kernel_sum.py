"""Several kernels are learnt together: gradients, bounds, periods, and kernels that are not needed.

Data of the tests have seeds that were not used while the search was written.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, ExpSineSquared, Matern

from relvec.kernels import Periodic, ScaledInputs, Warped
from relvec.learning import LengthScaleLearner
from relvec.learning.kernel_parameters import find_spectral_peaks
from relvec.learning.kernel_sum import KernelBlock, KernelSum, find_parameter_bounds
from relvec.learning.kernel_sum_search import KernelSumSearch
from relvec.learning.label_process import LabelProcess
from relvec.learning.process import Process

LEARNER = LengthScaleLearner("kernel")


def waves(rng, x, period):
    """A periodic function with overtones, of standard deviation about one."""
    size = np.array([1.0, rng.uniform(0.0, 0.6), rng.uniform(0.0, 0.4)])
    phase = rng.uniform(0.0, 2.0 * np.pi, size=3)
    f = sum(size[k] * np.sin(2.0 * np.pi * (k + 1) * x / period + phase[k]) for k in range(3))
    return f / f.std()


def bumps(rng, x, width):
    centers = rng.uniform(x.min() - 1.0, x.max() + 1.0, size=30)
    f = np.exp(-0.5 * ((x[:, None] - centers) / width) ** 2) @ rng.normal(size=30)
    return f / f.std()


def blocks_of(*kernels):
    return [KernelBlock(kernel, f"KernelBasis {k}") for k, kernel in enumerate(kernels)]


def problem(seed, kind):
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0.0, 10.0, size=(50, 1)), axis=0)
    t = np.sin(2.0 * np.pi * X / 1.7) + 0.3 * X + 0.2 * rng.normal(size=X.shape)
    weight = rng.uniform(0.5, 3.0, size=50)
    if kind == "labels":
        return LabelProcess(X, (t > 1.5).astype(float), weight, X, settled=1e-13)
    return Process(X, t, weight, X) if kind == "weighted" else Process(X, t)


@pytest.mark.parametrize("kind", ["plain", "weighted", "labels"])
def test_gradients_are_those_of_central_differences(kind):
    # The mode of labels is found to a tolerance, so that its steps are longer.
    h, tolerance = (1e-3, 1e-5) if kind == "labels" else (1e-4, 1e-6)
    blocks = blocks_of(RBF(2.0), Periodic(1.2, 1.5) * RBF(5.0), Matern(1.0, nu=1.5))
    blocks[2] = blocks[2]._replace(is_held=True)
    total = KernelSum(problem(1, kind), blocks)
    fit = total.start()._replace(log_signals=np.array([1.0, 0.5, -0.3]), log_explicit=0.4)
    point = total.evaluate(fit)
    assert point.log_evidence == pytest.approx(total.score(fit).log_evidence, rel=1e-12)

    def difference(change):
        # Richardson: the error of order h^2 cancels.
        first, second = (
            (total.score(change(d)).log_evidence - total.score(change(-d)).log_evidence) / (2 * d)
            for d in (h, 2.0 * h)
        )
        return (4.0 * first - second) / 3.0

    for number in range(3):
        found = difference(lambda d, b=number: fit.change(b, fit.log_signals[b] + d))
        assert point.log_signals[number] == pytest.approx(found, rel=tolerance, abs=1e-7)
        for place in range(len(fit.thetas[number])):
            one = np.eye(len(fit.thetas[number]))[place]
            found = difference(
                lambda d, b=number, one=one: fit.change(b, theta=fit.thetas[b] + d * one)
            )
            assert point.thetas[number][place] == pytest.approx(found, rel=tolerance, abs=1e-7)
    assert len(point.thetas[2]) == 0
    if kind != "plain":
        found = difference(lambda d: fit._replace(log_explicit=fit.log_explicit + d))
        assert point.log_explicit == pytest.approx(found, rel=tolerance, abs=1e-7)


def test_a_sum_of_kernels_has_the_evidence_of_their_sum():
    process = problem(2, "weighted")
    parts = RBF(1.3), Periodic(1.0, 1.7)
    total = KernelSum(process, blocks_of(*parts))
    fit = total.start()._replace(log_signals=np.log([0.7, 2.5]), log_explicit=0.2)
    one = ConstantKernel(0.7) * parts[0] + ConstantKernel(2.5) * parts[1]
    point = process.evaluate(one, np.ones(1), 0.0, 0.2)
    assert total.score(fit).log_evidence == pytest.approx(point.log_evidence, rel=1e-12)


def test_a_kernel_left_out_has_no_effect():
    process = problem(3, "plain")
    both, alone = (
        KernelSum(process, blocks_of(*kernels)) for kernels in ([RBF(2.0), Periodic()], [RBF(2.0)])
    )
    fit = both.start().change(1, -math.inf)
    assert both.score(fit).log_evidence == alone.start().log_evidence
    assert fit.active == [0]


def test_parameters_are_bounded_by_the_spacing_of_the_inputs():
    X = np.column_stack([np.arange(20.0), 0.1 * np.arange(20.0)])
    line = X[:, :1]
    low, raised = (each[0] for each in find_parameter_bounds(RBF(1.0), line))
    assert np.exp(low) == pytest.approx(1.0)
    assert raised
    # One length-scale of two features is for distances, two are for the features.
    [low], _ = np.exp(find_parameter_bounds(RBF(1.0), X)[0])
    assert low == pytest.approx(math.hypot(1.0, 0.1))
    low, _ = np.exp(find_parameter_bounds(RBF([1.0, 1.0]), X)[0])
    assert low == pytest.approx([1.0, 0.1])
    for kernel in (Periodic(1.0, 5.0), ExpSineSquared(1.0, 5.0)):
        low, _ = np.exp(find_parameter_bounds(kernel * RBF(3.0), line)[0])
        assert low == pytest.approx([2.0 * math.pi / 20.0, 2.0, 1.0])
    # Given bounds hold; transformed inputs have units of their own.
    bounds, raised = find_parameter_bounds(RBF(3.0, (2.5, 4.0)), line)
    assert np.exp(bounds[:, 0]) == pytest.approx([2.5, 4.0])
    assert not raised.any()
    bounds, _ = find_parameter_bounds(RBF(0.3, (0.1, 0.5)), line)
    assert np.exp(bounds[:, 0]) == pytest.approx([0.5, 0.5])
    assert not find_parameter_bounds(Warped(RBF(1.0), np.exp), line)[1].any()
    # A length-scale of scaled inputs is in their units.
    assert find_parameter_bounds(ScaledInputs(RBF(1.0), [1.0]), line)[0].shape == (2, 1)


def test_residual_peaks_are_those_of_generalised_least_squares():
    rng = np.random.default_rng(4)
    n = 40
    x, weight = rng.uniform(0.0, 5.0, size=n), rng.uniform(0.5, 2.0, size=n)
    y = np.cos(7.0 * x) + 3.0 * bumps(rng, x, 0.8) + 0.2 * rng.normal(size=n)
    root = np.sqrt(weight)
    K = 20.0 * RBF(0.8)(x[:, None]) * np.multiply.outer(root, root) + np.eye(n)
    factor = np.linalg.cholesky(K)
    [peak] = find_spectral_peaks(x[:, None], (root * y)[:, None], weight, 1, factor)
    step = 0.2 / np.ptp(x)
    powers = []
    for frequency in step * np.arange(1.0, 60.0):
        angle = 2.0 * np.pi * frequency * x
        columns = np.column_stack([np.ones(n), np.cos(angle), np.sin(angle)]) * root[:, None]
        white, target = np.linalg.solve(factor, columns), np.linalg.solve(factor, root * y)
        powers.append(-np.linalg.lstsq(white, target)[1][0])
    assert peak == pytest.approx(step * (1 + np.argmax(powers)))
    assert 2.0 * np.pi * peak == pytest.approx(7.0, rel=0.1)
    # Without the covariance the bumps hide it.
    [low] = find_spectral_peaks(x[:, None], (y * root)[:, None], weight, 1)
    assert low < 0.5 * peak


def learn(blocks, X, y):
    return LEARNER.learn_sum(blocks, X, y[:, None])


@pytest.mark.parametrize("noise", [0.1, 0.5])
@pytest.mark.parametrize("start", [0.3, 0.6, 1.0, 1.7, 3.0])
def test_a_period_beside_a_curve_is_found_from_anywhere(start, noise):
    rng = np.random.default_rng([910, int(10 * start), int(10 * noise)])
    x = np.sort(rng.uniform(0.0, 10.0, size=120))
    period = 10.0 / rng.uniform(3.5, 12.0)
    y = waves(rng, x, period) + rng.uniform(0.5, 2.0) * bumps(rng, x, rng.uniform(1.0, 4.0))
    y += noise * rng.normal(size=120)
    learnt = learn(blocks_of(RBF(1.0), Periodic(period=start * period)), x[:, None], y)
    assert [block.is_kept for block in learnt.blocks] == [True, True]
    assert learnt.blocks[1].kernel.period == pytest.approx(period, rel=0.02)
    assert learnt.kind == "kernel"
    assert learnt.n_scales == 3


@pytest.mark.slow
@pytest.mark.parametrize("has_curve", [False, True])
def test_nineteen_of_twenty_periods_are_found_from_any_start(has_curve):
    n_found = 0
    for noise, seed in itertools.product((0.1, 0.5), range(20)):
        rng = np.random.default_rng([911, has_curve, int(10 * noise), seed])
        n = int(rng.integers(80, 200))
        x = np.sort(rng.uniform(0.0, 10.0, size=n)) if seed % 2 else np.linspace(0.0, 10.0, n)
        period = 10.0 / rng.uniform(3.0, 12.0)
        y = waves(rng, x, period) + noise * rng.normal(size=n)
        start = Periodic(period=period * math.exp(rng.uniform(math.log(0.3), math.log(3.0))))
        if has_curve:
            y += rng.uniform(0.5, 2.0) * bumps(rng, x, rng.uniform(1.0, 4.0))
            rbf = RBF(math.exp(rng.uniform(-1.0, 1.5)))
            kernel = learn(blocks_of(rbf, start), x[:, None], y).blocks[1].kernel
        else:
            kernel = LEARNER.learn(start, x[:, None], y[:, None])[0].kernel
        n_found += abs(kernel.period / period - 1.0) < 0.02
    # Weak periods of three or four cycles may fall short of their penalty and are then removed.
    assert n_found >= 38


def test_two_periodic_kernels_start_at_different_peaks():
    rng = np.random.default_rng(912)
    x = np.sort(rng.uniform(0.0, 20.0, size=150))
    y = waves(rng, x, 1.9) + waves(rng, x, 3.1) + 0.3 * rng.normal(size=150)
    learnt = learn(blocks_of(Periodic(period=5.0), Periodic(period=5.0)), x[:, None], y)
    periods = sorted(block.kernel.period for block in learnt.blocks)
    assert periods == pytest.approx([1.9, 3.1], rel=0.02)


def test_the_smallest_period_that_explains_the_data_is_preferred():
    rng = np.random.default_rng(913)
    x = np.sort(rng.uniform(0.0, 20.0, size=150))
    y = waves(rng, x, 1.5) + 0.2 * rng.normal(size=150)
    total = KernelSum(Process(x[:, None], y[:, None]), blocks_of(RBF(3.0), Periodic(period=4.5)))
    search = KernelSumSearch(total, 60)
    tripled = total.maximise(total.start(), 60)
    assert np.exp(tripled.thetas[1][1]) == pytest.approx(4.5, rel=0.02)
    shortened = search._shorten_periods(tripled)
    assert np.exp(shortened.thetas[1][1]) == pytest.approx(1.5, rel=0.02)
    assert shortened.log_evidence > tripled.log_evidence - 1.0


def test_kernels_without_effect_are_removed():
    kept = []
    for seed in range(10):
        rng = np.random.default_rng([914, seed])
        x = np.sort(rng.uniform(0.0, 10.0, size=100))
        noise = 0.3 * rng.normal(size=100)
        both = blocks_of(RBF(1.0), Periodic(period=2.0))
        for f in (waves(rng, x, 2.3), bumps(rng, x, 1.5)):
            learnt = learn(both, x[:, None], f + noise)
            kept.append([block.is_kept for block in learnt.blocks])
            gone = next(block for block in learnt.blocks if not block.is_kept)
            assert gone.gain < 12.0
            assert gone.kernel in (RBF(1.0), Periodic(period=2.0))
    assert kept[::2] == [[False, True]] * 10
    assert kept[1::2] == [[True, False]] * 10


def test_noise_has_no_kernels():
    n_found = 0
    for seed in range(20):
        rng = np.random.default_rng([915, seed])
        x = np.sort(rng.uniform(0.0, 10.0, size=80))
        learnt = learn(blocks_of(RBF(1.0), Periodic(period=2.0)), x[:, None], rng.normal(size=80))
        n_found += learnt.kind != "none"
        if learnt.kind == "none":
            assert [block.kernel for block in learnt.blocks] == [RBF(1.0), Periodic(period=2.0)]
            assert all(block.is_kept for block in learnt.blocks)
    assert n_found <= 1


def test_held_kernels_and_fixed_parameters_stay():
    rng = np.random.default_rng(916)
    x = np.sort(rng.uniform(0.0, 10.0, size=100))
    y = waves(rng, x, 2.3) + bumps(rng, x, 1.5) + 0.2 * rng.normal(size=100)
    blocks = blocks_of(RBF(1.1), Periodic(0.9, 2.0, length_scale_bounds="fixed"))
    blocks[0] = blocks[0]._replace(is_held=True)
    learnt = learn(blocks, x[:, None], y)
    held, periodic = (block.kernel for block in learnt.blocks)
    assert held == RBF(1.1)
    assert periodic.length_scale == 0.9
    assert periodic.period == pytest.approx(2.3, rel=0.02)
    assert learnt.n_scales == 1


def test_parameters_at_bounds_are_named_with_their_kernels():
    rng = np.random.default_rng(917)
    x = np.linspace(0.0, 10.0, 100)
    y = waves(rng, x, 0.8) + 3.0 * bumps(rng, x, 3.0) + 0.1 * rng.normal(size=100)
    learnt = learn(blocks_of(RBF(0.5, (0.4, 0.7)), Periodic(period=1.0)), x[:, None], y)
    assert learnt.at_bounds == ("length_scale of KernelBasis 0",)
    rough = rng.normal(size=100) * np.where(x > 5.0, 1.0, 0.0) + bumps(rng, x, 0.1)
    total = KernelSum(Process(x[:, None], rough[:, None]), blocks_of(RBF(1.0), RBF(3.0)))
    fit = KernelSumSearch(total, 60).learn()
    shortest = min(float(np.exp(theta[0])) for theta in fit.thetas)
    assert shortest >= 0.999 * np.diff(x)[0]


def test_a_sum_that_is_no_covariance_is_refused():
    from relvec.kernels import Sigmoid

    rng = np.random.default_rng(918)
    X = rng.normal(size=(40, 2))
    blocks = blocks_of(Sigmoid(5.0, -3.0), RBF(1.0))
    with pytest.raises(ValueError, match="kernels can only be learnt if they are covariance"):
        learn(blocks, X, rng.normal(size=40))


def test_constant_features_and_targets_teach_nothing():
    X = np.zeros((20, 1))
    learnt = learn(blocks_of(RBF(1.0), Periodic()), X, np.arange(20.0))
    assert learnt.kind == "none"
    learnt = learn(blocks_of(RBF(1.0), Periodic()), np.arange(20.0)[:, None], np.ones(20))
    assert learnt.kind == "none"
