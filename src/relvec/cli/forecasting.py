"""`relvec forecast`: predict the next inputs of a series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from relvec._compat import import_optional
from relvec.cli.console import CommandConsole
from relvec.cli.errors import CommandError, UsageError
from relvec.cli.model_file import StoredModel, load_model
from relvec.cli.search_facts import is_search
from relvec.cli.summaries.parts import key_values
from relvec.cli.writing import TableWriter, atomic_output, check_output

__all__ = ["ForecastRequest", "forecast_command"]

PLOTS = (".png", ".pdf", ".svg")
FAR = 0.5
"""Forecasts farther ahead than this share of the length of the record give a note."""


@dataclass(frozen=True)
class ForecastRequest:
    """Arguments of `relvec forecast`."""

    model: str
    steps: int
    output: str | None = None
    coverage: float = 0.95
    quantiles: Sequence[float] = ()
    plot: str | None = None
    output_format: str | None = None


def forecast_command(console: CommandConsole, request: ForecastRequest) -> None:
    """Predict the next inputs of a series; write a table and a plot."""
    _check_request(request)
    stored = load_model(request.model)
    _check_model(stored)
    frame = _tabulate(stored, request)
    _note_distance(stored, request.steps, console)
    if request.plot is not None:
        _draw(stored, request)
    facts: dict[str, Any] = {
        "target": stored.target,
        "steps": request.steps,
        "coverage": request.coverage,
        "columns": frame.columns,
        "output": request.output,
        "plot": request.plot,
        "notes": console.notes,
    }
    if request.output is not None or not console.as_json:
        with TableWriter(request.output, request.output_format, inputs=(request.model,)) as writer:
            writer.write(frame)
    else:
        rows = frame.with_columns(pl.selectors.temporal().cast(pl.String))
        facts["forecast"] = rows.to_dicts()
    is_printed = request.output in (None, "-")
    if console.as_json or not (is_printed or console.quiet):
        console.report(facts, lambda: [key_values(_summary_lines(facts, frame))])


def _check_request(request: ForecastRequest) -> None:
    """Check the arguments before anything is read."""
    if request.steps < 1:
        raise UsageError(f"--steps must be at least 1; got {request.steps}.")
    for option, level in (
        ("--coverage", request.coverage),
        *(("--quantile", level) for level in request.quantiles),
    ):
        if not 0.0 < level < 1.0:
            raise UsageError(f"{option} must be strictly between 0 and 1; got {level:g}.")
    check_output(request.output, request.model)
    check_output(request.plot, request.model)
    if request.plot is not None and Path(request.plot).suffix.lower() not in PLOTS:
        raise UsageError(f"--plot must end in {', '.join(PLOTS)}; got {request.plot!r}.")


def _check_model(stored: StoredModel) -> None:
    model = stored.model
    if not is_search(model):
        raise CommandError(
            f"'{stored.path}' holds a {type(model).__name__}; forecasts need the model of a "
            "series. Fit one with: relvec fit TABLE --target COLUMN --search --time COLUMN -o FILE"
        )
    if model.n_features_in_ != 1:
        raise CommandError(
            f"'{stored.path}' is a function of {model.n_features_in_} columns, which has no next "
            "rows. Predict a table with relvec predict, or fit a series with --search --time."
        )


def _find_input_name(stored: StoredModel) -> str:
    names = [column.name for column in stored.columns]
    return names[0] if names else "input"


def _tabulate(stored: StoredModel, request: ForecastRequest) -> pl.DataFrame:
    """Return the next inputs with median, interval and quantiles."""
    model, target = stored.model, stored.target
    ahead = model.future_inputs(request.steps)
    distribution = model.predict_distribution(ahead)
    columns: dict[str, Any] = {_find_input_name(stored): _as_column(ahead[:, 0])}
    lower, upper = distribution.interval(request.coverage).T
    columns |= {f"{target}_median": distribution.centre}
    columns |= {f"{target}_lower": lower, f"{target}_upper": upper}
    columns |= {f"{target}_q{level:g}": distribution.quantile(level) for level in request.quantiles}
    return pl.DataFrame(columns)


def _as_column(values: np.ndarray) -> pl.Series:
    """Return numbers, or dates without times if all are midnight."""
    if values.dtype.kind != "M":
        return pl.Series(values)
    days = values.astype("datetime64[D]")
    return pl.Series(days if (days == values).all() else values.astype("datetime64[us]"))


def _note_distance(stored: StoredModel, n_steps: int, console: CommandConsole) -> None:
    """Note that a forecast goes far beyond the record, where the structure may not hold."""
    if not stored.takes_tables:
        return
    share = n_steps / max(stored.about["rows"]["used"], 1)
    if share > FAR:
        console.note(
            f"The forecast goes beyond the record by {100 * share:.0f} % of its length. It assumes "
            "that trend and seasons go on as they are; changes that the record does not show are "
            "not in the intervals."
        )


def _summary_lines(facts: dict[str, Any], frame: pl.DataFrame) -> list[tuple[str, str]]:
    first, last = (str(frame.item(row, 0)) for row in (0, -1))
    lines = [("forecast", f"{facts['steps']} steps of {facts['target']}, {first} to {last}")]
    lines += [("saved", facts[name]) for name in ("output", "plot") if facts[name] is not None]
    return lines


def _draw(stored: StoredModel, request: ForecastRequest) -> None:
    assert request.plot is not None
    import_optional("matplotlib").use("Agg")
    from relvec.plotting import ForecastDisplay

    display = ForecastDisplay.from_estimator(
        stored.model,
        n_steps=request.steps,
        coverages=(request.coverage,),
        names=(_find_input_name(stored), stored.target),
    )
    with atomic_output(request.plot) as temporary:
        display.figure_.savefig(temporary, dpi=150, format=Path(request.plot).suffix[1:].lower())
