"""Solvers for other likelihoods, which maximise the Laplace approximation of the evidence."""
