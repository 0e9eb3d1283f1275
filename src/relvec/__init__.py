"""relvec: sparse Bayesian learning for Python."""
