"""What a comparison of models supports: the best model or none, and where criteria disagree.

Held-out rows decide where they can. A model whose log predictive density is more than two standard
errors of the paired difference below that of the best predictor is worse. Models that remain are
told apart by their posterior probabilities: nested models often predict equally well, and the
evidence prefers the smaller one. If none of them has a probability of at least .9, or if that one
predicts worse by more than one standard error, the comparison is undecided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from relvec.comparing.statistics import Estimate

__all__ = ["MIN_PROBABILITY", "N_ERRORS", "Criteria", "Decision", "decide", "find_disagreements"]

N_ERRORS = 2.0
"""Standard errors beyond which held-out rows tell two models apart."""
MIN_PROBABILITY = 0.9
"""Posterior probability, among the models that held-out rows do not tell apart, that decides.

A nested model that fits as well with one hyper-parameter less has odds of at most ``sqrt(N)``: it
is chosen from 81 rows on. In simulations with five models (`bench.comparing`) .8 prefers it too
often where the other effect exists but is smaller than the noise, and .95 never before 361 rows."""


class Criteria(NamedTuple):
    """Results of one model that the verdict uses."""

    score: float | None
    """Log predictive density per row; None if the model has none."""
    behind: Estimate | None
    """By how much the score of the best predictor is higher, row by row; None without a score."""
    probability: float | None
    """Posterior probability; None if the model has no tied evidence that can be compared."""
    log_evidence: float | None
    """Maximised log evidence."""
    error_behind: Estimate | None = None
    """By how much the error of a model without a score exceeds that of the best predictor."""

    @property
    def is_worse(self) -> bool:
        """Whether held-out rows tell the model apart from the best predictor."""
        # written so that a model which gives some targets density zero is worse
        return self.behind is not None and not self.behind.mean <= N_ERRORS * self.behind.se

    @property
    def is_near(self) -> bool:
        """Whether the model is within one standard error of the best predictor.

        The tied evidence is that of a model without a precision for each basis function, so it does
        not choose against the predictions (the one-standard-error rule of Breiman et al. 1984).
        """
        return self.behind is not None and self.behind.mean <= self.behind.se

    @property
    def has_smaller_error(self) -> bool:
        """Whether a model without a score has a distinctly smaller error."""
        known = self.error_behind
        return known is not None and -known.mean > N_ERRORS * known.se


@dataclass(frozen=True)
class Decision:
    """Which model is the best, if any."""

    best: str | None
    """Name of the best model; None if the comparison is undecided."""
    leader: str | None
    """Name of the model that predicts held-out rows best."""
    contenders: tuple[str, ...]
    """Models that held-out rows do not tell apart from the best predictor, which is the first."""
    favourite: str | None = None
    """The contender with the highest posterior probability; None if that of any is not known."""
    probability: float | None = None
    """Posterior probability of the favourite among the contenders."""


def decide(models: Mapping[str, Criteria]) -> Decision:
    """Decide which model is the best, if any.

    Examples
    --------
    >>> models = {
    ...     "line": Criteria(-1.01, Estimate(0.01, 0.02), 0.98, -60.0),
    ...     "curve": Criteria(-1.0, Estimate(0.0, 0.0), 0.02, -55.0),
    ... }
    >>> found = decide(models)
    >>> found.best, found.leader, found.probability
    ('line', 'curve', 0.98)
    """
    scores = {name: each.score for name, each in models.items() if each.score is not None}
    if not scores:
        return Decision(None, None, ())
    ranked = sorted(scores, key=lambda name: -scores[name])
    leader = ranked[0]
    contenders = tuple(name for name in ranked if name == leader or not models[name].is_worse)
    favourite, share = _find_favourite(contenders, models)
    if any(each.has_smaller_error for each in models.values()):
        best = None
    elif len(contenders) == 1:
        best = leader
    else:
        is_probable = share is not None and share >= MIN_PROBABILITY
        is_best = favourite is not None and is_probable and models[favourite].is_near
        best = favourite if is_best else None
    return Decision(best, leader, contenders, favourite, share)


def _find_favourite(
    contenders: Sequence[str], models: Mapping[str, Criteria]
) -> tuple[str | None, float | None]:
    """Return the most probable of the contenders, and its probability among them."""
    known = {name: models[name].probability for name in contenders}
    probabilities = {name: each for name, each in known.items() if each is not None}
    total = sum(probabilities.values())
    if len(contenders) == 1 or len(probabilities) < len(contenders) or not total > 0.0:
        return None, None
    favourite = max(probabilities, key=lambda name: probabilities[name])
    return favourite, probabilities[favourite] / total


def find_disagreements(
    leader: str | None, models: Mapping[str, Criteria]
) -> list[tuple[str, str, Estimate]]:
    """Find evidences that are highest for a model that predicts held-out rows distinctly worse.

    Returns
    -------
    disagreements : list of tuple
        Name of the evidence, the model it prefers, and by how much that is behind the leader.
    """
    evidences: dict[str, dict[str, float]] = {"posterior probability": {}, "log evidence": {}}
    for name, each in models.items():
        if each.probability is not None:
            evidences["posterior probability"][name] = each.probability
        if each.log_evidence is not None:
            evidences["log evidence"][name] = each.log_evidence
    found = []
    for what, values in evidences.items():
        if leader in values:  # otherwise the evidences do not speak of the leader
            first = max(values, key=lambda name: values[name])
            behind = models[first].behind
            if models[first].is_worse and behind is not None:
                found.append((what, first, behind))
    return found
