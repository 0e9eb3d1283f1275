"""Orthonormal transforms: explicit matrices, PyWavelets, shapes and errors."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relvec.dictionaries import (
    CosineDictionary,
    DenseDictionary,
    ReorderedDictionary,
    WaveletDictionary,
)
from relvec.dictionaries.filter_bank import FAMILIES
from relvec.testing import check_dictionary

pywt = pytest.importorskip("pywt")

ORTHOGONAL = [
    name
    for name in pywt.wavelist(kind="discrete")
    if pywt.Wavelet(name).orthogonal and name != "dmey"
]
SHAPES = [1, 2, 3, 5, 7, 16, 31, 32, 33, 97, (1, 1), (3, 5), (7, 1), (6, 4, 5), (1, 9, 2)]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def explicit(dictionary):
    return dictionary.columns(np.arange(dictionary.shape[1]))


def deepest(shape):
    return int(np.max(shape) - 1).bit_length()


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_conformance(shape):
    check_dictionary(CosineDictionary(shape))
    for level in {None, 0, min(1, deepest(shape)), deepest(shape)}:
        check_dictionary(WaveletDictionary(shape, "db3", level))


@pytest.mark.parametrize("wavelet", ORTHOGONAL)
def test_every_orthogonal_wavelet_is_orthonormal_at_any_length(wavelet):
    for length in (2, 3, 12, 13, 29, 64):
        matrix = explicit(WaveletDictionary(length, wavelet, deepest(length)))
        assert np.abs(matrix.T @ matrix - np.eye(length)).max() < 1e-10


def test_no_orthogonal_family_is_missing():
    assert {name.rstrip("0123456789") for name in ORTHOGONAL} == set(FAMILIES)


@pytest.mark.parametrize("wavelet", ["haar", "sym8", "coif3", "db20"])
def test_equals_pywavelets_on_even_lengths(rng, wavelet):
    signal = rng.normal(size=96)
    dictionary = WaveletDictionary(96, wavelet, level=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of PyWavelets, on long filters
        expected = np.concatenate(pywt.wavedec(signal, wavelet, "periodization", level=3))
    np.testing.assert_allclose(dictionary.analyse(signal), expected, atol=1e-13)


def test_equals_pywavelets_on_images(rng):
    image = rng.normal(size=(32, 48))
    dictionary = WaveletDictionary((32, 48), "db2", level=3)
    expected = pywt.wavedecn(image, "db2", "periodization", level=3)
    coefficients = dictionary.analyse(image)
    for band in dictionary.subbands:
        found = coefficients[band.slice].reshape(band.shape)
        peer = expected[-band.level][band.orientation] if band.level else expected[0]
        np.testing.assert_allclose(found, peer, atol=1e-13)


@given(
    shape=st.lists(st.integers(1, 40), min_size=1, max_size=3).filter(lambda s: np.prod(s) < 4000),
    wavelet=st.sampled_from(["haar", "db4", "sym8", "coif2"]),
    depth=st.one_of(st.none(), st.floats(0, 1)),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=60)
def test_round_trip_and_energy(shape, wavelet, depth, seed):
    level = None if depth is None else round(depth * deepest(shape))
    values = np.random.default_rng(seed).normal(size=shape)
    for dictionary in (WaveletDictionary(shape, wavelet, level), CosineDictionary(shape)):
        coefficients = dictionary.analyse(values)
        assert coefficients.shape == (values.size,)
        assert coefficients @ coefficients == pytest.approx((values**2).sum(), rel=1e-10)
        np.testing.assert_allclose(dictionary.synthesise(coefficients), values, atol=1e-10)


@given(
    shape=st.lists(st.integers(1, 70), min_size=1, max_size=3),
    level=st.one_of(st.none(), st.integers(0, 7)),
)
@settings(deadline=None)
def test_subbands_partition_the_coefficients(shape, level):
    level = None if level is None else min(level, deepest(shape))
    dictionary = WaveletDictionary(shape, "haar", level)
    start = 0
    for band in dictionary.subbands:
        assert band.slice.start == start
        assert band.slice.stop - start == np.prod(band.shape) > 0
        assert len(band.orientation) == len(shape)
        assert ("d" in band.orientation) == (band.level > 0)
        assert (dictionary.levels[band.slice] == band.level).all()
        start = band.slice.stop
    assert start == dictionary.shape[1] == len(dictionary.levels)
    assert dictionary.levels.max() == dictionary.level
    by_level = [band.level for band in dictionary.subbands[1:]]
    assert by_level == sorted(by_level, reverse=True)


@pytest.mark.parametrize(
    ("shape", "coarsest"),
    [(16, (8,)), (30, (15,)), (31, (16,)), (1000, (16,)), (1024, (16,)), ((1024, 40), (16, 20))],
)
def test_default_depth_keeps_sixteen(shape, coarsest):
    assert WaveletDictionary(shape).subbands[0].shape == coarsest


def test_last_sample_of_an_odd_length_is_carried_over():
    coefficients = WaveletDictionary(5, "haar", level=1).analyse([0.0, 0.0, 0.0, 0.0, 3.0])
    np.testing.assert_array_equal(coefficients, [0.0, 0.0, 3.0, 0.0, 0.0])


def test_cosines_have_their_formula():
    n = 7
    k, t = np.arange(n), np.arange(n)[:, None]
    formula = np.sqrt(np.where(k, 2, 1) / n) * np.cos(np.pi * k * (t + 0.5) / n)
    np.testing.assert_allclose(explicit(CosineDictionary(n)), formula, atol=1e-14)
    two = explicit(CosineDictionary((3, n)))
    three = explicit(CosineDictionary(3))
    np.testing.assert_allclose(two, np.kron(three, formula), atol=1e-14)


def test_reordered_samples(rng):
    order = rng.permutation(12)
    inner = WaveletDictionary((3, 4), "haar", 1)
    dictionary = ReorderedDictionary(inner, order)
    check_dictionary(dictionary)
    np.testing.assert_allclose(explicit(dictionary), explicit(inner)[order])
    check_dictionary(ReorderedDictionary(inner, np.roll(np.arange(12), 3)))
    assert not ReorderedDictionary(DenseDictionary(np.eye(3)), np.arange(3)).is_orthonormal


def test_dictionaries_can_be_pickled(rng):
    signal = rng.normal(size=20)
    for dictionary in (WaveletDictionary(20, "sym4"), CosineDictionary(20)):
        again = pickle.loads(pickle.dumps(dictionary))
        np.testing.assert_array_equal(again.analyse(signal), dictionary.analyse(signal))


def test_integers_and_strides_are_accepted(rng):
    image = rng.integers(0, 255, size=(6, 10))
    for dictionary in (WaveletDictionary((10, 6), "db2"), CosineDictionary((10, 6))):
        expected = dictionary.analyse(np.ascontiguousarray(image.T, dtype=float))
        np.testing.assert_allclose(dictionary.analyse(image.T), expected)
        assert dictionary.synthesise(expected[::-1]).shape == (10, 6)


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("smy8", r'orthogonal: "haar".*got \'smy8\'. Did you mean \'sym8\'\?'),
        ("bior2.2", "Biorthogonal, continuous and truncated wavelets"),
        ("dmey", "Biorthogonal, continuous and truncated wavelets"),
        ("morl", "Biorthogonal, continuous and truncated wavelets"),
        (8, "got 8"),
    ],
)
def test_unsuitable_wavelets_are_refused(name, match):
    with pytest.raises(ValueError, match=match):
        WaveletDictionary(32, name)


def test_names_ignore_case():
    assert WaveletDictionary(32, "Haar").wavelet == "haar"


def test_errors_say_what_is_needed():
    with pytest.raises(ValueError, match="level=6 is too large .* at most 5"):
        WaveletDictionary(32, level=6)
    with pytest.raises(ValueError, match="level must be an integer of at least 0"):
        WaveletDictionary(32, level=-1)
    with pytest.raises(TypeError, match="level must be an integer"):
        WaveletDictionary(32, level=1.5)
    with pytest.raises(ValueError, match=r"grid_shape\[1\] must be an integer of at least 1"):
        CosineDictionary((3, 0))
    with pytest.raises(ValueError, match="at least one axis"):
        CosineDictionary(())
    with pytest.raises(ValueError, match=r"arrays of shape \(3, 4\); got \(12,\)"):
        CosineDictionary((3, 4)).analyse(np.zeros(12))
    with pytest.raises(ValueError, match=r"12 coefficients in a flat array; got shape \(3, 4\)"):
        CosineDictionary((3, 4)).synthesise(np.zeros((3, 4)))
