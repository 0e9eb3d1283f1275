"""`relvec inspect`, `compare`, `denoise`, `export` and `demo`."""

from __future__ import annotations

import importlib.util
import io
import json
import re
import warnings

import numpy as np
import polars as pl
import pytest

import relvec.io
from relvec import RVMRegressor
from relvec.cli.console import run_command
from relvec.cli.demonstrating import COMMANDS
from relvec.cli.limits import Limits

# inspect


def test_inspect_shows_the_model_and_its_columns(cli, folder):
    text = cli("inspect", folder / "houses.relvec").stdout
    for words in ("SparseBayesRegressor", "Regression of price", "area", "Astad, Belmo, Cerny"):
        assert words in text


def test_inspect_lists_terms_by_the_names_of_columns(cli, folder):
    answer = json.loads(cli("inspect", folder / "houses.relvec", "--vectors", "--json").stdout)
    model = relvec.io.load(folder / "houses.relvec")[-1]
    assert answer["vectors"]["weight"] == pytest.approx(model.coef_.tolist())
    assert "area" in answer["vectors"]["term"]
    assert any(term.startswith("town = ") for term in answer["vectors"]["term"])
    assert answer["fitted"]["noise_variance"] == pytest.approx(model.noise_variance_)
    assert "term" in cli("inspect", folder / "houses.relvec", "--vectors").stdout


def test_inspect_lists_vectors(cli, tmp_path):
    X = np.linspace(-3.0, 3.0, 40)[:, None]
    model = RVMRegressor(gamma=0.5).fit(X, np.sin(X[:, 0]))
    relvec.io.save(model, tmp_path / "m.relvec")
    answer = json.loads(cli("inspect", tmp_path / "m.relvec", "--vectors", "--json").stdout)
    assert answer["vectors"]["x0"] == pytest.approx(model.relevance_vectors_[:, 0].tolist())
    text = cli("inspect", tmp_path / "m.relvec", "--vectors").stdout
    assert "RVMRegressor" in text
    assert "weight" in text


def test_inspect_lists_a_weight_for_each_class(cli, folder):
    answer = json.loads(cli("inspect", folder / "flowers.relvec", "--vectors", "--json").stdout)
    assert {"weight of iris", "weight of rose", "weight of tulip"} <= set(answer["vectors"])


# compare


@pytest.mark.slow
def test_compare_sorts_by_error(cli, folder):
    compare = ["compare", folder / "houses.csv", "-t", "price", "--folds", "2"]
    models = ["--model", "linear", "--model", "ridge", "--model", "svm", "--model", "gp"]
    answer = json.loads(cli(*compare, *models, "--model", "boosting", "--json").stdout)
    errors = [found["scores"]["rmse"]["mean"] for found in answer["models"].values()]
    assert errors == sorted(errors)
    assert set(answer["models"]) == {"linear", "ridge", "svm", "gp", "boosting", "mean"}
    assert list(answer["models"])[-1] == "mean"
    for name, found in answer["models"].items():
        assert found["milliseconds_per_1000_rows"] > 0.0
        assert ("mlpd" in found["scores"]) == (name != "mean")
        assert (found["size"] > 0.0) == (name != "mean")


@pytest.mark.slow
def test_compare_classes(cli, folder):
    compare = ["compare", folder / "flowers.csv", "-t", "kind", "--folds", "2"]
    models = ["--model", "linear", "--model", "ridge", "--model", "svm", "--model", "gp"]
    result = cli(*compare, *models, "--model", "boosting")
    assert result.exit_code == 0, result.output
    for words in (
        "logistic regression",
        "support vector machine",
        "log loss",
        "milliseconds to predict 1000 rows",
    ):
        assert words in " ".join(result.stdout.split())


def test_compare_notes_the_subset_of_rows_of_the_gaussian_process(cli, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    pl.DataFrame({"x": x, "y": np.sin(x)}).write_csv(tmp_path / "t.csv")
    options = ["--folds", "2", "--model", "gp", "--json"]
    result = cli("compare", tmp_path / "t.csv", "-t", "y", *options, obj=Limits(gp_rows=20))
    answer = json.loads(result.stdout)
    assert answer["models"]["gp"]["size"] == 20.0
    assert "fitted to 20 of 30 rows" in answer["notes"][0]


# denoise


@pytest.fixture
def line():
    rng = np.random.default_rng(0)
    clean = np.sin(np.linspace(0.0, 12.0, 1024))
    return clean, clean + 0.2 * rng.normal(size=1024)


def error(found, clean):
    return np.sqrt(np.mean((found - clean) ** 2))


def test_denoise_a_column(cli, line, tmp_path):
    clean, noisy = line
    table = pl.DataFrame({"time": np.arange(1024), "name": ["x"] * 1024, "signal": noisy})
    table.write_csv(tmp_path / "t.csv")
    result = cli("denoise", tmp_path / "t.csv", "-c", "signal", "--std")
    found = pl.read_csv(io.StringIO(result.stdout))
    assert found.columns == [*table.columns, "signal_denoised", "signal_denoised_std"]
    assert error(found["signal_denoised"].to_numpy(), clean) < 0.06
    assert "Noise standard deviation of signal: 0." in result.stderr


def test_denoise_with_missing_values_and_known_noise(cli, line, tmp_path):
    clean, noisy = line
    text = ["signal", *("" if i % 50 == 7 else repr(v) for i, v in enumerate(noisy.tolist()))]
    (tmp_path / "t.csv").write_text("\n".join(text) + "\n")
    denoise = ["denoise", tmp_path / "t.csv", "--noise", "0.2", "-o", tmp_path / "out.parquet"]
    answer = json.loads(cli(*denoise, "--json").stdout)
    assert answer["noise_std"] == {"signal": 0.2}
    found = pl.read_parquet(tmp_path / "out.parquet")["signal_denoised"].to_numpy()
    assert error(found, clean) < 0.08


def test_denoise_an_array(cli, line, tmp_path):
    clean, noisy = line
    np.save(tmp_path / "a.npy", noisy)
    assert cli("denoise", tmp_path / "a.npy", "-o", tmp_path / "b.npy").exit_code == 0
    assert error(np.load(tmp_path / "b.npy"), clean) < 0.06
    result = cli(
        "denoise", tmp_path / "a.npy", "-o", tmp_path / "b.npz", "--std", "--mode", "plain"
    )
    assert result.exit_code == 0, result.output
    with np.load(tmp_path / "b.npz") as arrays:
        assert arrays["std"].shape == arrays["signal"].shape == (1024,)


@pytest.mark.parametrize("channels", [1, 2])
def test_denoise_a_sound(cli, line, tmp_path, channels):
    from scipy.io import wavfile

    clean, noisy = (np.stack([10_000 * each] * channels, axis=1).squeeze() for each in line)
    wavfile.write(tmp_path / "a.wav", 8000, noisy.astype(np.int16))
    result = cli("denoise", tmp_path / "a.wav", "-o", tmp_path / "b.wav")
    assert result.exit_code == 0, result.output
    rate, found = wavfile.read(tmp_path / "b.wav")
    assert (rate, found.dtype, found.shape) == (8000, np.int16, noisy.shape)
    assert error(found, clean) < 600.0


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "LA"])
def test_denoise_an_image(cli, tmp_path, mode):
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:48, :64]
    clean = 128.0 + 80.0 * np.sin(x / 9.0) * np.cos(y / 7.0)
    shades = {"L": 1, "RGB": 3, "RGBA": 3, "LA": 1}[mode]
    noisy = [np.clip(clean + 12.0 * rng.normal(size=clean.shape), 0, 255) for _ in range(shades)]
    bands = noisy + ([np.full(clean.shape, 200.0)] if mode.endswith("A") else [])
    image.fromarray(np.dstack(bands).squeeze().astype(np.uint8)).save(tmp_path / "a.png")
    result = cli("denoise", tmp_path / "a.png", "-o", tmp_path / "b.png")
    assert result.exit_code == 0, result.output
    with image.open(tmp_path / "b.png") as opened:
        assert opened.mode == mode
        found = np.asarray(opened).reshape(48, 64, -1).astype(float)
    assert error(found[..., 0], clean) < 7.0
    if mode.endswith("A"):
        assert (found[..., -1] == 200.0).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["t.csv"], "Name the column of"),
        (["t.csv", "-c", "a", "--noise", "-1"], "must be a positive number"),
        (["t.csv", "-c", "a", "--mode", "best"], "--mode must be one of"),
        (["t.csv", "-c", "a", "--json"], "to a file with -o"),
        (["a.npy"], "Name the file to write"),
        (["a.npy", "-o", "b.npy", "--std"], "write to a .npz file"),
        (["a.npy", "-o", "b.npy", "-c", "x"], "--column is for tables"),
        (["a.npy", "-o", "b.wav"], "has the unknown suffix"),
        (["-", "--format", "wav", "-o", "b.wav"], "is read from files only"),
    ],
)
def test_denoise_usage(cli, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    np.save(tmp_path / "a.npy", np.arange(9.0))
    result = cli("denoise", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.npy", "t.csv"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.wav", "is not a wav file"),
        ("a.png", "is not an image"),
        ("a.npy", "is not a NumPy npy file"),
    ],
)
def test_denoise_invalid_files(refused, tmp_path, name, words):
    (tmp_path / name).write_text("nothing of the kind")
    assert words in refused("denoise", tmp_path / name, "-o", tmp_path / f"b{name}")


def test_denoise_text(refused, tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\nx\n")
    assert "row 2 has 'x'" in refused("denoise", tmp_path / "t.csv", "-c", "a")


def test_warnings_name_options(capsys):
    def work(console):
        console.option_names = {"noise_std": "--noise"}
        for _ in range(3):
            warnings.warn("Pass noise_std.", UserWarning, stacklevel=1)

    run_command(work)
    assert capsys.readouterr().err == "Warning: Pass --noise.\n"


# export


def test_export_to_python(cli, folder, tmp_path):
    output = tmp_path / "model.py"
    result = cli("export", folder / "houses.relvec", "-o", output, "--json")
    assert result.exit_code == 0, result.output
    inputs = json.loads(result.stdout)["features"]
    assert inputs[:4] == ["area", "rooms", "age", "door_number"]
    spec = importlib.util.spec_from_file_location("exported", output)
    exported = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(exported)
    pipeline = relvec.io.load(folder / "houses.relvec")
    table = pl.read_csv(folder / "new.csv")
    encoded = pipeline[:-1].transform(table)
    found = [exported.predict(row) for row in encoded.tolist()]
    assert np.allclose(found, pipeline.predict(table))


def test_export_to_c_names_functions_after_the_file(cli, folder, tmp_path):
    result = cli("export", folder / "houses.relvec", "-o", tmp_path / "house-prices.c")
    assert result.exit_code == 0, result.output
    assert "must encode categories and impute missing values" in result.stderr
    assert "house_prices_predict(" in (tmp_path / "house-prices.c").read_text()


def test_export_to_onnx(cli, folder, tmp_path):
    pytest.importorskip("onnx")
    result = cli("export", folder / "flowers.relvec", "-o", tmp_path / "flowers.onnx")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "flowers.onnx").stat().st_size > 100


# demo


@pytest.mark.slow
def test_demo_shows_commands_and_runs_them(cli, tmp_path, monkeypatch):
    fit = "relvec fit houses.csv --target price -o houses.relvec --no-cv --model linear"
    monkeypatch.setattr("relvec.cli.demonstrating.COMMANDS", (fit, *COMMANDS[1:]))
    result = cli("demo", "--folder", tmp_path / "try")
    assert result.exit_code == 0, result.output
    for command in COMMANDS[1:]:
        assert f"$ {command}" in result.stdout
    assert (tmp_path / "try" / "houses.relvec").exists()
    assert (tmp_path / "try" / "clean.csv").exists()


def test_demo_stops_where_a_command_fails(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("relvec.cli.demonstrating.COMMANDS", ("relvec inspect none.relvec",))
    assert cli("demo", "--folder", tmp_path).exit_code == 1


def test_denoise_keeps_deep_images(cli, tmp_path):
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    pixels = (1e6 * np.outer(np.linspace(0, 1, 40), np.ones(32))).astype(np.int32)
    noisy = pixels + (1e4 * rng.normal(size=pixels.shape)).astype(np.int32)
    image.fromarray(noisy).save(tmp_path / "deep.tif")
    result = cli("denoise", tmp_path / "deep.tif", "-o", tmp_path / "clean.tif")
    assert result.exit_code == 0, result.output
    with image.open(tmp_path / "clean.tif") as clean:
        assert np.std(np.asarray(clean) - pixels) < 0.6e4


def test_denoise_applies_the_exif_orientation(cli, tmp_path):
    image = pytest.importorskip("PIL.Image")
    exif = image.Exif()
    exif[0x0112] = 6
    grey = np.add.outer(np.arange(40), np.arange(24)).astype(np.uint8)
    image.fromarray(grey).save(tmp_path / "photo.jpg", exif=exif)
    assert cli("denoise", tmp_path / "photo.jpg", "-o", tmp_path / "o.png").exit_code == 0
    with image.open(tmp_path / "o.png") as turned:
        assert turned.size == (40, 24)


def test_denoise_keeps_complex_numbers(cli, tmp_path):
    clock = np.arange(256) / 40
    rng = np.random.default_rng(0)
    noise = rng.normal(size=256) + 1j * rng.normal(size=256)
    np.save(tmp_path / "z.npy", np.exp(1j * clock) + 0.1 * noise)
    assert cli("denoise", tmp_path / "z.npy", "-o", tmp_path / "o.npy").exit_code == 0
    assert np.std(np.load(tmp_path / "o.npy") - np.exp(1j * clock)) < 0.1


def test_the_encoding_rules_of_exported_code_are_sufficient(cli, folder, tmp_path):
    """A table with categories and missing values, encoded by the printed rules."""
    answer = cli("export", folder / "houses.relvec", "-o", tmp_path / "m.py", "--json")
    facts = json.loads(answer.stdout)
    table = pl.read_csv(folder / "new.csv")
    columns = []
    for name, rule in zip(facts["features"], facts["encoding"], strict=True):
        column = table[re.split(" = | is ", name)[0]]
        if rule.startswith("the number; "):
            columns.append(column.fill_null(float(rule.split()[2])))
        elif rule == "1 if missing, else 0":
            columns.append(column.is_null())
        else:
            columns.append(column.is_in(re.findall("'(.*?)'", rule)))
    rows = np.column_stack([each.cast(pl.Float64).to_numpy() for each in columns])
    space = {}
    exec((tmp_path / "m.py").read_text(), space)
    made = [space["predict"](row) for row in rows.tolist()]
    asked = cli("predict", folder / "houses.relvec", folder / "new.csv").stdout
    expected = pl.read_csv(io.StringIO(asked))["price_predicted"]
    np.testing.assert_allclose(made, expected, rtol=1e-9)
    shown = cli("export", folder / "houses.relvec", "-o", tmp_path / "m.c").stdout
    assert "1 if 'Astad', else 0" in shown
    for written in ("m.c", "m.py"):  # the rules are in the exported file too
        head = (tmp_path / written).read_text()
        for name, rule in zip(facts["features"], facts["encoding"], strict=True):
            assert f"{name}: {rule}" in head


def test_plain_numbers_need_no_encoding_rules(cli, folder, tmp_path):
    answer = cli("export", folder / "flowers.relvec", "-o", tmp_path / "m.py", "--json")
    assert json.loads(answer.stdout)["encoding"] == []
