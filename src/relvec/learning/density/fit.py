"""Fit a log density to binned points by the Laplace evidence, one precision for each width.

The counts ``n_j`` of the bins are Poisson variables of rate ``N D p0(u_j) exp(f(u_j) + c)``, with
``D`` the size of a bin and ``p0`` the reference density. With a flat prior of ``c`` this is the
multinomial likelihood of the counts given their sum ``N`` (Baker, 1994, The multinomial-Poisson
transformation).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import gammaln

from relvec._linalg import solve_lower
from relvec._typing import IndexArray, Matrix, Vector
from relvec.dictionaries import DenseDictionary
from relvec.laplace.hessian import Design, Hessian
from relvec.learning.density.atoms import FREE, DensityAtoms
from relvec.learning.density.choose_margin import choose_margins
from relvec.learning.density.coordinates import Coordinates
from relvec.learning.density.fitted import FittedDensity
from relvec.learning.density.grid import Axis, product_of
from relvec.learning.density.removed_widths import add_removed_widths
from relvec.learning.density.rounding import spread_rounded, tabulate_rounded
from relvec.learning.density.sample import Sample
from relvec.learning.density.tuning import DensityTuning
from relvec.likelihoods.poisson import BoundPoisson, Poisson
from relvec.solvers.latent.problem import LatentProblem, LatentState
from relvec.solvers.latent.tied import TiedLaplaceSolver

__all__ = ["bind_counts", "fit_density"]


def fit_density(
    X: Matrix,
    weight: Vector,
    supports: Sequence[tuple[float, float]],
    *,
    n_bins: int | None = None,
    widths: Sequence[float] | None = None,
    reference: str | None = None,
    tuning: DensityTuning | None = None,
) -> FittedDensity:
    """Fit a density to weighted points in one or two dimensions.

    In one dimension, of the simplest reference density and the most likely other one, that with
    the larger evidence is used. In two dimensions the most likely ones are used, and the evidence
    chooses between correlated and uncorrelated coordinates.

    Parameters
    ----------
    X : ndarray of shape (n_points, n_dimensions)
        Points, inside their support and not all equal along any dimension.
    weight : ndarray of shape (n_points,)
        Positive frequency weights.
    supports : sequence of tuple
        Lower and upper end along each dimension; infinite where there is none.
    n_bins : int, optional
        Bins along each dimension; by default from the tuning.
    widths : sequence of float, optional
        Widths of the basis functions as fractions of the range of the bins.
    reference : str, optional
        Name of the reference density where there is a choice.
    tuning : DensityTuning, optional
        Constants.
    """
    tuning = tuning or DensityTuning()
    given, table = (X, weight), None
    X, weight = spread_rounded(X, weight, list(supports))
    if X is not given[0] and X.shape[1] == 1:
        table = tabulate_rounded(given[0][:, 0], given[1], supports[0])
    chosen = [
        choose_margins(Sample(x, weight), ends, reference)
        for x, ends in zip(X.T, supports, strict=True)
    ]
    if len(chosen) > 1:
        chosen = [margins[-1:] for margins in chosen]
    candidates = [Coordinates(margins) for margins in zip(*chosen, strict=True)]
    if len(chosen) > 1:
        candidates += _decorrelate(candidates[0], X, weight, tuning)
    fits = [_fit(X, weight, each, n_bins, widths, tuning, table) for each in candidates]
    return max(fits, key=lambda fitted: fitted.log_evidence)


def bind_counts(axes: Sequence[Axis], coordinates: Coordinates, counts: Vector) -> BoundPoisson:
    """Return the likelihood of the counts of all bins; the offset is their log reference count.

    Counts are sums of frequency weights and need not be whole numbers, which `Poisson.bind` asks
    of data: ``t f - exp(f)`` is the weighted log likelihood for any of them.
    """
    centres = product_of([axis.centres for axis in axes])
    offset: Vector = np.full(len(centres), math.log(counts.sum()))
    for axis, u, standard in zip(axes, centres.T, coordinates.standards, strict=True):
        offset += standard.log_density(u) + math.log(axis.span / axis.n_bins)
    return BoundPoisson(Poisson(), counts, None, np.maximum(offset, -300.0))


def _fit(
    X: Matrix,
    weight: Vector,
    coordinates: Coordinates,
    n_bins: int | None,
    widths: Sequence[float] | None,
    tuning: DensityTuning,
    table: PchipInterpolator | None,
) -> FittedDensity:
    U = coordinates.transform(X)
    total, n_axes = float(weight.sum()), U.shape[1]
    if n_bins is None:
        is_large = n_axes == 1 and total >= tuning.many_points
        n_bins = tuning.n_bins[n_axes - 1] * (2 if is_large else 1)
    axes = _make_axes(U, weight, coordinates, n_bins, tuning)
    counts = _count(U, weight, axes) if table is None else _integrate(table, axes[0], coordinates)
    if widths is None:
        widths = _list_widths(n_bins, total, tuning)
    atoms = DensityAtoms(axes, tuple(widths), coordinates.margins)
    likelihood = bind_counts(axes, coordinates, counts)
    columns = atoms.evaluate(product_of([axis.centres for axis in axes]))[:, :-1]
    problem = LatentProblem(
        DenseDictionary(columns), likelihood, largest_latent=tuning.largest_latent
    )
    groups = atoms.groups
    solution = TiedLaplaceSolver(groups, tol=tuning.tol).solve(problem)
    state = solution.state
    found = np.unique(groups[state.active])
    # From probabilities of counts to a density of points: each bin of size D with n points has
    # n!/D^n orders and positions, the change of variables has its Jacobian, and Gamma(N) is the
    # integral over the intercept of the Poisson likelihood of their number.
    evidence = state.mode.log_evidence + float(gammaln(counts + 1.0).sum() - gammaln(total))
    evidence -= total * sum(math.log(axis.span / axis.n_bins) for axis in axes)
    evidence += float(weight @ coordinates.log_slope(X))
    evidence += _replace_flat_prior(columns, groups, counts, state)
    weights = np.zeros(len(groups) + 1)
    weights[np.append(state.active, len(groups))] = state.mode.weights
    log_precision = add_removed_widths(columns, groups, state)
    hessian = Design(columns, has_intercept=True).hessian(
        state.mode.hessian.rows, np.append(np.exp(log_precision), 0.0)
    )
    return FittedDensity(
        coordinates=coordinates,
        atoms=atoms,
        kept=found[found >= 0],
        weights=weights,
        root=_covariance_root(hessian),
        log_precision=log_precision,
        counts=counts,
        effective_dof=float(state.mode.hessian.degrees_of_freedom.sum()),
        log_evidence=evidence,
        n_iter=solution.n_iter,
        converged=solution.converged,
        n_nodes=tuning.n_nodes[n_axes - 1],
    )


def _make_axes(
    U: Matrix, weight: Vector, coordinates: Coordinates, n_bins: int, tuning: DensityTuning
) -> tuple[Axis, ...]:
    axes = []
    for u, standard in zip(U.T, coordinates.standards, strict=True):
        margin = tuning.margin * Sample(u, weight).bandwidth
        lower = standard.lower if math.isfinite(standard.lower) else float(u.min()) - margin
        upper = standard.upper if math.isfinite(standard.upper) else float(u.max()) + margin
        axes.append(Axis(lower, upper, n_bins))
    return tuple(axes)


def _count(U: Matrix, weight: Vector, axes: Sequence[Axis]) -> Vector:
    """Return the weight of the points in each bin."""
    edges = [axis.edges for axis in axes]
    # Points at the ends of the support may be outside by a rounding error of the score.
    inside = np.column_stack([np.clip(u, e[0], e[-1]) for u, e in zip(U.T, edges, strict=True)])
    result: Vector = np.histogramdd(inside, edges, weights=weight)[0].ravel()
    return result


def _integrate(table: PchipInterpolator, axis: Axis, coordinates: Coordinates) -> Vector:
    """Return the weight of rounded values in each bin.

    Points spread over the intervals would fall into bins of nearly their distance in a pattern.
    """
    edges = np.clip(coordinates.inverse(axis.edges[:, None])[:, 0], table.x[0], table.x[-1])
    # Intervals of the outermost values may reach a little over the bins.
    edges[[edges.argmin(), edges.argmax()]] = table.x[[0, -1]]
    reached = table(edges)
    # The score of a support with an upper end decreases.
    result: Vector = np.abs(np.diff(reached))
    return result


def _list_widths(n_bins: int, total: float, tuning: DensityTuning) -> list[float]:
    """Return 1/4, 1/8 and so on, down to what the bins and the number of points can resolve."""
    few, more = tuning.finest
    finest = few if total < tuning.few_points else more
    if total >= tuning.many_points:
        finest *= 0.5
    # No more basis functions of one width than half the points.
    finest = max(finest, tuning.bins_per_width / n_bins, 2.0 / total)
    widths = [0.25]
    while 0.5 * widths[-1] >= finest:
        widths.append(0.5 * widths[-1])
    return widths


def _replace_flat_prior(
    columns: Matrix, groups: IndexArray, counts: Vector, state: LatentState
) -> float:
    """Return the change of the log evidence if free terms had a prior worth one observation.

    Their nearly flat prior lowers the evidence by an arbitrary constant for each of them.
    References with different numbers of parameters are compared under the unit-information prior,
    whose precision is the information of one observation (Kass and Wasserman, 1995).
    """
    is_free = groups[state.active] == FREE
    terms, share = columns[:, state.active[is_free]], counts / counts.sum()
    information = np.maximum(share @ (terms - share @ terms) ** 2, 1e-9)  # zero for two points
    return 0.5 * float((np.log(information) - state.log_precision[is_free]).sum())


def _decorrelate(
    coordinates: Coordinates, X: Matrix, weight: Vector, tuning: DensityTuning
) -> list[Coordinates]:
    """Return uncorrelated coordinates, if both scores are normal and strongly correlated.

    They suit points along a line; the scores themselves suit separate clusters.
    """
    if any(standard.name != "normal" for standard in coordinates.standards):
        return []
    scores = coordinates.transform(X)
    moments = (scores * weight[:, None]).T @ scores
    correlation = float(moments[0, 1] / math.sqrt(moments[0, 0] * moments[1, 1]))
    if abs(correlation) < tuning.least_correlation:
        return []
    # Both of them, so that the order of the columns does not matter.
    return [Coordinates(coordinates.margins, correlation, kept) for kept in (0, 1)]


def _covariance_root(hessian: Hessian) -> Matrix:
    # D H D = L L', so that H^-1 = (D L^-T) (D L^-T)'.
    inverse = solve_lower(hessian.factor, np.eye(len(hessian.scale)), transposed=True)
    result: Matrix = hessian.scale[:, None] * inverse
    return result
