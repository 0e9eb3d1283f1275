"""Reading of tables, whole or in blocks of rows.

Text is not converted here: `relvec.cli.kinds` decides which columns are numbers, so that a value
is read in the same way when a model is fitted and when it predicts.
"""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import polars as pl

from relvec.cli.errors import CommandError, format_names
from relvec.cli.limits import LIMITS
from relvec.cli.sources import Source, delimiter_hint, open_text, read_bytes

__all__ = ["join_blocks", "read_blocks", "read_table"]


def read_table(source: Source) -> pl.DataFrame:
    """Read a whole table."""
    return join_blocks(list(read_blocks(source, 5 * LIMITS.block_rows)))


def join_blocks(blocks: list[pl.DataFrame]) -> pl.DataFrame:
    """Concatenate blocks with the same columns; a column of mixed types becomes text.

    Examples
    --------
    >>> join_blocks([pl.DataFrame({"x": [1]}), pl.DataFrame({"x": ["one"]})])["x"].to_list()
    ['1', 'one']
    """
    if len(blocks) == 1:
        return blocks[0]
    mixed = []
    for name in blocks[0].columns:
        kinds = {block[name].dtype for block in blocks} - {pl.Null()}
        if len(kinds) > 1 and not all(kind.is_numeric() for kind in kinds):
            mixed.append(name)
    try:
        as_text = [block.with_columns(pl.col(mixed).cast(pl.String)) for block in blocks]
        return pl.concat(as_text, how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        raise CommandError(
            f"The values of {format_names(mixed)} have types that cannot be combined in one column."
        ) from error


def read_blocks(source: Source, rows: int = LIMITS.block_rows) -> Iterator[pl.DataFrame]:
    """Read a table in blocks of at most `rows` rows, all with the same columns.

    A table without rows is an error.
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
            if empty:
                _reject_patterns(block.columns, source)
            empty = False
            yield block
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{source.name} is not UTF-8 text (byte {error.start} of a block cannot be read). "
            "Convert it first, for example: iconv -f latin1 -t utf-8 old.csv > new.csv"
        ) from error
    except csv.Error as error:
        raise CommandError(
            f"{source.name} cannot be read as {source.format}: {error}. Is every quote closed?"
        ) from error
    except pl.exceptions.PolarsError as error:
        first = str(error).splitlines()[0]
        raise CommandError(f"{source.name} cannot be read as {source.format}: {first}.") from error
    if empty:
        raise CommandError(f"{source.name} has a header but no rows.")


def _reject_patterns(names: list[str], source: Source) -> None:
    """Reject column names that polars interprets as patterns for several columns."""
    for name in names:
        if name == "*" or (name.startswith("^") and name.endswith("$")):
            raise CommandError(
                f"{source.name} has a column named {name!r}, which polars reads as a pattern. "
                "Rename the column."
            )


def _csv_blocks(source: Source, rows: int) -> Iterator[pl.DataFrame]:
    with open_text(source) as text:
        lines = csv.reader(_reject_nul(text, source), delimiter=source.delimiter, strict=True)
        header = next((line for line in lines if line), None)
        if header is None:
            raise CommandError(f"{source.name} is empty.")
        names = column_names([name.strip() for name in header], source)
        # skip blank lines, except in a table of one column, where they are missing values
        records = (line for line in lines if line or len(names) == 1)
        yield from _text_blocks(records, names, source, rows)


def _text_blocks(
    records: Iterator[list[str]], names: list[str], source: Source, rows: int
) -> Iterator[pl.DataFrame]:
    """Yield blocks of text columns; fields absent at the end of a line are missing values."""
    width, first = len(names), 1
    rows = max(1, min(rows, LIMITS.block_cells // width))
    short: list[int] = []
    while block := list(islice(records, rows)):
        _check_widths(block, names, first, source)
        short += [row for row, line in enumerate(block, start=first) if len(line) < width]
        frame = pl.DataFrame([_text_column(name, block, i) for i, name in enumerate(names)])
        first += len(block)
        yield _with_decimal_points(frame) if source.decimal_comma else frame
    if short and width > 1:
        warnings.warn(
            f"{len(short)} rows of {source.name} have fewer fields than the header (the first is "
            f"row {short[0]}); the absent fields are read as missing.",
            stacklevel=2,
        )


def _text_column(name: str, block: list[list[str]], index: int) -> pl.Series:
    values = [(line[index] or None) if index < len(line) else None for line in block]
    return pl.Series(name, values, dtype=pl.String)


def _reject_nul(text: Iterable[str], source: Source) -> Iterator[str]:
    """Yield the lines of a text file; an error if it contains NUL bytes."""
    for line in text:
        if "\0" in line:
            raise CommandError(f"{source.name} is not a text file: it contains NUL bytes.")
        yield line


def _check_widths(block: list[list[str]], names: list[str], first: int, source: Source) -> None:
    for row, line in enumerate(block, start=first):
        if len(line) > len(names):
            hint = delimiter_hint(names[0], source) if len(names) == 1 else ""
            raise CommandError(
                f"Row {row} of {source.name} has {len(line)} fields, but the header has "
                f"{len(names)}." + (hint or " Quote text that contains the delimiter.")
            )


def _with_decimal_points(frame: pl.DataFrame) -> pl.DataFrame:
    """Convert numbers such as 1.234,5 to 1234.5."""
    number = r"^\s*[-+]?[0-9.]*,[0-9]+([eE][-+]?[0-9]+)?\s*$"
    text = pl.all()
    rewritten = text.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    return frame.with_columns(pl.when(text.str.contains(number)).then(rewritten).otherwise(text))


def column_names(names: list[str], source: Source) -> list[str]:
    """Name unnamed columns, and raise an error for duplicate names."""
    names = [name or f"unnamed_{i}" for i, name in enumerate(names, start=1)]
    duplicates = sorted(name for name, count in Counter(names).items() if count > 1)
    if duplicates:
        raise CommandError(
            f"{source.name} has several columns named {format_names(duplicates)}; "
            "names must be unique."
        )
    return names


def _json_blocks(source: Source, rows: int) -> Iterator[pl.DataFrame]:
    names: list[str] = []
    first = 1
    with open_text(source) as text:
        lines = (line for line in text if line.strip())
        while block := list(islice(lines, rows)):
            frame = _json_table(block, first, source)
            names = names or frame.columns
            late = [name for name in frame.columns if name not in names]
            if late:
                warnings.warn(
                    f"{source.name} has columns that are absent from its first {rows} rows; they "
                    f"are not used: {format_names(late)}.",
                    stacklevel=2,
                )
            first += len(block)
            yield _with_columns(frame, names)
    if not names:
        raise CommandError(f"{source.name} is empty.")


def _with_columns(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """Select these columns in this order; absent ones are filled with null."""
    absent = [pl.lit(None).alias(name) for name in names if name not in frame.columns]
    return frame.with_columns(absent).select(names)


def _json_table(block: list[str], first: int, source: Source) -> pl.DataFrame:
    try:
        return pl.read_ndjson(io.BytesIO("".join(block).encode()), infer_schema_length=None)
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise CommandError(
            f"{source.name} is not JSON lines (one object per line): "
            f"{_first_bad_line(block, first) or reason}."
        ) from error


def _first_bad_line(block: list[str], first: int) -> str:
    for row, line in enumerate(block, start=first):
        try:
            value = json.loads(line)
        except ValueError as error:
            return f"row {row} has an error ({error})"
        if not isinstance(value, dict):
            return f"row {row} is not a JSON object"
    return ""


def _parquet_blocks(source: Source, rows: int) -> Iterator[pl.DataFrame]:
    if source.is_stream:
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
    """Load arrays by name; an npy file is memory-mapped and its array named x."""
    if source.is_stream:
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
    """Return the columns of an array file: x0, x1, ... of a matrix, or the named arrays."""
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
            + ". Keep only arrays of the same length."
        )
    columns: dict[str, Any] = {}
    for name, values in arrays.items():
        columns |= _split_array(name, values, source)
    if not columns:
        raise CommandError(f"{source.name} has no arrays.")
    return columns


def _split_array(name: str, values: np.ndarray, source: Source) -> dict[str, Any]:
    if values.ndim == 1:
        return {name: values}
    if values.ndim == 2:
        return {f"{name.lower()}{i}": values[:, i] for i in range(values.shape[1])}
    raise CommandError(
        f"The array {name!r} in {source.name} has {values.ndim} axes; at most two are possible."
    )
