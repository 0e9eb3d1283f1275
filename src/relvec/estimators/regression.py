"""Sparse Bayesian regression: with any basis, and with kernels centred on training inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from relvec.bases.base import Basis
from relvec.estimators._base import BaseSparseBayesRegressor
from relvec.estimators._basis_options import BasisOptions, KernelOptions
from relvec.estimators._inputs import validate_inputs
from relvec.estimators._options import RegressionOptions, TunedAtomOptions, with_options
from relvec.estimators._plan import Data
from relvec.moments import SufficientStatistics

__all__ = ["RVMRegressor", "SparseBayesRegressor"]


@with_options
class SparseBayesRegressor(
    TunedAtomOptions, RegressionOptions, BasisOptions, BaseSparseBayesRegressor
):
    """Sparse Bayesian regression with any basis functions.

    The target is a weighted sum of basis functions, also called atoms, plus Gaussian noise. Every
    weight has a Gaussian prior with its own precision (Tipping 2001, eq. 5). Maximising the
    evidence, also called the marginal likelihood, over these precisions removes most basis
    functions. There is no regularisation parameter to tune, and predictions are distributions.

    Attributes
    ----------
    relevance_ : ndarray of shape (n_relevant,)
        Basis functions in the model: indices of the training rows on which they are centred, or,
        if some are not centred on training rows, their columns in the basis matrix.
    coef_ : ndarray of shape (n_relevant,) or (n_outputs, n_relevant)
        Posterior mean of the weights (Tipping 2001, eq. 13).
    intercept_ : float or ndarray of shape (n_outputs,)
        Intercept, in units of the (transformed) target; zero with ``fit_intercept=False``.
    weight_precision_ : ndarray of the shape of `coef_`
        Prior precision of each weight, alpha (Tipping 2001, eq. 5); infinite where an output does
        not use a basis function.
    weight_covariance_ : ndarray of shape (n_relevant, n_relevant)
        Posterior covariance of the weights (Tipping 2001, eq. 12); a list for several outputs.
    well_determined_ : ndarray of shape (n_relevant,)
        ``gamma = 1 - alpha Sigma_ii`` in [0, 1]: how far the data, rather than the prior,
        determine each weight (MacKay 1992; Tipping 2001, eq. 17); a list for several outputs.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Variance of the noise, in squared units of the (transformed) target, estimated or given. If
        it depends on the inputs, the harmonic mean over the training rows (see `predict_noise`); of
        Student-t noise the squared scale, of contaminated normal noise the variance of ordinary
        rows.
    noise_gain_ : float or ndarray of shape (n_outputs,)
        Gain in log evidence of the noise model over constant Gaussian noise, in nats; 0 if the
        noise was found to be constant and Gaussian.
    calibration_ : float or ndarray of shape (n_outputs,)
        Factor, at least 1, of the noise variance and posterior variance in predictions, from the
        squared errors of held-out rows; 1 with ``calibrate=False``.
    log_evidence_ : float or ndarray of shape (n_outputs,)
        Logarithm of the evidence, also called marginal likelihood, in nats (Tipping 2001, eq. 15);
        with an intercept, that of the n - 1 contrasts that do not depend on it. With noise that
        varies or has heavy tails a lower bound of it. It is a density of the target itself: with a
        transform it contains the logarithm of its derivative.
    objective_ : float or ndarray of shape (n_outputs,)
        Maximised objective in nats: log evidence plus log prior less the penalties `min_gain`.
    effective_dof_ : float or ndarray of shape (n_outputs,)
        Effective degrees of freedom: the sum of `well_determined_`, and 1 for the intercept.
    prior_rate_ : float or ndarray of shape (n_outputs,)
        Rate of a Laplace prior, learnt or given; zero for other priors.
    reached_max_active_ : bool or ndarray of shape (n_outputs,)
        Whether the cap on the number of active basis functions was reached; the noise variance is
        then not identifiable.
    converged_ : bool or ndarray of shape (n_outputs,)
        Whether the solver converged to its tolerance.
    certificate_ : Certificate or list of Certificate
        How nearly the solution satisfies the optimality conditions of a local maximum: the largest
        derivative of the objective with respect to a log precision, and the largest gain of a
        basis function that is not in the model, both in nats.
    candidates_ : tuple of Candidate
        Local maxima that the solver compared, best first.
    components_ : tuple of Component
        Summary of each basis of a sum: name, number of basis functions offered and kept, effective
        degrees of freedom, share of the variance of the target. `predict_components` returns their
        contributions.
    basis_ : Basis
        The basis with the hyper-parameters that were learnt, such as the `length_scale` of a
        `SmoothBasis`. It exists only if a part of the basis has a prior spectrum.
    kernel_blocks_ : tuple of LearntBlock
        Kernel of each `KernelBasis` of a sum, its prior variance, its gain in log evidence and
        whether the basis is in the model. It exists only if the kernels of several bases are learnt
        (``length_scales="kernel"``).
    outlier_probability_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Posterior probability that a training row is an outlier: that its noise variance is at
        least 9 times `noise_variance_`. This attribute and the next three exist only with `noise`
        "student_t", "contaminated" or "robust".
    row_weight_ : ndarray of the shape of `outlier_probability_`
        Weight of each training row: posterior mean of its noise precision, relative to that of
        `noise_variance_`.
    df_ : float or ndarray of shape (n_outputs,)
        Degrees of freedom of Student-t noise, from 1 to 200; infinite for other noise.
    contamination_ : ndarray of shape (2,) or (2, n_outputs)
        Contaminated normal noise: fraction of outliers, and their noise variance relative to
        `noise_variance_`; 0 and 1 for other noise.
    target_transform_ : TargetTransform or list of TargetTransform
        Transform of the target that was modelled. With one, `coef_`, `intercept_`,
        `noise_variance_` and `predict_noise` are in units of the transformed target.
    target_transform_gain_ : float or ndarray of shape (n_outputs,)
        Gain in log evidence of a transform chosen by "auto" over none, in nats; otherwise 0.
    noise_scale_ : float or ndarray of shape (n_outputs,)
        Factor of the noise variances given in fit: 1, or estimated with ``scale_noise=True``. It
        exists only if they were given.
    n_iter_ : int
        Number of iterations of the solver; the largest of several outputs.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has names that are all strings.

    See Also
    --------
    RVMRegressor : Kernels centred on training inputs.
    DRVMRegressor : Feature selection with learnt length-scales.
    SparseBayesCountRegressor : Counts, with exposure.
    SparseBayesDensity : Densities and intensities.

    References
    ----------
    M. E. Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1.

    M. E. Tipping, A. C. Faul (2003), Fast marginal likelihood maximisation for sparse Bayesian
    models, AISTATS.

    D. J. C. MacKay (1992), Bayesian interpolation, Neural Computation 4.

    A. Schmolck (2008), Smooth relevance vector machines, PhD thesis, University of Exeter.

    M. Lázaro-Gredilla, M. K. Titsias (2011), Variational heteroscedastic Gaussian process
    regression, ICML.

    K. L. Lange, R. J. A. Little, J. M. G. Taylor (1989), Robust statistical modeling using the t
    distribution, Journal of the American Statistical Association 84.

    I.-K. Yeo, R. A. Johnson (2000), A new family of power transformations to improve normality or
    symmetry, Biometrika 87.

    Examples
    --------
    Find the two relevant features among fifty:

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
        """Fit a model to sufficient statistics, without the rows they were computed from.

        Parameters
        ----------
        moments : SufficientStatistics
            Statistics of the basis functions ``basis.bind(X).atoms`` and the targets over all
            rows: added block by block, merged (`merged`) from several workers, or both.
        basis : Basis
            The basis.
        X : array-like of shape (n_inputs, n_features)
            The inputs to which `basis` was bound, a sample of all training inputs. The basis
            functions may depend on them, error bars are small where they are, and feature names
            are theirs. With given centres a few hundred rows suffice.
        **options
            Options of the constructor. Length-scales cannot be learnt and error bars cannot be
            "augmented", because both need the training rows. With "novelty" the error bars away
            from the data are somewhat narrower than those of a fit to the rows.

        Returns
        -------
        model : SparseBayesRegressor
            Fitted model.

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
        needs = {
            f"length_scales={model.length_scales!r}": plan.learner is not None,
            'error_bars="augmented"': plan.error_bars == "augmented",
            f"tune_atoms={plan.tune_atoms!r}": plan.tune_atoms is not None,
        }
        for option, is_used in needs.items():
            if is_used:
                raise ValueError(
                    f"{option} needs the training rows, which moments do not contain. Use "
                    'length_scales=None, tune_atoms=None, and error_bars="novelty" or "plain".'
                )
        X = validate_inputs(model, X)
        n_targets = moments.n_targets
        # the moments take the place of the targets
        rows = Data(X, np.empty((0, n_targets)), None, np.empty(0, dtype=np.intp), moments)
        fit = plan.run(rows)
        model._set_attributes(fit, plan, is_single=n_targets == 1)
        model._warn(fit, plan, stacklevel=3)
        return model


@with_options
class RVMRegressor(TunedAtomOptions, RegressionOptions, KernelOptions, BaseSparseBayesRegressor):
    """Relevance vector machine for regression.

    The target is a weighted sum of kernels centred on training inputs plus Gaussian noise. Every
    weight has a Gaussian prior with its own precision (Tipping 2001, eq. 5). Maximising the
    evidence, also called the marginal likelihood, over these precisions keeps few kernels; their
    centres are the relevance vectors. There is no regularisation parameter to tune, and predictions
    come with error bars.

    Attributes
    ----------
    relevance_ : ndarray of shape (n_relevant,)
        Indices of the training rows that are relevance vectors; columns of X if `model_kind_` is
        "linear".
    relevance_vectors_ : ndarray of shape (n_relevant, n_features)
        Relevance vectors: the centres of the kernels in the model.
    coef_ : ndarray of shape (n_relevant,) or (n_outputs, n_relevant)
        Posterior mean of the weights (Tipping 2001, eq. 13).
    intercept_ : float or ndarray of shape (n_outputs,)
        Intercept, in units of the (transformed) target; zero with ``fit_intercept=False``.
    weight_precision_ : ndarray of the shape of `coef_`
        Prior precision of each weight, alpha (Tipping 2001, eq. 5); infinite where an output does
        not use a basis function.
    weight_covariance_ : ndarray of shape (n_relevant, n_relevant)
        Posterior covariance of the weights (Tipping 2001, eq. 12); a list for several outputs.
    well_determined_ : ndarray of shape (n_relevant,)
        ``gamma = 1 - alpha Sigma_ii`` in [0, 1]: how far the data, rather than the prior,
        determine each weight (MacKay 1992; Tipping 2001, eq. 17); a list for several outputs.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Variance of the noise, in squared units of the (transformed) target, estimated or given. If
        it depends on the inputs, the harmonic mean over the training rows (see `predict_noise`); of
        Student-t noise the squared scale, of contaminated normal noise the variance of ordinary
        rows.
    noise_gain_ : float or ndarray of shape (n_outputs,)
        Gain in log evidence of the noise model over constant Gaussian noise, in nats; 0 if the
        noise was found to be constant and Gaussian.
    calibration_ : float or ndarray of shape (n_outputs,)
        Factor, at least 1, of the noise variance and posterior variance in predictions, from the
        squared errors of held-out rows; 1 with ``calibrate=False``.
    log_evidence_ : float or ndarray of shape (n_outputs,)
        Logarithm of the evidence, also called marginal likelihood, in nats (Tipping 2001, eq. 15);
        with an intercept, that of the n - 1 contrasts that do not depend on it. With noise that
        varies or has heavy tails a lower bound of it. It is a density of the target itself: with a
        transform it contains the logarithm of its derivative.
    objective_ : float or ndarray of shape (n_outputs,)
        Maximised objective in nats: log evidence plus log prior less the penalties `min_gain`.
    effective_dof_ : float or ndarray of shape (n_outputs,)
        Effective degrees of freedom: the sum of `well_determined_`, and 1 for the intercept.
    prior_rate_ : float or ndarray of shape (n_outputs,)
        Rate of a Laplace prior, learnt or given; zero for other priors.
    reached_max_active_ : bool or ndarray of shape (n_outputs,)
        Whether the cap on the number of active basis functions was reached; the noise variance is
        then not identifiable.
    converged_ : bool or ndarray of shape (n_outputs,)
        Whether the solver converged to its tolerance.
    certificate_ : Certificate or list of Certificate
        How nearly the solution satisfies the optimality conditions of a local maximum: the largest
        derivative of the objective with respect to a log precision, and the largest gain of a
        basis function that is not in the model, both in nats.
    candidates_ : tuple of Candidate
        Local maxima that the solver compared, best first.
    outlier_probability_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Posterior probability that a training row is an outlier: that its noise variance is at
        least 9 times `noise_variance_`. This attribute and the next three exist only with `noise`
        "student_t", "contaminated" or "robust".
    row_weight_ : ndarray of the shape of `outlier_probability_`
        Weight of each training row: posterior mean of its noise precision, relative to that of
        `noise_variance_`.
    df_ : float or ndarray of shape (n_outputs,)
        Degrees of freedom of Student-t noise, from 1 to 200; infinite for other noise.
    contamination_ : ndarray of shape (2,) or (2, n_outputs)
        Contaminated normal noise: fraction of outliers, and their noise variance relative to
        `noise_variance_`; 0 and 1 for other noise.
    target_transform_ : TargetTransform or list of TargetTransform
        Transform of the target that was modelled. With one, `coef_`, `intercept_`,
        `noise_variance_` and `predict_noise` are in units of the transformed target.
    target_transform_gain_ : float or ndarray of shape (n_outputs,)
        Gain in log evidence of a transform chosen by "auto" over none, in nats; otherwise 0.
    noise_scale_ : float or ndarray of shape (n_outputs,)
        Factor of the noise variances given in fit: 1, or estimated with ``scale_noise=True``. It
        exists only if they were given.
    n_iter_ : int
        Number of iterations of the solver; the largest of several outputs.
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
        or with learnt parameters; "linear" if kernels do not predict held-out rows better than a
        linear model of all features or, from 20 features on, a sparse linear model; "none" (with
        kernels) or "null" (without) if no feature is found to be related to the target.
    feature_relevance_path_ : ndarray of shape (n_steps, n_features)
        `feature_relevance_` after each step of the search for length-scales.
    feature_relevance_path_objective_ : ndarray of shape (n_steps,)
        Objective of the search after each step, in nats; NaN where it is not comparable.

    See Also
    --------
    SparseBayesRegressor : The same model with any basis.
    DRVMRegressor : Feature selection together with the selection of relevance vectors.
    SparseBayesCountRegressor : Counts, with exposure.
    SparseBayesDensity : Densities and intensities.

    References
    ----------
    M. E. Tipping (2001), Sparse Bayesian learning and the relevance vector machine, JMLR 1.

    C. E. Rasmussen, J. Quiñonero-Candela (2005), Healing the relevance vector machine through
    augmentation, ICML.

    D. J. C. MacKay (1992), Bayesian interpolation, Neural Computation 4.

    A. Schmolck (2008), Smooth relevance vector machines, PhD thesis, University of Exeter.

    M. Lázaro-Gredilla, M. K. Titsias (2011), Variational heteroscedastic Gaussian process
    regression, ICML.

    K. L. Lange, R. J. A. Little, J. M. G. Taylor (1989), Robust statistical modeling using the t
    distribution, Journal of the American Statistical Association 84.

    I.-K. Yeo, R. A. Johnson (2000), A new family of power transformations to improve normality or
    symmetry, Biometrika 87.

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
    >>> bool(std[1] > 2 * std[0])  # the error bar grows away from the data
    True
    """
