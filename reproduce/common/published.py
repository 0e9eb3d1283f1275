"""Figures as they were printed, read from a folder that is not part of the repository."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

__all__ = ["FILE", "VARIABLE", "PublishedError", "find", "load"]

VARIABLE = "RELVEC_DATA"
"""Environment variable that names the folder."""
FILE = "TARGETS.toml"


class PublishedError(ValueError):
    """The published figures are there but cannot be used."""


def find(folder: str | Path | None, name: str) -> Path:
    """Return the path of a file in the folder; raise an error if it is missing.

    Parameters
    ----------
    folder : str, Path or None
        Where the file lies; None for the folder named by the environment variable.
    name : str
        Name of the file.
    """
    chosen = folder if folder is not None else os.environ.get(VARIABLE)
    if not chosen:
        raise FileNotFoundError(
            f"The published figures are not part of the repository: name the folder that holds "
            f"{name} by --data DIR or by the environment variable {VARIABLE}."
        )
    path = Path(chosen, name)
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist. Name the folder that holds {name} by --data DIR or by the "
            f"environment variable {VARIABLE}."
        )
    return path


def load(folder: str | Path | None, *keys: str) -> dict[str, Any]:
    """Return one table of the file of published figures.

    Parameters
    ----------
    folder : str, Path or None
        Where the file lies; None for the folder named by the environment variable.
    *keys : str
        Which table, from the outermost name inwards.
    """
    path = find(folder, FILE)
    try:
        table: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise PublishedError(f"{path} cannot be read: {error}.") from error
    for key in keys:
        if key not in table:
            raise PublishedError(f"{path} has no table [{'.'.join(keys)}].")
        table = table[key]
    return dict(table)
