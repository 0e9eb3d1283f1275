"""`relvec denoise`: denoise columns, arrays, sounds and images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from relvec import SmoothDenoiser
from relvec.cli.columns import check_column, split_names
from relvec.cli.console import Advance, CommandConsole
from relvec.cli.errors import CommandError, UsageError, format_names
from relvec.cli.kinds import as_numbers
from relvec.cli.reading import read_table
from relvec.cli.signals import Signal, read_signal
from relvec.cli.sources import SIGNALS, TABLES, Source, find_source, format_of
from relvec.cli.summaries.parts import format_number, key_values
from relvec.cli.writing import STREAMED, TableWriter, atomic_output, check_output

__all__ = ["DenoiseRequest", "denoise_command"]

MODES = ("quality", "plain")


@dataclass(frozen=True)
class DenoiseRequest:
    """Arguments of `relvec denoise`."""

    source: str
    output: str | None = None
    columns: Sequence[str] = ()
    std: bool = False
    noise: float | None = None
    mode: str = "quality"
    format: str | None = None
    delimiter: str | None = None
    decimal_comma: bool = False


def denoise_command(console: CommandConsole, request: DenoiseRequest) -> None:
    """Denoise a file and write the result."""
    if request.mode not in MODES:
        raise UsageError(f"--mode must be one of {', '.join(MODES)}; got {request.mode!r}.")
    if request.noise is not None and not request.noise > 0.0:
        raise UsageError(f"--noise must be a positive number; got {request.noise}.")
    console.option_names = {"noise_std": "--noise"}
    check_output(request.output, request.source)
    source = find_source(
        request.source,
        format=request.format,
        delimiter=request.delimiter,
        decimal_comma=request.decimal_comma,
        formats=(*TABLES, *SIGNALS),
    )
    by_column = source.format not in ("npy", *SIGNALS)
    noise_stds, unit = (_denoise_table if by_column else _denoise_signal)(console, request, source)
    facts: dict[str, Any] = {
        "source": request.source,
        "output": request.output,
        "noise_std": noise_stds,
        "unit": unit,
        "notes": console.notes,
    }
    if console.as_json:
        console.report(facts, list)
    elif request.output not in (None, "-") and not console.quiet:
        console.report(facts, lambda: [key_values(_summary_lines(facts, by_column=by_column))])
    else:
        for name, noise_std in noise_stds.items():
            console.note(f"Noise standard deviation of {name}: {_format_value(noise_std)}.")


def _summary_lines(facts: dict[str, Any], *, by_column: bool) -> list[tuple[str, str]]:
    """List the signal, its noise standard deviation and the output file."""
    noise_stds, unit = facts["noise_std"], facts["unit"]
    range_note = f" ({unit})" if unit else ""
    lines = [] if by_column else [("signal", name) for name in noise_stds]
    for name, noise_std in noise_stds.items():
        label = f"noise std of {name}" if by_column else "noise std"
        lines.append((label, f"{_format_value(noise_std)}{range_note}"))
    return [*lines, ("saved", str(facts["output"]))]


def _format_value(noise_std: Any) -> str:
    return ", ".join(format_number(float(each)) for each in np.ravel(noise_std))


def _make_denoiser(
    request: DenoiseRequest, advance: Advance, channel_axis: int | None
) -> SmoothDenoiser:
    n_before = 0

    # the denoiser reports how many tiles are done; the bar needs the increment
    def report_progress(n_done: int, n_tiles: int) -> None:
        nonlocal n_before
        advance(n_done - n_before, n_tiles)
        n_before = n_done

    return SmoothDenoiser(
        request.mode,
        noise_std="auto" if request.noise is None else request.noise,
        with_std=request.std,
        channel_axis=channel_axis,
        progress=report_progress,
    )


def _denoise_table(
    console: CommandConsole, request: DenoiseRequest, source: Source
) -> tuple[dict[str, Any], str]:
    """Denoise columns of a table; the other columns are copied."""
    if console.as_json and request.output in (None, "-"):
        raise UsageError(
            "--json prints on the standard output, where the table would go. Write the table to a "
            "file with -o."
        )
    writer = TableWriter(request.output)
    frame = read_table(source)
    names = split_names(request.columns, frame.columns)
    for name in names:
        check_column(name, frame.columns, source, role="signal")
    names = names or _find_numeric_column(frame, source)
    noise_stds: dict[str, Any] = {}
    new: list[pl.Series] = []
    for name in names:
        with console.progress(f"denoising {name}", None) as advance:
            numbers, bad = as_numbers(frame[name])
            if bad is not None:
                raise CommandError(
                    f"Column '{name}' must contain numbers only, but row {bad + 1} has "
                    f"{str(frame[name].item(bad))!r}."
                )
            if len(numbers) - numbers.null_count() < 2:
                raise CommandError(
                    f"Column '{name}' has fewer than two numbers; at least two are needed."
                )
            denoiser = _make_denoiser(request, advance, None)
            denoiser.fit(numbers.fill_null(float("nan")).to_numpy())
            new.append(pl.Series(f"{name}_denoised", denoiser.signal_))
            if request.std:
                new.append(pl.Series(f"{name}_denoised_std", denoiser.std_))
            noise_stds[name] = denoiser.noise_std_
    with writer:
        writer.write(frame.with_columns(new))
    return noise_stds, ""


def _find_numeric_column(frame: pl.DataFrame, source: Source) -> list[str]:
    """Return the only numeric column; an error if there is not exactly one."""
    numbers = [name for name in frame.columns if as_numbers(frame[name])[1] is None]
    if len(numbers) == 1:
        return numbers
    raise UsageError(
        f"Name the column of {source.name} to denoise with --column. Its columns are "
        f"{format_names(frame.columns)}."
    )


def _denoise_signal(
    console: CommandConsole, request: DenoiseRequest, source: Source
) -> tuple[dict[str, Any], str]:
    """Denoise an array, a sound or an image."""
    kind = _choose_output_format(request, source)
    assert request.output is not None
    is_table = kind in (*STREAMED, "parquet")
    writer = TableWriter(request.output) if is_table else None
    signal = read_signal(source)
    with console.progress("denoising", None) as advance:
        denoiser = _make_denoiser(request, advance, signal.channel_axis)
        samples = signal.samples
        denoiser.fit(samples if np.iscomplexobj(samples) else samples.astype(np.float64))
    if writer is not None:
        with writer:
            writer.write(_tabulate_sound(denoiser, signal, with_std=request.std))
        return {signal.what: denoiser.noise_std_}, signal.unit
    with atomic_output(request.output) as temporary:
        if kind == "npz":
            arrays: dict[str, Any] = {"signal": denoiser.signal_}
            if request.std:
                arrays["std"] = denoiser.std_
            np.savez(temporary, **arrays)
        else:
            signal.write(denoiser.signal_, temporary, request.output)
    return {signal.what: denoiser.noise_std_}, signal.unit


def _choose_output_format(request: DenoiseRequest, source: Source) -> str:
    """Return the output format, after checking that it can store this signal."""
    if source.path == "-":
        raise UsageError(f"{source.format} is read from files only, not from the standard input.")
    if request.output is None or request.output == "-":
        raise UsageError(f"Name the file to write with -o; {source.format} cannot be printed.")
    if request.columns:
        raise UsageError(f"--column is for tables; {source.name} is a {source.format} file.")
    as_table = (*STREAMED, "parquet") if source.format == "wav" else ()
    kind = format_of(request.output, (source.format, "npy", "npz", *as_table))
    if request.std and kind not in ("npz", *as_table):
        alternatives = "a .npz or .csv file" if as_table else "a .npz file"
        raise UsageError(f"--std cannot be stored in this format; write to {alternatives} with -o.")
    return kind


def _tabulate_sound(denoiser: SmoothDenoiser, signal: Signal, *, with_std: bool) -> pl.DataFrame:
    """Tabulate a sound: time in seconds, then the samples of each channel."""
    assert signal.rate is not None
    parts = {"denoised": denoiser.signal_} | ({"denoised_std": denoiser.std_} if with_std else {})
    columns = {"seconds": np.arange(len(denoiser.signal_)) / signal.rate}
    for what, values in parts.items():
        if values.ndim == 1:
            columns[what] = values
        else:
            columns |= {f"{what}_{i + 1}": each for i, each in enumerate(values.T)}
    return pl.DataFrame(columns)
