"""Kernel search against its peers: extrapolation of series, known structures, regression."""
