"""Entry point of the command `relvec`."""

from __future__ import annotations

import sys
from importlib.util import find_spec

__all__ = ["main"]

REQUIRED_PACKAGES = ("typer", "rich", "polars")
"""Packages that the extra `cli` installs."""


def main() -> None:
    """Run `relvec` with the arguments of the command line."""
    missing = [package for package in REQUIRED_PACKAGES if find_spec(package) is None]
    if missing:
        print(
            f"The command relvec requires {' and '.join(missing)}. "
            'Install with: pip install "relvec[cli]"',
            file=sys.stderr,
        )
        sys.exit(1)
    try:
        from relvec.cli.app import app
    except KeyboardInterrupt:
        sys.exit(130)
    app()
