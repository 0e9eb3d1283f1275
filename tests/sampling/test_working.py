"""Prepared atoms and moments of working regressions, against dense products."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.dictionaries import DenseDictionary
from relvec.sampling import Draw, WorkingMoments, prepare_atoms


@pytest.fixture
def Phi():
    Phi = np.random.default_rng(0).normal(2.0, 3.0, size=(9, 5))
    Phi[:, 2] = 4.0
    return Phi


@pytest.mark.parametrize("scaling", ["none", "deviation", "norm"])
def test_atoms_are_centred_and_scaled_by_sample_weights(Phi, scaling):
    weight = np.array([0.0, 1, 2, 3, 1, 1, 0, 2, 1])
    atoms = prepare_atoms(DenseDictionary(Phi), weight, scaling=scaling)
    repeated = prepare_atoms(
        DenseDictionary(np.repeat(Phi, weight.astype(int), axis=0)), scaling=scaling
    )
    np.testing.assert_allclose(atoms.column_mean, repeated.column_mean)
    np.testing.assert_allclose(atoms.column_norm, repeated.column_norm)
    assert atoms.usable.tolist() == [True, True, False, True, True, True]
    assert (atoms.values[2] == 0.0).all()
    assert (atoms.values[-1] == 1.0).all()
    rest = atoms.values[[0, 1, 3, 4]]
    np.testing.assert_allclose(rest @ weight, 0.0, atol=1e-12)
    norm = {"none": None, "deviation": weight.sum(), "norm": 1.0}[scaling]
    if norm is not None:
        np.testing.assert_allclose(rest**2 @ weight, norm)


def test_some_atoms_are_scaled(Phi):
    scaled = np.array([True, False, True, False, True])
    atoms = prepare_atoms(DenseDictionary(Phi), scaling=scaled)
    np.testing.assert_allclose(atoms.values[[0, 4]].std(axis=1), 1.0)
    assert atoms.column_norm[[1, 2, 3, 5]].tolist() == [1.0, 1.0, 1.0, 1.0]


def test_atoms_that_are_not_finite_are_unusable(Phi):
    Phi[3, 0], Phi[4, 1], Phi[5, 3] = np.nan, np.inf, 1e200
    atoms = prepare_atoms(DenseDictionary(Phi), scaling="deviation")
    assert atoms.usable.tolist() == [False, False, False, False, True, True]
    assert np.isfinite(atoms.values).all()
    assert np.isfinite(atoms.column_mean).all()


def test_unknown_scaling_is_refused(Phi):
    with pytest.raises(ValueError, match="scaling must be one of"):
        prepare_atoms(DenseDictionary(Phi), scaling="unit")


def test_raw_weights_give_the_same_function(Phi):
    atoms = prepare_atoms(DenseDictionary(Phi), scaling="deviation")
    active, weights = np.array([5, 1, 4]), np.array([0.3, -2.0, 1.0])
    raw = atoms.to_raw(active, weights)
    expected = weights @ atoms.values[active]
    np.testing.assert_allclose(Phi[:, raw.active] @ raw.weights + raw.intercept, expected)
    # two latent functions, the second one a constant
    draw = Draw(np.append(active, 11), np.append(weights, 7.0), np.zeros(4), 1.0, 0.0)
    first, second = atoms.split_draw(draw)
    np.testing.assert_allclose(Phi[:, first.active] @ first.weights + first.intercept, expected)
    assert (len(second.active), second.intercept) == (0, 7.0)


def test_moments_are_weighted_products(Phi):
    rng = np.random.default_rng(1)
    atoms = prepare_atoms(DenseDictionary(Phi))
    omega, kappa = rng.gamma(1.0, size=9), rng.normal(size=9)
    moments = WorkingMoments(atoms, omega, kappa, 3.0)
    G = (atoms.values * omega) @ atoms.values.T
    np.testing.assert_allclose(moments.correlation, atoms.values @ kappa)
    np.testing.assert_allclose(moments.sq_norms, G.diagonal())
    for index in ([4], [1, 4, 5], [5, 0, 3, 1], [], [2, 2, 0]):
        at = np.array(index, dtype=np.intp)
        np.testing.assert_allclose(moments.gram_rows(at), G[at], atol=1e-12)
        np.testing.assert_allclose(moments.gram(at), G[np.ix_(at, at)], atol=1e-12)
    assert moments.n_fetched == 6
