"""Tables from files, whole or in blocks, with the names of their columns.

Text stays text here: which columns are numbers is decided by `relvec.cli.kinds`, so that a
value is read in one and the same way when a model is fitted and when it is used.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import polars as pl

from relvec.cli.errors import CommandError, listed
from relvec.cli.sources import Source, open_text, read_bytes

__all__ = ["BLOCK", "read_blocks", "read_table"]

BLOCK = 20_000
"""Rows that are in memory at a time where a file is read in blocks."""


def read_table(source: Source) -> pl.DataFrame:
    """Read a whole table."""
    blocks = list(read_blocks(source, 5 * BLOCK))
    try:
        return blocks[0] if len(blocks) == 1 else pl.concat(blocks, how="diagonal_relaxed")
    except pl.exceptions.PolarsError as error:
        raise CommandError(
            f"A column of {source.name} changes its kind on the way: {str(error).splitlines()[0]}."
        ) from error


def read_blocks(source: Source, rows: int = BLOCK) -> Iterator[pl.DataFrame]:
    """Read a table in blocks of so many rows, all with the same columns.

    There is at least one block; a table without rows is an error.
    """
    reader = {
        "csv": _csv_blocks,
        "tsv": _csv_blocks,
        "jsonl": _json_blocks,
        "parquet": _parquet_blocks,
        "npy": _array_blocks,
        "npz": _array_blocks,
    }[source.format]
    try:
        empty = True
        for block in reader(source, rows):
            empty = False
            yield block
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{source.name} is not UTF-8 text (byte {error.start} of a block cannot be read). "
            "Convert it first, for instance: iconv -f latin1 -t utf-8 old.csv > new.csv"
        ) from error
    except csv.Error as error:
        raise CommandError(f"{source.name} cannot be read as {source.format}: {error}.") from error
    except pl.exceptions.PolarsError as error:
        first = str(error).splitlines()[0]
        raise CommandError(f"{source.name} cannot be read as {source.format}: {first}.") from error
    if empty:
        raise CommandError(f"{source.name} has a header but no rows.")


def _csv_blocks(source: Source, rows: int) -> Iterator[pl.DataFrame]:
    with open_text(source) as text:
        lines = csv.reader(text, delimiter=source.delimiter)
        header = next((line for line in lines if line), None)
        if header is None:
            raise CommandError(f"{source.name} is empty.")
        names = column_names([name.strip() for name in header], source)
        width, first = len(names), 1
        # a blank line is nothing, except where it is the only column's missing value
        records = (line for line in lines if line or width == 1)
        while block := list(islice(records, rows)):
            _check_widths(block, width, first, source)
            columns = [
                [(line[i] or None) if i < len(line) else None for line in block]
                for i in range(width)
            ]
            frame = pl.DataFrame(
                [pl.Series(n, c, dtype=pl.String) for n, c in zip(names, columns, strict=True)]
            )
            first += len(block)
            yield _with_points(frame) if source.decimal_comma else frame


def _check_widths(block: list[list[str]], width: int, first: int, source: Source) -> None:
    for row, line in enumerate(block, start=first):
        if len(line) > width:
            raise CommandError(
                f"Row {row} of {source.name} has {len(line)} fields, but the header has {width}. "
                "Put quotes around text that contains the delimiter."
            )


def _with_points(frame: pl.DataFrame) -> pl.DataFrame:
    """Write 1.234,5 as 1234.5 where a whole value looks like such a number."""
    number = r"^\s*[-+]?[0-9.]*,[0-9]+([eE][-+]?[0-9]+)?\s*$"
    text = pl.all()
    rewritten = text.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    return frame.with_columns(pl.when(text.str.contains(number)).then(rewritten).otherwise(text))


def column_names(names: list[str], source: Source) -> list[str]:
    """Names of all columns: nameless ones get one, equal ones are an error."""
    names = [name or f"unnamed_{i}" for i, name in enumerate(names, start=1)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise CommandError(
            f"{source.name} has several columns named {listed(twice)}; names must differ."
        )
    return names


def _json_blocks(source: Source, rows: int) -> Iterator[pl.DataFrame]:
    names: list[str] = []
    first = 1
    with open_text(source) as text:
        lines = (line for line in text if line.strip())
        while block := list(islice(lines, rows)):
            try:
                frame = pl.read_ndjson(
                    io.BytesIO("".join(block).encode()), infer_schema_length=None
                )
            except pl.exceptions.PolarsError as error:
                raise CommandError(
                    f"{source.name} is not JSON lines (one object per line) near row {first}: "
                    f"{str(error).splitlines()[0]}."
                ) from error
            names = names or frame.columns
            absent = [pl.lit(None).alias(name) for name in names if name not in frame.columns]
            first += len(block)
            yield frame.with_columns(absent)
    if not names:
        raise CommandError(f"{source.name} is empty.")


def _parquet_blocks(source: Source, rows: int) -> Iterator[pl.DataFrame]:
    if source.path == "-":
        frame = pl.read_parquet(io.BytesIO(read_bytes(source)))
        yield from (part for part in frame.iter_slices(rows))
        return
    lazy = pl.scan_parquet(source.path)
    total = lazy.select(pl.len()).collect().item()
    for start in range(0, total, rows):
        yield lazy.slice(start, rows).collect()


def _array_blocks(source: Source, rows: int) -> Iterator[pl.DataFrame]:
    columns = _array_columns(source)
    total = len(next(iter(columns.values())))
    for start in range(0, total, rows):
        part = {name: np.asarray(values[start : start + rows]) for name, values in columns.items()}
        yield pl.DataFrame(part)


def _load_arrays(source: Source) -> dict[str, np.ndarray]:
    """Arrays by name; a single one, which has none, stays in its file."""
    if source.path == "-":
        loaded = np.load(io.BytesIO(read_bytes(source)), allow_pickle=False)
    else:
        mode: Any = "r" if source.format == "npy" else None
        loaded = np.load(source.path, mmap_mode=mode, allow_pickle=False)
    if not isinstance(loaded, np.ndarray):
        with loaded:
            return dict(loaded)
    if loaded.dtype.names:
        return {name: loaded[name] for name in loaded.dtype.names}
    return {"x": loaded if loaded.ndim != 1 else loaded[:, None]}


def _array_columns(source: Source) -> dict[str, Any]:
    """Columns of array files: x0, x1, ... of a matrix; the names of an archive."""
    try:
        arrays = _load_arrays(source)
    except (ValueError, EOFError, OSError) as error:
        raise CommandError(
            f"{source.name} is not a NumPy {source.format} file: {error}."
        ) from error
    lengths = {name: values.shape[0] if values.ndim else 0 for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise CommandError(
            f"The arrays in {source.name} differ in length: "
            + ", ".join(f"{name} has {length}" for name, length in lengths.items())
            + ". Keep those that are columns of one table."
        )
    columns: dict[str, Any] = {}
    for name, values in arrays.items():
        if values.ndim == 1:
            columns[name] = values
        elif values.ndim == 2:
            columns |= {f"{name.lower()}{i}": values[:, i] for i in range(values.shape[1])}
        else:
            raise CommandError(
                f"The array {name!r} in {source.name} has {values.ndim} axes; a table has one or "
                "two."
            )
    if not columns:
        raise CommandError(f"{source.name} has no arrays.")
    return columns
