"""Options shared by several commands."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["Debug", "DecimalComma", "Delimiter", "Format", "Json", "Quiet", "Seed"]

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="Format of the input: csv, tsv, parquet, jsonl, npy or npz. Default: from the suffix.",
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter", metavar="CHAR", help='Field delimiter of a csv file. Default: ",".'
    ),
]
DecimalComma = Annotated[
    bool, typer.Option("--decimal-comma", help="Read numbers with a decimal comma, as in 1,5.")
]
Seed = Annotated[
    int,
    typer.Option("--seed", metavar="N", min=0, max=2**32 - 1, help="Seed of the random numbers."),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Do not print notes or a summary. Requested results and errors are still printed.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print the results, including the notes, as one JSON object.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
