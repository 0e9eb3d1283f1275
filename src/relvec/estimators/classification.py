"""Sparse Bayesian classification: any basis, or kernels centred on training inputs."""

from __future__ import annotations

from relvec.estimators._basis_options import BasisOptions, KernelOptions
from relvec.estimators._classify import BaseSparseBayesClassifier
from relvec.estimators._options import ClassificationOptions, MultiClassOptions, with_options

__all__ = ["RVMClassifier", "SparseBayesClassifier"]


@with_options
class SparseBayesClassifier(
    ClassificationOptions, MultiClassOptions, BasisOptions, BaseSparseBayesClassifier
):
    """Sparse Bayesian classification with any basis functions.

    The logit of a class is a weighted sum of basis functions, also called atoms. Every weight has
    a Gaussian prior with its own precision (Tipping 2001, eq. 5). Maximising the Laplace
    approximation of the evidence, also called the marginal likelihood, over these precisions
    removes most basis functions. The default solver accepts a step only if the evidence
    rises, so the fit converges.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    relevance_ : ndarray of shape (n_relevant,)
        Basis functions in the model: indices of the training rows on which they are centred, or,
        if some are not centred on training rows, their columns in the basis matrix.
    coef_ : ndarray of shape (n_logits, n_relevant)
        Most probable weights, the mode of the posterior. There is one logit for two classes, else
        one for each class.
    intercept_ : ndarray of shape (n_logits,)
        Intercept of each logit.
    intercept_is_fitted_ : bool
        Whether the intercept was fitted. If not, it is the logit of the class prior, or zero with
        ``fit_intercept=False``.
    weight_precision_ : ndarray of shape (n_logits, n_relevant)
        Prior precision of each weight, alpha (Tipping 2001, eq. 5); infinite where a logit does
        not use a basis function.
    log_evidence_ : float
        Laplace approximation of the log evidence (marginal likelihood), in nats; the sum over
        binary models with "one_vs_rest".
    objective_ : float
        Maximised objective in nats: log evidence plus log prior less the penalties `min_gain`.
    trace_ : ndarray of shape (n_steps,)
        Objective after each accepted step. It never decreases, except with "mackay" and "em".
    converged_ : bool
        Whether the solver converged: no step that it can take increases the objective.
    certificate_ : Certificate
        How nearly the solution satisfies the optimality conditions of a local maximum: the largest
        derivative of the objective with respect to a log precision, and the largest gain of a
        basis function that is not in the model, both in nats.
    n_iter_ : int
        Number of iterations of the solver.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has names that are all strings.

    See Also
    --------
    RVMClassifier : Kernels centred on training inputs.

    References
    ----------
    M. E. Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1.

    D. J. C. MacKay (1992), The evidence framework applied to classification networks, Neural
    Computation 4.

    A. Schmolck (2008), Smooth relevance vector machines, PhD thesis, University of Exeter.

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
    ClassificationOptions, MultiClassOptions, KernelOptions, BaseSparseBayesClassifier
):
    """Relevance vector machine for classification.

    The logit of a class is a weighted sum of kernels centred on training inputs. Every weight has a
    Gaussian prior with its own precision (Tipping 2001, eq. 5). Maximising the Laplace
    approximation of the evidence, also called the marginal likelihood, over these precisions keeps
    few kernels; their centres are the relevance vectors. Predictions are probabilities,
    marginalised over the weights.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    relevance_ : ndarray of shape (n_relevant,)
        Basis functions in the model: indices of the training rows on which they are centred, or,
        if some are not centred on training rows, their columns in the basis matrix.
    relevance_vectors_ : ndarray of shape (n_relevant, n_features)
        Relevance vectors: the centres of the kernels in the model.
    coef_ : ndarray of shape (n_logits, n_relevant)
        Most probable weights, the mode of the posterior. There is one logit for two classes, else
        one for each class.
    intercept_ : ndarray of shape (n_logits,)
        Intercept of each logit.
    intercept_is_fitted_ : bool
        Whether the intercept was fitted. If not, it is the logit of the class prior, or zero with
        ``fit_intercept=False``.
    weight_precision_ : ndarray of shape (n_logits, n_relevant)
        Prior precision of each weight, alpha (Tipping 2001, eq. 5); infinite where a logit does
        not use a basis function.
    log_evidence_ : float
        Laplace approximation of the log evidence (marginal likelihood), in nats; the sum over
        binary models with "one_vs_rest".
    objective_ : float
        Maximised objective in nats: log evidence plus log prior less the penalties `min_gain`.
    trace_ : ndarray of shape (n_steps,)
        Objective after each accepted step. It never decreases, except with "mackay" and "em".
    converged_ : bool
        Whether the solver converged: no step that it can take increases the objective.
    certificate_ : Certificate
        How nearly the solution satisfies the optimality conditions of a local maximum: the largest
        derivative of the objective with respect to a log precision, and the largest gain of a
        basis function that is not in the model, both in nats.
    n_iter_ : int
        Number of iterations of the solver.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has names that are all strings.
    length_scale_ : ndarray of shape (n_features,)
        Learnt length-scale of each feature, in its own units, as in ``RBF(length_scale_)``;
        infinite for features that were removed. This attribute and those below except `kernel_`
        exist only if length-scales are learnt.
    feature_relevance_ : ndarray of shape (n_features,)
        Input scale (eta of Tipping 2001, eq. 52; ``1 / (2 length_scale_^2)`` for an RBF kernel)
        times the variance of the feature; zero for features that were removed. It measures how fast
        the function varies along a feature, not how much the feature explains.
    feature_gain_ : ndarray of shape (n_features,)
        Gain in log evidence of the Gaussian process by each feature, in nats: how much it explains.
    kernel_ : Kernel
        Kernel of the model, learnt or given; not available with ``kernel="precomputed"``.
    model_kind_ : {"ard", "isotropic", "kernel", "linear", "none", "null"}
        Model that was selected: kernels with one length-scale for each feature, with one for all,
        or with learnt parameters; "linear" if there are more than 100 features and held-out rows
        favour a linear model of all of them, whose basis functions are the principal directions of
        the training inputs; "none" (with kernels) or "null" (without) if no feature is found to be
        related to the classes.
    feature_relevance_path_ : ndarray of shape (n_steps, n_features)
        `feature_relevance_` after each step of the search for length-scales.
    feature_relevance_path_objective_ : ndarray of shape (n_steps,)
        Objective of the search after each step, in nats; NaN where it is not comparable.

    See Also
    --------
    SparseBayesClassifier : The same model with any basis.
    PFCVMClassifier : Feature selection together with the selection of relevance vectors.

    References
    ----------
    M. E. Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1.

    D. J. C. MacKay (1992), The evidence framework applied to classification networks, Neural
    Computation 4.

    A. Schmolck (2008), Smooth relevance vector machines, PhD thesis, University of Exeter.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from relvec import RVMClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = RVMClassifier(gamma=2.0).fit(X, y)
    >>> len(model.relevance_) < 15, model.score(X, y) > 0.95
    (True, True)
    """
