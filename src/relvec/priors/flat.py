"""No opinion: every precision is equally likely on a logarithmic scale."""

from __future__ import annotations

from relvec.priors.base import Prior


class FlatPrior(Prior):
    """Flat prior over log precisions: plain evidence maximisation.

    The prior of Tipping and Faul (2003). Use it with kernel dictionaries, where atoms are
    many, similar and individually meaningless. It does not select variables consistently:
    an atom unrelated to the target enters with probability 0.32, so prefer
    `SmoothnessPrior` (or a positive ``min_gain``) when the atoms have a meaning of their own.

    See Also
    --------
    SmoothnessPrior : Charges for effective degrees of freedom.
    GammaPrior : Keeps every atom, with a proper density over its precision.

    References
    ----------
    Tipping and Faul (2003), Fast marginal likelihood maximisation for sparse Bayesian
    models, AISTATS.

    Examples
    --------
    >>> from relvec.priors import FlatPrior
    >>> FlatPrior().smoothness(100)
    0.0
    >>> FlatPrior().hyperprior()
    GammaHyperprior(shape=0.0, rate=0.0, noise_shape=0.0, noise_rate=0.0)
    """

    def smoothness(self, n_samples: float) -> float:
        """Price of one effective degree of freedom: nothing."""
        return 0.0
