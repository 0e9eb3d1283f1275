"""The density suite: run its parts, make tables and a page, say which targets are met."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.classification.problems import VARIABLE, folder
from bench.denoising.part import Record, Target, ok, target_table
from bench.density import real
from bench.density.problems import BOUNDED, MARRON_WAND, TWO_VARIABLES
from bench.report import Table, number
from bench.runner import run_worker

__all__ = ["DEFAULT_PARTS", "PACKAGES", "PAGE", "PARTS", "PLOT", "run_part", "tables", "write_page"]

PACKAGES = ("relvec", "scikit-learn", "numpy", "scipy")
PAGE = Path(__file__).parents[1] / "DENSITY.md"
PARTS = {
    "mixtures": [(each.name, n) for n in (200, 1000) for each in MARRON_WAND],
    "bounded": [(each.name, 2000 if each.name == "spectrum" else 1000) for each in BOUNDED],
    "two": [(each.name, 500) for each in TWO_VARIABLES],
    "large": [("10 claw", 1_000_000), ("5 outlier", 1_000_000), ("exponential", 1_000_000)],
    "real": [(name, None) for name in real.REAL],
}
"""Densities and sample sizes of each part; published samples have their own."""
DEFAULT_PARTS = tuple(PARTS)
TITLES = {
    "mixtures": "mixtures of normal densities",
    "bounded": "bounded supports",
    "two": "two variables",
    "large": "a million points",
    "real": "published samples",
}
REPEATS = {"mixtures": 10, "bounded": 10, "two": 16, "large": 2, "real": 5}
PLOT = "density-real.png"
METHODS = ("relvec", "Scott", "ISJ", "Abramson (ISJ)", "KDE cv")


def run_part(name: str, seed: int, repeats: int | None, quick: bool) -> Iterator[Record]:
    """Yield the records of a part as they come."""
    cases = PARTS[name][:2] if quick else PARTS[name]
    if name == "real":
        cases = [(each, len(real.REAL[each].read())) for each, _ in cases if _is_there(each)]
    n_draws = repeats or (2 if quick else REPEATS[name])
    for problem, n in cases:
        job = {
            "part": name,
            "problem": problem,
            "n": n,
            "seeds": list(range(seed, seed + n_draws)),
            "peers": name != "large",
        }
        record = run_worker("bench.density.worker", job)
        note = "" if record["status"] == "ok" else f": {record['error']}"
        print(f"density {name} {problem} {n}{note}", file=sys.stderr, flush=True)
        yield record


def _is_there(name: str) -> bool:
    """Whether a published sample can be read; says so if not."""
    where, file = folder(), real.REAL[name].file
    if where is not None and (where / file).is_file():
        return True
    print(
        f"real: {name} left out: it needs {file} in the folder of --data or {VARIABLE}",
        file=sys.stderr,
    )
    return False


def _values(record: Record, method: str, what: str) -> list[float]:
    return [draw[method][what] for draw in record["draws"] if method in draw]


def _mean(values: Sequence[float], scale: float = 1.0) -> str:
    """Format a mean and its standard error."""
    if not values or values[0] is None:
        return "–"
    text = number(scale * statistics.fmean(values))
    if len(values) < 2:
        return text
    error = scale * statistics.stdev(values) / math.sqrt(len(values))
    return f"{text} ({number(error, 2)})"


def tables(name: str, records: Sequence[Record]) -> list[Table]:
    """Return the tables of a part, its targets last."""
    found = []
    done = ok(records)
    if name == "real":
        return real.make_tables(done) if done else []
    for n in sorted({record["n"] for record in done}):
        mine = [record for record in done if record["n"] == n or name == "bounded"]
        methods = [each for each in METHODS if each in mine[0]["draws"][0]]
        label = f"{TITLES[name]}, N = {n}" if name != "bounded" else TITLES[name]
        for what, title in (("kl", "KL × 1000"), ("ise", "ISE × 1000")):
            rows = [
                [r["problem"], *(_mean(_values(r, m, what), 1000.0) for m in methods)] for r in mine
            ]
            if name == "mixtures":
                rows.append(["mean", *(_mean(_over_problems(mine, m, what), 1e3) for m in methods)])
            if any(cell != "–" for row in rows for cell in row[1:]):
                found.append(Table(f"{title}: {label}", ("density", *methods), rows))
        found.append(_band_table(label, mine, methods))
        if name == "bounded":
            break
    targets = _targets(name, done)
    return found + ([target_table(targets)] if targets else [])


def _band_table(label: str, records: Sequence[Record], methods: Sequence[str]) -> Table:
    rows = []
    for r in records:
        cpu = [number(statistics.fmean(_values(r, m, "cpu")), 2) for m in methods]
        dof = number(statistics.fmean(_values(r, "relvec", "dof")), 2)
        rows.append([r["problem"], _mean(_values(r, "relvec", "coverage")), dof, *cpu])
    if len(records) > 1:
        cover = _over_problems(records, "relvec", "coverage")
        mean = [number(statistics.fmean(_over_problems(records, m, "cpu")), 2) for m in methods]
        rows.append(["mean", _mean(cover), "", *mean])
    head = ("density", "coverage", "dof", *(f"CPU s {m}" for m in methods))
    return Table(f"Coverage of the 95 % band, effective dof, CPU seconds: {label}", head, rows)


def _over_problems(records: Sequence[Record], method: str, what: str) -> list[float]:
    """Return the mean over the densities for each seed."""
    each = [_values(record, method, what) for record in records]
    return [statistics.fmean(values) for values in zip(*each, strict=True)]


def _targets(name: str, records: Sequence[Record]) -> list[Target]:
    if not records:
        return []
    found = []
    if name == "mixtures":
        for n, kl, coverage in ((200, 0.032, 0.87), (1000, 0.011, 0.93)):
            mine = [record for record in records if record["n"] == n]
            if len(mine) == len(MARRON_WAND):
                value = statistics.fmean(_over_problems(mine, "relvec", "kl"))
                found.append(Target(f"mean KL, N = {n}", value, kl))
                value = statistics.fmean(_over_problems(mine, "relvec", "coverage"))
                found.append(Target(f"mean coverage, N = {n}", value, coverage, at_least=True))
    if name == "bounded":
        for record in records:
            value = statistics.fmean(_values(record, "relvec", "kl"))
            found.append(Target(f"KL, {record['problem']}", value, 0.004))
    if name == "two":
        value = statistics.fmean(_values(records[0], "relvec", "kl"))
        found.append(Target("KL, two variables", value, 0.04))
    limit = 5.0 if name == "large" else 0.15
    if name != "two":
        cpu = max(value for r in records for value in _values(r, "relvec", "cpu"))
        found.append(Target("largest CPU time of a fit", cpu, limit, unit=" s"))
        worst = max(abs(v - 1.0) for r in records for v in _values(r, "relvec", "integral"))
        found.append(Target("largest error of the integral", worst, 1e-6))
    return found


def write_page(texts: dict[str, str], facts: str, path: Path = PAGE) -> None:
    """Write the page of the results."""
    parts = [INTRODUCTION, facts]
    parts += [
        f"## {TITLES[name][0].upper()}{TITLES[name][1:]}\n\n{text}" for name, text in texts.items()
    ]
    if "real" in texts:
        parts.append(real.CAPTION)
    path.write_text("\n\n".join(parts).rstrip() + "\n", encoding="utf-8")


INTRODUCTION = """\
# Densities: `SparseBayesDensity` against kernel density estimates

`python -m bench density` draws samples from densities with known truth. They are fitted by
`SparseBayesDensity()` at its defaults (with the support where there is one) and by kernel density
estimates. **KL** is the Kullback-Leibler divergence of the estimate from the truth, in nats, by
numerical integration; **ISE** is the integrated squared error. Both are multiplied by 1000 and are
means over seeds, with standard errors in parentheses. **coverage** is the share of 2000 new points
at which the 95 % band of relvec contains the true density. CPU seconds are those of the fit, on one
thread. Kernel estimates have little to fit, except by cross-validation: their work comes with each
prediction. The last part needs published samples, in the folder of `--data`.

- **Scott**: Gaussian kernels, Scott's rule. **ISJ**: the improved Sheather-Jones bandwidth of
  Botev, Grotowski and Kroese (2010), reflected at the ends of a bounded support. It is computed in
  [peers.py](density/peers.py): KDEpy 1.1.12 scales it by the range of the data instead of that of
  its grid, which makes it too small by a factor of two or more. **Abramson (ISJ)**: widths
  inversely proportional to the root of a pilot density. **KDE cv**: scikit-learn's
  `KernelDensity`, its bandwidth by five-fold cross-validation over 20 values.
- The ten mixtures are numbers 1 to 10 of Marron and Wand (1992). Numbers 4 and 5 are mixtures of
  two normal densities around one mean, which is one of the reference densities of relvec: an
  advantage there that other heavy-tailed densities do not have.
- The constants of relvec were chosen on seeds 0 to 4."""
