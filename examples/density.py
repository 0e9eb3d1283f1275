"""
Densities with error bands
==========================

Problem: estimate a density from a sample, and say how sure the estimate is. A kernel density
estimate needs a bandwidth, has one for all of the data, leaks over the ends of the support, and has
no error bars. Four samples: the claw, whose narrow peaks need other widths than its sides; an
exponential density, which ends at zero; the petals of the irises, two variables with clusters; and
events in time, whose intensity changes. Where the truth is known, we can compare: by the
Kullback-Leibler divergence from the truth, and by the coverage of the band. Bands are 95 % at each
point, not for the whole curve: over many samples the true curve is outside at 5 % of the points,
most often at the top of a peak, and then over as wide a range as the estimate is smooth.

Run it with ``python examples/density.py [plot.png]``. It needs matplotlib:
``pip install "relvec[plot]"``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import gaussian_kde, norm
from sklearn.datasets import load_iris

from relvec import SparseBayesDensity

PLOT = Path("build") / "density.png"


def main(path: Path = PLOT) -> None:
    pyplot = load_pyplot()
    from relvec.plotting import DensityContourDisplay, DensityDisplay

    rng = np.random.default_rng(0)
    figure, axes = pyplot.subplots(2, 2, figsize=(10.0, 7.6), layout="constrained")
    print(f"{'':14}{'N':>6}{'KL relvec':>11}{'KL KDE':>9}{'coverage':>10}  reference, widths")

    claw = draw_claw(1000, rng)
    model = SparseBayesDensity().fit(claw[:, None])
    compare("claw", model, claw, (-6.0, 6.0), claw_density)
    x = np.linspace(-3.0, 3.0, 400)
    DensityDisplay.from_estimator(
        model, claw[:, None], x=x, truth=claw_density(x), ax=axes[0, 0], rug=False
    )
    draw_kde(axes[0, 0], claw, x)

    waits = rng.exponential(size=500)
    model = SparseBayesDensity(support=(0, None)).fit(waits[:, None])
    compare("exponential", model, waits, (0.0, 30.0), lambda t: np.exp(-t))
    x = np.linspace(-0.5, 5.0, 400)
    truth = np.where(x < 0.0, 0.0, np.exp(-x))
    DensityDisplay.from_estimator(model, waits[:, None], x=x, truth=truth, ax=axes[0, 1], rug=False)
    draw_kde(axes[0, 1], waits, x)

    iris = load_iris()
    petals = iris.data[:, 2:]
    model = SparseBayesDensity(support=[(0, None), (0, None)]).fit(petals)
    print(f"\niris petals: {model.effective_dof_:.0f} effective degrees of freedom")
    display = DensityContourDisplay.from_estimator(model, petals, ax=axes[1, 0])
    display.ax_.set(xlabel="petal length (cm)", ylabel="petal width (cm)")

    times = draw_events(rng)
    model = SparseBayesDensity(support=(0, 100), normalise=False).fit(times[:, None])
    x = np.linspace(0.0, 100.0, 400)
    band = model.pdf(x[:, None], coverage=0.95)[1]
    inside = (band[:, 0] <= intensity(x)) & (intensity(x) <= band[:, 1])
    print(f"{len(times)} events: the 95 % band covers the true intensity at {inside.mean():.0%}")
    DensityDisplay.from_estimator(model, times[:, None], x=x, truth=intensity(x), ax=axes[1, 1])
    axes[1, 1].set(xlabel="time", ylabel="events per unit of time")

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
    print(f"\nPlot: {os.path.relpath(path)}")


def draw_claw(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from number 10 of Marron and Wand (1992): a normal density with five peaks."""
    peak = rng.integers(10, size=n)
    narrow = rng.normal(peak / 2.0 - 1.0, 0.1)
    return np.where(peak < 5, narrow, rng.normal(size=n))


def claw_density(x: np.ndarray) -> np.ndarray:
    peaks = sum(norm.pdf(x, k / 2.0 - 1.0, 0.1) for k in range(5))
    return 0.5 * norm.pdf(x) + 0.1 * peaks


def intensity(t: np.ndarray) -> np.ndarray:
    """Events per unit of time: a slow decline, and a busy period."""
    return 4.0 * np.exp(-t / 60.0) + 3.0 * np.exp(-0.5 * ((t - 65.0) / 5.0) ** 2)


def draw_events(rng: np.random.Generator) -> np.ndarray:
    """Draw a Poisson process by thinning one of constant intensity."""
    times = rng.uniform(0.0, 100.0, rng.poisson(700))
    return times[rng.uniform(0.0, 7.0, len(times)) < intensity(times)]


def compare(
    name: str,
    model: SparseBayesDensity,
    sample: np.ndarray,
    ends: tuple[float, float],
    truth: Callable[[np.ndarray], np.ndarray],
) -> None:
    """Print divergences from the truth, integrated, and the coverage of the band."""
    step = (ends[1] - ends[0]) / 4000
    x = ends[0] + step * (np.arange(4000) + 0.5)
    mass = step * truth(x)
    density, band = model.pdf(x[:, None], coverage=0.95)
    ours = mass @ np.log(truth(x) / density)
    theirs = mass @ (np.log(truth(x)) - gaussian_kde(sample).logpdf(x))
    inside = mass @ ((band[:, 0] <= truth(x)) & (truth(x) <= band[:, 1]))
    widths = ", ".join(f"1/{1.0 / width:.0f}" for width in model.widths_) or "none"
    print(
        f"{name:14}{len(sample):6}{ours:11.4f}{theirs:9.4f}{inside:10.1%}  "
        f"{model.reference_}, {widths}"
    )


def draw_kde(axes, sample: np.ndarray, x: np.ndarray) -> None:
    """Add the kernel density estimate of SciPy."""
    axes.plot(x, gaussian_kde(sample)(x), color="0.35", lw=1.2, ls=":", label="KDE (Scott)")
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
