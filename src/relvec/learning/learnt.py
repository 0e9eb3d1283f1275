"""Scales of inputs, and how they were found."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from relvec._typing import Matrix, Vector
from relvec.kernels import Linear, ScaledInputs

__all__ = ["LearntLengthScales", "build_unlearnt", "merge_targets", "scales_from_relevance"]


@dataclass(frozen=True)
class LearntLengthScales:
    """Scales of inputs, and how they were found.

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
    """Kernel of inputs in their own units."""
    scale: Vector
    """Inverse squared widths in the units of the inputs; zero for those left out."""
    relevance: Vector
    """The same in units of the standard deviation of each input."""
    spread: Vector
    """Those standard deviations, over the rows that were looked at."""
    gain: Vector
    """Log evidence that each input brings to the process, or would at its best; to the sparse
    model where that overruled the process."""
    kind: str
    """"ard", "isotropic" or "kernel"; "none" if no input says anything of the targets, so that all
    have a width that was not learnt; "null" if then no input is used; "linear" if the model is not
    one of kernels but linear in the inputs, all in units of their standard deviations."""
    group: str
    """What was learnt: the same for proposals that differ in the width of kernels only."""
    path: Matrix
    """Relevance of every input after each step."""
    path_objective: Vector
    penalty: float = 0.0
    """Log evidence that an input had to bring."""
    log_evidence: float = math.nan
    """Of the Gaussian process, on the rows it was shown."""
    scale_factor: float = 1.0
    """Factor of the scales of the process that gave these."""
    replaced: LearntLengthScales | None = None
    """Scales of the kernels that a linear model stands in place of: they say what is far away."""
    at_bounds: tuple[str, ...] = ()
    """Parameters of a kernel at a bound beyond which the evidence rises."""

    @property
    def has_feature_scales(self) -> bool:
        """Whether inputs have scales, rather than a kernel parameters."""
        return isinstance(self.kernel, ScaledInputs)

    @property
    def length_scale(self) -> Vector:
        """Length-scale of each feature in its own units; infinite for features left out.

        As scikit-learn's kernels count it: ``k = exp(-|x - z|^2 / (2 length_scale^2))`` for a
        Gaussian kernel, so that ``scale = 1 / (2 length_scale^2)``.
        """
        unit = getattr(self.kernel.kernel, "length_scale", math.sqrt(0.5))
        with np.errstate(divide="ignore"):
            return np.asarray(unit / np.sqrt(self.scale))

    @property
    def is_shared(self) -> bool:
        """Whether all inputs have the same width."""
        return self.kind in ("isotropic", "linear", "none", "null")

    @property
    def is_learnt(self) -> bool:
        """Whether these are scales of kernels that were learnt."""
        return self.kind in ("ard", "isotropic")

    @property
    def is_selection(self) -> bool:
        """Whether inputs were chosen; otherwise scales began as one width, and none is left out."""
        return self.group.startswith("ard")

    @property
    def n_scales(self) -> int:
        """Number of scales that were learnt."""
        if self.kind == "kernel":
            return len(self.kernel.theta)
        return 1 if self.is_shared else int(np.count_nonzero(self.scale))

    def with_relevance(self, relevance: Vector) -> LearntLengthScales:
        """Return other scales found from these; those that differ are no longer shared."""
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
        """Return what is said of the inputs if the model uses none of them."""
        null, unused = self, np.zeros_like(self.spread)
        if self.has_feature_scales:
            null = build_unlearnt(self.kernel.kernel, self.spread, self.penalty)
            null = replace(null, gain=self.gain, relevance=unused, scale=unused)
        return replace(null, kind="null", group="null")

    def as_linear(self) -> LearntLengthScales:
        """Return what is said of the inputs if the model is linear in them."""
        relevance = np.where(self.spread > 0.0, 1.0, 0.0)
        linear = scales_from_relevance(Linear(), relevance, self.spread)
        return replace(
            self, **linear, kind="linear", group="linear", scale_factor=1.0, replaced=self
        )


def scales_from_relevance(kernel: Kernel, relevance: Vector, spread: Vector) -> dict[str, Any]:
    """Return what relevances say of the scales of a kernel: zero for inputs that are constant."""
    scale = np.divide(relevance, spread**2, out=np.zeros_like(spread), where=spread > 0.0)
    kernel = ScaledInputs(kernel, scale)
    return {"kernel": kernel, "scale": scale, "relevance": relevance, "spread": spread}


def build_unlearnt(kernel: Kernel, spread: Vector, penalty: float) -> LearntLengthScales:
    """Where inputs say nothing of the targets, all that vary are alike."""
    varies = spread > 0.0
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
    """Join what was learnt for several targets: an input matters as much as to any of them.

    Parameters
    ----------
    proposals : list of tuple of LearntLengthScales
        For each target. Those to which no input says anything do not count, unless all are such.
    """
    informed = [each for each in proposals if each[0].kind != "none"] or proposals
    by_group = [{part.group: part for part in each} for each in informed]
    in_all = set.intersection(*map(set, by_group))
    groups = sorted(in_all, key=list(by_group[0]).index) or [informed[0][-1].group]
    joined = []
    for group in groups:
        # a target may have scales of one kind only: it takes part with those
        parts = [found.get(group, list(found.values())[-1]) for found in by_group]
        joined.append(_joined(parts))
    return tuple(joined)


def _joined(parts: list[LearntLengthScales]) -> LearntLengthScales:
    """Join scales of one kind."""
    best = max(parts, key=lambda part: part.log_evidence)
    relevance = np.max([part.relevance for part in parts], axis=0)
    return replace(
        best.with_relevance(relevance),
        gain=np.max([part.gain for part in parts], axis=0),
        log_evidence=float(sum(part.log_evidence for part in parts)),
    )
