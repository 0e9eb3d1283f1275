"""Figures 2.7 to 2.13 of Schmolck (2008)."""

import numpy as np
import pytest

pytest.importorskip("pywt")

from reproduce.engine import Results, Settings
from reproduce.experiments import schmolck_dictionaries as dictionaries
from reproduce.experiments import schmolck_multiscale as multiscale
from reproduce.experiments import schmolck_shrinkage as shrinkage

QUICK = Settings(repetitions=1, is_quick=True)


def results_of(experiment):
    (stage,) = experiment.stages
    tasks = stage(QUICK, Results({}, {}))
    return Results({task.key: task.call(None, *task.arguments) for task in tasks}, {})


CASES = list(zip(dictionaries.SCENARIOS.values(), (0, 1, 2, 2), strict=True))


@pytest.mark.parametrize(("component", "n_turns"), CASES)
def test_each_case_of_the_posterior_occurs(component, n_turns):
    alpha = np.geomspace(1e-5, 1e5, 200_001)
    slope = np.sign(np.diff(component.posterior(alpha)))
    seen = alpha[1:-1][np.diff(slope) != 0]
    turns = component.turning_points()
    assert len(turns) == n_turns
    np.testing.assert_allclose(turns, seen, rtol=1e-3)
    assert component.likelihood(alpha).max() > 0.0


def test_the_two_finite_modes_differ_in_sign():
    above, below = list(dictionaries.SCENARIOS.values())[2:]
    assert above.posterior(above.turning_points())[0] > 0.0
    assert below.posterior(below.turning_points())[0] < 0.0


def test_orthonormal_components_have_one_mode_at_most():
    for q2 in np.linspace(0.1, 20.0, 50):
        assert len(dictionaries.Component(s=1.0, q2=q2).turning_points()) <= 1


def test_the_prior_favours_large_precisions_more_under_more_noise():
    alpha = np.array([1.0, 2.0])
    low, high = (dictionaries.Component(1.0, 1.0, noise).prior(alpha) for noise in (0.25, 1.0))
    assert np.all(np.diff(low) > 0.0)
    assert np.all(high > low)


@pytest.mark.slow
def test_symmlets_interpolate_and_splines_cannot_follow():
    results = results_of(dictionaries.EXPERIMENT)
    assert results["Sinc/symmlet/None/0"]["n_components"] == 127
    assert results["Sinc/symmlet/BIC/0"]["error"] < results["Sinc/symmlet/None/0"]["error"] / 3.0
    assert results["Bumps/lspline/None/0"]["error"] > results["Bumps/symmlet/None/0"]["error"] * 10
    assert len(dictionaries.EXPERIMENT.tables(results, QUICK)[0].rows) == 8
    figures = dictionaries.EXPERIMENT.figures(results, QUICK)
    assert [len(figure.axes) for figure in figures.values()] == [4, 8, 4, 1, 4]


def test_the_fast_part_is_judged_by_itself():
    wide = multiscale.fit_panel(None, "None", 0.5, 1, n=256)
    assert "curve" not in wide
    whole = wide["fast"] * multiscale.N_FAST + wide["slow"] * (256 - multiscale.N_FAST)
    assert wide["error"] == pytest.approx(whole / 256)
    penalised, free = (
        multiscale.fit_panel(None, prior, None, 1, n=256) for prior in ("BIC", "None")
    )
    assert free["n_components"] == 255
    assert penalised["slow"] < free["slow"]


def test_the_picture_of_scales_has_an_inset_in_each_panel():
    fit = {"n_components": 1, "error": 0.5}
    fit |= {name: np.zeros(multiscale.N) for name in ("curve", "noisy", "clean")}
    results = Results({f"{name}/0": fit for name in multiscale.PANELS}, {})
    figure = multiscale.EXPERIMENT.figures(results, QUICK)["schmolck_multiscale"]
    assert [len(axes.child_axes) for axes in figure.axes] == [1, 1, 1, 1]


def test_small_weights_are_dropped_under_a_penalty_only():
    results = results_of(shrinkage.EXPERIMENT)
    assert results["learnt/None/0"]["n_components"] == 1023
    assert results["learnt/BIC/0"]["n_small"] == 0
    given = results["given/None/0"]
    kept = np.abs(given["data"]) > np.sqrt(given["truth"])
    np.testing.assert_array_equal(np.asarray(given["weights"]) != 0.0, kept)
    assert len(shrinkage.EXPERIMENT.figures(results, QUICK)["schmolck_shrinkage"].axes) == 4
    assert len(shrinkage.EXPERIMENT.tables(results, QUICK)[0].rows) == 4
