"""Settings shared by all tests and doctests."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

os.environ.setdefault("MPLBACKEND", "Agg")

import pytest
from hypothesis import settings

# It imports JAX, which only the benchmark needs; it has no examples to test.
collect_ignore = ["bench/sampling/nuts.py"]

# No deadline: numerical examples may be slow. Continuous integration must be repeatable.
settings.register_profile("relvec", deadline=None)
settings.register_profile("relvec-ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("relvec-ci" if os.environ.get("CI") else "relvec")


@pytest.fixture(autouse=True)
def close_all_plots() -> Iterator[None]:
    """Close the plots of a test or an example."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
