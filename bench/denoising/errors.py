"""Mean squared errors on signals: parts "signals", "others", "published" and "large"."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from bench.denoising.draws import FOUR, OTHERS, noisy_signal
from bench.denoising.part import Case, Part, Record, Target, geometric_mean, ok
from bench.denoising.peers import PEERS
from bench.measure import cpu_clock
from bench.report import Table, number

__all__ = ["LARGE_PART", "OTHERS_PART", "PUBLISHED_PART", "SIGNALS_PART"]

SNRS = (3, 5, 7)
PUBLISHED = {
    1024: {"Doppler": 0.09011, "Bumps": 0.244, "Blocks": 0.1966, "HeaviSine": 0.0578},
    2048: {"Doppler": 0.05991, "Bumps": 0.1201, "Blocks": 0.1223, "HeaviSine": 0.03323},
}
"""EbayesThresh 1.4-13 in R on the stationary transform; one draw each."""
PUBLISHED_LARGE = {
    "Doppler": 0.0002517,
    "Bumps": 0.0009801,
    "Blocks": 0.001899,
    "HeaviSine": 0.0003858,
}
"""EbayesThresh 1.4-13 in R with the Cauchy prior, 2^20 samples; one draw each."""
OUR_EBAYES = "EbayesThresh, all shifts"


Method = Callable[[np.ndarray, float | None], np.ndarray]


def _ours() -> dict[str, Method]:
    from relvec import denoise

    return {
        "relvec": lambda noisy, std: denoise(noisy, noise_std=std or "auto"),
        "relvec plain": lambda noisy, std: denoise(noisy, mode="plain", noise_std=std or "auto"),
    }


def _methods(wanted: Sequence[str] | None) -> dict[str, Method]:
    everything = _ours() | {name: peer.run for name, peer in PEERS.items()}
    return {name: everything[name] for name in (wanted or everything)}


def run(case: Case, seeds: Sequence[int]) -> Record:
    """Return mean squared error over noise variance, and CPU seconds, by method and draw."""
    methods = _methods(case.get("methods"))
    errors: dict[str, list[float]] = {name: [] for name in methods}
    cpu: dict[str, list[float]] = {name: [] for name in methods}
    for call in methods.values():  # pays for lazy imports
        call(noisy_signal(case["signal"], 256, 5, 0).noisy, None)
    for seed in seeds:
        draw = noisy_signal(case["signal"], case["n"], case["snr"], seed)
        std = draw.noise_std if case.get("known") else None
        for name, call in methods.items():
            start = cpu_clock()
            found = call(draw.noisy, std)
            cpu[name].append(cpu_clock() - start)
            errors[name].append(float(np.mean((found - draw.clean) ** 2)) / draw.noise_std**2)
    return {"errors": errors, "cpu": cpu}


def _pool(records: Iterable[Record], method: str) -> list[float]:
    return [value for record in records for value in record["errors"][method]]


def _with(records: Iterable[Record], **wanted: object) -> list[Record]:
    return [r for r in records if all(r["case"][key] == value for key, value in wanted.items())]


def _values(records: Iterable[Record], key: str) -> list:
    return list(dict.fromkeys(record["case"][key] for record in records))


def _best(records: Sequence[Record], is_spun: bool | None, only: str = "") -> tuple[str, float]:
    """Return the peer of lowest geometric mean among those of a kind."""
    names = [
        name
        for name, peer in PEERS.items()
        if (is_spun is None or peer.is_spun == is_spun) and name.startswith(only)
    ]
    means = {name: geometric_mean(_pool(records, name)) for name in names}
    best = min(means, key=lambda name: means[name])
    return best, means[best]


# ---------------------------------------------------------------- the four, all peers


def _signal_cases(quick: bool) -> list[Case]:
    sizes, snrs = ((256,), (5,)) if quick else ((1024, 4096), SNRS)
    return [{"signal": name, "n": n, "snr": snr} for n in sizes for name in FOUR for snr in snrs]


def _signal_tables(records: Sequence[Record]) -> list[Table]:
    result = []
    for n in _values(ok(records), "n"):
        mine = _with(ok(records), n=n)
        signals = _values(mine, "signal")
        ours = np.log(_pool(mine, "relvec"))
        rows = []
        for name in mine[0]["errors"]:
            log_ratio = ours - np.log(_pool(mine, name))
            spread = float(log_ratio.std(ddof=1) / np.sqrt(len(log_ratio)))
            ratio = float(np.exp(log_ratio.mean()))
            rows.append(
                [
                    name,
                    *(number(geometric_mean(_pool(_with(mine, signal=s), name))) for s in signals),
                    number(geometric_mean(_pool(mine, name))),
                    "–" if name == "relvec" else f"{ratio:.2f} ± {ratio * spread:.2f}",
                ]
            )
        snrs = ", ".join(map(str, _values(mine, "snr")))
        n_draws = len(mine[0]["errors"]["relvec"])
        title = f"N = {n}, SNR {snrs}, draws: {n_draws}: mean squared error / noise variance"
        result.append(Table(title, ("method", *signals, "all", "relvec / method"), rows))
    return result


def _signal_targets(records: Sequence[Record]) -> list[Target]:
    result = []
    for n in _values(ok(records), "n"):
        mine = _with(ok(records), n=n)
        ours = geometric_mean(_pool(mine, "relvec"))
        name, value = _best(mine, False, "skimage")
        result.append(Target(f"N = {n}: relvec / {name}", ours / value, 0.65))
        name, value = _best(mine, True)
        result.append(Target(f"N = {n}: relvec / best over shifts ({name})", ours / value, 0.95))
    return result


# ---------------------------------------------------------------- thirteen others


def _other_cases(quick: bool) -> list[Case]:
    names, snrs = (OTHERS[:2], (5,)) if quick else (OTHERS, SNRS)
    return [
        {"signal": name, "n": 1024, "snr": snr, "known": known}
        for known in (False, True)
        for name in names
        for snr in snrs
    ]


def _mean_by_signal(records: Sequence[Record], method: str) -> dict[str, float]:
    return {
        signal: statistics.fmean(_pool(_with(records, signal=signal), method))
        for signal in _values(records, "signal")
    }


def _other_errors(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    return {name: _mean_by_signal(records, name) for name in records[0]["errors"]}


def _other_tables(records: Sequence[Record]) -> list[Table]:
    result = []
    for known in _values(ok(records), "known"):
        mine = _with(ok(records), known=known)
        errors = _other_errors(mine)
        rows = []
        for signal in _values(mine, "signal"):
            best = min(PEERS, key=lambda name: errors[name][signal])
            ours = errors["relvec"][signal]
            rows.append(
                [
                    signal,
                    number(ours),
                    number(errors["relvec plain"][signal]),
                    number(errors["skimage BayesShrink"][signal]),
                    number(errors[best][signal]),
                    best,
                    f"{ours / errors[best][signal]:.2f}",
                ]
            )
        head = ("signal", "relvec", "plain", "skimage", "best peer", "which", "relvec / best")
        noise = "all given the true noise" if known else "all estimate the noise"
        snrs = ", ".join(map(str, _values(mine, "snr")))
        n_draws = len(mine[0]["errors"]["relvec"])
        title = f"N = 1024, mean over SNR {snrs} and {n_draws} draws, {noise}"
        result.append(Table(title, head, rows))
        ours = geometric_mean(errors["relvec"].values())
        by_method = [
            [name, number(mean), f"{ours / mean:.2f}"]
            for name, values in errors.items()
            if (mean := geometric_mean(values.values()))
        ]
        head = ("method", "geometric mean", "relvec / method")
        result.append(Table(f"The same over all signals, {noise}", head, by_method))
    return result


def _other_targets(records: Sequence[Record]) -> list[Target]:
    result = []
    for known in _values(ok(records), "known"):
        errors = _other_errors(_with(ok(records), known=known))
        worst = {
            signal: ours / min(errors[name][signal] for name in PEERS)
            for signal, ours in errors["relvec"].items()
        }
        where = max(worst, key=lambda signal: worst[signal])
        best = min(PEERS, key=lambda name: geometric_mean(errors[name].values()))
        overall = geometric_mean(errors["relvec"].values())
        overall /= geometric_mean(errors[best].values())
        noise = "noise given" if known else "noise estimated"
        what = f"{noise}, worst signal ({where}): relvec / best peer there"
        result.append(Target(what, worst[where], 1.5))
        what = f"{noise}, geometric mean: relvec / best peer ({best})"
        result.append(Target(what, overall, 1.0))
    return result


# ---------------------------------------------------------------- published results


def _published_cases(quick: bool) -> list[Case]:
    sizes = (1024,) if quick else tuple(PUBLISHED)
    methods = ["relvec", OUR_EBAYES]
    return [{"signal": name, "n": n, "snr": 7, "methods": methods} for n in sizes for name in FOUR]


def _plus_minus(values: Sequence[float]) -> str:
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{number(statistics.fmean(values))} ± {number(spread, 2)}"


def _published_tables(records: Sequence[Record]) -> list[Table]:
    rows = []
    for record in ok(records):
        case, errors = record["case"], record["errors"]
        rows.append(
            [
                f"{case['signal']}, N = {case['n']}",
                number(PUBLISHED[case["n"]][case["signal"]]),
                _plus_minus(errors[OUR_EBAYES]),
                _plus_minus(errors["relvec"]),
                number(statistics.median(record["cpu"]["relvec"])),
            ]
        )
    head = ("", "EbayesThresh in R, one draw", "ours in Python", "relvec", "CPU s")
    return [Table("SNR 7: mean ± standard deviation of one draw", head, rows)] if rows else []


def _published_targets(records: Sequence[Record]) -> list[Target]:
    result = []
    for n in _values(ok(records), "n"):
        mine = _with(ok(records), n=n)
        published = geometric_mean(PUBLISHED[n][r["case"]["signal"]] for r in mine)
        ours = geometric_mean(statistics.fmean(r["errors"]["relvec"]) for r in mine)
        name = f"N = {n}: geometric mean, relvec / EbayesThresh in R over shifts"
        result.append(Target(name, ours / published, 1.0))
    return result


def _large_cases(quick: bool) -> list[Case]:
    n = 1 << (16 if quick else 20)
    methods = ["relvec", "skimage BayesShrink sym8"]
    return [{"signal": name, "n": n, "snr": 7, "methods": methods} for name in FOUR]


def _published_large(case: Case) -> float | None:
    return PUBLISHED_LARGE[case["signal"]] if case["n"] == 1 << 20 else None


def _large_tables(records: Sequence[Record]) -> list[Table]:
    rows = [
        [
            record["case"]["signal"],
            _plus_minus(record["errors"]["skimage BayesShrink sym8"]),
            number(_published_large(record["case"])),
            _plus_minus(record["errors"]["relvec"]),
            number(statistics.median(record["cpu"]["relvec"])),
        ]
        for record in ok(records)
    ]
    head = ("", "skimage BayesShrink sym8", "EbayesThresh Cauchy in R", "relvec", "CPU s")
    n = ok(records)[0]["case"]["n"] if rows else 0
    return [Table(f"N = {n}, SNR 7", head, rows)] if rows else []


def _large_targets(records: Sequence[Record]) -> list[Target]:
    mine = [record for record in ok(records) if record["case"]["n"] == 1 << 20]
    if not mine:
        return []
    ratios = {
        r["case"]["signal"]: statistics.fmean(r["errors"]["relvec"])
        / PUBLISHED_LARGE[r["case"]["signal"]]
        for r in mine
    }
    worst = max(ratios, key=lambda name: ratios[name])
    cpu = max(statistics.median(r["cpu"]["relvec"]) for r in mine)
    return [
        Target(
            "geometric mean: relvec / EbayesThresh Cauchy", geometric_mean(ratios.values()), 0.8
        ),
        Target(f"worst signal ({worst})", ratios[worst], 0.8),
        Target("CPU seconds, slowest signal", cpu, 2.0, unit=" s"),
    ]


SIGNALS_PART = Part(_signal_cases, run, _signal_tables, _signal_targets, repeats=20)
OTHERS_PART = Part(_other_cases, run, _other_tables, _other_targets, repeats=20)
PUBLISHED_PART = Part(_published_cases, run, _published_tables, _published_targets, repeats=20)
LARGE_PART = Part(_large_cases, run, _large_tables, _large_targets, repeats=3)
