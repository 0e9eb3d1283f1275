"""Options that several commands share, declared once."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["Debug", "DecimalComma", "Delimiter", "Format", "Json", "Quiet", "Seed"]

Format = Annotated[
    str | None,
    typer.Option(
        "--format", help="csv, tsv, parquet, jsonl, npy or npz; by default from the suffix."
    ),
]
Delimiter = Annotated[
    str | None, typer.Option("--delimiter", help="What separates the fields of a csv file.")
]
DecimalComma = Annotated[
    bool, typer.Option("--decimal-comma", help="Numbers in the csv file are written as 1,5.")
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, max=2**32 - 1, help="For all that is done by chance.")
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="No notes and no screen; what was asked for still comes, and errors."
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Answer with one JSON object, which has the notes too.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error came from.")]
