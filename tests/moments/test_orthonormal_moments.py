"""Which moments are known to be orthonormal, and that they are."""

import numpy as np
import pytest

from relvec.dictionaries import CosineDictionary, DenseDictionary, WaveletDictionary
from relvec.moments import compute_moments

pytest.importorskip("pywt")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize(
    "dictionary",
    [
        CosineDictionary(15),
        CosineDictionary((3, 5)),
        WaveletDictionary(16, "db2", 4),
        WaveletDictionary((4, 8), "db2", 3),
        WaveletDictionary(12, "haar", 2),
        WaveletDictionary(9, "db2", 4),
    ],
    ids=["cosine", "image cosine", "full depth", "image", "shallow", "odd"],
)
def test_shortcut_equals_explicit_matrices(rng, dictionary, centre):
    size = dictionary.shape[0]
    target = rng.normal(size=(size, 1)) + 2.0
    dense = DenseDictionary(dictionary.columns(np.arange(size)))
    fast = compute_moments(dictionary, target, None, centre=centre)[0]
    slow = compute_moments(dense, target, None, centre=centre)[0]
    assert not slow.is_orthonormal
    gram = slow.gram_rows(np.arange(size))
    identity = np.diag(slow.usable.astype(float))
    assert fast.is_orthonormal == bool(np.abs(gram - identity).max() < 1e-10)
    np.testing.assert_array_equal(fast.usable, slow.usable)
    np.testing.assert_allclose(fast.correlation, slow.correlation, atol=1e-10)
    np.testing.assert_allclose(fast.column_mean, slow.column_mean, atol=1e-10)
    np.testing.assert_allclose(fast.column_norm, slow.column_norm, atol=1e-10)
    np.testing.assert_allclose(fast.gram_rows(np.arange(size)), gram, atol=1e-10)
    some = np.array([3, 0, 1])
    np.testing.assert_allclose(fast.gram(some), slow.gram(some), atol=1e-10)
    assert fast.target_ss == pytest.approx(slow.target_ss)
    assert fast.n_effective == slow.n_effective


def test_where_centring_or_weights_break_it(rng):
    target = rng.normal(size=(16, 1))
    shallow, full = WaveletDictionary(16, "db2", 2), WaveletDictionary(16, "db2", 4)
    assert compute_moments(shallow, target, None, centre=False)[0].is_orthonormal
    assert not compute_moments(shallow, target, None, centre=True)[0].is_orthonormal
    assert compute_moments(full, target, None, centre=True)[0].is_orthonormal
    weight = np.linspace(1, 2, 16)
    assert not compute_moments(full, target, weight, centre=False)[0].is_orthonormal


def test_no_atom_is_evaluated(rng):
    class Untouchable(CosineDictionary):
        def columns(self, index):
            raise AssertionError("the columns of an orthonormal dictionary are not needed")

    moments = compute_moments(Untouchable(64), rng.normal(size=(64, 1)), None, centre=True)[0]
    moments.fetch(np.array([3]))
    assert moments.gram_rows(np.array([3])).sum() == 1.0
    assert moments.n_fetched == 0
