"""Solvers of problems with Gaussian noise, which see moments only."""
