"""Priors over weight precisions and noise: flat, Gamma, Laplace, smoothness, user-defined.

Examples
--------
>>> from relvec.priors import resolve_prior
>>> resolve_prior("bic")
SmoothnessPrior()
>>> resolve_prior(None)
FlatPrior()
"""

from __future__ import annotations

from relvec._checks import check_choice
from relvec.priors.base import BoundPrior, InverseGamma, Prior, RateHyperprior, Statistics
from relvec.priors.flat import BoundFlat, FlatPrior
from relvec.priors.gamma import GammaPrior
from relvec.priors.laplace import LaplacePrior
from relvec.priors.separable import SeparablePrior
from relvec.priors.smoothness import CRITERIA, BoundSmoothness, SmoothnessPrior

_NAMED: dict[str, type[Prior]] = {
    "flat": FlatPrior,
    "gamma": GammaPrior,
    "laplace": LaplacePrior,
    "smoothness": SmoothnessPrior,
    **dict.fromkeys(CRITERIA, SmoothnessPrior),
}


def resolve_prior(prior: Prior | str | None, *, allow_density: bool = False) -> Prior:
    """Return the prior for a name; None means the flat prior.

    Parameters
    ----------
    prior : Prior, {"flat", "gamma", "laplace", "smoothness", "aic", "bic", "ric"} or None
        A prior object is returned unchanged.
    allow_density : bool, default=False
        Whether the caller can use priors with a density of each log precision (Laplace and other
        separable priors). If not, they are refused: ignoring the density would silently give the
        flat prior.

    Returns
    -------
    prior : Prior

    Raises
    ------
    ValueError
        If the name is unknown, or if it is a Laplace or another separable prior and
        `allow_density` is False.

    Examples
    --------
    >>> from relvec.priors import resolve_prior
    >>> round(resolve_prior("bic").bind(n_samples=100).penalty, 2)
    2.3
    """
    if prior is None:
        return FlatPrior()
    if not isinstance(prior, Prior | str):
        raise TypeError(
            f"prior must be one of {tuple(_NAMED)} or a Prior such as SmoothnessPrior(2.0); "
            f"got {prior!r}."
        )
    if isinstance(prior, Prior):
        resolved = prior
    else:
        parameters = {"c": prior} if prior in CRITERIA else {}
        resolved = _NAMED[check_choice("prior", prior, _NAMED)](**parameters)
    # A Laplace prior of rate zero is the flat prior and has no density.
    is_laplace = isinstance(resolved, LaplacePrior) and resolved.rate != 0
    if not allow_density and (is_laplace or isinstance(resolved, SeparablePrior)):
        kind = "Laplace" if is_laplace else "separable"
        raise ValueError(
            f"{kind} priors are available for regression only; got prior={prior!r}. Use "
            'prior="flat", "bic" or another SmoothnessPrior.'
        )
    return resolved


__all__ = [
    "BoundFlat",
    "BoundPrior",
    "BoundSmoothness",
    "FlatPrior",
    "GammaPrior",
    "InverseGamma",
    "LaplacePrior",
    "Prior",
    "RateHyperprior",
    "SeparablePrior",
    "SmoothnessPrior",
    "Statistics",
    "resolve_prior",
]
