"""The spectrum kernel of texts, against counting by hand."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.gaussian_process.kernels import ConstantKernel

from relvec.kernels import StringSpectrum, kernel_block, kernel_dictionary
from relvec.kernels.definition import decays
from relvec.testing import check_dictionary, check_kernel

TEXTS = ["banana", "bandana", "cabana", "", "a", "an", "anan", "cherry", "an"]
words = st.lists(st.text(alphabet="ab é", max_size=7), min_size=1, max_size=6)


def by_hand(left, right, length):
    def counts(text):
        if len(text) < length:
            return {text: 1}
        parts = [text[i : i + length] for i in range(len(text) - length + 1)]
        return {part: parts.count(part) for part in parts}

    return np.array(
        [
            [sum(n * counts(z).get(part, 0) for part, n in counts(x).items()) for z in right]
            for x in left
        ],
        dtype=float,
    )


@given(left=words, right=words, length=st.integers(1, 4))
def test_counts(left, right, length):
    kernel = StringSpectrum(length, normalised=False)
    expected = by_hand(left, right, length)
    np.testing.assert_array_equal(kernel(left, right), expected)
    norms = [np.sqrt(np.diag(by_hand(each, each, length))) for each in (left, right)]
    np.testing.assert_allclose(
        StringSpectrum(length)(left, right), expected / np.outer(*norms), rtol=1e-12
    )
    np.testing.assert_allclose(StringSpectrum(length).diag(left), 1.0, rtol=1e-12)


@pytest.mark.parametrize("normalised", [True, False])
def test_conformance(normalised):
    kernel = StringSpectrum(2, normalised)
    check_kernel(kernel, TEXTS)
    check_kernel(2.0 * kernel + ConstantKernel(0.5), TEXTS)
    check_dictionary(kernel_dictionary(kernel, TEXTS, TEXTS[:4]))
    assert np.linalg.eigvalsh(kernel(TEXTS)).min() > -1e-9
    assert clone(kernel) == kernel == pickle.loads(pickle.dumps(kernel))


OBJECTS = np.array(TEXTS, dtype=object)


@pytest.mark.parametrize(
    "texts",
    [TEXTS, tuple(TEXTS), np.array(TEXTS), OBJECTS, OBJECTS[:, None]],
    ids=["list", "tuple", "unicode", "objects", "column"],
)
def test_any_container(texts):
    np.testing.assert_array_equal(
        kernel_block(StringSpectrum(2), texts, texts), StringSpectrum(2)(TEXTS)
    )


def test_columns_are_counted_one_by_one():
    pairs = np.array([["ab", "cd"], ["cd", "ab"], ["ab", "xy"]], dtype=object)
    np.testing.assert_array_equal(
        StringSpectrum(2, normalised=False)(pairs), [[2, 0, 1], [0, 2, 0], [1, 0, 2]]
    )


def test_what_is_not_text_is_refused():
    with pytest.raises(TypeError, match="StringSpectrum takes strings; got 3"):
        StringSpectrum()(["abc", 3])
    with pytest.raises(TypeError, match="length of StringSpectrum must be an integer"):
        StringSpectrum(2.5)(TEXTS)
    with pytest.raises(TypeError, match="normalised of StringSpectrum must be True or False"):
        StringSpectrum(2, "yes")(TEXTS)


def test_decay():
    texts = np.array(TEXTS, dtype=object)
    assert decays(StringSpectrum(2), texts)
    assert decays(2.0 * StringSpectrum(2), texts)
