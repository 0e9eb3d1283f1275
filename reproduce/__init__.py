"""Reproduction of published tables and figures. ``python -m reproduce`` lists the experiments."""
