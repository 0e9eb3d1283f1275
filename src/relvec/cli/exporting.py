"""`relvec export`: a model as a program for others."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import numpy as np

import relvec.io
from relvec.cli.errors import UsageError
from relvec.cli.inspecting import input_names
from relvec.cli.model_file import StoredModel, load_model
from relvec.cli.screens.parts import pairs, size
from relvec.cli.talk import Talk
from relvec.cli.writing import check_target, replacing

__all__ = ["export_command"]

WRITERS = {".onnx": "export_onnx", ".c": "export_c", ".py": "export_python"}


def export_command(talk: Talk, path: str, output: str) -> None:
    """Write the model in the language that the suffix of the file stands for."""
    check_target(output, path)
    suffix = Path(output).suffix.lower()
    if suffix not in WRITERS:
        raise UsageError(f"'{output}' must end in {', '.join(WRITERS)}, which says what to write.")
    stored = load_model(path)
    model, inputs = _what_to_write(stored, talk)
    options = {"name": _identifier(output)} if suffix == ".c" else {}
    with replacing(output) as temporary:
        getattr(relvec.io, WRITERS[suffix])(model, temporary, **options)
    facts: dict[str, Any] = {
        "output": output,
        "bytes": Path(output).stat().st_size,
        "inputs": inputs,
        "notes": talk.notes,
    }
    if talk.as_json or not talk.quiet:
        talk.answer(
            facts,
            lambda: [
                pairs(
                    [
                        ("saved", f"{output} ({size(facts['bytes'])})"),
                        ("inputs", ", ".join(inputs)),
                    ]
                )
            ],
        )


def _what_to_write(stored: StoredModel, talk: Talk) -> tuple[Any, list[str]]:
    """The model behind the encoder, and its inputs in order.

    Programs take numbers. Where all columns are complete numbers the encoder does nothing; where
    not, whoever calls the program does its work.
    """
    inputs = input_names(stored)
    if stored.takes_tables and len(inputs) > len(stored.columns):
        talk.note(
            "The program takes numbers: for columns with levels or missing values, give it one "
            "column for each level (0 or 1) and each mark of a missing value, in the order below."
        )
    elif any(column.kind == "level" for column in stored.columns):
        talk.note("The program takes 1 or 0 for each level, in the order below.")
    model = copy.copy(stored.model)
    model.feature_names_in_ = np.array(inputs, dtype=object)
    return model, inputs


def _identifier(output: str) -> str:
    """A name that C accepts, from that of the file.

    Examples
    --------
    >>> _identifier("models/house-prices.c")
    'house_prices'
    """
    name = re.sub(r"\W", "_", Path(output).stem, flags=re.ASCII)
    return f"model_{name}" if not name[0].isalpha() else name
