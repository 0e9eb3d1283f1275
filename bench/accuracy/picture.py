"""One picture of all wins, ties and losses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.accuracy.methods import OURS
from bench.accuracy.metrics import METRICS
from bench.accuracy.suite import PARTS
from bench.accuracy.tables import ordered
from bench.accuracy.tally import Score, comparisons, scores

__all__ = ["draw_scores"]

Record = dict[str, Any]

COLOURS = {"win": "#2a6fb0", "tie": "#d5d5d5", "loss": "#d95f02"}
"""Told apart with colour-blind eyes and in grey."""
LETTERING = {"win": "white", "tie": "black", "loss": "white"}
LABELS = {"win": "relvec better", "tie": "within two standard errors", "loss": "relvec worse"}


def draw_scores(records: Sequence[Record], path: Path) -> None:
    """Write the picture: a row of panels per part, a panel per metric, a bar per peer."""
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
    figure = Figure(figsize=(13, 1.6 + sum(0.36 * n + 0.55 for n in n_bars)), layout="constrained")
    axes = figure.subplots(len(parts), n_columns, squeeze=False, height_ratios=n_bars)
    for (part, known), line in zip(parts.items(), axes, strict=True):
        for number, (metric, panel) in enumerate(zip(METRICS[part], line, strict=True)):
            found = [known.get((peer, metric.key), Score()) for peer in peers[part]]
            _draw_panel(panel, found, max(score.n_sets for score in known.values()))
            panel.set_title(metric.name, fontsize=11)
            names = peers[part] if number == 0 else []
            panel.set_yticks(range(len(names)), names, fontsize=10)
        line[0].set_ylabel(part.capitalize(), fontsize=12, fontweight="bold")
    figure.suptitle("relvec with its defaults against tuned peers: number of data sets")
    handles = [_swatch(COLOURS[kind]) for kind in LABELS]
    figure.legend(handles, LABELS.values(), loc="outside lower center", ncols=3, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def _swatch(colour: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(color=colour)


def _draw_panel(panel: Any, found: Sequence[Score], n_sets: int) -> None:
    for place, score in enumerate(found):
        left = 0
        for kind, colour in COLOURS.items():
            width = getattr(score, kind)
            if width:
                panel.barh(place, width, left=left, height=0.72, color=colour)
                middle = left + width / 2
                lettering = {"ha": "center", "va": "center", "fontsize": 9}
                panel.text(middle, place, str(width), color=LETTERING[kind], **lettering)
            left += width
        if not score.n_sets:
            panel.text(0.02 * n_sets, place, "no vectors", va="center", fontsize=8, color="#777777")
    panel.set_xlim(0, n_sets)
    panel.set_ylim(len(found) - 0.5, -0.5)
    panel.set_xticks([])
    panel.tick_params(left=False)
    for side in panel.spines.values():
        side.set_visible(False)
