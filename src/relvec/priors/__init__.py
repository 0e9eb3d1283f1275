"""What is believed of the precisions: flat, Gamma, or a price on degrees of freedom.

Examples
--------
>>> from relvec.priors import resolve_prior
>>> resolve_prior("bic")
SmoothnessPrior()
>>> resolve_prior(None)
FlatPrior()
"""

from __future__ import annotations

from copy import copy

from relvec._checks import check_choice
from relvec.priors.base import GammaHyperprior, Prior
from relvec.priors.flat import FlatPrior
from relvec.priors.gamma import GammaPrior
from relvec.priors.smoothness import SmoothnessPrior

_NAMED: dict[str, Prior] = {
    "flat": FlatPrior(),
    "gamma": GammaPrior(),
    "smoothness": SmoothnessPrior(),
    "aic": SmoothnessPrior("aic"),
    "bic": SmoothnessPrior("bic"),
    "ric": SmoothnessPrior("ric"),
}


def resolve_prior(prior: Prior | str | None) -> Prior:
    """Turn the name of a prior into the prior; None is flat.

    Parameters
    ----------
    prior : Prior, {"flat", "gamma", "smoothness", "aic", "bic", "ric"} or None
        A prior is returned as it is.

    Returns
    -------
    prior : Prior

    Raises
    ------
    ValueError
        If it is none of these; the message proposes the nearest name.
    """
    if prior is None:
        return FlatPrior()
    if isinstance(prior, Prior):
        return prior
    if not isinstance(prior, str):
        raise TypeError(
            f"prior must be one of {tuple(_NAMED)} or a Prior such as SmoothnessPrior(2.0); "
            f"got {prior!r}."
        )
    return copy(_NAMED[check_choice("prior", prior, _NAMED)])


__all__ = [
    "FlatPrior",
    "GammaHyperprior",
    "GammaPrior",
    "Prior",
    "SmoothnessPrior",
    "resolve_prior",
]
