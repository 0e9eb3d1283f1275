from __future__ import annotations

import sys

import pytest

from relvec._compat import optional


def test_a_missing_package_says_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "pywt", None)
    with pytest.raises(ImportError, match=r'PyWavelets.*pip install "relvec\[wavelets\]"'):
        optional("pywt")


def test_returns_submodules():
    assert optional("matplotlib.ticker").__name__ == "matplotlib.ticker"
