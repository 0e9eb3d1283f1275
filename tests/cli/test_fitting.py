"""`relvec fit` from a table to a model file."""

from __future__ import annotations

import json

import numpy as np
import pandas
import polars as pl
import pytest

import relvec.io
from relvec.cli.console import CommandConsole
from relvec.cli.encoding import build_pipeline
from relvec.cli.kinds import Column
from relvec.cli.models import make_model
from relvec.cli.problem import Problem, define_problem
from relvec.cli.sources import Source
from relvec.cli.subsampling import draw_rows
from relvec.cli.validation import compute_permutation_importance, cross_validate, make_folds

SOURCE = Source("table.csv", "csv")


def state(frame, console=None, *, target, max_rows=50_000, seed=0, **options):
    rows = draw_rows([frame], SOURCE, target=target, max_rows=max_rows, seed=seed)
    return define_problem(
        rows, SOURCE, console or CommandConsole(quiet=True), target=target, **options
    )


@pytest.fixture(scope="module")
def answer(folder, tmp_path_factory):
    """JSON output of a fit with cross-validation."""
    from typer.testing import CliRunner

    from relvec.cli.app import app

    output = tmp_path_factory.mktemp("fit") / "m.relvec"
    table = str(folder / "houses.csv")
    arguments = ["fit", table, "-t", "price", "-o", str(output), "--folds", "3", "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.slow
def test_json_has_the_baselines_on_the_same_folds(answer):
    results = answer["cross_validation"]["models"]
    assert set(results) == {"linear", "rvm", "mean", "ridge"}
    rmse = {name: found["rmse"]["mean"] for name, found in results.items()}
    assert answer["model"] == "rvm"
    assert rmse["rvm"] < 0.7 * rmse["ridge"] < 0.4 * rmse["mean"]
    assert 8.0 < answer["noise_std"] < 12.0
    assert results["rvm"]["coverage"]["mean"] > 0.85


def test_json_has_permutation_importances(answer):
    ranked = list(answer["permutation_importance"])
    assert ranked[0] == "area"
    assert set(ranked[:3]) == {"area", "town", "age"}
    assert answer["permutation_importance"]["area"] > 10 * abs(
        answer["permutation_importance"]["door_number"]
    )


def test_json_has_the_dropped_columns(answer):
    assert [each["name"] for each in answer["dropped"]] == ["id"]
    assert any("'rooms': 6 of 120 values are missing" in note for note in answer["notes"])


def test_the_file_stores_the_results(answer):
    about = relvec.io.inspect(answer["output"]).about
    for fact in (
        *("target", "task", "rows", "columns", "cross_validation"),
        *("permutation_importance", "model"),
    ):
        assert about[fact] == answer[fact]


def test_the_file_is_a_pipeline_of_any_data_frame(answer, folder):
    model = relvec.io.load(answer["output"])
    columns = [each["name"] for each in answer["columns"]]
    table = pl.read_csv(folder / "new.csv")
    by_polars = model.predict(table.select(columns[::-1]))
    by_pandas = model.predict(pandas.read_csv(folder / "new.csv"))
    assert np.allclose(by_polars, by_pandas)


@pytest.mark.slow
def test_the_summary(cli, folder, tmp_path):
    output = tmp_path / "m.relvec"
    fit = ["fit", folder / "flowers.csv", "-t", "kind", "-o", output, "--model", "linear"]
    result = cli(*fit, "--folds", "3")
    assert result.exit_code == 0
    for words in (
        "kind (3 classes)",
        "log loss",
        "logistic",
        "class prior",
        "calibration",
        "saved",
    ):
        assert words in result.stdout
    assert len(result.stdout.splitlines()) < 30
    assert output.exists()


@pytest.mark.slow
def test_quiet_prints_nothing_and_json_is_one_object(cli, folder, tmp_path):
    fit = ["fit", folder / "flowers.csv", "-t", "kind", "-o", tmp_path / "m.relvec"]
    fit += ["--model", "linear", "--no-cv", "--quiet"]
    assert cli(*fit).output == ""
    assert json.loads(cli(*fit, "--json").output)["classes"] == ["iris", "rose", "tulip"]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_model(cli, folder, tmp_path):
    answers = []
    options = ["--model", "linear", "--folds", 2, "--json", "--seed", 3]
    for name in ("a", "b"):
        fit = ["fit", folder / "flowers.csv", "-t", "kind", "-o", tmp_path / f"{name}.relvec"]
        answers.append(json.loads(cli(*fit, *options).stdout))
    for answer in answers:
        del answer["output"], answer["bytes"]
    assert answers[0] == answers[1]


@pytest.mark.slow
def test_the_model_select(cli, folder, tmp_path):
    fit = ["fit", folder / "houses.csv", "-t", "price", "-o", tmp_path / "m.relvec"]
    answer = json.loads(cli(*fit, "--model", "select", "--no-cv", "--json", "-q").stdout)
    assert answer["model"] == "select"
    assert answer["permutation_importance"]["door_number"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl", "npz"])
def test_all_formats_give_the_same_model(cli, folder, tmp_path, suffix):
    table = pl.read_csv(folder / "flowers.csv")
    path = tmp_path / f"t.{suffix}"
    match suffix:
        case "csv" | "tsv":
            table.write_csv(path, separator="," if suffix == "csv" else "\t")
        case "parquet":
            table.write_parquet(path)
        case "jsonl":
            table.write_ndjson(path)
        case "npz":
            arrays = {name: table[name].to_numpy() for name in table.columns}
            np.savez(path, **arrays | {"kind": arrays["kind"].astype(str)})
    fit = ["fit", path, "-t", "kind", "-o", tmp_path / "m.relvec", "--no-cv", "--model", "linear"]
    assert cli(*fit, "-q").exit_code == 0
    expected = relvec.io.load(folder / "flowers.relvec").predict_proba(table)
    assert np.allclose(relvec.io.load(tmp_path / "m.relvec").predict_proba(table), expected)


def test_a_matrix_has_numbered_columns(cli, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    np.save(tmp_path / "a.npy", np.column_stack([X, X @ [1.0, 2.0, 0.0]]))
    fit = ["fit", tmp_path / "a.npy", "-t", "x3", "-o", tmp_path / "m.relvec", "--no-cv", "--json"]
    answer = json.loads(cli(*fit, "--model", "linear").stdout)
    assert [each["name"] for each in answer["columns"]] == ["x0", "x1", "x2"]


def test_standard_input_with_semicolons_and_decimal_commas(cli, tmp_path):
    lines = [f"{i % 9},5;{(i % 9) * 2},25;{'ab'[i % 2]}" for i in range(40)]
    text = "\ufeffx;y;z\n" + "\n".join(lines) + "\n"
    fit = ["fit", "-", "-t", "y", "-o", tmp_path / "m.relvec", "--no-cv", "--model", "linear"]
    result = cli(
        *fit, "--delimiter", ";", "--decimal-comma", "--json", "--task", "regression", input=text
    )
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["columns"][0] == {"name": "x", "kind": "number", "missing": 0}


# task, rows and columns


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["yes", "no"] * 10, "classification"),
        ([True, False] * 10, "classification"),
        ([1, 2, 3, 4] * 5, "classification"),
        ([0.5, 2.5] * 10, "classification"),
        (list(range(20)), "regression"),
        ([0.5, 1.5, 2.5, 4.0] * 5, "regression"),
        (["1", "2.5", "3", "4"] * 5, "regression"),
    ],
)
def test_the_task_follows_from_the_target(values, task):
    frame = pl.DataFrame({"x": np.random.default_rng(0).normal(size=20), "y": values})
    assert state(frame, target="y").task == task


def test_codes_may_be_quantities():
    frame = pl.DataFrame({"x": np.arange(20) * 1.5, "y": [1, 2, 3, 4] * 5})
    console = CommandConsole(quiet=True)
    assert state(frame, console, target="y").task == "classification"
    assert "--task regression" in console.notes[0]
    problem = state(frame, target="y", task="regression")
    assert problem.target.dtype == np.float64


def test_rows_without_a_target_are_counted():
    frame = pl.DataFrame({"x": [1.0, 2.0, 4.0] * 5, "y": [1.5, None, 2.5] * 5})
    console = CommandConsole(quiet=True)
    problem = state(frame, console, target="y", task="regression")
    assert problem.rows == {"read": 15, "without_target": 5, "not_used": 0, "used": 10}
    assert "5 of 15 rows are not used: 'y' is missing" in console.notes[0]


def test_many_rows_are_subsampled():
    frame = pl.DataFrame({"x": np.arange(1000) * 2.0, "y": np.arange(1000) / 7})
    console = CommandConsole(quiet=True)
    problem = state(frame, console, target="y", max_rows=100)
    assert problem.n_rows == len(problem.table) == 100
    assert np.allclose(problem.table["x"].to_numpy() / 14.0, problem.target)
    assert "100 of 1000 rows, drawn at random," in console.notes[0]
    assert state(frame, target="y", max_rows=0).n_rows == 1000


def test_features_and_drop():
    frame = pl.DataFrame(
        {name: np.random.default_rng(i).normal(size=9) for i, name in enumerate("abcy")}
    )
    chosen = state(frame, target="y", features=["b"])
    assert [each.name for each in chosen.columns] == ["b"]
    rest = state(frame, target="y", drop=["b"])
    assert [each.name for each in rest.columns] == ["a", "c"]


def test_codes_may_be_categories():
    frame = pl.DataFrame({"zip": [10, 20, 30] * 4, "y": np.arange(12.0) ** 2})
    (column,) = state(frame, target="y", categorical=["zip"]).columns
    assert (column.kind, sorted(column.categories)) == ("category", ["10", "20", "30"])


def test_pooled_categories_are_noted(cli, tmp_path):
    rng = np.random.default_rng(0)
    town = ["A"] * 20 + ["B"] * 18 + ["C", "D"]
    pl.DataFrame({"town": town, "y": rng.normal(size=40)}).write_csv(tmp_path / "t.csv")
    fit = ["fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.relvec", "--no-cv"]
    result = cli(*fit, "--model", "linear")
    assert "Rare categories of 'town' are pooled: 'C', 'D'." in result.stderr


def test_a_row_identifier_is_used_if_it_is_the_only_column():
    frame = pl.DataFrame({"t": np.arange(30), "y": np.sin(np.arange(30))})
    assert [each.name for each in state(frame, target="y").columns] == ["t"]


# cross-validation


class Watcher:
    """A regressor that stores its training data."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        Watcher.seen.append(np.array(X))
        self.is_fitted_ = True
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def get_params(self, deep=False):
        return {}

    def set_params(self):
        return self

    def __sklearn_tags__(self):
        from sklearn.linear_model import LinearRegression

        return LinearRegression().__sklearn_tags__()


def test_medians_and_categories_are_learnt_inside_the_folds():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=40)
    numbers[:10] = np.nan
    table = pl.DataFrame({"n": numbers, "l": ["a"] * 20 + ["b"] * 20})
    columns = [Column("n", "number", n_missing=10), Column("l", "category", ["a", "b"])]
    problem = Problem(
        table, rng.normal(size=40), "y", "regression", columns, [], {}, np.arange(1, 41)
    )
    folds = make_folds(problem, 4, 0)
    Watcher.seen = []
    cross_validate({"w": build_pipeline(columns, 40, Watcher())}, problem, folds)
    assert len(Watcher.seen) == 4
    for (train, _), seen in zip(folds, Watcher.seen, strict=True):
        median = np.nanmedian(numbers[train])
        assert np.allclose(seen[:, 0], np.where(np.isnan(numbers[train]), median, numbers[train]))


def test_a_column_may_be_missing_in_a_whole_fold():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"n": [1.0] + [None] * 19, "x": rng.normal(size=20), "y": rng.normal(size=20)}
    )
    problem = state(frame, target="y")
    pipeline = build_pipeline(problem.columns, 20, Watcher())
    results = cross_validate({"w": pipeline}, problem, make_folds(problem, 5, 0))
    assert len(results["w"].metrics) == 5


def test_a_class_may_have_fewer_rows_than_folds():
    labels = np.array(["a"] * 10 + ["b"] * 9 + ["c"])
    table = pl.DataFrame({"x": np.arange(20.0)})
    problem = Problem(
        table, labels, "y", "classification", [Column("x", "number")], [], {}, np.array([])
    )
    folds = make_folds(problem, 5, 0)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(20))


def test_a_model_without_basis_functions_is_noted(cli, tmp_path):
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60)})
    table.write_csv(tmp_path / "noise.csv")
    fit = ["fit", tmp_path / "noise.csv", "-t", "y", "-o", tmp_path / "m.relvec"]
    result = cli(*fit, "--model", "linear")
    assert "No basis function was selected" in result.stderr


def test_large_targets_are_not_missing():
    values = np.random.default_rng(3).normal(size=40)
    frame = pl.DataFrame({"x": values, "y": np.round(values * 1e20)})
    assert state(frame, target="y").rows["used"] == 40


def test_rows_are_not_drawn_with_the_random_numbers_of_the_user():
    """The user may have shuffled the rows with a generator of the same seed."""
    values = np.random.default_rng(0).choice(1000, 1000, replace=False) / 7.0
    frame = pl.DataFrame({"x": values, "y": values})
    chosen = np.isin(values, state(frame, target="y", max_rows=100).target)
    ours = np.random.default_rng(0).choice(1000, 100, replace=False)
    assert np.intersect1d(np.flatnonzero(chosen), ours).size < 30


def test_permutation_importance_uses_a_random_subset_of_rows():
    rng = np.random.default_rng(1)
    x = np.sort(rng.normal(size=1200))
    table, target = pl.DataFrame({"x": x, "junk": rng.normal(size=1200)}), 3.0 * x
    columns = [Column("x", "number"), Column("junk", "number")]
    fitted = build_pipeline(columns, 1200, make_model("linear", "regression", 1200, 0))
    importance = compute_permutation_importance(fitted.fit(table, target), table, target, 0)
    # permuting x gives an error of sqrt(2) times its standard deviation
    assert importance["x"] == pytest.approx(3.0 * np.sqrt(2.0) * np.std(x), rel=0.15)
    assert importance["junk"] == 0.0


@pytest.mark.slow
def test_classes_of_few_rows_are_named(cli, tmp_path):
    rows = ["x,y", *(f"{i % 9}.5,{'odd' if i == 3 else 'even'}" for i in range(30))]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    result = cli("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m", "--model", "linear")
    assert result.exit_code == 0
    assert "fewer than 5 rows: 'odd'" in result.stderr


@pytest.mark.parametrize("rows", ["3", "-1"])
def test_max_rows_has_a_minimum(refused, folder, tmp_path, rows):
    arguments = ["fit", folder / "houses.csv", "-t", "price", "-o", tmp_path / "m"]
    assert "--max-rows must be" in refused(*arguments, "--max-rows", rows, code=2)


@pytest.mark.parametrize("option", ["--drop", "--categorical"])
def test_the_target_is_not_a_feature(refused, folder, tmp_path, option):
    arguments = ["fit", folder / "houses.csv", "-t", "price", "-o", tmp_path / "m"]
    assert "is the target" in refused(*arguments, option, "price", code=2)


@pytest.mark.parametrize("times", [1, 3])
def test_duplicate_rows_are_noted(times):
    values = np.random.default_rng(0).normal(size=(30, 2))
    frame = pl.concat([pl.DataFrame({"x": values[:, 0], "y": values[:, 1]})] * times)
    console = CommandConsole(quiet=True)
    state(frame, console, target="y")
    assert any("60 of 90 rows are duplicates" in note for note in console.notes) == (times == 3)


def test_rows_of_counts_may_be_equal():
    frame = pl.DataFrame({"x": [1, 2, 3] * 20, "y": ["a", "b"] * 30})
    console = CommandConsole(quiet=True)
    state(frame, console, target="y")
    assert not any("duplicates" in note for note in console.notes)
