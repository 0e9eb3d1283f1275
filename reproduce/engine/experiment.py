"""What an experiment is: tasks by stages, cells, tables and figures made of their results."""

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
"""What a task returns: numbers, text and lists (or arrays) of them, by name."""


class Settings(NamedTuple):
    """What the user asked for."""

    folder: Path | None = None
    """Data and published figures; None for the folder named by the environment variable."""
    repetitions: int | None = None
    is_quick: bool = False

    def draws(self, full: int, quick: int = 2) -> int:
        """Return how often to repeat something.

        Parameters
        ----------
        full : int
            As often as in the paper.
        quick : int
            When it only has to be seen to work.
        """
        if self.repetitions is not None:
            return self.repetitions
        return min(full, quick) if self.is_quick else full

    def at_most(self, full: int, quick: int = 2) -> int:
        """Return how often to repeat something of which there are only so many, like splits."""
        return min(full, self.draws(full, quick))


class Task(NamedTuple):
    """A piece of work that is stored when it is done.

    The call must be a function of a module, and is given the folder of the data, then the
    arguments. It must return the same value each time: seeds are among the arguments.
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
        What the tasks returned.
    seconds : mapping of str to float
        CPU seconds of each.
    n_known : int
        How many were known from earlier runs.
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
"""Makes tasks, given the results of the stages before."""


def _no_tables(results: Results, settings: Settings) -> list[Table]:
    return []


@dataclass(frozen=True)
class Experiment:
    """A published experiment that can be run again.

    Parameters
    ----------
    source : str
        The paper, and the place in it.
    title : str
        What it is about, in a line.
    protocol : str
        What was done, and where the print cannot be taken literally: paragraphs and lists in
        Markdown.
    stages : tuple of callable
        Tasks; those of a stage may depend on results of the stages before.
    cells : callable
        Makes published figures next to ours from the results.
    figures : callable
        Makes pictures by name.
    tables : callable
        Makes what else is worth seeing.
    """

    source: str
    title: str
    protocol: str
    stages: tuple[Stage, ...]
    cells: Callable[[Results, Settings], list[Cell]]
    figures: Callable[[Results, Settings], dict[str, Figure]]
    tables: Callable[[Results, Settings], list[Table]] = field(default=_no_tables)
