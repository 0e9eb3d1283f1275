"""Two-class problems: synthetic ones by seed, published ones by number of their split.

Published sets are read from the folder that ``--data`` or RELVEC_DATA names; without it they are
left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

__all__ = ["PROBLEMS", "SETS", "VARIABLE", "Draw", "Problem", "folder", "read_set"]

VARIABLE = "RELVEC_DATA"
N_TEST = 5000


class Draw(NamedTuple):
    """Training and test rows; classes are numbered from zero."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


@dataclass(frozen=True)
class Problem:
    """A source of draws, and the gamma of ``exp(-gamma |x - z|^2)`` for all methods."""

    name: str
    n_samples: int
    gamma: float
    draw: Callable[[int], Draw]
    file: str | None = None
    """The published set it comes from; None for a synthetic one."""
    n_draws: int | None = None
    """How many different draws there are, if not as many as one likes."""

    @property
    def is_there(self) -> bool:
        """Whether the problem can be run."""
        if self.file is None:
            return True
        known = folder()
        return known is not None and (known / self.file).exists()


def folder() -> Path | None:
    """Return the folder of published sets, if one is named."""
    name = os.environ.get(VARIABLE)
    return Path(name) if name else None


def read_set(file: str) -> dict[str, np.ndarray]:
    """Return the arrays of a published set."""
    where = folder()
    if where is None:
        raise FileNotFoundError(f"{file} needs --data FOLDER or the variable {VARIABLE}.")
    with np.load(where / file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


# ---------------------------------------------------------------- synthetic


def mixture(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of two classes, each two round Gaussians, as in Ripley's synthetic set."""
    centres = np.array([[[-0.7, 0.3], [0.3, 0.3]], [[-0.3, 0.7], [0.4, 0.7]]])
    label = np.arange(n) % 2
    centre = centres[label, rng.integers(0, 2, n)]
    return centre + np.sqrt(0.03) * rng.standard_normal((n, 2)), label


def crescents(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return two noisy half rings, one inside the other, opening to opposite sides."""
    label = np.arange(n) % 2
    angle = rng.uniform(0.0, np.pi, n)
    outer = np.column_stack([1.5 * np.cos(angle), 1.5 * np.sin(angle)])
    inner = np.column_stack([0.5 * np.cos(angle), 0.6 - 0.6 * np.sin(angle)])
    clean = np.where(label[:, None] == 1, outer, inner)
    return clean + 0.45 * rng.standard_normal((n, 2)), label


Sampler = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]


def synthetic(name: str, n_samples: int, gamma: float, sampler: Sampler) -> Problem:
    """Return a problem whose draws are a function of the seed."""

    def draw(seed: int) -> Draw:
        rng = np.random.default_rng(seed)
        return Draw(*sampler(n_samples, rng), *sampler(N_TEST, rng))

    return Problem(name, n_samples, gamma, draw)


# ---------------------------------------------------------------- published


def published(name: str, file: str, n_samples: int, gamma: float, n_draws: int) -> Problem:
    """Return a problem whose draws are the splits in a file, taken in turn."""

    def draw(number: int) -> Draw:
        arrays = read_set(file)
        if "train" not in arrays:
            X, X_test = arrays["X_train"], arrays["X_test"]
            y, y_test = arrays["y_train"], arrays["y_test"]
        else:
            train, test = (arrays[part][number % n_draws] for part in ("train", "test"))
            X, X_test = arrays["X"][train], arrays["X"][test]
            y, y_test = arrays["y"][train], arrays["y"][test]
        return Draw(X, (y > 0).astype(int), X_test, (y_test > 0).astype(int))

    return Problem(name, n_samples, gamma, draw, file, n_draws)


PROBLEMS = {
    problem.name: problem
    for problem in (
        synthetic("mixture250", 250, 4.0, mixture),
        published("Ripley", "ripley_synth.npz", 250, 4.0, 1),
        synthetic("crescents400", 400, 1.0, crescents),
        published("Banana", "ida_banana.npz", 400, 1.0, 10),
        synthetic("crescents1000", 1000, 1.0, crescents),
        synthetic("crescents2000", 2000, 1.0, crescents),
        synthetic("crescents5000", 5000, 1.0, crescents),
    )
}
"""Cases of the part `speed`, smallest first."""

SETS = {
    "Pima": published("Pima", "pima.npz", 200, np.nan, 1),
    "Titanic": published("Titanic", "ida_titanic.npz", 150, np.nan, 10),
    "Breast Cancer": published("Breast Cancer", "ida_breast_cancer.npz", 200, np.nan, 10),
    "Banana": published("Banana", "ida_banana.npz", 400, np.nan, 10),
    "Waveform": published("Waveform", "ida_waveform.npz", 400, np.nan, 10),
    "German": published("German", "ida_german.npz", 700, np.nan, 10),
    "Image": published("Image", "ida_image.npz", 1300, np.nan, 10),
}
"""Sets of the part `calibration`: gamma is chosen by cross-validation."""
