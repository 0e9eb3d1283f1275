"""Sparse Bayesian regression: with any basis, and with kernels at the training points."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec.bases.base import Basis
from relvec.estimators._base import BaseSparseBayesRegressor
from relvec.estimators._fronts import BasisFront, KernelFront
from relvec.estimators._inputs import validate_inputs
from relvec.estimators._options import RegressionOptions, with_options
from relvec.estimators._plan import Data
from relvec.moments import SufficientStatistics

__all__ = ["RVMRegressor", "SparseBayesRegressor"]


@with_options
class SparseBayesRegressor(RegressionOptions, BasisFront, BaseSparseBayesRegressor):
    """Sparse Bayesian linear regression on any basis.

    The target is a sum of weighted atoms plus Gaussian noise. Each weight has its own prior
    precision; maximising the evidence over the precisions switches most atoms off. There is
    no regularisation to tune, and predictions are distributions.

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
        What was maximised: the log evidence, the prior and the penalties of atoms included.
    effective_dof_ : float or ndarray of shape (n_outputs,)
        Effective degrees of freedom of the fit, the intercept included.
    calibration_ : float or ndarray of shape (n_outputs,)
        Factor of noise and posterior covariance in predictions, from held-out rows.
    prior_rate_ : float or ndarray of shape (n_outputs,)
        Rate of a Laplace prior, learnt or given; zero for other priors.
    well_determined_ : ndarray of shape (n_relevant,)
        How far the data fix each weight, between 0 and 1.
    reached_max_active_ : bool or ndarray of shape (n_outputs,)
        Whether the cap on atoms was reached; the noise level is then not identified.
    converged_ : bool or ndarray of shape (n_outputs,)
    certificate_ : Certificate or list of it
        How far the search ended from a local maximum: the largest derivative of the objective in a
        log precision, and the most that any atom left out would gain.
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

    @classmethod
    def from_moments(
        cls, moments: SufficientStatistics, basis: Basis, X: Any, **options: Any
    ) -> SparseBayesRegressor:
        """Return a fitted model from sufficient statistics, without the rows they were made of.

        Parameters
        ----------
        moments : SufficientStatistics
            Of the atoms ``basis.bind(X).atoms`` and the targets, over all rows: added up block by
            block, `merged` from several workers, or both.
        basis : Basis
            The recipe of the atoms.
        X : array-like of shape (n_inputs, n_features)
            The inputs that `basis` was bound to: some that stand for all. Which atoms there are may
            depend on them, error bars take the data to be where they are, and names of columns are
            theirs. With explicit centres a few hundred rows will do.
        **options
            As in the constructor, except that no scales are learnt (they need rows) and error bars
            are "novelty" or "plain". Away from the data "novelty" is somewhat less wide than with
            the rows, which say more of how far the function may vary.

        Returns
        -------
        model : SparseBayesRegressor
            Fitted: it predicts, and can be saved, exported and described like any other.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesRegressor
        >>> from relvec.bases import KernelBasis
        >>> from relvec.moments import SufficientStatistics
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-5, 5, size=(2000, 1))
        >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=2000)
        >>> basis = KernelBasis(gamma=0.5, centers=np.linspace(-5, 5, 20)[:, np.newaxis])
        >>> atoms = basis.bind(X[:100]).atoms
        >>> statistics = SufficientStatistics(len(atoms))
        >>> for start in range(0, 2000, 500):
        ...     rows = slice(start, start + 500)
        ...     statistics = statistics.update(atoms.evaluate(X[rows]), y[rows])
        >>> model = SparseBayesRegressor.from_moments(statistics, basis, X[:100])
        >>> mean, std = model.predict([[1.5]], return_std=True)
        >>> mean.round(1), std.round(1)
        (array([1.]), array([0.1]))
        """
        if not isinstance(moments, SufficientStatistics):
            raise TypeError(f"moments must be SufficientStatistics; got {type(moments).__name__}.")
        model = cls(basis, **options)
        plan = model._resolve()
        if plan.learner is not None or plan.error_bars == "augmented":
            needs = (
                'error_bars="augmented"'
                if plan.learner is None
                else f"length_scales={model.length_scales!r}"
            )
            raise ValueError(
                f"{needs} needs the training rows, and moments do not hold them. Use "
                'length_scales=None and error_bars="novelty" or "plain".'
            )
        X = validate_inputs(model, X)
        n_targets = moments.n_targets
        # what is known of the targets is in the moments
        rows = Data(X, np.empty((0, n_targets)), None, np.empty(0, dtype=np.intp), moments)
        fit = plan.run(rows)
        model._expose(fit, plan, is_single=n_targets == 1)
        model._warn(fit, plan, stacklevel=3)
        return model


@with_options
class RVMRegressor(RegressionOptions, KernelFront, BaseSparseBayesRegressor):
    """Relevance vector machine for regression.

    A sum of kernels centred on training inputs, of which a handful, the relevance vectors,
    are kept. No regularisation to tune; predictions come with error bars.

    Attributes
    ----------
    relevance_ : ndarray of shape (n_relevant,)
        Training rows of the relevance vectors; columns of X if `model_kind_` is "linear".
    relevance_vectors_ : ndarray of shape (n_relevant, n_features)
        The relevance vectors themselves.
    coef_, intercept_, weight_precision_, weight_covariance_, noise_variance_, log_evidence_, \
objective_, effective_dof_, prior_rate_, well_determined_, reached_max_active_, converged_, \
certificate_, candidates_, n_iter_, n_features_in_, feature_names_in_
        As in `SparseBayesRegressor`.
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
    calibration_ : float or ndarray of shape (n_outputs,)
        Factor of noise and posterior covariance in predictions, from held-out rows.
    model_kind_, feature_relevance_path_, feature_relevance_path_objective_
        "ard", "isotropic" or "kernel"; "linear" if kernels predict held-out rows no better than a
        linear model of all inputs or, from 20 of them on, of some; "none" or "null" if no input
        says anything, with and without vectors; relevance of all inputs after each step of the
        search, in which all climbs and trials are, and what was climbed.

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
