"""Figures of merit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as reference

from relvec.reporting.metrics import OF_NUMBERS, class_measures, coverage_at
from relvec.reporting.predictions import Sample

RNG = np.random.default_rng(2)


def of(figures, sample):
    return {each.key: each.of(sample) for each in figures}


def test_figures_of_numbers_are_those_of_scikit_learn():
    y, mean, std = RNG.normal(size=60), RNG.normal(size=60), RNG.uniform(0.5, 2.0, 60)
    found = of(OF_NUMBERS, Sample("rows", True, y, np.arange(60), mean, std))
    assert found["mse"] == pytest.approx(reference.mean_squared_error(y, mean))
    assert found["rmse"] == pytest.approx(found["mse"] ** 0.5)
    assert found["mae"] == pytest.approx(reference.mean_absolute_error(y, mean))
    assert found["r2"] == pytest.approx(reference.r2_score(y, mean))
    assert found["bias"] == pytest.approx((y - mean).mean())
    density = -0.5 * ((y - mean) / std) ** 2 - np.log(std * np.sqrt(2.0 * np.pi))
    assert found["log_density"] == pytest.approx(density.mean())
    assert 0.0 <= found["coverage_50"] <= found["coverage_80"] <= found["coverage_95"] <= 1.0


def test_coverage_counts_targets_inside():
    sample = Sample("rows", True, np.array([0.0, 1.0, 3.0]), np.arange(3), np.zeros(3), np.ones(3))
    assert coverage_at(sample, 0.95) == pytest.approx(2 / 3)
    assert coverage_at(sample, 0.5) == pytest.approx(1 / 3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_figures_of_classes_are_those_of_scikit_learn(n_classes):
    classes = np.array(["a", "b", "c"])[:n_classes]
    probability = RNG.dirichlet(np.ones(n_classes), size=80)
    y = classes[RNG.integers(0, n_classes, 80)]
    sample = Sample("rows", True, y, np.arange(80), probability=probability)
    found = of(class_measures(classes), sample)
    said = classes[probability.argmax(axis=1)]
    assert found["error"] == pytest.approx(1.0 - reference.accuracy_score(y, said))
    assert found["log_loss"] == pytest.approx(reference.log_loss(y, probability))
    score = probability[:, 1] if n_classes == 2 else probability
    brier = reference.brier_score_loss(y, score, **({"pos_label": "b"} if n_classes == 2 else {}))
    assert found["brier"] == pytest.approx(brier)
    options = {} if n_classes == 2 else {"multi_class": "ovr"}
    assert found["roc_auc"] == pytest.approx(reference.roc_auc_score(y, score, **options))
    assert 0.0 <= found["calibration_error"] <= 1.0


def test_without_rows_of_every_class_there_is_no_ranking():
    sample = Sample("rows", True, np.ones(4), np.arange(4), probability=np.full((4, 2), 0.5))
    assert np.isnan(of(class_measures(np.array([0.0, 1.0])), sample)["roc_auc"])


def test_a_sure_mistake_has_a_finite_loss():
    sample = Sample("rows", True, np.ones(2), np.arange(2), probability=np.array([[1.0, 0.0]] * 2))
    assert np.isfinite(of(class_measures(np.array([0.0, 1.0])), sample)["log_loss"])
