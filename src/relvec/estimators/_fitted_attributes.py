"""Attributes of fitted regressors that are computed on demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from relvec._typing import Matrix, Vector
from relvec.estimators._output import FittedOutput
from relvec.likelihoods import IdentityTransform, TargetTransform

if TYPE_CHECKING:
    from relvec.solvers import Certificate

__all__ = ["FittedAttributesMixin"]


class FittedAttributesMixin:
    """Attributes of the posterior, the noise and the transform of each output."""

    outputs_: tuple[FittedOutput, ...]
    _single: bool
    _stack_outputs: Callable[..., Any]

    @property
    def target_transform_(self) -> TargetTransform | list[TargetTransform]:
        """Transform of the target that was modelled, with its parameters; a list of several.

        `forward` gives the transformed target, `inverse` the target. Weights, intercept and noise
        variance are those of the transformed target.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = np.linspace(-3, 3, 100)[:, np.newaxis]
        >>> y = np.exp(np.sin(X[:, 0]) + 0.5 * rng.normal(size=100))
        >>> RVMRegressor(gamma=0.5, target_transform="auto").fit(X, y).target_transform_
        LogTransform()
        """
        check_is_fitted(self)
        transforms = [output.transform or IdentityTransform() for output in self.outputs_]
        return transforms[0] if self._single else transforms

    @property
    def target_transform_gain_(self) -> float | Vector:
        """Gain in log evidence of the transform over no transform, in nats, with constant noise.

        Zero if the target is not transformed, or if ``target_transform`` is not "auto".

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = np.linspace(-3, 3, 100)[:, np.newaxis]
        >>> y = np.exp(np.sin(X[:, 0]) + 0.5 * rng.normal(size=100))
        >>> RVMRegressor(gamma=0.5, target_transform="auto").fit(X, y).target_transform_gain_ > 10.0
        True
        """
        check_is_fitted(self)
        return self._stack_outputs(output.transform_gain for output in self.outputs_)

    @property
    def noise_scale_(self) -> float | Vector:
        """Factor of the noise variances given in fit: 1, or estimated with ``scale_noise=True``.

        If the given variances are right it is about 1 (the reduced chi-squared of physicists).

        Examples
        --------
        Variances that are four times too small:

        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = np.linspace(-3, 3, 200)[:, np.newaxis]
        >>> variance = 0.01 * np.exp(rng.normal(size=200))
        >>> y = np.sin(X[:, 0]) + 2.0 * np.sqrt(variance) * rng.normal(size=200)
        >>> model = RVMRegressor(gamma=0.5, scale_noise=True).fit(X, y, noise_variance=variance)
        >>> round(model.noise_scale_)
        4
        """
        check_is_fitted(self)
        if not self.outputs_[0].needs_row_variance:
            raise AttributeError("noise_scale_ exists only if fit was given noise_variance.")
        return self._stack_outputs(
            output.posterior.noise_variance / output.noise_unit for output in self.outputs_
        )

    @property
    def weight_covariance_(self) -> Matrix | list[Matrix]:
        """Posterior covariance of the weights, Sigma (Tipping 2001, eq. 12).

        A list of matrices for several outputs.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
        >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
        >>> model = RVMRegressor(gamma=0.5).fit(X, y)
        >>> std = np.sqrt(np.diag(model.weight_covariance_))
        >>> np.c_[model.coef_, std].round(1)
        array([[-1.3,  0.1],
               [ 0.8,  0.1],
               [-0.2,  0. ]])
        """
        check_is_fitted(self)
        covariances = [output.posterior.covariance for output in self.outputs_]
        return covariances[0] if self._single else covariances

    @property
    def well_determined_(self) -> Vector | list[Vector]:
        """How far the data, rather than the prior, determine each weight, between 0 and 1.

        ``gamma_i = 1 - alpha_i Sigma_ii`` (MacKay 1992; Tipping 2001, eq. 17); a list for several
        outputs.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
        >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
        >>> model = RVMRegressor(gamma=0.5).fit(X, y)
        >>> model.well_determined_.round(1)
        array([1., 1., 1.])
        """
        check_is_fitted(self)
        gammas = [output.posterior.well_determined for output in self.outputs_]
        return gammas[0] if self._single else gammas

    @property
    def certificate_(self) -> Certificate | list[Certificate]:
        """How nearly the solution satisfies the optimality conditions of a local maximum.

        `gradient` is the largest absolute derivative of the objective with respect to a log
        precision, `best_gain` the largest gain of a basis function that is not in the model, net of
        its penalty, both in nats. Both are zero at an exact local maximum, and where there
        is no search (`model_kind_` is "linear" with all features, or "null"). A list for several
        outputs.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
        >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
        >>> certificate = RVMRegressor(gamma=0.5).fit(X, y).certificate_
        >>> certificate.gradient < 1e-3, certificate.best_gain < 1e-3
        (True, True)
        """
        check_is_fitted(self)
        certificates = [output.solution.certificate for output in self.outputs_]
        return certificates[0] if self._single else certificates

    @property
    def candidates_(self) -> tuple[Any, ...]:
        """Ends of the searches that the solver compared, best first; some may be the same optimum.

        Each has the initialisation (`start`), the objective in nats and the number of active basis
        functions (`n_active`). A tuple of them for each of several outputs.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import RVMRegressor
        >>> X = np.linspace(-3, 3, 40)[:, np.newaxis]
        >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
        >>> model = RVMRegressor(gamma=0.5).fit(X, y)
        >>> best = model.candidates_[0]
        >>> best.n_active == len(model.relevance_)
        True
        """
        check_is_fitted(self)
        if self._single:
            return self.outputs_[0].solution.candidates
        return tuple(output.solution.candidates for output in self.outputs_)
