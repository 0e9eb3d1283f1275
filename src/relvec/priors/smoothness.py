"""Smoothness prior: a penalty on effective degrees of freedom, as in information criteria."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from relvec._checks import check_choice, check_positive
from relvec._typing import IndexArray, Vector
from relvec.priors.base import BoundPrior, GroupLabels, InverseGamma, Prior, Statistics
from relvec.priors.flat import BoundFlat

CRITERIA = ("aic", "bic", "ric")
"""Information criteria, as names of penalties."""


class BoundSmoothness(BoundFlat):
    """Smoothness prior bound to atoms: ``-sum_i c_i gamma_i`` is added to the log evidence.

    Parameters
    ----------
    penalty : float or ndarray of shape (n_atoms,)
        Penalty ``c`` per effective degree of freedom: one number, or one per atom.
    noise : InverseGamma, optional
        Prior of the noise variance.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.priors import BoundSmoothness
    >>> BoundSmoothness(np.array([0.5, 2.0, 1.0])).subset(np.array([2, 0])).penalty
    array([1. , 0.5])
    """

    def __init__(self, penalty: float | Vector, noise: InverseGamma | None = None) -> None:
        super().__init__(noise)
        self.penalty = penalty if isinstance(penalty, np.ndarray) else float(penalty)
        self.is_penalised = bool(np.any(penalty))

    def subset(self, atoms: IndexArray) -> Self:
        """Return the prior of the atoms at positions `atoms`."""
        if isinstance(self.penalty, float):
            return self
        return type(self)(self.penalty[atoms], self.noise)

    def best_precision(
        self, known: Statistics, n_effective: float, noise_variance: float | None
    ) -> tuple[Vector, Vector]:
        """Return the best precision of one atom and its gain; see `BoundPrior.best_precision`.

        Notes
        -----
        With the noise held, ``q^2 - 2 sigma^2 w`` replaces ``q^2`` in the formulas of the flat
        prior. With the noise profiled out, let ``x = lam + s``, ``u = q^2 / R`` and ``p = 2 w``.
        The objective ``-(N log(1 - u / x) + log(x / (x - s)) + p / x) / 2`` is stationary at
        the roots of ``a2 x^2 + a1 x + a0 = 0`` with::

            a2 = p + s - N u,    a1 = N u s - s u - p (u + s),    a0 = p u s

        Both roots are candidates, since `w` may have either sign.
        """
        s, q, w, _ = known
        if w is None:
            return super().best_precision(known, n_effective, noise_variance)
        with np.errstate(all="ignore"):
            if noise_variance is not None:
                # The flat prior's solution with q^2 - 2 sigma^2 w for q^2: entry if q^2 / sigma^2 >
                # s + 2 w, for orthonormal columns u > 1 + 2 c.
                ratio = q * q / (noise_variance * s) - 2.0 * w / s
                gain = 0.5 * (ratio - 1.0 - np.log(ratio))
                return np.where(ratio > 1.0, gain, -np.inf), s / (ratio - 1.0)
            u = known.explained
            penalty = 2.0 * w
            a2 = penalty + s - n_effective * u
            a1 = n_effective * u * s - s * u - penalty * (u + s)
            a0 = penalty * u * s
            root = np.sqrt(np.maximum(a1 * a1 - 4.0 * a2 * a0, 0.0))
            # Roots half / a2 and a0 / half: the signs are chosen such that nothing cancels.
            half = -0.5 * (a1 + np.where(a1 >= 0.0, root, -root))
            best_gain = np.full(np.shape(u), -np.inf)
            best_lam = np.full(np.shape(u), np.inf)
            for x in (half / a2, a0 / half):
                lam = x - s
                gain = -0.5 * (n_effective * np.log1p(-u / x) + np.log(x / lam) + penalty / x)
                # A root is a model only if lam = x - s > 0 and 1 - u / x > 0. The better of two
                # such roots is taken, if it is better than an absent atom, whose gain is zero.
                gain = np.where((lam > 0.0) & (x > u) & (gain > 0.0), gain, -np.inf)
                better = gain > best_gain
                best_gain = np.where(better, gain, best_gain)
                best_lam = np.where(better, lam, best_lam)
            return best_gain, best_lam

    # The flat prior's test N u <= s ignores the penalty: the general one is used again.
    has_no_gain = BoundPrior.has_no_gain


class SmoothnessPrior(Prior):
    """Smoothness prior ``exp(-c * df)``, with ``df`` the effective degrees of freedom.

    The smooth relevance vector machine of Schmolck & Everson (2007), with ``df`` the trace of the
    smoothing matrix ``Phi S Phi'``. In an orthonormal basis a coefficient is kept if it exceeds
    ``sqrt(1 + 2 c)`` standard deviations of the noise. Use it for denoising and for variable
    selection: it stays sparse where the flat prior interpolates the noise. Unlike a Gamma prior, it
    does not depend on the units of basis functions and target.

    Parameters
    ----------
    c : {"aic", "bic", "ric"}, float or sequence of them, default="bic"
        Penalty per effective degree of freedom, in nats: 1 for "aic", ``log(n) / 2`` for "bic" and
        ``log(n)`` for "ric". With "aic" and estimated noise, one pure-noise coefficient in five is
        still kept: fix the noise variance, or use a larger penalty. 0 is the flat prior. With `by`,
        a sequence has one entry per group, in ascending order of the group labels.
    by : {"level", "part"}, array-like of shape (n_atoms,) or None, default=None
        Groups of basis functions (atoms) with separate penalties: wavelet levels, the parts of a
        union of bases, or one label per atom. For a criterion, ``n`` is then the number of atoms in
        the group instead of the number of observations.
    noise : InverseGamma, optional
        Prior of the noise variance; flat in its logarithm by default.

    See Also
    --------
    FlatPrior : The special case ``c = 0``.

    References
    ----------
    Schmolck and Everson (2007), Smooth relevance vector machine: a smoothness prior
    extension of the RVM, Machine Learning 68.

    Examples
    --------
    >>> from relvec.priors import SmoothnessPrior
    >>> SmoothnessPrior("aic").bind(100).penalty
    1.0
    >>> round(SmoothnessPrior("bic").bind(100).penalty, 3)
    2.303
    >>> SmoothnessPrior([0.5, 3.0], by=[0, 0, 1]).bind(100).penalty
    array([0.5, 0.5, 3. ])
    """

    def __init__(
        self,
        c: str | float | Sequence[str | float] = "bic",
        *,
        by: Any = None,
        noise: InverseGamma | None = None,
    ) -> None:
        self.c = c
        self.by = by
        self.noise = noise

    def bind(
        self,
        n_samples: float,
        column_norm: Vector | None = None,
        groups: GroupLabels | None = None,
    ) -> BoundPrior:
        """Return the prior for particular atoms.

        Raises
        ------
        ValueError
            If `c` is neither a non-negative number nor a criterion; if its length differs from the
            number of groups; if `by` names groups that the basis does not have.
        """
        if self.by is None:
            if not isinstance(self.c, str) and np.ndim(self.c):
                raise ValueError(
                    f"c={self.c!r} has several penalties, but no groups of atoms are given: set "
                    'by="level", by="part" or pass a label for every atom.'
                )
            penalty: float | Vector = _resolve_penalty(self.c, n_samples)
        else:
            penalty = self._penalties_by_group(_group_labels(self.by, groups, column_norm))
        return BoundSmoothness(penalty, self.noise) if np.any(penalty) else BoundFlat(self.noise)

    def _penalties_by_group(self, labels: IndexArray) -> Vector:
        """Return the penalty of every atom from the labels of its group."""
        names, position, counts = np.unique(labels, return_inverse=True, return_counts=True)
        is_sequence = not isinstance(self.c, str) and np.ndim(self.c) == 1
        penalties = list(self.c) if is_sequence else [self.c] * len(names)  # type: ignore[arg-type]
        if len(penalties) != len(names):
            raise ValueError(
                f"c has {len(penalties)} penalties, but by={self.by!r} makes {len(names)} groups; "
                "pass one penalty per group, or one for all."
            )
        each = [
            _resolve_penalty(c, count) for c, count in zip(penalties, counts.tolist(), strict=True)
        ]
        return np.array(each)[position]


def _resolve_penalty(c: Any, n: float) -> float:
    """Return the penalty per degree of freedom; `n` is the size in the criterion."""
    if not isinstance(c, str):
        return check_positive("c", c, allow_zero=True, also=f"or one of {CRITERIA}")
    # In nats: AIC and BIC penalise twice the negative log likelihood by 2 and by log n.
    log_n = math.log(max(n, 1.0))
    return {"aic": 1.0, "bic": 0.5 * log_n, "ric": log_n}[check_choice("c", c, CRITERIA)]


def _group_labels(by: Any, groups: GroupLabels | None, column_norm: Vector | None) -> IndexArray:
    """Return the group label of every atom."""
    if isinstance(by, str):
        check_choice("by", by, ("level", "part"))
        if groups is None:
            raise ValueError(
                f"by={by!r} needs a basis with {by}s, and none is known here. Pass one penalty for "
                "all atoms, or a label for every atom."
            )
        return groups(by)
    labels = np.asarray(by)
    n_atoms = None if column_norm is None else len(column_norm)
    if labels.ndim != 1 or (n_atoms is not None and len(labels) != n_atoms):
        raise ValueError(
            f"by must hold one label for each of the {n_atoms} atoms; got shape {labels.shape}."
        )
    return labels
