"""Reports of models that cannot be refitted to a subset of their rows."""

from __future__ import annotations

import numpy as np
import pytest

from relvec import SparseBayesRegressor
from relvec.assessing import RefitError
from relvec.assessing.refit import refit
from relvec.bases import CosineBasis, WaveletBasis
from relvec.reporting import make_report

X = np.arange(64.0)[:, None] / 7.0
Y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=64)


@pytest.mark.parametrize("basis", [CosineBasis(), WaveletBasis()], ids=["cosine", "wavelet"])
def test_the_report_states_which_computations_failed(basis):
    if isinstance(basis, WaveletBasis):
        pytest.importorskip("pywt")
    report = make_report(SparseBayesRegressor(basis).fit(X, Y), X, Y, cv=3, n_bootstrap=3)
    assert list(report.metrics) == ["training rows"]
    assert report.bias_variance is None
    assert (
        "No cross-validation: the model could not be refitted to a subset of the rows."
        in report.html
    )
    assert "No bias–variance decomposition: the model could not be refitted" in report.html
    assert "needs evenly spaced inputs" in report.html
    assert "Basis functions and weights" in report.html


def test_refit_error_keeps_the_message():
    with pytest.raises(RefitError, match="needs evenly spaced inputs"):
        refit(SparseBayesRegressor(CosineBasis()), X[[0, 1, 5]], Y[:3])
