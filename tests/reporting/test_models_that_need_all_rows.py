"""Reports of models that cannot be fitted to a part of their rows."""

from __future__ import annotations

import numpy as np
import pytest

from relvec import SparseBayesRegressor
from relvec.bases import CosineBasis, WaveletBasis
from relvec.reporting import make_report
from relvec.reporting.predictions import RefitError, refit

X = np.arange(64.0)[:, None] / 7.0
Y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=64)


@pytest.mark.parametrize("basis", [CosineBasis(), WaveletBasis()], ids=["cosine", "wavelet"])
def test_a_report_is_made_and_says_what_is_missing(basis):
    if isinstance(basis, WaveletBasis):
        pytest.importorskip("pywt")
    report = make_report(SparseBayesRegressor(basis).fit(X, Y), X, Y, cv=3, n_bootstrap=3)
    assert list(report.metrics) == ["training rows"]
    assert report.bias_variance is None
    assert "There is no cross-validation: it could not be fitted to other rows." in report.html
    assert "There is no split into bias and variance: it could not be fitted" in report.html
    assert "needs evenly spaced inputs" in report.html
    assert "terms" in report.html


def test_what_went_wrong_is_kept():
    with pytest.raises(RefitError, match="needs evenly spaced inputs"):
        refit(SparseBayesRegressor(CosineBasis()), X[[0, 1, 5]], Y[:3])
