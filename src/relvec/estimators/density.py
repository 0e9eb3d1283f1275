"""Density estimation with error bands."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from relvec._checks import (
    check_bool,
    check_choice,
    check_finite_input,
    check_integer,
    check_probability,
)
from relvec._typing import ArrayLike, Matrix, Vector
from relvec.estimators._density_distribution import DistributionMethods, make_generator
from relvec.estimators._density_inputs import (
    check_bins,
    check_dimensions,
    check_number_of_bins,
    check_points,
    check_widths,
    read_support,
)
from relvec.estimators._inputs import check_range, read_weight, warn_about_weights
from relvec.estimators._options import check_options, option, with_options
from relvec.learning.density import fit_density

__all__ = ["SparseBayesDensity"]

REFERENCES = ("auto", "normal", "student_t", "two_normals", "exponential", "log_normal")


@with_options
class SparseBayesDensity(DistributionMethods, DensityMixin, BaseEstimator):
    """Density of one or two variables, with error bands.

    The log density is that of a simple reference density (normal, or uniform on a bounded
    support) plus a combination of Gaussian basis functions of several widths. Each width has one
    precision, which maximises the evidence (marginal likelihood) of the binned points; widths that
    are not needed are removed. A normal sample needs none of them. The density is normalised, and
    does not leak over the ends of its support. Errors of the estimate are known: `pdf` gives a
    band.

    Parameters
    ----------
    support : None, tuple or list of them, default=None
        Ends of the range of possible values, ``(lower, upper)``, with None where there is no end:
        ``(0, None)`` for positive values. None for the whole line. For two variables a list with
        an entry for each.
    bins : int or "auto", default="auto"
        Number of bins along each variable. "auto" is 256 for one variable (512 from 20 000
        points) and 32 for each of two.
    widths : sequence of float or "auto", default="auto"
        Standard deviations of the basis functions, as fractions of the range of the bins in the
        transformed variable (see Notes). "auto" is 1/4, 1/8 and so on, down to about two bins.
        Where the reference is uniform, on a bounded support, ``width * (upper - lower)`` is the
        standard deviation in units of the data.
    reference : str, default="auto"
        Reference density, which also gives the tails: "normal", "student_t" or "two_normals" (of
        different variances) on the whole line, "exponential" or "log_normal" if the support has
        one end. "auto" takes a heavier-tailed one than the normal (or the log-normal instead of
        the exponential) if its evidence is larger. On a bounded support it is uniform.
    normalise : bool, default=True
        Whether to estimate a density, whose integral is one. With False, the intensity of a point
        process, whose integral is the expected number of points: its band includes the uncertainty
        of this number. The support should then be the window of observation.

    Attributes
    ----------
    widths_ : ndarray of shape (n_kept,)
        Widths that the evidence kept, in units of `widths`.
    reference_ : str or list of str
        Reference density of the variable, or of each variable.
    log_evidence_ : float
        Log evidence of the points, in nats.
    effective_dof_ : float
        Effective degrees of freedom.
    n_points_ : float
        Number of points: the sum of their weights.
    n_iter_ : int
        Number of steps of the solver.
    n_features_in_ : int
        Number of variables, 1 or 2.

    See Also
    --------
    sklearn.neighbors.KernelDensity : Densities of many variables, without bands, with a bandwidth
        that you choose.

    Notes
    -----
    Counts of the bins have a Poisson likelihood, whose Laplace approximation gives evidence and
    posterior. Bins and basis functions are evenly spaced in a variable in which the reference is
    standard normal (or exponential, or uniform), so that they are wider in heavy tails. A width
    ``w`` is at ``x`` a standard deviation of ``w * r / u'(x)``, where ``u`` is this variable and
    ``r`` the range of its bins. Outside
    the bins, three bandwidths of Silverman's rule beyond the outermost points, the density is a
    multiple of the reference. Values that were rounded to a common unit, such as whole numbers,
    stand for the intervals of values that are rounded to them.

    References
    ----------
    Leonard (1978), Density estimation, stochastic processes and prior information, Journal of the
    Royal Statistical Society B 40. Wand, Marron and Ruppert (1991), Transformations in density
    estimation, Journal of the American Statistical Association 86. Tipping (2001), Sparse Bayesian
    learning and the relevance vector machine, Journal of Machine Learning Research 1.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import SparseBayesDensity
    >>> rng = np.random.default_rng(0)
    >>> X = rng.exponential(size=(1000, 1))
    >>> model = SparseBayesDensity(support=(0, None)).fit(X)
    >>> density, band = model.pdf([[0.0], [1.0]], coverage=0.95)
    >>> density.round(1)  # the truth is 1 and 0.37
    array([0.9, 0.4])
    >>> bool((band[:, 0] < [1.0, 0.37]).all() and (band[:, 1] > [1.0, 0.37]).all())
    True
    >>> model.cdf([[1.0]]).round(1)
    array([0.6])
    """

    support: Any = option(default=None, kw_only=False)
    bins: int | str = option(default="auto", check=check_bins)
    widths: Sequence[float] | str = option(default="auto", check=check_widths)
    reference: str = option(default="auto", check=partial(check_choice, choices=REFERENCES))
    normalise: bool = option(default=True, check=check_bool)

    def fit(self, X: ArrayLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the density.

        Parameters
        ----------
        X : array-like of shape (n_samples, 1) or (n_samples, 2)
            Points.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), optional
            Frequency weights: a point of weight two counts as two points.

        Returns
        -------
        self : object
        """
        check_options(self)
        check_finite_input(X, "X")
        points = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        check_dimensions(points.shape[1])
        check_number_of_bins(self.bins, points.shape[1])
        check_range("X", points)
        supports = read_support(self.support, points.shape[1])
        self._check_reference(supports)
        weight = None if sample_weight is None else read_weight(sample_weight, points)
        warn_about_weights(weight, stacklevel=2)
        if weight is None:
            weight = np.ones(len(points))
        points, weight = points[weight > 0.0], weight[weight > 0.0]
        check_points(points, weight, supports)
        self._fitted = fit_density(
            points,
            weight,
            supports,
            n_bins=None if isinstance(self.bins, str) else int(self.bins),
            widths=None if isinstance(self.widths, str) else sorted(self.widths, reverse=True),
            reference=None if self.reference == "auto" else self.reference,
        )
        if not self._fitted.converged:
            warnings.warn(
                f"The search for the precisions has not converged in {self._fitted.n_iter} steps; "
                "the density may be less smooth than it should be. Give fewer widths.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.widths_ = self._fitted.widths
        names = [margin.name for margin in self._fitted.coordinates.margins]
        self.reference_ = names[0] if len(names) == 1 else names
        self.log_evidence_ = self._fitted.log_evidence
        self.effective_dof_ = self._fitted.effective_dof
        self.n_points_ = self._fitted.total
        self.n_iter_ = self._fitted.n_iter
        return self

    def score_samples(self, X: ArrayLike) -> Vector:
        """Compute the log density, or log intensity, at points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            Minus infinity outside the support.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesDensity
        >>> X = np.random.default_rng(0).uniform(size=(500, 1))
        >>> model = SparseBayesDensity(support=(0, 1)).fit(X)
        >>> model.score_samples([[0.5], [1.5]]).round(1) + 0.0
        array([  0., -inf])
        """
        points = self._read(X)
        value = self._fitted.log_density(points)
        return value if self.normalise else value + np.log(self.n_points_)

    def score(self, X: ArrayLike, y: None = None) -> float:
        """Compute the log likelihood of points: the sum of their log densities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : None
            Not used.

        Returns
        -------
        log_likelihood : float
            With ``normalise=False``, that of a Poisson process: the sum of log intensities less
            the expected number of points.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesDensity
        >>> X = np.random.default_rng(0).normal(size=(500, 1))
        >>> round(SparseBayesDensity().fit(X[:250]).score(X[250:]) / 250, 1)
        -1.4
        """
        total = float(self.score_samples(X).sum())
        return total if self.normalise else total - self.n_points_

    def pdf(self, X: ArrayLike, coverage: float | None = None) -> Any:
        """Compute the density, or intensity, at points, with a band if asked for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        coverage : float, optional
            Posterior probability of the band at each point, between 0 and 1.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            Zero outside the support.
        band : ndarray of shape (n_samples, 2)
            Lower and upper ends at each point: approximate quantiles of the posterior of the
            normalised density. The variance of its logarithm is computed to first order in the
            weights, and the quantiles are those of a Gamma density of that shape, which is skewed
            less to the right than the log-normal `sample_pdf`. Only with `coverage`.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesDensity
        >>> X = np.random.default_rng(0).normal(size=(500, 1))
        >>> density, band = SparseBayesDensity().fit(X).pdf([[0.0]], coverage=0.95)
        >>> bool(band[0, 0] < 0.4 < band[0, 1])
        True
        """
        density = np.exp(self.score_samples(X))
        if coverage is None:
            return density
        probability = check_probability("coverage", coverage)
        return density, self._fitted.band(self._read(X), probability, normalise=self.normalise)

    def sample_pdf(self, X: ArrayLike, n_samples: int = 1, random_state: Any = None) -> Matrix:
        """Draw whole densities, or intensities, from their posterior.

        The weights have a Gaussian posterior, so values at a point are log-normal (before
        normalisation). Their quantiles differ a little from the band of `pdf`, whose values have a
        Gamma density.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
            Points.
        n_samples : int, default=1
            Number of densities.
        random_state : int, RandomState instance or None, default=None
            Seed of the random numbers.

        Returns
        -------
        densities : ndarray of shape (n_points, n_samples)
            Values of each drawn density, whose integral is one.

        Examples
        --------
        >>> import numpy as np
        >>> from relvec import SparseBayesDensity
        >>> X = np.random.default_rng(0).uniform(size=(500, 1))
        >>> model = SparseBayesDensity(support=(0, 1)).fit(X)
        >>> x = (np.arange(1000) + 0.5) / 1000
        >>> model.sample_pdf(x[:, None], 3, random_state=0).mean(axis=0).round(5)
        array([1., 1., 1.])
        """
        points = self._read(X)
        number = check_integer("n_samples", n_samples, minimum=1)
        return self._fitted.draw_densities(
            points, number, make_generator(random_state), normalise=self.normalise
        )

    def _read(self, X: ArrayLike) -> Matrix:
        check_is_fitted(self)
        check_finite_input(X, "X")
        points: Matrix = validate_data(self, X, dtype=np.float64, reset=False)
        return points

    def _check_reference(self, supports: list[tuple[float, float]]) -> None:
        """Raise if the reference is for another support."""
        n_ends = {int(np.isfinite(ends).sum()) for ends in supports}
        known = {"exponential": 1, "log_normal": 1, "auto": None}
        needed = known.get(self.reference, 0)
        if needed is not None and needed not in n_ends:
            where = "a support with one end, such as (0, None)" if needed else "support=None"
            raise ValueError(
                f'reference="{self.reference}" needs {where}; got support={self.support!r}. Use '
                'reference="auto".'
            )
