"""A kernel of texts: which short substrings they have in common."""

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
    """Spectrum kernel of texts: the inner product of how often each substring occurs.

    A covariance of texts of any length and alphabet: words, sequences of genes, file names. All
    characters count, spaces and capitals included. A text shorter than `length` has one
    substring, itself.

    Parameters
    ----------
    length : int, default=3
        Of the substrings.
    normalised : bool, default=True
        Divide by the lengths of the vectors of counts: the kernel is then one for texts of the
        same substrings and zero for texts that share none.

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

    Models of texts need no numbers:

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
        """Evaluate the kernel between texts.

        Parameters
        ----------
        X : array-like of str, of shape (n_samples_X,) or (n_samples_X, n_features)
            Left texts. Of several columns, substrings are counted for each.
        Y : array-like of str, default=None
            Right texts; None means `X`.
        eval_gradient : bool, default=False
            Also return the derivative, which is empty: there is nothing to learn.
        """
        if eval_gradient and Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        known: dict[Any, int] = {}
        left = self.counts(X, known)
        right = left if Y is None else self.counts(Y, known)
        value: Matrix = (_widened(left, len(known)) @ _widened(right, len(known)).T).toarray()
        return (value, np.empty((*value.shape, 0))) if eval_gradient else value

    def counts(self, X: Any, known: dict[Any, int]) -> sparse.csr_array:
        """Return how often each substring occurs, divided by the norm if that is wanted.

        Parameters
        ----------
        X : array-like of str
            Texts, with a column or several.
        known : dict
            The column of each substring; those that are new are added.

        Returns
        -------
        counts : csr_array of shape (n_samples, len(known))
        """
        length = check_integer("length of StringSpectrum", self.length, minimum=1)
        if isinstance(X, str):
            raise TypeError(f"StringSpectrum takes lists of texts; got one text, {X[:40]!r}.")
        if hasattr(X, "columns"):  # of a table, whose rows are meant
            X = np.asarray(X, dtype=object)
        ends: list[int] = [0]
        columns: list[int] = []
        numbers: list[int] = []
        for row in X:
            found: Counter[Any] = Counter()
            for place, text in enumerate(_columns(row)):
                if not isinstance(text, str):
                    raise TypeError(
                        f"StringSpectrum compares texts; got {text} of type {type(text).__name__}."
                    )
                last = max(1, len(text) - length + 1)
                parts = (text[start : start + length] for start in range(last))
                found.update(parts if place == 0 else ((place, part) for part in parts))
            columns += [known.setdefault(part, len(known)) for part in found]
            numbers += found.values()
            ends.append(len(columns))
        counts = sparse.csr_array(
            (np.array(numbers, dtype=np.float64), np.array(columns, dtype=np.intp), ends),
            shape=(len(ends) - 1, len(known)),
        )
        if check_bool("normalised of StringSpectrum", self.normalised):
            squares = np.add.reduceat(counts.data**2, ends[:-1]) if len(ends) > 1 else np.empty(0)
            counts.data /= np.repeat(np.sqrt(squares), np.diff(ends))
        return counts

    def diag(self, X: Any) -> Vector:
        """Return ``k(x, x)`` for every text."""
        counts = self.counts(X, {})
        result: Vector = np.asarray((counts * counts).sum(axis=1)).ravel()
        return result

    @property
    def decays(self) -> bool:
        """Return True: texts that share nothing are as unlike as can be."""
        return True

    def is_stationary(self) -> bool:
        """Return False: texts have no differences."""
        return False

    def __repr__(self) -> str:
        rest = "" if self.normalised else ", normalised=False"
        return f"StringSpectrum(length={self.length}{rest})"


class SpectrumDictionary(Dictionary):
    """Spectrum kernels at given texts, whose substrings are counted once.

    Parameters
    ----------
    kernel : StringSpectrum
        What is counted.
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
        known: dict[Any, int] = {}
        left, right = kernel.counts(X, known), kernel.counts(Z, known)
        self._left, self._right = _widened(left, len(known)), _widened(right, len(known))
        self.shape = (len(X), len(Z))

    def columns(self, index: IndexArray) -> Matrix:
        """Return ``k(X, Z[index])`` in Fortran order, shape (n_samples, len(index))."""
        result: Matrix = (self._left @ self._right[index].T).toarray(order="F")
        return result

    def rows(self, start: int, stop: int) -> Matrix:
        """Return ``k(X[start:stop], Z)``, shape (stop - start, n_centers)."""
        result: Matrix = (self._left[start:stop] @ self._right.T).toarray()
        return result


def _columns(row: Any) -> Any:
    return row if isinstance(row, np.ndarray | list | tuple) else [row]


def _widened(counts: sparse.csr_array, n_columns: int) -> sparse.csr_array:
    """Return counts with columns of zeros for substrings that were met later."""
    shape = (counts.shape[0], n_columns)
    return sparse.csr_array((counts.data, counts.indices, counts.indptr), shape=shape)


register_kernel(StringSpectrum, dictionary=SpectrumDictionary)
