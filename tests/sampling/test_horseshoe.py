"""Samplers of the horseshoe prior against brute force, and joint-distribution tests."""

import math

import numpy as np
import pytest
from scipy import stats

from relvec.priors import InverseGamma
from relvec.sampling import HorseshoeSampler
from relvec.sampling.horseshoe import default_global_scale
from relvec.sampling.local_scales import draw_log_inverse_square, slice_step
from relvec.sampling.scale_mixture import ScaleMixture
from tests.helpers_dense import DenseMoments

MODELS = {
    "plain": {},
    "slab": {"slab_scale": 2.0},
    "slab of unknown scale": {"slab_scale": 2.0, "slab_df": 4.0},
}
NOISE = InverseGamma(3.0, 2.0)


def make_moments(n=20, m=4, seed=0, scale=1.0, **options):
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m))
    target = scale * (3.0 * Phi[:, 0] + rng.normal(size=n)) if m else scale * rng.normal(size=n)
    return DenseMoments(Phi, target, **options)


def run_chain(sampler, n_steps, seed=0, **options):
    rng = np.random.default_rng(seed)
    state, draws = sampler.init(rng, **options), []
    for _ in range(n_steps):
        state = sampler.step(state, rng)
        draws.append(sampler.draw(state, rng))
    return draws


@pytest.mark.parametrize("log_b", [-30.0, -0.5, 0.3, 12.0])
@pytest.mark.parametrize("log_a", [-np.inf, -3.0, 5.0])
def test_draws_of_local_scales_have_their_density(log_b, log_a):
    x = np.linspace(-80.0, 45.0, 30_001)
    log_density = 0.5 * np.logaddexp(0.0, log_a - x) - np.exp(log_b + x) - np.logaddexp(0.0, x) + x
    distribution = np.cumsum(np.exp(log_density))
    distribution /= distribution[-1]
    draws = draw_log_inverse_square(np.full(5000, log_b), log_a, np.random.default_rng(1))
    assert stats.kstest(draws, lambda at: np.interp(at, x, distribution)).pvalue > 1e-3


def test_extreme_local_scales_are_finite():
    log_b = np.array([-np.inf, -1e4, 0.0, 1e4])
    for log_a in (-np.inf, -1e4, 1e4):
        drawn = draw_log_inverse_square(log_b, log_a, np.random.default_rng(0))
        assert np.isfinite(drawn).all()


def test_slice_sampler_has_its_density():
    rng, x, draws = np.random.default_rng(0), 0.0, []
    for _ in range(4000):
        x = slice_step(lambda x: -math.cosh(x), x, rng, 0.5)
        draws.append(x)
    grid = np.linspace(-6.0, 6.0, 2001)
    distribution = np.cumsum(np.exp(-np.cosh(grid)))
    thinned = draws[::8]
    result = stats.kstest(thinned, lambda at: np.interp(at, grid, distribution / distribution[-1]))
    assert result.pvalue > 1e-3


@pytest.mark.parametrize("uses_rows", [False, True])
@pytest.mark.parametrize("n", [6, 30])
def test_marginal_likelihood_and_weights_are_those_of_dense_formulas(n, uses_rows):
    moments = make_moments(n=n, m=8)
    model = ScaleMixture(moments, NOISE)
    if uses_rows and model.rows is None:
        # a square root of the Gram matrix serves as rows of any rank
        model.rows = np.linalg.cholesky(model.gram).T.copy()
        model.target = np.linalg.solve(model.rows.T, model.correlation)
    elif not uses_rows:
        model.rows = None
    log_scale = np.linspace(-2.0, 2.0, 8)
    known = model.condition(log_scale)
    assert known.uses_rows == uses_rows
    # log |I + D G D| and t't - b' (G + D^-2)^-1 b by explicit inverses
    d, G, b = np.exp(log_scale), moments._gram, moments.correlation
    shape = NOISE.shape + 0.5 * moments.n_effective
    inverse = np.linalg.inv(G + np.diag(d**-2))
    rate = NOISE.rate + 0.5 * (moments.target_ss - b @ inverse @ b)
    log_det = np.linalg.slogdet(np.eye(8) + d[:, None] * G * d)[1]
    assert known.rate == pytest.approx(rate, rel=1e-7)
    assert known.log_marginal == pytest.approx(-0.5 * log_det - shape * np.log(rate), rel=1e-7)
    step = 1e-5
    numeric = [
        (model.condition(log_scale + e).log_marginal - model.condition(log_scale - e).log_marginal)
        / (2.0 * step)
        for e in step * np.eye(8)
    ]
    np.testing.assert_allclose(model.slope(known), numeric, atol=1e-6)
    rng = np.random.default_rng(2)
    draws = [model.draw(known, rng) for _ in range(4000)]
    weights = np.array([each[0] for each in draws])
    noise = np.array([each[1] for each in draws])
    assert stats.kstest(noise, stats.invgamma(shape, scale=rate).cdf).pvalue > 1e-3
    # standardised with the noise of each draw, weights are normal
    white = np.linalg.solve(np.linalg.cholesky(inverse), (weights - inverse @ b).T)
    assert stats.kstest((white / np.sqrt(noise)).ravel(), "norm").pvalue > 1e-3


def find_log_density(sampler, place):
    log_eta, _, log_slab = sampler._split(place)
    known = sampler.model.condition(-0.5 * np.logaddexp(-2.0 * log_eta, -2.0 * log_slab))
    return sampler._find_density(place, known)


@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
def test_force_is_the_gradient_of_the_collapsed_density(options):
    # four atoms are too few for the approximation
    sampler = HorseshoeSampler(make_moments(), noise=NOISE, **options)
    assert sampler._strong.tolist() == [0]
    place = np.random.default_rng(0).normal(size=5 + ("slab_df" in options))
    step = 1e-5
    directions = np.eye(len(place))
    directions[4, 0] = -1.0  # log eta of the strong atom is held while log tau changes
    numeric = [
        (find_log_density(sampler, place + e) - find_log_density(sampler, place - e)) / (2.0 * step)
        for e in step * directions
    ]
    np.testing.assert_allclose(sampler._find_force(place), numeric, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n", [30, 60])
def test_approximate_slope(n):
    model = ScaleMixture(make_moments(n=n, m=50), NOISE)
    assert (model.rows is None) == (n == 60)
    rng = np.random.default_rng(1)
    log_scale = np.full(50, -3.0)
    large = rng.choice(50, 8, replace=False)
    log_scale[large] = rng.uniform(0.0, 3.0, size=8)
    exact = model.slope(model.condition(log_scale))
    error = np.abs(model.approximate_slope(np.exp(2.0 * log_scale)) - exact)
    assert error.max() < 0.03 * np.abs(exact).max()
    # without other atoms only single precision is left
    log_scale[np.setdiff1d(np.arange(50), large)] = -40.0
    exact = model.slope(model.condition(log_scale))
    np.testing.assert_allclose(
        model.approximate_slope(np.exp(2.0 * log_scale)), exact, rtol=1e-3, atol=1e-3
    )


def test_approximate_slope_is_exact_where_it_would_not_be_cheaper():
    model = ScaleMixture(make_moments(n=30, m=50), NOISE)
    many, huge = np.full(50, 0.5), np.full(50, -3.0)
    huge[0] = 6.0
    for log_scale in (many, huge):
        exact = model.slope(model.condition(log_scale))
        approximation = model.approximate_slope(np.exp(2.0 * log_scale))
        np.testing.assert_allclose(approximation, exact, rtol=1e-9)
    # a matrix that single precision cannot factorise
    model._rough_gram[:2, :2] = [[0.0, 3.0], [3.0, 0.0]]
    huge[:2] = 1.0
    exact = model.slope(model.condition(huge))
    np.testing.assert_allclose(model.approximate_slope(np.exp(2.0 * huge)), exact, rtol=1e-9)


@pytest.mark.parametrize("m", [4, 40])
def test_trajectories_are_reversible(m):
    sampler = HorseshoeSampler(make_moments(n=60, m=m), slab_scale=5.0, slab_df=4.0)
    assert len(sampler._strong)
    rng = np.random.default_rng(3)
    place, momentum = rng.normal(size=m + 2) - 0.5, rng.normal(size=m + 2)
    moved, size = place.copy(), 0.4 * sampler._sizes
    assert sampler._follow(moved, momentum, size)
    assert np.abs(moved - place).max() > 0.5
    momentum *= -1.0
    assert sampler._follow(moved, momentum, size)
    # single precision: only where an atom crosses the threshold would rounding errors matter
    np.testing.assert_allclose(moved, place, atol=1e-4)


def test_trajectories_preserve_volume():
    sampler = HorseshoeSampler(make_moments(), slab_scale=5.0, slab_df=4.0)
    rng = np.random.default_rng(4)
    start, size = rng.normal(size=12), 0.4 * sampler._sizes

    def follow(both):
        place, momentum = both[:6].copy(), both[6:].copy()
        assert sampler._follow(place, momentum, size)
        return np.concatenate([place, momentum])

    step = 1e-5 * np.eye(12)
    jacobian = [(follow(start + e) - follow(start - e)) / 2e-5 for e in step]
    assert abs(np.linalg.det(jacobian)) == pytest.approx(1.0, rel=1e-5)


def test_divergent_trajectories_are_rejected():
    sampler = HorseshoeSampler(make_moments(), step_size=1e4)
    rng = np.random.default_rng(0)
    state = sampler.init(rng)
    moved = sampler.update_collapsed(state, rng)
    np.testing.assert_allclose(moved.log_eta, state.log_eta)
    assert moved.log_tau == state.log_tau


@pytest.mark.parametrize("m", [8, 40])
def test_reflection_is_its_own_inverse_and_keeps_the_mean(m):
    model = ScaleMixture(make_moments(n=20, m=m), NOISE)
    known = model.condition(np.linspace(-2.0, 2.0, m))
    rng = np.random.default_rng(0)
    draws = [model.draw(known, rng) for _ in range(2000)]
    mean = model.mean(known)
    errors = np.array([(weights - mean) / math.sqrt(noise) for weights, noise in draws])
    assert np.all(np.abs(errors.mean(axis=0)) < 5.0 * errors.std(axis=0) / math.sqrt(2000))
    weights, noise = draws[0]
    there, noise_there = model.reflect(known, weights, noise)
    np.testing.assert_allclose((there - mean) / math.sqrt(noise_there), -errors[0])
    distribution = stats.invgamma(model.shape, scale=known.rate)
    assert distribution.cdf(noise) + distribution.cdf(noise_there) == pytest.approx(1.0)
    back, noise_back = model.reflect(known, there, noise_there)
    np.testing.assert_allclose(back, weights)
    assert noise_back == pytest.approx(noise)
    for extreme in (1e-12 * known.rate, 1e12 * known.rate):
        there, noise_there = model.reflect(known, weights, extreme)
        assert np.isfinite(there).all()
        assert 0.0 < noise_there < math.inf


def test_steps_of_two_kinds_alternate():
    sampler = HorseshoeSampler(make_moments())
    rng = np.random.default_rng(0)
    state = sampler.init(rng)
    for is_fresh in (False, True, False, True):
        previous, state = state, sampler.step(state, rng)
        assert state.is_fresh == is_fresh
        if not is_fresh:
            assert state.log_eta is previous.log_eta
    # a state of the past, or of another sampler, is not mixed up with the latest one
    known = sampler._condition(previous)
    log_scale = -0.5 * np.logaddexp(-2.0 * previous.log_eta, -2.0 * previous.log_slab)
    assert known.log_marginal == sampler.model.condition(log_scale).log_marginal


@pytest.mark.slow
def test_posterior_of_one_atom_by_numerical_integration():
    moments = make_moments(n=8, m=1, seed=3)
    sampler = HorseshoeSampler(moments, global_scale=0.5, noise=NOISE)
    b, shape = moments.correlation[0], NOISE.shape + 0.5 * moments.n_effective

    log_tau, log_lambda = np.meshgrid(np.linspace(-15.0, 15.0, 601), np.linspace(-15.0, 15.0, 601))
    d = np.exp(log_tau + log_lambda)
    mean = b / (1.0 + d**-2)
    rate = NOISE.rate + 0.5 * (moments.target_ss - b * mean)
    # log lambda and log(tau / 0.5) are hyperbolic secants
    prior = 1.0 / np.cosh(log_lambda) / np.cosh(log_tau - math.log(0.5))
    density = (1.0 + d**2) ** -0.5 * rate**-shape * prior
    expected = (density * mean).sum() / density.sum()
    weights = np.array([draw.weights[0] for draw in run_chain(sampler, 4000)])
    error = weights.std() / math.sqrt(len(weights) / 5.0)
    assert weights.mean() == pytest.approx(expected, abs=4.0 * error)


def draw_prior(sampler, rng, n_atoms):
    """Draw scales, weights, noise and the target from the joint distribution."""
    log_tau = math.log(sampler.global_scale) + math.log(abs(stats.cauchy.rvs(random_state=rng)))
    log_lambda = np.log(np.abs(stats.cauchy.rvs(size=n_atoms, random_state=rng)))
    log_slab = math.inf
    if sampler.slab_scale is not None:
        log_slab = math.log(sampler.slab_scale)
    if sampler.slab_df is not None:
        half = 0.5 * sampler.slab_df
        log_slab = 0.5 * math.log(
            stats.invgamma.rvs(half, scale=half * sampler.slab_scale**2, random_state=rng)
        )
    noise = stats.invgamma.rvs(NOISE.shape, scale=NOISE.rate, random_state=rng)
    scale = (np.exp(-2.0 * (log_tau + log_lambda)) + math.exp(-2.0 * log_slab)) ** -0.5
    weights = math.sqrt(noise) * scale * rng.normal(size=n_atoms)
    return log_tau + log_lambda, log_tau, log_slab, weights, noise


def make_states(name, n_states, update):
    """Return scalars of prior draws before and after updates given data drawn from them."""
    rng = np.random.default_rng(11)
    Phi = rng.normal(size=(6, 2))
    Phi[:, 1] += Phi[:, 0]
    Phi -= Phi.mean(axis=0)
    Phi /= np.linalg.norm(Phi, axis=0)
    options = {"noise": NOISE, "global_scale": 0.7, "n_leapfrog": 3, **MODELS[name]}
    blank = HorseshoeSampler(DenseMoments(Phi, np.ones(6), fit_intercept=False), **options)
    before, after = [], []
    for _ in range(n_states):
        log_eta, log_tau, log_slab, weights, noise = draw_prior(blank, rng, 2)
        target = Phi @ weights + math.sqrt(noise) * rng.normal(size=6)
        moments = DenseMoments(Phi, target, fit_intercept=False)
        sampler = HorseshoeSampler(moments, **options)
        state = sampler.init(rng)
        state = type(state)(log_eta, log_tau, log_slab, weights, noise, 0.0)
        before.append(summarise(state))
        for _ in range(3):
            more = () if update == "reflect" else (rng,)
            state = getattr(sampler, update)(state, *more)
        after.append(summarise(state))
    return np.array(before), np.array(after)


def summarise(state):
    scaled = state.weights / math.sqrt(state.noise_variance)
    return [
        state.log_tau,
        *(state.log_eta - state.log_tau),
        state.log_slab if np.isfinite(state.log_slab) else 0.0,
        math.log(state.noise_variance),
        *np.arcsinh(10.0 * scaled),
        scaled[0] / (abs(scaled[0]) + abs(scaled[1])),
        math.tanh(state.log_eta[0]) * state.log_tau,
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "update",
    ["update_local", "update_global", "update_slab", "update_collapsed", "approximate", "reflect"],
)
def test_every_update_leaves_the_joint_distribution_as_it_is(name, update, monkeypatch):
    if update == "approximate":
        monkeypatch.setattr("relvec.sampling.scale_mixture.SMALLEST_ROUGH", 0)
        update = "update_collapsed"
    # Draws from the prior with data drawn from them are draws from the joint distribution (Geweke
    # 2004); an update given these data must not change their distribution. Two independent samples
    # would be compared with less power: the differences are paired.
    before, after = make_states(name, 600, update)
    for x, y in zip(before.T, after.T, strict=True):
        if np.ptp(np.append(x, y)) == 0.0:
            continue
        for power in (1, 2):
            change = y**power - x**power
            if change.any():
                assert abs(change.mean()) < 4.0 * change.std() / math.sqrt(len(change))
        assert stats.ks_2samp(x, y).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["slab", "slab of unknown scale"])
def test_successive_conditional_simulation_agrees_with_the_prior(name):
    # Geweke (2004): the chain that alternates between a step and new data has the prior as its
    # stationary distribution. An error in any conditional accumulates from step to step. Without a
    # slab the tails of the prior are too heavy for such a chain to mix.
    rng = np.random.default_rng(5)
    Phi = np.linalg.qr(rng.normal(size=(5, 2)))[0] @ np.array([[1.0, 0.6], [0.0, 0.8]])
    options = {"noise": NOISE, "global_scale": 0.7, "n_leapfrog": 3, **MODELS[name]}
    sampler = HorseshoeSampler(DenseMoments(Phi, np.ones(5), fit_intercept=False), **options)
    prior = np.array(
        [summarise(type(sampler.init(rng))(*draw_prior(sampler, rng, 2), 0.0)) for _ in range(4000)]
    )
    state, chain = sampler.init(rng), []
    for _ in range(4000):
        target = Phi @ state.weights + math.sqrt(state.noise_variance) * rng.normal(size=5)
        moments = DenseMoments(Phi, target, fit_intercept=False)
        state = HorseshoeSampler(moments, **options).step(state, rng)
        chain.append(summarise(state))
    for x, y in zip(prior.T, np.array(chain).T, strict=True):
        batches = y.reshape(40, -1).mean(axis=1)
        error = math.hypot(x.std() / math.sqrt(len(x)), batches.std() / math.sqrt(40))
        assert abs(x.mean() - y.mean()) <= 4.0 * error


def test_chains_are_reproducible_and_states_do_not_change():
    sampler = HorseshoeSampler(make_moments(), slab_scale=5.0, slab_df=4.0)
    first, second = (run_chain(sampler, 20, seed=4)[-1] for _ in range(2))
    np.testing.assert_array_equal(first.weights, second.weights)
    assert first.noise_variance == second.noise_variance
    rng = np.random.default_rng(0)
    state = sampler.init(rng, active=np.array([0]))
    copies = {name: np.copy(value) for name, value in vars(state).items()}
    sampler.step(state, rng)
    for name, value in copies.items():
        np.testing.assert_array_equal(value, getattr(state, name))
    assert state.log_eta[0] >= 0.0
    draw = sampler.draw(state, rng)
    assert draw.log_lam.shape == draw.weights.shape == (4,)
    assert len(draw.parameters) == 2


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1e6, 1e150])
def test_the_unit_of_the_target_does_not_matter(scale):
    reference = run_chain(HorseshoeSampler(make_moments()), 10)[-1]
    draw = run_chain(HorseshoeSampler(make_moments(scale=scale)), 10)[-1]
    np.testing.assert_allclose(draw.weights / scale, reference.weights, rtol=1e-6)
    np.testing.assert_allclose(draw.log_lam, reference.log_lam, rtol=1e-6)
    assert draw.noise_variance / scale**2 == pytest.approx(reference.noise_variance, rel=1e-6)


def test_unusable_atoms_are_left_out():
    Phi = np.random.default_rng(0).normal(size=(20, 4))
    Phi[:, 2] = 1.0
    draw = run_chain(HorseshoeSampler(DenseMoments(Phi, Phi[:, 0])), 3)[-1]
    assert draw.active.tolist() == [0, 1, 3]


@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("case", ["wide", "duplicated", "constant", "interpolated", "no atoms"])
def test_degenerate_problems(case, options):
    rng = np.random.default_rng(1)
    Phi = rng.normal(size=(12, 30 if case == "wide" else 4))
    target = Phi[:, 0] + rng.normal(size=12)
    if case == "duplicated":
        Phi = np.tile(Phi, 3)
    elif case == "constant":
        target = np.full(12, 0.1)
    elif case == "interpolated":
        target = Phi @ np.array([1.0, -2.0, 0.0, 1e-3])
    elif case == "no atoms":
        Phi = Phi[:, :0]
    draws = run_chain(HorseshoeSampler(DenseMoments(Phi, target), **options), 30)
    for draw in draws:
        assert np.isfinite(draw.weights).all()
        assert np.isfinite(draw.log_lam).all()
        assert draw.noise_variance > 0.0
        assert math.isfinite(draw.log_posterior)


def test_duplicates_share_the_weight_of_their_atom():
    rng = np.random.default_rng(2)
    Phi = rng.normal(size=(30, 3))
    target = 4.0 * Phi[:, 0] + rng.normal(size=30)
    moments = DenseMoments(np.hstack([Phi, Phi[:, :1]]), target)
    weights = np.array([draw.weights for draw in run_chain(HorseshoeSampler(moments), 200)[50:]])
    expected = moments.correlation[0]
    assert (weights[:, 0] + weights[:, 3]).mean() == pytest.approx(expected, rel=0.1)


def test_wrong_arguments_are_refused():
    moments = make_moments()
    with pytest.raises(ValueError, match="slab_df needs a slab_scale"):
        HorseshoeSampler(moments, slab_df=4.0)
    with pytest.raises(ValueError, match="global_scale must be a positive number"):
        HorseshoeSampler(moments, global_scale=0.0)
    with pytest.raises(ValueError, match="n_leapfrog must be an integer of at least 1"):
        HorseshoeSampler(moments, n_leapfrog=0)
    single = DenseMoments(np.ones((1, 1)), np.ones(1))
    with pytest.raises(ValueError, match="the noise variance has no posterior"):
        HorseshoeSampler(single)


def test_the_default_global_scale_expects_the_given_number_of_atoms():
    tau = default_global_scale(5.0, 200)
    shares = np.random.default_rng(0).standard_cauchy(200_000) ** 2 * tau**2
    assert 200 * np.mean(shares / (1.0 + shares)) == pytest.approx(5.0, rel=0.03)
    assert default_global_scale(5.0, 4) == 1.0
    assert default_global_scale(5.0, 0) == 1.0
