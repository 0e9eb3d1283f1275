"""The suite of counts: run its parts, make tables and a page."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.classification.problems import VARIABLE, folder
from bench.counts.problems import CLAIMS, SIMULATED
from bench.denoising.part import Record, ok
from bench.report import Table, number
from bench.runner import run_worker

__all__ = ["DEFAULT_PARTS", "PACKAGES", "PAGE", "PARTS", "run_part", "tables", "write_page"]

PACKAGES = ("relvec", "scikit-learn", "numpy", "scipy")
PAGE = Path(__file__).parents[1] / "COUNTS.md"
PARTS = {"simulated": list(SIMULATED), "claims": ["insurance"]}
DEFAULT_PARTS = tuple(PARTS)
TITLES = {"simulated": "Simulated counts, 300 rows", "claims": "Insurance claims"}
REPEATS = {"simulated": 20, "claims": 5}


def run_part(name: str, seed: int, repeats: int | None, quick: bool) -> Iterator[Record]:
    """Yield the records of a part as they come."""
    where = folder()
    if name == "claims" and (where is None or not (where / CLAIMS).is_file()):
        needed = f"it needs {CLAIMS} in the folder of --data or {VARIABLE}"
        print(f"{name} left out: {needed}", file=sys.stderr)
        return
    n_draws = repeats or (2 if quick else REPEATS[name])
    for problem in PARTS[name]:
        job = {"part": name, "problem": problem, "seeds": list(range(seed, seed + n_draws))}
        record = run_worker("bench.counts.worker", job)
        note = "" if record["status"] == "ok" else f": {record['error']}"
        print(f"counts {name} {problem}{note}", file=sys.stderr, flush=True)
        yield record


def _format(record: Record, model: str, what: str, digits: int) -> str:
    """Format a mean and its standard error."""
    values = [draw[model][what] for draw in record["draws"]]
    text = f"{statistics.fmean(values):.{digits}f}"
    if len(values) < 2:
        return text
    return f"{text} ({statistics.stdev(values) / math.sqrt(len(values)):.{digits}f})"


def tables(name: str, records: Sequence[Record]) -> list[Table]:
    """Return the table of a part."""
    done = ok(records)
    if not done:
        return []
    n_draws = len(done[0]["draws"])
    if name == "claims":
        (record,) = done
        rows = [
            [
                model,
                _format(record, model, "deviance", 3),
                _format(record, model, "mlpd", 3),
                _format(record, model, "coverage", 3),
                number(statistics.fmean(draw[model]["cpu"] for draw in record["draws"]), 2),
            ]
            for model in record["draws"][0]
        ]
        head = ("model", "deviance", "MLPD", "coverage", "CPU s")
        return [Table(f"64 groups of policies, {n_draws} divisions into ten folds", head, rows)]
    rows = []
    for record in done:
        models = list(record["draws"][0])
        share = [
            statistics.fmean(draw[each]["is_overdispersed"] for draw in record["draws"])
            for each in models
        ]
        cpu = [statistics.fmean(draw[each]["cpu"] for draw in record["draws"]) for each in models]
        rows.append(
            [
                record["problem"],
                *(_format(record, each, "excess", 4) for each in models),
                *(_format(record, each, "coverage", 3) for each in models),
                " ".join(f"{each:.2f}" for each in share),
                " ".join(number(each, 2) for each in cpu),
            ]
        )
    head = (
        "rate",
        *(f"excess deviance, {each}" for each in models),
        *(f"coverage, {each}" for each in models),
        "negative binomial",
        "CPU s",
    )
    return [Table(f"{n_draws} data sets each", head, rows)]


def write_page(texts: dict[str, str], facts: str, path: Path = PAGE) -> None:
    """Write the page of the results."""
    parts = [INTRODUCTION, facts]
    parts += [f"## {TITLES[name]}\n\n{text}" for name, text in texts.items()]
    path.write_text("\n\n".join(parts).rstrip() + "\n", encoding="utf-8")


INTRODUCTION = """\
# Counts: `SparseBayesCountRegressor`

`python -m bench counts --data FOLDER` fits simulated counts, whose rate is known, and the claims of
an insurance company, which are read from the folder. Standard errors are in parentheses; those of
claims are over divisions of the same 64 rows and do not include the variation between data sets.

- **Simulated counts**: `likelihood="auto"` with `precision="atom"` and `"tied"`. **excess
  deviance** is 2 mean(mu log(mu / m) - mu + m), of predictions m against the true means mu;
  **coverage** is the share of rows at which the 95 % band contains the true log rate; **negative
  binomial** is the share of fits with that likelihood, of both precisions.
- **Insurance claims**: numbers of claims of 64 groups of policies by district, engine size and age
  of the holder (indicators of four categories each), with the number of holders as exposure.
  **deviance** and **MLPD** (mean log predictive probability) are of held-out groups; **coverage**
  is that of 90 % intervals of held-out counts, which for counts is at least 90 % if the model is
  correct. `PoissonRegressor` has the Poisson distribution at its estimate; it is fitted to rates
  weighted by exposure, with its default penalty, and with one chosen by five-fold
  cross-validation."""
