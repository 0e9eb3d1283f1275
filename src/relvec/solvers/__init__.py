"""Ways to maximise the evidence."""

from __future__ import annotations

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
from relvec.solvers.gaussian.orthonormal import OrthonormalSolver
from relvec.solvers.gaussian.rate import RateLearner, with_learnt_rate
from relvec.solvers.gaussian.search import EFFORTS, SequentialSolver
from relvec.solvers.latent.labels import LabelProblem, LabelSolution, LabelSolver
from relvec.solvers.latent.laplace import LaplaceSolver
from relvec.solvers.latent.softmax import SoftmaxSolver
from relvec.solvers.latent.softmax_problem import SoftmaxProblem, SoftmaxSolution

__all__ = [
    "EFFORTS",
    "Candidate",
    "Certificate",
    "LabelProblem",
    "LabelSolution",
    "LabelSolver",
    "LaplaceSolver",
    "Monitor",
    "OrthonormalSolver",
    "Problem",
    "Progress",
    "RateLearner",
    "SequentialSolver",
    "SoftmaxProblem",
    "SoftmaxSolution",
    "SoftmaxSolver",
    "Solution",
    "Solver",
    "WarmStart",
    "with_learnt_rate",
]
