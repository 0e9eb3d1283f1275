"""Solvers by their names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from relvec._checks import check_choice
from relvec._typing import IndexArray
from relvec.bases.base import Basis, BoundBasis
from relvec.priors import FlatPrior, Prior
from relvec.published import (
    FixedPointSolver,
    LaplaceFixedPointSolver,
    RandomOrderSolver,
    TextbookSolver,
)
from relvec.solvers import (
    LaplaceSolver,
    LatentSolver,
    OrthonormalSolver,
    SequentialSolver,
    Solver,
    TiedLaplaceSolver,
    TiedSolver,
)

__all__ = [
    "bind_groups",
    "choose_precision",
    "read_precision",
    "resolve_latent_solver",
    "resolve_solver",
    "without_flat",
]

AnySolver = TypeVar("AnySolver")

NAMED: dict[str, type[Solver]] = {
    "textbook": TextbookSolver,
    "orthonormal": OrthonormalSolver,
    "random_order": RandomOrderSolver,
}
SOLVER_NAMES = ("auto", "sequential", "mackay", "em", "textbook", "orthonormal", "random_order")
LATENT_SOLVERS = (LaplaceSolver, LaplaceFixedPointSolver, TiedLaplaceSolver)
LATENT_SOLVER_NAMES = ("auto", "sequential", "exact", "mackay", "em")


def resolve_solver(
    solver: Solver | str, *, effort: str, needs_dense: bool, precision: str = "atom"
) -> Solver:
    """Return the solver of a regression model by its name.

    Parameters
    ----------
    solver : Solver or {"auto", "sequential", "mackay", "em", "textbook", \
"orthonormal", "random_order"}
        Name, or a solver, which is returned as it is. "auto" is "sequential", or "mackay" if
        `needs_dense`.
    effort : {"fast", "balanced", "thorough"}
        Effort of the sequential solver.
    needs_dense : bool
        Whether the prior keeps all atoms (a Gamma prior does).
    precision : {"atom", "tied"}, default="atom"
        Whether each atom has its own precision, or all atoms of a basis share one; the solver of
        the latter is bound to a basis by `bind_groups`.

    Examples
    --------
    >>> from relvec.estimators._solvers import resolve_solver
    >>> resolve_solver("auto", effort="fast", needs_dense=False)
    SequentialSolver(effort='fast')
    >>> resolve_solver("auto", effort="fast", needs_dense=True)
    FixedPointSolver()
    """
    if precision == "tied":
        _check_tied(solver)
        return TiedSolver()
    if not isinstance(solver, str):
        _check_can_solve(solver, SOLVER_NAMES, "SequentialSolver()")
        if isinstance(solver, LATENT_SOLVERS):
            raise TypeError(
                f"{type(solver).__name__} is for classification; regression needs a solver such as "
                f"SequentialSolver(); got {solver!r}."
            )
        return solver
    check_choice("solver", solver, SOLVER_NAMES)
    if solver in NAMED:
        return NAMED[solver]()
    if solver in ("mackay", "em") or (solver == "auto" and needs_dense):
        return FixedPointSolver("em" if solver == "em" else "mackay")
    return SequentialSolver(effort)


def resolve_latent_solver(
    solver: LatentSolver | str, *, needs_dense: bool, n_latent: int = 1, precision: str = "atom"
) -> LatentSolver:
    """Return the solver of a classification model by its name.

    Parameters
    ----------
    solver : LatentSolver or {"auto", "sequential", "exact", "mackay", "em"}
        Name, or a solver, which is returned as it is. "auto" is "sequential", or "mackay" if
        `needs_dense`.
    needs_dense : bool
        Whether the prior keeps all atoms (a Gamma prior does).
    n_latent : int, default=1
        Number of latent functions (logits) in one model; "mackay" and "em" are for one.
    precision : {"atom", "tied"}, default="atom"
        As for `resolve_solver`; "tied" is for one latent function.

    Examples
    --------
    >>> from relvec.estimators._solvers import resolve_latent_solver
    >>> resolve_latent_solver("auto", needs_dense=False)
    LaplaceSolver()
    """
    if precision == "tied":
        _check_tied(solver)
        if n_latent > 1:
            raise ValueError(
                'precision="tied", the default for bases with a prior spectrum, is for binary '
                'models; with more than two classes use multi_class="one_vs_rest".'
            )
        return TiedLaplaceSolver()
    if not isinstance(solver, str):
        _check_can_solve(solver, LATENT_SOLVER_NAMES, "LaplaceSolver()")
        if isinstance(solver, (SequentialSolver, FixedPointSolver, TiedSolver, *NAMED.values())):
            raise TypeError(
                f"{type(solver).__name__} is for regression; classification needs a solver such as "
                f"LaplaceSolver(); got {solver!r}."
            )
        return solver
    check_choice("solver", solver, LATENT_SOLVER_NAMES)
    if solver in ("mackay", "em") or needs_dense:
        if n_latent > 1:
            asked = "A Gamma prior" if needs_dense else f"solver={solver!r}"
            raise ValueError(
                f"{asked} is for binary models; with more than two classes use "
                'multi_class="one_vs_rest".'
            )
        if solver in ("auto", "mackay", "em"):
            return LaplaceFixedPointSolver("em" if solver == "em" else "mackay")
    return LaplaceSolver(exact=solver == "exact")


def bind_groups(solver: AnySolver, bound: BoundBasis) -> AnySolver:
    """Return a solver of tied precisions with one group for each part of a basis.

    Explicit columns, which may be in different units, share their precision after scaling, unless
    they have a prior spectrum. A solver that has groups, and any other solver, is returned as it
    is.
    """
    if not isinstance(solver, (TiedSolver, TiedLaplaceSolver)) or solver.groups is not None:
        return solver
    groups = bound.groups("part") if bound.parts else np.zeros(len(bound.is_localised), np.intp)
    is_scaled = ~bound.is_localised
    if bound.has_spectrum is not None:
        is_scaled &= ~bound.has_spectrum
    bound_solver: AnySolver = replace(
        solver, groups=without_flat(groups, bound), standardise=is_scaled
    )
    return bound_solver


def without_flat(groups: IndexArray, bound: BoundBasis) -> IndexArray:
    """Return the groups with -1, no group, for atoms of nearly flat prior."""
    return groups if bound.is_flat is None else np.where(bound.is_flat, -1, groups)


def choose_precision(precision: str, basis: Basis) -> str:
    """Return "atom" or "tied" for the option `precision`; raise if it does not fit the basis."""
    if precision == "auto":
        return "tied" if basis.has_prior_spectrum else "atom"
    if precision == "atom" and basis.has_prior_spectrum:
        raise ValueError(
            f'precision="atom" does not fit {basis!r}: the prior variances of its weights are '
            "known up to a factor, and error bars of precisions that ignore them are far too "
            'narrow away from the data. Use precision="auto" or "tied".'
        )
    return precision


def read_precision(options: Any, prior: Prior, basis: Basis) -> str:
    """Return "atom" or "tied" for the option `precision`; raise if other options do not fit it."""
    precision = choose_precision(getattr(options, "precision", "auto"), basis)
    if precision == "atom":
        return precision
    reason = " of a basis with a prior spectrum" if basis.has_prior_spectrum else ""
    if not isinstance(prior, FlatPrior):
        raise ValueError(
            f'precision="tied"{reason} needs prior="flat"; got prior={options.prior!r}.'
        )
    if not isinstance(options.min_gain, str):
        raise ValueError(
            f'precision="tied"{reason} needs min_gain="auto", because basis functions are not '
            f"removed one by one; got {options.min_gain!r}."
        )
    return precision


def _check_tied(solver: object) -> None:
    if not (isinstance(solver, str) and solver == "auto"):
        raise ValueError(
            'precision="tied", the default for bases with a prior spectrum, has its own solver and '
            f'needs solver="auto"; got {solver!r}.'
        )


def _check_can_solve(solver: object, names: tuple[str, ...], example: str) -> None:
    if isinstance(solver, type) or not hasattr(solver, "solve"):
        raise TypeError(
            f"solver must be one of {names} or an object with a method solve(problem), such as "
            f"{example}; got {solver!r}."
        )
