"""One ascent: it never falls, it ends where it says it does, and starts are what they claim."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relvec._typing import Matrix, Vector
from relvec.dictionaries import DenseDictionary
from relvec.moments import LazyMoments
from relvec.solvers.base import Problem, Progress
from relvec.solvers.gaussian import ascent
from relvec.solvers.gaussian.ascent import Schedule, ascend, screen
from relvec.solvers.gaussian.initialisation import (
    Ridge,
    average_states,
    build_dense_state,
    fit_ridge,
    mix_with_ridge,
)
from relvec.solvers.gaussian.newton import maximise
from relvec.solvers.gaussian.state import EMPTY, NOISE_FLOOR, State, empty_state
from relvec.solvers.gaussian.tuning import SearchTuning
from tests.helpers_dense import dense_penalised, sinc, sparse_design
from tests.helpers_priors import gamma_prior, posed
from tests.helpers_priors import objective as objective_with
from tests.solvers.gaussian.test_search import Dense


def problem_of(Phi: Matrix, t: Vector, entry_penalty: float | Vector = 0.0, **options) -> Problem:
    intercept = options.pop("fit_intercept", True)
    penalty = np.broadcast_to(np.asarray(entry_penalty, dtype=float), (Phi.shape[1],)).copy()
    return posed(
        LazyMoments(DenseDictionary(Phi), t, None, centre=intercept, store=True), penalty, **options
    )


def dictionary(kind: str, seed: int) -> tuple[Matrix, Vector]:
    """Dictionaries that are hard in different ways."""
    rng = np.random.default_rng(seed)
    if kind == "sparse":
        return sparse_design(30, 10, seed=seed)
    if kind == "wide":
        Phi = rng.standard_normal((15, 60))
        return Phi, Phi[:, :2].sum(axis=1) + 0.3 * rng.standard_normal(15)
    x = np.sort(rng.uniform(-5, 5, 30))
    t = np.sinc(x) + 0.1 * rng.standard_normal(30)
    width = {"kernel": 1.0, "wide kernel": 8.0, "duplicates": 1.0}[kind]
    Phi = np.exp(-(((x[:, None] - x) / width) ** 2))
    return (np.hstack([Phi, Phi[:, ::2], Phi]) if kind == "duplicates" else Phi), t


KINDS = ["sparse", "wide", "kernel", "wide kernel", "duplicates"]


def value(problem: Problem, Phi: Matrix, t: Vector, state: State) -> float:
    """The objective of a state from the dense covariance matrix."""
    moments = problem.moments
    alpha = np.full(moments.n_atoms, np.inf)
    norm = moments.column_norm[state.active]
    alpha[state.active] = np.exp(state.theta) * norm**2 / state.noise_variance
    value = dense_penalised(Phi, t, alpha, state.noise_variance, smoothness=problem.prior.penalty)
    floor = 0.5 * NOISE_FLOOR * moments.target_ss / state.noise_variance
    return value - floor - float(problem.min_gain[state.active].sum())


# ------------------------------------------------------------------ ascend


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12)
@given(
    seed=st.integers(0, 2**32 - 1),
    smoothness=st.sampled_from([0.0, 1.0, 3.0]),
    held=st.sampled_from([None, 0.003, 0.05]),
    entry_penalty=st.sampled_from([0.0, 0.5, 3.0]),
    share=st.sampled_from([0.02, 0.5]),
    batch=st.sampled_from([1, 6]),
    polish=st.booleans(),
)
def test_the_objective_never_falls_and_is_the_dense_one(
    kind: str,
    seed: int,
    smoothness: float,
    held: float | None,
    entry_penalty: float,
    share: float,
    batch: int,
    polish: bool,
) -> None:
    Phi, t = dictionary(kind, seed)
    problem = problem_of(Phi, t, entry_penalty, smoothness=smoothness)
    schedule = Schedule(pool_share=share, batch_min=batch, polish=polish)
    state = ascend(problem, EMPTY, schedule, noise_variance=held)
    assert len(state.trace) == state.n_rounds
    assert state.trace[-1] == state.objective
    fall = -np.diff(np.array(state.trace))
    assert fall.max(initial=0.0) <= 1e-7 * (1 + abs(state.objective))
    # rounding of the oracle: R is small next to t't, entries of K are as large as 1 / lam
    ratio = problem.moments.target_ss / state.noise_variance
    rounding = 1e-7 + 1e-14 * (ratio + np.exp(-state.theta).max(initial=0.0))
    assert state.objective == pytest.approx(value(problem, Phi, t, state), rel=1e-8, abs=rounding)
    assert (np.diff(state.active) > 0).all()
    assert len(state.active) <= problem.active_cap
    if held is not None:
        assert state.noise_variance == held


@pytest.mark.parametrize("kind", ["sparse", "kernel"])
@pytest.mark.parametrize("smoothness", [0.0, 1.0])
def test_ascents_continue_where_others_ended(kind: str, smoothness: float) -> None:
    Phi, t = dictionary(kind, 1)
    problem = problem_of(Phi, t, smoothness=smoothness)
    first = ascend(problem, EMPTY, Schedule(polish=False, threshold=0.5))
    second = ascend(problem, first, Schedule())
    assert second.trace[0] >= first.objective - 1e-9
    again = ascend(problem, second, Schedule())
    np.testing.assert_array_equal(again.active, second.active)
    assert again.objective == pytest.approx(second.objective, abs=1e-6)


def test_an_ascent_respects_the_threshold_of_its_schedule() -> None:
    Phi, t = sparse_design()
    problem = problem_of(Phi, t)
    sizes = [
        len(ascend(problem, EMPTY, Schedule(threshold=threshold)).active)
        for threshold in (1e-3, 3.0, 1e6)
    ]
    assert sizes[0] >= sizes[1] > sizes[2] == 0


def test_unusable_atoms_never_enter() -> None:
    Phi, t = sparse_design()
    Phi[:, 0] = 4.0
    problem = problem_of(Phi, t)
    problem.moments.usable = problem.moments.usable & (np.arange(12) != 8)
    state = ascend(problem, EMPTY, Schedule())
    assert not {0, 8} & set(state.active.tolist())
    assert 4 in state.active


def test_the_cap_ends_an_ascent_and_is_reported() -> None:
    Phi, t = sparse_design()
    free = ascend(problem_of(Phi, t), EMPTY, Schedule())
    capped = ascend(problem_of(Phi, t, max_active=2), EMPTY, Schedule())
    assert len(free.active) > 2
    assert len(capped.active) == 2
    assert capped.reached_max_active
    assert not capped.converged
    assert not free.reached_max_active


def test_a_monitor_sees_every_round_and_may_end_it() -> None:
    Phi, t = sparse_design()
    problem = problem_of(Phi, t)
    seen: list[Progress] = []
    full = ascend(problem, EMPTY, Schedule(), stage="here", monitor=lambda p: bool(seen.append(p)))
    assert [p.n_iter for p in seen] == list(range(1, full.n_rounds + 1))
    assert tuple(p.objective for p in seen) == full.trace
    assert {p.stage for p in seen} == {"here"}
    assert seen[-1].n_active == len(full.active)
    stopped = ascend(problem, EMPTY, Schedule(), monitor=lambda p: p.n_iter == 2)
    assert stopped.stopped
    assert stopped.n_rounds == 2
    assert not stopped.converged
    assert stopped.trace == full.trace[:2]


def test_a_noise_prior_is_part_of_the_objective() -> None:
    Phi, t = sparse_design()
    hyper = gamma_prior(noise_shape=3.0, noise_rate=2.0)
    state = ascend(problem_of(Phi, t, hyperprior=hyper), EMPTY, Schedule(gradient_tol=1e-8))
    plain = ascend(problem_of(Phi, t), EMPTY, Schedule())
    assert state.noise_variance != pytest.approx(plain.noise_variance, rel=0.1)
    moments = problem_of(Phi, t).moments
    lam = np.exp(state.theta)

    def density(noise: float) -> float:
        alpha = np.full(12, np.inf)
        alpha[state.active] = lam * moments.column_norm[state.active] ** 2 / noise
        return dense_penalised(Phi, t, alpha, noise, hyperprior=hyper)

    best = state.noise_variance
    assert density(best) > max(density(1.01 * best), density(best / 1.01))


def test_the_empty_state_is_evaluated() -> None:
    Phi, t = sparse_design()
    problem = problem_of(Phi, t)
    for noise in (None, 0.7):
        state = empty_state(problem, noise)
        assert state.noise_variance == pytest.approx(t.var(ddof=1) if noise is None else noise)
        assert state.objective == pytest.approx(value(problem, Phi, t, state), rel=1e-8)
        assert state.converged


@pytest.mark.parametrize("smoothness", [0.0, 2.0])
def test_screening_gives_the_statistics_of_every_absent_atom(smoothness: float) -> None:
    Phi, t = dictionary("kernel", 2)
    problem = problem_of(Phi, t, smoothness=smoothness)
    moments = problem.moments
    active = ascend(problem, EMPTY, Schedule(), noise_variance=0.01).active
    objective = objective_with(moments.n_effective, moments.target_ss, smoothness, 0.01)
    maximum = maximise(
        moments.gram(active),
        moments.correlation[active],
        np.full(len(active), -4.0),
        objective,
        max_iter=1,
        tol=1e-4,
    )
    active = active[maximum.kept]
    assert len(active) >= 2
    seen = screen(problem, active, maximum.point).statistics
    unit = (Phi - Phi.mean(axis=0)) / moments.column_norm
    K = np.eye(30) + (unit[:, active] * np.exp(-maximum.point.theta)) @ unit[:, active].T
    back = np.linalg.solve(K, unit)
    absent = np.setdiff1d(np.arange(30), active)
    np.testing.assert_allclose(seen.s[absent], (unit * back).sum(0)[absent], atol=1e-9)
    np.testing.assert_allclose(seen.q[absent], (back.T @ (t - t.mean()))[absent], atol=1e-9)
    if smoothness:
        assert seen.w is not None
        expected = smoothness * (back * back).sum(0)[absent]
        np.testing.assert_allclose(seen.w[absent], expected, atol=1e-9)


# ------------------------------------------------------------------ working sets


@pytest.fixture
def inner(monkeypatch: pytest.MonkeyPatch) -> list[State]:
    """Let working sets be used on small problems; records the ascents inside them."""
    ends: list[State] = []

    def spy(*args, **options) -> State:
        ends.append(ascend(*args, **options))
        return ends[-1]

    monkeypatch.setattr(ascent, "ascend", spy)
    return ends


def line(seed: int, n: int = 160, width: float = 1.0) -> tuple[Matrix, Vector]:
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-20, 20, n))
    t = np.sin(x) + 0.2 * rng.standard_normal(n)
    return np.exp(-(((x[:, None] - x) / width) ** 2)), t


@pytest.mark.slow
@pytest.mark.parametrize("smoothness", [0.0, 1.0])
@pytest.mark.parametrize("held", [None, 0.05])
@pytest.mark.parametrize("entry_penalty", [0.0, 0.5])
@pytest.mark.parametrize("batch", [1, 4])
def test_an_ascent_in_working_sets_never_falls_and_ends_at_an_optimum(
    inner: list[State], smoothness: float, held: float | None, entry_penalty: float, batch: int
) -> None:
    Phi, t = line(0, width=0.7)
    problem = problem_of(Phi, t, entry_penalty, smoothness=smoothness, noise_variance=held)
    schedule = Schedule(
        tuning=SearchTuning(working_set_size=40), working_sets=True, batch_min=batch
    )
    state = ascend(problem, EMPTY, schedule, noise_variance=held)
    assert len(inner) > 0
    assert state.converged
    assert state.trace[-1] == state.objective
    fall = -np.diff(np.array(state.trace))
    assert fall.max(initial=0.0) <= 1e-7 * (1 + abs(state.objective))
    assert state.objective == pytest.approx(value(problem, Phi, t, state), rel=1e-8, abs=1e-6)
    check_maximum(problem, state, Phi, t, entry=1.1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_working_sets_lead_about_as_high(inner: list[State], seed: int) -> None:
    Phi, t = line(seed)
    problem = problem_of(Phi, t)
    plain = ascend(problem, EMPTY, Schedule())
    assert not inner
    state = ascend(
        problem, EMPTY, Schedule(tuning=SearchTuning(working_set_size=40), working_sets=True)
    )
    assert inner
    assert state.objective >= plain.objective - 3.0


def test_a_monitor_may_end_an_ascent_inside_a_working_set(inner: list[State]) -> None:
    Phi, t = line(0)
    calls: list[Progress] = []

    def stop(progress: Progress) -> bool:
        calls.append(progress)
        return len(calls) >= 6

    problem = problem_of(Phi, t)
    state = ascend(
        problem,
        EMPTY,
        Schedule(tuning=SearchTuning(working_set_size=40), working_sets=True, batch_min=6),
        monitor=stop,
    )
    assert inner
    assert inner[-1].stopped
    assert state.stopped
    assert not state.converged
    assert len(state.active) > 0


def check_maximum(problem: Problem, state: State, Phi: Matrix, t: Vector, entry: float) -> None:
    """No derivative, no deletion, no addition at any precision helps, by N x N matrices."""
    dense = Dense(problem, Phi, t)
    lam = np.full(Phi.shape[1], np.inf)
    lam[state.active] = np.exp(state.theta)
    best = dense(lam)
    for atom in state.active:
        changed = lam.copy()
        slopes = []
        for h in (1e-4, -1e-4):
            changed[atom] = lam[atom] * np.exp(h)
            slopes.append(dense(changed))
        assert (slopes[0] - slopes[1]) / 2e-4 == pytest.approx(0.0, abs=3e-4)
        changed[atom] = np.inf
        assert dense(changed) <= best + 1e-9
    # adding unit / sqrt(lam) to K is a change of rank one
    unit, n, c = dense.unit, dense.n, problem.prior.penalty
    active = unit[:, state.active]
    inverse = np.linalg.inv(np.eye(len(t)) + (active * np.exp(-state.theta)) @ active.T)
    back = inverse @ unit
    s, q, p = (unit * back).sum(axis=0), back.T @ dense.t, (back * back).sum(axis=0)
    R = dense.t @ inverse @ dense.t + NOISE_FLOOR * dense.t @ dense.t
    for theta in np.linspace(-16.0, 10.0, 105):
        pivot = np.exp(theta) + s
        after = R - q**2 / pivot
        noise = problem.noise_variance
        change = n * np.log(after / R) if noise is None else (after - R) / noise
        gain = -0.5 * (change + np.log(pivot) - theta) - c * p / pivot - problem.min_gain
        absent = problem.moments.usable & ~np.isin(np.arange(len(lam)), state.active)
        assert gain[absent].max() <= entry
    # and the formula is that of the matrices
    atom = int(np.flatnonzero(absent)[0])
    changed = lam.copy()
    changed[atom] = np.exp(theta)
    assert dense(changed) - best == pytest.approx(gain[atom], abs=1e-6)


# ------------------------------------------------------------------ copies and the cap


def test_copies_of_an_atom_in_a_start_become_one() -> None:
    """Prior variances of parallel atoms add up: the same model, one atom."""
    Phi, t = sparse_design()
    doubled = np.c_[Phi, -3.0 * Phi[:, :5]]
    problem = problem_of(doubled, t)
    theta = np.linspace(-6.0, -4.0, 17)
    start = State(np.arange(17), theta)
    variance = np.exp(-theta[:12])
    variance[:5] += np.exp(-theta[12:])
    merged = State(np.arange(12), -np.log(variance))
    one, two = (ascend(problem, each, Schedule(), noise_variance=0.1) for each in (start, merged))
    assert one.trace == pytest.approx(two.trace, abs=1e-9)
    np.testing.assert_array_equal(one.active, two.active)


@pytest.mark.parametrize("smoothness", [0.0, 1.0])
@pytest.mark.parametrize("cap", [1, 2, 4])
def test_a_start_above_the_cap_is_cut_at_the_end(cap: int, smoothness: float) -> None:
    Phi, t = sparse_design(noise=0.05)
    problem = problem_of(Phi, t, smoothness=smoothness, max_active=cap)
    free = ascend(problem_of(Phi, t, smoothness=smoothness), EMPTY, Schedule())
    start = State(np.arange(12), np.full(12, -5.0))
    state = ascend(problem, start, Schedule())
    assert len(state.active) <= cap
    if cap < len(free.active):
        assert state.reached_max_active
        assert not state.converged
    # the trace begins anew where the model was cut, and never falls from there
    assert (np.diff(np.array(state.trace)) >= -1e-7 * (1 + abs(state.objective))).all()
    assert state.trace[-1] == state.objective
    assert state.objective == pytest.approx(value(problem, Phi, t, state), rel=1e-8)


# ------------------------------------------------------------------ starts


@pytest.mark.parametrize("smoothness", [0.0, 1.0])
@pytest.mark.parametrize("held", [None, 0.02])
def test_a_dense_start_is_sparser_and_better_than_all_atoms(
    smoothness: float, held: float | None
) -> None:
    Phi, t = sinc(60)
    problem = problem_of(Phi, t, smoothness=smoothness, noise_variance=held)
    found = fit_ridge(problem)
    start = build_dense_state(problem, found.atoms, found.log_lam)
    assert 0 < len(start.active) < 60
    assert (np.diff(start.active) > 0).all()
    assert len(start.theta) == len(start.active)
    norm = problem.moments.column_norm

    def dense(active, theta) -> float:
        unit = (Phi - Phi.mean(axis=0))[:, active] / norm[active]
        K = np.eye(60) + (unit * np.exp(-theta)) @ unit.T
        R = (t - t.mean()) @ np.linalg.solve(K, t - t.mean())
        noise = R / 59 if held is None else held
        degrees = np.trace(np.eye(60) - np.linalg.inv(K))
        total = 59 * np.log(2 * np.pi * noise) + R / noise + np.linalg.slogdet(K)[1]
        return float(-0.5 * total - smoothness * degrees)

    every = dense(found.atoms, np.full(60, found.log_lam))
    assert dense(start.active, start.theta) > every


def test_a_dense_start_takes_one_precision_or_many() -> None:
    Phi, t = sinc(60)
    problem = problem_of(Phi, t)
    atoms = np.arange(0, 60, 2)
    one, many = (build_dense_state(problem, atoms, each) for each in (-3.0, np.full(30, -3.0)))
    np.testing.assert_array_equal(one.active, many.active)
    np.testing.assert_array_equal(one.theta, many.theta)
    assert set(one.active) <= set(atoms)


def test_reheating_mixes_the_prior_covariance_of_all_atoms_in() -> None:
    """``K`` becomes the weighted mean of the ``K`` of the state and of the ridge."""
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((10, 8))
    start = Ridge(np.arange(8), -1.5, 0.1, 0.0)
    state = State(np.array([1, 4, 6]), rng.standard_normal(3))
    for share in (0.5, 0.02):
        theta = mix_with_ridge(state, start, share, 8)
        found = (Phi * np.exp(-theta)) @ Phi.T
        chosen = Phi[:, state.active]
        expected = (1 - share) * (chosen * np.exp(-state.theta)) @ chosen.T
        expected += share * np.exp(1.5) * Phi @ Phi.T
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("smoothness", [0.0, 1.5])
@pytest.mark.parametrize("kind", ["sparse", "kernel", "wide"])
def test_ridge_is_the_evidence_of_one_shared_precision(kind: str, smoothness: float) -> None:
    Phi, t = dictionary(kind, 3)
    problem = problem_of(Phi, t, smoothness=smoothness)
    found = fit_ridge(problem)
    norm = problem.moments.column_norm

    def dense(log_lam: float, noise: float) -> float:
        return dense_penalised(
            Phi, t, np.exp(log_lam) * norm**2 / noise, noise, smoothness=smoothness
        )

    np.testing.assert_array_equal(found.atoms, np.arange(Phi.shape[1]))
    assert found.objective == pytest.approx(dense(found.log_lam, found.noise_variance), rel=1e-6)
    # the noise is the best one for that precision
    for factor in (0.98, 1.02):
        assert dense(found.log_lam, factor * found.noise_variance) < found.objective
    if not smoothness:  # and the precision the best one up to the grid
        best = max(ridge_value(Phi, t, norm, log_lam) for log_lam in np.linspace(-25, 10, 141))
        assert found.objective >= best - 0.05


def ridge_value(Phi: Matrix, t: Vector, norm: Vector, log_lam: float) -> float:
    """Shared-precision evidence with the noise profiled out, from the covariance matrix."""
    unit, target = (Phi - Phi.mean(axis=0)) / norm, t - t.mean()
    K = np.eye(len(t)) + unit @ unit.T * np.exp(-log_lam)
    n = len(t) - 1
    R = target @ np.linalg.solve(K, target)
    return float(-0.5 * (n * (np.log(2 * np.pi * R / n) + 1) + np.linalg.slogdet(K)[1]))


def test_ridge_estimates_the_noise() -> None:
    Phi, t = sinc(100)
    assert 0.005 < fit_ridge(problem_of(Phi, t)).noise_variance < 0.02  # true: 0.01


def test_ridge_on_many_atoms_uses_an_even_sample_of_usable_ones() -> None:
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((30, 1000))
    Phi[:, ::7] = 1.0
    problem = problem_of(Phi, rng.standard_normal(30))
    found = fit_ridge(problem)
    assert 100 < len(found.atoms) < 1000
    assert problem.moments.usable[found.atoms].all()
    assert np.diff(found.atoms).max() < 10


def test_an_ascent_from_all_atoms_ends_above_the_ridge_it_begins_from() -> None:
    Phi, t = sinc(60)
    problem = problem_of(Phi, t)
    start = fit_ridge(problem)
    every = State(start.atoms, np.full(len(start.atoms), start.log_lam))
    end = ascend(problem, every, Schedule())
    assert end.trace[0] >= start.objective - 1e-6
    assert end.objective > start.objective
    assert 0 < len(end.active) < 30


def test_recombining_averages_prior_covariances() -> None:
    """``K`` of the average is the mean of the ``K`` of its parents."""
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((10, 8))
    states = [
        State(np.array([0, 2, 5]), rng.standard_normal(3)),
        State(np.array([2, 7]), rng.standard_normal(2)),
        State(np.array([], dtype=np.intp), np.array([])),
    ]

    def K(state: State) -> Matrix:
        return np.eye(10) + (Phi[:, state.active] * np.exp(-state.theta)) @ Phi[:, state.active].T

    average = average_states(states, 8)
    np.testing.assert_array_equal(average.active, [0, 2, 5, 7])
    np.testing.assert_allclose(K(average), np.mean([K(state) for state in states], axis=0))


def test_recombining_equal_states_changes_nothing() -> None:
    state = State(np.array([1, 4]), np.array([-3.0, 2.0]))
    average = average_states([state, state], 6)
    np.testing.assert_array_equal(average.active, state.active)
    np.testing.assert_allclose(average.theta, state.theta)
