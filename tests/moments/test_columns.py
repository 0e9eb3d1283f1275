"""Prepared atoms and their Gram rows against the shortest possible code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.gaussian_process.kernels import RBF

from relvec._linalg import gram_of_rows
from relvec._typing import IndexArray, Matrix, Vector
from relvec.dictionaries import (
    DenseDictionary,
    SparseDictionary,
)
from relvec.dictionaries.base import Dictionary
from relvec.kernels import kernel_dictionary
from relvec.moments import LazyMoments, Moments, Storage, compute_moments
from tests.helpers_dense import DenseMoments

STORE = [True, False]


class CountingDictionary(DenseDictionary):
    """Remembers which atoms were evaluated."""

    def __init__(self, array: Matrix) -> None:
        super().__init__(array)
        self.asked: list[int] = []

    def columns(self, index: IndexArray) -> Matrix:
        self.asked.extend(np.asarray(index).tolist())
        return super().columns(index)


def design(n: int = 30, m: int = 12, offset: float = 1.0, seed: int = 0) -> tuple[Matrix, Vector]:
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((n, m)) * np.exp(rng.uniform(-3, 3, m)) + offset
    return Phi, Phi[:, 0] + rng.standard_normal(n) + offset


def lazy(
    dictionary: Dictionary | Matrix,
    t: Vector,
    weight: Vector | None = None,
    *,
    centre: bool = True,
    store: bool = True,
) -> LazyMoments:
    if isinstance(dictionary, np.ndarray):
        dictionary = DenseDictionary(dictionary)
    return LazyMoments(dictionary, t, weight, centre=centre, store=store)


def check_same(moments: Moments, expected: Moments, *, tol: float = 1e-10) -> None:
    """Every number a solver can see agrees; Gram and correlations in units of the norms."""
    every = np.arange(expected.n_atoms)
    usable = expected.usable
    np.testing.assert_array_equal(moments.usable, usable)
    assert moments.n_atoms == expected.n_atoms
    assert moments.n_effective == pytest.approx(expected.n_effective, rel=1e-12)
    assert moments.target_ss == pytest.approx(expected.target_ss, rel=max(tol, 1e-10))
    assert moments.target_mean == pytest.approx(expected.target_mean, rel=1e-10, abs=1e-12)
    np.testing.assert_allclose(moments.column_mean[usable], expected.column_mean[usable], rtol=tol)
    np.testing.assert_allclose(moments.column_norm[usable], expected.column_norm[usable], rtol=tol)
    length = np.sqrt(expected.target_ss)
    np.testing.assert_allclose(moments.correlation, expected.correlation, atol=tol * length)
    np.testing.assert_array_equal(moments.correlation[~usable], 0.0)
    gram = expected.gram(every)
    pairs = np.ix_(usable, usable)
    np.testing.assert_allclose(moments.gram(every)[pairs], gram[pairs], atol=tol)
    np.testing.assert_allclose(moments.gram_rows(every)[pairs], gram[pairs], atol=tol)
    some = every[::-2]
    np.testing.assert_allclose(
        moments.gram_rows(some)[:, usable][usable[some]],
        gram[some][:, usable][usable[some]],
        atol=tol,
    )
    both = np.ix_(usable[some], usable[some])
    np.testing.assert_allclose(moments.gram(some)[both], gram[np.ix_(some, some)][both], atol=tol)


# ------------------------------------------------------------------ agreement


@pytest.mark.parametrize("store", STORE)
@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 40), m=st.integers(1, 15))
def test_lazy_moments_are_those_of_the_dense_oracle(
    store: bool, centre: bool, weighted: bool, seed: int, n: int, m: int
) -> None:
    Phi, t = design(n, m, seed=seed)
    weight = np.random.default_rng(seed).uniform(0.1, 3.0, n) if weighted else None
    check_same(
        lazy(Phi, t, weight, centre=centre, store=store), DenseMoments(Phi, t, weight, centre)
    )


@pytest.mark.parametrize("store", STORE)
@pytest.mark.parametrize("kind", ["sparse", "kernel"])
def test_every_kind_of_dictionary(store: bool, kind: str) -> None:
    rng = np.random.default_rng(5)
    dictionary: Dictionary
    if kind == "sparse":
        matrix = sparse.random_array((40, 9), density=0.4, rng=rng, format="csc")
        dictionary, Phi = SparseDictionary(matrix), matrix.toarray()
    else:
        X, Z = rng.standard_normal((40, 2)), rng.standard_normal((9, 2))
        dictionary, Phi = kernel_dictionary(RBF(0.7), X, Z), RBF(0.7)(X, Z)
    t = rng.standard_normal(40)
    weight = rng.uniform(0.5, 2.0, 40)
    check_same(lazy(dictionary, t, weight, store=store), DenseMoments(Phi, t, weight), tol=1e-8)


@pytest.mark.parametrize("store", STORE)
@pytest.mark.parametrize("offset", [1e6, -1e6, 1e8])
def test_large_offsets_lose_only_the_digits_the_data_have_lost(store: bool, offset: float) -> None:
    """The offset is removed before products are formed, so its square never appears."""
    Phi, t = design(60, 8, offset=0.0, seed=1)
    Phi /= np.linalg.norm(Phi - Phi.mean(0), axis=0)
    shifted = Phi + offset
    # the data as stored, their offset taken off exactly
    recovered = shifted - offset
    moments = lazy(shifted, t + offset, store=store)
    expected = DenseMoments(recovered, (t + offset) - offset)
    every = np.arange(8)
    assert moments.usable.all()
    tol = 3e-8 if abs(offset) < 1e7 else 3e-6
    np.testing.assert_allclose(moments.gram(every), expected.gram(every), atol=tol)
    np.testing.assert_allclose(moments.gram_rows(every), expected.gram(every), atol=tol)
    np.testing.assert_allclose(
        moments.correlation, expected.correlation, atol=tol * np.sqrt(expected.target_ss)
    )
    assert moments.target_ss == pytest.approx(expected.target_ss, rel=tol)


@pytest.mark.parametrize("store", STORE)
def test_resolution_says_how_many_digits_an_offset_leaves(store: bool) -> None:
    Phi, t = design(50, 3, offset=0.0)
    Phi /= np.linalg.norm(Phi - Phi.mean(0), axis=0)
    Phi += [0.0, 1e6, 1e9]
    resolution = lazy(Phi, t, store=store).resolution
    assert resolution[0] == pytest.approx(1e-9)
    # rounding of an entry is eps * offset, relative to a unit column of 50 entries
    assert 1e-9 < resolution[1] < 1e-5
    assert resolution[2] == pytest.approx(1e3 * resolution[1], rel=1e-3)


@pytest.mark.parametrize("store", STORE)
@pytest.mark.parametrize("centre", [True, False])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
def test_integer_weights_are_repetitions_and_zero_weights_removals(
    store: bool, centre: bool, seed: int
) -> None:
    Phi, t = design(20, 6, seed=seed)
    times = np.random.default_rng(seed).integers(0, 4, 20)
    times[:3] = 1  # something is left
    weighted = lazy(Phi, t, times.astype(float), centre=centre, store=store)
    repeated = lazy(np.repeat(Phi, times, axis=0), np.repeat(t, times), centre=centre, store=store)
    check_same(weighted, repeated)


@pytest.mark.parametrize("store", STORE)
def test_columns_that_say_nothing_are_unusable_and_harmless(store: bool) -> None:
    Phi, t = design(25, 6)
    Phi[:, 1] = 0.0
    Phi[:, 2] = 7.3
    Phi[:, 4] = 1e5 * (1.0 + 1e-16 * np.arange(25))
    moments = lazy(Phi, t, store=store)
    assert moments.usable.tolist() == [True, False, False, True, False, True]
    useful = np.array([0, 3, 5])
    expected = DenseMoments(Phi[:, useful], t)
    np.testing.assert_allclose(moments.gram(useful), expected.gram(np.arange(3)), atol=1e-12)
    np.testing.assert_allclose(moments.gram_rows(useful)[:, [1, 2, 4]], 0.0, atol=1e-12)
    np.testing.assert_array_equal(moments.correlation[[1, 2, 4]], 0.0)
    assert np.isfinite(moments.gram_rows(np.arange(6))).all()


@pytest.mark.parametrize("store", STORE)
def test_without_centring_a_constant_column_is_an_atom(store: bool) -> None:
    Phi, t = design(25, 3)
    Phi[:, 1] = 7.3
    moments = lazy(Phi, t, centre=False, store=store)
    assert moments.usable.all()
    assert moments.target_mean == 0.0
    assert moments.n_effective == 25
    assert moments.correlation[1] == pytest.approx(t.sum() / 5.0)


@pytest.mark.parametrize("store", STORE)
def test_scaling_changes_nothing_but_the_norms(store: bool) -> None:
    Phi, t = design(30, 5)
    scale = np.array([1e-8, 1e-3, 1.0, 1e4, 1e8])
    plain, scaled = lazy(Phi, t, store=store), lazy(Phi * scale, 1e-9 * t, store=store)
    every = np.arange(5)
    np.testing.assert_allclose(scaled.gram(every), plain.gram(every), atol=1e-13)
    np.testing.assert_allclose(scaled.column_norm, plain.column_norm * scale, rtol=1e-12)
    np.testing.assert_allclose(scaled.correlation, 1e-9 * plain.correlation, rtol=1e-10)


def test_targets_share_the_atoms_but_not_the_numbers() -> None:
    Phi, t = design(30, 5)
    targets = np.stack([t, t**2], axis=1)
    both = compute_moments(DenseDictionary(Phi), targets, None, centre=True)
    both[0].fetch(np.array([1, 3]))
    assert both[1].n_fetched == 2
    assert both[0].stored is both[1].stored
    for moments, target in zip(both, targets.T, strict=True):
        check_same(moments, DenseMoments(Phi, target))


@pytest.mark.parametrize("store", STORE)
def test_rows_are_copies(store: bool) -> None:
    """A solver overwrites what it is given; the cache must not notice."""
    Phi, t = design(30, 5)
    moments = lazy(Phi, t, store=store)
    index = np.array([3, 1])
    before = moments.gram_rows(index).copy()
    moments.gram_rows(index)[:] = 17.0
    moments.gram(index)[:] = 17.0
    np.testing.assert_array_equal(moments.gram_rows(index), before)


def test_the_dictionary_itself_is_not_changed() -> None:
    Phi, t = design(30, 5)
    before, target = Phi.copy(), t.copy()
    for store in STORE:
        lazy(Phi, t, np.full(30, 2.0), store=store).gram_rows(np.arange(5))
    np.testing.assert_array_equal(Phi, before)
    np.testing.assert_array_equal(t, target)


# ------------------------------------------------------------------ how often, and when


def test_unstored_rows_are_computed_once_each() -> None:
    Phi, t = design(30, 12)
    moments = lazy(Phi, t, store=False)
    assert moments.n_fetched == 0
    moments.fetch(np.array([2, 5]))
    assert moments.n_fetched == 2
    moments.gram_rows(np.array([5, 2, 7]))
    assert moments.n_fetched == 3
    moments.gram_rows(np.array([2, 5, 7]))
    moments.fetch(np.array([], dtype=np.intp))
    assert moments.n_fetched == 3
    moments.gram(np.array([0, 1]))  # a small block is not a row
    assert moments.n_fetched == 3
    expected = DenseMoments(Phi, t)
    for _ in range(3):  # the cache grows and keeps what it had
        moments.fetch(np.arange(12))
        np.testing.assert_allclose(
            moments.gram_rows(np.arange(12)), expected.gram(np.arange(12)), atol=1e-12
        )
    assert moments.n_fetched == 12


def test_stored_atoms_are_never_evaluated_again() -> None:
    Phi, t = design(30, Storage().full_gram_atoms + 5)
    dictionary = CountingDictionary(Phi)
    moments = lazy(dictionary, t, store=True)
    assert sorted(dictionary.asked) == list(range(Storage().full_gram_atoms + 5))
    moments.gram_rows(np.array([1, 2]))
    moments.gram(np.array([4, 9]))
    assert len(dictionary.asked) == Storage().full_gram_atoms + 5


def whole_grams(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the Gram matrices that are computed as a whole from now on."""
    sizes: list[int] = []

    def spy(rows: Matrix) -> Matrix:
        sizes.append(len(rows))
        return gram_of_rows(rows)

    monkeypatch.setattr("relvec.moments.lazy.gram_of_rows", spy)
    return sizes


def test_few_atoms_have_their_whole_gram_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    Phi, t = design(20, 30)
    sizes = whole_grams(monkeypatch)
    lazy(Phi, t, store=False)
    assert sizes == []
    moments = lazy(Phi, t)
    moments.gram_rows(np.arange(20))
    assert sizes == [30]


def test_atoms_that_were_asked_for_are_counted_once() -> None:
    Phi, t = design(20, 30)
    moments = lazy(Phi, t)
    assert moments.n_fetched == 0
    moments.fetch(np.array([3, 5]))
    moments.gram_rows(np.array([5, 7]))
    assert moments.n_fetched == 3


def test_the_whole_gram_comes_when_enough_of_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = whole_grams(monkeypatch)
    m = Storage().full_gram_atoms + 100
    Phi, t = design(15, m)
    moments = lazy(Phi, t)
    enough = int(Storage().full_gram_share * m)
    moments.fetch(np.arange(enough))
    assert sizes == []
    first = moments.gram_rows(np.arange(3))
    moments.fetch(np.array([m - 1]))
    assert sizes == [m]
    assert moments.n_fetched == enough + 1
    np.testing.assert_allclose(moments.gram_rows(np.arange(3)), first, atol=1e-13)
    np.testing.assert_allclose(
        moments.gram_rows(np.arange(m - 5, m)),
        DenseMoments(Phi, t).gram_rows(np.arange(m - 5, m)),
        atol=1e-12,
    )


def test_many_atoms_stay_lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = whole_grams(monkeypatch)
    m = Storage().full_gram_limit + 1
    Phi, t = design(4, m)
    moments = lazy(Phi, t)
    moments.fetch(np.arange(m // 2))
    assert moments.n_fetched == m // 2
    assert sizes == []


def test_moments_of_reads_the_data_once_when_memory_is_short() -> None:
    Phi, t = design(50, 6)
    dictionary = DenseDictionary(Phi)
    expected = DenseMoments(Phi, t)
    tall = compute_moments(dictionary, t[:, None], None, centre=True, low_memory=True)[0]
    assert not isinstance(tall, LazyMoments)
    wide = compute_moments(
        DenseDictionary(Phi[:8]), t[:8, None], None, centre=True, low_memory=True
    )[0]
    assert isinstance(wide, LazyMoments)
    assert wide.stored is None
    usual = compute_moments(dictionary, t[:, None], None, centre=True)[0]
    assert isinstance(usual, LazyMoments)
    assert usual.stored is not None
    check_same(tall, expected, tol=1e-8)
    check_same(wide, DenseMoments(Phi[:8], t[:8]))
    check_same(usual, expected)
