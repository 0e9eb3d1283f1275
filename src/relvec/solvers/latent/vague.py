"""Where the Laplace evidence of several classes is not to be believed."""

from __future__ import annotations

import numpy as np

from relvec.laplace.mode import Mode
from relvec.laplace.pairs import PairDesign
from relvec.likelihoods.base import BoundLikelihood
from relvec.likelihoods.bernoulli import moderate
from relvec.likelihoods.softmax import BoundSoftmax

__all__ = ["averaged_log_density", "is_vague"]


def is_vague(
    mode: Mode,
    likelihood: BoundLikelihood,
    *,
    intercept_excess: float = 1.5,
    fit_excess: float = 0.1,
) -> bool:
    """Tell whether the evidence claims more than the Gaussian around the mode explains.

    Parameters
    ----------
    mode : Mode
        Of several classes: with one latent function the excess was found to be mild, and the
        evidence always is believed. So is that of the model without atoms.
    likelihood : BoundLikelihood
        The data.
    intercept_excess : float, default=1.5
        Nats per free intercept by which the evidence may exceed the averaged fit. Its prior is
        flat, with density one, so that a posterior of variance ``v`` adds ``log(2 pi v) / 2``: 0.9
        for a class of a single row. Averaging takes something off the fit, too.
    fit_excess : float, default=0.1
        Further nats, as a share of those that the model without atoms leaves to be explained.
        Sound models of separable classes were found to have up to 0.09, vague ones 0.11 to 0.8.

    Notes
    -----
    Given all labels ``t``, each is at least as probable as given the others: by the inequality
    of Cauchy and Schwarz ``p(t_i | t) >= p(t_i | t without t_i)``. So log evidence should not
    exceed by much the sum of ``log p(t_i | t)``, the fit averaged over the posterior. Where a
    few atoms of huge prior variance separate the classes, it does: at the mode all rows are
    saturated and have no curvature, so that volume costs nothing, and that of the intercepts,
    whose prior is flat, even adds to the evidence; averaged over that volume, predictions are
    vague. Laplace's approximation does not hold there, and its evidence, which may be
    positive, is no reason to go there.
    """
    if not mode.n_atoms or not isinstance(likelihood, BoundSoftmax):
        return False
    n_intercepts = len(mode.weights) - mode.n_atoms
    allowed = intercept_excess * n_intercepts - fit_excess * likelihood.null_log_density
    return mode.log_evidence > averaged_log_density(mode, likelihood) + allowed


def averaged_log_density(mode: Mode, likelihood: BoundSoftmax) -> float:
    """Log probability of each row's class, averaged over the weights, added up.

    By pairs of a row's own class with another, as if each were a logistic model whose logit
    is normal (MacKay, 1992).
    """
    design, rows, classes = mode.design, np.arange(len(mode.latent)), likelihood.classes
    assert isinstance(design, PairDesign)
    own = np.zeros_like(mode.latent)
    own[rows, classes] = 1.0
    shared = design.within(design.expected(own) @ mode.covariance)
    variance = design.variances(mode.covariance) - 2.0 * shared
    variance += shared[rows, classes, None]
    ahead = mode.latent - mode.latent[rows, classes, None]
    moderated = moderate(ahead, np.maximum(variance, 0.0))
    moderated[rows, classes] = 0.0
    return likelihood.total_log_density(moderated)
