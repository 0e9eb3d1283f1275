"""Compute published tables again, next to the printed figures."""

from __future__ import annotations

import argparse
import datetime
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import report
from reproduce import (
    classification,
    classification_usps,
    input_scales,
    table_2_1,
    table_5_1,
)

README = Path(__file__).with_name("README.md")
TABLES: dict[str, Callable[..., list[report.Table]]] = {
    "table_2_1": table_2_1.tables,
    "classification": classification.tables,
    "classification_usps": classification_usps.tables,
    "input_scales": input_scales.tables,
    "table_5_1": table_5_1.tables,
}
USUAL = (40, 0)
DEFAULTS = {"input_scales": (100, 20_000), "table_5_1": (100, 20_000)}
"""Draws and seed where they are not the usual ones."""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m reproduce", description=__doc__)
    parser.add_argument("table", nargs="?", choices=TABLES, help="leave out for a list")
    parser.add_argument("--draws", type=int, help="fresh draws per line, at least 2")
    parser.add_argument("--seed", type=int, help="seed of the first draw")
    parser.add_argument(
        "--data", type=Path, help="folder with TARGETS.toml and data (or RELVEC_DATA)"
    )
    parser.add_argument("--write-readme", action="store_true", help="fill in reproduce/README.md")
    options = parser.parse_args(arguments)
    draws, seed = DEFAULTS.get(options.table, USUAL)
    options.draws = draws if options.draws is None else options.draws
    options.seed = seed if options.seed is None else options.seed
    if options.draws < 2:
        parser.error(f"--draws must be at least 2 for a standard error; got {options.draws}.")
    return options


def main(arguments: Sequence[str]) -> int:
    """Print a table; the exit code is 2 if the published figures are not there."""
    options = parse(arguments)
    if options.table is None:
        print("python -m reproduce TABLE, where TABLE is one of:")
        for name, make in TABLES.items():
            summary = (sys.modules[make.__module__].__doc__ or "").splitlines()[0]
            print(f"  {name}  {summary}")
        return 0
    try:
        tables = TABLES[options.table](options.data, options.draws, options.seed)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    report.show(tables)
    if options.write_readme:
        given = [options.table, "--draws", str(options.draws), "--seed", str(options.seed)]
        command = shlex.join(["python", "-m", "reproduce", *given])
        facts = f"- {datetime.date.today().isoformat()}, `{command}`"
        report.write_readme(options.table, report.markdown(tables, facts, []), README)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
