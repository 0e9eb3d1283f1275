"""A price on effective degrees of freedom, borrowed from information criteria."""

from __future__ import annotations

import math

from relvec._checks import check_choice, check_positive
from relvec.priors.base import Prior

CRITERIA = ("aic", "bic", "ric")
"""Information criteria that name a price."""


class SmoothnessPrior(Prior):
    """Prior ``exp(-c * df)``, with ``df`` the trace of the smoothing matrix.

    The smooth relevance vector machine (Schmolck and Everson, 2007) with the exact number
    of effective degrees of freedom. Under an orthonormal dictionary it keeps a coefficient
    when it exceeds ``sqrt(1 + 2 c)`` standard deviations of the noise. Use it for denoising
    and whenever atoms are to be selected: it stays sparse where the flat prior interpolates
    the noise. Unlike a Gamma prior it is unchanged when atoms or target are rescaled.

    Parameters
    ----------
    c : {"aic", "bic", "ric"} or float, default="bic"
        Price of one degree of freedom, in nats: 1 for "aic", ``log(n) / 2`` for "bic" and
        ``log(n)`` for "ric". With "aic" and a free noise level one noise coefficient in five
        is still kept: hold the noise, or pay more. 0 is the flat prior.

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
    >>> SmoothnessPrior("aic").smoothness(100)
    1.0
    >>> round(SmoothnessPrior("bic").smoothness(100), 3)
    2.303
    >>> SmoothnessPrior(0.5).smoothness(100)
    0.5
    """

    def __init__(self, c: str | float = "bic") -> None:
        self.c = c

    def smoothness(self, n_samples: float) -> float:
        """Price ``c`` of one effective degree of freedom for `n_samples` observations."""
        if not isinstance(self.c, str):
            return check_positive("c", self.c, allow_zero=True, also=f"or one of {CRITERIA}")
        log_n = math.log(max(n_samples, 1.0))
        prices = {"aic": 1.0, "bic": 0.5 * log_n, "ric": log_n}
        return prices[check_choice("c", self.c, CRITERIA)]
