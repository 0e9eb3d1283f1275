"""Explanations, plots and reports of functions of several features."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from relvec import KernelSearchRegressor
from relvec.reporting import make_report

RNG = np.random.default_rng(1)
X = pd.DataFrame(RNG.uniform(size=(150, 5)), columns=list("abcde"))
Y = 10.0 * np.sin(np.pi * X.a * X.b) + 20.0 * (X.c - 0.5) ** 2 + 10.0 * X.d + RNG.normal(size=150)


@pytest.fixture(scope="module")
def model():
    return KernelSearchRegressor(effort="fast", mode="interpretable").fit(X, Y)


def test_sentences_have_the_numbers_of_the_function(model):
    text = model.explain()
    assert text.startswith("The target is the sum of 3 parts and noise: LIN(d) + SE(a, b) + SE(c)")
    found = re.search(r"A linear function of d: from \S+ to \S+ it rises by ([\d.]+) ± ", text)
    assert float(found.group(1)) == pytest.approx(10.0 * np.ptp(X.d), abs=1.0)
    found = re.search(r"smooth function of c: it varies by ([\d.]+) ± .*lowest at ([\d.]+)\.", text)
    assert float(found.group(1)) == pytest.approx(5.0, abs=1.0)
    assert float(found.group(2)) == pytest.approx(0.5, abs=0.1)
    found = re.search(r"A joint smooth function of a and b: it varies by ([\d.]+) ± ", text)
    assert float(found.group(1)) == pytest.approx(10.0, abs=1.5)
    assert "Not used: e." in text


def test_panels_show_each_function(model):
    pytest.importorskip("matplotlib")
    from relvec.plotting import ComponentsDisplay, ForecastDisplay

    display = ComponentsDisplay.from_estimator(model)
    named = {curve.name: curve for curve in display.curves}
    assert set(named) == {
        "Joint smooth function of a and b",
        "Linear function of d",
        "Smooth function of c",
    }
    joint = named["Joint smooth function of a and b"]
    truth = 10.0 * np.sin(np.pi * np.outer(joint.second, joint.x))
    away = joint.mean - joint.mean.mean() - truth + truth.mean()
    assert np.sqrt(np.mean(away**2)) < 0.7
    curve = named["Smooth function of c"]
    truth = 20.0 * (curve.x - 0.5) ** 2
    away = np.abs(curve.mean - truth + (truth - curve.mean).mean())
    assert np.mean(away < 3.0 * curve.std) > 0.9
    with pytest.raises(ValueError, match="ForecastDisplay plots models of one input"):
        ForecastDisplay.from_estimator(model)


def test_the_report_uses_folds(model):
    report = make_report(model, X, Y, cv=2)
    assert list(report.metrics) == ["training rows", "2-fold cross-validation"]
    assert report.held_out_gain.total > 100.0
    assert report.html.count("at the 50 % quantile") == 1
