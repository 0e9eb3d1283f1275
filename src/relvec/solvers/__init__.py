"""Ways to maximise the evidence."""

from __future__ import annotations

from relvec._checks import check_choice
from relvec.solvers.base import (
    Candidate,
    Certificate,
    Monitor,
    Problem,
    Progress,
    Solution,
    Solver,
    WarmStart,
)
from relvec.solvers.fixed_point import FixedPointSolver
from relvec.solvers.orthonormal import OrthonormalSolver
from relvec.solvers.random_order import RandomOrderSolver
from relvec.solvers.search import EFFORTS, SequentialSolver
from relvec.solvers.textbook import TextbookSolver

SOLVER_NAMES = ("auto", "sequential", "mackay", "em", "textbook", "orthonormal", "random_order")


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
    """
    if not isinstance(solver, str):
        if isinstance(solver, type) or not hasattr(solver, "solve"):
            raise TypeError(
                f"solver must be one of {SOLVER_NAMES} or an object with a method "
                f"solve(problem), such as SequentialSolver(); got {solver!r}."
            )
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


__all__ = [
    "EFFORTS",
    "Candidate",
    "Certificate",
    "FixedPointSolver",
    "Monitor",
    "OrthonormalSolver",
    "Problem",
    "Progress",
    "RandomOrderSolver",
    "SequentialSolver",
    "Solution",
    "Solver",
    "TextbookSolver",
    "WarmStart",
    "resolve_solver",
]
