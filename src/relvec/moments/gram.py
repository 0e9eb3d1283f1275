"""Moments from sufficient statistics: the data are read once, in blocks of rows.

`SufficientStatistics` adds up the second moments of atoms and targets about a shift near their
means. Statistics of different rows are merged exactly, whatever their shifts
(`merge_statistics`), so blocks may be processed anywhere and in any order. Memory holds one block
of rows and the sums; it does not grow with the number of rows.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dtpttr, dtrttp

from relvec._checks import check_finite_block, check_integer
from relvec._typing import IndexArray, Matrix, Vector
from relvec.dictionaries.base import BLOCK_BYTES, Dictionary
from relvec.moments.base import Moments, resolved_target_ss
from relvec.moments.columns import ColumnScales, compute_column_scales


class SufficientStatistics:
    """Sufficient statistics: accumulated second moments of ``[atoms, targets]``.

    Parameters
    ----------
    n_atoms, n_targets : int
        Numbers of columns.
    shift : ndarray of shape (n_atoms + n_targets,), optional
        Values subtracted from every row before summing. Values close to the column means avoid
        the cancellation that large offsets would cause. Default, the means of the first block.

    Notes
    -----
    The sums take ``8 (n_atoms + n_targets)^2`` bytes. Pickled, they take half of that: only the
    lower triangle is stored.

    See Also
    --------
    merge_statistics : Statistics of all rows from those of some rows each.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> Phi, t = rng.normal(size=(100, 3)), rng.normal(size=100)
    >>> statistics = SufficientStatistics(3)
    >>> for rows in (slice(0, 60), slice(60, 100)):
    ...     statistics = statistics.update(Phi[rows], t[rows])
    >>> statistics.moments().n_effective
    99.0
    """

    def __init__(self, n_atoms: int, n_targets: int = 1, shift: Vector | None = None) -> None:
        self.n_atoms = check_integer("n_atoms", n_atoms, minimum=0)
        self.n_targets = check_integer("n_targets", n_targets, minimum=1)
        size = n_atoms + n_targets
        _refuse_if_too_large(size)
        self.shift = None if shift is None else np.array(shift, dtype=np.float64)
        if self.shift is not None and (
            self.shift.shape != (size,) or not np.isfinite(self.shift).all()
        ):
            raise ValueError(
                f"shift must hold {size} finite numbers, one for each atom and target; got shape "
                f"{self.shift.shape}."
            )
        self.total_weight = 0.0
        self._second = np.zeros((size, size), order="F")
        self._first = np.zeros(size)

    def update(
        self, atoms: Matrix, targets: Matrix, sample_weight: Vector | None = None
    ) -> SufficientStatistics:
        """Add a block of rows and return self.

        Parameters
        ----------
        atoms : ndarray of shape (n_rows, n_atoms)
            Values of the atoms.
        targets : ndarray of shape (n_rows,) or (n_rows, n_targets)
            Targets.
        sample_weight : ndarray of shape (n_rows,), optional
            Frequency weights.
        """
        n = self.n_atoms
        atoms, targets, sample_weight = self._checked(atoms, targets, sample_weight)
        if not len(atoms) or (sample_weight is not None and not sample_weight.any()):
            return self
        if self.shift is None:
            # sum (x - m)^2 = sum (x - a)^2 - W (m - a)^2: rounding errors are amplified by about
            # 1 + (m - a)^2 / var(x), so the shift a should be near the mean m.
            share = np.full(len(atoms), 1.0) if sample_weight is None else sample_weight
            share = share / share.sum()
            self.shift = np.concatenate([share @ atoms, share @ targets])
        block = np.empty((len(atoms), n + self.n_targets))
        np.subtract(atoms, self.shift[:n], out=block[:, :n])
        np.subtract(targets, self.shift[n:], out=block[:, n:])
        if sample_weight is None:
            self._first += block.sum(axis=0)
            self.total_weight += len(block)
        else:
            self._first += sample_weight @ block
            self.total_weight += float(sample_weight.sum())
            # Only after the first moments, which are linear in the weight: X' W X = (W^1/2 X)'
            # (W^1/2 X).
            block *= np.sqrt(sample_weight)[:, None]
        # The transpose of a C-ordered block is Fortran-ordered: no copy is made.
        self._second = dsyrk(1.0, block.T, beta=1.0, c=self._second, overwrite_c=1, lower=1)
        return self

    def _checked(
        self, atoms: Matrix, targets: Matrix, weight: Vector | None
    ) -> tuple[Matrix, Matrix, Vector | None]:
        atoms, targets = np.asarray(atoms, float), np.asarray(targets, float)
        if atoms.ndim != 2 or atoms.shape[1] != self.n_atoms:
            raise ValueError(
                f"atoms must have shape (n_rows, {self.n_atoms}); got shape {atoms.shape}."
            )
        n_rows = len(atoms)
        if targets.shape not in ((n_rows,) * (self.n_targets == 1), (n_rows, self.n_targets)):
            raise ValueError(
                f"targets must have one row per row of atoms and {self.n_targets} column(s): "
                f"({n_rows}, {self.n_targets}); got shape {targets.shape}."
            )
        check_finite_block(atoms, "atoms")
        check_finite_block(targets, "targets")
        if weight is not None:
            weight = np.asarray(weight, float)
            if weight.shape != (n_rows,):
                raise ValueError(
                    f"sample_weight must have shape ({n_rows},); got shape {weight.shape}."
                )
            check_finite_block(weight, "sample_weight")
            if (weight < 0.0).any():
                raise ValueError(
                    f"sample_weight must not be negative; got {weight.min():g} at position "
                    f"{int(np.argmin(weight))}."
                )
        return atoms, np.reshape(targets, (n_rows, self.n_targets)), weight

    def _sums_about(self, shift: Vector) -> tuple[Vector, Matrix]:
        """Return first and second moments about another shift, as a lower triangle."""
        assert self.shift is not None
        if np.array_equal(shift, self.shift):
            return self._first, self._second
        # x - shift = (x - own shift) + step; expand the products and sum over the rows.
        step = self.shift - shift
        # sum (y + d)(y + d)' = sum y y' + f d' + d f' + W d d', with f the first moments, d the
        # step and W the total weight. Half of the last term is in each of cross and cross'.
        cross = np.multiply.outer(self._first + 0.5 * self.total_weight * step, step)
        return self._first + self.total_weight * step, self._second + np.tril(cross + cross.T)

    def __getstate__(self) -> dict[str, Any]:
        """Pack the lower triangle: the upper one is zero."""
        return {**self.__dict__, "_second": dtrttp(self._second, uplo="L")[0]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._second = dtpttr(len(self._first), state["_second"], uplo="L")[0]

    def moments(self, *, centre: bool = True) -> GramMoments:
        """Return the moments of the first target; see `all_moments` for the others."""
        return self.all_moments(centre=centre)[0]

    def all_moments(self, *, centre: bool = True) -> list[GramMoments]:
        """Return the moments of every target; they share one Gram matrix.

        Parameters
        ----------
        centre : bool, default=True
            Whether the model has an intercept.
        """
        if self.shift is None or not self.total_weight > 0.0:
            raise ValueError("No rows have been added; call update() first.")
        n = self.n_atoms
        second = self._second + np.tril(self._second, -1).T
        shifted_ss = second.diagonal()[:n].copy()
        offset = self._first / self.total_weight
        # From moments about the shift to moments about the mean, or about zero without intercept.
        if centre:
            # Parallel-axis theorem: the mean is at distance `offset` from the shift.
            second -= self.total_weight * np.multiply.outer(offset, offset)
            mean = self.shift + offset
        else:
            cross = np.multiply.outer(self._first, self.shift)
            second += cross + cross.T
            second += self.total_weight * np.multiply.outer(self.shift, self.shift)
            mean = np.zeros_like(offset)
        centred_ss = second.diagonal()[:n].copy()
        # The subtraction of the mean cancels digits: its rounding error is relative to the sums
        # about the shift.
        summed_ss = shifted_ss if centre else None
        scales = compute_column_scales(mean[:n], centred_ss, self.total_weight, summed_ss)
        unit = scales.usable / scales.norm
        gram = second[:n, :n] * np.multiply.outer(unit, unit)
        # Exactly one, so that s = 1 - (sum of squares) of an atom alone has no rounding error.
        gram.flat[:: n + 1] = 1.0
        return [
            GramMoments(
                gram,
                second[:n, n + j] * unit,
                resolved_target_ss(
                    float(second[n + j, n + j]), float(mean[n + j]), self.total_weight
                ),
                scales,
                # The flat prior of the intercept leaves the density of n - 1 contrasts
                # (docs/notation.md).
                n_effective=self.total_weight - float(centre),
                target_mean=float(mean[n + j]),
            )
            for j in range(self.n_targets)
        ]


def merge_statistics(*statistics: SufficientStatistics) -> SufficientStatistics:
    """Return the statistics of all rows together; the arguments are not changed.

    Parameters
    ----------
    *statistics : SufficientStatistics
        Statistics of different rows of the same atoms and targets. Their shifts may differ; the
        result is shifted by the common mean, which avoids cancellation.

    Raises
    ------
    ValueError
        If there are no arguments, or their numbers of atoms or targets differ.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> Phi, t = rng.normal(size=(100, 3)), rng.normal(size=100)
    >>> first = SufficientStatistics(3).update(Phi[:60], t[:60])
    >>> second = SufficientStatistics(3).update(Phi[60:], t[60:])
    >>> merged = merge_statistics(first, second).moments()
    >>> whole = SufficientStatistics(3).update(Phi, t).moments()
    >>> bool(np.allclose(merged.correlation, whole.correlation))
    True
    """
    if not all(isinstance(each, SufficientStatistics) for each in statistics):
        raise TypeError(
            "merge_statistics() takes SufficientStatistics, each as an argument of its own; "
            "unpack a list with merge_statistics(*statistics)."
        )
    sizes = sorted({(each.n_atoms, each.n_targets) for each in statistics})
    if len(sizes) != 1:
        raise ValueError(
            "merge_statistics() needs statistics of the same atoms and targets; got "
            f"{len(statistics)} with (n_atoms, n_targets) = {sizes}."
        )
    result = SufficientStatistics(*sizes[0])
    known = [each for each in statistics if each.total_weight > 0.0]
    if not known:
        return result
    shifts = np.array([each.shift for each in known])
    result.total_weight = sum(each.total_weight for each in known)
    result.shift = shifts[0].copy()
    if (shifts != shifts[0]).any():
        # About different shifts: move all to the common mean, where the corrections are smallest.
        means = shifts + [each._first / each.total_weight for each in known]
        result.shift = np.average(means, axis=0, weights=[each.total_weight for each in known])
    for each in known:
        first, second = each._sums_about(result.shift)
        result._first += first
        result._second += second
    return result


def _refuse_if_too_large(size: int) -> None:
    """Raise `MemoryError` if a square matrix of that size exceeds the physical memory."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not available on every system
        return
    if 8.0 * size * size > memory:
        raise MemoryError(
            f"The second moments of {size} columns take {8e-9 * size * size:.3g} GB, and this "
            f"computer has {1e-9 * memory:.3g} GB. Use fewer atoms, for example a number of "
            "centers, or an estimator with low_memory=True, which needs the rows at hand."
        )


class GramMoments(Moments):
    """Moments with the whole Gram matrix in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.moments import SufficientStatistics
    >>> Phi = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> moments = SufficientStatistics(2).update(Phi, np.array([1.0, 2.0, 3.0])).moments()
    >>> moments.gram(np.array([0, 1])).round(2)
    array([[ 1. , -0.5],
           [-0.5,  1. ]])
    """

    def __init__(
        self,
        gram: Matrix,
        correlation: Vector,
        target_ss: float,
        scales: ColumnScales,
        *,
        n_effective: float,
        target_mean: float,
    ) -> None:
        self._gram = gram
        self.correlation = correlation
        self.target_ss = target_ss
        self.target_mean = target_mean
        self.n_effective = n_effective
        self.column_mean, self.column_norm = scales.mean, scales.norm
        self.usable, self.resolution = scales.usable, scales.resolution

    def fetch(self, index: IndexArray) -> None:
        """Do nothing: all Gram rows are in memory."""

    def gram_rows(self, index: IndexArray) -> Matrix:
        """Return a copy of the Gram rows of `index`."""
        return self._gram.take(index, axis=0)  # twice as fast as an index in brackets

    def gram(self, index: IndexArray) -> Matrix:
        """Return a copy of a block of the Gram matrix."""
        return self._gram[np.ix_(index, index)]


def subset_moments(moments: Moments, index: IndexArray) -> GramMoments:
    """Return the moments of the atoms `index` only, with their Gram matrix in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.moments import compute_moments, subset_moments
    >>> [moments] = compute_moments(DenseDictionary(np.eye(4)), np.ones((4, 1)), None, centre=False)
    >>> subset_moments(moments, np.array([3, 1])).n_atoms
    2
    """
    return GramMoments(
        moments.gram(index),
        moments.correlation[index],
        moments.target_ss,
        ColumnScales(
            moments.column_mean[index],
            moments.column_norm[index],
            moments.usable[index],
            moments.resolution[index],
        ),
        n_effective=moments.n_effective,
        target_mean=moments.target_mean,
    )


def accumulate_statistics(
    dictionary: Dictionary, targets: Matrix, sample_weight: Vector | None
) -> SufficientStatistics:
    """Read a dictionary once, in blocks of rows, and return its sufficient statistics.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.dictionaries import DenseDictionary
    >>> from relvec.moments import accumulate_statistics
    >>> rng = np.random.default_rng(0)
    >>> dictionary = DenseDictionary(rng.normal(size=(50, 3)))
    >>> statistics = accumulate_statistics(dictionary, rng.normal(size=(50, 1)), None)
    >>> statistics.moments().n_effective
    49.0
    """
    n_samples, n_atoms = dictionary.shape
    statistics = SufficientStatistics(n_atoms, targets.shape[1])
    # Large blocks make the symmetric product efficient; 16 column blocks are still small.
    size = max(256, 16 * BLOCK_BYTES // (8 * max(n_atoms, 1)))
    for start in range(0, n_samples, size):
        stop = min(start + size, n_samples)
        weight = None if sample_weight is None else sample_weight[start:stop]
        statistics.update(dictionary.rows(start, stop), targets[start:stop], weight)
    return statistics
