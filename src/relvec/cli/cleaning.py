"""`relvec denoise`: noise out of columns, arrays, sounds and images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from relvec import SmoothDenoiser
from relvec.cli.columns import find_column, split_names
from relvec.cli.console import Advance, CommandConsole
from relvec.cli.errors import CommandError, UsageError, listed
from relvec.cli.kinds import as_numbers
from relvec.cli.reading import read_table
from relvec.cli.signals import Signal, read_signal
from relvec.cli.sources import SIGNALS, TABLES, Source, find_source, format_of
from relvec.cli.summaries.parts import figure, pairs
from relvec.cli.writing import STREAMED, TableWriter, check_target, replacing

__all__ = ["DenoiseRequest", "denoise_command"]

MODES = ("quality", "plain")


@dataclass(frozen=True)
class DenoiseRequest:
    """What was asked for on the command line."""

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
    """Denoise a file into one of the same kind."""
    if request.mode not in MODES:
        raise UsageError(f"--mode must be one of {', '.join(MODES)}; got {request.mode!r}.")
    if request.noise is not None and not request.noise > 0.0:
        raise UsageError(f"--noise must be a positive number; got {request.noise}.")
    console.options = {"noise_std": "--noise"}
    check_target(request.output, request.source)
    source = find_source(
        request.source,
        format=request.format,
        delimiter=request.delimiter,
        decimal_comma=request.decimal_comma,
        formats=(*TABLES, *SIGNALS),
    )
    by_column = source.format not in ("npy", *SIGNALS)
    levels, unit = (_clean_table if by_column else _clean_signal)(console, request, source)
    facts: dict[str, Any] = {
        "source": request.source,
        "output": request.output,
        "noise_std": levels,
        "unit": unit,
        "notes": console.notes,
    }
    if console.as_json:
        console.answer(facts, list)
    elif request.output not in (None, "-") and not console.quiet:
        console.answer(facts, lambda: [pairs(_lines(facts, by_column=by_column))])
    else:
        for name, level in levels.items():
            console.note(f"Noise of {name}: {_shown(level)} (standard deviation).")


def _lines(facts: dict[str, Any], *, by_column: bool) -> list[tuple[str, str]]:
    """The screen: what the signal is, its noise, and where the answer is."""
    levels, unit = facts["noise_std"], facts["unit"]
    of = f"standard deviation; {unit}" if unit else "standard deviation"
    lines = [] if by_column else [("signal", name) for name in levels]
    for name, level in levels.items():
        lines.append((f"noise of {name}" if by_column else "noise", f"{_shown(level)} ({of})"))
    return [*lines, ("saved", str(facts["output"]))]


def _shown(level: Any) -> str:
    return ", ".join(figure(float(each)) for each in np.ravel(level))


def _denoiser(
    request: DenoiseRequest, advance: Advance, channel_axis: int | None
) -> SmoothDenoiser:
    n_before = 0

    def tell(n_done: int, n_tiles: int) -> None:
        nonlocal n_before
        advance(n_done - n_before, n_tiles)
        n_before = n_done

    return SmoothDenoiser(
        request.mode,
        noise_std="auto" if request.noise is None else request.noise,
        with_std=request.std,
        channel_axis=channel_axis,
        progress=tell,
    )


def _clean_table(
    console: CommandConsole, request: DenoiseRequest, source: Source
) -> tuple[dict[str, Any], str]:
    """Denoise columns of a table, which keeps all others."""
    if console.as_json and request.output in (None, "-"):
        raise UsageError(
            "--json answers on the standard output, where the table would go: give -o."
        )
    writer = TableWriter(request.output)
    frame = read_table(source)
    names = split_names(request.columns, frame.columns)
    for name in names:
        find_column(name, frame.columns, source, role="signal")
    names = names or _only_signal(frame, source)
    levels: dict[str, Any] = {}
    new: list[pl.Series] = []
    for name in names:
        with console.progress(f"denoising {name}", None) as advance:
            numbers, bad = as_numbers(frame[name])
            if bad is not None:
                raise CommandError(
                    f"Column '{name}' must hold numbers, but row {bad + 1} has "
                    f"{str(frame[name].item(bad))!r}."
                )
            if len(numbers) - numbers.null_count() < 2:
                raise CommandError(f"Column '{name}' has fewer than two numbers.")
            denoiser = _denoiser(request, advance, None)
            denoiser.fit(numbers.fill_null(float("nan")).to_numpy())
            new.append(pl.Series(f"{name}_denoised", denoiser.signal_))
            if request.std:
                new.append(pl.Series(f"{name}_denoised_std", denoiser.std_))
            levels[name] = denoiser.noise_std_
    with writer:
        writer.write(frame.with_columns(new))
    return levels, ""


def _only_signal(frame: pl.DataFrame, source: Source) -> list[str]:
    """The one column of numbers, if none was named."""
    numbers = [name for name in frame.columns if as_numbers(frame[name])[1] is None]
    if len(numbers) == 1:
        return numbers
    raise UsageError(
        f"Say which column of {source.name} is the signal, with --column: it has "
        f"{listed(frame.columns)}."
    )


def _clean_signal(
    console: CommandConsole, request: DenoiseRequest, source: Source
) -> tuple[dict[str, Any], str]:
    """Denoise an array, a sound or an image."""
    kind = _kind_of_output(request, source)
    assert request.output is not None
    is_table = kind in (*STREAMED, "parquet")
    writer = TableWriter(request.output) if is_table else None
    signal = read_signal(source)
    with console.progress("denoising", None) as advance:
        denoiser = _denoiser(request, advance, signal.channel_axis)
        samples = signal.samples
        denoiser.fit(samples if np.iscomplexobj(samples) else samples.astype(np.float64))
    if writer is not None:
        with writer:
            writer.write(_sound_table(denoiser, signal, with_std=request.std))
        return {signal.what: denoiser.noise_std_}, signal.unit
    with replacing(request.output) as temporary:
        if kind == "npz":
            arrays: dict[str, Any] = {"signal": denoiser.signal_}
            if request.std:
                arrays["std"] = denoiser.std_
            np.savez(temporary, **arrays)
        else:
            signal.write(denoiser.signal_, temporary, request.output)
    return {signal.what: denoiser.noise_std_}, signal.unit


def _kind_of_output(request: DenoiseRequest, source: Source) -> str:
    """Format of what is written, if a signal of this kind can be."""
    if source.path == "-":
        raise UsageError(f"{source.format} is read from files only; name one.")
    if request.output is None or request.output == "-":
        raise UsageError(f"Name the file to write with -o; {source.format} does not go to stdout.")
    if request.columns:
        raise UsageError(f"--column is for tables; {source.name} is a {source.format} file.")
    as_table = (*STREAMED, "parquet") if source.format == "wav" else ()
    kind = format_of(request.output, (source.format, "npy", "npz", *as_table))
    if request.std and kind not in ("npz", *as_table):
        places = "a .npz or .csv file" if as_table else "a .npz file"
        raise UsageError(f"--std has no place in this kind of file; write to {places} with -o.")
    return kind


def _sound_table(denoiser: SmoothDenoiser, signal: Signal, *, with_std: bool) -> pl.DataFrame:
    """A sound as a table: seconds, then the samples of each channel."""
    assert signal.rate is not None
    parts = {"denoised": denoiser.signal_} | ({"denoised_std": denoiser.std_} if with_std else {})
    columns = {"seconds": np.arange(len(denoiser.signal_)) / signal.rate}
    for what, values in parts.items():
        if values.ndim == 1:
            columns[what] = values
        else:
            columns |= {f"{what}_{i + 1}": each for i, each in enumerate(values.T)}
    return pl.DataFrame(columns)
