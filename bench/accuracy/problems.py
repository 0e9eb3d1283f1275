"""Regressions and classifications: published sets by number of their split, others by seed.

Published sets are read from the folder that ``--data`` or RELVEC_DATA names; without it they are
left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.classification.problems import SETS, Draw, folder, read_set

__all__ = ["PROBLEMS", "Problem", "problems_of"]

N_TEST = 1000
TEST_SHARE = 0.2


@dataclass(frozen=True)
class Problem:
    """A source of draws."""

    name: str
    part: str
    draw: Callable[[int], Draw]
    what: str
    """Where the draws come from, for the page."""
    file: str | None = None
    n_draws: int | None = None
    """How many different draws there are, if not as many as one likes; they count from zero."""
    is_resampled: bool = True
    """Whether two draws have rows in common."""
    repeats: int = 10
    """Draws on the page."""

    @property
    def is_there(self) -> bool:
        """Whether the problem can be run."""
        where = folder()
        return self.file is None or (where is not None and (where / self.file).exists())

    def overlap(self, draw: Draw) -> float:
        """Return test rows over training rows, what Nadeau and Bengio (2003) correct with.

        It is zero where every draw is a new sample.
        """
        return len(draw.y_test) / len(draw.y) if self.is_resampled else 0.0

    def seeds(self, first: int, n_draws: int) -> list[int]:
        """Return the numbers of so many draws, or of all if there are fewer."""
        if self.n_draws is None:
            return list(range(first, first + n_draws))
        return list(range(min(n_draws, self.n_draws)))


def _first(repeats: int, n_draws: int) -> str:
    return "the" if repeats >= n_draws else f"the first {repeats} of the"


def _split(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Draw:
    X = np.asarray(X, dtype=float)
    return Draw(X[train], y[train], X[test], y[test])


# ---------------------------------------------------------------- regression


def uci(name: str, repeats: int) -> Problem:
    """Return one of the sets with twenty published splits."""

    def draw(number: int) -> Draw:
        arrays = read_set(f"{name}.npz")
        train = arrays["train_mask"][number]
        return _split(arrays["X"], arrays["y"], train, ~train)

    what = f"{_first(repeats, 20)} 20 published splits, 90 % for training"
    return Problem(name, "regression", draw, what, f"{name}.npz", 20, repeats=repeats)


def halves(name: str, features: str, rows: str) -> Problem:
    """Return random halves of a set, as frozen in its file."""

    def draw(number: int) -> Draw:
        arrays = read_set(f"{name}.npz")
        train = np.zeros(len(arrays["y"]), dtype=bool)
        train[arrays[rows][number]] = True
        return _split(arrays[features], arrays["y"], train, ~train)

    what = "random halves, frozen with the data"
    return Problem(name, "regression", draw, what, f"{name}.npz", 100)


def friedman(kind: int) -> Problem:
    """Return one of Friedman's functions; test targets have noise like those of the training."""

    def draw(seed: int) -> Draw:
        from relvec.datasets import make_friedman

        X, y, truth = make_friedman(kind, 240, random_state=seed, return_truth=True)
        return Draw(X, y, *truth.sample(N_TEST, random_state=seed + 10**6))

    what = f"fresh draws of 240 rows and {N_TEST} test rows, with Tipping's noise in both"
    return Problem(f"friedman{kind}", "regression", draw, what, is_resampled=False)


# ---------------------------------------------------------------- classification


def published(name: str, key: str, repeats: int = 10) -> Problem:
    """Return a set with ten published splits."""
    known = SETS[key]
    what = f"{_first(repeats, 10)} 10 published splits"
    return Problem(
        name, "classification", known.draw, what, known.file, known.n_draws, repeats=repeats
    )


def repartitioned(name: str, file: str) -> Problem:
    """Return a published split, and random ones of all its rows into parts of the same sizes."""

    def draw(number: int) -> Draw:
        arrays = read_set(file)
        n_train = len(arrays["y_train"])
        X, y = (np.concatenate([arrays[f"{a}_train"], arrays[f"{a}_test"]]) for a in "Xy")
        label = np.unique(y, return_inverse=True)[1]
        order = np.arange(len(y))
        if number > 0:
            order = np.random.default_rng(number).permutation(order)
        return _split(X, label, order[:n_train], order[n_train:])

    what = "the published split, then random ones of the same sizes"
    return Problem(name, "classification", draw, what, file, 100)


def shuffled(
    name: str,
    load: Callable[[], tuple[np.ndarray, np.ndarray]],
    file: str | None = None,
    repeats: int = 10,
) -> Problem:
    """Return random splits of a set, stratified by class."""

    def draw(seed: int) -> Draw:
        from sklearn.model_selection import StratifiedShuffleSplit

        X, y = load()
        label = np.unique(y, return_inverse=True)[1]
        splits = StratifiedShuffleSplit(1, test_size=TEST_SHARE, random_state=seed)
        return _split(X, label, *next(splits.split(X, label)))

    source = "" if file else ", set of scikit-learn"
    what = f"random splits, {100 * (1 - TEST_SHARE):.0f} % for training{source}"
    return Problem(name, "classification", draw, what, file, repeats=repeats)


def from_file(file: str) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    """Return a function that reads features and classes."""

    def load() -> tuple[np.ndarray, np.ndarray]:
        arrays = read_set(file)
        return arrays["X"], arrays["y"]

    return load


def from_sklearn(name: str) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    """Return a function that loads a set of scikit-learn."""

    def load() -> tuple[np.ndarray, np.ndarray]:
        import sklearn.datasets

        X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
        return X, y

    return load


# ---------------------------------------------------------------- all

PROBLEMS = {
    problem.name: problem
    for problem in (
        uci("uci_yacht", 10),
        uci("uci_boston", 10),
        uci("uci_energy", 5),
        uci("uci_wine_red", 5),
        uci("uci_power", 5),
        halves("boston", "X", "train_253"),
        halves("diabetes", "X_raw", "train_221"),
        *(friedman(kind) for kind in (1, 2, 3)),
        published("ida_banana", "Banana"),
        published("ida_breast_cancer", "Breast Cancer"),
        published("ida_titanic", "Titanic"),
        published("ida_waveform", "Waveform", 5),
        published("ida_german", "German", 5),
        published("ida_image", "Image", 5),
        repartitioned("pima", "pima.npz"),
        repartitioned("ripley", "ripley_synth.npz"),
        shuffled("iris", from_file("iris.npz"), "iris.npz"),
        shuffled("ionosphere", from_file("ionosphere.npz"), "ionosphere.npz"),
        shuffled("colon", from_file("colon.npz"), "colon.npz", repeats=5),
        shuffled("leukemia", from_file("leukemia_golub.npz"), "leukemia_golub.npz", repeats=5),
        shuffled("wine", from_sklearn("wine")),
        shuffled("breast_cancer", from_sklearn("breast_cancer")),
        shuffled("digits", from_sklearn("digits"), repeats=5),
    )
}


def problems_of(part: str) -> list[Problem]:
    """Return the problems of a part."""
    return [problem for problem in PROBLEMS.values() if problem.part == part]
