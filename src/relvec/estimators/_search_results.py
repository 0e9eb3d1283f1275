"""What a kernel search found, as users see it."""

from __future__ import annotations

from dataclasses import dataclass

from relvec._typing import Vector
from relvec.learning.structures.construct import Construction
from relvec.learning.structures.score import UNDECIDED_MARGIN
from relvec.learning.structures.structure import Component, Structure

__all__ = ["RankedStructure", "StructureComponent", "rank_structures", "summarise_components"]


@dataclass(frozen=True, repr=False)
class RankedStructure:
    """A structure that a kernel search found, and how it compares with the others."""

    name: str
    """Expression, such as ``LIN + PER x RW``; ``none`` without components."""
    transform: str
    """Transform of the target: "identity", "log" or "sqrt"."""
    periods: tuple[float, ...]
    """Periods in units of the input; days for dates."""
    score: float
    """Penalised log evidence of the targets, in nats."""
    margin: float
    """Score of the best structure less this one, in nats."""
    log_evidence: float
    """Maximised log evidence of the targets, in nats."""
    n_parameters: int
    """Number of fitted parameters: variances, length-scales, periods, locations."""
    held_out_mlpd: float | None
    """Mean log predictive density of held-out rows; None if it was not compared on them."""
    held_out_rmse: float | None
    """RMSE on held-out rows, of predictive medians."""
    weight: float
    """Weight in predictions that average several structures."""
    structure: Structure
    """Components and fitted parameters, for the standardised transformed target."""

    @property
    def is_undecided(self) -> bool:
        """Whether the margin is below 5 nats, which does not decide between structures."""
        return self.margin < UNDECIDED_MARGIN

    def __repr__(self) -> str:
        periods = ", ".join(f"{period:.4g}" for period in self.periods)
        name = f"{self.name} ({periods})" if periods else self.name
        return f"RankedStructure({name!r}, score={self.score:.1f}, margin={self.margin:.1f})"


@dataclass(frozen=True, repr=False)
class StructureComponent:
    """A component of the best structure."""

    name: str
    """Expression, such as ``PER x LIN``."""
    score_loss: float
    """Loss of penalised log evidence, in nats, if it is removed and the others are fitted again."""
    share: float
    """Variance of its posterior mean over the training rows, relative to that of the (transformed)
    target. Shares need not sum to one: components are correlated."""
    component: Component
    """Factors and fitted parameters."""

    def __repr__(self) -> str:
        return (
            f"StructureComponent({self.name!r}, score_loss={self.score_loss:.1f}, "
            f"share={self.share:.2f})"
        )


def rank_structures(
    found: Construction, feature_names: list[str] | None
) -> tuple[RankedStructure, ...]:
    """Describe the candidates of a construction, the best score first."""
    held_out, ranked = found.held_out, []
    for number, (scored, target) in enumerate(found.members):
        structure = scored.structure
        jacobian = target.log_jacobian
        weighted = jacobian.sum() if found.weight is None else found.weight @ jacobian
        ranked.append(
            RankedStructure(
                name=structure.name(feature_names),
                transform=str(target.transform),
                periods=tuple(found.list_periods(structure).tolist()),
                score=scored.score,
                margin=found.best.scored.score - scored.score,
                log_evidence=structure.log_evidence + float(weighted),
                n_parameters=structure.n_parameters,
                held_out_mlpd=None if held_out is None else float(held_out.mlpd[number]),
                held_out_rmse=None if held_out is None else float(held_out.rmse[number]),
                weight=float(found.mixture_weights[number]),
                structure=structure,
            )
        )
    return tuple(ranked)


def summarise_components(
    found: Construction, shares: Vector, feature_names: list[str] | None
) -> tuple[StructureComponent, ...]:
    """Describe the components of the best structure, the largest share first."""
    components = [
        StructureComponent(component.name(feature_names), lost.score, float(share), component)
        for component, lost, share in zip(
            found.best.structure.components, found.lost, shares, strict=True
        )
    ]
    return tuple(sorted(components, key=lambda each: -each.share))
