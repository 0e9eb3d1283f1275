"""Marginal prior densities of weights against numerical integration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, laplace, norm, t

pytest.importorskip("matplotlib")

from matplotlib import colors, pyplot

from relvec.plotting import WeightPriorDisplay
from relvec.priors import GammaPrior, LaplacePrior, SeparablePrior, SmoothnessPrior

WEIGHTS = np.array([-3.0, -0.4, 0.05, 1.0, 7.0])


def display_of(prior, **options):
    return WeightPriorDisplay({"it": prior}, **options)


def integrated(weight, log_density):
    """Density of a weight from that of its log precision, by quadrature."""
    middle = -2.0 * math.log(abs(weight))

    def integrand(u):
        return norm.pdf(weight, scale=math.exp(-0.5 * u)) * math.exp(log_density(u))

    parts = [(middle - 60, middle - 5), (middle - 5, middle + 2), (middle + 2, middle + 6)]
    return sum(quad(integrand, *ends, limit=200, epsabs=1e-14)[0] for ends in parts)


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "rate"), [(1.0, 1.0), (0.5, 0.1), (3.0, 2.0)])
def test_a_gamma_prior_is_a_student_t(shape, rate):
    display = display_of(GammaPrior(shape, rate))
    density = display.density("it", WEIGHTS)
    brute = [
        integrated(w, lambda u: gamma.logpdf(math.exp(u), shape, scale=1.0 / rate) + u)
        for w in WEIGHTS
    ]
    np.testing.assert_allclose(density, brute, rtol=1e-6)
    np.testing.assert_allclose(
        density, t.pdf(WEIGHTS, 2.0 * shape, scale=math.sqrt(rate / shape)), rtol=1e-12
    )
    assert display.is_proper("it")


@pytest.mark.parametrize("penalty", [0.0, 0.5, 3.0])
def test_a_penalty_on_degrees_of_freedom(penalty):
    display = display_of(SmoothnessPrior(penalty))
    brute = [integrated(w, lambda u: -penalty / (1.0 + math.exp(u))) for w in WEIGHTS]
    np.testing.assert_allclose(display.density("it", WEIGHTS), brute, rtol=1e-6)
    share = display.density("it", [1e-6, 1e6]) * [1e-6, 1e6]
    np.testing.assert_allclose(share, [1.0, math.exp(-penalty)], rtol=1e-4)
    assert not display.is_proper("it")


@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_an_exponential_density_of_the_variance_is_a_laplace_density(rate):
    density = display_of(LaplacePrior(rate)).density("it", WEIGHTS)
    brute = [
        integrated(w, lambda u: math.log(0.5 * rate) - 0.5 * rate * math.exp(-u) - u)
        for w in WEIGHTS
    ]
    np.testing.assert_allclose(density, brute, rtol=1e-6)
    np.testing.assert_allclose(density, laplace.pdf(WEIGHTS, scale=1.0 / math.sqrt(rate)))


def test_a_gamma_density_of_shape_zero_and_the_flat_prior():
    brute = [integrated(w, lambda u: -0.3 * math.exp(u)) for w in WEIGHTS]
    display = display_of(GammaPrior(0.0, 0.3))
    np.testing.assert_allclose(display.density("it", WEIGHTS), brute, rtol=1e-6)
    assert not display.is_proper("it")
    flat = display_of("flat")
    np.testing.assert_allclose(flat.density("it", WEIGHTS), 1.0 / np.abs(WEIGHTS))
    assert flat.density("it", [0.0]) == np.inf
    np.testing.assert_allclose(
        display_of("gaussian").density("it", WEIGHTS), norm.pdf(WEIGHTS), rtol=1e-12
    )


def test_penalties_follow_the_number_of_samples():
    few, many = (display_of("bic", n_samples=n).density("it", [5.0])[0] for n in (10, 10_000))
    assert few > many


def test_what_is_drawn():
    display = WeightPriorDisplay.from_priors(limit=3.0)
    assert list(display.lines_) == ["Gaussian", "Laplace", "Student t", "flat"]
    weight, height = display.lines_["Gaussian"].get_data()
    np.testing.assert_allclose(height, norm.pdf(weight))
    assert display.ax_.get_yscale() == "log"
    labels = {text.get_text() for text in display.ax_.get_legend().get_texts()}
    assert labels == {"Gaussian", "Laplace", "Student t", "flat (improper)"}
    for name in display.priors:
        assert np.isfinite(display.lines_[name].get_ydata()).all()


@pytest.mark.slow
def test_contours_of_two_weights():
    display = WeightPriorDisplay.from_priors(["gaussian", "bic", "flat"])
    display.plot(kind="contours")
    assert len(display.axes_) == 3
    assert display.lines_ == {}
    assert [ax.get_title(loc="left") for ax in display.axes_] == ["gaussian", "bic", "flat"]
    _, ax = pyplot.subplots()
    assert WeightPriorDisplay.from_priors("flat", kind="contours", ax=ax).ax_ is ax
    many = {f"$\\bad{{${i}": "flat" for i in range(5)}
    wide = WeightPriorDisplay.from_priors(many, kind="contours")
    assert len(wide.figure_.axes) == 5
    wide.figure_.canvas.draw()
    WeightPriorDisplay.from_priors(many).figure_.canvas.draw()


@pytest.mark.slow
@pytest.mark.parametrize("is_dark", [False, True])
def test_small_plots_on_light_and_dark_backgrounds(is_dark):
    with pyplot.style.context("dark_background" if is_dark else "default"):
        figure, ax = pyplot.subplots(figsize=(3.0, 2.0), layout="constrained")
        display = WeightPriorDisplay.from_priors(ax=ax)
        figure.canvas.draw()
        assert ax.get_legend().get_window_extent().x1 <= figure.bbox.x1 + 2.0
        assert ax.get_window_extent().height > 0.4 * figure.bbox.height
        paper = float(np.mean(colors.to_rgb(ax.get_facecolor())))
        for line in display.lines_.values():
            assert abs(float(np.mean(colors.to_rgb(line.get_color()))) - paper) > 0.3


class Steep(SeparablePrior):
    """A density of which nothing else is known."""

    def log_density(self, log_lam):
        return -np.exp(-2.0 * log_lam)

    def slope(self, log_lam):
        return 2.0 * np.exp(-2.0 * log_lam)

    def curvature(self, log_lam):
        return -4.0 * np.exp(-2.0 * log_lam)


@pytest.mark.parametrize(
    ("priors", "error", "message"),
    [
        ({}, ValueError, "at least one prior"),
        (["laplace"], ValueError, "The rate of LaplacePrior.* is learnt"),
        ([Steep()], ValueError, "cannot be plotted"),
        (["gauss"], ValueError, "prior must be one of"),
        ([3.0], TypeError, "prior must be one of"),
    ],
)
def test_priors_that_cannot_be_plotted(priors, error, message):
    with pytest.raises(error, match=message):
        WeightPriorDisplay.from_priors(priors)


def test_other_options():
    with pytest.raises(ValueError, match="limit must be"):
        WeightPriorDisplay.from_priors("flat", limit=0.0)
    with pytest.raises(ValueError, match="kind must be one of"):
        WeightPriorDisplay.from_priors("flat", kind="surface")
