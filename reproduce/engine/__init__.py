"""What every experiment needs: tasks that can be resumed, verdicts by one rule, reports."""

from reproduce.engine.cells import CALIBRATION, Cell, Kind, Verdict, judge
from reproduce.engine.experiment import Experiment, Results, Settings, Task

__all__ = [
    "CALIBRATION",
    "Cell",
    "Experiment",
    "Kind",
    "Results",
    "Settings",
    "Task",
    "Verdict",
    "judge",
]
