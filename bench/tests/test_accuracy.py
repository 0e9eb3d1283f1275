"""The accuracy suite must be right before its results are."""

import json
import math
import statistics

import numpy as np
import pytest
from scipy import integrate, stats

from bench import __main__ as command
from bench.accuracy import fits, page, plots, suite, tables, tally
from bench.accuracy.forecasts import ModelForecast, NormalForecast, crps_from_quantiles
from bench.accuracy.methods import (
    Classified,
    Method,
    Regressed,
    few_rows,
    one_vs_rest,
    widths,
)
from bench.accuracy.metrics import (
    COVERAGES,
    METRICS,
    judge_classes,
    judge_regression,
)
from bench.accuracy.problems import PROBLEMS, Problem, problems_of
from bench.accuracy.store import Store
from bench.classification.problems import Draw


def quadrature_crps(distribution, y):
    """Integral of the squared distance of the distribution function from the step at y."""
    low, high = distribution.ppf([1e-9, 1 - 1e-9])
    left, _ = integrate.quad(lambda x: distribution.cdf(x) ** 2, min(low, y), y, limit=200)
    right, _ = integrate.quad(lambda x: distribution.sf(x) ** 2, y, max(high, y), limit=200)
    return left + right


# ---------------------------------------------------------------- forecasts and metrics


@pytest.mark.parametrize("y", [-3.0, 0.7, 1.0, 9.0])
def test_crps_of_a_gaussian(y):
    forecast = NormalForecast(np.array([1.0]), 2.0)
    expected = quadrature_crps(stats.norm(1.0, 2.0), y)
    assert forecast.crps(np.array([y]))[0] == pytest.approx(expected, abs=1e-6)


def test_density_and_intervals_of_a_gaussian():
    mean, deviation, y = np.array([0.0, 3.0]), np.array([1.0, 0.2]), np.array([0.5, 2.0])
    forecast = NormalForecast(mean, deviation)
    np.testing.assert_allclose(forecast.log_density(y), stats.norm.logpdf(y, mean, deviation))
    low, high = forecast.interval(0.9).T
    np.testing.assert_allclose(low, stats.norm.ppf(0.05, mean, deviation))
    np.testing.assert_allclose(high, stats.norm.ppf(0.95, mean, deviation))


@pytest.mark.slow
@pytest.mark.parametrize("distribution", [stats.norm(1.0, 2.0), stats.t(4), stats.gamma(2.0)])
def test_crps_from_quantiles(distribution):
    level = (np.arange(400) + 0.5) / 400
    y = np.array([-0.5, 0.3, 2.5])
    quantile = np.tile(distribution.ppf(level), (3, 1))
    expected = [quadrature_crps(distribution, one) for one in y]
    np.testing.assert_allclose(crps_from_quantiles(quantile, level, y), expected, rtol=3e-3)


class StudentModel:
    """A regressor whose density is not Gaussian."""

    def __init__(self, distribution):
        self.distribution = distribution

    def predict(self, X, return_std):
        return np.full(len(X), 1.0), np.full(len(X), self.distribution.std())

    def log_predictive_density(self, X, y):
        return self.distribution.logpdf(y)

    def predict_interval(self, X, coverage):
        return np.tile(self.distribution.interval(coverage), (len(X), 1))


@pytest.mark.slow
@pytest.mark.parametrize("distribution", [stats.norm(1.0, 0.5), stats.t(5, loc=1.0)])
def test_a_model_is_judged_by_its_own_distribution(distribution):
    y = np.array([0.2, 1.1, 4.0])
    forecast = ModelForecast(StudentModel(distribution), np.zeros((3, 1)))
    np.testing.assert_allclose(forecast.log_density(y), distribution.logpdf(y))
    expected = [quadrature_crps(distribution, one) for one in y]
    np.testing.assert_allclose(forecast.crps(y), expected, rtol=3e-3)


@pytest.mark.slow
def test_the_regressor_is_gaussian_or_says_otherwise():
    from relvec import RVMRegressor

    x = np.linspace(-3.0, 3.0, 40)
    y = np.sin(x) + 0.1 * np.random.default_rng(0).standard_normal(40)
    model = RVMRegressor(gamma=0.5, length_scales=None).fit(x[:, np.newaxis], y)
    forecast = ModelForecast(model, x[::7, np.newaxis])
    level = (np.arange(400) + 0.5) / 400
    ends = [forecast.interval(abs(2 * p - 1))[:, int(p > 0.5)] for p in level]
    expected = crps_from_quantiles(np.column_stack(ends), level, y[::7])
    np.testing.assert_allclose(forecast.crps(y[::7]), expected, rtol=1e-2)


def test_metrics_of_a_regression():
    rng = np.random.default_rng(1)
    y = rng.standard_normal(20_000)
    found = judge_regression(NormalForecast(np.zeros(20_000), 1.0), y)
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean(y**2)))
    assert found["mlpd"] == pytest.approx(stats.norm.logpdf(y).mean())
    for percent in COVERAGES:
        assert found[f"coverage_{percent}"] == pytest.approx(percent / 100, abs=0.015)
    distances = [abs(found[f"coverage_{p}"] - p / 100) for p in COVERAGES]
    assert found["coverage_error"] == pytest.approx(statistics.fmean(distances))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_metrics_of_a_classification(n_classes):
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.ones(n_classes), 300)
    label = rng.integers(0, n_classes, 300)
    decision = rng.integers(0, n_classes, 300)
    found = judge_classes(decision, p, label)
    brier = loss = error = 0.0
    for probability, true, said in zip(p, label, decision, strict=True):
        brier += sum((probability[k] - (k == true)) ** 2 for k in range(n_classes)) / 300
        loss -= math.log(probability[true]) / 300
        error += (said != true) / 300
    assert found["brier"] == pytest.approx(brier)
    assert found["error"] == pytest.approx(error)
    assert found["log_loss"] == pytest.approx(loss)


def test_calibration_error_by_brute_force():
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(3), 500)
    label = rng.integers(0, 3, 500)
    expected = 0.0
    for number in range(10):
        inside = [
            i for i in range(500) if number / 10 <= p[i].max() < (number + 1) / 10 + (number == 9)
        ]
        if inside:
            hits = np.mean([np.argmax(p[i]) == label[i] for i in inside])
            expected += len(inside) / 500 * abs(hits - np.mean([p[i].max() for i in inside]))
    found = judge_classes(np.argmax(p, axis=1), p, label)
    assert found["ece"] == pytest.approx(expected)


# ---------------------------------------------------------------- methods and problems


def small_draw(part):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((150, 3))
    y = np.sin(X[:, 0]) + 0.2 * rng.standard_normal(150)
    if part == "classification":
        y = np.digitize(X[:, 0] + 0.2 * rng.standard_normal(150), [-0.5, 0.5])
    return Draw(X[:90], y[:90], X[90:], y[90:])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("part", "name"), [(part, name) for part, known in fits.METHODS.items() for name in known]
)
def test_every_method_runs(part, name):
    method = fits.METHODS[part][name]
    if not method.is_installed:
        pytest.skip(f"{method.package} is not installed")
    draw = small_draw(part)
    problem = Problem("small", part, lambda seed: draw, "made up")
    record = fits.fit_and_judge(method, problem, draw)
    json.dumps(record)
    assert record["overlap"] == pytest.approx(60 / 90)
    if part == "regression":
        assert record["rmse"] < 0.6
        assert record["mlpd"] > -1.0
    else:
        assert record["error"] < 0.4
        p = method.fit(draw.X, draw.y).probability(draw.X_test)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_one_class_against_the_rest():
    label = np.array([0, 1, 2, 1])

    def positive(target):
        return lambda X: np.full(len(X), target.mean())

    np.testing.assert_allclose(one_vs_rest(positive, label)(np.zeros((2, 1)))[0], [0.25, 0.5, 0.25])
    np.testing.assert_allclose(one_vs_rest(positive, label % 2)(np.zeros((1, 1))), [[0.5, 0.5]])


def test_tuning_sees_few_rows_of_large_sets():
    label = np.arange(300) % 3
    rows = few_rows(label, 60, "classification")
    assert len(set(rows)) == 60
    assert np.bincount(label[rows]).tolist() == [20, 20, 20]
    assert few_rows(label, 300, "regression").tolist() == list(range(300))
    assert widths(4)[2] == 0.25


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=lambda problem: problem.name)
def test_draws_of_a_problem(problem):
    if not problem.is_there:
        pytest.skip("the set is not here")
    seeds = problem.seeds(1000, 2)
    assert seeds == ([0, 1] if problem.n_draws else [1000, 1001])
    assert 5 <= problem.repeats <= (problem.n_draws or 20)
    draw, again = problem.draw(seeds[0]), problem.draw(seeds[0])
    for one, other in zip(draw, again, strict=True):
        np.testing.assert_array_equal(one, other)
    assert draw.X.dtype == float
    assert len(draw.X) == len(draw.y)
    assert len(draw.X_test) == len(draw.y_test)
    if problem.part == "classification":
        assert set(draw.y) == set(range(draw.y.max() + 1))
        assert set(draw.y_test) <= set(draw.y)
    assert not np.array_equal(draw.y, problem.draw(seeds[1]).y)


@pytest.mark.parametrize(("n_train", "n_test", "odds"), [(90, 10, 1 / 9), (40, 160, 4.0)])
def test_overlap_of_two_draws(n_train, n_test, odds):
    draw = Draw(np.zeros((n_train, 1)), np.zeros(n_train), np.zeros((n_test, 1)), np.zeros(n_test))
    split = Problem("small", "regression", lambda seed: draw, "made up")
    assert split.overlap(draw) == pytest.approx(odds)
    fresh = Problem("small", "regression", lambda seed: draw, "made up", is_resampled=False)
    assert fresh.overlap(draw) == 0.0


def test_the_corrected_error_is_that_of_the_mean():
    """Two constant models on random splits: the truth is known over sets and splits."""
    rng = np.random.default_rng(8)
    gaps, corrected, plain = [], [], []
    for _ in range(400):
        loss = rng.standard_normal(100)  # difference between the models on each row of a set
        splits = [rng.permutation(loss)[:20].mean() for _ in range(10)]
        ours = record_of("relvec", splits, overlap=20 / 80)
        found = tally.compare(ours, record_of("SVR", [0.0] * 10, overlap=20 / 80), RMSE)
        gaps.append(found.gap)
        corrected.append(found.error**2)
        plain.append(found.plain_error**2)
    truth = np.mean(np.square(gaps))
    assert np.mean(corrected) == pytest.approx(truth, rel=0.2)
    assert np.mean(plain) < 0.7 * truth


def test_everybody_gets_as_many_rows(monkeypatch):
    monkeypatch.setattr(fits, "MOST_ROWS", 40)
    seen = []

    def fit(X, y):
        seen.append((X, y))
        return fake_regression(0.0)(X, y)

    draw = small_draw("regression")
    problem = Problem("small", "regression", lambda seed: draw, "made up")
    for name in ("relvec", "SVR"):
        method = Method(name, "regression", "numpy", fit, "")
        record = fits.fit_and_judge(method, problem, draw)
        assert (record["n_train"], record["n_test"]) == (40, 60)
        assert record["overlap"] == pytest.approx(60 / 90)  # of the splits, before the choice
    np.testing.assert_array_equal(seen[0][0], seen[1][0])
    assert set(seen[0][1]) <= set(draw.y)


# ---------------------------------------------------------------- wins, ties and losses

RMSE, MLPD = METRICS["regression"][:2]
VECTORS, CPU = METRICS["regression"][4:]


def record_of(
    method, values, key="rmse", part="regression", problem="friedman1", overlap=1 / 9, **more
):
    blank = {metric.key: 1.0 for metric in METRICS[part]}
    blank |= {f"coverage_{percent}": percent / 100 for percent in COVERAGES}
    facts = {
        "n_train": 90,
        "n_test": 10,
        "n_features": 3,
        "overlap": overlap,
        "is_cut_short": False,
    }
    draws = [{**blank, **facts, "seed": i, key: value} for i, value in enumerate(values)]
    known = {"part": part, "problem": problem, "method": method, "status": "ok", "limit": 300.0}
    return {**known, "draws": draws, **more}


def test_a_comparison_is_paired():
    ours, peer = record_of("relvec", [1.0, 2.0, 3.0]), record_of("SVR", [1.1, 2.3, 3.2])
    found = tally.compare(ours, peer, RMSE)
    gaps = [0.1, 0.3, 0.2]
    assert found.gap == pytest.approx(0.2)
    assert found.plain_error == pytest.approx(statistics.stdev(gaps) / math.sqrt(3))
    assert found.error == pytest.approx(statistics.stdev(gaps) * math.sqrt(1 / 3 + 1 / 9))
    assert found.verdict() == "win"
    assert tally.compare(record_of("relvec", gaps), record_of("SVR", [0.0] * 3), RMSE).gap < 0


def test_more_density_and_fewer_seconds_are_better():
    ours, peer = record_of("relvec", [1.0, 1.2], "mlpd"), record_of("SVR", [0.5, 0.8], "mlpd")
    assert tally.compare(ours, peer, MLPD).gap == pytest.approx(0.45)
    ours, peer = record_of("relvec", [2.0, 4.0], "cpu"), record_of("SVR", [1.0, 2.0], "cpu")
    assert tally.compare(ours, peer, CPU).gap == pytest.approx(-math.log(2.0))
    assert tally.compare(ours, peer, CPU).verdict() == "loss"
    peer = record_of("RidgeCV", [None, None], "n_vectors")
    assert tally.compare(ours, peer, VECTORS) is None


@pytest.mark.parametrize(
    ("gap", "verdict"), [(2.1, "win"), (1.9, "tie"), (0.0, "tie"), (-1.9, "tie"), (-2.1, "loss")]
)
def test_two_standard_errors_decide(gap, verdict):
    one = tally.Comparison("friedman1", "SVR", RMSE, 0.0, gap, gap, 1.0, 0.5)
    assert one.verdict() == verdict
    plain = {1.0: "win", 0.0: "tie", -1.0: "loss"}[np.sign(gap)]
    assert one.verdict(is_corrected=False) == plain


def test_one_draw_is_not_compared():
    assert tally.compare(record_of("relvec", [1.0]), record_of("SVR", [2.0]), RMSE) is None


def test_the_picture_says_ours_minus_theirs():
    records = [record_of("relvec", [1.1, 1.1]), record_of("SVR", [1.0, 1.0])]
    rmse, mlpd = tally.comparisons("regression", records)[:2]
    assert (plots._difference(rmse), rmse.verdict()) == ("+10.0", "loss")
    assert (plots._difference(mlpd), mlpd.verdict()) == ("+0.000", "tie")
    records[0]["status"] = "over limit"
    lost = tally.comparisons("regression", records)[0]
    assert (plots._difference(lost), lost.verdict()) == ("not run", "loss")


def test_fewer_draws_are_told():
    records = [record_of("relvec", [1.0] * 5), record_of("SVR", [1.0] * 3)]
    said = page.notes("regression", records)
    assert "Fewer draws than others, compared on these: friedman1 SVR 3." in said


def test_scores_over_sets():
    records = [
        record_of("relvec", [1.0, 1.1, 1.0], problem="friedman1"),
        record_of("SVR", [2.0, 2.0, 2.1], problem="friedman1"),
        record_of("relvec", [1.0, 1.1, 1.0], problem="friedman2"),
        record_of("SVR", [0.5, 0.5, 0.6], problem="friedman2"),
        record_of("relvec", [1.0, 1.0, 1.0], problem="boston"),
        record_of("SVR", [1.0, 1.0, 1.0], problem="boston"),
        record_of("GPR", [], problem="boston", status="over limit"),
    ]
    score = tally.scores(tally.comparisons("regression", records))
    assert str(score["SVR", "rmse"]) == "1 / 1 / 1"
    assert str(score["SVR", "mlpd"]) == "0 / 3 / 0"
    assert not any(peer == "GPR" for peer, _ in score)


def test_who_does_not_finish_has_lost():
    records = [
        record_of("relvec", [1.0], problem="boston", status="over limit"),
        record_of("SVR", [1.0, 1.0], problem="boston"),
    ]
    score = tally.scores(tally.comparisons("regression", records))
    assert {str(one) for one in score.values()} == {"0 / 0 / 1"}
    rows = tables.losses_table("regression", records).rows
    assert [row[2] for row in rows] == ["not finished"] * 4
    shown = tables.problem_tables("regression", records)[0]
    assert shown.rows[0][-1] == "> 300"


# ---------------------------------------------------------------- the suite


def fake_regression(level):
    def fit(X, y):
        return Regressed(lambda X_new: NormalForecast(np.full(len(X_new), level), 1.0), 3)

    return fit


def fake_classification(p):
    def fit(X, y):
        return Classified(
            lambda X_new: np.full(len(X_new), int(p > 0.5)),
            lambda X_new: np.tile([1.0 - p, p], (len(X_new), 1)),
        )

    return fit


@pytest.fixture
def small_suite(monkeypatch):
    """Two methods and one problem in each part, run in this process; the jobs that were run."""
    y = np.random.default_rng(6).standard_normal(200)
    X = np.zeros((200, 2))
    problems = {
        "regression": lambda seed: Draw(X[:100], y[:100], X[100:], y[100:] + 0.01 * seed),
        "classification": lambda seed: Draw(
            X[:100], (y[:100] > 0).astype(int), X[100:], (y[100:] > -0.5).astype(int)
        ),
    }
    names = {"regression": "boston", "classification": "pima"}
    for part, name in names.items():
        known = Problem(name, part, problems[part], "made up", n_draws=7)
        monkeypatch.setitem(PROBLEMS, name, known)
    makers = {
        "regression": (fake_regression, {"relvec": 0.0, "SVR": 2.0}),
        "classification": (fake_classification, {"relvec": 0.7, "SVC": 0.99}),
    }
    for part, (make, levels) in makers.items():
        for name, level in levels.items():
            method = Method(name, part, "numpy", make(level), f"always {level}")
            monkeypatch.setitem(fits.METHODS[part], name, method)
    jobs = []

    def run_job(job):
        jobs.append(job)
        return {**job, "status": "ok", **fits.run(job["case"], job["limit"])}

    monkeypatch.setattr(suite, "run_job", run_job)
    return jobs


OPTIONS = ["--problems", "boston,pima", "--methods", "relvec,SVR,SVC"]


@pytest.mark.slow
def test_a_small_run(small_suite, tmp_path, capsys):
    arguments = ["accuracy", "--output", str(tmp_path), *OPTIONS]
    assert command.main(arguments) == 0
    assert [len(job["case"]["seeds"]) for job in small_suite] == [5, 2] * 4
    record = Store(tmp_path).read("regression", "boston", "SVR")
    assert [draw["seed"] for draw in record["draws"]] == list(range(7))
    assert record["version"] == f"numpy {np.__version__}"
    text = (tmp_path / page.PAGE).read_text(encoding="utf-8")
    assert "| SVR | 1 | 1 / 0 / 0 | 1 / 0 / 0 |" in text
    assert "Not run: uci_yacht" in text
    assert "not installed or not asked for: RidgeCV" in text
    assert str(tmp_path) not in text
    for file in (page.PLOT, page.SCORES):
        assert f"]({file})" in text
        assert (tmp_path / file).stat().st_size > 1000
    assert "always 2.0" in capsys.readouterr().out

    # nothing is run twice, unless it is asked for or there are more draws
    small_suite.clear()
    assert command.main([*arguments, "--report-only"]) == command.main(arguments) == 0
    assert small_suite == []
    assert command.main([*arguments, "--fresh", "--parts", "classification"]) == 0
    assert [job["case"]["method"] for job in small_suite] == ["relvec"] * 2 + ["SVC"] * 2


@pytest.mark.slow
def test_a_run_is_continued(small_suite, tmp_path):
    store = Store(tmp_path)
    few = suite.Request(("regression",), ("boston",), ("SVR",), repeats=2)
    suite.run(few, store)
    suite.run(suite.Request(("regression",), ("boston",), ("SVR",), repeats=4), store)
    assert [job["case"]["seeds"] for job in small_suite] == [[0, 1], [2, 3]]
    assert len(store.read("regression", "boston", "SVR")["draws"]) == 4


def test_a_fit_over_the_limit_is_tried_again_with_more_time_only(tmp_path, monkeypatch):
    limits = []

    def run_job(job):
        limits.append(job["limit"])
        return {**job, "status": "over limit", "draws": [], "stopped_at": 0}

    monkeypatch.setattr(suite, "run_job", run_job)
    monkeypatch.setitem(
        PROBLEMS, "boston", Problem("boston", "regression", lambda seed: None, "", n_draws=20)
    )
    store = Store(tmp_path)
    for limit in (5.0, 5.0, 9.0):
        suite.run(suite.Request(("regression",), ("boston",), ("SVR",), limit=limit), store)
    assert limits == [5.0, 9.0]


def test_what_is_not_there_is_left_out(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("RELVEC_DATA", raising=False)
    absent = Method("fastrvm", "regression", "no_such_package", fake_regression(0.0), "")
    monkeypatch.setitem(fits.METHODS["regression"], "fastrvm", absent)
    request = suite.Request(("regression",), ("uci_yacht", "friedman1"), ("fastrvm",))
    suite.run(request, Store(tmp_path))
    said = capsys.readouterr().err
    assert "left out: uci_yacht; they need --data FOLDER or RELVEC_DATA" in said
    assert "not installed, left out: fastrvm" in said
    assert list(Store(tmp_path).records()) == []


def test_names_belong_to_their_suite(capsys):
    assert command.parse(["accuracy"]).parts == ("regression", "classification")
    assert command.parse(["accuracy"]).limit == suite.LIMIT
    assert command.parse(["regression"]).limit == command.LIMIT
    for wrong in (
        ["accuracy", "--problems", "sinc100"],
        ["regression", "--problems", "pima"],
        ["accuracy", "--methods", "relvec fast"],
        ["accuracy", "--parts", "speed"],
    ):
        with pytest.raises(SystemExit):
            command.parse(wrong)
        assert "unknown" in capsys.readouterr().err


def test_quick_cases_are_there():
    for part, names in suite.QUICK.items():
        assert set(names) <= {problem.name for problem in problems_of(part)}
    assert suite.folder_of(None, True) != suite.folder_of(None, False)
