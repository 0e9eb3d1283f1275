"""The search over scales and features: ascents, removals, additions, screening, penalties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from relvec.kernels import Laplacian
from relvec.learning.label_process import LabelProcess
from relvec.learning.length_scales import compute_feature_penalty
from relvec.learning.process import Process
from relvec.learning.process_search import ProcessFit, ProcessSearch, largest_scales
from relvec.learning.screening import score_single_features
from relvec.learning.tuning import LengthScaleTuning

SMALLEST_SCALE, TIE = 2e-6, 0.2
TUNING = LengthScaleTuning(smallest_scale=SMALLEST_SCALE, log_scale_precision=TIE)
RNG = np.random.default_rng(8)
N, P = 60, 6
X = RNG.normal(size=(N, P))
F = np.sin(2.0 * X[:, 1]) + X[:, 4] ** 2
T = (F + 0.1 * RNG.normal(size=N))[:, None]
LABELS = (F + 0.1 * RNG.normal(size=N) > np.median(F)).astype(float)[:, None]


def search_of(kernel=None, X=X, T=T, process=Process, explicit=None, **options):
    kernel = RBF(0.5**0.5) if kernel is None else kernel
    return ProcessSearch(process(X, T, None, explicit), kernel, largest_scales(X), **options)


def equal_scales(*inputs, value=0.3, n=P):
    scale = np.zeros(n)
    scale[list(inputs)] = value
    return scale


@pytest.mark.slow
@pytest.mark.parametrize(
    ("process", "targets"), [(Process, T), (LabelProcess, LABELS)], ids=["targets", "labels"]
)
@pytest.mark.parametrize("move", ["each", "common", "none"])
@pytest.mark.parametrize("kernel", [RBF(0.5**0.5), Laplacian(1.0), Matern(1.0, nu=1.5)], ids=repr)
def test_maximise_never_lowers_the_objective(process, targets, move, kernel):
    search = search_of(kernel, T=targets, process=process)
    for value in (1e-3, 0.1, 10.0):
        start = search.start(equal_scales(0, 1, 3, 4, value=value))
        end = search.maximise(start, 5, move)
        assert end.objective >= start.objective
        np.testing.assert_array_equal(end.features, start.features)
        again = search.evaluate(end)
        assert again.objective == pytest.approx(end.objective, abs=1e-4)
        assert again.log_evidence == pytest.approx(end.log_evidence, abs=1e-4)
        if move == "none":
            np.testing.assert_array_equal(end.scale, start.scale)
        if move == "common":
            ratio = end.scale[end.features] / start.scale[start.features]
            np.testing.assert_allclose(ratio, ratio[0])


def test_maximise_ends_where_the_gradient_vanishes():
    search = search_of(tuning=TUNING)
    end = search.maximise(search.start(np.full(P, 0.1)), 200)
    point = search.process.evaluate(search.kernel, *end[:4])
    inside = (end.scale > 2.0 * SMALLEST_SCALE) & (end.scale < 0.5 * search.largest)
    log_scale = np.log(end.scale)
    slope = end.scale * point.scale - TIE * (log_scale - log_scale.mean())
    assert inside[[1, 4]].all()
    assert np.abs(slope[inside]).max() < 0.1
    assert abs(point.log_signal) < 0.1


def test_maximise_returns_the_start_if_it_cannot_rise():
    search = search_of()
    top = search.maximise(search.start(np.full(P, 0.1)), 300)
    for _ in range(3):
        top = search.maximise(top, 300)
    bumped = top._replace(objective=top.objective + 1.0)  # as if it were better than it can be
    assert search.maximise(bumped, 5) is bumped


def test_objective_is_the_evidence_less_the_penalty_of_unequal_scales():
    search = search_of(tuning=TUNING)
    scale = np.array([0.0, 0.2, 0.0, 0.7, 1.5, 0.0])
    fit = search.evaluate(ProcessFit(scale, 1.0, 0.0, np.empty(0), -math.inf))
    logs = np.log([0.2, 0.7, 1.5])
    penalty = 0.5 * TIE * ((logs - logs.mean()) ** 2).sum()
    assert fit.log_evidence == search.process.evaluate(search.kernel, scale, 1.0).log_evidence
    assert fit.objective == pytest.approx(fit.log_evidence - penalty)


def test_bounds_hold():
    # steps of a single input ask for kernels as narrow as can be; the others for none
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(40, 3))
    steps = rng.choice([-1.0, 1.0], size=(40, 1))
    search = search_of(X=inputs, T=steps, tuning=TUNING)
    for move in ("each", "common", "each"):
        fit = search.maximise(search.start(np.array([1e9, 1e-9, 0.5])), 30, move)
        assert (fit.scale <= search.largest * (1 + 1e-9)).all()
        assert (fit.scale[fit.features] >= min(SMALLEST_SCALE, 1e-9) * (1 - 1e-9)).all()
    fit = search.maximise(search.start(np.full(3, 0.1)), 100)
    low, high = Process.signal_bounds
    assert low <= fit.log_signal <= high
    assert (fit.scale >= SMALLEST_SCALE * (1 - 1e-9)).all()


def test_starts_are_within_bounds():
    search = search_of()
    assert (search.start(np.full(P, 1e12)).scale == search.largest).all()


def test_kernel_parameters_are_maximised_within_their_bounds():
    kernel = ConstantKernel(1.0, (0.5, 2.0)) * RBF(1.0, (0.2, 1.5))
    search = search_of(kernel, learns_kernel=True)
    start = search.start(np.ones(P))
    end = search.maximise(start, 50, "none")
    assert end.objective > start.objective
    low, high = np.asarray(kernel.bounds).T
    assert (end.theta >= low - 1e-12).all()
    assert (end.theta <= high + 1e-12).all()
    assert kernel.k2.length_scale == 1.0  # not touched


@pytest.mark.parametrize(
    ("process", "targets"), [(Process, T), (LabelProcess, LABELS)], ids=["targets", "labels"]
)
def test_prune_takes_out_what_was_planted_to_be_irrelevant(process, targets):
    search = search_of(T=targets, process=process)
    fit = search.maximise(search.start(np.full(P, 0.3)), 40)
    pruned = search.remove_weak_features(fit, 2.0)
    assert set(pruned.features) == {1, 4}
    # each one that went was cheap: what is left is worth as much, penalties included
    assert pruned.objective + 2.0 * (P - 2) > fit.objective - 0.1


def test_the_last_feature_is_never_removed():
    search = search_of(T=np.random.default_rng(1).normal(size=(N, 1)))
    fit = search.maximise(search.start(np.full(P, 0.1)), 20)
    assert len(search.remove_weak_features(fit, 1e6).features) == 1
    one = search.start(equal_scales(2))
    assert search.remove_weak_features(one, 1e6) is one


def test_prune_at_no_penalty_loses_nothing():
    search = search_of()
    fit = search.maximise(search.start(np.full(P, 0.1)), 40)
    pruned = search.remove_weak_features(fit, 0.0)
    assert pruned.objective > fit.objective - 0.01
    assert {1, 4} <= set(pruned.features)


@pytest.mark.parametrize("kernel", [RBF(0.5**0.5), Laplacian(1.0), Matern(1.0, nu=2.5)], ids=repr)
def test_a_relevant_feature_is_added_again(kernel):
    search = search_of(kernel)
    fit = search.maximise(search.start(equal_scales(1, 4)), 20)
    alone = search.maximise(
        search.evaluate(fit._replace(scale=fit.scale * equal_scales(4, value=1))), 20
    )
    assert set(alone.features) == {4}
    grown = search.add_features(alone, 2.0, np.ones(P, dtype=bool))
    assert set(grown.features) == {1, 4}
    assert grown.objective > alone.objective + 2.0


def test_enter_takes_only_what_is_allowed_and_pays():
    search = search_of()
    fit = search.maximise(search.start(equal_scales(4)), 20)
    allowed = np.ones(P, dtype=bool)
    assert 1 in search.add_features(fit, 2.0, allowed).features
    allowed[1] = False
    assert 1 not in search.add_features(fit, 2.0, allowed).features
    assert search.add_features(fit, 1e6, np.ones(P, dtype=bool)) is fit


def test_losses_are_those_of_models_without_a_feature():
    search = search_of()
    fit = search.maximise(search.start(np.full(P, 0.1)), 20)
    losses = search.compute_losses(fit, np.array([4, 0]))
    for loss, k in zip(losses, [4, 0], strict=True):
        others = np.delete(np.arange(P), k)
        smaller = search_of(X=X[:, others])
        there = smaller.evaluate(fit._replace(scale=fit.scale[others]))
        assert loss == pytest.approx(fit.objective - there.objective, abs=1e-8)
    assert losses[0] > 10.0 > losses[1]


def test_path_is_recorded():
    search = search_of()
    search.maximise(search.start(np.full(P, 0.1)), 10)
    assert len(search.path) == len(search.values) > 2
    assert (np.diff(search.values) > -1e-9).all()
    assert all(scale.shape == (P,) for scale in search.path)


def test_largest_scales_belong_to_the_median_gap():
    column = np.array([0.0, 0.5, 1.0, 1.5, 9.0, 9.0])
    np.testing.assert_allclose(largest_scales(column[:, None]), [4.0 / 0.5**2])
    np.testing.assert_allclose(largest_scales(np.array([[0.0], [2.0], [0.0]])), [1.0])
    assert largest_scales(np.linspace(0, 1e-9, 5)[:, None])[0] == 4e6  # a floor of the gap


# ------------------------------------------------------------------ screening


def screened(process, most, varies=None):
    largest = np.ones(process.X.shape[1]) if varies is None else varies.astype(float)
    return ProcessSearch(process, RBF(), largest).find_best_single(most)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_screening_ranks_lines_and_parabolas_on_top(seed, weighted):
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(120, 500))
    targets = inputs[:, [7]] + (inputs[:, [300]] ** 2 - 1.0) + 0.3 * rng.normal(size=(120, 1))
    weight = rng.choice([1.0, 2.0, 3.0], size=120) if weighted else None
    chosen = screened(Process(inputs, targets, weight), 4)
    assert chosen.sum() == 4
    assert chosen[[7, 300]].all()


def test_screening_is_the_same_in_blocks():
    process, varies = Process(X, T), np.ones(P, dtype=bool)
    whole = score_single_features(process, varies)
    np.testing.assert_allclose(score_single_features(process, varies, block_values=1), whole)
    assert screened(process, 3)[[1, 4]].all()


def test_screening_heeds_what_varies():
    varies = np.ones(P, dtype=bool)
    varies[4] = False
    chosen = screened(Process(X, T), P, varies)
    np.testing.assert_array_equal(chosen, varies)


def test_screening_of_labels_and_of_several_targets():
    assert screened(LabelProcess(X, LABELS), 2)[4]
    both = np.column_stack([X[:, 0], X[:, 5] ** 2])
    assert screened(Process(X, both), 2)[[0, 5]].all()


# ------------------------------------------------------------------ penalties


@pytest.mark.parametrize("n_features", [4, 10, 100, 5000])
def test_penalty_admits_one_and_a_half_irrelevant_features(n_features):
    penalty = compute_feature_penalty("auto", n_features)
    assert n_features * norm.sf(math.sqrt(2.0 * penalty)) == pytest.approx(1.5)


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_few_features_have_no_penalty(n_features):
    assert compute_feature_penalty("auto", n_features) == 0.0


def test_a_given_penalty_is_taken():
    assert compute_feature_penalty(3, 1000) == 3.0
