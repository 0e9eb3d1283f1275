"""
A peak on a falling background
==============================

Problem: events with a falling spectrum, such as the masses of pairs of particles, and somewhere
perhaps a narrow peak, a new particle. Is it there, and how significant is it? The background has no
formula that is known to be right, so that its uncertainty must count. `SparseBayesDensity` with
basis functions much wider than the peak (here a quarter of the range of 60, or 15 units of mass,
against 1.5 of the peak) is the background. `scan_peaks` tests a peak at each
position: the number of events in it, with the weights of the background integrated out. Positions
were not chosen beforehand, so a large value somewhere is no surprise (the look-elsewhere effect):
simulated backgrounds without a peak show how large the largest value is.

Run it with ``python examples/bump_hunt.py [plot.png]``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from relvec import SparseBayesDensity

PLOT = Path("build") / "bump_hunt.png"
LOWER, UPPER = 100.0, 160.0
POSITION, WIDTH, N_SIGNAL, N_BACKGROUND = 125.0, 1.5, 150, 6000


def main(path: Path = PLOT, n_simulations: int = 200) -> None:
    pyplot = load_pyplot()

    rng = np.random.default_rng(1)
    mass = draw_masses(rng)
    background = SparseBayesDensity(
        support=(LOWER, UPPER), widths=[0.5, 0.25], normalise=False
    ).fit(mass[:, None])
    positions = np.linspace(104.0, 156.0, 105)
    scan = background.scan_peaks(positions, WIDTH, n_simulations=n_simulations, random_state=0)
    best = int(scan.z.argmax())
    print(f"{len(mass)} events, {N_SIGNAL} of them in a peak at {POSITION:g}")
    print(f"largest significance: {scan.z[best]:.1f} standard deviations at {positions[best]:g}")
    print(f"signal there: {scan.signal[best]:.0f} events")
    print(f"standard deviation of the signal if there is no peak: {scan.std[best]:.0f} events")
    exact = scan.signal[best] / np.sqrt(expect_below_peak(background, positions[best]))
    print(f"with a background that is known exactly it would be {exact:.1f}")
    print(f"local p-value:  {scan.local_p_value[best]:.1e}")
    above = "at most " if scan.largest.max() < scan.z[best] else ""
    print(f"global p-value: {above}{scan.global_p_value:.3f} ({n_simulations} simulations)")
    usual = np.quantile(scan.largest, 0.95)
    print(f"largest value in 95 % of backgrounds without a peak: below {usual:.1f}")

    figure, (top, bottom) = pyplot.subplots(
        2, 1, figsize=(7.5, 6.5), sharex=True, height_ratios=[2, 1], layout="constrained"
    )
    draw_spectrum(top, background, mass)
    bottom.axhspan(-2, 2, color="0.93", lw=0)
    bottom.axhline(usual, color="0.5", lw=1, ls="--", label="95 % of backgrounds stay below")
    bottom.plot(positions, scan.z, color="#c2410c", lw=1.5)
    bottom.set(xlabel="mass", ylabel="local significance z", xlim=(LOWER, UPPER))
    bottom.legend(frameon=False, fontsize=9, loc="upper right")
    for axes in (top, bottom):
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
    print(f"\nPlot: {os.path.relpath(path)}")


def draw_masses(rng: np.random.Generator) -> np.ndarray:
    """Draw a falling spectrum and a peak."""
    falling = LOWER + rng.exponential(22.0, size=4 * N_BACKGROUND)
    falling = falling[falling < UPPER][:N_BACKGROUND]
    return np.concatenate([falling, rng.normal(POSITION, WIDTH, N_SIGNAL)])


def expect_below_peak(background: SparseBayesDensity, position: float) -> float:
    """Return the variance of the signal if the background were known: that of its noise alone."""
    # For a Gaussian peak g(x) on a background b(x), 1 / integral of g^2 / b: about 2 sqrt(pi)
    # widths of the background.
    rate = float(background.pdf([[position]])[0])
    return 2.0 * np.sqrt(np.pi) * WIDTH * rate


def draw_spectrum(axes, background: SparseBayesDensity, mass: np.ndarray) -> None:
    """Draw counts with their noise, and the background with its band."""
    edges = np.arange(LOWER, UPPER + 1.0)  # bins of one unit of mass
    counts = np.histogram(mass, edges)[0]
    centres = 0.5 * (edges[1:] + edges[:-1])
    x = np.linspace(LOWER, UPPER, 300)
    rate, band = background.pdf(x[:, None], coverage=0.95)
    axes.fill_between(x, *band.T, color="#1f5a99", alpha=0.3, lw=0, label="95 % band")
    axes.plot(x, rate, color="#1f5a99", lw=1.6, label="background")
    axes.errorbar(
        centres, counts, np.sqrt(counts), fmt="o", color="0.2", ms=3, lw=0.8, label="events"
    )
    axes.set(ylabel="events per unit of mass", ylim=(0, None))
    axes.legend(frameon=False, fontsize=9)


def load_pyplot():
    try:
        import matplotlib
    except ImportError as missing:
        raise SystemExit(
            "This example draws a plot, which needs matplotlib. "
            'Install it with: pip install "relvec[plot]"'
        ) from missing
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:2]))
