"""One module for each published experiment, in the order of the report."""

from __future__ import annotations

import importlib

from reproduce.engine import Experiment

__all__ = ["NAMES", "load"]

NAMES = (
    "tipping_sinc",
    "tipping_ripley",
    "tipping_sinc_and_line",
    "tipping_log_odds",
    "tipping_regression",
    "tipping_input_scales",
    "tipping_classification",
    "slides_sinc",
    "schmolck_table_2_1",
    "schmolck_dictionaries",
    "schmolck_multiscale",
    "schmolck_shrinkage",
    "schmolck_blockssinc",
    "schmolck_sleep",
    "schmolck_local_optima",
    "schmolck_samplers",
    "schmolck_snake",
    "heimsaeter_sinc",
    "heimsaeter_table_5_1",
    "lalchand_chapter_7",
)


def load(name: str) -> Experiment:
    """Return an experiment by name; only its module is imported."""
    experiment: Experiment = importlib.import_module(f"reproduce.experiments.{name}").EXPERIMENT
    return experiment
