"""Gamma densities over the precisions, as in the first relevance vector machine."""

from __future__ import annotations

from relvec._checks import check_positive
from relvec.priors.base import GammaHyperprior, Prior


class GammaPrior(Prior):
    """Gamma prior over the precisions of the weights and of the noise.

    The hierarchical prior of Tipping (2001, eq. 5-6), whose marginal over a weight is a
    Student t density. It adds ``shape * log(alpha) - rate * alpha`` for every atom, with
    ``alpha`` the precision of the raw weight, and the like for the precision of the noise,
    to the log evidence.

    A positive `rate` gives an infinite precision zero density: no atom can be deleted, and
    the model is shrunk but not sparse. Use it to reproduce results obtained with such
    hyper-parameters, or to state what is known of the noise; for sparsity use `FlatPrior` or
    `SmoothnessPrior`. It depends on the units of the atoms and of the target.

    Parameters
    ----------
    shape, rate : float, default=1e-4
        Of the precision of each weight. The mode, in log precision, is ``shape / rate``.
    noise_shape, noise_rate : float, default=1e-4
        Of the precision of the noise.

    See Also
    --------
    FlatPrior : The limit of zero shapes and rates, where atoms can be deleted.

    References
    ----------
    Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1.

    Examples
    --------
    >>> from relvec.priors import GammaPrior
    >>> GammaPrior(shape=0.0, rate=0.0, noise_shape=2.0, noise_rate=0.5).hyperprior()
    GammaHyperprior(shape=0.0, rate=0.0, noise_shape=2.0, noise_rate=0.5)
    """

    def __init__(
        self,
        shape: float = 1e-4,
        rate: float = 1e-4,
        noise_shape: float = 1e-4,
        noise_rate: float = 1e-4,
    ) -> None:
        self.shape = shape
        self.rate = rate
        self.noise_shape = noise_shape
        self.noise_rate = noise_rate

    def smoothness(self, n_samples: float) -> float:
        """Price of one effective degree of freedom: nothing."""
        return 0.0

    def hyperprior(self) -> GammaHyperprior:
        """Return the shapes and rates, after checking that they define a density.

        Raises
        ------
        ValueError
            If one is negative or not finite, or if `shape` is positive and `rate` zero:
            every precision would then be pushed to infinity.
        """
        for name, value in self.get_params(deep=False).items():
            check_positive(name, value, allow_zero=True)
        if self.shape > 0 and self.rate == 0:
            raise ValueError(
                f"GammaPrior(shape={self.shape!r}, rate=0) has no maximum: it pushes every "
                "precision to infinity. Give a positive rate, or shape=0."
            )
        return GammaHyperprior(
            float(self.shape), float(self.rate), float(self.noise_shape), float(self.noise_rate)
        )
