"""Write the model files of a release: ``python -m tests.io.make_release_files``.

They are made once for every minor version and never again: what they predict must not change
when later versions load them.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import relvec
from relvec import RVMClassifier, RVMRegressor
from relvec.io import save
from tests.io import zoo

DATA = Path(__file__).parent / "data"
VERSION = ".".join(relvec.__version__.split(".")[:2])
KINDS = (
    "regressor_augmented",
    "drvm_propagate",
    "two_outputs_scales",
    "union",
    "wavelet_basis",
    "classifier",
    "one_vs_rest",
    "denoiser",
)
"""Models of `tests.io.zoo` of as many types of ours as few files can hold."""


def main() -> None:
    write_models()
    write_kinds()


def write_models() -> None:
    """Write two models, and what they predict."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 10.0, 0.1]
    y = np.sin(X[:, 0]) + 0.05 * X[:, 1] + 0.1 * rng.normal(size=60)
    label = np.array(["high", "low", "middle"])[np.digitize(y, [-0.4, 0.4])]
    regression = make_pipeline(StandardScaler(), RVMRegressor(gamma=0.1)).fit(X, y)
    classifier = RVMClassifier().fit(X, label)
    new = X[:8] + 0.1
    scaled = regression[:-1].transform(new)
    expected = {
        "X": new.tolist(),
        "mean": regression.predict(new).tolist(),
        "std": regression[-1].predict(scaled, return_std=True)[1].tolist(),
        "label": classifier.predict(new).tolist(),
        "probability": classifier.predict_proba(new).tolist(),
    }
    save(regression, DATA / f"model-{VERSION}-regression.relvec", about={"release": VERSION})
    save(classifier, DATA / f"model-{VERSION}-classifier.relvec", about={"release": VERSION})
    (DATA / f"model-{VERSION}.json").write_text(json.dumps(expected, indent=1) + "\n")


def write_kinds() -> None:
    """Write a model of each kind, inputs for it, and its predictions there (no random draws)."""
    expected = {}
    for name in KINDS:
        model, inputs = zoo.fitted(name)
        inputs = inputs if name == "denoiser" else inputs[:5]
        predicted = [each.tolist() for each in zoo.answers(model, inputs)[:2]]
        expected[name] = {"X": inputs.tolist(), "answers": predicted}
        save(model, DATA / f"kinds-{VERSION}-{name}.relvec")
    (DATA / f"kinds-{VERSION}.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
