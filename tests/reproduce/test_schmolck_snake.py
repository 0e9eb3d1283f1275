"""Two snakes and two sets under smoothness priors: judged by the true probabilities."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from relvec import RVMClassifier
from relvec.datasets import make_snake
from reproduce.engine import Results, Settings
from reproduce.experiments import schmolck_snake as snake


def test_errors_are_expected_ones_under_the_truth():
    found = snake.fit_snake(None, 60, 1.0, "flat", 1)
    X, y, truth = make_snake(60, random_state=snake.SEED + 1, return_truth=True)
    model = RVMClassifier(gamma=1.0).fit(X, y)
    X_new, y_new = truth.sample(20000, random_state=0)
    assert found["error"] == pytest.approx(np.mean(model.predict(X_new) != y_new), abs=0.02)
    assert found["least"] < found["error"]
    assert found["least"] == pytest.approx(0.112, abs=0.01)
    assert found["n_vectors"] == len(model.relevance_)
    assert "surface" not in found


def test_halves_of_a_set_do_not_overlap(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.standard_normal((60, 2)) + 3.0 * y[:, np.newaxis]
    np.savez(tmp_path / "easy.npz", X=X, y=y)
    np.savez(tmp_path / "void.npz", X=rng.standard_normal((60, 2)), y=y)
    assert snake.fit_set(tmp_path, "easy", "flat", 2, 1)["error"] < 0.15
    assert snake.fit_set(tmp_path, "void", "flat", 2, 1)["error"] > 0.25


@pytest.mark.slow
def test_pictures_and_table():
    settings = Settings(None, repetitions=2)
    values = {}
    for name in (*(each.name for each in snake.SNAKES), *snake.SETS):
        for place, prior in enumerate(snake.PRIORS):
            for draw in range(2):
                values[f"{name}/{prior}/{draw}"] = {
                    "train": 0.1,
                    "error": 0.2,
                    "least": 0.1,
                    "entropy": 0.4 + 0.1 * place,
                    "n_vectors": 3,
                    "converged": True,
                    "surface": np.linspace(0.0, 1.0, len(snake._plane())).tolist(),
                    "vectors": [0, 1, 2],
                }
    results = Results(values, {})
    (table,) = snake.EXPERIMENT.tables(results, settings)
    assert [row[4].split()[0] for row in table.rows[:4]] == ["–", "0.1", "0.2", "0.3"]
    figures = snake.EXPERIMENT.figures(results, settings)
    assert list(figures) == ["schmolck_snake_3_1", "schmolck_snake_3_2"]
