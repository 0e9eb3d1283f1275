"""A penalty on effective degrees of freedom, borrowed from information criteria."""

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
"""Information criteria that name a penalty."""


class BoundSmoothness(BoundFlat):
    """A penalty on the effective degrees of freedom of all atoms, or of each.

    Parameters
    ----------
    penalty : float or ndarray of shape (n_atoms,)
        ``c`` of each effective degree of freedom.
    noise : InverseGamma, optional
        Density of the noise variance.

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
        """Return the prior of some of the atoms."""
        if isinstance(self.penalty, float):
            return self
        return type(self)(self.penalty[atoms], self.noise)

    def best_precision(
        self, known: Statistics, n_effective: float, noise_variance: float | None
    ) -> tuple[Vector, Vector]:
        """Best precision and gain of one atom; see `BoundPrior.best_precision`.

        Notes
        -----
        With the noise held the rule of the flat prior holds for ``q^2 - 2 sigma^2 w``. With the
        noise profiled out, stationary points in ``x = lam + s`` are the roots of a quadratic, of
        which both are looked at: `w` may have either sign.
        """
        s, q, w, _ = known
        if w is None:
            return super().best_precision(known, n_effective, noise_variance)
        with np.errstate(all="ignore"):
            if noise_variance is not None:
                ratio = q * q / (noise_variance * s) - 2.0 * w / s
                gain = 0.5 * (ratio - 1.0 - np.log(ratio))
                return np.where(ratio > 1.0, gain, -np.inf), s / (ratio - 1.0)
            u = known.explained
            penalty = 2.0 * w
            a2 = penalty + s - n_effective * u
            a1 = n_effective * u * s - s * u - penalty * (u + s)
            a0 = penalty * u * s
            root = np.sqrt(np.maximum(a1 * a1 - 4.0 * a2 * a0, 0.0))
            half = -0.5 * (a1 + np.where(a1 >= 0.0, root, -root))  # no cancellation
            best_gain = np.full(np.shape(u), -np.inf)
            best_lam = np.full(np.shape(u), np.inf)
            for x in (half / a2, a0 / half):
                lam = x - s
                gain = -0.5 * (n_effective * np.log1p(-u / x) + np.log(x / lam) + penalty / x)
                gain = np.where((lam > 0.0) & (x > u) & (gain > 0.0), gain, -np.inf)
                better = gain > best_gain
                best_gain = np.where(better, gain, best_gain)
                best_lam = np.where(better, lam, best_lam)
            return best_gain, best_lam

    has_no_gain = BoundPrior.has_no_gain


class SmoothnessPrior(Prior):
    """Prior ``exp(-c * df)``, with ``df`` the trace of the smoothing matrix.

    The smooth relevance vector machine (Schmolck and Everson, 2007) with the exact number
    of effective degrees of freedom. Under an orthonormal dictionary it keeps a coefficient
    when it exceeds ``sqrt(1 + 2 c)`` standard deviations of the noise. Use it for denoising
    and whenever atoms are to be selected: it stays sparse where the flat prior interpolates
    the noise. Unlike a Gamma prior it is unchanged when atoms or target are rescaled.

    Parameters
    ----------
    c : {"aic", "bic", "ric"}, float or sequence of them, default="bic"
        Penalty on one degree of freedom, in nats: 1 for "aic", ``log(n) / 2`` for "bic" and
        ``log(n)`` for "ric". With "aic" and a free noise level one noise coefficient in five
        is still kept: hold the noise, or pay more. 0 is the flat prior. With `by`, a sequence
        has one entry for each group, in ascending order of their labels.
    by : {"level", "part"}, array-like of shape (n_atoms,) or None, default=None
        Groups of atoms with penalties of their own: the levels of wavelets, the parts of a union
        of bases, or the labels given. A criterion then counts the atoms of the group instead of
        the observations; every effective degree of freedom ``gamma_i`` of an atom has the
        penalty of its group.
    noise : InverseGamma, optional
        Density of the noise variance; flat in its logarithm by default.

    See Also
    --------
    FlatPrior : The same with ``c = 0``.

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
        """Return the prior of particular atoms.

        Raises
        ------
        ValueError
            If `c` is neither a number that is not negative nor a criterion, or has another length
            than there are groups; if nothing tells the groups.
        """
        if self.by is None:
            if not isinstance(self.c, str) and np.ndim(self.c):
                raise ValueError(
                    f"c={self.c!r} has several penalties, but nothing says which atoms they are "
                    'for: give by="level", by="part" or a label for every atom.'
                )
            penalty: float | Vector = _penalty(self.c, n_samples)
        else:
            penalty = self._by_group(_labels(self.by, groups, column_norm))
        return BoundSmoothness(penalty, self.noise) if np.any(penalty) else BoundFlat(self.noise)

    def _by_group(self, labels: IndexArray) -> Vector:
        """Penalty of every atom, by its group."""
        names, place, counts = np.unique(labels, return_inverse=True, return_counts=True)
        several = not isinstance(self.c, str) and np.ndim(self.c) == 1
        given = list(self.c) if several else [self.c] * len(names)  # type: ignore[arg-type]
        if len(given) != len(names):
            raise ValueError(
                f"c has {len(given)} penalties and by={self.by!r} gives {len(names)} groups: give "
                "one penalty for each group, or one for all."
            )
        each = [_penalty(c, count) for c, count in zip(given, counts.tolist(), strict=True)]
        return np.array(each)[place]


def _penalty(c: Any, n: float) -> float:
    """Penalty on one degree of freedom, by a criterion that counts `n`."""
    if not isinstance(c, str):
        return check_positive("c", c, allow_zero=True, also=f"or one of {CRITERIA}")
    log_n = math.log(max(n, 1.0))
    return {"aic": 1.0, "bic": 0.5 * log_n, "ric": log_n}[check_choice("c", c, CRITERIA)]


def _labels(by: Any, groups: GroupLabels | None, column_norm: Vector | None) -> IndexArray:
    """Group of every atom."""
    if isinstance(by, str):
        check_choice("by", by, ("level", "part"))
        if groups is None:
            raise ValueError(
                f"by={by!r} needs a basis that tells its {by}s, which there is not here. Give one "
                "penalty for all, or a label for every atom."
            )
        return groups(by)
    labels = np.asarray(by)
    n_atoms = None if column_norm is None else len(column_norm)
    if labels.ndim != 1 or (n_atoms is not None and len(labels) != n_atoms):
        raise ValueError(
            f"by must have one label for each of the {n_atoms} atoms; got shape {labels.shape}."
        )
    return labels
