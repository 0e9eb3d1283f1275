"""Fitted models as C source."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

import relvec
from relvec._checks import check_bool, check_choice
from relvec.io.c_template import (
    ANSWERS,
    BASIS,
    BASIS_AND_COVERS,
    BLOCK,
    CENTRE_FIELDS,
    CHOICE,
    COVER_FIELDS,
    FALL_BACK,
    FAR,
    HEAD,
    KERNELS,
    LINKS,
    MAIN,
    MEAN,
    MEMBERS,
    MOMENTS,
    PROBABILITIES,
    REPORTS,
    SOLVE,
    TABLES,
    VARIANCE_FIELDS,
    WIDEN,
)
from relvec.io.comments import about_answers, about_formula, about_inputs
from relvec.io.container import write_atomically
from relvec.io.extract import formula_of, warn_of_rounding
from relvec.io.formula import LARGEST_DISTANCE, PRECISIONS, Block, Extrapolation, Formula, Table
from relvec.io.text import double, kernel_text, row_text, single, table, triangle
from relvec.kernels import KernelProfile

__all__ = ["export_c"]

FUNCTIONS = ("exp", "fabs", "log", "log1p", "sqrt", "tanh")


def export_c(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    name: Any = "model",
    precision: str = "float64",
    std: bool = True,
) -> str | Path:
    """Write a fitted model as one file of C99 that needs nothing but ``math.h``.

    No memory is allocated, tables are constant. Regressors get ``double <name>_predict(const double
    *x)`` and ``<name>_predict_std``; with several outputs both take ``double *out`` and return
    nothing. Classifiers get ``void <name>_probabilities(const double *x, double *out)``, ``int
    <name>_predict(const double *x)``, which returns a position in the table ``<name>_classes``.
    The numbers are those of `predict` and `predict_proba`. Inputs are not checked.

    Compiled with ``-D<NAME>_MAIN`` the file is a program that reads rows of numbers from standard
    input.

    Parameters
    ----------
    model : estimator
        As in `export_onnx`.
    path : str or path-like, optional
        Name of a file to write.
    name : str, default="model"
        What names in the file begin with.
    precision : {"float64", "float32"}, default="float64"
        Of tables and arithmetic. Single precision halves the size of the tables, and is much
        faster on small processors.
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

    Warns
    -----
    UserWarning
        If single precision costs more than a hundredth of a standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from relvec import RVMRegressor
    >>> from relvec.io import export_c
    >>> X = np.linspace(-5, 5, 40)[:, None]
    >>> y = np.sinc(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
    >>> text = export_c(RVMRegressor(gamma=0.5).fit(X, y), name="sinc")
    >>> [line for line in text.splitlines() if line.startswith("double")]
    ['double sinc_predict(const double *x);', 'double sinc_predict_std(const double *x);', ...]
    """
    check_choice("precision", precision, PRECISIONS)
    check_bool("std", std)
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ValueError(
            f"name must begin with a letter and go on with letters, digits and underscores, as in "
            f"'model_1'; got {name!r}."
        )
    formula = formula_of(model, std=std)
    warn_of_rounding(formula, precision)
    text = _Source(formula, name, precision).text()
    if path is None:
        return text
    write_atomically(Path(path), text.encode())
    return Path(path)


class _Source:
    """A formula as text."""

    def __init__(self, formula: Formula, name: str, precision: str) -> None:
        self.formula, self.name = formula, name
        is_single = precision == "float32"
        self.write: Callable[[float], str] = single if is_single else double
        self.real = "float" if is_single else "double"
        names = {kind: kind for kind in FUNCTIONS} | {"power": "pow", "maximum": "fmax"}
        self.functions = {kind: name + "f" * is_single for kind, name in names.items()}
        self.asked = ["probabilities"] if formula.is_classifier else ["predict"]
        if formula.has_std and not formula.is_classifier:
            self.asked.append("predict_std")
        self.needs_variance = self.asked != ["predict"]
        self.words = self._words(self.write(1e-16 if is_single else 1e-32))

    def text(self) -> str:
        """Return the whole file."""
        formula = self.formula
        parts = [self._kernels(formula.profile, "kernels")]
        if formula.cover_profile is not None:
            parts.append(self._kernels(formula.cover_profile, self.words["cover_kernels"]))
        if self.needs_variance or formula.covers:
            parts.append(SOLVE)
        parts.append(BASIS_AND_COVERS if formula.covers else BASIS)
        if formula.is_extrapolated:
            parts.append(FALL_BACK if formula.falls_back else WIDEN)
        if not formula.is_classifier:
            parts.append(MEAN)
        if self.needs_variance:
            parts.append(MOMENTS)
        if formula.is_classifier:
            parts += [LINKS[formula.link], PROBABILITIES, CHOICE]
        else:
            parts += [ANSWERS[what + "_all" * self._has_several] for what in self.asked]
        filled = [Template(part).substitute(self.words) for part in [HEAD, *parts, MAIN]]
        return "\n".join([filled[0], self._prototypes(), self._tables(), *filled[1:]])

    def _kernels(self, profile: KernelProfile, name: str) -> str:
        """Return a function of this name that evaluates a kernel."""
        text = kernel_text(profile, self.functions, self.write)
        written = self.words | {"kernels": name, "kernel_text": text}
        return Template(KERNELS[profile.measure]).substitute(written)

    @property
    def _has_several(self) -> bool:
        return not self.formula.is_classifier and len(self.formula.blocks) > 1

    def _words(self, negligible: str) -> dict[str, str]:
        """What templates are filled with."""
        formula, name = self.formula, self.name
        n_out = len(formula.blocks) if formula.classes is None else len(formula.classes)
        report = Template(REPORTS[self.asked[-1] + "_all" * self._has_several])
        is_list = formula.is_classifier or self._has_several
        fall_back, extrapolate = "", ""
        if formula.falls_back:
            fall_back = f"    {name}_fall_back(b, phi, &mean, 0);\n"
            extrapolate = f"    {name}_fall_back(b, phi, mean, cov);\n"
        elif formula.is_extrapolated:
            extrapolate = f"    {name}_widen(b, phi, cov);\n"
        tables = [*formula.kernel_tables, *(cover.table for cover in formula.covers)]
        in_far = {"name": name, "real": self.real, "one": self.write(1.0)}
        return self.functions | {
            "name": name,
            "NAME": name.upper(),
            "real": self.real,
            "version": relvec.__version__,
            "source": formula.source,
            "kernel": formula.profile.name,
            "cover_kernels": "kernels" if formula.cover_profile is None else "cover_kernels",
            "inputs": _starred(about_inputs(formula, _comment)),
            "formula": _starred(about_formula(formula, "precision", "Vectors of covers", "points")),
            "answers": _starred(about_answers(formula, _comment)),
            "usage": _starred(f"    {line}" for line in self._signatures()),
            "row": row_text(formula),
            "n_features": str(formula.n_features),
            "n_inputs": str(max(len(table.inputs) for table in tables)),
            "n_phi": str(formula.n_kernels + 1 + len(formula.covers)),
            "n_tables": str(len(tables)),
            "n_kernel_tables": str(len(formula.kernel_tables)),
            "n_members": str(len(formula.members)),
            "n_linked": str(len(formula.blocks) // max(len(formula.members), 1)),
            "far": Template(FAR).substitute(in_far) if formula.covers else "",
            "n_weights": str(max(len(block.index) for block in formula.blocks)),
            "n_values": str(max(len(block.offset) for block in formula.blocks)),
            "n_blocks": str(len(formula.blocks)),
            "n_pivots": str(max((len(cover.cholesky) for cover in formula.covers), default=1)),
            "n_points": str(0 if formula.points is None else formula.points.shape[1]),
            "zero": self.write(0.0),
            "one": self.write(1.0),
            "four": self.write(4.0),
            "absurd": self.write(65536.0),
            "eighth_pi": self.write(np.pi / 8.0),
            "negligible": negligible,
            "largest": self.write(LARGEST_DISTANCE),
            "fall_back": fall_back,
            "extrapolate": extrapolate,
            "buffers": f"    double out[{n_out}];\n    int i;\n" if is_list else "",
            "report": report.substitute(name=name, n_out=n_out),
        }

    def _signatures(self) -> list[str]:
        name = self.name
        if self.formula.is_classifier:
            return [
                f"void {name}_probabilities(const double *x, double *out);",
                f"int {name}_predict(const double *x);",
            ]
        kind, out = ("void", ", double *out") if self._has_several else ("double", "")
        return [f"{kind} {name}_{what}(const double *x{out});" for what in self.asked]

    def _prototypes(self) -> str:
        classes, upper = self.formula.classes, self.name.upper()
        lines = [f"#define {upper}_N_FEATURES {self.formula.n_features}"]
        if classes is None:
            lines.append(f"#define {upper}_N_OUTPUTS {len(self.formula.blocks)}")
        else:
            lines.append(f"#define {upper}_N_CLASSES {len(classes)}")
            lines.append(f"extern const {_class_type(classes)}{self.name}_classes[{len(classes)}];")
        return "\n".join([*lines, *self._signatures(), ""])

    def _tables(self) -> str:
        formula = self.formula
        tables: list[str] = []

        def put(kind: str, what: str, values: Any, write: Callable[[float], str]) -> None:
            size = np.size(values)
            body = table(values, write)
            tables.append(f"static const {kind} {self.name}_{what}[{size}] = {{\n{body}\n}};")

        def put_table(which: str, of: Table) -> None:
            put("int", f"inputs{which}", of.inputs, str)
            put("double", f"shift{which}", of.shift, double)
            put("double", f"factor{which}", of.factor, double)
            put(self.real, f"vectors{which}", of.vectors, self.write)

        for number, each in enumerate(formula.kernel_tables):
            put_table(str(number), each)
        for number, cover in enumerate(formula.covers):
            put_table(f"_cover{number}", cover.table)
            put(self.real, f"cholesky_cover{number}", triangle(cover.cholesky), self.write)
        for number, block in enumerate(formula.blocks):
            put("int", f"index{number}", formula.places(block), str)
            for what in ("centre", "scale", "weights", "offset"):
                put(self.real, f"{what}{number}", getattr(block, what), self.write)
            if len(block.offset) > 1:
                put(self.real, f"design{number}", block.design, self.write)
            if self.needs_variance:
                put(self.real, f"precision{number}", triangle(block.factor), self.write)
        if formula.points is not None:
            put(self.real, "points", formula.points.T, self.write)
        if formula.classes is not None:
            tables.append(self._classes(formula.classes))
            put(self.real, "shares", formula.shares, self.write)
            tables.append(self._members())
        return "\n".join([*tables, self._list(), self._blocks()]) + "\n"

    def _members(self) -> str:
        """All models that are averaged."""
        rows = []
        for member in self.formula.members:
            cover = 0 if member.cover is None else self.formula.n_kernels + 1 + member.cover
            numbers = (member.weight, member.shrinkage, member.offset)
            rows.append(f"    {{{', '.join([str(cover), *map(self.write, numbers)])}}}")
        return Template(MEMBERS).substitute(self.words | {"members": ",\n".join(rows)})

    def _list(self) -> str:
        """All tables of vectors: that of the model, then covers."""
        rows = [self._table(str(n), each) for n, each in enumerate(self.formula.kernel_tables)]
        for number, cover in enumerate(self.formula.covers):
            rows.append(self._table(f"_cover{number}", cover.table))
        return Template(TABLES).substitute(self.words | {"rows": ",\n".join(rows)})

    def _table(self, which: str, table: Table) -> str:
        entries = [str(len(table.inputs)), str(len(table.vectors))]
        entries += [f"{self.name}_{what}{which}" for what in ("inputs", "shift", "factor")]
        entries.append(f"{self.name}_vectors{which}")
        entries.append(f"{self.name}_cholesky{which}" if which.startswith("_") else "0")
        return "    {" + ", ".join(entries) + "}"

    def _blocks(self) -> str:
        more_fields = VARIANCE_FIELDS if self.needs_variance else ""
        more_fields += COVER_FIELDS if self.formula.is_extrapolated else ""
        fields = Template(more_fields + (CENTRE_FIELDS if self.formula.falls_back else ""))
        rows = [self._block(number, block) for number, block in enumerate(self.formula.blocks)]
        more = {"fields": fields.substitute(self.words), "rows": ",\n".join(rows)}
        return Template(BLOCK).substitute(self.words | more)

    def _block(self, number: int, block: Block) -> str:
        name = self.name
        entries = [str(len(block.index)), str(len(block.offset)), f"{name}_index{number}"]
        entries += [f"{name}_{what}{number}" for what in ("centre", "scale", "weights", "offset")]
        entries.append(f"{name}_design{number}" if len(block.offset) > 1 else "0")
        if self.needs_variance:
            entries.append(f"{name}_precision{number}")
            entries += [self.write(v) for v in (block.spread, block.constant, block.noise)]
        if self.formula.is_extrapolated:
            entries += self._extrapolation(block)
        return "    {" + ", ".join(entries) + "}"

    def _extrapolation(self, block: Block) -> list[str]:
        given, first = block.extrapolation, self.formula.n_kernels + 1
        if given is None:
            given, first = Extrapolation(0, 0.0, 0.0, 0.0, None), 0
        numbers = [math.sqrt(given.amplitude), given.offset]
        if self.formula.falls_back:
            numbers += [given.known, given.centre or 0.0]
        return [str(first + given.cover), *(self.write(number) for number in numbers)]

    def _classes(self, classes: np.ndarray) -> str:
        kind = _class_type(classes)
        write = {"long long ": lambda c: str(int(c)), "double ": double}.get(kind, _quoted)
        body = ", ".join(write(each) for each in classes)
        return f"const {kind}{self.name}_classes[{len(classes)}] = {{\n    {body}\n}};"


def _class_type(classes: np.ndarray) -> str:
    if classes.dtype.kind in "iub":
        return "long long "
    return "double " if classes.dtype.kind == "f" else "char *const "


def _quoted(text: Any) -> str:
    """Return a C string, whatever is in the text."""

    def escaped(match: re.Match[str]) -> str:
        return "".join(f"\\{byte:03o}" for byte in match[0].encode())

    return '"' + re.sub(r"[^ !#->@-\[\]-~]", escaped, str(text)) + '"'


def _starred(lines: Iterable[str]) -> str:
    return "\n".join(f" * {line}" for line in lines)


def _comment(text: str) -> str:
    """Return text that cannot end a comment."""
    return re.sub(r"[^ -)+-.0->@-~]", "_", text)
