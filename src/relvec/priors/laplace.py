"""An exponential density over prior variances, which makes that of the weights Laplace."""

from __future__ import annotations

from relvec._checks import check_positive
from relvec.priors.base import Prior, RateHyperprior


class LaplacePrior(Prior):
    """Laplace prior over the weights: the Bayesian lasso with precisions maximised.

    The hierarchy of Park and Casella (2008), as used by Babacan et al. (2010) and Helgøy and Li
    (2019): ``w_i ~ N(0, gamma_i sigma^2)`` with ``gamma_i ~ Exp(rate / 2)``. Integrated over
    ``gamma_i``, a weight has density ``sqrt(rate) / (2 sigma) exp(-sqrt(rate) |w_i| / sigma)``.
    To the log evidence it adds ``-rate / 2 * sum(gamma)``. An atom is kept if it stands out by
    ``1 + rate`` variances of the noise (by more than one under the flat prior), and large weights
    are shrunk as well as small ones.

    Weights are those of centred atoms of unit norm and in units of the noise. The rate is
    therefore a pure number, and the model unchanged when atoms or target are rescaled.

    Parameters
    ----------
    rate : "auto" or float, default="auto"
        "auto" learns it, see the notes. 0 is the flat prior.
    shape, inverse_scale : float, default=1.0 and 0.1
        ``a`` and ``b`` of the density ``Gamma(a, b)`` of a rate that is learnt; its mean is
        ``a / b``. They matter when the data say that no atom is needed, which by itself would
        send the rate to infinity.

    See Also
    --------
    SmoothnessPrior : Removes weak atoms without shrinking strong ones.

    Notes
    -----
    *Where it helps.* In explicit columns with many weak effects, or with none, at a ``min_gain``
    near zero; their default price and a learnt rate together may leave nothing of weak effects.
    For a few strong effects, and for kernels, the flat prior predicted better in all our trials:
    weights of kernels are large and of either sign, and a prior on their size costs fit. When
    the noise is estimated, prior and noise push each other: smaller weights leave more to the
    noise, in units of which they then look smaller still. Helgøy and Li hold the noise, and with
    it held less is lost.

    *How the rate is learnt.* The papers maximise the joint density of the rate and of all ``M``
    variances, which gives ``rate = 2 (M + a - 1) / (sum(gamma) + 2 b)``. With that rate put in,
    the density is the evidence times ``(sum(gamma) + 2 b)^-(M + a - 1)``. For ``b = 0`` this is
    unbounded at ``gamma = 0`` whatever the data, because every atom left out counts as a variance
    seen to be zero; all our trials, strong signals among them, ended with the empty model.
    Here ``gamma_i`` in that rule is replaced by its expectation given the data and the rest of
    the model. An atom left out then has a positive variance, and one of which the data say
    nothing has the ``2 / rate`` of its prior, and no say. The rule becomes expectation
    maximisation of a product over atoms, the evidence of the rate in each; that product is
    bounded, so that any ``b > 0`` makes the rate finite.

    Model and rate are found in turns, beginning with the flat prior. The end is a fixed point; no
    single objective rises on the way to it. The papers' rules for ``a`` and ``b`` (a Gibbs
    sample, ``b = a / rate``) are left out.

    References
    ----------
    Park and Casella (2008), The Bayesian lasso, JASA 103.

    Babacan, Molina and Katsaggelos (2010), Bayesian compressive sensing using Laplace priors,
    IEEE Transactions on Image Processing 19.

    Helgøy and Li (2019), A noise-robust fast sparse Bayesian learning model, arXiv:1908.07220.

    Examples
    --------
    >>> from relvec.priors import LaplacePrior
    >>> LaplacePrior(0.5).laplace_rate()
    0.5
    >>> LaplacePrior().laplace_rate()
    RateHyperprior(shape=1.0, inverse_scale=0.1)
    """

    def __init__(
        self, rate: str | float = "auto", *, shape: float = 1.0, inverse_scale: float = 0.1
    ) -> None:
        self.rate = rate
        self.shape = shape
        self.inverse_scale = inverse_scale

    def smoothness(self, n_samples: float) -> float:
        """Price of one effective degree of freedom: nothing."""
        return 0.0

    def laplace_rate(self) -> float | RateHyperprior:
        """Return the rate, or the density of one that is to be learnt.

        Raises
        ------
        ValueError
            If a number is negative or not finite, or `shape` or `inverse_scale` zero.
        """
        shape = check_positive("shape", self.shape)
        inverse_scale = check_positive("inverse_scale", self.inverse_scale)
        if isinstance(self.rate, str) and self.rate == "auto":
            return RateHyperprior(shape, inverse_scale)
        return check_positive("rate", self.rate, allow_zero=True, also='or "auto"')
