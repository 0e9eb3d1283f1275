"""Simulated counts with known rates, and the claims of an insurance company."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bench.classification.problems import read_set

__all__ = ["CLAIMS", "SIMULATED", "CountDraw", "read_claims"]

Array = np.ndarray
N_ROWS = 300
CLAIMS = "insurance.npz"


class CountDraw(NamedTuple):
    """Inputs, exposures, the true rate per unit of exposure, and counts."""

    X: Array
    exposure: Array
    rate: Array
    counts: Array


def _simulate(
    log_rate: Callable[[Array], Array],
    n_features: int = 1,
    exposures: tuple[float, float] = (1.0, 1.0),
    shape: float = np.inf,
) -> Callable[[int], CountDraw]:
    """Return a function of the seed that draws rows with this log rate."""

    def draw(seed: int) -> CountDraw:
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(N_ROWS, n_features))
        exposure = rng.uniform(*exposures, size=N_ROWS)
        rate = np.exp(log_rate(X))
        factor = rng.gamma(shape, 1.0 / shape, size=N_ROWS) if np.isfinite(shape) else 1.0
        return CountDraw(X, exposure, rate, rng.poisson(exposure * rate * factor))

    return draw


def _sine(X: Array) -> Array:
    return np.log(4.0) + np.sin(2.0 * np.pi * X[:, 0])


def _peaks(X: Array) -> Array:
    """Return the log of a rate with a narrow and a wide peak."""
    narrow = 12.0 * np.exp(-0.5 * ((X[:, 0] - 0.25) / 0.03) ** 2)
    return np.log(1.0 + narrow + 6.0 * np.exp(-0.5 * ((X[:, 0] - 0.7) / 0.1) ** 2))


SIMULATED = {
    "sine, 4 events per row": _simulate(_sine),
    "low counts, 0.5 events per row": _simulate(lambda X: _sine(X) - np.log(8.0)),
    "a narrow and a wide peak": _simulate(_peaks),
    "sine, exposures from 0.4 to 7": _simulate(
        lambda X: _sine(X) - np.log(4.0), exposures=(0.4, 7.0)
    ),
    "five features, two relevant": _simulate(lambda X: _sine(X) + 1.5 * X[:, 1] - 0.75, 5),
    "sine, negative binomial of shape 2": _simulate(_sine, shape=2.0),
}
"""Draws by seed; the median rate is given without the factor of overdispersion, of mean one."""


def read_claims() -> tuple[Array, Array, Array]:
    """Return indicators of district, engine size and age, holders of policies, and claims.

    Baxter, Coutts and Ross (1980), Applications of linear models in motor insurance; `Insurance` of
    the R package MASS.
    """
    arrays = read_set(CLAIMS)
    columns = [arrays[name][:, None] for name in ("District", "Group", "Age")]
    indicators = [column == np.unique(column) for column in columns]
    X = np.hstack(indicators).astype(np.float64)
    return X, arrays["Holders"], arrays["Claims"]
