"""The priors are numbers; these are the numbers."""

from __future__ import annotations

import math

import pytest
from sklearn.base import clone

from relvec.priors import (
    FlatPrior,
    GammaHyperprior,
    GammaPrior,
    Prior,
    SmoothnessPrior,
    resolve_prior,
)


def test_flat_asks_for_nothing() -> None:
    assert FlatPrior().smoothness(1000) == 0.0
    assert FlatPrior().hyperprior() == GammaHyperprior()


@pytest.mark.parametrize(
    ("c", "expected"),
    [
        ("aic", 1.0),
        ("bic", math.log(64) / 2),
        ("ric", math.log(64)),
        (0, 0.0),
        (2.5, 2.5),
    ],
)
def test_smoothness_price(c: str | float, expected: float) -> None:
    assert SmoothnessPrior(c).smoothness(64) == pytest.approx(expected)
    assert SmoothnessPrior(c).hyperprior() == GammaHyperprior()


@pytest.mark.parametrize("n", [0.0, 0.5, 1.0])
def test_price_is_never_negative(n: float) -> None:
    assert SmoothnessPrior("bic").smoothness(n) == 0.0


@pytest.mark.parametrize("c", [-1, float("nan"), float("inf"), "bci", None, True])
def test_smoothness_refuses_what_is_no_price(c: object) -> None:
    with pytest.raises((TypeError, ValueError), match=r"c must be .*'aic', 'bic', 'ric'"):
        SmoothnessPrior(c).smoothness(10)


def test_gamma_passes_its_numbers_on() -> None:
    prior = GammaPrior(shape=1, rate=2, noise_shape=3, noise_rate=4)
    assert prior.hyperprior() == GammaHyperprior(1.0, 2.0, 3.0, 4.0)
    assert prior.smoothness(10) == 0.0


@pytest.mark.parametrize("name", ["shape", "rate", "noise_shape", "noise_rate"])
@pytest.mark.parametrize("value", [-1e-9, float("nan"), float("inf")])
def test_gamma_refuses_bad_numbers(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a non-negative number"):
        GammaPrior(**{name: value}).hyperprior()


def test_gamma_without_a_maximum_is_refused() -> None:
    with pytest.raises(ValueError, match="positive rate"):
        GammaPrior(shape=1e-4, rate=0.0).hyperprior()
    assert GammaPrior(shape=0.0, rate=1.0).hyperprior().rate == 1.0


@pytest.mark.parametrize(
    ("name", "kind", "price"),
    [
        (None, FlatPrior, 0.0),
        ("flat", FlatPrior, 0.0),
        ("gamma", GammaPrior, 0.0),
        ("smoothness", SmoothnessPrior, math.log(10) / 2),
        ("aic", SmoothnessPrior, 1.0),
        ("bic", SmoothnessPrior, math.log(10) / 2),
        ("ric", SmoothnessPrior, math.log(10)),
    ],
)
def test_resolve_names(name: str | None, kind: type[Prior], price: float) -> None:
    prior = resolve_prior(name)
    assert type(prior) is kind
    assert prior.smoothness(10) == pytest.approx(price)


def test_resolve_keeps_objects_and_makes_fresh_ones() -> None:
    prior = SmoothnessPrior(2.0)
    assert resolve_prior(prior) is prior
    assert resolve_prior("bic") is not resolve_prior("bic")


def test_resolve_explains_itself() -> None:
    with pytest.raises(ValueError, match=r"got 'gama'.*Did you mean 'gamma'\?"):
        resolve_prior("gama")
    with pytest.raises(TypeError, match=r"prior must be one of .*; got 3"):
        resolve_prior(3)


@pytest.mark.parametrize("prior", [FlatPrior(), GammaPrior(rate=2.0), SmoothnessPrior("ric")])
def test_clones_are_equal(prior: Prior) -> None:
    assert clone(prior).get_params() == prior.get_params()
