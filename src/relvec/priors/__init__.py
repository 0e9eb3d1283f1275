"""What is believed of the precisions: flat, Gamma, Laplace, or a price on degrees of freedom.

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
from relvec.priors.base import GammaHyperprior, Prior, RateHyperprior
from relvec.priors.flat import FlatPrior
from relvec.priors.gamma import GammaPrior
from relvec.priors.laplace import LaplacePrior
from relvec.priors.smoothness import SmoothnessPrior

_NAMED: dict[str, Prior] = {
    "flat": FlatPrior(),
    "gamma": GammaPrior(),
    "laplace": LaplacePrior(),
    "smoothness": SmoothnessPrior(),
    "aic": SmoothnessPrior("aic"),
    "bic": SmoothnessPrior("bic"),
    "ric": SmoothnessPrior("ric"),
}


def resolve_prior(prior: Prior | str | None, *, takes_laplace: bool = False) -> Prior:
    """Turn the name of a prior into the prior; None is flat.

    Parameters
    ----------
    prior : Prior, {"flat", "gamma", "laplace", "smoothness", "aic", "bic", "ric"} or None
        A prior is returned as it is.
    takes_laplace : bool, default=False
        Whether the caller makes use of `Prior.laplace_rate`. To leave it out would be a flat
        prior under another name, so those who do not say so are not given one.

    Returns
    -------
    prior : Prior

    Raises
    ------
    ValueError
        If it is none of these; the message proposes the nearest name. If it is a Laplace prior
        and the caller has no use for one.

    Examples
    --------
    >>> from relvec.priors import resolve_prior
    >>> round(resolve_prior("bic").smoothness(100), 2)
    2.3
    """
    resolved = _resolved(prior)
    if not takes_laplace and resolved.laplace_rate():
        raise ValueError(
            f"There is no Laplace prior here, only in regressors; got prior={prior!r}. Use "
            'prior="flat", "bic" or another SmoothnessPrior.'
        )
    return resolved


def _resolved(prior: Prior | str | None) -> Prior:
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
    "LaplacePrior",
    "Prior",
    "RateHyperprior",
    "SmoothnessPrior",
    "resolve_prior",
]
