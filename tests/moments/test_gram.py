"""Sufficient statistics: any blocks, any order, any offset, the same moments."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relvec._typing import Matrix, Vector
from relvec.dictionaries import DenseDictionary
from relvec.moments import (
    SufficientStatistics,
    accumulate_statistics,
    merge_statistics,
    subset_moments,
)
from tests.helpers_dense import DenseMoments
from tests.moments.test_columns import check_same, design, lazy


def in_blocks(
    Phi: Matrix,
    t: Vector,
    cuts: list[int],
    weight: Vector | None = None,
    shift: Vector | None = None,
) -> SufficientStatistics:
    statistics = SufficientStatistics(Phi.shape[1], shift=shift)
    for start, stop in zip([0, *cuts], [*cuts, len(t)], strict=True):
        rows = slice(start, stop)
        statistics.update(Phi[rows], t[rows], None if weight is None else weight[rows])
    return statistics


@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    cuts=st.lists(st.integers(1, 39), max_size=4, unique=True).map(sorted),
)
def test_blocks_add_up_to_the_dense_oracle(
    centre: bool, weighted: bool, seed: int, cuts: list[int]
) -> None:
    Phi, t = design(40, 7, seed=seed)
    weight = np.random.default_rng(seed).uniform(0.1, 3.0, 40) if weighted else None
    statistics = in_blocks(Phi, t, cuts, weight)
    check_same(statistics.moments(centre=centre), DenseMoments(Phi, t, weight, centre), tol=1e-8)


@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize("shared", [True, False])
def test_merging_is_addition_in_any_order(centre: bool, shared: bool) -> None:
    Phi, t = design(60, 5)
    weight = np.random.default_rng(0).uniform(0.1, 3.0, 60)
    shift = np.r_[Phi[0], t[0]] if shared else None
    parts = [
        in_blocks(Phi[rows], t[rows], [], weight[rows], shift)
        for rows in (slice(40, 60), slice(0, 10), slice(10, 40))
    ]
    expected = DenseMoments(Phi, t, weight, centre)
    for order in ([0, 1, 2], [2, 0, 1]):
        whole = merge_statistics(*(parts[i] for i in order))
        assert whole.total_weight == pytest.approx(weight.sum())
        check_same(whole.moments(centre=centre), expected, tol=1e-8)
    in_a_tree = merge_statistics(merge_statistics(parts[0], parts[1]), parts[2])
    check_same(in_a_tree.moments(centre=centre), expected, tol=1e-8)


def test_merging_leaves_the_parts_as_they_were() -> None:
    Phi, t = design(40, 4)
    here, there = in_blocks(Phi[:20], t[:20], []), in_blocks(Phi[20:], t[20:], [])
    merge_statistics(here, there)
    check_same(here.moments(), DenseMoments(Phi[:20], t[:20]), tol=1e-9)
    check_same(there.moments(), DenseMoments(Phi[20:], t[20:]), tol=1e-9)


def test_parts_far_from_each_other_and_from_zero_merge_without_losing_digits() -> None:
    rng = np.random.default_rng(3)
    Phi, t = rng.standard_normal((400, 5)) + 1e7, rng.standard_normal(400) - 1e7
    Phi[200:] += 30.0
    whole = merge_statistics(
        in_blocks(Phi[:200], t[:200], [90]), in_blocks(Phi[200:], t[200:], [])
    ).moments()
    expected = DenseMoments(Phi - 1e7, t + 1e7)
    every = np.arange(5)
    np.testing.assert_allclose(whole.gram(every), expected.gram(every), atol=1e-11)
    np.testing.assert_allclose(whole.correlation, expected.correlation, atol=1e-8)


def test_statistics_without_rows_add_nothing() -> None:
    Phi, t = design(30, 3)
    whole = merge_statistics(
        SufficientStatistics(3), in_blocks(Phi, t, []), SufficientStatistics(3)
    )
    check_same(whole.moments(), DenseMoments(Phi, t), tol=1e-9)
    with pytest.raises(ValueError, match="call update"):
        merge_statistics(SufficientStatistics(3), SufficientStatistics(3)).moments()


def test_empty_blocks_change_nothing() -> None:
    """A worker without rows is no exception when data are spread."""
    Phi, t = design(30, 3)
    nothing = SufficientStatistics(3).update(Phi[:0], t[:0])
    with pytest.raises(ValueError, match="No rows have been added"):
        nothing.moments()
    expected = DenseMoments(Phi, t)
    check_same(nothing.update(Phi, t).moments(), expected, tol=1e-9)
    shifted = SufficientStatistics(3, shift=np.ones(4))
    check_same(merge_statistics(shifted, in_blocks(Phi, t, [])).moments(), expected, tol=1e-9)


@pytest.mark.parametrize("shift", [np.ones(3), [np.nan, 0.0, 0.0, 0.0], 1.0])
def test_shifts_that_do_not_fit(shift) -> None:
    with pytest.raises(ValueError, match="shift must hold 4 finite numbers"):
        SufficientStatistics(3, shift=shift)


def test_only_statistics_of_the_same_columns_merge() -> None:
    with pytest.raises(
        ValueError, match=r"same atoms and targets; got 2 with .* \[\(3, 1\), \(4, 1\)\]"
    ):
        merge_statistics(SufficientStatistics(3), SufficientStatistics(4))
    with pytest.raises(ValueError, match="same atoms and targets; got 0"):
        merge_statistics()
    with pytest.raises(TypeError, match="each as an argument of its own"):
        merge_statistics([SufficientStatistics(3)])


def test_pickled_statistics_hold_one_triangle() -> None:
    Phi, t = design(400, 200)
    statistics = in_blocks(Phi[:250], t[:250], [])
    stored = pickle.dumps(statistics)
    assert len(stored) < 8 * 201**2 * 0.55
    again = pickle.loads(stored).update(Phi[250:], t[250:])
    whole = statistics.update(Phi[250:], t[250:]).moments()
    every = np.arange(200)
    np.testing.assert_array_equal(again.moments().gram(every), whole.gram(every))
    np.testing.assert_array_equal(again.moments().correlation, whole.correlation)


def test_more_atoms_than_memory_holds_is_said_before_any_work() -> None:
    with pytest.raises(MemoryError, match=r"second moments of 10000001 columns take 8e\+05 GB"):
        SufficientStatistics(10_000_000)


def test_no_rows_no_moments() -> None:
    with pytest.raises(ValueError, match="call update"):
        SufficientStatistics(3).moments()


@pytest.mark.parametrize("shift", ["first block", "rough"])
def test_an_offset_of_a_million_costs_no_digits(shift: str) -> None:
    """Uncentred sums would leave a Gram error of 2e-3 (spec 01 §4)."""
    rng = np.random.default_rng(2)
    Phi, t = rng.standard_normal((500, 6)) + 1e6, rng.standard_normal(500) - 1e6
    near = np.r_[np.full(6, 1e6 + 3.0), -1e6] if shift == "rough" else None
    moments = in_blocks(Phi, t, [100, 250], shift=near).moments()
    expected = DenseMoments(Phi - 1e6, t + 1e6)
    every = np.arange(6)
    assert moments.usable.all()
    np.testing.assert_allclose(moments.gram(every), expected.gram(every), atol=1e-11)
    np.testing.assert_allclose(moments.correlation, expected.correlation, atol=1e-9)
    assert moments.target_ss == pytest.approx(expected.target_ss, rel=1e-11)
    np.testing.assert_allclose(moments.column_mean, Phi.mean(axis=0), rtol=1e-14)
    assert moments.target_mean == pytest.approx(t.mean(), rel=1e-14)


@pytest.mark.parametrize("centre", [True, False])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_integer_weights_are_repetitions(centre: bool, seed: int) -> None:
    Phi, t = design(20, 4, seed=seed)
    times = np.random.default_rng(seed).integers(0, 4, 20)
    times[:3] = 1
    weighted = in_blocks(Phi, t, [9], times.astype(float)).moments(centre=centre)
    repeated = DenseMoments(np.repeat(Phi, times, axis=0), np.repeat(t, times), None, centre)
    check_same(weighted, repeated, tol=1e-8)


def test_constant_and_zero_columns_are_unusable() -> None:
    Phi, t = design(30, 4)
    Phi[:, 1] = 0.0
    Phi[:, 2] = 1e5
    moments = in_blocks(Phi, t, [11]).moments()
    assert moments.usable.tolist() == [True, False, False, True]
    np.testing.assert_array_equal(moments.correlation[1:3], 0.0)
    assert np.isfinite(moments.gram_rows(np.arange(4))).all()
    kept = np.array([0, 3])
    expected = DenseMoments(Phi[:, kept], t)
    np.testing.assert_allclose(moments.gram(kept), expected.gram(np.arange(2)), atol=1e-10)


def test_several_targets_share_one_gram() -> None:
    Phi, t = design(40, 5)
    targets = np.stack([t, np.sin(t)], axis=1)
    statistics = SufficientStatistics(5, 2).update(Phi[:25], targets[:25])
    every = statistics.update(Phi[25:], targets[25:]).all_moments()
    for moments, target in zip(every, targets.T, strict=True):
        check_same(moments, DenseMoments(Phi, target), tol=1e-9)


def test_rows_are_copies() -> None:
    Phi, t = design(40, 5)
    moments = in_blocks(Phi, t, []).moments()
    moments.gram_rows(np.array([1]))[:] = 9.0
    moments.gram(np.array([1, 2]))[:] = 9.0
    check_same(moments, DenseMoments(Phi, t), tol=1e-9)


def test_update_leaves_the_data_alone() -> None:
    Phi, t = design(40, 5)
    before = Phi.copy(), t.copy()
    in_blocks(Phi, t, [20], np.full(40, 2.0))
    np.testing.assert_array_equal(Phi, before[0])
    np.testing.assert_array_equal(t, before[1])


@pytest.mark.parametrize("weighted", [True, False])
def test_accumulate_reads_every_row_once(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relvec.moments.gram.BLOCK_BYTES", 1)
    rng = np.random.default_rng(0)
    n = 1000  # at least 256 rows to a block: four blocks, the last one short
    Phi, t = rng.standard_normal((n, 3)), rng.standard_normal(n)
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    asked: list[tuple[int, int]] = []

    class Recording(DenseDictionary):
        def rows(self, start: int, stop: int) -> Matrix:
            asked.append((start, stop))
            return super().rows(start, stop)

    moments = accumulate_statistics(Recording(Phi), t[:, None], weight).moments()
    assert asked == [(0, 256), (256, 512), (512, 768), (768, 1000)]
    check_same(moments, DenseMoments(Phi, t, weight), tol=1e-10)


def test_a_first_block_without_weight_is_as_if_absent() -> None:
    Phi, t = design(40, 4)
    weight = np.r_[np.zeros(15), np.ones(25)]
    check_same(in_blocks(Phi, t, [15], weight).moments(), DenseMoments(Phi[15:], t[15:]), tol=1e-9)


@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize("kind", ["lazy", "gram"])
def test_moments_of_some_atoms_are_those_of_their_columns(centre: bool, kind: str) -> None:
    Phi, t = design(40, 9)
    Phi[:, 4] = 2.0 * centre  # an atom that is not usable
    whole = (
        lazy(Phi, t, centre=centre)
        if kind == "lazy"
        else in_blocks(Phi, t, [13]).moments(centre=centre)
    )
    some = np.array([1, 2, 4, 5, 8])
    part = subset_moments(whole, some)
    check_same(part, DenseMoments(Phi[:, some], t, None, centre), tol=1e-9)
    assert part.n_atoms == 5
    for name in ("correlation", "usable", "resolution", "column_mean", "column_norm"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[some])
    np.testing.assert_array_equal(part.gram(np.array([0, 3])), whole.gram(some[[0, 3]]))
    np.testing.assert_array_equal(part.gram_rows(np.array([1])), whole.gram(some)[[1]])


@pytest.mark.parametrize(
    ("atoms", "targets", "weight", "message"),
    [
        (np.ones((4, 2)), np.ones(4), None, r"atoms must have shape \(n_rows, 3\); got"),
        (np.ones((4, 3)), np.ones(3), None, r"targets must have one row per row of atoms"),
        (np.full((4, 3), np.nan), np.ones(4), None, "atoms must be finite; .* row 0, column 0"),
        (np.ones((4, 3)), np.ones(4), np.ones(3), r"sample_weight must have shape \(4,\)"),
        (np.ones((4, 3)), np.ones(4), [1, 1, -1, 1], "not be negative; got -1 at position 2"),
    ],
)
def test_blocks_that_do_not_fit(atoms, targets, weight, message):
    with pytest.raises(ValueError, match=message):
        SufficientStatistics(3).update(atoms, targets, weight)


@pytest.mark.parametrize("offset", [1e6, 2e7, 1e9])
def test_offsets_of_columns_do_not_hide_them(offset):
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((80, 3))
    t = Phi[:, 0] + 0.1 * rng.standard_normal(80)
    moments = SufficientStatistics(3).update(Phi + offset, t).moments()
    assert moments.usable.all()
    here = SufficientStatistics(3).update((Phi + offset) - offset, t).moments()
    np.testing.assert_allclose(moments.gram(np.arange(3)), here.gram(np.arange(3)), atol=1e-6)
