"""Scales of inputs: units, degenerate columns, weights, subsets, options."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from relvec.kernels import Laplacian, ScaledInputs, Sigmoid
from relvec.learning import LearntLengthScales, LengthScaleLearner
from relvec.learning.label_process import LabelProcess
from relvec.learning.process import Process
from relvec.learning.rows import choose_rows

KERNEL = RBF(0.5**0.5)
RNG = np.random.default_rng(11)
N, P = 50, 4
X = RNG.normal(size=(N, P))
F = np.sin(1.5 * X[:, 0]) + 0.7 * X[:, 2] ** 2
T = (F + 0.1 * RNG.normal(size=N))[:, None]
LABELS = np.column_stack([F > 0.5, F <= 0.5]).astype(float)[:, :1]
UNITS = np.array([1e-6, 1e6, 1e3, 1e-2])


def learn(X=X, T=T, kernel=KERNEL, kind="ard", weight=None, are_labels=False, **options):
    return LengthScaleLearner(kind, **options).learn(kernel, X, T, weight, are_labels=are_labels)


def test_finds_what_matters():
    [learnt] = learn()
    np.testing.assert_array_equal(np.flatnonzero(learnt.relevance), [0, 2])
    assert isinstance(learnt, LearntLengthScales)
    assert learnt.kind == "ard"
    assert learnt.n_scales == 2
    assert learnt.gain[0] > 10.0 < learnt.gain[2]
    assert (learnt.gain[[1, 3]] < learnt.penalty + 1e-9).all()
    np.testing.assert_allclose(learnt.spread, X.std(axis=0))
    np.testing.assert_allclose(learnt.relevance, learnt.scale * X.var(axis=0))
    assert learnt.kernel == ScaledInputs(KERNEL, learnt.scale)
    assert learnt.path.shape == (len(learnt.path_objective), P)
    np.testing.assert_allclose(learnt.path[-1], learnt.relevance)


def test_finds_what_separates_labels():
    proposals = learn(T=LABELS, are_labels=True)
    assert len(proposals) == 2  # widths
    for learnt in proposals:
        np.testing.assert_array_equal(np.flatnonzero(learnt.relevance), [0, 2])
    np.testing.assert_allclose(2.0 * proposals[0].relevance, proposals[1].relevance)


def test_evidence_is_at_a_maximum():
    """The widths of the process are those that scikit-learn ends at from there."""
    [learnt] = learn(scale_factor=1.0, min_gain=0.0)
    kept = np.flatnonzero(learnt.scale)
    Z = ((X - X.mean(axis=0)) / X.std(axis=0))[:, kept]
    t = (T[:, 0] - T.mean()) / T.std()
    length = 1.0 / np.sqrt(2.0 * learnt.relevance[kept])
    kernel = ConstantKernel(1.0) * RBF(length, (1e-3, 1e4)) + WhiteKernel(0.01, (1e-6, 10.0))
    held = ConstantKernel(1.0) * RBF(length, "fixed") + WhiteKernel(0.01, (1e-6, 10.0))
    free = GaussianProcessRegressor(kernel).fit(Z, t)
    ours = GaussianProcessRegressor(held).fit(Z, t)
    # zero mean there and a flat intercept here, unequal scales cost something here
    gap = free.log_marginal_likelihood_value_ - ours.log_marginal_likelihood_value_
    assert gap < 1.5


# ------------------------------------------------------------------ units and degenerate columns


@pytest.mark.parametrize("kind", ["ard", "isotropic"])
@pytest.mark.parametrize("are_labels", [False, True])
def test_units_do_not_matter(kind, are_labels):
    targets = LABELS if are_labels else T
    plain = learn(T=targets, kind=kind, are_labels=are_labels)
    scaled = learn(X * UNITS + 3.0 * UNITS, targets, kind=kind, are_labels=are_labels)
    for one, other in zip(plain, scaled, strict=True):
        np.testing.assert_allclose(one.relevance, other.relevance, rtol=1e-3, atol=1e-6)
        np.testing.assert_allclose(other.scale * UNITS**2, one.scale, rtol=1e-3, atol=1e-6)
        assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-3)


def test_powers_of_two_change_nothing_at_all():
    units = np.array([2.0**-20, 2.0**20, 2.0**7, 1.0])
    [one], [other] = learn(), learn(X * units)
    np.testing.assert_allclose(one.relevance, other.relevance, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("constant", [0.0, 1.0, 1e6, 0.1])
@pytest.mark.parametrize("kind", ["ard", "isotropic"])
def test_constant_columns_change_nothing(constant, kind):
    [one] = learn(kind=kind)
    [other] = learn(np.column_stack([X[:, :2], np.full(N, constant), X[:, 2:]]), kind=kind)
    assert other.relevance[2] == other.scale[2] == other.spread[2] == 0.0
    np.testing.assert_allclose(np.delete(other.relevance, 2), one.relevance, rtol=1e-6)
    assert other.penalty == one.penalty


def test_duplicated_columns_share_or_leave():
    [one] = learn()
    [other] = learn(np.column_stack([X, X[:, 0]]))
    assert other.relevance[0] + other.relevance[4] == pytest.approx(one.relevance[0], rel=0.1)
    assert other.relevance[2] == pytest.approx(one.relevance[2], rel=0.1)
    assert other.relevance[1] == other.relevance[3] == 0.0
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=0.5)


def test_order_of_rows_and_columns_does_not_matter():
    [one] = learn()
    rows, columns = np.random.default_rng(1).permutation(N), np.array([3, 2, 0, 1])
    [other] = learn(X[rows][:, columns], T[rows])
    np.testing.assert_allclose(other.relevance, one.relevance[columns], rtol=1e-3)


@pytest.mark.parametrize("are_labels", [False, True])
@pytest.mark.parametrize("kind", ["auto", "ard", "isotropic"])
def test_pure_noise_makes_all_alike(are_labels, kind):
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(N, 1))
    targets = (noise > 0.0).astype(float) if are_labels else noise
    learnt = learn(T=targets, kind=kind, are_labels=are_labels)
    assert len(learnt) == 1
    np.testing.assert_allclose(learnt[0].relevance, 1.0 / P)
    np.testing.assert_allclose(learnt[0].scale, 1.0 / P / X.var(axis=0))
    assert learnt[0].n_scales == 1


def test_nothing_to_learn_from():
    for inputs, targets in [(X, np.ones((N, 1))), (np.ones((N, P)), T), (X[:2], T[:2])]:
        [learnt] = learn(inputs, targets)
        assert learnt.kind == "none"
        assert np.isfinite(learnt.scale).all()
    [one] = learn(X[:1], T[:1])
    np.testing.assert_array_equal(one.scale, 0.0)


def test_one_input():
    [learnt] = learn(X[:, :1], np.sin(2.0 * X[:, :1]))
    assert learnt.relevance[0] > 0.1
    proposals = learn(X[:, :1], np.sin(2.0 * X[:, :1]), kind="auto")
    assert [p.kind for p in proposals] == ["isotropic"]


# ------------------------------------------------------------------ weights


@pytest.mark.parametrize("are_labels", [False, True])
@pytest.mark.parametrize("kind", ["ard", "isotropic"])
def test_weights_are_copies_to_the_last_digit(are_labels, kind):
    rng = np.random.default_rng(2)
    counts = rng.choice([0, 1, 2], size=N)
    rows = rng.permutation(np.repeat(np.arange(N), counts))
    targets = LABELS if are_labels else T
    weighted = learn(T=targets, weight=counts.astype(float), kind=kind, are_labels=are_labels)
    copies = learn(X[rows], targets[rows], kind=kind, are_labels=are_labels)
    for one, other in zip(weighted, copies, strict=True):
        np.testing.assert_array_equal(one.scale, other.scale)
        np.testing.assert_array_equal(one.gain, other.gain)
        assert one.log_evidence == other.log_evidence


def test_rows_without_weight_are_not_there():
    weight = np.ones(N)
    weight[:5] = 0.0
    spoilt = X.copy()
    spoilt[:5] = 1e6
    [one], [other] = learn(spoilt, weight=weight), learn(X[5:], T[5:])
    np.testing.assert_array_equal(one.scale, other.scale)


def test_minus_zero_is_zero():
    zeros, minus = X.copy(), X[:9].copy()
    zeros[:9, 0], minus[:, 0] = 0.0, -0.0
    [copies] = learn(np.vstack([zeros, minus]), np.vstack([T, T[:9]]))
    [weighted] = learn(zeros, weight=np.where(np.arange(N) < 9, 2.0, 1.0))
    np.testing.assert_array_equal(copies.scale, weighted.scale)
    np.testing.assert_array_equal(copies.path_objective, weighted.path_objective)


# ------------------------------------------------------------------ kinds, widths, options


def test_auto_proposes_both():
    kinds = [p.kind for p in learn(kind="auto")]
    assert kinds == ["isotropic", "ard"]
    kinds = [p.kind for p in learn(T=LABELS, kind="auto", are_labels=True)]
    assert kinds == ["isotropic", "isotropic", "ard", "ard"]


def test_one_width_is_in_units_of_standard_deviations():
    [learnt] = learn(X * UNITS, kind="isotropic")
    np.testing.assert_allclose(learnt.relevance, learnt.relevance[0])
    np.testing.assert_allclose(learnt.scale * X.var(axis=0) * UNITS**2, learnt.relevance)
    assert learnt.n_scales == 1


def test_width_is_a_factor():
    [wide], [exact], [default] = learn(scale_factor=0.25), learn(scale_factor=1.0), learn()
    np.testing.assert_allclose(wide.relevance, 0.25 * exact.relevance)
    np.testing.assert_allclose(default.relevance, 0.5 * exact.relevance)
    assert len(learn(T=LABELS, are_labels=True, scale_factor=0.7)) == 1


def test_kernel_objects_are_learnt_in_their_own_units():
    given = ConstantKernel(1.0) * RBF([1.0] * P, (1e-2, 1e3))
    [learnt] = learn(kernel=given, kind="kernel")
    assert learnt.kind == "kernel"
    np.testing.assert_array_equal(given.k2.length_scale, [1.0] * P)  # not touched
    length = learnt.kernel.k2.length_scale
    assert max(length[[0, 2]]) < min(length[[1, 3]])
    np.testing.assert_array_equal(learnt.scale, 1.0)
    np.testing.assert_allclose(learnt.relevance, X.var(axis=0))


def test_kernel_object_without_free_parameters():
    fixed = RBF(1.3, "fixed")
    [learnt] = learn(kernel=fixed, kind="kernel")
    assert learnt.kernel == fixed


def test_kernel_parameters_of_a_kernel_with_scales_stay():
    [learnt] = learn(kernel=Matern(1.0, nu=2.5))
    assert learnt.kernel.kernel == Matern(1.0, nu=2.5)
    [narrow] = learn(kernel=Matern(0.1, nu=2.5))
    # a length of 0.1 is made up for by the scales
    np.testing.assert_allclose(100.0 * narrow.relevance, learnt.relevance, rtol=0.3, atol=1e-9)


@pytest.mark.parametrize("kernel", [Laplacian(1.0), Matern(1.0, nu=1.5), RBF(1.0) + RBF(5.0)])
def test_other_kernels(kernel):
    [learnt] = learn(kernel=kernel)
    assert {0, 2} <= set(np.flatnonzero(learnt.relevance))


def test_what_is_no_covariance_is_refused():
    with pytest.raises(ValueError, match="length-scales can only be learnt for cov"):
        learn(kernel=Sigmoid(1.0, -3.0))
    with pytest.raises(ValueError, match="a kernel can only be learnt if it is a covariance"):
        learn(kernel=Sigmoid(1.0, -3.0), kind="kernel")


@pytest.mark.parametrize("factor", [1e-145, 1e145])
def test_inputs_out_of_range_are_refused(factor):
    with pytest.raises(ValueError, match="length-scales need features of moderate variance"):
        learn(X * factor)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kind": "arc"}, ValueError, "kind"),
        ({"scale_factor": "wide"}, ValueError, "scale_factor"),
        ({"scale_factor": 0.0}, ValueError, "scale_factor"),
        ({"scale_factor": -1.0}, ValueError, "scale_factor"),
        ({"min_gain": "none"}, ValueError, "min_gain"),
        ({"min_gain": -1.0}, ValueError, "min_gain"),
        ({"n_refinements": -1}, ValueError, "n_refinements"),
        ({"n_refinements": 1.5}, (TypeError, ValueError), "n_refinements"),
        ({"max_rows": 1}, ValueError, "max_rows"),
        ({"max_rows": "all"}, ValueError, "max_rows"),
        ({"max_iter": 0}, ValueError, "max_iter"),
    ],
)
def test_misspelt_options(options, error, message):
    with pytest.raises(error, match=message):
        learn(**options)


def test_min_gain_decides():
    [free] = learn(min_gain=0.0)
    [dear] = learn(min_gain=1e6)
    assert len(np.flatnonzero(dear.scale)) == 1
    assert len(np.flatnonzero(free.scale)) >= 2
    assert dear.penalty == 1e6


def test_is_deterministic_and_can_be_cloned():
    learner = LengthScaleLearner("ard", max_rows=30)
    first = learner.learn(KERNEL, X, T)[0]
    second = clone(learner).learn(KERNEL, X, T)[0]
    np.testing.assert_array_equal(first.scale, second.scale)
    assert "max_rows=30" in repr(learner)


# ------------------------------------------------------------------ many rows, many inputs


def test_rows_do_not_depend_on_what_classes_are_called():
    labels = (np.random.default_rng(0).uniform(size=(700, 1)) < 0.3).astype(float)
    rows = choose_rows(labels, 300, 0, are_labels=True)
    np.testing.assert_array_equal(rows, choose_rows(1.0 - labels, 300, 0, are_labels=True))
    assert labels[rows].mean() == pytest.approx(labels.mean(), abs=0.002)


def test_rows_are_a_choice_of_every_class():
    rng = np.random.default_rng(0)
    labels = np.eye(3)[rng.choice(3, p=[0.9, 0.08, 0.02], size=1000)]
    rows = choose_rows(labels, 100, 0, are_labels=True)
    assert len(np.unique(rows)) == len(rows)
    counts = labels[rows].sum(axis=0)
    np.testing.assert_allclose(counts, labels.sum(axis=0) / 10.0, atol=0.51)
    assert (counts > 0).all()
    one = np.zeros((1000, 2))
    one[:, 0], one[7] = 1.0, [0.0, 1.0]
    assert 7 in choose_rows(one, 100, 0, are_labels=True)


def test_rows_are_all_taken_if_they_fit():
    np.testing.assert_array_equal(choose_rows(T, 500, 0), np.arange(N))
    many = np.zeros((2000, 1))
    assert len(choose_rows(many, LabelProcess.max_rows, 0, are_labels=True)) == 300
    assert len(choose_rows(many, Process.max_rows, 0)) == 500
    chosen = choose_rows(many, 77, 1)
    assert len(chosen) == 77
    assert (np.diff(chosen) > 0).all()


def test_a_choice_of_rows_still_finds_what_matters():
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(400, P))
    targets = np.sin(2.0 * inputs[:, [1]]) + 0.1 * rng.normal(size=(400, 1))
    [learnt] = learn(inputs, targets, max_rows=60)
    assert np.argmax(learnt.gain) == np.argmax(learnt.relevance) == 1
    assert learnt.relevance[1] > 10.0 * np.delete(learnt.relevance, 1).max()


@pytest.mark.slow
@pytest.mark.parametrize("are_labels", [False, True])
def test_many_inputs(are_labels):
    rng = np.random.default_rng(2)
    n, p = 60, 2000
    inputs = rng.normal(size=(n, p))
    signal = 2.0 * inputs[:, [3]] + inputs[:, [1500]]
    targets = (signal > 0.0).astype(float) if are_labels else signal
    inputs.setflags(write=False)
    tracemalloc.start()
    try:
        learnt = learn(inputs, targets, are_labels=are_labels)[-1]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert learnt.relevance[3] > 0.0
    assert np.count_nonzero(learnt.relevance) < 20
    # the inputs a few times over, and the steps of the search; not a matrix for each input
    assert peak < 0.5 * 8 * n * n * p


def test_several_targets_share_their_scales():
    both = np.column_stack([np.sin(2.0 * X[:, 1]), X[:, 3]])
    [learnt] = learn(T=both)
    np.testing.assert_array_equal(np.flatnonzero(learnt.scale), [1, 3])
    [same] = learn(T=np.column_stack([T, np.ones(N)]))  # a constant says nothing
    [alone] = learn()
    np.testing.assert_allclose(same.scale, alone.scale, rtol=1e-6)


def test_explicit_columns_take_what_is_theirs():
    """A line beside the kernels leaves nothing for the kernel of its input."""
    target = 3.0 * X[:, [1]] + np.sin(3.0 * X[:, [0]])
    [learnt] = LengthScaleLearner("ard").learn(
        KERNEL, X, target, None, lambda rows: X[rows][:, [1]]
    )
    np.testing.assert_array_equal(np.flatnonzero(learnt.scale), [0])
    assert 1 in np.flatnonzero(LengthScaleLearner("ard").learn(KERNEL, X, target)[0].scale)
