"""Runs in random order next to the chosen solution."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from relvec import RVMRegressor, SparseBayesRegressor, explore_optima
from relvec.bases import LinearBasis
from relvec.estimators.optima import OptimaReport, Optimum
from relvec.kernels import LinearSpline


def sinc(n=40, seed=0):
    x = np.linspace(-10, 10, n)[:, None]
    truth = np.sinc(x[:, 0] / np.pi)
    noise = truth.std(ddof=1) / 5
    return x, truth + noise * np.random.default_rng(seed).standard_normal(n), truth


def spline_model(**options):
    return RVMRegressor(LinearSpline(3.0), prior="bic", **options)


@pytest.fixture(scope="module")
def report():
    X, y, truth = sinc()
    return explore_optima(spline_model(), X, y, n_runs=8, truth=truth, random_state=0)


def test_every_run_is_reported(report):
    assert len(report.runs) == len(report.objectives) == len(report.active_sets) == 8
    assert 1 <= report.n_unique <= 8
    assert report.has_truth
    assert report.best.objective == report.objectives.max()
    table = report.to_dict()
    assert {len(column) for column in table.values()} == {8}
    assert table["n_active"].tolist() == [len(active) for active in report.active_sets]


def test_runs_are_maxima_of_the_estimators_own_objective(report):
    X, y, truth = sinc()
    model = spline_model().fit(X, y)
    assert report.chosen.objective == pytest.approx(model.objective_)
    assert report.chosen.error == pytest.approx(np.mean((model.predict(X) - truth) ** 2))
    same = [run for run in report.runs if np.array_equal(run.active, model.relevance_)]
    for run in same:  # the same atoms, so the same maximum, penalties of atoms included
        assert run.objective == pytest.approx(model.objective_, abs=1e-5)


def test_the_chosen_solution_is_ahead(report):
    assert report.rank == 1
    assert "No run has a larger objective than the chosen solution" in report.summary()


@pytest.mark.slow
def test_a_seed_repeats_and_jobs_do_not_matter(report):
    X, y, truth = sinc()
    again = explore_optima(spline_model(), X, y, n_runs=8, truth=truth, n_jobs=2, random_state=0)
    np.testing.assert_array_equal(again.objectives, report.objectives)


def test_the_estimator_is_not_changed():
    X, y, _ = sinc()
    model = spline_model(warm_start=True)
    explore_optima(model, X, y, n_runs=1, random_state=0)
    assert not hasattr(model, "outputs_")
    assert model.warm_start is True
    assert model.solver == "auto"


def test_without_a_truth_errors_are_residuals():
    X, y, _ = sinc()
    report = explore_optima(spline_model(), X, y, n_runs=2, random_state=0)
    assert not report.has_truth
    assert "training MSE" in report.summary()
    model = spline_model().fit(X, y)
    assert report.chosen.error == pytest.approx(np.mean((model.predict(X) - y) ** 2))


def made_up(objectives, errors, chosen=0.0, **options):
    runs = [
        Optimum(objective, error, objective, 0.1, np.array([i % 2]), True)
        for i, (objective, error) in enumerate(zip(objectives, errors, strict=True))
    ]
    end = Optimum(chosen, 0.01, chosen, 0.1, np.array([0]), True)
    return OptimaReport(tuple(runs), end, True, **{"bad_gap": 10.0, **options})


def test_bad_is_far_below_the_best_or_far_from_the_truth():
    report = made_up([1.0, 0.5, -20.0, -3.0], [0.01, 0.5, 0.01, 0.01])
    assert report.is_bad.tolist() == [False, False, True, False]
    assert report.share_bad == 0.25
    by_error = made_up([1.0, 0.5, -20.0, -3.0], [0.01, 0.5, 0.01, 0.01], bad_error=0.1)
    assert by_error.is_bad.tolist() == [False, True, False, False]
    assert "MSE to the truth above 0.1" in by_error.summary()


def test_the_rank_counts_runs_with_larger_objectives():
    report = made_up([1.0, 0.5, 0.0, -3.0], [0.0] * 4)
    assert report.rank == 3
    assert report.n_unique == 2
    assert (
        "2 of 4 runs have a larger objective than the chosen solution, the best by 1 nats"
        in report.summary()
    )


def test_other_bases_and_unconverged_runs():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    y = X[:, 1] - X[:, 4] + 0.3 * rng.standard_normal(40)
    report = explore_optima(SparseBayesRegressor(LinearBasis()), X, y, n_runs=3, random_state=0)
    assert report.n_unique == 1
    assert report.share_bad == 0.0


def test_bad_arguments_in_plain_words():
    X, y, _ = sinc()
    with pytest.raises(TypeError, match="an estimator with a parameter `solver`"):
        explore_optima(Ridge(max_iter=3).get_params, X, y)
    with pytest.raises(ValueError, match="needs one target"):
        explore_optima(spline_model(), X, np.stack([y, y], axis=1))
    with pytest.raises(ValueError, match="truth must have the shape of y"):
        explore_optima(spline_model(), X, y, truth=y[:3])
    with pytest.raises(ValueError, match="n_runs"):
        explore_optima(spline_model(), X, y, n_runs=0)
    with pytest.raises(ValueError, match="Gamma prior"):
        explore_optima(RVMRegressor(prior="gamma"), X, y, n_runs=1)
