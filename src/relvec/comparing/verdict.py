"""What a comparison of models supports: the best model or none, and in plain words why.

Held-out rows decide where they can. A model whose log predictive density is more than two standard
errors of the paired difference below that of the best predictor is worse. Models that remain are
told apart by their posterior probabilities: nested models often predict equally well, and the
evidence prefers the smaller one. If none of them has a probability of at least .95, the comparison
is undecided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relvec.comparing.statistics import Estimate

__all__ = ["MIN_PROBABILITY", "N_ERRORS", "Criteria", "Verdict", "reach_verdict"]

N_ERRORS = 2.0
"""Standard errors beyond which held-out rows tell two models apart."""
MIN_PROBABILITY = 0.95
"""Posterior probability, among the models that held-out rows do not tell apart, that decides."""


@dataclass(frozen=True)
class Criteria:
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
        return self.behind is not None and self.behind.mean > N_ERRORS * self.behind.se


@dataclass(frozen=True)
class Verdict:
    """Result of a comparison."""

    best: str | None
    """Name of the best model; None if the comparison is undecided."""
    leader: str | None
    """Name of the model that predicts held-out rows best."""
    contenders: tuple[str, ...]
    """Models that held-out rows do not tell apart from the best predictor, which is the first."""
    text: str
    """The verdict in plain words."""
    disagreements: tuple[str, ...] = ()
    """Where criteria prefer different models."""


def reach_verdict(models: Mapping[str, Criteria], score: str) -> Verdict:
    """Judge which model is the best, if any.

    Parameters
    ----------
    models : mapping of str to Criteria
        Results of all models.
    score : str
        Name of the score, for the text.

    Examples
    --------
    >>> models = {
    ...     "line": Criteria(-1.0, Estimate(0.0, 0.0), 0.02, -60.0),
    ...     "curve": Criteria(-1.01, Estimate(0.01, 0.02), 0.98, -55.0),
    ... }
    >>> verdict = reach_verdict(models, "MLPD")
    >>> verdict.best, verdict.leader
    ('curve', 'line')
    """
    scored = {name: each for name, each in models.items() if each.score is not None}
    if not scored:
        return Verdict(None, None, (), "Undecided: no model has predictive distributions.")
    leader = max(scored, key=lambda name: scored[name].score or 0.0)
    others = sorted(
        (name for name in scored if name != leader), key=lambda name: -(scored[name].score or 0.0)
    )
    contenders = (leader, *(name for name in others if not scored[name].is_worse))
    best, reason = _choose(contenders, models)
    sentences = [f"{leader} predicts held-out rows best ({score}).", *_compare(contenders, models)]
    smaller = _find_smaller_errors(models)
    if smaller:
        best = None
        names = _join(smaller)
        reason = f"{names} without predictive distributions, but with a smaller error, cannot be ranked"
    if best is None:
        sentences.insert(0, "Undecided.")
        sentences.append(f"{reason[0].upper()}{reason[1:]}.")
    else:
        sentences.insert(0, f"{best} is the best of these models.")
        if reason:
            sentences.append(f"{reason[0].upper()}{reason[1:]}.")
    disagreements = _find_disagreements(leader, models)
    return Verdict(best, leader, contenders, " ".join(sentences), disagreements)


def _choose(contenders: Sequence[str], models: Mapping[str, Criteria]) -> tuple[str | None, str]:
    """Return the best of the models that held-out rows do not tell apart, and why."""
    if len(contenders) == 1:
        return contenders[0], ""
    known = {name: models[name].probability for name in contenders}
    unknown = [name for name, probability in known.items() if probability is None]
    if unknown:
        return None, f"no tied evidence to tell {_join(unknown)} apart from the others"
    probabilities = {name: probability or 0.0 for name, probability in known.items()}
    total = sum(probabilities.values())
    first = max(probabilities, key=probabilities.__getitem__)
    share = probabilities[first] / total if total > 0.0 else 0.0
    among = f"among these models the posterior probability of {first} is {share:.2g}"
    if share >= MIN_PROBABILITY:
        return first, among
    return None, f"{among}, and at least {MIN_PROBABILITY:g} is needed to decide"


def _compare(contenders: Sequence[str], models: Mapping[str, Criteria]) -> list[str]:
    """Describe the models that held-out rows do not tell apart from the best predictor."""
    parts = []
    for name in contenders[1:]:
        behind = models[name].behind
        assert behind is not None
        parts.append(f"{name} (difference {behind.mean:.2g} ± {behind.se:.2g} nats a row)")
    if not parts:
        return ["All others predict worse by more than two standard errors."] if len(models) > 1 else []
    return [f"Not distinguishable from it: {', '.join(parts)}."]


def _find_smaller_errors(models: Mapping[str, Criteria]) -> list[str]:
    """Return the models without a score whose errors are distinctly smaller."""
    return [
        name
        for name, each in models.items()
        if each.error_behind is not None
        and -each.error_behind.mean > N_ERRORS * each.error_behind.se
    ]


def _find_disagreements(leader: str, models: Mapping[str, Criteria]) -> tuple[str, ...]:
    """Name the models that an evidence prefers although held-out rows are predicted worse."""
    evidences = {
        "posterior probability": {
            name: each.probability
            for name, each in models.items()
            if each.probability is not None
        },
        "maximised log evidence": {
            name: each.log_evidence
            for name, each in models.items()
            if each.log_evidence is not None
        },
    }
    found = []
    for what, values in evidences.items():
        if leader not in values:
            continue
        first = max(values, key=lambda name: values[name])
        behind = models[first].behind
        if behind is not None and models[first].is_worse:
            found.append(
                f"The {what} is highest for {first}, but {leader} predicts held-out rows better by "
                f"{behind.mean:.2g} ± {behind.se:.2g} nats a row."
            )
    return tuple(found)


def _join(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
