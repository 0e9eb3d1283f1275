"""`relvec export`: a model as a program for others."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import numpy as np

import relvec.io
from relvec.cli.console import CommandConsole
from relvec.cli.encoding import input_rules
from relvec.cli.errors import UsageError
from relvec.cli.inspecting import input_names
from relvec.cli.model_file import StoredModel, load_model
from relvec.cli.summaries.parts import pairs, size, table
from relvec.cli.writing import check_target, replacing

__all__ = ["export_command"]

WRITERS = {".onnx": "export_onnx", ".c": "export_c", ".py": "export_python"}


def export_command(console: CommandConsole, path: str, output: str) -> None:
    """Write the model in the language that the suffix of the file stands for."""
    check_target(output, path)
    suffix = Path(output).suffix.lower()
    if suffix not in WRITERS:
        raise UsageError(f"'{output}' must end in {', '.join(WRITERS)}, which says what to write.")
    stored = load_model(path)
    inputs, rules = input_names(stored), _rules(stored)
    heads = [": ".join(pair) for pair in zip(inputs, rules, strict=True)] if rules else inputs
    model = copy.copy(stored.model)
    model.feature_names_in_ = np.array(heads, dtype=object)
    options: dict[str, Any] = {"name": _identifier(output)} if suffix == ".c" else {}
    if getattr(model, "model_kind_", None) == "linear":
        options["std"] = False
        console.note(
            "The model became linear in the columns: the program has its predictions, but not its "
            "error bars."
        )
    with replacing(output) as temporary:
        getattr(relvec.io, WRITERS[suffix])(model, temporary, **options)
    if rules:
        console.note(
            "The program takes the numbers that the model sees, not the columns of the table: "
            "whoever calls it encodes levels and fills gaps, as said for each input."
        )
    facts: dict[str, Any] = {
        "output": output,
        "bytes": Path(output).stat().st_size,
        "inputs": inputs,
        "rules": rules,
        "notes": console.notes,
    }
    if console.as_json or not console.quiet:
        console.answer(facts, lambda: _screen(facts))


def _rules(stored: StoredModel) -> list[str]:
    """What to give for each input, if that is not simply the number in the table."""
    is_plain = all(each.kind == "number" and not each.n_missing for each in stored.columns)
    return (
        []
        if is_plain or not stored.takes_tables
        else input_rules(stored.pipeline[0], stored.columns)
    )


def _screen(facts: dict[str, Any]) -> list[Any]:
    saved = ("saved", f"{facts['output']} ({size(facts['bytes'])})")
    if not facts["rules"]:
        return [pairs([saved, ("inputs", ", ".join(facts["inputs"]))])]
    rows = [
        [str(number), name, rule]
        for number, (name, rule) in enumerate(
            zip(facts["inputs"], facts["rules"], strict=True), start=1
        )
    ]
    made = table(["", "input, in this order", "what to give"], rows)
    for column in made.columns:
        column.justify = "left"
    made.columns[0].no_wrap, made.columns[2].no_wrap = True, False
    return [pairs([saved]), made]


def _identifier(output: str) -> str:
    """A name that C accepts, from that of the file.

    Examples
    --------
    >>> _identifier("models/house-prices.c")
    'house_prices'
    """
    name = re.sub(r"\W", "_", Path(output).stem, flags=re.ASCII)
    return f"model_{name}" if not name[0].isalpha() else name
