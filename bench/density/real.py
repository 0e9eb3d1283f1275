"""Published samples without known truth: held-out log density, and plots beside kernel estimates.

They are read from the folder that ``--data`` or RELVEC_DATA names; without it the part is left out.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from bench.classification.problems import read_set
from bench.density.peers import PEERS
from bench.report import Table, number
from relvec import SparseBayesDensity

__all__ = ["CAPTION", "REAL", "draw_plots", "make_tables", "measure"]

Array = np.ndarray
N_FOLDS = 10


@dataclass(frozen=True)
class RealSample:
    """A sample of one variable, and what is drawn of it."""

    name: str
    file: str
    column: str
    label: str
    range: tuple[float, float]
    """Range of the plot."""
    support: tuple[float, float] | None = None
    """Ends that are known: the window of observation of events."""
    scale: float = 1.0

    def read(self) -> Array:
        """Return the values."""
        return np.asarray(read_set(self.file)[self.column], dtype=np.float64) / self.scale


REAL = {
    each.name: each
    for each in (
        # Roeder (1990), Density estimation with confidence sets exemplified by superclusters and
        # voids in the galaxies, Journal of the American Statistical Association 85.
        RealSample("galaxies", "galaxies.npz", "x", "velocity (1000 km/s)", (5, 40), scale=1000.0),
        # Azzalini and Bowman (1990), A look at some data on the Old Faithful geyser, Applied
        # Statistics 39.
        RealSample("waiting", "faithful.npz", "waiting", "waiting time (minutes)", (35, 105)),
        RealSample("eruptions", "faithful.npz", "eruptions", "length of eruption (min)", (1, 6)),
        # Jarrett (1979), A note on the intervals between coal-mining disasters, Biometrika 66: from
        # 15 March 1851 to 22 March 1962.
        RealSample("coal", "coal.npz", "date", "year", (1851.2, 1962.23), (1851.2, 1962.23)),
    )
}
"""Samples by name."""
CAPTION = """\
![Four panels. The velocities of galaxies have peaks near 10, 20, 23 and 33; waiting times and
eruptions have two modes; disasters fall from three a year to one about 1890.](density-real.png)

Bands are pointwise, of 95 %. The coal panel is the intensity (`normalise=False`), and its kernel
estimate is multiplied by the number of events."""


def measure(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the mean log density of held-out points of each method, for each division."""
    sample = REAL[job["problem"]]
    x = sample.read()
    draws = []
    for seed in job["seeds"]:
        result: dict[str, Any] = {}
        for name, fit in {"relvec": _fit_relvec, **PEERS}.items():
            began, logs = time.process_time(), np.empty(len(x))
            for train, test in KFold(N_FOLDS, shuffle=True, random_state=seed).split(x):
                logs[test] = fit(x[train], sample.support)(x[test])
            cpu = time.process_time() - began
            result[name] = {"mlpd": float(logs.mean()), "cpu": cpu / N_FOLDS}
        draws.append(result)
    return draws


def _fit_relvec(x: Array, support: tuple[float, float] | None) -> Callable[[Array], Array]:
    model = SparseBayesDensity(support).fit(x[:, None])
    return lambda at: model.score_samples(at[:, None])


def make_tables(records: Sequence[dict[str, Any]]) -> list[Table]:
    """Tabulate the mean log density of held-out points."""
    methods = ("relvec", *PEERS)
    rows = []
    for record in records:
        means = [statistics.fmean(d[m]["mlpd"] for d in record["draws"]) for m in methods]
        rows.append([record["problem"], str(record["n"]), *(f"{mean:.3f}" for mean in means)])
    cpu = [
        statistics.fmean(d[m]["cpu"] for record in records for d in record["draws"])
        for m in methods
    ]
    rows.append(["CPU s", "", *(number(each, 2) for each in cpu)])
    divisions = len(records[0]["draws"])
    title = f"Mean log density of held-out points, {divisions} divisions into {N_FOLDS} folds"
    return [Table(title, ("sample", "N", *methods), rows)]


def draw_plots(path: Path) -> None:
    """Draw every sample with relvec and two kernel density estimates."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from relvec.plotting import DensityDisplay

    figure, panels = pyplot.subplots(2, 2, figsize=(10.0, 7.2), layout="constrained")
    for axes, sample in zip(panels.flat, REAL.values(), strict=True):
        values, x = sample.read(), np.linspace(*sample.range, 600)
        is_intensity = sample.support is not None
        model = SparseBayesDensity(sample.support, normalise=not is_intensity)
        model.fit(values[:, None])
        DensityDisplay.from_estimator(model, values[:, None], x=x, ax=axes)
        total = len(values) if is_intensity else 1.0
        for name, style in (("Scott", ":"), ("ISJ", "--")):
            density = total * np.exp(PEERS[name](values, sample.support)(x))
            axes.plot(x, density, color="0.3", lw=1.1, ls=style, label=f"KDE ({name})")
        axes.set(xlabel=sample.label, ylabel="events per year" if is_intensity else "density")
        axes.set_title(f"{sample.name}, N = {len(values)}", fontsize=10)
        axes.legend(frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
