"""The lapped cosine transform against its explicit matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relvec.dictionaries.lapped import inverse_lapped_cosine, lapped_cosine, lapped_variances

CASES = [
    (n_frames, size, periodic)
    for n_frames in (1, 2, 3, 5)
    for size in (2, 4, 8, 14)
    for periodic in (False, True)
    if n_frames > 1 or not periodic
]


def matrix(n_frames, size, periodic):
    """Row k is atom k: coefficients are ``matrix @ signal``."""
    unit = np.eye(n_frames * size)
    return lapped_cosine(unit, size, periodic=periodic).reshape(len(unit), -1).T


@pytest.mark.parametrize(("n_frames", "size", "periodic"), CASES)
def test_orthonormal(n_frames, size, periodic):
    W = matrix(n_frames, size, periodic)
    np.testing.assert_allclose(W @ W.T, np.eye(len(W)), atol=1e-13)
    np.testing.assert_allclose(W.T @ W, np.eye(len(W)), atol=1e-13)


@pytest.mark.parametrize(("n_frames", "size", "periodic"), CASES)
def test_inverse_is_the_adjoint(n_frames, size, periodic):
    coefficients = np.random.default_rng(0).normal(size=(n_frames, size))
    found = inverse_lapped_cosine(coefficients, periodic=periodic)
    expected = matrix(n_frames, size, periodic).T @ coefficients.ravel()
    np.testing.assert_allclose(found, expected, atol=1e-13)


@pytest.mark.parametrize(("n_frames", "size", "periodic"), CASES)
def test_variances_against_squared_atoms(n_frames, size, periodic):
    random = np.random.default_rng(1)
    squared = matrix(n_frames, size, periodic) ** 2
    values = random.uniform(size=(n_frames, size))
    forth = lapped_variances(values, periodic=periodic)
    back = lapped_variances(values, adjoint=True, periodic=periodic)
    np.testing.assert_allclose(forth.ravel(), squared.T @ values.ravel(), atol=1e-13)
    np.testing.assert_allclose(back.ravel(), squared @ values.ravel(), atol=1e-13)
    # adjoint: <a, V b> = <V^T a, b>; and neither direction makes or loses variance
    other = random.uniform(size=(n_frames, size))
    assert np.vdot(other, forth) == pytest.approx(
        np.vdot(lapped_variances(other, adjoint=True, periodic=periodic), values)
    )
    assert forth.sum() == pytest.approx(values.sum())
    assert back.sum() == pytest.approx(values.sum())


@given(
    n_frames=st.integers(2, 6),
    half=st.integers(1, 20),
    periodic=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_round_trip_and_energy_of_stacks(n_frames, half, periodic, seed):
    signals = np.random.default_rng(seed).normal(size=(3, 2, n_frames * 2 * half))
    coefficients = lapped_cosine(signals, 2 * half, periodic=periodic)
    assert coefficients.shape == (3, 2, n_frames, 2 * half)
    np.testing.assert_allclose((coefficients**2).sum((-1, -2)), (signals**2).sum(-1))
    np.testing.assert_allclose(
        inverse_lapped_cosine(coefficients, periodic=periodic), signals, atol=1e-12
    )


def test_what_does_not_fill_a_frame_is_left_out():
    signal = np.random.default_rng(2).normal(size=35)
    np.testing.assert_array_equal(lapped_cosine(signal, 8), lapped_cosine(signal[:32], 8))


def test_nothing_is_overwritten():
    signal, coefficients = np.arange(32.0), np.arange(32.0).reshape(4, 8)
    lapped_cosine(signal, 8, periodic=True)
    inverse_lapped_cosine(coefficients, periodic=True)
    lapped_variances(coefficients, periodic=True)
    lapped_variances(coefficients, adjoint=True, periodic=True)
    np.testing.assert_array_equal(signal, np.arange(32.0))
    np.testing.assert_array_equal(coefficients.ravel(), np.arange(32.0))


def test_local_in_time_and_frequency():
    """A wave in the middle of a bin lies in few frequencies; a click in two frames."""
    n_frames, size = 8, 32
    places = np.arange(n_frames * size)
    wave = np.cos(np.pi * 10.5 * (places + 0.5) / size)
    energy = (lapped_cosine(wave, size)[1:-1] ** 2).sum(axis=0)
    assert energy[8:13].sum() > 0.99 * energy.sum()
    click = (places == 100).astype(float)
    assert np.count_nonzero((lapped_cosine(click, size) ** 2).sum(axis=1) > 1e-20) <= 2


def test_constants_are_the_same_in_every_inner_frame():
    frames = lapped_cosine(np.ones(10 * 16), 16)
    np.testing.assert_allclose(frames[1:-1], np.broadcast_to(frames[1], (8, 16)), atol=1e-13)
    periodic = lapped_cosine(np.ones(10 * 16), 16, periodic=True)
    np.testing.assert_allclose(periodic, np.broadcast_to(frames[1], (10, 16)), atol=1e-13)
