"""The suite of samplers: run its parts, make tables and a page."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.denoising.part import Record, Target, ok, target_table
from bench.report import Table, number
from bench.runner import run_worker
from bench.sampling import bands, ladder, large, published
from bench.sampling.methods import FINNISH, METHODS, SELECTION, Length, find_missing
from bench.sampling.problems import PROBLEMS

__all__ = ["DEFAULT_PARTS", "PACKAGES", "PAGE", "PARTS", "run_part", "tables", "write_page"]

PACKAGES = ("relvec", "numpyro", "jax", "arviz", "numpy", "scipy")
PAGE = Path(__file__).parents[1] / "SAMPLING.md"
COMPARED = {
    "independent columns": "independent",
    "correlated columns": "correlated",
    "three samplers": "independent",
}
"""Parts with NUTS, and their problems."""
THREE = (
    "relvec HorseshoeSampler, slab",
    "NumPyro NUTS, slab, target_accept 0.9",
    "relvec CollapsedSampler",
)
BANDS = {
    "coverage sinc": bands.SINC,
    "coverage learnt": bands.SINC_LEARNT,
    "coverage blocks": bands.BLOCKS,
}
LARGE = "scaling"
LADDER = "tempering"
PARTS = (*COMPARED, *BANDS, LADDER, LARGE, *published.PARTS)
DEFAULT_PARTS = tuple(name for name in PARTS if name != "three samplers")
REPEATS = 3
TIMES_NUTS = 10.0
LARGEST_RHAT = 1.01
QUICK = Length(n_chains=2, n_warmup=200, n_burn=50, n_draws=200)


def run_part(name: str, seed: int, repeats: int | None, quick: bool) -> Iterator[Record]:
    """Yield the records of a part as they come."""
    if name in BANDS:
        yield from _run_bands(name, seed, repeats, quick)
    elif name in published.PARTS:
        yield from map(_run, published.list_jobs(name, seed, repeats, quick))
    elif name == LARGE:
        problem = "quick large" if quick else "large"
        for draw in range(repeats or (1 if quick else 2)):
            yield _run({"part": name, "problem": problem, "method": LARGE, "seed": seed + draw})
    elif name == LADDER:
        seeds = range(seed, seed + (repeats or (1 if quick else 3)))
        for job in ladder.list_jobs(name, seeds, quick):
            yield _run(job)
    else:
        yield from _compare(name, seed, repeats, quick)


def _run(job: Record) -> Record:
    record = run_worker("bench.sampling.worker", job)
    note = "" if record["status"] == "ok" else f": {record['error']}"
    print(f"sampling {job['problem']} {job['method']}{note}", file=sys.stderr, flush=True)
    return record


def _run_bands(name: str, seed: int, repeats: int | None, quick: bool) -> Iterator[Record]:
    problem = bands.QUICK if quick else BANDS[name]
    n_draws = repeats or (1 if quick else bands.REPEATS[problem])
    seeds = list(range(seed, seed + n_draws))
    for method in bands.METHODS:
        yield _run({"part": name, "problem": problem, "method": method, "seeds": seeds})


def _compare(name: str, seed: int, repeats: int | None, quick: bool) -> Iterator[Record]:
    missing = find_missing()
    if "arviz" in missing:
        print(
            f"{name} left out: not installed: {', '.join(missing)}; pip install "
            f"{' '.join(missing)} (or relvec[bench])",
            file=sys.stderr,
        )
        return
    if missing:
        print(
            f"NUTS left out: not installed: {', '.join(missing)}; pip install "
            f"{' '.join(missing)} (or relvec[bench])",
            file=sys.stderr,
        )
    problem = "quick" if quick else COMPARED[name]
    length = QUICK if quick else Length()
    for method in THREE if name == "three samplers" else METHODS:
        if METHODS[method].needs_numpyro and missing:
            continue
        for draw in range(repeats or (1 if quick else REPEATS)):
            job = {"part": name, "problem": problem, "method": method, "seed": seed + draw}
            yield _run({**job, "length": length._asdict()})


def tables(name: str, records: Sequence[Record]) -> list[Table]:
    """Return one table for each model of a part: only the same posterior is compared."""
    if name in BANDS:
        return bands.tables(records)
    if name == LARGE:
        return large.tables(records)
    if name == LADDER:
        return ladder.tables(records)
    if name in published.PARTS:
        return published.tables(name, records)
    found = []
    done = ok(records)
    for model in dict.fromkeys(each.model for each in METHODS.values()):
        rows = []
        for method in METHODS:
            same = [record for record in done if record["method"] == method]
            if METHODS[method].model == model and same:
                rows.append(_row(method, same))
        if rows:
            problem = done[0]["problem"]
            n_rows, n_columns, correlation = PROBLEMS[problem]
            title = (
                f"{model}: N = {n_rows}, M = {n_columns}, correlation of neighbours "
                f"{correlation:g}, median of {len({r['seed'] for r in done})} data sets"
            )
            found.append(Table(title, HEAD, rows))
    targets = _find_targets(done)
    return found + ([target_table(targets)] if targets else [])


def _find_targets(records: Sequence[Record]) -> list[Target]:
    """Compare effective draws per second with those of NUTS, whose model is another one."""

    def rates(method: str, what: str) -> list[float]:
        return [r[what] / r["draws_cpu"] for r in records if r["method"] == method]

    models = {name: each.model for name, each in METHODS.items() if not each.needs_numpyro}
    ours = [name for name, model in models.items() if model in (FINNISH, SELECTION)]
    targets = []
    for method in ours:
        for what, word in (("ess_predictor", "predictor"), ("ess_noise", "noise")):
            mine, nuts = rates(method, what), rates(THREE[1], what)
            if mine and nuts:
                ratio = statistics.median(mine) / statistics.median(nuts)
                label = f"{method}: ESS/s of the {word} over that of NUTS, slab, target_accept 0.9"
                targets.append(Target(label, ratio, TIMES_NUTS, at_least=True, unit="×"))
    return targets


HEAD = (
    "sampler",
    "ESS/s, predictor",
    "ESS/s, noise",
    "with warm-up: predictor",
    "noise",
    "smallest ESS",
    "largest R-hat",
    "converged",
    "CPU s, draws",
    "warm-up",
    "compilation",
    "leapfrog steps",
    "divergences",
    "mean noise sd",
)


def _row(method: str, records: Sequence[Record]) -> list[str]:
    def median(*what: str, total: bool = False) -> str:
        top, *_ = what
        return number(
            statistics.median(
                r[top] / (r["draws_cpu"] + (r["warmup_cpu"] if total else 0.0)) for r in records
            )
        )

    def middle(what: str, digits: int = 3) -> str:
        return number(statistics.median(r[what] for r in records), digits)

    converged = sum(r["rhat"] < LARGEST_RHAT for r in records)
    diverged = records[0]["n_divergences"]
    return [
        method,
        median("ess_predictor"),
        median("ess_noise"),
        median("ess_predictor", total=True),
        median("ess_noise", total=True),
        number(min(min(r["ess_predictor"], r["ess_noise"]) for r in records)),
        f"{max(r['rhat'] for r in records):.3f}",
        f"{converged} of {len(records)}",
        middle("draws_cpu"),
        middle("warmup_cpu"),
        middle("compile_cpu"),
        "–" if diverged is None else middle("n_leapfrog"),
        "–" if diverged is None else str(sum(r["n_divergences"] for r in records)),
        middle("noise_mean", 4),
    ]


def write_page(texts: dict[str, str], facts: str, path: Path = PAGE) -> None:
    """Write the page of the results."""
    parts = [INTRODUCTION, facts]
    parts += [f"## {name[0].upper()}{name[1:]}\n\n{text}" for name, text in texts.items()]
    path.write_text("\n\n".join(parts).rstrip() + "\n", encoding="utf-8")


INTRODUCTION = """\
# Samplers: `relvec.sampling` and the No-U-Turn sampler

`python -m bench sampling` measures how fast chains mix, and what error bars and probabilities of
sampled models are worth. Samplers of relvec and NUTS of NumPyro draw from the posterior on the same
data. A table holds one model. `CollapsedSampler` has another prior than the horseshoe, so its rate
says how long a sampled model of sparse columns takes, not that one algorithm beats the other on one
posterior.

Columns:

- **Data**: normal columns, six of them with effects (3, -2, 1.5, -1, 1, 0.5 noise standard
  deviations for columns of unit variance), unit noise. There is no intercept.
- **Prior**, identical on both sides: columns of unit norm, weights in units of the noise, tau ~
  C+(0, 5 / (M - 5)), inverse Gamma noise (shape 1, rate 0.1). The slab scale c is 20 noise standard
  deviations, with c² ~ inverse Gamma of 4 degrees of freedom.
- **NUTS**: non-centred, single precision, 4 chains one after the other, 1000 steps of warm-up and
  1000 draws. Warm-up and draws are compiled ahead; **compilation** includes finding the starts
  and is not counted elsewhere.
- **relvec**: double precision, 4 chains with 200 + 1000 steps. `CollapsedSampler` has 8 steps for
  each draw, each of which adds, removes or replaces one column at most; its priors are those of
  `SampledSparseBayesRegressor(LinearBasis())`: `BetaBinomialSize()` and
  `PrecisionGrid(1e-8, 0.1, 8)`, with the inverse Gamma noise above.
- **three samplers** is a short part: one sampler of each of the two models, and NUTS.
- **ESS/s**: smallest bulk effective sample size, of the linear predictor over all training rows
  and of the noise standard deviation, per CPU second of the draws; then per CPU second of draws and
  warm-up. By ArviZ for all methods. **converged**: data sets with all R-hat below 1.01; other
  effective sample sizes are not reliable. **mean noise sd**: the same for samplers of one model, up
  to Monte Carlo error.

Coverage of 95 % bands at the training inputs, Gaussian noise; standard errors over data sets in
parentheses:

- **coverage of y** and **MLPD** (mean log predictive density): new targets at the same inputs.
- **evidence, plain**: `SparseBayesRegressor` (`RVMRegressor` where the length-scale is learnt) with
  `error_bars="plain"` and `calibrate=False`; **evidence, default**: as it is, with novelty and
  calibration.
- **sampled**: `SampledSparseBayesRegressor` (`SampledRVMRegressor`) as it is; **sampled, cheap**:
  `n_draws=250, max_doublings=0`. **R-hat** and **ESS** are the largest and smallest of the
  quantities on which the verdict on convergence depends; fits that have not converged are included.
- **sinc**: N = 64 in [-10, 10], signal-to-noise ratio 5, kernel exp(-(x - z)² / 9) or a learnt
  length-scale. **BlocksSinc**: N = 256, ratio 7, Haar wavelets and thin-plate splines of scale 3.

Tempering: four chains with the data of BlocksSinc, Haar wavelets and linear or thin-plate splines
of scale 3, and the priors of `SampledSparseBayesRegressor`. They start from the model of highest
evidence, the empty one and two random ones. **informed, slot** and **several, slot** are moves of
`CollapsedSampler`, one half each; **tempered** is `TemperedSampler` with the latter moves and the
powers of `tune_powers(lowest=0.3, acceptance=0.3)`. R-hat and effective sample sizes (the smaller
of bulk and tails) are of the log noise, of the function at 25 rows (the worst), and of the number
of basis functions. CPU seconds of all four chains, without the choice of powers.

Scaling: 100 000 rows and 500 columns, neighbours correlated by 0.5, 20 with effects from one
standard error to half the noise, added to `SufficientStatistics` in blocks. `run_chains` continues
four chains, in one process, until R-hat is below 1.01 and effective sample sizes of bulk and tails
are at least 1000, of 25 predictions at new rows and of the noise.

Published sets, read from the folder that `--data` or `RELVEC_DATA` names (friedman1 and wine need
none): `SampledRVMRegressor` and `SampledRVMClassifier` against `RVMRegressor` and `RVMClassifier`,
all at their defaults, on new rows; means over splits, standard errors in parentheses. Splits
overlap (but for friedman1), so that these errors are somewhat too small.

- **Splits**: random by seed, 90 % for training (boston, uci_yacht, uci_energy) or half (diabetes);
  fresh draws (friedman1); the published sizes (pima, ripley); the published realisations
  (ida_banana, ida_german, seed modulo ten); 80 %, stratified (iris, wine).
- **sampled, short**: `max_doublings=1`, a tenth of the steps at most.
- **MLPD above evidence**, **log loss above evidence**: means of the differences of the same splits;
  positive is better for the first and worse for the second.
- **calibration error**: expected calibration error in ten bins of the highest probability, of each
  split; **of all splits**: of their predictions together, which contains less of the scatter of
  small test sets."""
