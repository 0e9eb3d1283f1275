"""Infrastructure of the experiments: resumable tasks, one rule for verdicts, reports."""

from reproduce.engine.cells import Cell, Kind, Verdict, judge
from reproduce.engine.experiment import Experiment, Results, Settings, Task

__all__ = [
    "Cell",
    "Experiment",
    "Kind",
    "Results",
    "Settings",
    "Task",
    "Verdict",
    "judge",
]
