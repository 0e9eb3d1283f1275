"""`relvec density`: the density of one or two columns, with bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from relvec import SparseBayesDensity
from relvec._compat import import_optional
from relvec.cli.columns import check_column, split_names
from relvec.cli.console import CommandConsole
from relvec.cli.errors import CommandError, UsageError, format_names
from relvec.cli.kinds import as_numbers
from relvec.cli.reading import read_table
from relvec.cli.sources import TABLES, Source, find_source
from relvec.cli.summaries.parts import format_number, key_values
from relvec.cli.writing import TableWriter, atomic_output, check_output

__all__ = ["DensityRequest", "density_command"]

PLOTS = (".png", ".pdf", ".svg")
LARGEST_GRID = 1000
"""Most points along each of two columns."""


@dataclass(frozen=True)
class DensityRequest:
    """Arguments of `relvec density`."""

    source: str
    columns: Sequence[str] = ()
    output: str | None = None
    supports: Sequence[str] = ()
    weight: str | None = None
    intensity: bool = False
    points: int = 200
    coverage: float = 0.95
    plot: str | None = None
    format: str | None = None
    delimiter: str | None = None
    decimal_comma: bool = False


def density_command(console: CommandConsole, request: DensityRequest) -> None:
    """Fit a density to columns of a table; print a summary, write a table and a plot."""
    _check_options(request, is_json=console.as_json)
    source = find_source(
        request.source,
        format=request.format,
        delimiter=request.delimiter,
        decimal_comma=request.decimal_comma,
        formats=TABLES,
    )
    frame = read_table(source)
    names = _find_columns(frame, request, source)
    values, weights, n_missing = _read_values(frame, names, request, source)
    if n_missing:
        console.note(f"{n_missing} of {len(frame)} rows have missing values and are left out.")
    model = SparseBayesDensity(
        support=_read_supports(request.supports, names), normalise=not request.intensity
    )
    try:
        model.fit(values, sample_weight=weights)
    except ValueError as error:
        raise CommandError(str(error)) from error
    facts = _describe(model, values, request, names, console)
    if request.output is not None:
        with TableWriter(request.output, inputs=(request.source,)) as writer:
            writer.write(_tabulate(model, values, request, names))
    if request.plot is not None:
        _draw(model, values, weights, request, names)
    is_printed = request.output == "-" and not console.as_json
    if not is_printed and not (console.quiet and request.output is not None):
        console.report(facts, lambda: [key_values(_summary_lines(facts))])


def _check_options(request: DensityRequest, *, is_json: bool) -> None:
    if not 0.0 < request.coverage < 1.0:
        raise UsageError(f"--coverage must be between 0 and 1; got {request.coverage:g}.")
    if request.output == "-" and is_json:
        raise UsageError(
            "--json prints on the standard output, where the table would go. Write the table to a "
            "file with -o."
        )
    check_output(request.output, request.source)
    check_output(request.plot, request.source)
    if request.plot is not None and Path(request.plot).suffix.lower() not in PLOTS:
        raise UsageError(f"--plot must end in {', '.join(PLOTS)}; got {request.plot!r}.")


def _find_columns(frame: pl.DataFrame, request: DensityRequest, source: Source) -> list[str]:
    names = split_names(request.columns, frame.columns)
    for name in [*names, *([] if request.weight is None else [request.weight])]:
        check_column(name, frame.columns, source, role="value")
    if not names:
        numeric = [name for name in frame.columns if as_numbers(frame[name])[1] is None]
        names = [name for name in numeric if name != request.weight]
        if len(names) != 1:
            raise UsageError(
                f"Name the column of {source.name} with --column. Its columns are "
                f"{format_names(frame.columns)}."
            )
    if len(names) > 2:
        raise UsageError(
            f"--column may be given once or twice, for a density of one or two variables; got "
            f"{format_names(names)}."
        )
    if len(request.supports) not in (0, len(names)):
        raise UsageError(
            f"--support must be given once for each of the {len(names)} columns, or not at all; "
            f"got {len(request.supports)}. Use : for a column without ends."
        )
    return names


def _read_values(
    frame: pl.DataFrame, names: list[str], request: DensityRequest, source: Source
) -> tuple[np.ndarray, np.ndarray | None, int]:
    """Return the values, their weights and the number of rows without them."""
    wanted = [*names, *([] if request.weight is None else [request.weight])]
    columns = []
    for name in wanted:
        numbers, bad = as_numbers(frame[name])
        if bad is not None:
            raise CommandError(
                f"Column '{name}' must contain numbers only, but row {bad + 1} has "
                f"{str(frame[name].item(bad))!r}."
            )
        columns.append(numbers.fill_null(float("nan")).to_numpy())
    table = np.column_stack(columns)
    complete = ~np.isnan(table).any(axis=1)
    if complete.sum() < 2:
        raise CommandError(
            f"{source.name} has {int(complete.sum())} complete rows in "
            f"{format_names(wanted)}; at least two are needed."
        )
    table = table[complete]
    weights = None if request.weight is None else table[:, -1]
    if weights is not None and ((weights < 0.0).any() or not weights.any()):
        raise CommandError(
            f"Weights must not be negative, nor all zero; column '{request.weight}' has "
            f"{weights.min():g} to {weights.max():g}."
        )
    return table[:, : len(names)], weights, int((~complete).sum())


def _read_supports(texts: Sequence[str], names: list[str]) -> Any:
    """Return the support from texts such as "0:" and "0:1"."""
    pairs = []
    for text in texts:
        parts = text.split(":")
        try:
            ends = [float(part) if part.strip() else None for part in parts]
        except ValueError:
            ends = []
        if len(ends) != 2:
            raise UsageError(
                f"--support must be LOWER:UPPER, such as 0: or 0:1 or :100; got {text!r}."
            )
        pairs.append(None if ends == [None, None] else tuple(ends))
    if not pairs:
        return None
    return pairs[0] if len(names) == 1 else pairs


def _describe(
    model: SparseBayesDensity,
    values: np.ndarray,
    request: DensityRequest,
    names: list[str],
    console: CommandConsole,
) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "source": request.source,
        "columns": names,
        "points": model.n_points_,
        "reference": model.reference_,
        "widths": model.widths_.tolist(),
        "effective_dof": model.effective_dof_,
        "log_evidence": model.log_evidence_,
        "output": request.output,
        "plot": request.plot,
        "notes": console.notes,
    }
    if len(names) == 1:
        levels = (0.05, 0.25, 0.5, 0.75, 0.95)
        facts["quantiles"] = dict(zip(map(str, levels), model.ppf(levels).tolist(), strict=True))
        facts["modes"] = _find_modes(model, values[:, 0])
    return facts


def _find_modes(model: SparseBayesDensity, values: np.ndarray) -> list[float]:
    """Return the local maxima of the density, the highest first."""
    x = model.ppf(np.linspace(0.001, 0.999, 999))
    density = model.pdf(x[:, None])
    inner = (density[1:-1] > density[:-2]) & (density[1:-1] >= density[2:])
    places = 1 + np.flatnonzero(inner)
    places = places if len(places) else np.array([int(density.argmax())])
    return [float(x[i]) for i in places[np.argsort(-density[places])]]


def _summary_lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    reference = facts["reference"]
    widths = facts["widths"]
    kept = f"{len(widths)} kept, the narrowest {min(widths):.3g} of the range" if widths else ""
    lines = [
        ("values", f"{facts['points']:g} of {' and '.join(facts['columns'])}"),
        ("reference", reference if isinstance(reference, str) else ", ".join(reference)),
        ("widths", kept or "none: the reference is enough"),
        ("effective dof", format_number(facts["effective_dof"])),
    ]
    if "modes" in facts:
        modes = facts["modes"]
        more = f" and {len(modes) - 5} more" if len(modes) > 5 else ""
        lines.append(("maxima at", ", ".join(map(format_number, modes[:5])) + more))
        quantiles = facts["quantiles"]
        lines.append(("median", format_number(quantiles["0.5"])))
        ends = format_number(quantiles["0.05"]), format_number(quantiles["0.95"])
        lines.append(("90 % of values", f"{ends[0]} to {ends[1]}"))
    for name in ("output", "plot"):
        if facts[name] is not None:
            lines.append(("saved", str(facts[name])))
    return lines


def _tabulate(
    model: SparseBayesDensity, values: np.ndarray, request: DensityRequest, names: list[str]
) -> pl.DataFrame:
    """Return the density with its band on a grid."""
    if len(names) == 1:
        ends = model.ppf([0.0005, 0.9995])
        lower, upper = min(ends[0], values.min()), max(ends[1], values.max())
        grid = np.linspace(lower, upper, request.points)[:, None]
    else:
        count = min(request.points, LARGEST_GRID)
        axes = [np.linspace(column.min(), column.max(), count) for column in values.T]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    density, band = model.pdf(grid, coverage=request.coverage)
    word = "intensity" if request.intensity else "density"
    columns = dict(zip(names, grid.T, strict=True))
    columns |= {word: density, f"{word}_lower": band[:, 0], f"{word}_upper": band[:, 1]}
    if len(names) == 1:
        columns["cdf"] = model.cdf(grid)
    return pl.DataFrame(columns)


def _draw(
    model: SparseBayesDensity,
    values: np.ndarray,
    weights: np.ndarray | None,
    request: DensityRequest,
    names: list[str],
) -> None:
    assert request.plot is not None
    matplotlib = import_optional("matplotlib")
    matplotlib.use("Agg")
    from relvec.plotting import DensityContourDisplay, DensityDisplay

    display: Any
    if len(names) == 1:
        display = DensityDisplay.from_estimator(
            model, values, sample_weight=weights, coverage=request.coverage
        )
        display.ax_.set_xlabel(names[0].replace("$", r"\$"))
    else:
        display = DensityContourDisplay.from_estimator(model, values)
        display.ax_.set(xlabel=names[0].replace("$", r"\$"), ylabel=names[1].replace("$", r"\$"))
    with atomic_output(request.plot) as temporary:
        display.figure_.savefig(temporary, dpi=150, format=Path(request.plot).suffix[1:].lower())
