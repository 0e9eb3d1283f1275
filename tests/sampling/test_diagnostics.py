"""R-hat, effective sample sizes and standard errors against ArviZ and against known answers."""

from __future__ import annotations

import numpy as np
import pytest

from relvec._compat import import_arviz
from relvec.sampling import (
    compute_ess_bulk,
    compute_ess_tail,
    compute_mcse_mean,
    compute_mcse_quantile,
    compute_mcse_std,
    compute_r_hat,
    summarise_chains,
)

FUNCTIONS = (
    compute_r_hat,
    compute_ess_bulk,
    compute_ess_tail,
    compute_mcse_mean,
    compute_mcse_std,
    lambda draws: compute_mcse_quantile(draws, 0.95),
)


def autoregressive(correlation, n_chains, n_draws, seed):
    noise = np.random.RandomState(seed).standard_normal((n_chains, n_draws))
    draws = np.empty_like(noise)
    draws[:, 0] = noise[:, 0]
    for t in range(1, n_draws):
        draws[:, t] = correlation * draws[:, t - 1] + np.sqrt(1 - correlation**2) * noise[:, t]
    return draws


CASES = {
    "independent": autoregressive(0.0, 4, 500, 0),
    "slow": autoregressive(0.95, 4, 401, 1),
    "antithetic": autoregressive(-0.7, 3, 300, 2),
    "another mean": autoregressive(0.5, 4, 250, 3) + np.array([[0.0], [0.0], [0.0], [0.8]]),
    "another scale": autoregressive(0.2, 2, 200, 4) * np.array([[1.0], [3.0]]),
    "heavy tails": autoregressive(0.3, 4, 200, 5) ** 5,
    "binary": (autoregressive(0.8, 4, 300, 6) > 1.0).astype(float),
    "counts": np.floor(2.0 * autoregressive(0.6, 2, 333, 7)),
    "trend": autoregressive(0.1, 2, 100, 8) + np.linspace(0.0, 2.0, 100),
    "few": autoregressive(0.1, 2, 4, 9),
    "five": autoregressive(0.1, 3, 5, 10),
    "eleven": autoregressive(0.9, 3, 11, 10),
}
# R-hat, bulk and tail ESS, errors of mean, standard deviation and 95 % quantile; the numbers of
# ArviZ 0.23.4 and 1.3.0 agree to 15 digits
ARVIZ = {
    "independent": (
        1.0012544611364036,
        2070.1411543632175,
        1867.8288623478136,
        0.02147444337140377,
        0.015358309151644373,
        0.0555745028325757,
    ),
    "slow": (
        1.1035018927702165,
        27.518875812908973,
        139.30196488998234,
        0.1702531391320978,
        0.04502859414123984,
        0.14603690206485742,
    ),
    "antithetic": (
        1.0024489720672562,
        2658.8182584953925,
        671.5555074352384,
        0.019555441449775196,
        0.04135351662121465,
        0.1329842191996906,
    ),
    "another mean": (
        1.0752761557564587,
        44.69221877151342,
        574.2686961872619,
        0.15756878238229677,
        0.02868035654648546,
        0.0612242776497115,
    ),
    "another scale": (
        1.1927381090882294,
        299.81501091774976,
        67.07849959992713,
        0.14444188878530934,
        0.6156592399282256,
        1.1544314772338276,
    ),
    "heavy tails": (
        1.0013711657818825,
        425.79376719375256,
        583.685194366632,
        0.8318451988630016,
        3.017775716801368,
        3.631679441075417,
    ),
    "binary": (
        1.013605523891235,
        298.4709999589643,
        298.4709999589645,
        0.01957992924534507,
        0.02132013513112346,
        0.0,
    ),
    "counts": (
        1.0078416721008907,
        192.1788652230965,
        321.8057971053427,
        0.14083561430902491,
        0.07248934949270615,
        0.5,
    ),
    "trend": (
        1.1395584434650927,
        10.492896625956469,
        108.09638062177753,
        0.3969926599468408,
        0.07339232868356267,
        0.3150077563269347,
    ),
    "few": (
        1.3187996416209968,
        7.224719895935548,
        7.224719895935548,
        0.19651918153785067,
        0.11202439460967978,
        0.18973500946006455,
    ),
    "five": (
        1.3307379363637808,
        12.9501749525715,
        12.0,
        0.21661267387797573,
        0.13166089106820134,
        0.24336713008182254,
    ),
    "eleven": (
        1.4373212637518868,
        11.102964593904867,
        14.778325123152708,
        0.22964547613173997,
        0.13585320730494493,
        0.08868751553247267,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_those_of_arviz(name):
    computed = [function(CASES[name]) for function in FUNCTIONS]
    np.testing.assert_allclose(computed, ARVIZ[name], rtol=1e-8)


@pytest.mark.slow
def test_installed_arviz_gives_the_same_numbers():
    pytest.importorskip("xarray")
    arviz = import_arviz()
    rng = np.random.default_rng(0)
    for n_draws in (4, 7, 30, 101, 1000):
        draws = rng.normal(size=(3, n_draws)).cumsum(axis=1) ** rng.integers(1, 3)
        expected = [
            arviz.rhat(draws, method="rank"),
            arviz.ess(draws, method="bulk"),
            arviz.ess(draws, method="tail", prob=(0.05, 0.95)),
            arviz.mcse(draws, method="mean"),
            arviz.mcse(draws, method="sd"),
            arviz.mcse(draws, method="quantile", prob=0.95),
        ]
        computed = [function(draws) for function in FUNCTIONS]
        np.testing.assert_allclose(computed, np.array(expected, dtype=float), rtol=1e-8)


def test_several_quantities_are_those_of_each_alone():
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(4, 61, 5)).cumsum(axis=1)
    draws[:, :, 2] = 3.0
    draws[1, 7, 3] = np.nan
    for function in FUNCTIONS:
        together = function(draws)
        assert together.shape == (5,)
        alone = [function(draws[:, :, k]) for k in range(5)]
        np.testing.assert_allclose(together, alone, rtol=1e-12)
        assert np.isnan(together[3])
        assert np.shape(function(draws[:, :, 0])) == ()


def test_independent_draws_have_their_number_as_ess():
    draws = np.random.default_rng(2).normal(size=(4, 2000, 20))
    assert abs(compute_ess_bulk(draws).mean() / 8000 - 1.0) < 0.05
    assert (compute_r_hat(draws) < 1.01).all()
    np.testing.assert_allclose(compute_mcse_mean(draws), 1.0 / np.sqrt(8000), rtol=0.15)
    np.testing.assert_allclose(compute_mcse_std(draws), 1.0 / np.sqrt(2 * 8000), rtol=0.15)


def test_ess_of_an_autoregression_is_known():
    draws = autoregressive(0.8, 8, 20_000, 3)
    # autocorrelation time (1 + rho) / (1 - rho) = 9
    assert compute_ess_bulk(draws) == pytest.approx(160_000 / 9.0, rel=0.1)


def test_equal_draws():
    draws = np.full((4, 50), 0.1)
    assert np.isnan(compute_r_hat(draws))
    assert compute_ess_bulk(draws) == compute_ess_tail(draws) == 200.0
    assert compute_mcse_mean(draws) == compute_mcse_std(draws) == 0.0
    assert compute_mcse_quantile(draws, 0.5) == 0.0
    (summary,) = summarise_chains({"constant": draws})
    assert summary.std == 0.0
    assert summary.has_converged()


def test_chains_that_are_constant_at_values_of_their_own():
    draws = np.repeat([[0.1], [0.1], [0.7]], 50, axis=1)
    assert compute_r_hat(draws) == np.inf
    assert compute_ess_bulk(draws) < 10.0
    (summary,) = summarise_chains({"stuck": draws})
    assert not summary.has_converged()


def test_one_chain_is_compared_with_itself():
    draws = np.random.default_rng(4).normal(size=(1, 1000))
    assert compute_r_hat(draws) < 1.01
    assert compute_r_hat(draws + np.linspace(0.0, 3.0, 1000)) > 1.2


def test_too_few_draws_and_draws_that_are_not_finite():
    for draws in (np.zeros((4, 3)), np.ones((2, 1)), np.array([[1.0, 2.0, np.inf, 4.0, 5.0]])):
        assert all(np.isnan(function(draws)) for function in FUNCTIONS)
    (summary,) = summarise_chains({"bad": np.array([[1.0, np.nan, 1.0, 1.0]])})
    assert np.isnan(summary.mean)
    assert not summary.has_converged()


def test_summaries():
    rng = np.random.default_rng(5)
    draws = {"slow": rng.normal(size=(2, 300)).cumsum(axis=1), "w": rng.normal(size=(2, 300, 2))}
    slow, first, second = summarise_chains(draws)
    assert (slow.name, first.name, second.name) == ("slow", "w[0]", "w[1]")
    assert not slow.has_converged()
    assert first.has_converged(max_r_hat=1.05, min_ess=200.0)
    column = draws["w"][:, :, 1]
    assert second.mean == pytest.approx(column.mean())
    assert second.std == pytest.approx(column.std(ddof=1))
    assert (second.quantile_5, second.quantile_95) == pytest.approx(
        tuple(np.quantile(column, [0.05, 0.95]))
    )
    assert second.r_hat == pytest.approx(compute_r_hat(column))
    assert second.ess_bulk == pytest.approx(compute_ess_bulk(column))
    assert second.ess_tail == pytest.approx(compute_ess_tail(column))
    assert second.mcse_mean == pytest.approx(compute_mcse_mean(column))
    assert second.mcse_std == pytest.approx(compute_mcse_std(column))
    assert all(isinstance(number, float) for number in second[1:])
    assert summarise_chains({}) == []


@pytest.mark.parametrize("exponent", [-1000, -430, 430, 1000])
def test_scale_of_the_draws(exponent):
    draws = np.random.default_rng(0).normal(1.0, 0.1, size=(3, 60))
    (usual,), (other,) = (
        summarise_chains({"size": each}) for each in (draws, np.ldexp(draws, exponent))
    )
    for name, number in usual._asdict().items():
        if name in ("mean", "std", "quantile_5", "quantile_95", "mcse_mean", "mcse_std"):
            assert getattr(other, name) == pytest.approx(np.ldexp(number, exponent), rel=1e-12)
        else:
            assert getattr(other, name) == number


def test_no_quantities():
    assert all(function(np.empty((4, 50, 0))).shape == (0,) for function in FUNCTIONS)
    assert summarise_chains({"none": np.empty((4, 50, 0))}) == []


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"draws must be numbers of shape .*got .* \(5,\)"):
        compute_r_hat(np.zeros(5))
    with pytest.raises(ValueError, match="noise must be numbers"):
        summarise_chains({"noise": [["a", "b"]]})
    with pytest.raises(ValueError, match="level"):
        compute_mcse_quantile(np.zeros((2, 10)), 1.5)
