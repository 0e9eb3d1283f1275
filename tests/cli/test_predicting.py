"""`relvec predict` and `relvec score`."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import relvec.io
from relvec import RVMClassifier, RVMRegressor
from relvec.cli.limits import Limits


@pytest.fixture
def predicted(cli, folder):
    """Predict a table with the model of houses; return the predictions as a table."""

    def run(table, *options, model="houses", **more):
        result = cli("predict", folder / f"{model}.relvec", table, *options, **more)
        assert result.exit_code == 0, result.output
        return pl.read_csv(io.StringIO(result.stdout))

    return run


@pytest.fixture
def expected(folder):
    """Predictions of the pipeline in Python."""
    model = relvec.io.load(folder / "houses.relvec")
    return model.predict(pl.read_csv(folder / "new.csv"), return_std=True)


def test_predictions_are_those_of_the_pipeline(predicted, folder, expected):
    answer = predicted(folder / "new.csv", "--std", "--interval", "0.9")
    mean, std = expected
    assert answer.columns == ["price_predicted", "price_std", "price_lower", "price_upper"]
    assert np.allclose(answer["price_predicted"], mean)
    assert np.allclose(answer["price_std"], std)
    model = relvec.io.load(folder / "houses.relvec")
    inputs = model[:-1].transform(pl.read_csv(folder / "new.csv"))
    interval = model[-1].predict_interval(inputs, 0.9)
    assert np.allclose(answer["price_lower"], interval[:, 0])
    assert np.allclose(answer["price_upper"], interval[:, 1])


@pytest.mark.slow
@pytest.mark.parametrize("block", [1, 7, 60])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_blocks_do_not_matter(predicted, folder, tmp_path, expected, block, suffix):
    table, path = pl.read_csv(folder / "new.csv"), tmp_path / f"new.{suffix}"
    getattr(table, f"write_{'ndjson' if suffix == 'jsonl' else suffix}")(path)
    answer = predicted(path, obj=Limits(block_rows=block))
    assert np.allclose(answer["price_predicted"], expected[0])


def test_columns_are_found_by_name_in_any_order(predicted, folder, tmp_path, expected):
    table = pl.read_csv(folder / "new.csv")
    table.select(reversed(table.columns)).with_columns(more=pl.lit("x")).write_csv(
        tmp_path / "new.csv"
    )
    assert np.allclose(predicted(tmp_path / "new.csv")["price_predicted"], expected[0])


def test_extra_columns_are_named(cli, folder):
    result = cli("predict", folder / "houses.relvec", folder / "new.csv")
    assert result.stderr == "Columns not used by the model: 'id'.\n"
    quiet = cli("predict", folder / "houses.relvec", folder / "new.csv", "--quiet")
    assert quiet.stderr == ""


def test_keep_copies_the_columns_as_they_were(predicted, folder):
    table = pl.read_csv(folder / "new.csv")
    answer = predicted(folder / "new.csv", "--keep")
    assert answer.columns == [*table.columns, "price_predicted"]
    assert answer.select(table.columns).equals(table)


def test_keep_twice_replaces_the_prediction(cli, predicted, folder, tmp_path):
    first = tmp_path / "first.csv"
    assert (
        cli(
            "predict", folder / "houses.relvec", folder / "new.csv", "--keep", "-o", first
        ).exit_code
        == 0
    )
    assert predicted(first, "--keep").columns == pl.read_csv(first).columns


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "npy", "npz"])
def test_all_formats_are_written(cli, folder, tmp_path, expected, suffix):
    output = tmp_path / f"out.{suffix}"
    result = cli("predict", folder / "houses.relvec", folder / "new.csv", "--std", "-o", output)
    assert result.exit_code == 0, result.output
    match suffix:
        case "csv" | "tsv":
            found = pl.read_csv(output, separator="," if suffix == "csv" else "\t").to_numpy()
        case "jsonl":
            found = pl.read_ndjson(output).to_numpy()
        case "parquet":
            found = pl.read_parquet(output).to_numpy()
        case "npy":
            found = np.load(output)
        case "npz":
            arrays = np.load(output)
            found = np.column_stack([arrays["price_predicted"], arrays["price_std"]])
            arrays.close()
    assert np.allclose(found, np.column_stack(expected))
    assert [each.name for each in tmp_path.iterdir()] == [output.name]


def test_classes(predicted, folder):
    answer = predicted(folder / "flowers.csv", "--proba", model="flowers")
    names = [f"kind_proba_{kind}" for kind in ("iris", "rose", "tulip")]
    assert answer.columns == ["kind_predicted", *names]
    assert np.allclose(answer.select(names).to_numpy().sum(axis=1), 1.0)
    truth = pl.read_csv(folder / "flowers.csv")["kind"]
    assert (answer["kind_predicted"] == truth).mean() > 0.9


def test_classes_do_not_go_into_an_array_of_numbers(refused, folder, tmp_path):
    arguments = [folder / "flowers.relvec", folder / "flowers.csv", "-o", tmp_path / "a.npy"]
    assert "can store numbers only" in refused("predict", *arguments)
    assert not list(tmp_path.iterdir())


def test_json_describes_the_output(cli, folder, tmp_path):
    output = tmp_path / "out.csv"
    result = cli("predict", folder / "houses.relvec", folder / "new.csv", "-o", output, "--json")
    answer = json.loads(result.stdout)
    assert answer["rows"] == 60
    assert answer["columns"] == ["price_predicted"]


def test_new_categories_and_missing_values_are_noted(cli, folder, tmp_path):
    table = pl.read_csv(folder / "new.csv").with_columns(
        town=pl.when(pl.col("id") <= 3).then(pl.lit("Zwolle")).otherwise("town"),
        age=pl.when(pl.col("id") <= 2).then(None).otherwise("age"),
    )
    table.write_csv(tmp_path / "new.csv")
    result = cli("predict", folder / "houses.relvec", tmp_path / "new.csv")
    assert result.exit_code == 0
    assert "Categories of 'town' absent from the training rows: 'Zwolle' (3 rows)" in result.stderr
    assert "'age' is missing in 2 rows, but in no training row" in result.stderr
    assert "nan" not in result.stdout.lower()


@pytest.mark.slow
def test_a_pipe(folder):
    command = [sys.executable, "-m", "relvec", "predict", folder / "houses.relvec", "-"]
    text = (folder / "new.csv").read_text()
    ended = subprocess.run(
        [*command, "--output-format", "jsonl"], input=text, capture_output=True, text=True
    )
    assert ended.returncode == 0
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(lines) == 60
    assert set(lines[0]) == {"price_predicted"}


def test_an_existing_file_keeps_its_permissions(cli, folder, tmp_path):
    output = tmp_path / "out.csv"
    output.write_text("older")
    output.chmod(0o640)
    cli("predict", folder / "houses.relvec", folder / "new.csv", "-o", output)
    assert output.stat().st_mode & 0o777 == 0o640
    assert output.read_text().startswith("price_predicted\n")


# models that were not made by the command


@pytest.fixture
def bare(tmp_path):
    """A model saved from Python, without column names."""
    X = np.linspace(-3.0, 3.0, 40)[:, None]
    model = RVMRegressor(gamma=0.5).fit(X, np.sin(X[:, 0]))
    relvec.io.save(model, tmp_path / "bare.relvec")
    return model


def test_a_bare_model_takes_columns_by_position(cli, bare, tmp_path):
    (tmp_path / "t.csv").write_text("angle\n0.5\n1.5\n")
    result = cli("predict", tmp_path / "bare.relvec", tmp_path / "t.csv", "--std")
    assert result.exit_code == 0, result.output
    answer = pl.read_csv(io.StringIO(result.stdout))
    assert np.allclose(answer["target_predicted"], bare.predict([[0.5], [1.5]]))


def test_a_bare_model_needs_the_right_number_of_columns(refused, bare, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n0.5,1\n")
    assert "needs 1 columns" in refused("predict", tmp_path / "bare.relvec", tmp_path / "t.csv")


def test_a_bare_model_cannot_impute_missing_values(refused, bare, tmp_path):
    (tmp_path / "t.csv").write_text("a\n0.5\nNA\n")
    assert "has missing values" in refused("predict", tmp_path / "bare.relvec", tmp_path / "t.csv")


def test_a_model_with_column_names_needs_them(cli, refused, tmp_path):
    table = pl.DataFrame({"u": np.linspace(0, 1, 30), "v": np.linspace(1, 0, 30) ** 2})
    model = RVMClassifier(gamma=1.0).fit(table, np.arange(30) > 14)
    relvec.io.save(model, tmp_path / "m.relvec")
    table.select("v", "u").write_csv(tmp_path / "t.csv")
    result = cli("predict", tmp_path / "m.relvec", tmp_path / "t.csv", "--proba")
    assert result.exit_code == 0, result.output
    answer = pl.read_csv(io.StringIO(result.stdout))
    assert np.allclose(answer["target_proba_True"], model.predict_proba(table)[:, 1])
    table.select("v").write_csv(tmp_path / "t.csv")
    assert "'u'" in refused("predict", tmp_path / "m.relvec", tmp_path / "t.csv")


# scores


def test_score(cli, folder, expected):
    arguments = ["score", folder / "houses.relvec", folder / "new.csv", "--json"]
    result = cli(*arguments, obj=Limits(block_rows=7))
    scores = json.loads(result.stdout)["scores"]
    truth = pl.read_csv(folder / "new.csv")["price"].to_numpy()
    mean, std = expected
    assert scores["rmse"] == pytest.approx(np.sqrt(np.mean((truth - mean) ** 2)))
    assert scores["coverage"] == pytest.approx(np.mean(np.abs(truth - mean) < 1.95996 * std))
    table = pl.read_csv(folder / "new.csv")
    model = relvec.io.load(folder / "houses.relvec")
    density = model[-1].log_predictive_density(model[:-1].transform(table), truth)
    assert scores["mlpd"] == pytest.approx(density.mean())


def test_score_of_classes(cli, folder):
    from sklearn.metrics import log_loss

    result = cli("score", folder / "flowers.relvec", folder / "flowers.csv", "--json")
    scores = json.loads(result.stdout)["scores"]
    table = pl.read_csv(folder / "flowers.csv")
    proba = relvec.io.load(folder / "flowers.relvec").predict_proba(table)
    assert scores["log_loss"] == pytest.approx(log_loss(table["kind"].to_list(), proba))
    assert scores["error_rate"] == pytest.approx(1.0 - scores["accuracy"])


def test_score_with_missing_targets_and_another_name(cli, folder, tmp_path):
    table = pl.read_csv(folder / "new.csv").rename({"price": "paid"})
    table.with_columns(paid=pl.when(pl.col("id") > 5).then("paid")).write_csv(tmp_path / "t.csv")
    score = ["score", folder / "houses.relvec", tmp_path / "t.csv", "--target", "paid"]
    result = cli(*score)
    assert "5 of 60 rows are not used: 'paid' is missing" in result.stderr
    assert "RMSE" in result.stdout


@pytest.mark.parametrize("labels", [[0, 1], [False, True], ["no", "yes"]])
def test_score_of_a_bare_classifier(cli, tmp_path, labels):
    x = np.linspace(-2.0, 2.0, 40)
    truth = np.array(labels)[(x > 0.1).astype(int)]
    model = RVMClassifier(gamma=1.0).fit(x[:, None], truth)
    relvec.io.save(model, tmp_path / "m.relvec")
    text = [f"{a},{b}" for a, b in zip(x, truth, strict=True)]
    (tmp_path / "t.csv").write_text("x,label\n" + "\n".join(text) + "\n")
    result = cli("score", tmp_path / "m.relvec", tmp_path / "t.csv", "-t", "label", "--json")
    assert result.exit_code == 0, result.output
    accuracy = model.score(x[:, None], truth)
    assert json.loads(result.stdout)["scores"]["accuracy"] == pytest.approx(accuracy)


def test_score_of_a_new_class(cli, folder, tmp_path):
    table = pl.read_csv(folder / "flowers.csv").with_columns(kind=pl.lit("lily"))
    table.write_csv(tmp_path / "t.csv")
    result = cli("score", folder / "flowers.relvec", tmp_path / "t.csv", "--json")
    scores = json.loads(result.stdout)["scores"]
    assert scores["error_rate"] == 1.0
    assert scores["log_loss"] > 30.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "values"), [(["True", "False"], [True, False]), (["1.0", "2.0"], [1, 2])]
)
def test_labels_are_the_same_from_all_formats(cli, fit_model, tmp_path, text, values):
    x = np.linspace(-1.0, 1.0, 40)
    train = pl.DataFrame({"x": x, "y": np.where(x > 0.1, *text)})
    train.write_csv(tmp_path / "train.csv")
    fit_model(tmp_path / "train.csv", "y", tmp_path / "m.relvec", "--task", "classification")
    test = pl.DataFrame({"x": x, "y": np.where(x > 0.1, *values)})
    test.write_parquet(tmp_path / "test.parquet")
    answers = [
        json.loads(cli("score", tmp_path / "m.relvec", tmp_path / name, "--json").stdout)["scores"]
        for name in ("train.csv", "test.parquet")
    ]
    assert answers[0] == answers[1]
    assert answers[0]["accuracy"] > 0.9


def test_new_classes_are_named(cli, folder, tmp_path):
    loud = pl.col("kind").str.to_uppercase()
    pl.read_csv(folder / "flowers.csv").with_columns(loud).write_csv(tmp_path / "t.csv")
    result = cli("score", folder / "flowers.relvec", tmp_path / "t.csv")
    assert "90 rows have a 'kind' that is not a class of the model: 'IRIS'" in result.stderr
    assert "Its classes are 'iris', 'rose', 'tulip'" in result.stderr


@pytest.mark.slow
def test_extrapolation_is_flagged(cli, folder, tmp_path):
    model = tmp_path / "kernels.relvec"
    options = ("-t", "price", "-o", model, "--no-cv", "--model", "rvm", "-q")
    assert cli("fit", folder / "houses.csv", *options).exit_code == 0
    far = pl.read_csv(folder / "new.csv").with_columns(area=pl.col("area") * 1000)
    far.write_csv(tmp_path / "far.csv")
    shares = []
    for table in (folder / "new.csv", tmp_path / "far.csv"):
        result = cli("predict", model, table, "--flag-extrapolation")
        assert result.exit_code == 0, result.output
        answer = pl.read_csv(io.StringIO(result.stdout))
        assert answer.columns == ["price_predicted", "extrapolating"]
        shares.append(answer["extrapolating"])
    assert shares[0].is_between(0.0, 1.0).all()
    assert shares[0].median() < 0.5
    assert (shares[1] > 0.99).all()


@pytest.mark.slow
def test_extrapolation_is_flagged_for_classes(cli, folder, tmp_path):
    model, near = tmp_path / "kernels.relvec", folder / "flowers.csv"
    options = ("-t", "kind", "-o", model, "--no-cv", "--model", "rvm", "-q")
    assert cli("fit", near, *options).exit_code == 0
    table = pl.read_csv(near)
    numbers = [name for name in table.columns if table[name].dtype.is_numeric()]
    table.with_columns(pl.col(numbers) + 1e6).write_csv(tmp_path / "far.csv")
    shares = []
    for path in (near, tmp_path / "far.csv"):
        result = cli("predict", model, path, "--proba", "--flag-extrapolation")
        assert result.exit_code == 0, result.output
        answer = pl.read_csv(io.StringIO(result.stdout))
        shares.append(answer["extrapolating"])
    assert (shares[0] < 0.01).all()
    assert (shares[1] > 0.99).all()
    probability = answer.select(pl.selectors.float()).drop("extrapolating")
    expected = table["kind"].value_counts(sort=False).sort("kind")["count"] / len(table)
    np.testing.assert_allclose(probability.to_numpy()[0], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("model", "table"), [("houses.relvec", "new.csv"), ("flowers.relvec", "flowers.csv")]
)
def test_models_without_an_extrapolation_flag(refused, folder, model, table):
    arguments = (folder / model, folder / table, "--flag-extrapolation")
    message = refused("predict", *arguments, code=2)
    assert "needs a model with kernels that decay with distance" in message
