"""What README, start page and guide claim in figures, computed by the calls a user would make.

What a page prints is compared by ``test_readme.py``, what an example prints by
``test_docs_examples.py``. Here are the figures in sentences, captions and tables. They are read
from the page, so that neither it nor the test can change alone. Seeds are not those of the pages.
Figures of speed and of peers are looked up in the committed tables of ``bench``.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import RVMClassifier, RVMRegressor
from relvec.datasets import make_friedman
from relvec.denoising import DenoisingTuning
from relvec.error_bars import PivotTuning
from relvec.estimators._plan import PlanTuning
from relvec.io import export_c
from relvec.learning import LengthScaleTuning
from relvec.learning.label_process import LabelProcess
from relvec.learning.length_scales import compute_feature_penalty
from relvec.learning.prior_process import PriorProcessTuning
from relvec.learning.process import Process
from relvec.moments import Storage
from relvec.noise.tuning import NoiseTuning
from tests.helpers_claims import GUIDE, README, START, claimed, mean_of, table
from tests.helpers_docs import ROOT

# ------------------------------------------------------------------------------------- README


@pytest.mark.slow
def test_diabetes_picture_and_start_page_say_the_same() -> None:
    data = load_diabetes(scaled=False)
    X, X_test, y, y_test = train_test_split(data.data, data.target, random_state=1)
    kept, rows, tested, inside = claimed(
        README, r"keeps # of # patients;.*?Right: # test patients, # of them inside their 95 %"
    )
    assert (rows, tested) == (len(y), len(y_test))
    model = RVMRegressor().fit(X, y)
    assert len(model.relevance_vectors_) == pytest.approx(kept, abs=1)
    assert claimed(START, "# of # patients are kept") == [kept, rows]
    lower, upper = model.predict_interval(X_test).T
    covered = np.count_nonzero((lower <= y_test) & (y_test <= upper))
    assert covered == pytest.approx(inside, abs=1)
    (share,) = claimed(START, r"#% of held-out patients are inside")
    assert share == pytest.approx(100.0 * inside / tested, abs=1.0)
    (theirs,) = claimed(START, "ridge regression reaches an R² of # on the same patients")
    ridge = make_pipeline(StandardScaler(), RidgeCV()).fit(X, y)
    assert ridge.score(X_test, y_test) == pytest.approx(theirs, abs=0.01)
    assert model.score(X_test, y_test) > ridge.score(X_test, y_test) - 0.02
    assert claimed(START, "# patients, ten measurements each") == [len(data.target)]
    assert data.data.shape[1] == 10


def test_ten_lines_are_ten() -> None:
    code = README.read_text("utf-8").split("```python\n")[1].split("```")[0]
    assert len([line for line in code.splitlines() if line.strip()]) == 10


@pytest.mark.parametrize("seed", range(1, 5))
def test_far_from_the_data_the_band_of_the_ten_lines_covers_the_curve(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10, 10, size=(100, 1))
    y = np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=100)
    model = RVMRegressor().fit(X, y)
    x = np.array([[0.0], [12.0], [30.0]])
    lower, upper = model.predict_interval(x).T
    truth = np.sinc(x[:, 0] / np.pi)
    assert ((lower <= truth) & (truth <= upper)).all()
    mean, std = model.predict(x, return_std=True)
    assert abs(mean[2] - y.mean()) < 0.5
    assert std[2] > 2.0 * std[0]
    assert std[2] == pytest.approx(y.std(), rel=0.3)  # "as wide as the targets are spread"
    assert len(model.relevance_) < 10


@pytest.mark.skipif(not (shutil.which("cc") and shutil.which("size")), reason="needs a C compiler")
@pytest.mark.slow
def test_size_of_the_ten_lines_in_c(tmp_path: Path) -> None:
    (kilobytes,) = claimed(README, "the model of the ten lines above compiles to # kB")
    rng = np.random.default_rng(0)  # that of the page
    X = rng.uniform(-10, 10, size=(100, 1))
    model = RVMRegressor().fit(X, np.sinc(X[:, 0] / np.pi) + 0.1 * rng.normal(size=100))
    (tmp_path / "model.c").write_text(export_c(model, name="model"), "utf-8")
    subprocess.run(["cc", "-Os", "-c", "model.c"], cwd=tmp_path, check=True)
    run = subprocess.run(["size", "model.o"], cwd=tmp_path, check=True, capture_output=True)
    text, data, empty = (int(cell) for cell in run.stdout.split(b"\n")[1].split()[:3])
    assert (text + data + empty) / 1000 < kilobytes + 0.5


def test_counts_of_the_readme() -> None:
    text = " ".join(README.read_text("utf-8").split())
    (count,) = claimed(README, r"documentation of (\w+) implementations")
    names = re.search(r"ran what runs: (.*?) \(November", text)
    assert names
    assert len(re.split(r", | and ", names[1])) == count
    reached, printed, missed = claimed(README, r"# of # printed figures.*?of the # misses")
    total = re.search(
        r"^\| all \|  \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|",
        (ROOT / "reproduce" / "RESULTS.md").read_text("utf-8"),
        re.MULTILINE,
    )
    assert total
    figures, reproduced, better, not_reproduced = map(int, total.groups())
    assert (reached, printed, missed) == (reproduced + better, figures, not_reproduced)
    python, learn = claimed(README, "need Python # or newer, NumPy, SciPy and scikit-learn ≥ #;")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["requires-python"] == f">={python}"
    assert f"scikit-learn>={learn}" in project["dependencies"]
    (names,) = re.findall(r"the extras (.*?) add ", text)
    extras = project["optional-dependencies"]
    assert set(re.findall(r"`(\w+)`", names)) == set(re.findall(r"\w+", extras["all"][0])) - {
        "relvec"
    }


def test_benchmarks_say_what_the_readme_says_of_them() -> None:
    low, high = claimed(README, r"keeps (\w+) to (\w+) times the vectors")
    rows = table("classification-digits", "Digits")
    ours = [row for name, row in rows.items() if name.startswith("relvec")]
    svc = rows["SVC + Platt"]
    assert min(mean_of(row[2]) for row in ours) > mean_of(svc[2])
    ratios = [mean_of(svc[5]) / mean_of(row[5]) for row in ours]
    assert [round(min(ratios)), round(max(ratios))] == [low, high]
    genes = table("features-genes", "Leukaemia, columns")
    for peer in ("linear SVC", "L1 logistic"):
        assert mean_of(genes[peer][1]) < mean_of(genes["PFCVM"][1])


# --------------------------------------------------------------------------------- start page


def test_logistic_regression_on_the_tumours_of_the_start() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    assert claimed(START, r"Thirty measurements of # breast tumours") == [len(y)]
    assert X.shape[1] == 30
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    wrong, tested = claimed(START, r"Logistic regression errs about as often \(# of #\)")
    logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    assert np.sum(logistic.predict(X_test) != y_test) == wrong
    assert len(y_test) == tested


@pytest.mark.slow
def test_refused_tumours_hold_most_errors_on_other_splits() -> None:
    splits, left, wrong = claimed(START, r"on (\w+) such splits together # of #")
    data, kinds = load_breast_cancer(return_X_y=True)
    n_wrong = n_left = 0
    for split in range(int(splits)):
        X, X_test, y, y_test = train_test_split(data, kinds, random_state=split)
        classifier = RVMClassifier().fit(X, y)
        is_wrong = classifier.predict(X_test) != y_test
        wary = classifier.decide(X_test, 1.0 - np.eye(2), reject_cost=0.1)
        n_wrong += is_wrong.sum()
        n_left += is_wrong[~wary.is_rejected].sum()
    assert n_wrong == pytest.approx(wrong, abs=3)
    assert n_left == pytest.approx(left, abs=2)


# ---------------------------------------------------------------------- numbers in the guide

LEARNING, PIVOTS, PLAN = LengthScaleTuning(), PivotTuning(), PlanTuning()
TILES, NOISE = DenoisingTuning(), NoiseTuning()


@pytest.mark.parametrize(
    ("page", "pattern", "actual"),
    [
        ("choosing", r"at most # rows \(# for class labels\)\. Beyond # features", (500, 300, 100)),
        ("features", r"on at most # rows \(# for labels\) that differ", (500, 300)),
        ("features", r"uses, at most # or #, and to", (500, 300)),
        ("features", r"With more than # features, many correlate", (LEARNING.many_features,)),
        ("features", r"at most # of those that do not matter", (LEARNING.expected_nulls,)),
        (
            "features",
            r"\(standard deviation about #\)",
            (round(LEARNING.log_scale_precision**-0.5),),
        ),
        ("error_bars", r"with more than # features length-scales", (LEARNING.many_features,)),
        ("error_bars", r"at most # inputs \|", (PIVOTS.max_pivots,)),
        ("error_bars", r"with fewer than (\w+) different rows", (PLAN.min_held_out_rows,)),
        ("error_bars", r"(\w+) models, each fitted without a fifth", (PLAN.folds,)),
        ("denoising", r"for images of # × # pixels", (NOISE.min_patch_pixels**0.5,) * 2),
        ("denoising", r"Below # samples the estimate is marked weak", (NOISE.min_samples,)),
        (
            "denoising",
            r"more than # pixels or # voxels",
            (1.5 * TILES.tile_side(2), 1.5 * TILES.tile_side(3)),
        ),
    ],
)
def test_numbers_of_the_guide_are_those_of_the_code(
    page: str, pattern: str, actual: tuple[float, ...]
) -> None:
    assert tuple(claimed(GUIDE / f"{page}.md", pattern)) == actual


def test_rows_on_which_scales_are_learnt() -> None:
    assert (Process.max_rows, LabelProcess.max_rows, LEARNING.many_features) == (500, 300, 100)
    assert Storage().store_bytes == 1 << 30
    assert "stored up to one gigabyte" in (GUIDE / "data.md").read_text("utf-8")


def test_numbers_of_the_command_line() -> None:
    limits = pytest.importorskip("relvec.cli.limits").LIMITS
    page = GUIDE / "command_line.md"
    assert claimed(page, r"A table of more than # rows is subsampled") == [limits.max_rows]
    assert claimed(page, r"whole numbers of at most (\w+) values") == [limits.max_class_codes]


@pytest.mark.slow
def test_held_out_rows_of_the_command_line_are_harder_than_promised() -> None:
    text = (GUIDE / "command_line.md").read_text("utf-8")
    assert "the 95 % intervals cover only 88 % of them" in " ".join(text.split())
    data = load_diabetes(scaled=False)
    is_test = np.arange(len(data.target)) % 4 == 0
    model = RVMRegressor().fit(data.data[~is_test], data.target[~is_test])
    lower, upper = model.predict_interval(data.data[is_test]).T
    inside = np.mean((lower <= data.target[is_test]) & (data.target[is_test] <= upper))
    assert 0.84 < inside < 0.94


def test_floor_of_the_error_bars_is_the_end_of_a_confidence_region() -> None:
    pattern = r"the # % confidence region.*?(\w+) at most: # nats for one, # for five"
    level, most, one, five = claimed(GUIDE / "error_bars.md", pattern)
    tuning = PriorProcessTuning()
    assert (tuning.confidence, tuning.most_free) == (level / 100.0, most)
    assert 0.5 * chi2.ppf(level / 100.0, 1) == pytest.approx(one, abs=0.05)
    assert 0.5 * chi2.ppf(level / 100.0, 5) == pytest.approx(five, abs=0.05)


def test_probability_of_an_input_that_brings_nothing() -> None:
    (most,) = claimed(
        GUIDE / "features.md", r"more than a third if there are (\w+) features or fewer"
    )
    least = min(
        1.0 / (1.0 + np.exp(compute_feature_penalty("auto", n))) for n in range(1, int(most) + 1)
    )
    assert least > 1.0 / 3.0


# --------------------------------------------------------------- is the fit any good? (choosing)


@pytest.fixture(scope="module")
def standardised() -> Callable[..., np.ndarray]:
    """Check 3 of the page, as it stands there."""
    text = (GUIDE / "choosing.md").read_text("utf-8")
    code = re.search(r"^def standardised.*?return z\n", text, re.MULTILINE | re.DOTALL)
    assert code
    names: dict[str, Any] = {"np": np, "clone": clone, "KFold": KFold}
    exec(code[0], names)
    check: Callable[..., np.ndarray] = names["standardised"]
    return check


def limits_of_check(n_rows: int) -> tuple[float, float]:
    """Least coverage and largest mean squared score that chance explains, as the page has them."""
    return 0.95 - 2.0 * np.sqrt(0.95 * 0.05 / n_rows), 1.0 + 2.0 * np.sqrt(2.0 / n_rows)


def test_limits_of_check_three() -> None:
    pattern = r"with # rows, a coverage below # % and a mean z² outside # to # are"
    n_rows, coverage, low, high = claimed(GUIDE / "choosing.md", pattern)
    least, most = limits_of_check(int(n_rows))
    assert 100.0 * least == pytest.approx(coverage, abs=0.5)
    assert most == pytest.approx(high, abs=0.006)
    assert 2.0 - most == pytest.approx(low, abs=0.006)


@pytest.mark.slow
def test_check_three_fails_where_it_should(standardised: Callable[..., np.ndarray]) -> None:
    least, most = limits_of_check(200)
    is_bad: dict[str, list[bool]] = {}
    for seed in (400, 401, 402):
        X, y = make_friedman(1, n_samples=200, random_state=seed)
        for name, model in {
            "default": RVMRegressor(),
            "half of the noise": RVMRegressor(noise_variance=0.5),
            "fits the noise": RVMRegressor(gamma=0.5, calibrate=False),
        }.items():
            z = standardised(model, X, y)
            failed = np.mean(np.abs(z) < 1.96) < least or np.mean(z**2) > most
            is_bad.setdefault(name, []).append(bool(failed))
    assert all(is_bad["half of the noise"])
    assert all(is_bad["fits the noise"])
    assert sum(is_bad["default"]) <= 1


@pytest.mark.slow
def test_leave_one_out_cannot_take_its_place() -> None:
    pattern = r"on # rows of Friedman's .*?mean z² is #, while .*?mean z² is # and .*?cover # %"
    n_rows, own, new, covered = claimed(GUIDE / "choosing.md", pattern)
    found = []
    for seed in range(500, 505):
        X, y, truth = make_friedman(1, n_samples=int(n_rows), random_state=seed, return_truth=True)
        X_new, y_new = truth.sample(1000, random_state=seed)
        model = RVMRegressor(gamma=0.5, calibrate=False).fit(X, y)
        mean, std = model.leave_one_out(X, y)
        left_out = np.mean(((y - mean) / std) ** 2)
        mean, std = model.predict(X_new, return_std=True)
        z = (y_new - mean) / std
        found.append((left_out, np.mean(z**2), 100.0 * np.mean(np.abs(z) < 1.96)))
    averages = np.mean(found, axis=0)
    assert averages[0] == pytest.approx(own, abs=0.1)
    assert averages[1] == pytest.approx(new, abs=0.35)
    assert averages[2] == pytest.approx(covered, abs=4.0)
