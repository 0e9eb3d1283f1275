"""Priors bound to atoms: the numbers they give, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.base import clone

from relvec.priors import (
    FlatPrior,
    GammaPrior,
    InverseGamma,
    LaplacePrior,
    Prior,
    SmoothnessPrior,
    resolve_prior,
)


def test_flat_asks_for_nothing() -> None:
    bound = FlatPrior().bind(1000)
    assert bound.penalty == 0.0
    assert not bound.is_penalised
    assert not bound.has_density
    assert bound.is_removable
    assert (bound.noise.shape, bound.noise.rate) == (0.0, 0.0)


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
def test_smoothness_penalty(c: str | float, expected: float) -> None:
    bound = SmoothnessPrior(c).bind(64)
    assert bound.penalty == pytest.approx(expected)
    assert bound.is_penalised == (expected > 0)


@pytest.mark.parametrize("n", [0.0, 0.5, 1.0])
def test_penalty_is_never_negative(n: float) -> None:
    assert SmoothnessPrior("bic").bind(n).penalty == 0.0


@pytest.mark.parametrize("c", [-1, float("nan"), float("inf"), "bci", None, True])
def test_smoothness_refuses_what_is_no_penalty(c: object) -> None:
    with pytest.raises((TypeError, ValueError), match=r"c must be .*'aic', 'bic', 'ric'"):
        SmoothnessPrior(c).bind(10)


def test_penalties_by_group() -> None:
    labels = np.array([2, 0, 0, 2, 2])
    told = {"level": labels, "part": labels}.__getitem__
    bound = SmoothnessPrior([0.5, 3.0], by=labels).bind(100, np.ones(5))
    np.testing.assert_array_equal(bound.penalty, [3.0, 0.5, 0.5, 3.0, 3.0])
    np.testing.assert_array_equal(bound.subset(np.array([1, 3])).penalty, [0.5, 3.0])
    counted = SmoothnessPrior("ric", by="level").bind(100, np.ones(5), told)
    np.testing.assert_allclose(counted.penalty, np.log([3, 2, 2, 3, 3]))
    mixed = SmoothnessPrior(["aic", 0.0], by="part").bind(100, np.ones(5), told)
    np.testing.assert_array_equal(mixed.penalty, [0.0, 1.0, 1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"c": [1.0, 2.0]}, "no groups of atoms are given"),
        ({"c": [1.0, 2.0, 3.0], "by": [0, 1, 1]}, "c has 3 penalties, but .* makes 2 groups"),
        ({"by": "level"}, "needs a basis with levels"),
        ({"by": "lvl"}, "by must be one of"),
        ({"by": [0, 1]}, "one label for each of the 3 atoms"),
    ],
)
def test_groups_that_are_not_told_are_refused(options: dict, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        SmoothnessPrior(**options).bind(100, np.ones(3))


def test_gamma_passes_its_numbers_on() -> None:
    bound = GammaPrior(shape=1, rate=2, noise=InverseGamma(3, 4)).bind(10, np.array([1.0, 2.0]))
    lam, noise = np.array([0.3, 0.7]), 0.5
    alpha = lam * np.array([1.0, 4.0]) / noise
    np.testing.assert_allclose(bound.log_density(np.log(lam), noise), np.log(alpha) - 2 * alpha)
    assert bound.noise.log_density(noise) == pytest.approx(-3 * np.log(noise) - 4 / noise)
    assert bound.penalty == 0.0
    assert not bound.is_removable


def test_the_measure_of_a_gamma_density_is_a_choice() -> None:
    over_log = GammaPrior(0.7, 1.0).bind(10)
    over_alpha = GammaPrior(0.7, 1.0, measure="precision").bind(10)
    theta = np.linspace(-3, 3, 7)
    # the density over alpha is that over log(alpha) divided by alpha
    np.testing.assert_allclose(
        over_alpha.log_density(theta, 1.0), over_log.log_density(theta, 1.0) - theta
    )
    with pytest.raises(ValueError, match="-1/2 or less pushes every precision to zero"):
        GammaPrior(0.5, 1.0, measure="precision").bind(10)
    with pytest.raises(ValueError, match="measure must be one of"):
        GammaPrior(measure="alpha").bind(10)


@pytest.mark.parametrize("name", ["shape", "rate"])
@pytest.mark.parametrize("value", [-1e-9, float("nan"), float("inf")])
def test_bad_numbers_are_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a non-negative number"):
        GammaPrior(**{name: value}).bind(10)
    for kind in (FlatPrior, GammaPrior, SmoothnessPrior, LaplacePrior):
        with pytest.raises(ValueError, match=f"{name} of the noise must be a non-negative"):
            kind(noise=InverseGamma(**{name: value})).bind(10)


def test_gamma_without_a_maximum_is_refused() -> None:
    with pytest.raises(ValueError, match="positive rate"):
        GammaPrior(shape=1e-4, rate=0.0).bind(10)
    assert GammaPrior(shape=0.0, rate=1.0).bind(10).raw_rate == 1.0


@pytest.mark.parametrize(
    ("name", "kind", "penalty"),
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
def test_resolve_names(name: str | None, kind: type[Prior], penalty: float) -> None:
    prior = resolve_prior(name)
    assert type(prior) is kind
    assert prior.bind(10).penalty == pytest.approx(penalty)


def test_resolve_keeps_objects_and_makes_fresh_ones() -> None:
    prior = SmoothnessPrior(2.0)
    assert resolve_prior(prior) is prior
    assert resolve_prior("bic") is not resolve_prior("bic")


def test_resolve_explains_itself() -> None:
    with pytest.raises(ValueError, match=r"got 'gama'.*Did you mean 'gamma'\?"):
        resolve_prior("gama")
    with pytest.raises(TypeError, match=r"prior must be one of .*; got 3"):
        resolve_prior(3)


@pytest.mark.parametrize(
    "prior",
    [FlatPrior(noise=InverseGamma(2.0, 0.5)), GammaPrior(rate=2.0), SmoothnessPrior("ric")],
)
def test_clones_are_equal(prior: Prior) -> None:
    assert repr(clone(prior).get_params()) == repr(prior.get_params())


def test_a_noise_prior_that_is_none_is_refused():
    with pytest.raises(TypeError, match=r"noise must be an InverseGamma or None; got \(1, 2\)"):
        FlatPrior(noise=(1, 2)).bind(10)
