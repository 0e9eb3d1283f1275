"""Learnt length-scales of features, and how they were found."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from relvec._typing import Matrix, Vector
from relvec.kernels import Linear, ScaledInputs

__all__ = [
    "SPARSE_LINEAR",
    "LearntBlock",
    "LearntLengthScales",
    "build_unlearnt",
    "merge_targets",
    "scales_from_relevance",
]

SPARSE_LINEAR = "sparse linear"
"""Group of a model that is linear in selected features."""


class LearntBlock(NamedTuple):
    """One `KernelBasis` of a sum whose kernels were learnt.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec import SparseBayesRegressor
    >>> from relvec.bases import KernelBasis
    >>> from relvec.kernels import Periodic
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, size=(80, 1))
    >>> y = np.sin(2 * np.pi * X[:, 0] / 1.7) + 0.1 * rng.normal(size=80)
    >>> basis = KernelBasis(RBF(1.0)) + KernelBasis(Periodic(period=4.0))
    >>> model = SparseBayesRegressor(basis, length_scales="kernel").fit(X, y)
    >>> [(block.name, block.is_kept) for block in model.kernel_blocks_]
    [('KernelBasis 0', False), ('KernelBasis 1', True)]
    """

    place: int
    """Position in the sum."""
    name: str
    """Name, as in `components_` of a model with all bases."""
    kernel: Kernel
    """Kernel, learnt or held; of a basis that was removed the kernel as it was given."""
    signal: float
    """Prior variance of its function in the Gaussian process, in units of the noise variance."""
    gain: float
    """Gain in log evidence of the Gaussian process over one without it, in nats."""
    is_held: bool
    """Whether its parameters were not learnt (``tune=False``)."""
    is_kept: bool
    """Whether the basis is in the model: its gain is at least that required of its parameters."""


@dataclass(frozen=True)
class LearntLengthScales:
    """Learnt length-scales of features, and how they were found.

    The input scale of a feature is ``eta = 1 / (2 length_scale^2)`` for a Gaussian kernel (Tipping
    2001, eq. 52).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from relvec.learning import LengthScaleLearner
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(60, 2))
    >>> [learnt] = LengthScaleLearner().learn(RBF(0.5**0.5), X, np.sin(2 * X[:, :1]))
    >>> learnt.kind, learnt.gain > learnt.penalty
    ('ard', array([ True, False]))
    """

    kernel: Kernel
    """Kernel of features in their own units."""
    scale: Vector
    """Input scales ``eta`` in the units of the features; zero for features left out."""
    relevance: Vector
    """Input scales in units of the standard deviation of each feature: ``eta * spread^2``."""
    spread: Vector
    """Standard deviations of the features over the rows used for learning."""
    gain: Vector
    """Gain in log evidence of each feature, or its possible gain if it was left out; for the
    Gaussian process, or for the sparse model if that changed the selection."""
    kind: str
    """"ard", "isotropic" or "kernel"; "none" if the features do not explain the targets, so that
    all have a common length-scale that was not learnt; "null" if then no feature is used; "linear"
    if the model is linear in the standardised features instead of having kernels."""
    group: str
    """Name of the fit; the same for candidates that differ in `scale_factor` only."""
    path: Matrix
    """Relevance of every feature after each step."""
    path_objective: Vector
    """Objective after each step."""
    penalty: float = 0.0
    """Minimum gain in log evidence of a feature."""
    log_evidence: float = math.nan
    """Log evidence of the Gaussian process, on the rows used for learning."""
    scale_factor: float = 1.0
    """Ratio of these input scales to those of the Gaussian process."""
    replaced: LearntLengthScales | None = None
    """Length-scales of the kernels that a linear model replaced; error bars use them to find out
    which inputs are far from the data."""
    at_bounds: tuple[str, ...] = ()
    """Names of kernel parameters at a bound beyond which the evidence would rise."""
    blocks: tuple[LearntBlock, ...] = ()
    """The kernels of a sum of several bases, each learnt with a variance of its own; `kernel` is
    then the covariance, in units of the noise variance. Empty for a single kernel."""

    @property
    def has_feature_scales(self) -> bool:
        """Whether features have length-scales, rather than the kernel parameters of its own."""
        return isinstance(self.kernel, ScaledInputs)

    @property
    def length_scale(self) -> Vector:
        """Length-scale of each feature in its own units; infinite for features left out.

        As scikit-learn's kernels count it: ``k = exp(-|x - z|^2 / (2 length_scale^2))`` for a
        Gaussian kernel, so that ``scale = 1 / (2 length_scale^2)``.
        """
        # k(sqrt(eta) x) of a kernel with length-scale l has length-scale l / sqrt(eta); for kernels
        # without one, exp(-eta |x - z|^2) is taken as the reference.
        unit = getattr(self.kernel.kernel, "length_scale", math.sqrt(0.5))
        with np.errstate(divide="ignore"):
            return np.asarray(unit / np.sqrt(self.scale))

    @property
    def kept_blocks(self) -> tuple[LearntBlock, ...]:
        """Kernels of a sum of several bases that are in the model."""
        return tuple(block for block in self.blocks if block.is_kept)

    @property
    def is_shared(self) -> bool:
        """Whether all features have the same relevance."""
        return self.kind in ("isotropic", "linear", "none", "null")

    @property
    def is_learnt(self) -> bool:
        """Whether these are learnt length-scales of kernels."""
        return self.kind in ("ard", "isotropic")

    @property
    def is_selection(self) -> bool:
        """Whether features were selected; otherwise none is left out."""
        return self.group.startswith("ard") or self.group == SPARSE_LINEAR

    @property
    def n_scales(self) -> int:
        """Number of scales that were learnt."""
        if self.kind == "kernel" and self.blocks:
            learnt = [block.kernel for block in self.kept_blocks if not block.is_held]
            return sum(len(kernel.theta) for kernel in learnt)
        if self.kind == "kernel":
            return len(self.kernel.theta)
        return 1 if self.is_shared else int(np.count_nonzero(self.scale))

    def with_relevance(self, relevance: Vector) -> LearntLengthScales:
        """Return a copy with other relevances; the kind becomes "ard" if they differ."""
        kept = relevance[relevance > 0.0]
        differ = len(kept) > 1 and not np.allclose(kept, kept[0], rtol=1e-9, atol=0.0)
        return replace(
            self,
            **scales_from_relevance(self.kernel.kernel, relevance, self.spread),
            kind="ard" if differ else self.kind,
            path=np.vstack([self.path, relevance]),
            path_objective=np.append(self.path_objective, np.nan),
        )

    def as_null(self) -> LearntLengthScales:
        """Return the description of a model that uses no feature."""
        null, unused = self, np.zeros_like(self.spread)
        if self.has_feature_scales:
            null = build_unlearnt(self.kernel.kernel, self.spread, self.penalty)
            null = replace(null, gain=self.gain, relevance=unused, scale=unused)
        return replace(null, kind="null", group="null")

    def as_linear(self, *, is_sparse: bool = False) -> LearntLengthScales:
        """Return the description of a model that is linear in all or, if sparse, some features."""
        relevance = np.where(self.spread > 0.0, 1.0, 0.0)
        linear = scales_from_relevance(Linear(), relevance, self.spread)
        group = SPARSE_LINEAR if is_sparse else "linear"
        return replace(self, **linear, kind="linear", group=group, scale_factor=1.0, replaced=self)


def scales_from_relevance(kernel: Kernel, relevance: Vector, spread: Vector) -> dict[str, Any]:
    """Build kernel and input scales from relevances; scales of constant features are zero."""
    # Relevance is eta for features in units of their standard deviations: eta = relevance / s^2.
    scale = np.divide(relevance, spread**2, out=np.zeros_like(spread), where=spread > 0.0)
    kernel = ScaledInputs(kernel, scale)
    return {"kernel": kernel, "scale": scale, "relevance": relevance, "spread": spread}


def build_unlearnt(kernel: Kernel, spread: Vector, penalty: float) -> LearntLengthScales:
    """Build the result if the features do not explain the targets: one common relevance."""
    varies = spread > 0.0
    # Squared distances of d standardised features grow with d: 1 / d keeps kernels comparable.
    relevance = np.where(varies, 1.0 / max(int(varies.sum()), 1), 0.0)
    return LearntLengthScales(
        **scales_from_relevance(kernel, relevance, spread),
        gain=np.zeros(len(spread)),
        penalty=penalty,
        kind="none",
        group="none",
        path=relevance[None],
        path_objective=np.array([np.nan]),
    )


def merge_targets(
    proposals: list[tuple[LearntLengthScales, ...]],
) -> tuple[LearntLengthScales, ...]:
    """Merge the length-scales of several targets: the relevance of a feature is the largest one.

    Parameters
    ----------
    proposals : list of tuple of LearntLengthScales
        Candidates for each target. Targets that no feature explains are ignored, unless there are
        no others.
    """
    informed = [each for each in proposals if each[0].kind != "none"] or proposals
    by_group = [{part.group: part for part in each} for each in informed]
    in_all = set.intersection(*map(set, by_group))
    groups = sorted(in_all, key=list(by_group[0]).index) or [informed[0][-1].group]
    joined = []
    for group in groups:
        # A target may have candidates of one kind only: use these.
        parts = [found.get(group, list(found.values())[-1]) for found in by_group]
        joined.append(_joined(parts))
    return tuple(joined)


def _joined(parts: list[LearntLengthScales]) -> LearntLengthScales:
    """Merge candidates of one kind."""
    best = max(parts, key=lambda part: part.log_evidence)
    # A feature that is relevant to any target must stay.
    relevance = np.max([part.relevance for part in parts], axis=0)
    return replace(
        best.with_relevance(relevance),
        gain=np.max([part.gain for part in parts], axis=0),
        # Targets are independent given their own fits: log evidences add up.
        log_evidence=float(sum(part.log_evidence for part in parts)),
    )
