"""Every experiment runs from its first task to its plot, on a few repetitions."""

import os
import re
from pathlib import Path

import pytest

pytest.importorskip("pywt")
pytest.importorskip("matplotlib")

from reproduce.__main__ import main
from reproduce.common.published import FILE, VARIABLE
from reproduce.engine import Experiment
from reproduce.engine.notes import UNEXPLAINED
from reproduce.experiments import NAMES, load

FOLDER = os.environ.get(VARIABLE)


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_says_what_it_is(name):
    experiment = load(name)
    assert isinstance(experiment, Experiment)
    assert experiment.title
    assert not experiment.title.endswith(".")
    assert experiment.source
    assert len(experiment.protocol.split()) > 20


@pytest.mark.slow
@pytest.mark.skipif(
    not FOLDER or not Path(FOLDER, FILE).is_file(), reason="published figures are not there"
)
@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_runs(name, tmp_path, capsys):
    words = ["--quick", "--n-jobs", "1", "--output", str(tmp_path), "--quiet"]
    assert main([name, *words]) == 0, capsys.readouterr().err
    plots = list((tmp_path / "figures").glob("*.png"))
    assert plots
    assert all(plot.stem.startswith(name) for plot in plots)


def test_committed_results_hold_every_experiment_and_explain_every_miss():
    folder = Path(__file__).parents[2] / "reproduce"
    page = (folder / "RESULTS.md").read_text(encoding="utf-8")
    assert UNEXPLAINED not in page
    for name in NAMES:
        assert f"\n## {name}\n" in page
    plots = re.findall(r"\]\((figures/[^)]+)\)", page)
    assert len(plots) >= len(NAMES)
    assert all((folder / plot).is_file() for plot in plots)
