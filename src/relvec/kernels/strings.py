"""Spectrum kernel of strings: the short substrings that two strings have in common."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.gaussian_process.kernels import GenericKernelMixin, Kernel

from relvec._checks import check_bool, check_integer
from relvec._typing import IndexArray, Matrix, Vector
from relvec.dictionaries.base import Dictionary
from relvec.kernels.definition import register_kernel

__all__ = ["SpectrumDictionary", "StringSpectrum"]


class StringSpectrum(GenericKernelMixin, Kernel):
    """Spectrum kernel of strings: the inner product of the counts of substrings (k-mers).

    A positive semi-definite kernel for strings of any length and alphabet: words, DNA sequences,
    file names (Rasmussen & Williams 2006, section 4.4.1). It is case-sensitive, and spaces are
    characters like any other. A string shorter than `length` has one substring, itself.

    Parameters
    ----------
    length : int, default=3
        Length of the substrings.
    normalised : bool, default=True
        Divide the count vectors by their Euclidean norms. The kernel is then one for strings with
        proportional counts and zero for strings that share no substring.

    References
    ----------
    C. Leslie, E. Eskin and W. S. Noble (2002). The spectrum kernel: a string kernel for SVM
    protein classification. Pacific Symposium on Biocomputing, 564-575.

    Examples
    --------
    >>> from relvec.kernels import StringSpectrum
    >>> StringSpectrum(2)(["banana", "bandana", "cherry"], ["banana"]).round(3)
    array([[1.   ],
           [0.825],
           [0.   ]])
    >>> StringSpectrum(2, normalised=False)(["banana"], ["bandana"])  # 1 * 1 + 2 * 2 + 2 * 1
    array([[7.]])

    Models take lists of strings as inputs:

    >>> from relvec import RVMClassifier
    >>> words = ["banana", "bandana", "cabana", "cherry", "berry", "merry"]
    >>> model = RVMClassifier(StringSpectrum(2)).fit(words, ["b", "b", "b", "c", "c", "c"])
    >>> model.predict(["savanna", "sherry"])
    array(['b', 'c'], dtype='<U1')
    """

    def __init__(self, length: int = 3, normalised: bool = True) -> None:
        self.length = length
        self.normalised = normalised

    def __call__(
        self, X: Any, Y: Any = None, eval_gradient: bool = False
    ) -> Matrix | tuple[Matrix, np.ndarray]:
        """Evaluate the kernel between strings.

        Parameters
        ----------
        X : array-like of str, of shape (n_samples_X,) or (n_samples_X, n_features)
            Left strings. With several columns, substrings are counted in each separately.
        Y : array-like of str, default=None
            Right strings; None means `X`.
        eval_gradient : bool, default=False
            Also return the gradient, which is empty: there are no hyper-parameters.
        """
        if eval_gradient and Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        vocabulary: dict[Any, int] = {}
        left = self.counts(X, vocabulary)
        right = left if Y is None else self.counts(Y, vocabulary)
        value: Matrix = (
            _pad_columns(left, len(vocabulary)) @ _pad_columns(right, len(vocabulary)).T
        ).toarray()
        return (value, np.empty((*value.shape, 0))) if eval_gradient else value

    def counts(self, X: Any, vocabulary: dict[Any, int]) -> sparse.csr_array:
        """Return the counts of substrings, normalised if `normalised` is True.

        Parameters
        ----------
        X : array-like of str
            Strings, in one or more columns.
        vocabulary : dict
            Maps substrings to columns of the result; new substrings are added to it.

        Returns
        -------
        counts : csr_array of shape (n_samples, len(vocabulary))
        """
        length = check_integer("length of StringSpectrum", self.length, minimum=1)
        if isinstance(X, str):
            raise TypeError(
                f"StringSpectrum takes lists of strings; got one string, {X[:40]!r}. Pass [string]."
            )
        if hasattr(X, "columns"):  # iterating over a data frame would give its column names
            X = np.asarray(X, dtype=object)
        ends: list[int] = [0]
        columns: list[int] = []
        numbers: list[int] = []
        for row in X:
            found: Counter[Any] = Counter()
            for place, text in enumerate(_as_columns(row)):
                if not isinstance(text, str):
                    raise TypeError(
                        f"StringSpectrum takes strings; got {text} of type {type(text).__name__}."
                    )
                # A string of length n has n - k + 1 substrings of length k; a shorter one counts as
                # one.
                last = max(1, len(text) - length + 1)
                parts = (text[start : start + length] for start in range(last))
                found.update(parts if place == 0 else ((place, part) for part in parts))
            columns += [vocabulary.setdefault(part, len(vocabulary)) for part in found]
            numbers += found.values()
            ends.append(len(columns))
        counts = sparse.csr_array(
            (np.array(numbers, dtype=np.float64), np.array(columns, dtype=np.intp), ends),
            shape=(len(ends) - 1, len(vocabulary)),
        )
        if check_bool("normalised of StringSpectrum", self.normalised):
            # Sum of squares within each row of the sparse matrix; no row is empty (reduceat needs
            # that).
            squares = np.add.reduceat(counts.data**2, ends[:-1]) if len(ends) > 1 else np.empty(0)
            counts.data /= np.repeat(np.sqrt(squares), np.diff(ends))
        return counts

    def diag(self, X: Any) -> Vector:
        """Return ``k(x, x)`` for every string."""
        counts = self.counts(X, {})
        result: Vector = np.asarray((counts * counts).sum(axis=1)).ravel()
        return result

    @property
    def decays(self) -> bool:
        """Return True: the kernel is zero for strings that share no substring."""
        return True

    def is_stationary(self) -> bool:
        """Return False: strings have no differences."""
        return False

    def __repr__(self) -> str:
        rest = "" if self.normalised else ", normalised=False"
        return f"StringSpectrum(length={self.length}{rest})"


class SpectrumDictionary(Dictionary):
    """Spectrum kernel matrix as a dictionary; substrings are counted once.

    Parameters
    ----------
    kernel : StringSpectrum
        The kernel.
    X : ndarray of str, of shape (n_samples, n_features)
        Inputs.
    Z : ndarray of str, of shape (n_centers, n_features)
        Centres.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.kernels import SpectrumDictionary, StringSpectrum
    >>> texts = np.array([["banana"], ["bandana"]], dtype=object)
    >>> SpectrumDictionary(StringSpectrum(2), texts, texts).rows(0, 1).round(3)
    array([[1.   , 0.825]])
    """

    shape: tuple[int, int] = (0, 0)

    def __init__(self, kernel: StringSpectrum, X: Any, Z: Any) -> None:
        vocabulary: dict[Any, int] = {}
        left, right = kernel.counts(X, vocabulary), kernel.counts(Z, vocabulary)
        self._left, self._right = (
            _pad_columns(left, len(vocabulary)),
            _pad_columns(right, len(vocabulary)),
        )
        self.shape = (len(X), len(Z))

    def columns(self, index: IndexArray) -> Matrix:
        """Return ``k(X, Z[index])`` in Fortran order, shape (n_samples, len(index))."""
        result: Matrix = (self._left @ self._right[index].T).toarray(order="F")
        return result

    def rows(self, start: int, stop: int) -> Matrix:
        """Return ``k(X[start:stop], Z)``, shape (stop - start, n_centers)."""
        result: Matrix = (self._left[start:stop] @ self._right.T).toarray()
        return result


def _as_columns(row: Any) -> Any:
    return row if isinstance(row, np.ndarray | list | tuple) else [row]


def _pad_columns(counts: sparse.csr_array, n_columns: int) -> sparse.csr_array:
    """Append zero columns for substrings that were added to the vocabulary later."""
    shape = (counts.shape[0], n_columns)
    return sparse.csr_array((counts.data, counts.indices, counts.indptr), shape=shape)


register_kernel(StringSpectrum, dictionary=SpectrumDictionary)
