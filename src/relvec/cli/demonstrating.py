"""`relvec demo`: an example from a table to predictions, with the commands it uses."""

from __future__ import annotations

import os
import shlex
import tempfile
from contextlib import chdir, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import typer

from relvec.cli.console import CommandConsole
from relvec.cli.errors import CommandError, format_names

__all__ = ["demo_command", "make_houses"]

COMMANDS = (
    "relvec fit houses.csv --target price -o houses.relvec",
    "relvec inspect houses.relvec --vectors",
    "relvec predict houses.relvec new.csv --interval 0.95 --keep",
    "relvec score houses.relvec test.csv",
    "relvec denoise sensor.csv --column temperature --std -o clean.csv",
)

FILES = ("houses.csv", "test.csv", "new.csv", "sensor.csv", "houses.relvec", "clean.csv")
"""Files that the demo writes."""


def demo_command(console: CommandConsole, folder: str | None, seed: int) -> None:
    """Write the example tables, then run the commands on them."""
    from relvec.cli.app import app

    place: Any = tempfile.TemporaryDirectory() if folder is None else nullcontext(folder)
    with place as where:
        try:
            os.makedirs(where, exist_ok=True)
        except OSError as error:
            raise CommandError(f"Cannot create the folder '{where}': {error.strerror}.") from error
        existing = [name for name in FILES if (Path(where) / name).exists()]
        if existing:
            raise CommandError(
                f"'{where}' already contains {format_names(existing)}, which would be overwritten. "
                "Choose another folder with --folder."
            )
        with chdir(where):
            _write_tables(seed)
            print(
                "# example tables: houses.csv, test.csv, new.csv, sensor.csv (--folder keeps them)"
            )
            for line in COMMANDS:
                print(f"\n$ {line}", flush=True)
                arguments = shlex.split(line)[1:] + (["--quiet"] if console.quiet else [])
                code = app(arguments, standalone_mode=False)
                if code:
                    raise typer.Exit(code)
    if folder is not None:
        console.note(f"The example files are in '{folder}'.")


def make_houses(n_rows: int, rng: np.random.Generator) -> pl.DataFrame:
    """Simulate houses whose price is nonlinear in the area and depends on town and age.

    The columns `id` and `door_number` have no effect on the price.
    """
    area = rng.uniform(40.0, 200.0, n_rows)
    town = rng.choice(["Astad", "Belmo", "Cerny"], n_rows, p=[0.5, 0.3, 0.2])
    age = rng.integers(0, 80, n_rows)
    town_effect = np.select([town == "Astad", town == "Belmo"], [60.0, 20.0], 0.0)
    price = 400.0 * np.tanh(area / 120.0) + town_effect - 0.8 * age + 10.0 * rng.normal(size=n_rows)
    n_rooms: list[int | None] = [int(a // 28) + 1 for a in area]
    for row in rng.choice(n_rows, n_rows // 20, replace=False):
        n_rooms[row] = None
    return pl.DataFrame(
        {
            "id": np.arange(1, n_rows + 1),
            "area": area.round(1),
            "rooms": n_rooms,
            "town": town,
            "age": age,
            "door_number": rng.integers(1, 100, n_rows),
            "price": price.round(1),
        }
    )


def _write_tables(seed: int) -> None:
    rng = np.random.default_rng(seed)
    make_houses(150, rng).write_csv("houses.csv")
    make_houses(200, rng).write_csv("test.csv")
    make_houses(5, rng).drop("price").write_csv("new.csv")
    time = np.linspace(0.0, 1.0, 1024)
    temperature = 20.0 + 4.0 * np.sin(6.0 * time) + 3.0 * (time > 0.6)
    noisy = temperature + 0.5 * rng.normal(size=len(time))
    pl.DataFrame({"time": time, "temperature": noisy.round(3)}).write_csv("sensor.csv")
