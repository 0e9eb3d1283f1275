"""Sparse Bayesian classification: with any basis, and with kernels at the training points."""

from __future__ import annotations

from relvec.estimators._classify import BaseSparseBayesClassifier
from relvec.estimators._fronts import BasisFront, KernelFront
from relvec.estimators._options import ClassificationOptions, MultiClassOptions, with_options

__all__ = ["RVMClassifier", "SparseBayesClassifier"]


@with_options
class SparseBayesClassifier(
    ClassificationOptions, MultiClassOptions, BasisFront, BaseSparseBayesClassifier
):
    """Sparse Bayesian classification on any basis.

    The log odds of a class are a sum of weighted atoms. Each weight has its own prior precision;
    maximising the evidence (in Laplace's approximation) over the precisions switches most atoms
    off. Every step is checked against the evidence itself, so the fit converges.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    relevance_ : ndarray of shape (n_relevant,)
        The relevant atoms: the training rows they are centred on, where all atoms are centred
        on training rows, else their columns in the dictionary.
    coef_ : ndarray of shape (n_logits, n_relevant)
        Most probable weights; one logit for two classes, else one for each.
    intercept_ : ndarray of shape (n_logits,)
    intercept_is_fitted_ : bool
        If not, it is the logit of the class shares, or zero.
    weight_precision_ : ndarray of shape (n_logits, n_relevant)
        Prior precision of each weight; infinite where a class does not use an atom.
    log_evidence_ : float
        Laplace approximation of the log marginal likelihood.
    objective_ : float
        What was maximised: the log evidence, the prior and the penalties of atoms included.
    trace_ : ndarray
        Objective after each accepted step. It never falls, except with "mackay" and "em".
    converged_ : bool
        Whether the search ended because no step it knows raises the objective.
    certificate_ : Certificate
        How far it ended from a local maximum: the largest derivative of the objective in a log
        precision, and the most that any atom left out would gain.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    RVMClassifier : Kernels at the training points, without building a basis.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesClassifier
    >>> from relvec.bases import LinearBasis
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(200, 20))
    >>> y = np.where(2.0 * X[:, 4] - 2.0 * X[:, 17] + rng.logistic(size=200) > 0, "yes", "no")
    >>> model = SparseBayesClassifier(LinearBasis()).fit(X, y)
    >>> model.atom_names()
    ['x4', 'x17']
    """


@with_options
class RVMClassifier(
    ClassificationOptions, MultiClassOptions, KernelFront, BaseSparseBayesClassifier
):
    """Relevance vector machine for classification.

    The log odds of a class are a sum of kernels centred on training inputs, of which a handful,
    the relevance vectors, are kept. Predictions are probabilities.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    relevance_ : ndarray of shape (n_relevant,)
        The relevant atoms: the training rows they are centred on, where all atoms are centred
        on training rows, else their columns in the dictionary.
    coef_ : ndarray of shape (n_logits, n_relevant)
        Most probable weights; one logit for two classes, else one for each.
    intercept_ : ndarray of shape (n_logits,)
    intercept_is_fitted_ : bool
        If not, it is the logit of the class shares, or zero.
    weight_precision_ : ndarray of shape (n_logits, n_relevant)
        Prior precision of each weight; infinite where a class does not use an atom.
    log_evidence_ : float
        Laplace approximation of the log marginal likelihood.
    objective_ : float
        What was maximised: the log evidence, the prior and the penalties of atoms included.
    trace_ : ndarray
        Objective after each accepted step. It never falls, except with "mackay" and "em".
    converged_ : bool
        Whether the search ended because no step it knows raises the objective.
    certificate_ : Certificate
        How far it ended from a local maximum: the largest derivative of the objective in a log
        precision, and the most that any atom left out would gain.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
    relevance_vectors_ : ndarray of shape (n_relevant, n_features)
        The relevance vectors themselves.
    length_scale_ : ndarray of shape (n_features,)
        Learnt length-scales in the units of the features, as in
        ``RBF(length_scale_)``; infinite for features left out.
        This and the next ones only if scales are learnt.
    feature_relevance_ : ndarray of shape (n_features,)
        The same in units of the standard deviation of each input. It says how fast the function
        bends along an input, which is not how much that explains.
    feature_gain_ : ndarray of shape (n_features,)
        Log evidence that each input brings to the process: how much it explains.
    kernel_ : Kernel
        The kernel, as it was learnt or given; not with ``kernel="precomputed"``.
    model_kind_, feature_relevance_path_, feature_relevance_path_objective_
        "ard", "isotropic" or "kernel"; "linear" if there are more than 100 inputs and held-out
        rows prefer a model linear in all of them, whose atoms are the directions in which rows
        differ; "none" or "null" if no input says anything, with and without vectors; relevance of
        all inputs after each step of the search, in which all climbs and trials are, and
        what was climbed.

    See Also
    --------
    SparseBayesClassifier : The same with any basis.
    PFCVMClassifier : Chooses inputs as well as samples.

    References
    ----------
    M. E. Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from relvec import RVMClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = RVMClassifier(gamma=2.0).fit(X, y)
    >>> len(model.relevance_) < 15, model.score(X, y) > 0.95
    (True, True)
    """
