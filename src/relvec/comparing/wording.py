"""The verdict of a comparison in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relvec.comparing.verdict import (
    MIN_PROBABILITY,
    Criteria,
    Decision,
    decide,
    find_disagreements,
)

__all__ = ["Verdict", "reach_verdict"]


@dataclass(frozen=True)
class Verdict(Decision):
    """The best model, if any, in plain words.

    Examples
    --------
    >>> from sklearn.linear_model import BayesianRidge, Ridge
    >>> from relvec import compare_models
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.1, 0.9, 2.1, 2.9, 4.1, 4.9]
    >>> compare_models([Ridge(), Ridge(2.0)], X, y, cv=3).verdict.text
    'Undecided: no model has predictive distributions.'
    """

    text: str = ""
    """The verdict in plain words."""
    disagreements: tuple[str, ...] = ()
    """Where an evidence prefers a model that predicts held-out rows distinctly worse."""


def reach_verdict(
    models: Mapping[str, Criteria], score: str, titles: Mapping[str, str] | None = None
) -> Verdict:
    """Decide which model is the best, if any, and say why.

    Parameters
    ----------
    models : mapping of str to Criteria
        Results of all models.
    score : str
        Name of the score, for the text.
    titles : mapping of str to str, optional
        Names of the models in the text, where they differ.

    Examples
    --------
    >>> from relvec.comparing.statistics import Estimate
    >>> models = {
    ...     "line": Criteria(-1.5, Estimate(0.5, 0.1), 0.02, -60.0),
    ...     "curve": Criteria(-1.0, Estimate(0.0, 0.0), 0.98, -55.0),
    ... }
    >>> print(reach_verdict(models, "MLPD").text)
    curve is the best of these models. It predicts held-out rows best (MLPD); ...
    """
    decision = decide(models)
    titles = {name: name for name in models} | dict(titles or {})
    return Verdict(
        **vars(decision),
        text=" ".join(_describe(decision, models, score, titles)),
        disagreements=tuple(
            f"Criteria disagree: the {what} is highest for {titles[first]}, but "
            f"{titles[decision.leader or first]} predicts held-out rows better by "
            f"{behind} nats a row."
            for what, first, behind in find_disagreements(decision.leader, models)
        ),
    )


def _describe(
    decision: Decision, models: Mapping[str, Criteria], score: str, titles: Mapping[str, str]
) -> list[str]:
    """Return the sentences of the verdict."""
    leader, best = decision.leader, decision.best
    if leader is None:
        return ["Undecided: no model has predictive distributions."]
    first = "Undecided." if best is None else f"{titles[best]} is the best of these models."
    subject = "It" if best == leader else titles[leader]
    others = [
        f"{titles[name]} (difference {behind} nats a row)"
        for name in decision.contenders[1:]
        if (behind := models[name].behind) is not None
    ]
    sentences = [first]
    if others:
        sentences += [
            f"{subject} predicts held-out rows best ({score}).",
            f"Not distinguishable from it: {', '.join(others)}.",
            _explain_probabilities(decision, models, titles),
        ]
    else:
        sentences.append(
            f"{subject} predicts held-out rows best ({score}); all others are worse by more than "
            "two standard errors."
        )
    without = [name for name, each in models.items() if each.score is None]
    if without:
        smaller = [titles[name] for name in without if models[name].has_smaller_error]
        error = f", of which the error of {_join(smaller)} is distinctly smaller" if smaller else ""
        names = _join([titles[name] for name in without])
        sentences.append(f"Not ranked, without predictive distributions: {names}{error}.")
    return sentences


def _explain_probabilities(
    decision: Decision, models: Mapping[str, Criteria], titles: Mapping[str, str]
) -> str:
    """Say what the evidence tells of the models that held-out rows do not tell apart."""
    if decision.favourite is None or decision.probability is None:
        unknown = [titles[name] for name in decision.contenders if models[name].probability is None]
        return f"The evidence does not decide: there is no tied evidence of {_join(unknown)}."
    among = f"The posterior probability of {titles[decision.favourite]}, among these,"
    # rounded down, so that what is below the limit is not printed as the limit
    share = f"{int(1000.0 * decision.probability) / 1000.0:.3f}"
    if decision.probability > 0.999:
        share = "above 0.999"
    if decision.probability >= MIN_PROBABILITY:
        is_near = models[decision.favourite].is_near
        but = "" if is_near else ", but it predicts worse by more than one standard error"
        return f"{among} is {share}{but}."
    return f"{among} is {share}; {MIN_PROBABILITY:g} is needed to decide."


def _join(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
