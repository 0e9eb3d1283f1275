"""`relvec export`: a model as ONNX, C or Python code."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier

import relvec.io
from relvec.cli.console import CommandConsole
from relvec.cli.encoding import encoding_rules
from relvec.cli.errors import CommandError, UsageError
from relvec.cli.inspecting import feature_names
from relvec.cli.model_file import StoredModel, load_model
from relvec.cli.summaries.parts import format_size, key_values, table
from relvec.cli.writing import atomic_output, check_output
from relvec.describing import find_transform, is_sampled

__all__ = ["export_command"]

WRITERS = {".onnx": "export_onnx", ".c": "export_c", ".py": "export_python"}


def export_command(
    console: CommandConsole, path: str, output: str, *, mean_only: bool = False
) -> None:
    """Write the model in the language given by the suffix of the output file."""
    check_output(output, path)
    suffix = Path(output).suffix.lower()
    if suffix not in WRITERS:
        raise UsageError(
            f"'{output}' must end in {', '.join(WRITERS)}: the suffix selects the language."
        )
    stored = load_model(path)
    transform = find_transform(stored.model)
    if transform is not None:
        raise CommandError(
            f"A model of a transformed target ({transform}) cannot be exported. Fit it again with "
            "relvec fit --target-transform none."
        )
    if mean_only and is_classifier(stored.model):
        raise UsageError(
            f"--mean-only is for regressors, but '{path}' is a classifier, whose probabilities "
            "have no standard deviations. Omit --mean-only."
        )
    if is_sampled(stored.model):
        _check_sampled(stored.model, mean_only=mean_only)
    features, rules = feature_names(stored), _find_rules(stored)
    # the exported file documents its inputs by these names
    titles = [": ".join(pair) for pair in zip(features, rules, strict=True)] if rules else features
    model = copy.copy(stored.model)
    model.feature_names_in_ = np.array(titles, dtype=object)
    options: dict[str, Any] = {"name": _identifier(output)} if suffix == ".c" else {}
    options["std"] = not mean_only
    with atomic_output(output) as temporary:
        getattr(relvec.io, WRITERS[suffix])(model, temporary, **options)
    if rules:
        console.note(
            "The exported code takes encoded features, not the columns of the table. The caller "
            "must encode categories and impute missing values as listed for each feature."
        )
    facts: dict[str, Any] = {
        "output": output,
        "bytes": Path(output).stat().st_size,
        "features": features,
        "encoding": rules,
        "notes": console.notes,
    }
    if console.as_json or not console.quiet:
        console.report(facts, lambda: _summarise(facts))


def _check_sampled(model: Any, *, mean_only: bool) -> None:
    """Raise unless the mean of a sampled regressor is requested, and can be exported."""
    if is_classifier(model):
        raise CommandError(
            "A sampled classifier cannot be exported: its probabilities are averages over models "
            "drawn from the posterior. Fit it again with relvec fit without --sample."
        )
    if any(output.functions.scaled is not None for output in model.outputs_):
        raise CommandError(
            "The length-scales of this sampled model differ from draw to draw, so that it cannot "
            "be exported. Fit it again with relvec fit without --sample, or with --model linear."
        )
    if not mean_only:
        raise CommandError(
            "The standard deviations of a sampled model cannot be exported. Add --mean-only, or "
            "fit it again with relvec fit without --sample."
        )


def _find_rules(stored: StoredModel) -> list[str]:
    """Return the encoding of each feature; empty if all are plain numbers of the table."""
    is_plain = all(each.kind == "number" and not each.n_missing for each in stored.columns)
    return (
        []
        if is_plain or not stored.takes_tables
        else encoding_rules(stored.pipeline[0], stored.columns)
    )


def _summarise(facts: dict[str, Any]) -> list[Any]:
    saved = ("saved", f"{facts['output']} ({format_size(facts['bytes'])})")
    if not facts["encoding"]:
        return [key_values([saved, ("features", ", ".join(facts["features"]))])]
    rows = [
        [str(number), name, rule]
        for number, (name, rule) in enumerate(
            zip(facts["features"], facts["encoding"], strict=True), start=1
        )
    ]
    result = table(["", "feature, in this order", "encoding"], rows)
    for column in result.columns:
        column.justify = "left"
    result.columns[0].no_wrap, result.columns[2].no_wrap = True, False
    return [key_values([saved]), result]


def _identifier(output: str) -> str:
    """Make a C identifier from the name of the file.

    Examples
    --------
    >>> _identifier("models/house-prices.c")
    'house_prices'
    """
    name = re.sub(r"\W", "_", Path(output).stem, flags=re.ASCII)
    return f"model_{name}" if not name[0].isalpha() else name
