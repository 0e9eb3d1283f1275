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

DATA = Path(__file__).parent / "data"


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 10.0, 0.1]
    y = np.sin(X[:, 0]) + 0.05 * X[:, 1] + 0.1 * rng.normal(size=60)
    label = np.array(["high", "low", "middle"])[np.digitize(y, [-0.4, 0.4])]
    regression = make_pipeline(StandardScaler(), RVMRegressor(gamma=0.1)).fit(X, y)
    classifier = RVMClassifier().fit(X, label)
    version = ".".join(relvec.__version__.split(".")[:2])
    new = X[:8] + 0.1
    scaled = regression[:-1].transform(new)
    expected = {
        "X": new.tolist(),
        "mean": regression.predict(new).tolist(),
        "std": regression[-1].predict(scaled, return_std=True)[1].tolist(),
        "label": classifier.predict(new).tolist(),
        "probability": classifier.predict_proba(new).tolist(),
    }
    save(regression, DATA / f"model-{version}-regression.relvec", about={"release": version})
    save(classifier, DATA / f"model-{version}-classifier.relvec", about={"release": version})
    (DATA / f"model-{version}.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
