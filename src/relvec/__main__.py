"""Run the command by ``python -m relvec``."""

from __future__ import annotations

from relvec.cli.entry import main

if __name__ == "__main__":
    main()
