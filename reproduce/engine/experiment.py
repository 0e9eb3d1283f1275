"""Definition of an experiment: tasks in stages, and cells, tables and plots of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.report import Table
from reproduce.engine.cells import Cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Experiment", "Results", "Settings", "Stage", "Task"]

Value = dict[str, Any]
"""Result of a task: numbers, text and lists (or arrays) of them, by name."""


class Settings(NamedTuple):
    """Settings of a run."""

    folder: Path | None = None
    """Folder of the data and published values; None for that of the environment variable."""
    repetitions: int | None = None
    is_quick: bool = False

    def draws(self, full: int, quick: int = 2) -> int:
        """Return the number of repetitions.

        Parameters
        ----------
        full : int
            Number in a full run, as in the paper.
        quick : int
            Number in a quick run.
        """
        if self.repetitions is not None:
            return self.repetitions
        return min(full, quick) if self.is_quick else full

    def at_most(self, full: int, quick: int = 2) -> int:
        """Return the number of repetitions of something limited in number, such as splits."""
        return min(full, self.draws(full, quick))


class Task(NamedTuple):
    """A computation whose result is stored.

    The call must be a function of a module. Its arguments are the folder of the data and then
    `arguments`, which include the seeds: it must return the same value each time.
    """

    key: str
    """Unique in its experiment; parts are separated by slashes."""
    call: Callable[..., Value]
    arguments: tuple[Any, ...] = ()


class Results:
    """Values of finished tasks by key.

    Parameters
    ----------
    values : mapping of str to dict
        Results of the tasks.
    seconds : mapping of str to float
        CPU seconds of each.
    n_known : int
        Number of tasks stored by earlier runs.
    """

    def __init__(
        self, values: Mapping[str, Value], seconds: Mapping[str, float], n_known: int = 0
    ) -> None:
        self._values = dict(values)
        self._seconds = dict(seconds)
        self.n_known = n_known

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, key: str) -> Value:
        return self._values[key]

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def under(self, prefix: str) -> list[Value]:
        """Return the values whose keys start with the prefix and a slash, in order of tasks."""
        return [value for key, value in self._values.items() if key.startswith(f"{prefix}/")]

    def column(self, prefix: str, name: str) -> list[Any]:
        """Return one entry of each of the values under a prefix."""
        return [value[name] for value in self.under(prefix)]

    @property
    def seconds(self) -> float:
        """CPU seconds of all tasks."""
        return sum(self._seconds.values())


Stage = Callable[[Settings, Results], Sequence[Task]]
"""Makes tasks from the results of the previous stages."""


def _no_tables(results: Results, settings: Settings) -> list[Table]:
    return []


@dataclass(frozen=True)
class Experiment:
    """The reproduction of a published experiment.

    Parameters
    ----------
    source : str
        The paper, and the section or figure.
    title : str
        The topic in one line.
    protocol : str
        What was done, and where it differs from the published description: paragraphs and lists
        in Markdown.
    stages : tuple of callable
        Tasks; those of a stage may depend on results of previous stages.
    cells : callable
        Makes the cells (published values and ours) from the results.
    figures : callable
        Makes plots by name.
    tables : callable
        Makes further tables.
    """

    source: str
    title: str
    protocol: str
    stages: tuple[Stage, ...]
    cells: Callable[[Results, Settings], list[Cell]]
    figures: Callable[[Results, Settings], dict[str, Figure]]
    tables: Callable[[Results, Settings], list[Table]] = field(default=_no_tables)
