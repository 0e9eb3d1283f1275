"""`SparseBayesDensity`: normalisation, boundaries, weights, references, bands, scans, errors."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.stats import expon, norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from relvec import SparseBayesDensity
from relvec.estimators import density as module
from relvec.io import load, save

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(3.0, 2.0, size=(300, 1))
EXPONENTIAL = RNG.exponential(size=(400, 1))
CLAW = np.concatenate([RNG.normal(size=500), *(RNG.normal(k / 2 - 1, 0.1, 100) for k in range(5))])
CASES = {
    "normal": (NORMAL, {}, (-20.0, 25.0)),
    "claw": (CLAW[:, None], {}, (-12.0, 12.0)),
    "student_t": (NORMAL, {"reference": "student_t"}, (-60.0, 60.0)),
    "two_normals": (NORMAL, {"reference": "two_normals"}, (-60.0, 60.0)),
    "exponential": (EXPONENTIAL, {"support": (0, None)}, (0.0, 60.0)),
    "bounded": (EXPONENTIAL % 6.0, {"support": (0, 6)}, (0.0, 6.0)),
    "upper": (-EXPONENTIAL, {"support": (None, 0)}, (-60.0, 0.0)),
    "log_normal": (np.exp(0.3 * NORMAL), {"support": (0, None)}, (0.0, 2000.0)),
    "two_points": (np.array([[0.0], [1.0]]), {}, (-30.0, 30.0)),
    "tiny_sample": (NORMAL[:5], {}, (-60.0, 60.0)),
    "whole_numbers": (np.round(NORMAL), {}, (-20.0, 25.0)),
    "few_bins": (NORMAL, {"bins": 40, "widths": [0.3, 0.1]}, (-20.0, 25.0)),
}


def fit(name):
    X, options, ends = CASES[name]
    return SparseBayesDensity(**options).fit(X), X, ends


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_integral_is_one_and_the_distribution_function_its_integral(name):
    model, _, ends = fit(name)
    x = np.linspace(*ends, 400_001)
    density = model.pdf(x[:, None])
    assert (density >= 0.0).all()
    inside = model.cdf([[ends[1]]])[0] - model.cdf([[ends[0]]])[0]
    assert simpson(density, x=x) == pytest.approx(inside, abs=1e-6)
    assert inside > 0.999
    places = np.linspace(0, 400_000, 9).astype(int)[1:-1]
    parts = [simpson(density[: p + 1], x=x[: p + 1]) for p in places]
    start = model.cdf([[ends[0]]])[0]
    assert model.cdf(x[places, None]) - start == pytest.approx(parts, abs=1e-6)
    levels = np.array([1e-4, 0.01, 0.3, 0.5, 0.9, 0.999])
    assert model.cdf(model.ppf(levels)[:, None]) == pytest.approx(levels, abs=1e-8)
    # values beyond all bins too
    assert model.cdf([[-1e9]])[0] < 1e-3
    assert model.cdf([[1e9]])[0] > 1 - 1e-3


@pytest.mark.slow
def test_two_variables_have_integral_one():
    X = np.concatenate(
        [RNG.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], 150), NORMAL[:50, [0, 0]]]
    )
    X[150:, 1] += RNG.normal(size=50)
    model = SparseBayesDensity().fit(X)
    x = np.linspace(-14.0, 18.0, 401)
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
    density = model.pdf(grid).reshape(401, 401)
    assert simpson(simpson(density, x=x), x=x) == pytest.approx(1.0, abs=1e-6)
    drawn = model.sample(20_000, random_state=0)
    assert drawn.mean(axis=0) == pytest.approx(X.mean(axis=0), abs=0.2)
    mean = simpson(simpson(density * x[:, None], x=x), x=x)
    assert drawn[:, 0].mean() == pytest.approx(mean, abs=0.05)


@pytest.mark.slow
def test_supports_of_two_variables():
    X = np.column_stack([RNG.random(300), RNG.exponential(size=300)])
    model = SparseBayesDensity(support=[(0, 1), (0, None)]).fit(X)
    assert model.reference_ == ["uniform", "exponential"]
    outside = [[-0.1, 1.0], [1.1, 1.0], [0.5, -0.1]]
    assert (model.pdf(outside) == 0.0).all()
    assert (model.pdf([[0.0, 0.0], [1.0, 0.0], [0.5, 9.0]]) > 0.0).all()
    drawn = model.sample(1000, random_state=0)
    assert drawn.min() >= 0.0
    assert drawn[:, 0].max() <= 1.0


@pytest.mark.slow
def test_a_normal_sample_needs_no_basis_functions():
    kept = 0
    for seed in range(200, 210):
        X = np.random.default_rng(seed).normal(size=(1000, 1))
        model = SparseBayesDensity().fit(X)
        assert model.reference_ == "normal"
        assert model.effective_dof_ < 9.0
        kept += len(model.widths_)
    assert kept <= 12  # of 70


def test_nothing_leaks_over_the_ends_of_the_support():
    model, _, _ = fit("exponential")
    density, band = model.pdf([[-0.01], [0.0]], coverage=0.95)
    assert density[0] == 0.0
    assert (band[0] == 0.0).all()
    assert band[1, 0] < 1.0 < band[1, 1]
    assert model.score_samples([[-1.0]])[0] == -np.inf
    assert model.ppf(0.0) == 0.0
    assert (model.sample(500, random_state=0) >= 0.0).all()


def test_score_is_the_log_likelihood():
    model, X, _ = fit("normal")
    assert model.score(X) == pytest.approx(model.score_samples(X).sum())
    assert np.exp(model.score_samples(X)) == pytest.approx(model.pdf(X))


@pytest.mark.parametrize("name", ["normal", "exponential", "claw"])
def test_bands_agree_with_drawn_densities(name):
    model, _, ends = fit(name)
    x = np.linspace(*ends, 20_001)
    drawn = model.sample_pdf(x[:, None], 3, random_state=0)
    assert simpson(drawn, x=x, axis=0) == pytest.approx(1.0, abs=1e-6)
    points = model.ppf(np.linspace(0.1, 0.9, 9))[:, None]
    drawn = model.sample_pdf(points, 2000, random_state=0)
    _, band = model.pdf(points, coverage=0.8)
    inside = (drawn > band[:, :1]) & (drawn < band[:, 1:])
    assert inside.mean() == pytest.approx(0.8, abs=0.03)
    wider = model.pdf(points, coverage=0.99)[1]
    assert (wider[:, 0] < band[:, 0]).all()
    assert (wider[:, 1] > band[:, 1]).all()


def test_weights_are_frequencies():
    weight = RNG.integers(0, 4, size=len(NORMAL)).astype(float)
    weighted = SparseBayesDensity().fit(NORMAL, sample_weight=weight)
    repeated = SparseBayesDensity().fit(np.repeat(NORMAL, weight.astype(int), axis=0))
    x = np.linspace(-3.0, 9.0, 20)[:, None]
    assert weighted.pdf(x) == pytest.approx(repeated.pdf(x), rel=1e-6)
    assert weighted.n_points_ == repeated.n_points_
    assert weighted.log_evidence_ == pytest.approx(repeated.log_evidence_, abs=1e-4)
    # weights of any size
    halves = SparseBayesDensity().fit(np.repeat(NORMAL, 2, axis=0), sample_weight=np.full(600, 0.5))
    assert halves.pdf(x) == pytest.approx(SparseBayesDensity().fit(NORMAL).pdf(x), rel=1e-6)


def test_weights_are_frequencies_of_more_than_a_thousand_points():
    z, weight = EXPONENTIAL, np.random.default_rng(5).integers(2, 5, size=400)
    weighted = SparseBayesDensity().fit(z, sample_weight=weight)
    repeated = SparseBayesDensity().fit(np.repeat(z, weight, axis=0))
    assert repeated.n_points_ > 1000
    x = np.linspace(-1.0, 5.0, 20)[:, None]
    assert weighted.pdf(x) == pytest.approx(repeated.pdf(x), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.1, 0.7, -0.7])
def test_the_order_of_two_columns_does_not_matter(correlation):
    rng = np.random.default_rng(12)
    X = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], 150)
    X[:50, 0] += 3.0
    one, other = SparseBayesDensity().fit(X), SparseBayesDensity().fit(X[:, ::-1])
    assert other.score_samples(X[:, ::-1]) == pytest.approx(one.score_samples(X), abs=1e-6)
    drawn = one.sample(5000, random_state=0)
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(np.corrcoef(X.T)[0, 1], abs=0.1)


def test_order_and_units_do_not_matter():
    model, X, _ = fit("claw")
    x = np.linspace(-3.0, 3.0, 30)[:, None]
    other = SparseBayesDensity().fit(X[::-1])
    assert other.pdf(x) == pytest.approx(model.pdf(x), rel=1e-8)
    scaled = SparseBayesDensity().fit(1e6 + 1e3 * X)
    assert 1e3 * scaled.pdf(1e6 + 1e3 * x) == pytest.approx(model.pdf(x), rel=1e-3)


def test_mirrored_support_gives_the_mirrored_density():
    lower = SparseBayesDensity(support=(0, None)).fit(EXPONENTIAL)
    upper = SparseBayesDensity(support=(None, 0)).fit(-EXPONENTIAL)
    x = np.linspace(0.0, 5.0, 11)[:, None]
    assert upper.pdf(-x) == pytest.approx(lower.pdf(x))
    assert upper.cdf(-x) == pytest.approx(1.0 - lower.cdf(x))
    assert upper.ppf(0.2) == pytest.approx(-lower.ppf(0.8))


def test_rounded_values_give_no_comb():
    X = np.random.default_rng(7).normal(size=(2000, 1))
    smooth, rounded = SparseBayesDensity().fit(X), SparseBayesDensity().fit(np.round(X, 1))
    assert rounded.effective_dof_ < 15.0
    x = np.linspace(-2.0, 2.0, 101)[:, None]
    assert rounded.pdf(x) == pytest.approx(smooth.pdf(x), abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("n_points", [10**5, 10**7])
def test_a_histogram_of_many_points_gives_a_smooth_density(n_points):
    ends = np.linspace(-4.0, 4.0, 201)
    share = np.diff(norm.cdf(ends))
    counts = np.random.default_rng(31).multinomial(n_points, share / share.sum())
    X = 0.5 * (ends[1:] + ends[:-1])[:, None]
    model = SparseBayesDensity().fit(X, sample_weight=counts)
    x = np.linspace(-2.0, 2.0, 101)
    density, band = model.pdf(x[:, None], coverage=0.95)
    truth = norm.pdf(x) / share.sum()
    assert density == pytest.approx(truth, rel={10**5: 0.03, 10**7: 0.008}[n_points])
    assert np.mean((band[:, 0] < truth) & (truth < band[:, 1])) > 0.85


@pytest.mark.parametrize("seed", [20, 21, 22])
def test_heavy_tails_get_a_heavy_tailed_reference(seed):
    X = np.random.default_rng(seed).standard_cauchy(size=(1000, 1))
    model = SparseBayesDensity().fit(X)
    assert model.reference_ == "student_t"
    assert model.pdf([[0.0]])[0] == pytest.approx(1 / np.pi, rel=0.15)
    # far beyond the data the density falls as a power, not as a normal density
    far = model.score_samples([[1e5], [1e6]])
    assert -6.0 < far[1] - far[0] < -3.0


@pytest.mark.slow
def test_log_normal_reference():
    X = np.exp(np.random.default_rng(8).normal(size=(800, 1)))
    model = SparseBayesDensity(support=(0, None)).fit(X)
    assert model.reference_ == "log_normal"
    x = np.array([0.3, 1.0, 3.0])
    assert model.pdf(x[:, None]) == pytest.approx(norm.pdf(np.log(x)) / x, rel=0.2)
    # values at the end of the support exclude it
    assert SparseBayesDensity(support=(0, None)).fit(np.append(X, 0.0)[:, None]).pdf([[0.0]])[0] > 0


def test_intensity_of_a_point_process():
    X = EXPONENTIAL[EXPONENTIAL < 6.0][:, None]
    density = SparseBayesDensity(support=(0, 6)).fit(X)
    intensity = SparseBayesDensity(support=(0, 6), normalise=False).fit(X)
    x = np.linspace(0.0, 6.0, 31)[:, None]
    assert intensity.pdf(x) == pytest.approx(len(X) * density.pdf(x))
    assert intensity.score(X) == pytest.approx(intensity.score_samples(X).sum() - len(X))
    # the band includes the uncertainty of the number of points, 5 % here
    wide, narrow = (model.pdf(x, coverage=0.95)[1] for model in (intensity, density))
    assert (
        np.log(wide[:, 1] / wide[:, 0]) > np.log(narrow[:, 1] / narrow[:, 0]) - 1e-9
    ).mean() > 0.5
    totals = simpson(intensity.sample_pdf(x, 400, random_state=0), x=x[:, 0], axis=0)
    assert totals.mean() == pytest.approx(len(X), rel=0.02)
    assert totals.std() == pytest.approx(np.sqrt(len(X)), rel=0.15)


def test_sample_follows_the_distribution_function():
    model, _, _ = fit("claw")
    drawn = model.sample(4000, random_state=1)
    assert drawn.shape == (4000, 1)
    gaps = np.sort(model.cdf(drawn)) - (np.arange(4000) + 0.5) / 4000
    assert np.abs(gaps).max() < 1.63 / np.sqrt(4000)  # Kolmogorov's test at 1 %
    assert (model.sample(5, random_state=3) == model.sample(5, random_state=3)).all()


def test_a_peak_is_found_and_its_size_measured():
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = np.concatenate([expon.rvs(size=2000, random_state=rng), rng.normal(2.0, 0.05, 60)])
        background = SparseBayesDensity(support=(0, None), widths=[0.5, 0.25]).fit(x[:, None])
        scan = background.scan_peaks([2.0], width=0.05)
        found.append((scan.signal[0], scan.std[0], scan.z[0]))
    signal, std, z = np.mean(found, axis=0)
    assert signal == pytest.approx(60.0, abs=15.0)
    # the expected background below the peak, 2000 exp(-2) 0.05 2 sqrt(pi) = 48, has noise of 7
    assert 6.0 < std < 12.0
    assert z > 5.0


def test_a_scan_without_a_peak_is_a_standard_normal_variable():
    z, share = [], []
    for seed in range(12):
        x = np.random.default_rng(seed).random(1500)
        background = SparseBayesDensity(support=(0, 1), widths=[0.5, 0.25]).fit(x[:, None])
        scan = background.scan_peaks(
            np.linspace(0.05, 0.95, 10), width=0.01, n_simulations=19, random_state=0
        )
        z.append(scan.z)
        share.append(scan.global_p_value)
        assert scan.local_p_value == pytest.approx(norm.sf(scan.z))
    assert np.mean(z) == pytest.approx(0.0, abs=0.3)
    assert np.std(z) == pytest.approx(1.0, abs=0.2)
    assert 0.2 < np.mean(share) < 0.8
    assert np.isnan(background.scan_peaks([0.5], width=0.01).global_p_value)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[1.0]], {}, "minimum of 2 is required"),
        ([[1.0], [np.nan]], {}, r"X must be finite; the value at row 1, column 0 is NaN"),
        ([[2.0], [2.0], [2.0]], {}, "at least two different points .*all values of column 0 are 2"),
        ([[1.0], [2.0], [-3.0]], {"support": (0, None)}, "1 of 3 are outside .*-3 in row 2"),
        (np.ones((5, 3)), {}, "one or two variables; X has 3 columns"),
        ([[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]], {}, "lie on a straight line"),
        (NORMAL, {"support": (1, 0)}, "lower end of the support must be below"),
        (NORMAL, {"support": (0, 1, 2)}, "support must be None or a pair"),
        (NORMAL, {"support": ("a", 2)}, "support must be None or a pair"),
        (NORMAL, {"support": "line"}, "support must be None or a pair"),
        (NORMAL[:, [0, 0]], {"support": (0, 1)}, "a list of 2 entries"),
        (NORMAL, {"bins": 3}, 'bins must be "auto" or a whole number of at least 8'),
        (NORMAL, {"bins": 2.5}, 'bins must be "auto" or a whole number of at least 8'),
        (NORMAL, {"bins": 10**6}, "bins must be at most 10000 for 1 variable.*got 1000000"),
        (NORMAL[:, [0, 0]], {"bins": 100}, "bins must be at most 64 for 2 variable"),
        (1e9 + 1e-6 * NORMAL, {}, r"all values of column 0 are within .* of 1e\+09, too close"),
        (NORMAL, {"widths": "narrow"}, 'widths must be "auto" or a list'),
        (NORMAL, {"widths": 0.2}, "a list of fractions"),
        (NORMAL, {"widths": [3.0]}, "fractions of the range of the bins"),
        (NORMAL, {"widths": [0.1, 0.1]}, "must differ"),
        (NORMAL, {"reference": "cauchy"}, "reference must be one of"),
        (NORMAL, {"reference": "exponential"}, r"needs a support with one end"),
        (EXPONENTIAL, {"reference": "normal", "support": (0, None)}, "needs support=None"),
        (NORMAL, {"normalise": "no"}, "normalise must be True or False"),
    ],
)
def test_errors_say_what_is_needed(X, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        SparseBayesDensity(**options).fit(X)


def test_errors_of_the_methods():
    model, _, _ = fit("normal")
    for call, message in [
        (lambda: model.pdf([[0.0]], coverage=1.5), "coverage"),
        (lambda: model.ppf([1.5]), "q must be probabilities"),
        (lambda: model.sample(0), "n_samples must be an integer of at least 1"),
        (lambda: model.sample_pdf([[0.0]], 0), "n_samples"),
        (lambda: model.scan_peaks([], 1.0), "positions must be finite"),
        (lambda: model.scan_peaks([1.0], -1.0), "width must be a positive number"),
        (lambda: model.pdf([[0.0, 1.0]]), "2 features"),
        (lambda: model.score_samples([[np.nan]]), "finite"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(ValueError, match="at least one non-zero number"):
        SparseBayesDensity().fit(NORMAL, sample_weight=np.zeros(300))
    with pytest.raises(NotFittedError):
        SparseBayesDensity().pdf([[0.0]])
    two = SparseBayesDensity().fit(RNG.normal(size=(40, 2)))
    for method in (two.cdf, two.ppf, lambda x: two.scan_peaks(x, 1.0)):
        with pytest.raises(ValueError, match="one variable"):
            method([[0.0, 0.0]])


@pytest.mark.slow
def test_clone_pickle_files_pipelines_and_cross_validation(tmp_path):
    for name in ("claw", "student_t", "two_normals", "upper", "log_normal", "bounded"):
        model, X, _ = fit(name)
        path = save(model, tmp_path / f"{name}.relvec")
        for other in (pickle.loads(pickle.dumps(model)), load(path), clone(model).fit(X)):
            expected, got = model.pdf(X[:50], coverage=0.9), other.pdf(X[:50], coverage=0.9)
            assert (expected[0] == got[0]).all()
            assert (expected[1] == got[1]).all()
    pipeline = make_pipeline(StandardScaler(), SparseBayesDensity()).fit(NORMAL)
    gap = pipeline.score(NORMAL) - SparseBayesDensity().fit(NORMAL).score(NORMAL)
    assert gap == pytest.approx(300 * np.log(NORMAL.std()), abs=1.0)
    scores = cross_val_score(SparseBayesDensity(), NORMAL, cv=3)
    assert scores.mean() == pytest.approx(100 * (-0.5 - 0.5 * np.log(2 * np.pi * 4)), rel=0.1)


def test_feature_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"minutes": NORMAL[:, 0]})
    model = SparseBayesDensity().fit(frame)
    assert list(model.feature_names_in_) == ["minutes"]
    assert model.pdf(frame) == pytest.approx(SparseBayesDensity().fit(NORMAL).pdf(NORMAL))


def published(name):
    folder = os.environ.get("RELVEC_DATA")
    if folder is None or not (Path(folder) / f"{name}.npz").exists():
        pytest.skip(f"set RELVEC_DATA to the folder that holds {name}.npz")
    return np.load(Path(folder) / f"{name}.npz")


def test_galaxies_have_their_published_groups():
    """Velocities of 82 galaxies (Roeder, 1990): groups near 10, 20, 23 and 33 thousand km/s."""
    X = published("galaxies")["x"][:, None] / 1000.0
    model = SparseBayesDensity().fit(X)
    x = np.linspace(5.0, 40.0, 2000)
    density = model.pdf(x[:, None])
    modes = x[1:-1][(density[1:-1] > density[:-2]) & (density[1:-1] > density[2:])]
    for expected in (9.7, 19.9, 23.0, 33.0):
        assert np.abs(modes - expected).min() < 0.6


@pytest.mark.slow
def test_eruptions_have_two_modes():
    data = published("faithful")
    for name, modes in (("waiting", (53.0, 80.0)), ("eruptions", (1.95, 4.4))):
        model = SparseBayesDensity().fit(data[name][:, None])
        middle, lower, upper = np.mean(modes), *modes
        density = model.pdf([[lower], [middle], [upper]])
        assert density[1] < 0.5 * min(density[0], density[2])
    X = np.column_stack([data["waiting"], data["eruptions"]])
    model = SparseBayesDensity().fit(X[::2])
    assert model.score(X[1::2]) > SparseBayesDensity(widths=[0.25]).fit(X[::2]).score(X[1::2]) - 5


def test_coal_mining_disasters_fell_about_1890():
    X = published("coal")["date"][:, None]
    model = SparseBayesDensity(support=(1851, 1963), normalise=False).fit(X)
    rate, band = model.pdf([[1870.0], [1925.0]], coverage=0.95)
    assert rate[0] > 2.0 * rate[1]
    assert band[0, 0] > band[1, 1]


@pytest.fixture
def first_column(monkeypatch):
    """Use the first column of what scikit-learn's checks pass: they do not ask how many may be."""
    validate = module.validate_data
    monkeypatch.setattr(module, "validate_data", lambda *a, **k: validate(*a, **k)[:, :1])


@pytest.mark.estimator_check
@parametrize_with_checks([SparseBayesDensity()])
def test_scikit_learn_check(estimator, check, first_column):
    check(estimator)
