"""Fitted models as plain Python."""

from __future__ import annotations

import math
import os
import pprint
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

import relvec
from relvec._checks import check_bool
from relvec.io.comments import about_answers, about_formula, about_inputs
from relvec.io.container import write_atomically
from relvec.io.extract import formula_of
from relvec.io.formula import LARGEST_DISTANCE, Block, Formula, Member, Table
from relvec.io.python_template import (
    ANSWERS,
    BASIS,
    BASIS_AND_COVERS,
    FALL_BACK,
    FALL_BACK_VARIANCE,
    FAR,
    HEAD,
    KERNELS,
    LINKS,
    MAIN,
    MEAN,
    MEMBERS,
    MOMENTS,
    SOLVE,
    WIDEN,
)
from relvec.io.text import double, kernel_text, row_text
from relvec.kernels import KernelProfile

__all__ = ["export_python"]

FUNCTIONS = {kind: f"math.{kind}" for kind in ("exp", "log", "sqrt", "tanh")}
FUNCTIONS |= {"power": "math.pow", "maximum": "max"}
CHOICE = '''

def predict(x):
    """Most probable class."""
    p = probabilities(x)
    return CLASSES[p.index(max(p))]
'''


def export_python(
    model: Any, path: str | os.PathLike[str] | None = None, *, std: bool = True
) -> str | Path:
    """Write a fitted model as one Python file that imports nothing but `math`.

    Regressors get the functions ``predict(x)`` and ``predict_std(x)`` of one row of numbers, which
    return a number, or a list for several outputs; classifiers ``probabilities(x)`` and
    ``predict(x)``, and the list ``CLASSES``. The numbers are those of `predict` and
    `predict_proba`. Inputs are not checked. Run as a program, the file reads rows of numbers from
    standard input.

    Parameters
    ----------
    model : estimator
        As in `export_onnx`.
    path : str or path-like, optional
        Name of a file to write.
    std : bool, default=True
        Whether regressors say how sure they are; without, the file is smaller.

    Returns
    -------
    written : str or Path
        The text if no path was given.

    Raises
    ------
    ExportError
        If the model cannot be written as a formula.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> from relvec.io import export_python
    >>> X = np.linspace(-5, 5, 40)[:, None]
    >>> y = np.sinc(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
    >>> model = RVMRegressor(gamma=0.5).fit(X, y)
    >>> written = {}
    >>> exec(export_python(model), written)
    >>> abs(written["predict"]([0.5]) - model.predict([[0.5]])[0]) < 1e-12
    np.True_
    """
    check_bool("std", std)
    text = _source(formula_of(model, std=std))
    if path is None:
        return text
    write_atomically(Path(path), text.encode())
    return Path(path)


def _source(formula: Formula) -> str:
    asked = ["predict", "predict_std"] if formula.has_std else ["predict"]
    if len(formula.blocks) > 1:
        asked = [f"{what}_all" for what in asked]
    answers = [ANSWERS[what] for what in asked]
    needs_variance = formula.is_classifier or formula.has_std
    words = _words(formula)
    parts = [_kernels(formula.profile, "_kernels")]
    if formula.cover_profile is not None:
        parts.append(_kernels(formula.cover_profile, words["cover_kernels"]))
    if needs_variance or formula.covers:
        parts.append(SOLVE)
    parts.append(BASIS_AND_COVERS if formula.covers else BASIS)
    if formula.falls_back:
        parts += [FALL_BACK, FALL_BACK_VARIANCE] if needs_variance else [FALL_BACK]
    elif formula.is_extrapolated:
        parts.append(WIDEN)
    if formula.is_classifier:
        answers = [LINKS[formula.link], MEMBERS, CHOICE]
    else:
        parts.append(MEAN)
    if needs_variance:
        parts.append(MOMENTS)
    head, *rest = [Template(part).substitute(words) for part in [HEAD, *parts, *answers, MAIN]]
    return head + _tables(formula) + "".join(rest)


def _kernels(profile: KernelProfile, name: str) -> str:
    """Return a function of this name that evaluates a kernel."""
    written = {"kernels": name, "kernel_text": kernel_text(profile, FUNCTIONS, double)}
    return Template(KERNELS[profile.measure]).substitute(written)


def _words(formula: Formula) -> dict[str, Any]:
    if formula.is_classifier:
        report, usage = "probabilities(row)", ["probabilities(x)", "predict(x)"]
    else:
        asked = ["predict", "predict_std"] if formula.has_std else ["predict"]
        usage = [f"{what}(x)" for what in asked]
        called = [f"{what}(row)" for what in asked]
        is_single = len(formula.blocks) == 1
        report = f"({', '.join(called)},)" if is_single else f"({' + '.join(called)})"
    extrapolated = "_extrapolated(block, phi, mean, cov)"
    return {
        "source": formula.source,
        "kernel": formula.profile.name,
        "cover_kernels": "_kernels" if formula.cover_profile is None else "_cover_kernels",
        "version": relvec.__version__,
        "row": row_text(formula),
        "n_features": formula.n_features,
        "inputs": "\n".join(about_inputs(formula, _plain)),
        "formula": "\n".join(about_formula(formula, "factor", "Vectors of COVERS", "POINTS")),
        "answers": "\n".join(about_answers(formula, _plain)),
        "usage": "".join(f"    {line}\n" for line in usage),
        "largest": double(LARGEST_DISTANCE),
        "fallen_back": "_fall_back(block, phi, mean)[0]" if formula.falls_back else "mean",
        "extrapolated": extrapolated if formula.is_extrapolated else "mean, cov",
        "far": FAR if formula.covers else "",
        "report": report,
    }


def _tables(formula: Formula) -> str:
    needs_variance = formula.is_classifier or formula.has_std
    tables: dict[str, Any] = {
        "TABLES": [_table(each) for each in formula.kernel_tables],
        "BLOCKS": [_block(formula, block, needs_variance) for block in formula.blocks],
    }
    if formula.covers:
        tables["COVERS"] = [
            _table(cover.table) | {"cholesky": _rows(cover.cholesky)} for cover in formula.covers
        ]
    if formula.points is not None:
        tables["POINTS"] = formula.points.T.tolist()
    if formula.shares is not None:
        tables["MEMBERS"] = [_member(formula, each) for each in formula.members]
        tables["SHARES"] = formula.shares.tolist()
    if formula.classes is not None:
        tables["CLASSES"] = [_class(each) for each in formula.classes]
    return "".join(
        f"{name} = {pprint.pformat(value, width=100, compact=True, sort_dicts=False)}\n"
        for name, value in tables.items()
    )


def _block(formula: Formula, block: Block, needs_variance: bool) -> dict[str, Any]:
    written: dict[str, Any] = {
        "index": formula.places(block).tolist(),
        "centre": block.centre.tolist(),
        "scale": block.scale.tolist(),
        "weights": block.weights.tolist(),
        "offset": block.offset.tolist(),
    }
    if needs_variance:
        written |= {
            "design": block.design.tolist(),
            "factor": _rows(block.factor),
            "spread": float(block.spread),
            "constant": float(block.constant),
            "noise": float(block.noise),
        }
    given = block.extrapolation
    if given is None:
        return written | ({"cover": 0} if formula.is_extrapolated else {})
    written |= {
        "cover": formula.n_kernels + 1 + given.cover,
        "deviation": math.sqrt(given.amplitude),
        "bars_from": float(given.offset),
    }
    if given.centre is not None:
        written |= {"means_from": float(given.known), "target_mean": float(given.centre)}
    return written


def _member(formula: Formula, member: Member) -> dict[str, Any]:
    written: dict[str, Any] = {"weight": member.weight, "shrinkage": member.shrinkage}
    if not formula.covers:
        return written
    cover = 0 if member.cover is None else formula.n_kernels + 1 + member.cover
    return written | {"cover": cover, "far_from": float(member.offset)}


def _table(table: Table) -> dict[str, Any]:
    return {what: values.tolist() for what, values in table._asdict().items()}


def _rows(factor: np.ndarray) -> list[list[float]]:
    return [row[: number + 1].tolist() for number, row in enumerate(factor)]


def _class(label: Any) -> Any:
    plain = label.item() if isinstance(label, np.generic) else label
    return plain if isinstance(plain, bool | int | float | str) else str(plain)


def _plain(text: str) -> str:
    """Return text that cannot end a docstring."""
    return "".join(
        letter if letter.isprintable() and letter not in '"\\' else "_" for letter in text
    )
