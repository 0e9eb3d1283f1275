"""Performance metrics against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as reference

from relvec.reporting.metrics import (
    REGRESSION_METRICS,
    compute_coverage,
    make_classification_metrics,
)
from relvec.reporting.predictions import PredictionSet

RNG = np.random.default_rng(2)


def compute(metrics, sample):
    return {each.key: each.compute(sample) for each in metrics}


def test_regression_metrics_agree_with_scikit_learn():
    y, mean, std = RNG.normal(size=60), RNG.normal(size=60), RNG.uniform(0.5, 2.0, 60)
    found = compute(REGRESSION_METRICS, PredictionSet("rows", True, y, np.arange(60), mean, std))
    assert found["mse"] == pytest.approx(reference.mean_squared_error(y, mean))
    assert found["rmse"] == pytest.approx(found["mse"] ** 0.5)
    assert found["mae"] == pytest.approx(reference.mean_absolute_error(y, mean))
    assert found["r2"] == pytest.approx(reference.r2_score(y, mean))
    assert found["mean_error"] == pytest.approx((y - mean).mean())
    density = -0.5 * ((y - mean) / std) ** 2 - np.log(std * np.sqrt(2.0 * np.pi))
    assert found["mlpd"] == pytest.approx(density.mean())
    assert 0.0 <= found["coverage_50"] <= found["coverage_80"] <= found["coverage_95"] <= 1.0


def test_coverage_counts_targets_inside():
    sample = PredictionSet(
        "rows", True, np.array([0.0, 1.0, 3.0]), np.arange(3), np.zeros(3), np.ones(3)
    )
    assert compute_coverage(sample, 0.95) == pytest.approx(2 / 3)
    assert compute_coverage(sample, 0.5) == pytest.approx(1 / 3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classification_metrics_agree_with_scikit_learn(n_classes):
    classes = np.array(["a", "b", "c"])[:n_classes]
    probability = RNG.dirichlet(np.ones(n_classes), size=80)
    y = classes[RNG.integers(0, n_classes, 80)]
    sample = PredictionSet("rows", True, y, np.arange(80), probability=probability)
    found = compute(make_classification_metrics(classes), sample)
    predicted = classes[probability.argmax(axis=1)]
    assert found["error_rate"] == pytest.approx(1.0 - reference.accuracy_score(y, predicted))
    assert found["log_loss"] == pytest.approx(reference.log_loss(y, probability))
    score = probability[:, 1] if n_classes == 2 else probability
    brier = reference.brier_score_loss(y, score, **({"pos_label": "b"} if n_classes == 2 else {}))
    assert found["brier"] == pytest.approx(brier)
    options = {} if n_classes == 2 else {"multi_class": "ovr"}
    assert found["roc_auc"] == pytest.approx(reference.roc_auc_score(y, score, **options))
    assert 0.0 <= found["calibration_error"] <= 1.0


def test_auc_is_nan_without_rows_of_every_class():
    sample = PredictionSet("rows", True, np.ones(4), np.arange(4), probability=np.full((4, 2), 0.5))
    assert np.isnan(compute(make_classification_metrics(np.array([0.0, 1.0])), sample)["roc_auc"])


def test_log_loss_is_finite_for_probability_zero():
    sample = PredictionSet(
        "rows", True, np.ones(2), np.arange(2), probability=np.array([[1.0, 0.0]] * 2)
    )
    assert np.isfinite(
        compute(make_classification_metrics(np.array([0.0, 1.0])), sample)["log_loss"]
    )
