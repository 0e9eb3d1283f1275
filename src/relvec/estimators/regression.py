"""Sparse Bayesian regression: with any basis, and with kernels at the training points."""

from __future__ import annotations

from typing import Any

from relvec.bases.base import Basis
from relvec.estimators._base import BaseSparseBayesRegressor
from relvec.estimators._fronts import AnyBasisMixin, KernelMixin


class SparseBayesRegressor(AnyBasisMixin, BaseSparseBayesRegressor):
    """Sparse Bayesian linear regression on any basis.

    The target is a sum of weighted atoms plus Gaussian noise. Each weight has its own prior
    precision; maximising the evidence over the precisions switches most atoms off. There is
    no regularisation to tune, and predictions are distributions.

    Parameters
    ----------
    basis : Basis, optional
        What the atoms are: `KernelBasis`, `LinearBasis`, `PolynomialBasis`, `FunctionBasis`,
        `PrecomputedBasis`, or sums of them. Default, `KernelBasis()`.
    prior : {"flat", "gamma", "laplace", "aic", "bic", "ric"} or Prior, default="flat"
        Prior of the precisions. "aic", "bic" and "ric" charge for effective degrees of freedom
        and give sparser models; "laplace" shrinks all weights, for many weak effects
        in explicit columns.
    solver : {"auto", "sequential", "mackay", "em", "textbook", "random_order", "orthonormal"} \
or Solver, default="auto"
        "sequential" is the fast one, "mackay" and "em" are Tipping's (2001) fixed points from
        all atoms, "textbook" is Tipping and Faul's (2003) sequence of single steps, "random_order"
        the same in random order; "orthonormal" insists on the closed form of orthonormal bases.
    effort : {"fast", "balanced", "thorough"}, default="balanced"
        How hard the sequential solver looks for a better maximum of the evidence.
    noise_variance : float, optional
        Hold the noise variance at this value; default, estimate it.
    scales : {"ard", "isotropic", "kernel", "auto"}, ScaleLearner or None, default=None
        Learn on which scales inputs matter to the one `KernelBasis` of `basis`, by the evidence of
        a Gaussian process; see `RVMRegressor`. "auto" does if its kernel is a name and its gamma
        was left alone.
    fit_intercept : bool, default=True
        Include an intercept with a flat prior.
    min_gain : float or "auto", default="auto"
        Log-evidence an atom must bring to be kept. "auto" asks next to nothing of kernels and
        the logarithm of their number of explicit columns, which keeps null columns out.
    error_bars : {"novelty", "plain", "augmented"}, default="novelty"
        What predictive variances contain away from the training inputs: "plain" is the
        posterior alone, which is over-confident there; "novelty" adds the variance of a
        process with the same kernel, known at a few stored inputs; "augmented" is RVM*, which
        also changes the mean and keeps the training inputs (without noise to speak of it is
        not computable, and "novelty" takes its place).
    low_memory : bool or "auto", default="auto"
        Never store the dictionary at the training inputs; evaluate it again when needed.
        "auto" does so above one gigabyte.
    warm_start : bool, default=False
        Start from the atoms of the previous fit.
    random_state : int, RandomState instance or None, default=None
        For bases that choose centres by chance.

    Attributes
    ----------
    relevance_ : ndarray of shape (n_relevant,)
        The relevant atoms: the training rows they are centred on, where all atoms are centred
        on training rows, else their columns in the dictionary.
    coef_ : ndarray of shape (n_relevant,) or (n_outputs, n_relevant)
        Posterior mean of their weights.
    intercept_ : float or ndarray of shape (n_outputs,)
    weight_precision_ : ndarray of the shape of `coef_`
        Prior precision of each weight (alpha in Tipping's papers).
    weight_covariance_ : ndarray of shape (n_relevant, n_relevant)
        Posterior covariance of the weights.
    noise_variance_ : float or ndarray of shape (n_outputs,)
    log_evidence_ : float or ndarray of shape (n_outputs,)
        Log marginal likelihood; with an intercept, of the n - 1 contrasts free of it.
    objective_ : float or ndarray of shape (n_outputs,)
        What was maximised: the log evidence, the prior and the prices of atoms included.
    effective_dof_ : float or ndarray of shape (n_outputs,)
        Effective degrees of freedom of the fit, the intercept included.
    prior_rate_ : float or ndarray of shape (n_outputs,)
        Rate of a Laplace prior, learnt or given; zero for other priors.
    well_determined_ : ndarray of shape (n_relevant,)
        How far the data fix each weight, between 0 and 1.
    saturated_ : bool or ndarray of shape (n_outputs,)
        Whether the cap on atoms was reached; the noise level is then not identified.
    converged_ : bool or ndarray of shape (n_outputs,)
    candidates_ : tuple
        The maxima that were compared, best first.
    components_ : tuple of Component
        What each basis of a sum does: name, atoms offered and kept, effective degrees of freedom,
        share of the target's variance. `predict_components` gives their contributions.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    RVMRegressor : Kernels at the training points, without building a basis.
    DRVMRegressor : Chooses samples and inputs together.

    Examples
    --------
    Which of fifty inputs matter?

    >>> import numpy as np
    >>> from relvec import SparseBayesRegressor
    >>> from relvec.bases import LinearBasis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 50))
    >>> y = 3.0 * X[:, 4] - 2.0 * X[:, 17] + rng.normal(size=100)
    >>> model = SparseBayesRegressor(LinearBasis()).fit(X, y)
    >>> model.atom_names()
    ['x4', 'x17']
    """

    def __init__(
        self,
        basis: Basis | None = None,
        *,
        scales: Any = None,
        prior: Any = "flat",
        solver: Any = "auto",
        effort: str = "balanced",
        noise_variance: float | None = None,
        fit_intercept: bool = True,
        min_gain: float | str = "auto",
        error_bars: str = "novelty",
        low_memory: bool | str = "auto",
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.scales = scales
        self.prior = prior
        self.solver = solver
        self.effort = effort
        self.noise_variance = noise_variance
        self.fit_intercept = fit_intercept
        self.min_gain = min_gain
        self.error_bars = error_bars
        self.low_memory = low_memory
        self.warm_start = warm_start
        self.random_state = random_state


class RVMRegressor(KernelMixin, BaseSparseBayesRegressor):
    """Relevance vector machine for regression.

    A sum of kernels centred on training inputs, of which a handful, the relevance vectors,
    are kept. No regularisation to tune; predictions come with error bars.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        "rbf", "laplacian", "matern32", "matern52", "rational_quadratic", "polynomial",
        "linear", "sigmoid", "cosine", "linear_spline", "thin_plate_spline" or "precomputed"; a
        kernel of `sklearn.gaussian_process.kernels` (without WhiteKernel); or a function
        ``k(X, Z)``. It need not be positive definite. With "precomputed", `X` is the kernel
        matrix between inputs and training inputs, in fit and in predict.
    gamma : "scale", "auto" or positive number, default="scale"
        Inverse squared width of a named kernel, as in ``exp(-gamma |x - z|^2)``. If it is given,
        scales are not learnt by default: scale the columns of `X` first if their units differ.
        Where no scales are learnt, "scale" is ``1 / (n_features * X.var())``.
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial and sigmoid kernels.
    scales : {"auto", "ard", "isotropic", "kernel"}, ScaleLearner or None, default="auto"
        Learn on which scales inputs matter, by the evidence of a Gaussian process on at most 500
        rows, and leave out those that do not: one for each input ("ard"), or one width for all,
        each in units of its standard deviation ("isotropic"); `gamma` is then not used. "auto" is
        whichever of the two has more evidence for its parameters, if `kernel` is a name
        of one that decays and `gamma` was left alone. "kernel" learns the free parameters of a
        kernel object. None takes the kernel as it is.
    centers : "all", int or array-like of shape (n_centers, n_features), default="all"
        Where kernels may be centred: all training inputs, that many of them, or these points.
    center_method : {"kmeans++", "random", "grid"}, default="kmeans++"
        How a number of centres is chosen.
    prior : {"flat", "gamma", "laplace", "aic", "bic", "ric"} or Prior, default="flat"
        "bic" and "ric" charge for effective degrees of freedom: sparser models. "laplace"
        shrinks all weights, which seldom suits kernels.
    solver : {"auto", "sequential", "mackay", "em", "textbook", "random_order", "orthonormal"} \
or Solver, default="auto"
        The fast certified search, or one of the published algorithms.
    effort : {"fast", "balanced", "thorough"}, default="balanced"
        How hard the search looks for a better maximum of the evidence.
    noise_variance : float, optional
        Hold the noise variance; default, estimate it.
    fit_intercept : bool, default=True
        Include an intercept with a flat prior.
    min_gain : float or "auto", default="auto"
        Log-evidence a kernel must bring to be kept; "auto" asks next to nothing.
    error_bars : {"novelty", "plain", "augmented"}, default="novelty"
        What predictive variances contain away from the training inputs; see
        `SparseBayesRegressor`.
    low_memory : bool or "auto", default="auto"
        Never store the kernel matrix; "auto" does so above one gigabyte.
    warm_start : bool, default=False
        Start from the relevance vectors of the previous fit.
    random_state : int, RandomState instance or None, default=None
        For centres that are chosen by chance.

    Attributes
    ----------
    relevance_ : ndarray of shape (n_relevant,)
        Training rows of the relevance vectors.
    relevance_vectors_ : ndarray of shape (n_relevant, n_features)
        The relevance vectors themselves.
    coef_, intercept_, weight_precision_, weight_covariance_, noise_variance_, log_evidence_, \
objective_, effective_dof_, prior_rate_, well_determined_, saturated_, converged_, candidates_, \
n_iter_, n_features_in_, feature_names_in_
        As in `SparseBayesRegressor`.
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
    SparseBayesRegressor : The same with any basis.
    DRVMRegressor : Chooses inputs as well as samples.

    References
    ----------
    M. E. Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-10, 10, size=(100, 1))
    >>> y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=100)
    >>> model = RVMRegressor(gamma=1 / 9).fit(X, y)
    >>> len(model.relevance_)
    3
    >>> mean, std = model.predict([[0.0], [30.0]], return_std=True)
    >>> bool(std[1] > 2 * std[0])  # far from the data the model says that it does not know
    True
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
        solver: Any = "auto",
        effort: str = "balanced",
        noise_variance: float | None = None,
        fit_intercept: bool = True,
        min_gain: float | str = "auto",
        error_bars: str = "novelty",
        low_memory: bool | str = "auto",
        warm_start: bool = False,
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
        self.solver = solver
        self.effort = effort
        self.noise_variance = noise_variance
        self.fit_intercept = fit_intercept
        self.min_gain = min_gain
        self.error_bars = error_bars
        self.low_memory = low_memory
        self.warm_start = warm_start
        self.random_state = random_state
