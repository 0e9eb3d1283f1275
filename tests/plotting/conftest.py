"""Plots without a display."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_screen() -> None:
    pytest.importorskip("matplotlib").use("Agg")
