"""Exports say what models say where there are no data: the means, and how sure they are."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from relvec import DRVMRegressor, RVMRegressor
from relvec.io import ExportError, export_c, export_onnx, export_python
from relvec.io.extract import formula_of
from relvec.kernels import KernelProfile, Linear
from tests.io.test_c import COMPILER, compiled
from tests.io.test_c import run as run_program
from tests.io.test_onnx import run as run_graph
from tests.io.test_python import executed

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
WAVE = np.sin(2.0 * X[:, 1]) + 0.1 * RNG.normal(size=80)
WIDE = 40.0 + X @ [1.0, 2.0, 0.5] + 0.3 * X[:, 0] ** 2 + 0.1 * RNG.normal(size=80)
NOISE = 0.5 * RNG.normal(size=(80, 2))
UNITS = np.array([1e-3, 1.0, 1e3])
MIDDLE = np.array([5.0, -2e3, 0.0])


class Gaussian:
    """A function of two arrays, of which is not known that it decays."""

    def __call__(self, X, Z):
        return 2.0 * np.exp(-0.5 * cdist(X, Z, "sqeuclidean"))

    def profile(self):
        return KernelProfile("Gaussian", "squared", lambda t, f: 2.0 * f.exp(-0.5 * t))


def _in_pipeline():
    return make_pipeline(StandardScaler(), RVMRegressor()).fit(X * UNITS + MIDDLE, WIDE)


def _became_linear():
    """A model of many weak effects, which is linear; its error bars have a kernel of their own."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(120, 40))
    target = 3.0 + rows @ rng.normal(size=40) / 6.0 + 0.3 * rng.normal(size=120)
    model = make_pipeline(StandardScaler(), RVMRegressor()).fit(rows, target)
    assert model[-1].model_kind_ == "linear"
    return model, rows


def _at_its_centre():
    """A model whose mean is the centre itself, far from the data."""
    model = RVMRegressor(gamma=0.1).fit(X, WIDE)
    output = model.outputs_[0]
    far = output.posterior.predict(output.atoms.evaluate(np.full((1, 3), 1e3)))[0]
    object.__setattr__(output, "novelty", replace(output.novelty, centre=float(far)))
    return model


MAKERS = {
    "inputs_left_out": lambda: DRVMRegressor().fit(X, WAVE),
    "wide_kernels": lambda: RVMRegressor().fit(X, WIDE),
    "pipeline": _in_pipeline,
    "two_outputs": lambda: RVMRegressor().fit(X, np.column_stack([WAVE, WIDE])),
    "one_is_constant": lambda: RVMRegressor().fit(X, np.column_stack([np.full(80, 3.0), WIDE])),
    "at_its_centre": _at_its_centre,
    "noisy": lambda: RVMRegressor(length_scales="isotropic").fit(
        X, np.column_stack([WAVE, WIDE]) + NOISE
    ),
    "tiny": lambda: RVMRegressor(gamma=0.1).fit(X, 1e-120 * WIDE),
    "huge": lambda: RVMRegressor(gamma=0.1).fit(X, 1e120 * WIDE),
    "without_noise": lambda: RVMRegressor(gamma=0.3).fit(X, np.sin(X[:, 0])),
    "no_centre": lambda: RVMRegressor(Gaussian()).fit(X, WIDE),
    "matern": lambda: RVMRegressor("matern32").fit(X, WIDE),
    "few_values": lambda: RVMRegressor().fit((X > 0.0) * 1.0, WIDE),
}


@cache
def asked(name):
    """Return a model, inputs, and means and standard deviations there."""
    model = MAKERS[name]()
    rng = np.random.default_rng(1)
    far = [scale * rng.normal(size=(15, 3)) for scale in (1.0, 3.0, 10.0, 1e3, 1e6)]
    alone = [move * np.eye(3) for move in (-30.0, 5.0, 1e3)]  # one input leaves the data
    inputs = np.vstack([X[:10], *far, *alone])
    inner, seen = model, inputs
    if name == "pipeline":
        inputs = inputs * UNITS + MIDDLE
        inner, seen = model[-1], model[:-1].transform(inputs)
    said = inner.predict(seen, return_std=True)
    return model, inputs, [each.reshape(len(inputs), -1) for each in said]


def close(found, expected):
    """Compare column by column, relative to the largest number of each.

    Near the data variances are small differences of that far away.
    """
    for column, truth in zip(np.transpose(found), np.transpose(expected), strict=True):
        size = np.abs(truth).max()
        np.testing.assert_allclose(column, truth, rtol=1e-10, atol=1e-11 * size)


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("std", [True, False])
class TestFarAway:
    def test_formula(self, name, std):
        model, inputs, (mean, deviation) = asked(name)
        found = formula_of(model, std=std).evaluate(inputs)
        close(found[0], mean)
        if std:
            close(found[1], deviation)

    def test_python(self, name, std):
        model, inputs, (mean, deviation) = asked(name)
        names = executed(export_python(model, std=std))
        rows = inputs.tolist()
        close(np.reshape([names["predict"](row) for row in rows], mean.shape), mean)
        if std:
            close(np.reshape([names["predict_std"](row) for row in rows], mean.shape), deviation)

    @pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
    def test_c(self, name, std, tmp_path):
        model, inputs, said = asked(name)
        program = compiled(export_c(model, std=std), tmp_path, flags=["-DMODEL_MAIN"])
        close(run_program(program, inputs), np.hstack(said if std else said[:1]))

    def test_onnx(self, name, std):
        if name == "tiny":
            pytest.skip("ONNX Runtime takes the addition of such numbers for none")
        model, inputs, (mean, deviation) = asked(name)
        found = run_graph(export_onnx(model, dtype="float64", std=std), inputs)
        close(found["mean"].reshape(mean.shape), mean)
        if std:
            close(found["std"].reshape(mean.shape), deviation)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["inputs_left_out", "noisy"])
def test_single_precision(name, tmp_path):
    model, inputs, (mean, deviation) = asked(name)
    inputs = inputs.astype(np.float32)
    allowed = 5.0 * formula_of(model).rounding("float32", inputs_too=True) + 1e-4
    graph = run_graph(export_onnx(model), inputs)
    answers = [(graph["mean"], graph["std"])]
    if COMPILER is not None:
        text = export_c(model, precision="float32")
        program = compiled(text, tmp_path, flags=["-DMODEL_MAIN", "-Wdouble-promotion"])
        answers.append(np.hsplit(run_program(program, inputs), 2))
    for found, found_std in answers:
        assert (np.abs(found.reshape(mean.shape) - mean) / deviation).max() < allowed
        assert (np.abs(found_std.reshape(mean.shape) - deviation) / deviation).max() < allowed


def test_means_fall_back():
    model, inputs, (mean, _) = asked("wide_kernels")
    formula = formula_of(model, std=False)
    assert formula.falls_back
    sparse = model.outputs_[0].posterior.predict(model.outputs_[0].atoms.evaluate(inputs))
    assert np.abs(sparse - mean[:, 0]).max() > 1.0
    assert "moves towards their mean" in export_python(model, std=False)


def test_an_input_that_was_left_out_counts_where_it_leaves_the_data():
    model, _, (_, deviation) = asked("inputs_left_out")
    formula = formula_of(model)
    assert formula.kernel_tables[0].inputs.tolist() == [1]
    assert formula.covers[0].table.inputs.tolist() == [0, 1, 2]
    assert deviation[-3, 0] > 2.0 * deviation[:10].max()  # the first input at 1e3


def test_without_a_centre_only_variances_change():
    formula = formula_of(asked("no_centre")[0])
    assert formula.covers
    assert not formula.falls_back
    assert formula_of(asked("no_centre")[0], std=False).covers == ()
    text = export_c(asked("no_centre")[0])
    assert " * the variance grows.\n" in text
    assert "fall_back" not in text


class TestLinear:
    """A default regressor that became linear has error bars by kernels, in all languages."""

    @staticmethod
    @cache
    def asked():
        model, rows = _became_linear()
        inputs = np.vstack([rows[:10], 3.0 * rows[10:20], 1e3 * rows[20:25]])
        said = model[-1].predict(model[:-1].transform(inputs), return_std=True)
        return model, inputs, [each[:, np.newaxis] for each in said]

    def test_formula(self):
        model, inputs, (mean, deviation) = self.asked()
        formula = formula_of(model)
        assert (formula.profile.name, formula.cover_profile.name) == ("linear", "RBF")
        found = formula.evaluate(inputs)
        close(found[0], mean)
        close(found[1], deviation)
        assert deviation[-1] > 2.0 * deviation[0]

    def test_python(self):
        model, inputs, said = self.asked()
        names = executed(export_python(model))
        for what, truth in zip(("predict", "predict_std"), said, strict=True):
            close([[names[what](row)] for row in inputs.tolist()], truth)

    @pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
    def test_c(self, tmp_path):
        model, inputs, said = self.asked()
        program = compiled(export_c(model), tmp_path, flags=["-DMODEL_MAIN"])
        close(run_program(program, inputs), np.hstack(said))

    def test_onnx(self):
        model, inputs, said = self.asked()
        found = run_graph(export_onnx(model, dtype="float64"), inputs)
        for what, truth in zip(("mean", "std"), said, strict=True):
            close(found[what][:, np.newaxis], truth)

    def test_means_alone_need_no_cover(self):
        model, inputs, (mean, _) = self.asked()
        formula = formula_of(model, std=False)
        assert formula.covers == ()
        close(formula.evaluate(inputs)[0], mean)


def test_products_for_error_bars_are_refused():
    model = RVMRegressor(gamma=0.1).fit(X, WIDE)
    output = model.outputs_[0]
    object.__setattr__(output, "novelty", replace(output.novelty, kernel=Linear()))
    with pytest.raises(ExportError, match="not only differences of inputs matter"):
        formula_of(model)
