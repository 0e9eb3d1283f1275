"""Laplace approximation with any likelihood: mode, evidence and its gradient.

Given precisions, Newton's method finds the mode ``w`` of the posterior of the weights (Tipping
2001, section 3; Rasmussen & Williams 2006, section 3.4). A Gaussian with the Hessian ``H`` at the
mode approximates the posterior. Its integral gives the log evidence (log marginal likelihood)::

    log p(t | w) - w'Aw / 2 + log|A| / 2 - log|H| / 2 + (number of intercepts) / 2 log(2 pi)

Intercepts have a flat prior, hence no factor of ``A``. The result is exact for a Gaussian
likelihood.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from relvec._linalg import solve_cholesky
from relvec._typing import Matrix, Vector
from relvec.laplace.hessian import Design, Hessian, Penalty
from relvec.laplace.pairs import PairDesign
from relvec.likelihoods.base import BoundLikelihood

__all__ = ["Mode", "find_mode"]


@dataclass(frozen=True)
class Mode:
    """Mode of the posterior of the weights, and the Gaussian approximation there."""

    design: Design
    hessian: Hessian
    weights: Vector
    """Weights at the mode: atoms, one latent function after the other, then intercepts."""
    latent: Matrix
    """Latent functions at the training rows, offset included."""
    slope: Matrix
    """Derivative of the log likelihood in the latent functions, times the weights of the rows."""
    log_evidence: float
    n_steps: int

    def is_credible(self, likelihood: BoundLikelihood) -> bool:
        """Return whether the evidence is below the bound of the likelihood, if it has one.

        The Laplace approximation can exceed the true evidence where classes are separable.
        """
        design = self.design
        # Only likelihoods of several latent functions have a finite bound; without atoms the
        # Laplace approximation concerns the intercepts only.
        if not isinstance(design, PairDesign) or not design.n_atoms:
            return True
        classes = likelihood.target.astype(np.intp)
        variance = design.relative_variances(classes, self.hessian.covariance)
        n_intercepts = design.n_weights - design.n_atoms
        # Negated, so that a NaN is not taken for a violation of the bound.
        return not self.log_evidence > likelihood.credible_log_evidence(
            self.latent, variance, n_intercepts
        )

    def gradient(self, likelihood: BoundLikelihood, c: Penalty = 0.0, *, exact: bool) -> Vector:
        """Compute the gradient of the evidence, less `c` per degree of freedom, in log precisions.

        At fixed curvature it is ``(gamma_i - alpha_i w_i^2) / 2``, which vanishes at ``alpha_i =
        gamma_i / w_i^2`` (Tipping 2001, eq. 16). The exact derivative adds the change of the volume
        ``log|H| / 2`` with the mode, ``dw / d log alpha_i = -S_i alpha_i w_i`` (Rasmussen &
        Williams 2006, section 5.5.1).

        Parameters
        ----------
        likelihood : BoundLikelihood
            The likelihood of this mode.
        c : float or ndarray of shape (n_atoms,)
            Penalty per degree of freedom, at the curvature of the mode.
        exact : bool
            Whether to include the change of the curvature with the mode. Otherwise the derivative
            is that at fixed curvature, which the updates of MacKay and Tipping set to zero.
        """
        precision, covariance = self.hessian.precision, self.hessian.covariance
        # The mode maximises the log posterior, so the indirect dependence of log p(t | w) - w'Aw /
        # 2 through w vanishes: what remains at fixed curvature is the explicit derivative in
        # alpha_i.
        determined = 1.0 - precision * covariance.diagonal() - precision * self.weights**2
        result: Vector = 0.5 * determined[: self.design.n_atoms]
        if not isinstance(c, float) or c:
            result = result + self.hessian.degrees_of_freedom_slope(c)
        if exact:
            # The mode follows the precisions, and the volume follows the mode.
            drift = self.design.compute_volume_slope(self.hessian, likelihood, self.latent, c)
            # Chain rule: -(1/2) drift' X dw with dw / d log alpha_i = -S_i alpha_i w_i; both signs
            # cancel.
            pull = covariance @ self.design.apply_transpose(drift)
            result = result + 0.5 * (precision * self.weights * pull)[: self.design.n_atoms]
        return result


def find_mode(
    columns: Matrix,
    log_precision: Vector,
    likelihood: BoundLikelihood,
    start: Vector | None = None,
    *,
    has_intercept: bool = True,
    sizes: tuple[int, ...] | None = None,
    max_steps: int = 100,
    tol: float = 1e-10,
) -> Mode:
    """Find the mode of the posterior of the weights by Newton's method with backtracking.

    Each step solves ``H step = X' slope - A w``, which is one step of iteratively reweighted least
    squares (Tipping 2001, section 3).

    Parameters
    ----------
    columns : ndarray of shape (n_samples, k)
        Active atoms, one latent function after the other.
    log_precision : ndarray of shape (k,)
        Log prior precision of their weights.
    likelihood : BoundLikelihood
        The data.
    start : ndarray, optional
        Weights to start from, intercepts last.
    has_intercept : bool, default=True
        Whether there is an intercept, with a flat prior.
    sizes : tuple of int, optional
        Number of atoms of each latent function, if there are several.
    max_steps : int, default=100
        Largest number of steps.
    tol : float, default=1e-10
        Predicted rise of the log posterior at which to stop.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec.laplace import find_mode
    >>> from relvec.likelihoods import Poisson
    >>> counts = Poisson().bind([1, 3, 2, 2])
    >>> mode = find_mode(np.empty((4, 0)), np.empty(0), counts)
    >>> np.exp(mode.weights).round(3)  # the intercept alone: the mean count
    array([2.])
    """
    design = Design(columns, has_intercept=has_intercept)
    if sizes is not None:
        design = PairDesign(columns, sizes, has_intercept=has_intercept)
    # Flat prior of the intercepts: precision zero.
    precision = np.zeros(design.n_weights)
    precision[: design.n_atoms] = np.exp(log_precision)

    def log_posterior(weights: Vector, latent: Matrix) -> float:
        value = likelihood.total_log_density(latent) - 0.5 * float(precision @ (weights * weights))
        return value if math.isfinite(value) else -math.inf

    with np.errstate(over="ignore", invalid="ignore"):  # overflow of steps that are too long
        value, n_steps = -math.inf, 0
        if start is not None:
            here, latent = start, design.latent(start) + likelihood.offset_or_zero
            value = log_posterior(here, latent)
        if not math.isfinite(value):  # no or unusable initial weights: start without atoms
            here = np.zeros(design.n_weights)
            here[design.n_atoms :] = np.atleast_1d(likelihood.null_latent()) @ design.contrast
            latent = design.latent(here) + likelihood.offset_or_zero
            value = log_posterior(here, latent)
        while True:
            slope, rows = design.compute_slope_and_curvature(likelihood, latent)
            hessian = design.hessian(rows, precision)
            # Newton step H^-1 g (Tipping 2001, eq. 25; Rasmussen & Williams 2006, section 3.4),
            # solved with the factor of D H D rather than with an explicit inverse.
            gradient = design.apply_transpose(slope) - precision * here
            step = gradient
            if len(step):
                step = hessian.scale * solve_cholesky(hessian.factor, hessian.scale * gradient)
            # Newton decrement g'H^-1 g: twice the rise that the quadratic model predicts. It is
            # invariant to the scaling of the columns, unlike the norm of the gradient.
            rise, change = float(gradient @ step), design.latent(step)
            # If all probabilities are near 0 or 1, the posterior hardly rises any more, but the
            # curvature still changes: the latent values must have converged as well.
            is_settled = rise < tol and float(np.abs(change).max(initial=0.0)) < 1e-4
            if is_settled or n_steps >= max_steps:
                break
            # Near the mode the rise is smaller than the rounding error of the log posterior;
            # without this allowance the line search would reject full steps that are correct.
            length, rounding = 1.0, 8.0 * float(np.finfo(np.float64).eps) * abs(value)
            while length > 1e-10:
                trial, there = here + length * step, latent + length * change
                reached = log_posterior(trial, there)
                # Sufficient rise with c1 = 1e-4 (Nocedal & Wright 2006, section 3.1).
                if reached >= value + 1e-4 * length * rise - rounding:  # Armijo's condition
                    break
                length *= 0.5
            else:  # the remaining rise is below rounding errors
                break
            here, latent, value, n_steps = trial, there, reached, n_steps + 1
    # The factors (2 pi)^(M/2) of the prior and of the Gaussian integral cancel for the weights of
    # atoms; intercepts have no normalised prior and keep theirs.
    evidence = value + 0.5 * float(log_precision.sum()) - 0.5 * hessian.log_det
    evidence += 0.5 * (design.n_weights - design.n_atoms) * math.log(2.0 * math.pi)
    return Mode(design, hessian, here, latent, slope, evidence, n_steps)
