"""Assertions with messages, and default inputs for the checks."""

from __future__ import annotations

import numpy as np

from relvec._typing import Matrix


def require(condition: bool, claim: str) -> None:
    """Raise `AssertionError` with the message `claim` unless `condition` is true."""
    if not condition:
        raise AssertionError(f"{claim}.")


def require_close(
    value: np.ndarray, reference: np.ndarray, claim: str, tolerance: float = 1e-9
) -> None:
    """Raise unless `value` equals `reference` up to `tolerance` times its largest entry."""
    if np.shape(value) != np.shape(reference):
        raise AssertionError(
            f"{claim}: got shape {np.shape(value)}, expected {np.shape(reference)}."
        )
    allowed = tolerance * max(1.0, float(np.abs(reference).max(initial=0.0)))
    difference = float(np.abs(np.asarray(value) - reference).max(initial=0.0))
    # Written so that NaN fails.
    if not difference <= allowed:
        raise AssertionError(
            f"{claim}: largest difference {difference:.3g}, allowed {allowed:.3g}."
        )


def default_inputs() -> Matrix:
    """Return twelve positive inputs in three dimensions, two of them equal."""
    inputs = np.random.default_rng(0).uniform(0.1, 2.0, size=(12, 3))
    inputs[7] = inputs[2]
    return inputs
