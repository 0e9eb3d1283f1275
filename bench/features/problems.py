"""Two-class problems with irrelevant features: synthetic by seed, published by split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.classification.problems import PROBLEMS as CLASSIFICATION
from bench.classification.problems import SETS, Draw, folder, read_set

__all__ = ["BENCHMARKS", "GENES", "SYNTHETIC", "WIDE", "Problem"]

N_TEST = 4000
TEST_SHARE = 0.2


@dataclass(frozen=True)
class Problem:
    """A source of draws."""

    name: str
    title: str
    draw: Callable[[int], Draw]
    relevant: tuple[int, ...] | None = None
    """Relevant features, if known and not all."""
    file: str | None = None
    n_draws: int | None = None
    """How many different draws there are, if not as many as one likes."""

    @property
    def is_there(self) -> bool:
        """Whether the problem can be run."""
        where = folder()
        return self.file is None or (where is not None and (where / self.file).exists())


# ---------------------------------------------------------------- synthetic


def ring(n_features: int) -> Problem:
    """Return a class around another one in the first two features."""

    def draw(seed: int) -> Draw:
        from relvec.datasets import make_ring

        X, y, truth = make_ring(150, n_features, random_state=seed, return_truth=True)
        return Draw(X, y, *truth.sample(N_TEST, random_state=seed + 10**6))

    title = f"Ring: N = 150, 2 of {n_features} features are relevant"
    return Problem(f"ring{n_features}", title, draw, (0, 1))


def _twonorm(seed: int) -> Draw:
    from relvec.datasets import make_twonorm

    X, y, truth = make_twonorm(400, random_state=seed, return_truth=True)
    return Draw(X, y, *truth.sample(N_TEST, random_state=seed + 10**6))


def wide(n_features: int, n_samples: int = 100, n_test: int = 200) -> Problem:
    """Return standard normal features, five of them around +1 or -1 by class."""

    def sample(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        label = np.arange(n) % 2
        X = rng.standard_normal((n, n_features))
        X[:, :5] += (2 * label - 1)[:, None]
        return X, label

    def draw(seed: int) -> Draw:
        rng = np.random.default_rng(seed)
        return Draw(*sample(n_samples, rng), *sample(n_test, rng))

    title = f"N = {n_samples}, 5 of {n_features} features are relevant"
    return Problem(f"wide{n_features}", title, draw, (0, 1, 2, 3, 4))


SYNTHETIC = {
    problem.name: problem
    for problem in (
        ring(10),
        ring(50),
        Problem("twonorm", "Twonorm: N = 400, all 20 features are equally relevant", _twonorm),
    )
}

WIDE = {problem.name: problem for problem in (wide(50_000), wide(1000))}

# ---------------------------------------------------------------- published

BENCHMARKS = {
    name: Problem(name, name, known.draw, file=known.file, n_draws=known.n_draws)
    for name, known in {"Ripley": CLASSIFICATION["Ripley"], **SETS}.items()
}


def genes(name: str, file: str, logarithm: bool) -> Problem:
    """Return random splits of a set of gene expressions, stratified by class."""

    def draw(seed: int) -> Draw:
        from sklearn.model_selection import StratifiedShuffleSplit

        arrays = read_set(file)
        X, y = arrays["X"].astype(float), arrays["y"].astype(int)
        if logarithm:
            X = np.log(np.maximum(X, 1.0))
        splits = StratifiedShuffleSplit(1, test_size=TEST_SHARE, random_state=seed)
        train, test = next(splits.split(X, y))
        return Draw(X[train], y[train], X[test], y[test])

    title = f"{name}, {'logarithms' if logarithm else 'columns as they are'}"
    return Problem(f"{name}, log" if logarithm else name, title, draw, file=file)


GENES = {
    problem.name: problem
    for logarithm in (False, True)
    for problem in (
        genes("Colon", "colon.npz", logarithm),
        genes("Leukaemia", "leukemia_golub.npz", logarithm),
    )
}
