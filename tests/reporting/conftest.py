"""Models and reports shared by several tests."""

from __future__ import annotations

import numpy as np
import pytest

from relvec import RVMClassifier, RVMRegressor
from relvec.datasets import make_snake
from relvec.reporting import make_report


@pytest.fixture(scope="session")
def sinc():
    rng = np.random.default_rng(4)
    X = rng.uniform(-10.0, 10.0, size=(90, 1))
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=90)
    return RVMRegressor(gamma=0.1).fit(X, y), X, y


@pytest.fixture(scope="session")
def snake():
    X, y = make_snake(120, random_state=0)
    return RVMClassifier(gamma=1.0).fit(X, y), X, y


@pytest.fixture(scope="session")
def sinc_report(sinc):
    return make_report(*sinc, title="Sinc", target="height", cv=3, n_bootstrap=10)


@pytest.fixture(scope="session")
def snake_report(snake):
    return make_report(*snake, title="Snake", cv=3)
