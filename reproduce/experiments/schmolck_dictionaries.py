"""Figures 2.7 to 2.11 of Schmolck (2008): dictionaries, the smoothness prior, its posteriors."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.report import Table, number
from relvec.datasets import make_noisy_signal
from relvec.kernels import LinearSpline
from reproduce.common.plots import COLOURS, draw_line_fit, make_figure
from reproduce.common.smooth_models import WAVELAB, denoise, inputs, kernel_model, symmlets
from reproduce.engine import Cell, Experiment, Results, Settings, Task

__all__ = ["EXPERIMENT", "SCENARIOS", "Component", "fit_panel"]

PROTOCOL = """
Sections 2.3 to 2.6.2 have plots, whose captions give no numbers. Ours are means over 10 draws; the
plots show the first.

- **Figures 2.7 and 2.9**: Sinc (SNR 2) and Bumps (SNR 7) with 128 samples, by symmlets and by
  linear splines of scale 3, without a penalty ("None") and with one that is not named: ours is
  "BIC", the default of the thesis. The noise is estimated. Symmlets and the noise are those of
  Table 2.1.
- **Linear splines**: `RVMRegressor(kernel=LinearSpline(3))` on [−10, 10], without an intercept.
- **Figure 2.8**: components 1, 10, 23 and 230 of 512, from coarse to fine. The order within a level
  is that of PyWavelets; that of the thesis is not known.
- **Figure 2.11**: the parameters of the plot are not given. Ours are σ² = c = 1, with s and q²
  chosen so that each of the four cases occurs. With orthonormal components s = 1/σ², and the two
  lower cases cannot occur.
"""
SPLINE_WIDTH = 3.0
N = 128
SIGNALS = {"Sinc": 2.0, "Bumps": 7.0}
"""Their signal-to-noise ratios."""
DICTIONARIES = ("symmlet", "lspline")
PRIORS = ("None", "BIC")
N_DRAWS = 10
N_ATOMS = 512
ATOMS = (1, 10, 23, 230)
NOISE_LEVELS = (0.25, 0.5, 1.0)


class Component(NamedTuple):
    """What one component sees of the rest, in the words of the thesis."""

    s: float
    q2: float
    noise_variance: float = 1.0
    c: float = 1.0

    def likelihood(self, alpha: np.ndarray) -> np.ndarray:
        """Equation (2.73): what a precision adds to the log likelihood."""
        total = alpha + self.s
        return np.asarray(0.5 * (np.log(alpha / total) + self.q2 / total))

    def prior(self, alpha: np.ndarray) -> np.ndarray:
        """Equation (2.60): the log prior but for a constant."""
        return np.asarray(-self.c / (1.0 + self.noise_variance * alpha))

    def posterior(self, alpha: np.ndarray) -> np.ndarray:
        """Equation (2.80): the sum of both."""
        return self.likelihood(alpha) + self.prior(alpha)

    def turning_points(self) -> np.ndarray:
        """Return the finite precisions at which the posterior is flat: roots of (A.16)."""
        beta, spare = 1.0 / self.noise_variance, np.poly1d([self.s - self.q2, self.s**2])
        away, alone = np.poly1d([1.0, beta]), np.poly1d([1.0, self.s])
        numerator = spare * away**2 + 2.0 * self.c * beta * np.poly1d([1.0, 0.0]) * alone**2
        roots = numerator.roots
        real = roots[np.abs(roots.imag) < 1e-9 * np.abs(roots)].real
        return np.sort(real[real > 0.0])


SCENARIOS = {
    "no finite mode is left": Component(s=0.2, q2=0.4),
    "one turning point: a finite mode": Component(s=0.3, q2=2.4),
    "two, the finite mode above 0": Component(s=0.2, q2=1.2),
    "two, the finite mode below 0": Component(s=0.1, q2=0.4),
}
"""The four panels of Figure 2.11."""


def fit_panel(
    folder: Path | None, signal: str, dictionary: str, prior: str, seed: int
) -> dict[str, Any]:
    """Fit one draw of a signal."""
    draw = make_noisy_signal(signal, N, snr=SIGNALS[signal], exact_noise=True, random_state=seed)
    if dictionary == "symmlet":
        found = denoise(draw.noisy, prior)
        curve, noise = found.curve, found.noise_variance
        n_components = int(np.count_nonzero(found.weights))
    else:
        model = kernel_model(draw.noisy, prior, kernel=LinearSpline(SPLINE_WIDTH))
        curve, noise = model.predict(inputs(N)), model.noise_variance_
        n_components = len(model.relevance_)
    return {
        "curve": curve,
        "noisy": draw.noisy,
        "clean": draw.clean,
        "n_components": n_components,
        "error": float(np.mean((curve - draw.clean) ** 2)),
        "noise_variance": noise,
        "truth": draw.noise_std**2,
    }


def _tasks(settings: Settings, results: Results) -> list[Task]:
    return [
        Task(f"{signal}/{dictionary}/{prior}/{seed}", fit_panel, (signal, dictionary, prior, seed))
        for signal in SIGNALS
        for dictionary in DICTIONARIES
        for prior in PRIORS
        for seed in range(settings.draws(N_DRAWS))
    ]


def _cells(results: Results, settings: Settings) -> list[Cell]:
    return []


def _tables(results: Results, settings: Settings) -> list[Table]:
    lines = []
    for prior in PRIORS:
        for signal in SIGNALS:
            for dictionary in DICTIONARIES:
                key = f"{signal}/{dictionary}/{prior}"
                names = ("n_components", "error", "noise_variance", "truth")
                means = [number(np.mean(results.column(key, name))) for name in names]
                lines.append([f"{signal}, {dictionary}, {prior}", *means])
    title = "Figures 2.7 and 2.9: means over draws"
    return [Table(title, ["", "S", "MSE", "σ²", "true σ²"], lines)]


def _draw_fits(results: Results, prior: str) -> Figure:
    figure, panels = make_figure(len(DICTIONARIES), len(SIGNALS), sharex=True)
    x = inputs(N)[:, 0]
    for row, dictionary in zip(panels, DICTIONARIES, strict=True):
        for axes, signal in zip(row, SIGNALS, strict=True):
            fit = results[f"{signal}/{dictionary}/{prior}/0"]
            words = f"S = {fit['n_components']}, MSE {fit['error']:.2g}"
            draw_line_fit(
                axes,
                truth=(x, np.asarray(fit["clean"])),
                data=(x, np.asarray(fit["noisy"])),
                curve=(x, np.asarray(fit["curve"])),
                title=f"{signal}, {dictionary}, {prior}: {words}",
                colour=COLOURS[0 if prior == "None" else 1],
            )
    panels[0, 0].legend(fontsize="small")
    for axes in panels[-1]:
        axes.set_xlabel("x")
    return figure


def _draw_atoms() -> Figure:
    chosen = np.array(ATOMS) - 1
    x = inputs(N_ATOMS)
    columns = {
        "symmlet": np.roll(symmlets(N_ATOMS).columns(chosen), WAVELAB, axis=0),
        "lspline": LinearSpline(SPLINE_WIDTH)(x, x[chosen]),
    }
    figure, panels = make_figure(len(ATOMS), len(columns), height=1.6, sharex=True)
    for panel, (name, atoms) in zip(panels.T, columns.items(), strict=True):
        for axes, place, atom in zip(panel, ATOMS, atoms.T, strict=True):
            axes.plot(x[:, 0], atom, color=COLOURS[0])
            axes.set_ylim(1.15 * min(atom.min(), 0.0), 1.15 * max(atom.max(), 0.0))
            axes.set_title(f"{name} {place}", fontsize="small")
        panel[-1].set_xlabel("x")
    return figure


def _draw_prior() -> Figure:
    figure, panels = make_figure(1, 1, width=5.5, height=3.4)
    axes = panels[0, 0]
    alpha = np.linspace(0.0, 20.0, 400)
    for noise, colour, style in zip(NOISE_LEVELS, COLOURS, ("-", "--", ":"), strict=False):
        log_prior = Component(1.0, 1.0, noise).prior(alpha)
        axes.plot(alpha, log_prior, style, color=colour, label=f"σ² = {noise:g}")
    axes.set(xlabel="α", ylabel="log π(α | σ²), c = 1")
    axes.legend()
    return figure


def _draw_scenarios() -> Figure:
    figure, panels = make_figure(2, 2, height=3.2, sharex=True)
    alpha = np.geomspace(1e-3, 1e3, 600)
    for axes, (name, component) in zip(panels.flat, SCENARIOS.items(), strict=True):
        _draw_scenario(axes, alpha, component)
        axes.set_title(f"{name}\n(s = {component.s:g}, q² = {component.q2:g})", fontsize="medium")
    panels[0, 0].legend(fontsize="small", loc="lower right")
    for axes in panels[-1]:
        axes.set_xlabel("α")
    return figure


def _draw_scenario(axes: Axes, alpha: np.ndarray, component: Component) -> None:
    curves = {
        "log posterior": (component.posterior, "-", COLOURS[0]),
        "log likelihood": (component.likelihood, "--", COLOURS[1]),
        "log prior": (component.prior, ":", "0.35"),
    }
    for label, (function, style, colour) in curves.items():
        axes.plot(alpha, function(alpha), style, color=colour, label=label)
    turns = component.turning_points()
    axes.plot(turns, component.posterior(turns), "o", color=COLOURS[0], markersize=5.0)
    axes.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
    peak = max(component.likelihood(alpha).max(), 0.2)
    axes.set(xscale="log", ylim=(-1.6, 1.3 * peak))


def _figures(results: Results, settings: Settings) -> dict[str, Figure]:
    return {
        "schmolck_dictionaries_2_7": _draw_fits(results, "None"),
        "schmolck_dictionaries_2_8": _draw_atoms(),
        "schmolck_dictionaries_2_9": _draw_fits(results, "BIC"),
        "schmolck_dictionaries_2_10": _draw_prior(),
        "schmolck_dictionaries_2_11": _draw_scenarios(),
    }


EXPERIMENT = Experiment(
    source="Schmolck 2008, Figures 2.7 to 2.11",
    title="dictionaries and the smoothness prior",
    protocol=PROTOCOL,
    stages=(_tasks,),
    cells=_cells,
    figures=_figures,
    tables=_tables,
)
