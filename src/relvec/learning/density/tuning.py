"""Constants of density estimation, with their origin."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DensityTuning"]


@dataclass(frozen=True)
class DensityTuning:
    """Constants of density estimation.

    Unless a field states another origin, its value was chosen by trials on mixtures of normal
    densities.
    """

    n_bins: tuple[int, ...] = (256, 32)
    """Bins along each axis, in one and in two dimensions."""
    many_points: float = 20_000.0
    """Number of points from which a density of one variable has twice as many bins."""
    few_points: float = 500.0
    """Number of points below which the narrowest basis functions are left out."""
    finest: tuple[float, float] = (1.0 / 70.0, 1.0 / 140.0)
    """Lower bound of the widths, as fractions of the range of the bins, with few and with more
    points."""
    bins_per_width: float = 1.7
    """Least width of a basis function, in bins: narrower ones would be seen by one bin only."""
    n_nodes: tuple[int, ...] = (4, 3)
    """Nodes of the quadrature in each bin, in one and in two dimensions: the integral is then one
    to 1e-8."""
    margin: float = 3.0
    """Distance from the outermost points to the ends of the bins, in units of Silverman's
    rule-of-thumb bandwidth."""
    least_correlation: float = 0.3
    """Correlation of two variables from which uncorrelated coordinates are tried as well."""
    largest_latent: float = 10.0
    """Bound on the prior standard deviation of one basis function's contribution to the log
    density."""
    tol: float = 0.05
    """Largest derivative of the evidence in a log precision at the end, in nats: closer to the
    maximum the density does not change visibly."""
    largest_loss: float = 0.01
    """Mean log likelihood of the points, in nats, by which a density may be worse than its
    reference: errors of the bins. Where it is worse, spikes are narrower than the bins."""
