"""What the guide and the benchmark claim of densities, at the defaults, on seeds of their own."""

from __future__ import annotations

import math
import re
import time

import numpy as np
import pytest
from scipy.special import logsumexp

from relvec import SparseBayesDensity
from tests.helpers_claims import GUIDE, claimed
from tests.helpers_docs import ROOT

PAGE = ROOT / "bench" / "DENSITY.md"
# Marron and Wand (1992): weight, mean and standard deviation of each part
MIXTURES = {
    "1 Gaussian": [(1, 0, 1)],
    "3 strongly skewed": [(1 / 8, 3 * ((2 / 3) ** k - 1), (2 / 3) ** k) for k in range(8)],
    "5 outlier": [(1 / 10, 0, 1), (9 / 10, 0, 1 / 10)],
    "7 separated": [(1 / 2, -3 / 2, 1 / 2), (1 / 2, 3 / 2, 1 / 2)],
    "10 claw": [(1 / 2, 0, 1), *((1 / 10, k / 2 - 1, 1 / 10) for k in range(5))],
}


def page_mean(title: str, row: str, column: int) -> float:
    """A mean in a table of the page."""
    text = PAGE.read_text("utf-8")
    lines = text[text.index(f"**{title}") :].split("\n\n")[1].splitlines()
    (cells,) = [line.strip("|").split("|") for line in lines if line.startswith(f"| {row} |")]
    return float(cells[column].split("(")[0])


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_seeds"), [(200, 4), (1000, 2)])
def test_divergences_and_coverage_are_those_of_the_benchmark(n: int, n_seeds: int) -> None:
    ours, theirs, coverages, seconds = [], [], [], []
    for number, (name, parts) in enumerate(MIXTURES.items()):
        weight, mean, std = np.array(parts, dtype=float).T
        theirs.append(page_mean(f"KL × 1000: mixtures of normal densities, N = {n}", name, 1))
        for seed in range(7000, 7000 + n_seeds):
            rng = np.random.default_rng([seed, number])
            which = rng.choice(len(weight), n + 2000, p=weight)
            x = rng.normal(mean[which], std[which])
            z = (x[n:, None] - mean) / std
            norm = 0.5 * math.log(2 * math.pi)
            truth = logsumexp(-0.5 * z**2 + np.log(weight / std) - norm, axis=1)
            began = time.process_time()
            model = SparseBayesDensity().fit(x[:n, None])
            seconds.append(time.process_time() - began)
            density, band = model.pdf(x[n:, None], coverage=0.95)
            ours.append(np.mean(truth - np.log(density)))
            coverages.append(np.mean((band[:, 0] < np.exp(truth)) & (np.exp(truth) < band[:, 1])))
    # means over five densities scatter by about a sixth
    assert 1000 * np.mean(ours) < 1.6 * np.mean(theirs)
    assert np.mean(ours) < {200: 0.055, 1000: 0.014}[n]
    assert np.mean(coverages) > {200: 0.87, 1000: 0.93}[n]
    assert np.median(seconds) < 0.3  # twice the claim: other processes share the machine


@pytest.mark.slow
def test_bounded_supports_have_no_bias_at_their_ends() -> None:
    end = -math.expm1(-6.0)
    exponential, uniform = [], []
    for seed in range(7000, 7005):
        rng = np.random.default_rng(seed)
        x = -np.log1p(-end * rng.random(3000))
        model = SparseBayesDensity(support=(0, 6)).fit(x[:1000, None])
        exponential.append(np.mean(-x[1000:] - math.log(end) - model.score_samples(x[1000:, None])))
        x = rng.random(3000)
        model = SparseBayesDensity(support=(0, 1)).fit(x[:1000, None])
        uniform.append(np.mean(-model.score_samples(x[1000:, None])))
    # the target of 0.004, and two standard errors of a mean over five seeds
    assert np.mean(exponential) < 0.006
    assert np.mean(uniform) < 0.006


@pytest.mark.slow
def test_a_million_points_take_seconds() -> None:
    x = np.random.default_rng(7000).normal(size=(1_000_000, 1)) ** 3
    began = time.process_time()
    model = SparseBayesDensity().fit(x)
    assert time.process_time() - began < 5.0
    quantiles = np.array([-1.2816, -0.5244, 0.5244, 1.2816]) ** 3
    assert model.cdf(quantiles[:, None]) == pytest.approx([0.1, 0.3, 0.7, 0.9], abs=0.002)


def test_the_guide_has_the_means_of_the_benchmark() -> None:
    page = "KL × 1000: mixtures of normal densities, N = 1000"
    ours, theirs = claimed(
        GUIDE / "density.md", "divergence from the truth is # nats, against # of the best kernel"
    )
    assert 1000 * ours == pytest.approx(page_mean(page, "mean", 1), abs=0.1)
    assert 1000 * theirs == pytest.approx(page_mean(page, "mean", 4), abs=0.5)
    assert theirs == min(round(page_mean(page, "mean", k) / 1000, 3) for k in (2, 3, 4, 5))
    title = "Coverage of the 95 % band, effective dof, CPU seconds: mixtures of normal densities"
    wide, narrow = claimed(GUIDE / "density.md", r"density at # % of new points \(# % with 200")
    assert wide == round(100 * page_mean(f"{title}, N = 1000", "mean", 1))
    assert narrow == round(100 * page_mean(f"{title}, N = 200", "mean", 1))
    (claw,) = claimed(GUIDE / "density.md", "the band covers # % there")
    assert claw == pytest.approx(100 * page_mean(f"{title}, N = 200", "10 claw", 1), abs=1.0)


def test_targets_that_are_not_met_are_known() -> None:
    text = PAGE.read_text("utf-8")
    met = re.findall(r"^\| (.+?) \| .* \| (met|\*\*not met\*\*) \|$", text, re.MULTILINE)
    assert len(met) >= 12
    # one fit of two hundred took 0.157 seconds; the mixture of two variables has 0.045
    missed = {what for what, how in met if how != "met"}
    assert missed <= {"KL, two variables", "largest CPU time of a fit"}
