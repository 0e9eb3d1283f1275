"""Solvers for Gaussian noise. They use moments of the data only, never the rows."""
