from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from relvec._compat import import_arviz, import_optional, to_arviz


def test_a_missing_package_says_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "pywt", None)
    with pytest.raises(ImportError, match=r'PyWavelets.*pip install "relvec\[wavelets\]"'):
        import_optional("pywt")


def test_returns_submodules():
    assert import_optional("matplotlib.ticker").__name__ == "matplotlib.ticker"


def test_missing_arviz_says_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r'arviz.*pip install "relvec\[mcmc\]"'):
        to_arviz({"noise": np.zeros((2, 10))})


@pytest.mark.slow
def test_draws_as_arviz_takes_them():
    pytest.importorskip("xarray")
    arviz = import_arviz()
    rng = np.random.default_rng(0)
    draws = {"noise": rng.normal(size=(2, 50)), "weight": rng.normal(size=(2, 50, 3))}
    data = to_arviz(
        draws,
        sample_stats={"lp": rng.normal(size=(2, 50))},
        observed_data={"y": np.arange(5.0)},
        coords={"atom": ("a", "b", "c")},
        dims={"weight": ("atom",)},
    )
    posterior = data["posterior"]
    assert posterior["weight"].dims == ("chain", "draw", "atom")
    assert posterior["atom"].values.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(posterior["noise"].values, draws["noise"])
    assert data["sample_stats"]["lp"].shape == (2, 50)
    np.testing.assert_array_equal(np.ravel(data["observed_data"]["y"].values), np.arange(5.0))
    assert float(arviz.rhat(data)["noise"]) == pytest.approx(1.0, abs=0.1)
    alone = to_arviz({"noise": draws["noise"]})
    assert alone["posterior"]["noise"].dims == ("chain", "draw")


@pytest.mark.slow
def test_sampling_does_not_import_arviz():
    code = "import sys, relvec.sampling; assert not {'arviz', 'xarray'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
