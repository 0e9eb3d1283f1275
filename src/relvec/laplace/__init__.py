"""Laplace approximation for any likelihood: mode, Hessian, evidence and its gradient."""

from relvec.laplace.mode import Mode, find_mode

__all__ = ["Mode", "find_mode"]
