"""Two plots: every set against every peer, and wins, ties and losses in every metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.accuracy.methods import OURS
from bench.accuracy.metrics import METRICS
from bench.accuracy.problems import PROBLEMS
from bench.accuracy.suite import PARTS
from bench.accuracy.tables import ordered
from bench.accuracy.tally import Comparison, Score, comparisons, scores

__all__ = ["draw_scores", "draw_sets"]

Record = dict[str, Any]

COLOURS = {"win": "#2a6fb0", "tie": "#d5d5d5", "loss": "#b84a00"}
"""Blue and orange are told apart with every kind of colour blindness, and all three in grey."""
LETTERING = {"win": "white", "tie": "black", "loss": "white"}
CENTRED = {"ha": "center", "va": "center", "fontsize": 9}
LABELS = {
    "win": "relvec better",
    "tie": "difference within two standard errors",
    "loss": "relvec worse",
}
MAPS = (
    ("regression", "rmse", "RMSE: relvec minus peer, in % of the peer's (less is better)"),
    ("regression", "mlpd", "MLPD: relvec minus peer, in nats (more is better)"),
    ("classification", "log_loss", "Log loss: relvec minus peer, in nats (less is better)"),
)
"""Part, key of the metric, title."""


def draw_sets(records: Sequence[Record], path: Path) -> None:
    """Plot single sets: a map per metric, a row per set, a column per peer."""
    from matplotlib.figure import Figure

    found = {part: comparisons(part, ordered(part, records)) for part in PARTS}
    maps = [
        (part, title, [one for one in found[part] if one.metric.key == key])
        for part, key, title in MAPS
    ]
    maps = [(part, title, cells) for part, title, cells in maps if cells]
    if not maps:
        return
    heights = [len({one.problem for one in cells}) + 4.5 for _, _, cells in maps]
    figure = Figure(figsize=(10, 0.29 * sum(heights) + 1.0), layout="constrained")
    panels = figure.subplots(len(maps), squeeze=False, height_ratios=heights)[:, 0]
    for panel, (part, title, cells) in zip(panels, maps, strict=True):
        _draw_map(panel, part, cells)
        panel.set_title(title, fontsize=11, loc="left", fontweight="bold")
    figure.suptitle("relvec with its defaults against each peer, set by set", fontsize=13)
    _finish(figure, path)


def _draw_map(panel: Any, part: str, cells: Sequence[Comparison]) -> None:
    problems = [name for name in PROBLEMS if any(one.problem == name for one in cells)]
    peers = [name for name in PARTS[part] if any(one.peer == name for one in cells)]
    for one in cells:
        place = peers.index(one.peer), problems.index(one.problem)
        _draw_cell(panel, place, one.verdict(), _difference(one))
    for column, peer in enumerate(peers):
        total = scores([one for one in cells if one.peer == peer])
        text = str(next(iter(total.values())))
        for row, problem in enumerate(problems):
            if not any((one.peer, one.problem) == (peer, problem) for one in cells):
                panel.text(column, row, "not run", **CENTRED, color="#555555")
        panel.text(column, len(problems) + 0.15, text, **CENTRED)
    names = [*problems, "wins / ties / losses"]
    panel.set_yticks([*range(len(problems)), len(problems) + 0.15], names, fontsize=9)
    panel.set_xticks(range(len(peers)), [peer.replace("tB", "t\nB") for peer in peers])
    panel.tick_params(length=0, labelsize=9, labeltop=True, labelbottom=False)
    panel.set_xlim(-0.5, len(peers) - 0.5)
    panel.set_ylim(len(problems) + 0.6, -0.5)
    panel.set_ylabel("data set", fontsize=10)
    _hide_frame(panel)


def _difference(one: Comparison) -> str:
    """Return ours minus theirs as the map shows it."""
    if math.isnan(one.ours):
        return "not run"
    difference = one.ours - one.theirs
    is_rmse = one.metric.key == "rmse"
    text = f"{100 * difference / one.theirs:+.1f}" if is_rmse else f"{difference:+.3f}"
    return text.replace("-", "−")


def _draw_cell(panel: Any, place: tuple[int, int], verdict: str, text: str) -> None:
    from matplotlib.patches import Rectangle

    column, row = place
    patch = Rectangle((column - 0.48, row - 0.45), 0.96, 0.9, color=COLOURS[verdict], linewidth=0)
    panel.add_patch(patch)
    panel.text(column, row, text, color=LETTERING[verdict], **CENTRED)


def draw_scores(records: Sequence[Record], path: Path) -> None:
    """Plot the sums: a row of panels per part, a panel per metric, a bar per peer."""
    from matplotlib.figure import Figure

    by_part = {part: scores(comparisons(part, ordered(part, records))) for part in PARTS}
    parts = {part: known for part, known in by_part.items() if known}
    if not parts:
        return
    peers = {
        part: [name for name in PARTS[part] if name != OURS and any(p == name for p, _ in known)]
        for part, known in parts.items()
    }
    n_bars = [len(peers[part]) for part in parts]
    n_columns = max(len(METRICS[part]) for part in parts)
    figure = Figure(figsize=(13, 1.9 + sum(0.36 * n + 0.85 for n in n_bars)), layout="constrained")
    axes = figure.subplots(len(parts), n_columns, squeeze=False, height_ratios=n_bars)
    for (part, known), line in zip(parts.items(), axes, strict=True):
        for number, (metric, panel) in enumerate(zip(METRICS[part], line, strict=True)):
            found = [known.get((peer, metric.key), Score()) for peer in peers[part]]
            _draw_bars(panel, found, max(score.n_sets for score in known.values()))
            panel.set_title(metric.name, fontsize=11)
            panel.set_xlabel("data sets", fontsize=9)
            names = peers[part] if number == 0 else []
            panel.set_yticks(range(len(names)), names, fontsize=10)
        line[0].set_ylabel(part.capitalize(), fontsize=12, fontweight="bold")
    figure.suptitle("relvec with its defaults against each peer: number of data sets", fontsize=13)
    _finish(figure, path)


def _draw_bars(panel: Any, found: Sequence[Score], n_sets: int) -> None:
    for place, score in enumerate(found):
        left = 0
        for kind, colour in COLOURS.items():
            width = getattr(score, kind)
            if width:
                panel.barh(place, width, left=left, height=0.72, color=colour)
                middle = left + width / 2
                panel.text(middle, place, str(width), color=LETTERING[kind], **CENTRED)
            left += width
        if not score.n_sets:
            panel.text(0.02 * n_sets, place, "no vectors", va="center", fontsize=8, color="#555555")
    panel.set_xlim(0, n_sets)
    panel.set_ylim(len(found) - 0.5, -0.5)
    panel.set_xticks([0, n_sets])
    panel.tick_params(left=False, labelsize=9)
    _hide_frame(panel)


def _hide_frame(panel: Any) -> None:
    for side in panel.spines.values():
        side.set_visible(False)


def _finish(figure: Any, path: Path) -> None:
    """Add the legend and write the file."""
    from matplotlib.patches import Patch

    handles = [Patch(color=COLOURS[kind]) for kind in LABELS]
    figure.legend(handles, LABELS.values(), loc="outside lower center", ncols=3, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
