"""The noise suite: run its parts, make tables and a page, say which targets are met."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.classification.problems import VARIABLE, folder
from bench.denoising.part import Record, Target, ok, target_table
from bench.noise.methods import METHODS, is_installed
from bench.noise.problems import CONTROLS, PROBLEMS, PUBLISHED, SYNTHETIC
from bench.report import Table, number
from bench.runner import ONE_THREAD, ROOT

__all__ = [
    "DEFAULT_PARTS",
    "PACKAGES",
    "PAGE",
    "PARTS",
    "format_mean",
    "run_part",
    "tables",
    "write_page",
]

PACKAGES = ("relvec", "scikit-learn", "numpy", "scipy", "ngboost", "hetgpy")
PAGE = Path(__file__).parents[1] / "NOISE.md"
OURS, CONSTANT, PEER = "relvec heteroscedastic", "relvec constant", "NGBoost"
PARTS = {"synthetic": SYNTHETIC, "controls": CONTROLS, "published": PUBLISHED}
DEFAULT_PARTS = tuple(PARTS)
TITLES = {
    "synthetic": "noise that varies, with known truth",
    "controls": "constant noise",
    "published": "published sets",
}
REPEATS = {"synthetic": 20, "controls": 25, "published": 5}
PEER_REPEATS = {"synthetic": 5, "published": 5}
"""Draws on which peers are measured."""
LIMITS = {"Goldberg": 0.015, "Yuan-Wahba": 0.03, "Williams": 0.12, "step": 0.10}
"""Largest excess of the mean negative log density over that of the truth, in nats."""


def run_part(name: str, seed: int, repeats: int | None, quick: bool) -> Iterator[Record]:
    """Yield the records of a part as they come."""
    problems = PARTS[name][:2] if quick else PARTS[name]
    if name == "published":
        seed = 0  # splits are numbered
        if folder() is None:
            print(f"{name} left out: it needs --data FOLDER or {VARIABLE}", file=sys.stderr)
            return
    n_draws = repeats or (2 if quick else REPEATS[name])
    n_compared = min(PEER_REPEATS.get(name, 0), n_draws)
    peers = [each for each in METHODS if not each.startswith("relvec") and is_installed(each)]
    for problem in problems:
        seeds = list(range(seed, seed + n_draws))
        jobs = [([OURS, CONSTANT], seeds)]
        jobs += [([peer], seeds[:n_compared]) for peer in peers if n_compared]
        for methods, mine in jobs:
            job = {"part": name, "problem": problem.name, "methods": methods, "seeds": mine}
            record = _run(job)
            note = "" if record["status"] == "ok" else f": {record['error']}"
            print(f"noise {name} {problem.name} {methods}{note}", file=sys.stderr, flush=True)
            yield record


def _run(job: Record) -> Record:
    process = subprocess.run(
        [sys.executable, "-m", "bench.noise.worker", json.dumps(job)],
        cwd=ROOT,
        env={**os.environ, **ONE_THREAD},
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode != 0:
        print(process.stderr[-2000:], file=sys.stderr)
        return {**job, "status": "failed", "error": f"ended with code {process.returncode}"}
    record: Record = json.loads(process.stdout.splitlines()[-1])
    if record["status"] == "failed":
        print(process.stderr[-2000:], file=sys.stderr)
    return record


def _collect(records: Sequence[Record], problem: str, method: str) -> dict[int, Record]:
    """Return the measurements of a method on a problem by seed."""
    found = {}
    for record in ok(records):
        if record["problem"] == problem:
            for draw in record["draws"]:
                if method in draw["methods"]:
                    found[draw["seed"]] = {**draw["methods"][method], "oracle": draw["oracle"]}
    return found


def format_mean(values: Sequence[float], digits: int = 3) -> str:
    """Format a mean and its standard error."""
    if not values:
        return "–"
    text = f"{statistics.fmean(values):.{digits}f}"
    if len(values) < 2:
        return text
    return f"{text} ({statistics.stdev(values) / math.sqrt(len(values)):.{digits}f})"


def tables(name: str, records: Sequence[Record]) -> list[Table]:
    """Return the tables of a part, its targets last."""
    problems = list(dict.fromkeys(record["problem"] for record in ok(records)))
    make = _control_tables if name == "controls" else _score_tables
    found = make(name, records, problems)
    targets = _find_targets(name, records, problems)
    return found + ([target_table(targets)] if targets else [])


def _score_tables(name: str, records: Sequence[Record], problems: Sequence[str]) -> list[Table]:
    methods = [m for m in METHODS if any(_collect(records, p, m) for p in problems)]
    rows, covers, quarters, errors, times = [], [], [], [], []
    for problem in problems:
        known = {method: _collect(records, problem, method) for method in methods}
        scores = {
            m: [d["nll"] - (d["oracle"] or 0.0) for d in known[m].values() if "nll" in d]
            for m in methods
        }
        rows.append([problem, *(format_mean(scores[m]) for m in methods)])
        covers.append(
            [problem, *(format_mean([d["coverage"] for d in known[m].values()]) for m in methods)]
        )
        for m in (OURS, CONSTANT):
            each = zip(*(d["quarters"] for d in known[m].values()), strict=True)
            quarters.append([f"{problem}, {m}", *(format_mean(list(values)) for values in each)])
        errors.append(
            [
                problem,
                *(
                    format_mean([d["rmse"] for d in known[m].values() if "rmse" in d])
                    for m in methods
                ),
            ]
        )
        times.append(
            [
                problem,
                *(number(_mean(d["cpu"] for d in known[m].values()), 3) for m in methods),
            ]
        )
    title = TITLES[name]
    what = "Excess of the NLL over that of the truth" if name == "synthetic" else "NLL"
    by = "true noise" if name == "synthetic" else "length of the interval"
    found = [] if name != "synthetic" else [_tabulate_gains(records, problems)]
    return [
        Table(f"{what}: {title}", ("set", *methods), rows),
        *found,
        Table(f"Coverage of 95 % intervals: {title}", ("set", *methods), covers),
        Table(
            f"Coverage in quarters of the test rows by {by}",
            ("set", "first", "second", "third", "fourth"),
            quarters,
        ),
        Table(f"RMSE: {title}", ("set", *methods), errors),
        Table(f"CPU seconds of a fit: {title}", ("set", *methods), times),
    ]


def _tabulate_gains(records: Sequence[Record], problems: Sequence[str]) -> Table:
    """Count the draws in which noise that varies is recognised."""
    rows = []
    for problem in problems:
        draws = _collect(records, problem, OURS).values()
        gains = sorted(draw["gain"] for draw in draws if not draw["is_default"])
        limits = [number(gains[0]), number(gains[-1])] if gains else ["–", "–"]
        rows.append([problem, f"{len(gains)} of {len(draws)}", *limits])
    head = ("set", "found to vary", "smallest gain", "largest gain")
    return Table("Gain in log evidence over constant noise, in nats", head, rows)


def _mean(values: Iterator[float]) -> float | None:
    known = list(values)
    return statistics.fmean(known) if known else None


def _control_tables(name: str, records: Sequence[Record], problems: Sequence[str]) -> list[Table]:
    rows = []
    for problem in problems:
        ours, constant = (_collect(records, problem, m) for m in (OURS, CONSTANT))
        kept = sum(draw["is_default"] for draw in ours.values())
        largest = max(draw["gain"] for draw in ours.values())
        difference = [ours[s]["nll"] - constant[s]["nll"] for s in ours]
        ratio = statistics.fmean(d["cpu"] for d in ours.values()) / statistics.fmean(
            d["cpu"] for d in constant.values()
        )
        rows.append(
            [
                problem,
                f"{kept} of {len(ours)}",
                number(largest),
                format_mean(difference, 4),
                number(ratio),
            ]
        )
    head = ("set", "default fit returned", "largest gain kept", "NLL less default", "CPU ratio")
    return [Table(f"Controls: {TITLES[name]}", head, rows)]


def _find_targets(name: str, records: Sequence[Record], problems: Sequence[str]) -> list[Target]:
    found: list[Target] = []
    if not problems:
        return found
    ours = {p: _collect(records, p, OURS) for p in problems}
    constant = {p: _collect(records, p, CONSTANT) for p in problems}
    if name == "controls":
        draws = [draw for each in ours.values() for draw in each.values()]
        share = 100.0 * statistics.fmean(draw["is_default"] for draw in draws)
        found.append(Target("default fit returned", share, 95.0, at_least=True, unit=" %"))
    if name == "synthetic":
        for problem in problems:
            excess = statistics.fmean(d["nll"] - d["oracle"] for d in ours[problem].values())
            found.append(Target(f"excess NLL, {problem}", excess, LIMITS[problem]))
        each = [
            statistics.fmean(values)
            for p in problems
            for values in zip(*(d["quarters"] for d in ours[p].values()), strict=True)
        ]
        found.append(Target("lowest coverage of a quarter", min(each), 0.92, at_least=True))
        found.append(Target("highest coverage of a quarter", max(each), 0.98))
    if name == "published":
        for problem in problems:
            cover = statistics.fmean(d["coverage"] for d in ours[problem].values())
            most = PROBLEMS[problem].most
            label = problem if most is None else f"{problem} ({most} training rows)"
            found.append(Target(f"coverage, {label}", cover, 0.93, at_least=True))
            found.append(Target(f"coverage, {label}", cover, 0.97))
        peer = {p: _collect(records, p, PEER) for p in problems}
        compared = [p for p in problems if p.startswith("uci_") and peer[p]]
        if compared:
            wins = sum(
                statistics.fmean(ours[p][s]["nll"] - peer[p][s]["nll"] for s in peer[p]) <= 0.0
                for p in compared
            )
            found.append(Target("uci sets with NLL at or below NGBoost's", wins, 4, at_least=True))
    cpu = max(
        statistics.fmean(d["cpu"] for d in ours[p].values())
        / statistics.fmean(d["cpu"] for d in constant[p].values())
        for p in problems
    )
    found.append(Target("largest CPU ratio to constant noise", cpu, 4.0))
    return found


def write_page(texts: dict[str, str], facts: str, path: Path = PAGE) -> None:
    """Write the page of the results."""
    parts = [INTRODUCTION, facts]
    parts += [
        f"## {TITLES[name][0].upper()}{TITLES[name][1:]}\n\n{text}" for name, text in texts.items()
    ]
    path.write_text("\n\n".join(parts).rstrip() + "\n", encoding="utf-8")


INTRODUCTION = """\
# Noise that varies: `noise="heteroscedastic"` against its peers

`python -m bench noise --data FOLDER` fits `RVMRegressor(noise="heteroscedastic")` and
`RVMRegressor()`, both otherwise at their defaults, and peers. **NLL** is the mean negative log
predictive density of test targets, in nats; lower is better. Of sets with known truth it is given
as the excess over the density of the truth on the same test rows. Numbers in parentheses are
standard errors over draws or splits.

- Sets with known truth have 200 training rows and 2000 test rows: **Goldberg** (Goldberg, Williams
  and Bishop 1998: twice a sine, standard deviation x + 1/2), **Yuan-Wahba** (2004), **Williams**
  (1996), and **step**, a sine whose noise jumps from 0.1 to 0.5 in the middle.
- Published sets: the first five published splits of the UCI sets, of uci_power 3000 of the 8611
  training rows; five random splits of engel into 188 and 47 rows. Choices were made on splits 10
  to 19 and on draws 0 to 20.
- uci_wine_red: 23 to 32 % of the test rows are copies of training rows, with the same target. GPR
  interpolates: on the first split its standard deviation is 0.004 at the median copy, where its
  NLL is -3.2, and 0.75 at other rows, where it is 1.23. So its NLL there is that of remembered
  rows, and does not reflect its RMSE, which is the worst.
- **NGBoost**: normal distribution, its number of steps by early stopping on a fifth of the rows,
  then refitted to all. **GPR**: scikit-learn, one length-scale per feature, constant noise, at most
  1000 rows. **hetgpy**: heteroscedastic Gaussian process of Binois, Gramacy and Ludkovski (2018),
  up to 400 rows. **HGB quantiles**: two quantile regressions by HistGradientBoosting, no density.
- CPU seconds are those of the fit, on one thread."""
