"""Solvers: algorithms that maximise the evidence (marginal likelihood)."""

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
from relvec.solvers.gaussian.odds import OddsLearner, inclusion_penalty
from relvec.solvers.gaussian.orthonormal import OrthonormalSolver
from relvec.solvers.gaussian.rate import RateLearner, with_learnt_rate
from relvec.solvers.gaussian.search import EFFORTS, SequentialSolver
from relvec.solvers.gaussian.simple import NullSolver, RidgeSolver
from relvec.solvers.gaussian.tied import TiedSolver
from relvec.solvers.gaussian.tuning import SearchTuning
from relvec.solvers.latent.laplace import LaplaceSolver
from relvec.solvers.latent.problem import LatentProblem, LatentSolution, LatentSolver
from relvec.solvers.latent.ridge import LaplaceRidgeSolver
from relvec.solvers.latent.tied import TiedLaplaceSolver

__all__ = [
    "EFFORTS",
    "Candidate",
    "Certificate",
    "LaplaceRidgeSolver",
    "LaplaceSolver",
    "LatentProblem",
    "LatentSolution",
    "LatentSolver",
    "Monitor",
    "NullSolver",
    "OddsLearner",
    "OrthonormalSolver",
    "Problem",
    "Progress",
    "RateLearner",
    "RidgeSolver",
    "SearchTuning",
    "SequentialSolver",
    "Solution",
    "Solver",
    "TiedLaplaceSolver",
    "TiedSolver",
    "WarmStart",
    "inclusion_penalty",
    "with_learnt_rate",
]
