"""Where the command `relvec` begins."""

from __future__ import annotations

import sys
from importlib.util import find_spec

__all__ = ["main"]

NEEDED = ("typer", "rich", "polars")
"""What the extra `cli` brings."""


def main() -> None:
    """Run `relvec` with the arguments of the process."""
    missing = [package for package in NEEDED if find_spec(package) is None]
    if missing:
        print(
            f"The relvec command needs {' and '.join(missing)}, not installed here. "
            'Install with: pip install "relvec[cli]"',
            file=sys.stderr,
        )
        sys.exit(1)
    try:
        from relvec.cli.app import app
    except KeyboardInterrupt:
        sys.exit(130)
    app()
