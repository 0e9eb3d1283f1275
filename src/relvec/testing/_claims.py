"""Claims that raise a sentence when they fail, and inputs to try them on."""

from __future__ import annotations

import numpy as np

from relvec._typing import Matrix


def require(condition: bool, claim: str) -> None:
    if not condition:
        raise AssertionError(f"{claim}.")


def require_close(
    value: np.ndarray, reference: np.ndarray, claim: str, tolerance: float = 1e-9
) -> None:
    """Compare two routes to the same numbers, relative to the largest of them."""
    if np.shape(value) != np.shape(reference):
        raise AssertionError(f"{claim}: shapes {np.shape(value)} and {np.shape(reference)}.")
    allowed = tolerance * max(1.0, float(np.abs(reference).max(initial=0.0)))
    difference = float(np.abs(np.asarray(value) - reference).max(initial=0.0))
    # Written so that NaN fails.
    if not difference <= allowed:
        raise AssertionError(
            f"{claim}: largest difference {difference:.3g}, allowed {allowed:.3g}."
        )


def default_inputs() -> Matrix:
    inputs = np.random.default_rng(0).uniform(0.1, 2.0, size=(12, 3))
    inputs[7] = inputs[2]
    return inputs
