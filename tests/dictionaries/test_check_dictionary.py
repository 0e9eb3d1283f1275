"""`check_dictionary` detects every kind of broken dictionary."""

from __future__ import annotations

import numpy as np
import pytest

from relvec.dictionaries import DenseDictionary
from relvec.testing import check_dictionary

ARRAY = np.random.default_rng(5).normal(size=(8, 4))


class NotAdjoint(DenseDictionary):
    def rmatvec(self, residual):
        return 1.01 * super().rmatvec(residual)


class WrongMatvec(DenseDictionary):
    def matvec(self, weights):
        return super().matvec(np.abs(weights))


class WrongRmatmat(DenseDictionary):
    def rmatmat(self, residuals):
        return super().rmatmat(residuals[:, ::-1])


class IgnoresWeights(DenseDictionary):
    def sq_norms(self, weights=None):
        return super().sq_norms()


class NormsNotSquared(DenseDictionary):
    def sq_norms(self, weights=None):
        return np.sqrt(super().sq_norms(weights))


class ReturnsView(DenseDictionary):
    def columns(self, index):
        if len(index) == self.shape[1]:
            return self.array
        return super().columns(index)


class SortsIndex(DenseDictionary):
    def columns(self, index):
        return super().columns(np.sort(index))


class SinglePrecision(DenseDictionary):
    def columns(self, index):
        return super().columns(index).astype(np.float32)


class WrongShape(DenseDictionary):
    def columns(self, index):
        return super().columns(index).T


class EmptyIndexFails(DenseDictionary):
    def columns(self, index):
        return super().columns(index) if len(index) else np.empty((0, 0))


class ShiftedRows(DenseDictionary):
    def rows(self, start, stop):
        return super().rows(start - 1, stop - 1)


class ForgetsLastBlock(DenseDictionary):
    def column_blocks(self, size=None):
        return iter(list(super().column_blocks(size))[:-1])


class MislabelledBlocks(DenseDictionary):
    def column_blocks(self, size=None):
        for index, columns in super().column_blocks(size):
            yield index, columns[:, ::-1]


class NotOrthonormal(DenseDictionary):
    is_orthonormal = True


class NotFinite(DenseDictionary):
    def matvec(self, weights):
        return np.full(self.shape[0], np.nan)


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (NotAdjoint, "rmatvec disagrees with columns"),
        (WrongMatvec, "matvec disagrees with columns"),
        (NotFinite, "matvec disagrees with columns.*nan"),
        (WrongRmatmat, "rmatmat disagrees"),
        (IgnoresWeights, "sq_norms with weights disagrees"),
        (NormsNotSquared, "sq_norms disagrees"),
        (ReturnsView, "must return a new array"),
        (SortsIndex, "wrong order"),
        (SinglePrecision, "must return float64; got float32"),
        (WrongShape, r"shape \(8, 4\); got ndarray of shape \(4, 8\)"),
        (EmptyIndexFails, "columns of an empty index"),
        (ShiftedRows, "rows disagrees"),
        (ForgetsLastBlock, "every atom exactly once"),
        (MislabelledBlocks, r"column_blocks\(size=None\) disagrees"),
        (NotOrthonormal, "is_orthonormal is True, but its columns are not"),
    ],
)
def test_broken_dictionary_is_caught(broken, complaint):
    with pytest.raises(AssertionError, match=f"{broken.__name__}.*{complaint}"):
        check_dictionary(broken(ARRAY.copy()))


def test_orthonormal_columns_pass():
    class Orthonormal(DenseDictionary):
        is_orthonormal = True

    check_dictionary(Orthonormal(np.linalg.qr(ARRAY)[0]))


def test_given_generator_is_used():
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    check_dictionary(DenseDictionary(ARRAY), rng)
    assert rng.bit_generator.state != before
