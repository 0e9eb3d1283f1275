"""Peak signal-to-noise ratios on images."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

import numpy as np

from bench.denoising.draws import COLOUR, GREY, noisy_image
from bench.denoising.part import Case, Part, Record, Target, ok
from bench.denoising.peers import image_peers
from bench.measure import cpu_clock
from bench.report import Table, number

__all__ = ["IMAGES_PART", "psnr"]

NOISES = (10, 25, 50)
SCALE = 255.0


def psnr(found: np.ndarray, clean: np.ndarray) -> float:
    """Return decibels of the largest possible value over the root mean squared error."""
    return float(-10.0 * np.log10(np.mean((found - clean) ** 2) / SCALE**2))


def cases(quick: bool) -> list[Case]:
    """Return all images at all noise levels, or two crops."""
    if quick:
        pairs = [("camera", False), ("astronaut", True)]
        return [{"image": i, "colour": c, "noise": 25, "crop": 64} for i, c in pairs]
    pairs = [(name, False) for name in GREY] + [(name, True) for name in COLOUR]
    return [
        {"image": image, "colour": colour, "noise": noise, "crop": None}
        for image, colour in pairs
        for noise in NOISES
    ]


def run(case: Case, seeds: Sequence[int]) -> Record:
    """Return decibels and CPU seconds by method and draw."""
    from relvec import denoise

    axis = -1 if case["colour"] else None
    methods = {"relvec": lambda x: denoise(x, channel_axis=axis)}
    methods |= {name: peer.run for name, peer in image_peers(case["noise"] / SCALE, axis).items()}
    decibels: dict[str, list[float]] = {name: [] for name in methods}
    cpu: dict[str, list[float]] = {name: [] for name in methods}
    for seed in seeds:
        noisy, clean, _ = noisy_image(
            case["image"], case["colour"], case["noise"], case["crop"], seed
        )
        for name, call in methods.items():
            start = cpu_clock()
            found = SCALE * call(noisy / SCALE)
            cpu[name].append(cpu_clock() - start)
            decibels[name].append(psnr(found, clean))
    return {"decibels": decibels, "cpu": cpu, "shape": clean.shape}


def _mean(records: Iterable[Record], method: str, key: str = "decibels") -> float:
    return statistics.fmean(value for record in records for value in record[key][method])


def _best(records: Sequence[Record], is_spun: bool) -> str:
    names = [
        name
        for name in records[0]["decibels"]
        if name.endswith("shifts") == is_spun and name not in ("relvec", "BayesShrink, true noise")
    ]
    return max(names, key=lambda name: _mean(records, name))


def _groups(records: Sequence[Record]) -> list[tuple[str, list[Record]]]:
    pairs = (("grey", False), ("colour", True))
    groups = [(what, [r for r in ok(records) if r["case"]["colour"] == c]) for what, c in pairs]
    return [(what, mine) for what, mine in groups if mine]


def tables(records: Sequence[Record]) -> list[Table]:
    """Return decibels by method and noise, and the gains by image."""
    result = []
    for what, mine in _groups(records):
        noises = list(dict.fromkeys(r["case"]["noise"] for r in mine))
        names = list(dict.fromkeys(r["case"]["image"] for r in mine))
        ours = _mean(mine, "relvec")
        rows = [
            [
                name,
                *(
                    f"{_mean((r for r in mine if r['case']['noise'] == noise), name):.2f}"
                    for noise in noises
                ),
                f"{_mean(mine, name):.2f}",
                "–" if name == "relvec" else f"{ours - _mean(mine, name):+.2f}",
                number(_mean(mine, name, "cpu")),
            ]
            for name in mine[0]["decibels"]
        ]
        crop = mine[0]["case"]["crop"]
        size = "full size" if crop is None else f"the middle {crop} × {crop} pixels"
        n_draws = len(mine[0]["decibels"]["relvec"])
        head = ("method", *(f"sd {noise}" for noise in noises), "mean", "relvec gains", "CPU s")
        title = f"PSNR in dB, {len(names)} {what} images, {size}, draws: {n_draws}"
        result.append(Table(title, head, rows))
        plain, spun = _best(mine, False), _best(mine, True)
        rows = []
        for name in names:
            here = [r for r in mine if r["case"]["image"] == name]
            rows.append(
                [
                    f"{name}, {' × '.join(map(str, here[0]['shape'][:2]))}",
                    f"{_mean(here, 'relvec'):.2f}",
                    *(
                        f"{_mean(here, 'relvec') - _mean(here, peer):+.2f}"
                        for peer in (plain, spun)
                    ),
                ]
            )
        head = ("image", "relvec", f"over {plain}", f"over {spun}")
        result.append(Table(f"Gain in dB, mean over noise levels, {what}", head, rows))
    return result


def targets(records: Sequence[Record]) -> list[Target]:
    """Return the mean gains over the better wavelet of each kind."""
    result = []
    for what, mine in _groups(records):
        for is_spun, limit in ((False, 1.0), (True, 0.3)):
            peer = _best(mine, is_spun)
            gain = _mean(mine, "relvec") - _mean(mine, peer)
            result.append(Target(f"{what}: mean gain over {peer}", gain, limit, True, " dB"))
    return result


IMAGES_PART = Part(cases, run, tables, targets, repeats=2)
