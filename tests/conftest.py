"""Settings shared by all tests."""

import os

os.environ.setdefault("MPLBACKEND", "Agg")

from hypothesis import settings

# Numerical examples take as long as they take; continuous integration must be repeatable.
settings.register_profile("relvec", deadline=None)
settings.register_profile("relvec-ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("relvec-ci" if os.environ.get("CI") else "relvec")
