"""Sparse Bayesian classification: with any basis, and with kernels at the training points."""

from __future__ import annotations

from typing import Any

from relvec.bases.base import Basis
from relvec.estimators._classify import BaseSparseBayesClassifier
from relvec.estimators._fronts import AnyBasisMixin, KernelMixin

__all__ = ["RVMClassifier", "SparseBayesClassifier"]


class SparseBayesClassifier(AnyBasisMixin, BaseSparseBayesClassifier):
    """Sparse Bayesian classification on any basis.

    The log odds of a class are a sum of weighted atoms. Each weight has its own prior precision;
    maximising the evidence (in Laplace's approximation) over the precisions switches most atoms
    off. Every step is checked against the evidence itself, so the fit converges.

    Parameters
    ----------
    basis : Basis, optional
        What the atoms are: `KernelBasis`, `LinearBasis`, `PolynomialBasis`, `FunctionBasis`,
        `PrecomputedBasis`, or sums of them. Default, `KernelBasis()`.
    prior : {"flat", "aic", "bic", "ric"} or Prior, default="flat"
        "aic", "bic" and "ric" charge for effective degrees of freedom, which are fewer then; with
        kernels, models are sparser.
    multi_class : {"softmax", "shared", "one_vs_rest"}, default="softmax"
        How more than two classes are told apart: by one model in which every class has atoms of
        its own, by one in which all classes share them, or by one machine for each class.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as elsewhere in scikit-learn.
    solver : {"auto", "sequential", "exact", "mackay", "em"} or a solver, default="auto"
        "sequential" takes steps at fixed curvature, each checked on the Laplace evidence;
        "exact" goes on from there with exact derivatives to a local maximum, which is slower and
        seldom better in prediction; "mackay" and "em" start from all atoms, as in 2001.
        The last three are for machines of two classes. "auto" is "sequential", or "mackay"
        under a Gamma prior, with which atoms cannot be switched off.
    price_curvature : {"bound", "model"}, default="bound"
        Where degrees of freedom are counted if they have a price: at the largest curvature of
        the likelihood, which makes the price a prior, or at that of the model (Schmolck).
    scales : {"ard", "isotropic", "kernel", "auto"}, ScaleLearner or None, default=None
        Learn on which scales inputs matter to the one `KernelBasis` of `basis`, by the evidence of
        a Gaussian process; see `RVMClassifier`. "auto" does if its kernel is a name and its gamma
        was left alone.
    fit_intercept : bool or "auto", default="auto"
        Whether to fit an intercept, with a flat prior. "auto" does unless all atoms are kernels
        that decay within the data: logits far from all data are then those of the shares of the
        classes, so that no class is the background against which others stand out.
    min_gain : float or "auto", default="auto"
        Log-evidence an atom must bring to be kept. "auto" asks next to nothing of kernels and,
        under the flat prior, of explicit columns the logarithm of their number.
    largest_logit : float, default=100.0
        Bound on the prior standard deviation of what one atom adds to a logit. Separable
        classes would ask for more and more; 10 gives more cautious probabilities and more atoms.
    error_bars : {"novelty", "plain"}, default="novelty"
        Whether logits are more uncertain away from the training inputs than the posterior of the
        weights says. Probabilities take that into account if the intercept is fitted; if not,
        they fall back to the shares of the classes by themselves.
    low_memory : bool or "auto", default="auto"
        Never store the atoms at the training inputs; "auto" does so above one gigabyte, or above
        64 megabytes if there are few inputs, so that kernels are cheap.
    random_state : int, RandomState instance or None, default=None
        For centres that are chosen by chance.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    relevance_ : ndarray of shape (n_relevant,)
        The relevant atoms: the training rows they are centred on, where all atoms are centred
        on training rows, else their columns in the dictionary.
    coef_ : ndarray of shape (n_logits, n_relevant)
        Posterior mean of the weights; one logit for two classes, else one for each.
    intercept_ : ndarray of shape (n_logits,)
    intercept_is_fitted_ : bool
        If not, it is the logit of the class shares, or zero.
    weight_precision_ : ndarray of shape (n_logits, n_relevant)
        Prior precision of each weight; infinite where a class does not use an atom.
    log_evidence_ : float
        Laplace approximation of the log marginal likelihood.
    objective_ : float
        What was maximised: the log evidence, the prior and the prices of atoms included.
    trace_ : ndarray
        Objective after each accepted step. It never falls, except with "mackay" and "em".
    converged_ : bool
        Whether the search ended because no step it knows raises the objective.
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

    def __init__(
        self,
        basis: Basis | None = None,
        *,
        scales: Any = None,
        prior: Any = "flat",
        multi_class: str = "softmax",
        class_weight: Any = None,
        solver: Any = "auto",
        price_curvature: str = "bound",
        fit_intercept: bool | str = "auto",
        min_gain: float | str = "auto",
        largest_logit: float = 100.0,
        error_bars: str = "novelty",
        low_memory: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.scales = scales
        self.prior = prior
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.solver = solver
        self.price_curvature = price_curvature
        self.fit_intercept = fit_intercept
        self.min_gain = min_gain
        self.largest_logit = largest_logit
        self.error_bars = error_bars
        self.low_memory = low_memory
        self.random_state = random_state


class RVMClassifier(KernelMixin, BaseSparseBayesClassifier):
    """Relevance vector machine for classification.

    The log odds of a class are a sum of kernels centred on training inputs, of which a handful,
    the relevance vectors, are kept. Predictions are probabilities.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in `RVMRegressor`.
    gamma : "scale", "auto" or positive number, default="scale"
        Inverse squared width of a named kernel, as in ``exp(-gamma |x - z|^2)``. If it is given,
        scales are not learnt by default.
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial and sigmoid kernels.
    scales : {"auto", "ard", "isotropic", "kernel"}, ScaleLearner or None, default="auto"
        Learn on which scales inputs matter, by the evidence of a Gaussian process on at most 300
        rows, and leave out those that do not: one for each input ("ard"), or one width for all,
        each in units of its standard deviation ("isotropic"); `gamma` is then not used. "auto" is
        whichever of the two has more evidence for its parameters, if `kernel` is a name
        of one that decays and `gamma` was left alone. "kernel" learns the free parameters of a
        kernel object. None takes the kernel as it is.
    centers : "all", int or array-like of shape (n_centers, n_features), default="all"
        Where kernels may be centred.
    center_method : {"kmeans++", "random", "grid"}, default="kmeans++"
        How a number of centres is chosen.
    prior : {"flat", "aic", "bic", "ric"} or Prior, default="flat"
        "aic", "bic" and "ric" charge for effective degrees of freedom, which are fewer then; with
        kernels, models are sparser.
    multi_class : {"softmax", "shared", "one_vs_rest"}, default="softmax"
        How more than two classes are told apart: by one model in which every class has atoms of
        its own, by one in which all classes share them, or by one machine for each class.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as elsewhere in scikit-learn.
    solver : {"auto", "sequential", "exact", "mackay", "em"} or a solver, default="auto"
        "sequential" takes steps at fixed curvature, each checked on the Laplace evidence;
        "exact" goes on from there with exact derivatives to a local maximum, which is slower and
        seldom better in prediction; "mackay" and "em" start from all atoms, as in 2001.
        The last three are for machines of two classes. "auto" is "sequential", or "mackay"
        under a Gamma prior, with which atoms cannot be switched off.
    price_curvature : {"bound", "model"}, default="bound"
        Where degrees of freedom are counted if they have a price: at the largest curvature of
        the likelihood, which makes the price a prior, or at that of the model (Schmolck).
    fit_intercept : bool or "auto", default="auto"
        Whether to fit an intercept, with a flat prior. "auto" does unless all atoms are kernels
        that decay within the data: logits far from all data are then those of the shares of the
        classes, so that no class is the background against which others stand out.
    min_gain : float or "auto", default="auto"
        Log-evidence an atom must bring to be kept. "auto" asks next to nothing of kernels and,
        under the flat prior, of explicit columns the logarithm of their number.
    largest_logit : float, default=100.0
        Bound on the prior standard deviation of what one atom adds to a logit. Separable
        classes would ask for more and more; 10 gives more cautious probabilities and more atoms.
    error_bars : {"novelty", "plain"}, default="novelty"
        Whether logits are more uncertain away from the training inputs than the posterior of the
        weights says. Probabilities take that into account if the intercept is fitted; if not,
        they fall back to the shares of the classes by themselves.
    low_memory : bool or "auto", default="auto"
        Never store the atoms at the training inputs; "auto" does so above one gigabyte, or above
        64 megabytes if there are few inputs, so that kernels are cheap.
    random_state : int, RandomState instance or None, default=None
        For centres that are chosen by chance.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    relevance_ : ndarray of shape (n_relevant,)
        The relevant atoms: the training rows they are centred on, where all atoms are centred
        on training rows, else their columns in the dictionary.
    coef_ : ndarray of shape (n_logits, n_relevant)
        Posterior mean of the weights; one logit for two classes, else one for each.
    intercept_ : ndarray of shape (n_logits,)
    intercept_is_fitted_ : bool
        If not, it is the logit of the class shares, or zero.
    weight_precision_ : ndarray of shape (n_logits, n_relevant)
        Prior precision of each weight; infinite where a class does not use an atom.
    log_evidence_ : float
        Laplace approximation of the log marginal likelihood.
    objective_ : float
        What was maximised: the log evidence, the prior and the prices of atoms included.
    trace_ : ndarray
        Objective after each accepted step. It never falls, except with "mackay" and "em".
    converged_ : bool
        Whether the search ended because no step it knows raises the objective.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
    relevance_vectors_ : ndarray of shape (n_relevant, n_features)
        The relevance vectors themselves.
    input_scale_ : ndarray of shape (n_features,)
        Learnt scales, as in ``exp(-sum(input_scale_ * (x - z)**2))``; zero for inputs left out.
        This and the next ones only if scales are learnt.
    feature_relevance_ : ndarray of shape (n_features,)
        The same in units of the standard deviation of each input. It says how fast the function
        bends along an input, which is not how much that explains.
    feature_gain_ : ndarray of shape (n_features,)
        Log evidence that each input brings to the process: how much it explains.
    kernel_ : Kernel
        The learnt kernel. This only if scales, or the parameters of a kernel, are learnt.
    scale_kind_, scale_path_, scale_path_objective_
        "ard", "isotropic" or "kernel"; relevance of all inputs after each step of the search, in
        which all climbs and trials are, and what was climbed.

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

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        scales: Any = "auto",
        centers: Any = "all",
        center_method: str = "kmeans++",
        prior: Any = "flat",
        multi_class: str = "softmax",
        class_weight: Any = None,
        solver: Any = "auto",
        price_curvature: str = "bound",
        fit_intercept: bool | str = "auto",
        min_gain: float | str = "auto",
        largest_logit: float = 100.0,
        error_bars: str = "novelty",
        low_memory: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.scales = scales
        self.centers = centers
        self.center_method = center_method
        self.prior = prior
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.solver = solver
        self.price_curvature = price_curvature
        self.fit_intercept = fit_intercept
        self.min_gain = min_gain
        self.largest_logit = largest_logit
        self.error_bars = error_bars
        self.low_memory = low_memory
        self.random_state = random_state
