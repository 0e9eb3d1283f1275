"""Solvers by their names."""

from __future__ import annotations

from relvec._checks import check_choice
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
)

__all__ = ["resolve_latent_solver", "resolve_solver"]

NAMED: dict[str, type[Solver]] = {
    "textbook": TextbookSolver,
    "orthonormal": OrthonormalSolver,
    "random_order": RandomOrderSolver,
}
SOLVER_NAMES = ("auto", "sequential", "mackay", "em", "textbook", "orthonormal", "random_order")
LATENT_SOLVERS = (LaplaceSolver, LaplaceFixedPointSolver)
LATENT_SOLVER_NAMES = ("auto", "sequential", "exact", "mackay", "em")


def resolve_solver(solver: Solver | str, *, effort: str, needs_dense: bool) -> Solver:
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

    Examples
    --------
    >>> from relvec.estimators._solvers import resolve_solver
    >>> resolve_solver("auto", effort="fast", needs_dense=False)
    SequentialSolver(effort='fast')
    >>> resolve_solver("auto", effort="fast", needs_dense=True)
    FixedPointSolver()
    """
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
    solver: LatentSolver | str, *, needs_dense: bool, n_latent: int = 1
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

    Examples
    --------
    >>> from relvec.estimators._solvers import resolve_latent_solver
    >>> resolve_latent_solver("auto", needs_dense=False)
    LaplaceSolver()
    """
    if not isinstance(solver, str):
        _check_can_solve(solver, LATENT_SOLVER_NAMES, "LaplaceSolver()")
        if isinstance(solver, (SequentialSolver, FixedPointSolver, *NAMED.values())):
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


def _check_can_solve(solver: object, names: tuple[str, ...], example: str) -> None:
    if isinstance(solver, type) or not hasattr(solver, "solve"):
        raise TypeError(
            f"solver must be one of {names} or an object with a method solve(problem), such as "
            f"{example}; got {solver!r}."
        )
