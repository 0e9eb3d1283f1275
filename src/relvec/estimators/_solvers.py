"""Solvers by name."""

from __future__ import annotations

from relvec._checks import check_choice
from relvec.published import (
    FixedPointSolver,
    LaplaceFixedPointSolver,
    RandomOrderSolver,
    TextbookSolver,
)
from relvec.solvers import (
    LabelSolver,
    LaplaceSolver,
    OrthonormalSolver,
    SequentialSolver,
    SoftmaxSolver,
    Solver,
)

__all__ = ["resolve_label_solver", "resolve_softmax_solver", "resolve_solver"]

SOLVER_NAMES = ("auto", "sequential", "mackay", "em", "textbook", "orthonormal", "random_order")
LABEL_SOLVER_NAMES = ("auto", "sequential", "exact", "mackay", "em")


def resolve_solver(solver: Solver | str, *, effort: str, needs_dense: bool) -> Solver:
    """Turn the name of a solver into the solver.

    Parameters
    ----------
    solver : Solver or {"auto", "sequential", "mackay", "em", "textbook", \
"orthonormal", "random_order"}
        A solver is returned as it is. "auto" is "sequential", or "mackay" if `needs_dense`.
    effort : {"fast", "balanced", "thorough"}
        For the sequential solver.
    needs_dense : bool
        Whether the prior forbids switching atoms off (a Gamma prior does).

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
        return solver
    check_choice("solver", solver, SOLVER_NAMES)
    if solver == "textbook":
        return TextbookSolver()
    if solver == "orthonormal":
        return OrthonormalSolver()
    if solver == "random_order":
        return RandomOrderSolver()
    if solver in ("mackay", "em") or (solver == "auto" and needs_dense):
        return FixedPointSolver("em" if solver == "em" else "mackay")
    return SequentialSolver(effort)


def resolve_label_solver(solver: LabelSolver | str, *, needs_dense: bool) -> LabelSolver:
    """Turn the name of a solver for two classes into the solver.

    Parameters
    ----------
    solver : LabelSolver or {"auto", "sequential", "exact", "mackay", "em"}
        A solver is returned as it is. "auto" is "sequential", or "mackay" if `needs_dense`.
    needs_dense : bool
        Whether the prior forbids switching atoms off (a Gamma prior does).

    Examples
    --------
    >>> from relvec.estimators._solvers import resolve_label_solver
    >>> resolve_label_solver("auto", needs_dense=False)
    LaplaceSolver()
    """
    if not isinstance(solver, str):
        _check_can_solve(solver, LABEL_SOLVER_NAMES, "LaplaceSolver()")
        return solver
    check_choice("solver", solver, LABEL_SOLVER_NAMES)
    if solver in ("mackay", "em") or (solver == "auto" and needs_dense):
        return LaplaceFixedPointSolver("em" if solver == "em" else "mackay")
    return LaplaceSolver(exact=solver == "exact")


def resolve_softmax_solver(solver: SoftmaxSolver | str, *, needs_dense: bool) -> SoftmaxSolver:
    """Turn the name of a solver for several classes in one model into the solver.

    Parameters
    ----------
    solver : SoftmaxSolver or {"auto", "sequential"}
        A solver is returned as it is. Names of other solvers, which tell two classes apart, are
        refused, and so is a prior that asks for one of them.
    needs_dense : bool
        Whether the prior forbids switching atoms off (a Gamma prior does).

    Examples
    --------
    >>> from relvec.estimators._solvers import resolve_softmax_solver
    >>> resolve_softmax_solver("auto", needs_dense=False)
    SoftmaxSolver()
    """
    if not isinstance(solver, str):
        _check_can_solve(solver, LABEL_SOLVER_NAMES, "SoftmaxSolver()")
        return solver
    check_choice("solver", solver, LABEL_SOLVER_NAMES)
    if solver not in ("auto", "sequential") or needs_dense:
        asked = "A Gamma prior" if needs_dense else f"solver={solver!r}"
        raise ValueError(
            f"{asked} is for machines that tell two classes apart; with more classes use "
            'multi_class="one_vs_rest".'
        )
    return SoftmaxSolver()


def _check_can_solve(solver: object, names: tuple[str, ...], example: str) -> None:
    if isinstance(solver, type) or not hasattr(solver, "solve"):
        raise TypeError(
            f"solver must be one of {names} or an object with a method solve(problem), such as "
            f"{example}; got {solver!r}."
        )
