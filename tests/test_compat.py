from __future__ import annotations

import sys

import pytest

from relvec._compat import import_optional


def test_a_missing_package_says_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "pywt", None)
    with pytest.raises(ImportError, match=r'PyWavelets.*pip install "relvec\[wavelets\]"'):
        import_optional("pywt")


def test_returns_submodules():
    assert import_optional("matplotlib.ticker").__name__ == "matplotlib.ticker"
