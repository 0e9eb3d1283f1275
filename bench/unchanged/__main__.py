"""Compare the results and the cost of two versions of relvec, problem by problem."""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from bench.runner import ROOT
from bench.unchanged.compare import Comparison, Side, compare
from bench.unchanged.problems import PROBLEMS

DIFFERENCES = ROOT / "bench" / "unchanged_differences.toml"
"""Problems whose results are meant to differ, with the reasons."""

SHORTEST = 1e-3
"""CPU seconds from which on the cost of a problem counts."""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="python -m bench.unchanged", description=__doc__)
    parser.add_argument(
        "--before", type=_checkout, required=True, metavar="DIR", help="checkout of one version"
    )
    parser.add_argument(
        "--after", type=_checkout, default=ROOT, metavar="DIR", help="of the other; default, here"
    )
    parser.add_argument(
        "--only", metavar="PATTERN", help="problems whose names contain it; * and ? are allowed"
    )
    parser.add_argument(
        "--repeats", type=int, default=3, metavar="N", help="runs of short problems (default 3)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was found")
    options = parser.parse_args(arguments)
    options.problems = [name for name in PROBLEMS if fnmatchcase(name, f"*{options.only or ''}*")]
    if not options.problems:
        parser.error(f"no problem has {options.only!r} in its name")
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    return options


def _checkout(text: str) -> Path:
    if not (Path(text) / "src" / "relvec").is_dir():
        raise argparse.ArgumentTypeError(f"there is no src/relvec in {text}")
    return Path(text)


def named_differences(file: Path) -> dict[str, str]:
    """Return the problems that are meant to differ, with the reasons."""
    reasons = tomllib.loads(file.read_text(encoding="utf-8"))
    for name, reason in reasons.items():
        if name not in PROBLEMS:
            raise ValueError(f"{file.name} names {name!r}, which is no problem.")
        if not isinstance(reason, str) or not reason:
            raise ValueError(f"{file.name} gives no reason for {name!r}.")
    return reasons


def row(*cells: str) -> str:
    """Return a line of the table."""
    return "{:<42} {:>10} {:>9} {:>9} {:>6}  {}".format(*cells).rstrip()


def described(found: Comparison, reason: str | None) -> str:
    """Return the line of a problem."""
    notes = [found.quantity] if found.quantity else []
    if not found.is_equal:
        notes.append("DIFFERENT" if reason is None else f"meant: {reason}")
    if found.unsteadiness:
        notes.append(f"repeats differ by {found.unsteadiness:.1e}")
    return row(
        found.problem,
        f"{found.difference:.1e}" if found.difference else "0",
        f"{found.cpu_before:.4f}",
        f"{found.cpu_after:.4f}",
        f"{found.ratio:.2f}",
        "; ".join(notes),
    )


def summary(found: Sequence[Comparison], reasons: Mapping[str, str]) -> dict[str, Any]:
    """Return the totals."""
    ratios = [
        each.ratio
        for each in found
        if each.errors == (None, None) and min(each.cpu_before, each.cpu_after) >= SHORTEST
    ]
    different = [each.problem for each in found if not each.is_equal]
    return {
        "problems": len(found),
        "equal": len(found) - len(different),
        "identical": sum(each.difference == 0.0 for each in found),
        "different": [name for name in different if name not in reasons],
        "meant to differ": [name for name in different if name in reasons],
        "named, but equal": [e.problem for e in found if e.is_equal and e.problem in reasons],
        "CPU before": sum(each.cpu_before for each in found),
        "CPU after": sum(each.cpu_after for each in found),
        "ratio": statistics.geometric_mean(ratios) if ratios else math.nan,
        "ratios counted": len(ratios),
    }


def report(totals: Mapping[str, Any]) -> str:
    """Return the totals as lines."""
    lines = [
        f"{totals['problems']} problems: {totals['equal']} equal "
        f"({totals['identical']} to the last bit), {len(totals['different'])} different, "
        f"{len(totals['meant to differ'])} meant to differ",
        f"CPU seconds: {totals['CPU before']:.2f} before, {totals['CPU after']:.2f} after; "
        f"geometric mean of {totals['ratios counted']} ratios: {totals['ratio']:.3f}",
    ]
    for what in ("different", "named, but equal"):
        if totals[what]:
            lines.append(f"{what}: {', '.join(totals[what])}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Compare and report; the exit code is 1 if a problem differs that is not meant to."""
    options = parse(arguments)
    reasons = named_differences(DIFFERENCES)
    found = []
    print(row("problem", "difference", "before s", "after s", "ratio", "largest in"))
    with Side(options.before) as before, Side(options.after) as after:
        for each in compare(options.problems, before, after, options.repeats):
            found.append(each)
            print(described(each, reasons.get(each.problem)), flush=True)
            if not each.is_equal:
                print("".join(message for message in each.messages), end="", file=sys.stderr)
    totals = summary(found, reasons)
    print(report(totals))
    if options.json:
        records = [{**asdict(each), "is_equal": each.is_equal} for each in found]
        text = json.dumps({"totals": totals, "problems": records}, indent=1)
        options.json.write_text(text, encoding="utf-8")
    return int(bool(totals["different"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
