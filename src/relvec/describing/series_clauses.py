"""Sentences about the parts of a series: trends, seasons, levels, steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from relvec._typing import Vector
from relvec.describing.amounts import Amounts
from relvec.describing.input_units import InputUnit, round_up
from relvec.describing.structure_parts import PartPosterior, StructurePart
from relvec.kernels.expansions import Harmonics, Kink, Line, SlopeWalk, Smooth, Step, Walk

__all__ = ["SeriesClauses", "format_move", "join_words"]

N_GRID = 64
"""Points per period at which a season is evaluated for its extremes."""
N_STARTS = 60
"""Number of stretches over which the typical change of a level is averaged."""
WELL_RESOLVED = 4.0
"""Changes over this multiple of the shortest half wave of a level's columns are resolved."""
CLEAR = 2.0
"""A rise or fall is clear if it is at least this number of standard deviations."""
SAME_SIZE = 1.1
"""A season grows or shrinks if its swings at the ends differ by more than this factor."""


def join_words(words: Sequence[str], last: str = "and") -> str:
    """Join words by commas and a conjunction.

    Examples
    --------
    >>> join_words(["a", "b", "c"]), join_words(["a"])
    ('a, b and c', 'a')
    """
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def format_move(
    amounts: Amounts, change: float, std: float, *, is_past: bool = False, rate: str = ""
) -> str:
    """Return a verb with the size of a rise or fall, or that it is not clear.

    Examples
    --------
    >>> format_move(Amounts("identity"), 3.14, 0.2, rate="per year")
    'rises by 3.14 ± 0.20 per year'
    >>> format_move(Amounts("identity"), -0.1, 0.2, is_past=True)
    'neither clearly rose nor fell (−0.10 ± 0.20)'
    """
    up, down = ("rose", "fell") if is_past else ("rises", "falls")
    rate = f" {rate}" if rate else ""
    if abs(change) < CLEAR * std:
        return f"neither clearly {up} nor {down} ({amounts.format_signed(change, std)}{rate})"
    return f"{up if change > 0.0 else down} by {amounts.format_change(change, std)}{rate}"


class SeriesClauses:
    """Writes a sentence for each part of a series, from its posterior.

    Parameters
    ----------
    model : KernelSearchRegressor
        Fitted to one input.
    unit : InputUnit
        Unit of the input.
    amounts : Amounts
        Units of the target.
    """

    def __init__(self, model: Any, unit: InputUnit, amounts: Amounts) -> None:
        self.model, self.unit, self.amounts = model, unit, amounts

    def name(self, part: StructurePart) -> str:
        """Return a short name of a part, such as "yearly season"."""
        seasons = part.list_factors(Harmonics)
        if seasons:
            phrase, _ = self.unit.name_period(self._find_period(part))
            return phrase.split(" ", 1)[1]
        names = {Step: "step", Kink: "change of slope", SlopeWalk: "trend", Walk: "level"}
        found = [name for kind, name in names.items() if part.list_factors(kind)]
        if found:
            is_trend = bool(part.list_factors(Line))
            n_steps = len(part.list_factors(Step))
            return "trend" if is_trend else "steps" if n_steps > 1 else found[0]
        return "smooth function" if part.list_factors(Smooth) else "linear trend"

    def describe(self, part: StructurePart) -> str:
        """Return a sentence without its full stop."""
        posterior = PartPosterior(self.model, part)
        kinds = part.kinds
        if part.list_factors(Harmonics):
            return self._describe_season(part, posterior)
        if kinds == {(Line,)}:
            return self._describe_line(posterior)
        if kinds == {(Step,)}:
            return self._describe_steps(part, posterior)
        if kinds <= {(Line,), (Kink,)}:
            return self._describe_bent_line(part, posterior)
        if (Line, Line) in kinds:
            return self._describe_parabola(posterior)
        if kinds == {(SlopeWalk,)}:
            return self._describe_slope_walk(posterior)
        if kinds == {(Walk,)}:
            return self._describe_level(part, posterior)
        return self._describe_smooth(part, posterior)

    # ------------------------------------------------------------------ trends

    def _describe_line(self, posterior: PartPosterior) -> str:
        low, high = posterior.x[0], posterior.x[-1]
        rate = self._by_rate(posterior, low, high)
        change, std = posterior.compute_change(low, high)
        if abs(change) < CLEAR * std:
            return f"A linear trend: it {rate}"
        if self.amounts.transform == "sqrt":  # a line in the root has no constant slope
            return f"A trend: it {self._over_record(posterior)} over the record, and now {rate}"
        # a line in the logarithm is a constant rate of growth
        shape = "An exponential" if self.amounts.transform == "log" else "A linear"
        return f"{shape} trend: it {rate}, {self._by(change, std)} over the record"

    def _describe_parabola(self, posterior: PartPosterior) -> str:
        low, high = posterior.x[0], posterior.x[-1]
        short = 1e-3 * posterior.half_range
        first = self._by_rate(posterior, low, low + short)
        last = self._by_rate(posterior, high - short, high)
        return f"A trend of constant curvature: it {first} at first and {last} at last"

    def _describe_bent_line(self, part: StructurePart, posterior: PartPosterior) -> str:
        origins = sorted(posterior.unscale(each.origin) for each in part.list_factors(Kink))
        low, high = posterior.x[0], posterior.x[-1]
        if not part.list_factors(Line):
            (origin,) = origins
            change, std = posterior.compute_change(origin, high)
            scale = self.unit.rate.length / (high - origin)
            size = self.amounts.format_change(scale * change, scale * std)
            where = self.unit.format_location(origin)
            how = "larger" if change > 0.0 else "smaller"
            return (
                f"A change of slope: from {where} on the slope is {how} by {size} "
                f"{self.unit.rate.name}"
            )
        ends = [low, *origins, high]
        pieces = [
            f"{self._by_rate(posterior, start, end)} until {self.unit.format_location(end)}"
            for start, end in pairwise(ends)
        ]
        pieces[-1] = f"{self._by_rate(posterior, ends[-2], high)} from then on"
        return f"A trend of {len(pieces)} straight lines: it {join_words(pieces)}"

    def _describe_slope_walk(self, posterior: PartPosterior) -> str:
        x = posterior.x
        now = self._by_rate(posterior, x[-2], x[-1]) if len(x) > 1 else "stays"
        over = self._over_record(posterior)
        return f"A trend whose slope changes gradually: it now {now}; over the record it {over}"

    def _describe_level(self, part: StructurePart, posterior: PartPosterior) -> str:
        size, stretch = self._typical_change(part, posterior)
        kinds = {each.component.kinds for each in self.model.components_}
        around = " around the trend" if kinds & {(Line,), (SlopeWalk,)} else ""
        return (
            f"A level that wanders{around}: it typically changes by "
            f"{self.amounts.format_swing(size)} {stretch}, up or down; over the record it "
            f"{self._over_record(posterior)}"
        )

    def _typical_change(self, part: StructurePart, posterior: PartPosterior) -> tuple[float, str]:
        """Return the root mean square change over a stretch, expected under the posterior.

        The stretch is the shortest round one that the columns of the level resolve: shorter
        changes are ascribed to noise.
        """
        x, (walk,) = posterior.x, part.list_factors(Walk)
        finest = walk.span / walk.n_terms * posterior.half_range
        count = round_up(max(WELL_RESOLVED * finest, self.unit.step) / self.unit.rate.length)
        length = count * self.unit.rate.length
        stretch = self.unit.format_stretch(count)
        starts = np.linspace(x[0], max(x[0], x[-1] - length), N_STARTS)
        mean, std = posterior.compute_changes(np.column_stack([starts, starts + length]))
        return float(np.sqrt(np.mean(mean**2 + std**2))), stretch

    def _describe_smooth(self, part: StructurePart, posterior: PartPosterior) -> str:
        length = self.unit.format_duration(
            part.list_factors(Smooth)[0].length_scale * posterior.half_range
        )
        x = np.linspace(posterior.x[0], posterior.x[-1], 4 * N_GRID)
        mean = posterior.evaluate(x)
        slopes = np.diff(mean)
        grows = ", which grows with time" if part.list_factors(Line) else ""
        if (slopes >= 0.0).all() or (slopes <= 0.0).all():
            change, std = posterior.compute_change(x[0], x[-1])
            what = "rise" if change > 0.0 else "fall"
            return (
                f"A smooth {what}{grows}, {self._by(change, std)} over the record "
                f"(length-scale {length})"
            )
        top, bottom = x[mean.argmax()], x[mean.argmin()]
        swing, std = posterior.compute_change(bottom, top)
        where = self.unit.format_place
        return (
            f"A smooth function of length-scale {length}{grows}: its highest value, "
            f"{where(top)}, is {self.amounts.format_swing(swing, std)} above its lowest, "
            f"{where(bottom)}"
        )

    # ------------------------------------------------------------------ steps

    def _describe_steps(self, part: StructurePart, posterior: PartPosterior) -> str:
        x = posterior.x
        after = sorted(
            int(np.searchsorted(x, posterior.unscale(each.origin), side="right"))
            for each in part.list_factors(Step)
        )
        edges = [(float(x[max(i - 1, 0)]), float(x[min(i, len(x) - 1)])) for i in after]
        changes = [posterior.compute_change(*edge) for edge in edges]
        total, std = posterior.compute_change(edges[0][0], edges[-1][1])
        first, last = (self.unit.format_location(edges[i][1]) for i in (0, -1))
        verb = "rises" if total > 0.0 else "drops"
        if len(edges) == 1:
            return f"A sudden change: from {first} on the level {verb} {self._by(total, std)}"
        sizes = [change for change, _ in changes]
        if len(sizes) == 2 and abs(total) < 0.5 * min(map(abs, sizes)):
            where = "higher" if sizes[0] > 0.0 else "lower"
            size = self.amounts.format_change(*changes[0])
            end = self.unit.format_location(edges[1][0])
            return f"A temporary change: from {first} to {end} the level is {where} by {size}"
        each = join_words(
            [
                f"{'up' if change > 0.0 else 'down'} {self._by(change, error)} from "
                f"{self.unit.format_location(edge[1])} on"
                for (change, error), edge in zip(changes, edges, strict=True)
            ]
        )
        return (
            f"A change in {len(edges)} steps: between {first} and {last} the level "
            f"{verb} {self._by(total, std)} in all ({each})"
        )

    # ------------------------------------------------------------------ seasons

    @staticmethod
    def _find_period_factor(part: StructurePart) -> Any:
        return min(part.list_factors(Harmonics), key=lambda each: each.period)

    def _find_period(self, part: StructurePart) -> float:
        x = self.model.training_rows_.inputs[:, 0]
        return float(self._find_period_factor(part).period * 0.5 * (x.max() - x.min()))

    def _describe_season(self, part: StructurePart, posterior: PartPosterior) -> str:
        period = self._find_period(part)
        phrase, calendar = self.unit.name_period(period)
        x = posterior.x
        last = np.linspace(max(x[0], x[-1] - period), x[-1], N_GRID)
        first = np.linspace(x[0], min(x[-1], x[0] + period), N_GRID)
        swings = [self._swing(posterior, grid) for grid in (first, last)]
        changes = self._list_changes(part, posterior, swings[0][0], swings[1][0])
        extremes = self._name_extremes(posterior, period, calendar)
        if not changes:
            size = self.amounts.format_swing(*swings[1])
            noun, that, rest = phrase.partition(" that")
            text = f"{noun} of constant shape{that}{rest}: its highest value is {size} above its"
            return f"{text} lowest" + (f" ({extremes})" if extremes else "")
        at_first = self._find_amounts(first).format_swing(swings[0][0])
        at_last = self.amounts.format_swing(swings[1][0])
        comma = "" if calendar else ","
        text = (
            f"{phrase}{comma} {join_words(changes)} (swing {at_first} at first, {at_last} at last"
            f"{', each at the level of its time' if self.amounts.transform == 'sqrt' else ''})"
        )
        return text + (f"; lately {extremes}" if extremes else "")

    def _swing(self, posterior: PartPosterior, grid: Vector) -> tuple[float, float]:
        """Return the highest less the lowest value, and its standard deviation."""
        mean = posterior.evaluate(grid)
        return posterior.compute_change(float(grid[mean.argmin()]), float(grid[mean.argmax()]))

    def _list_changes(
        self, part: StructurePart, posterior: PartPosterior, first: float, last: float
    ) -> list[str]:
        """Return clauses on how a season changes."""
        others = {kind for kinds in part.kinds for kind in kinds} - {Harmonics}
        longer = [
            each.period
            for each in part.list_factors(Harmonics)
            if each.period > 1.5 * self._find_period_factor(part).period
        ]
        found = []
        if Line in others:
            how = " linearly" if others == {Line} else ""
            if max(first, last) <= SAME_SIZE * min(first, last):
                found.append(f"whose shape changes{how}")
            else:
                found.append(f"whose amplitude {'grows' if last > first else 'shrinks'}{how}")
        if Walk in others:
            found.append("whose shape drifts")
        if Smooth in others:
            scale = part.list_factors(Smooth)[0].length_scale * posterior.half_range
            found.append(f"whose shape changes over about {self.unit.format_duration(scale)}")
        if longer:
            span = self.unit.format_recurrence(longer[0] * posterior.half_range)
            found.append(f"which is stronger and weaker in turn {span}")
        return found

    def _name_extremes(
        self, posterior: PartPosterior, period: float, calendar: str | None
    ) -> str | None:
        """Return where the last observed period is highest and lowest, if that has a name."""
        x = posterior.x
        recent = x[x > x[-1] - period * (1.0 - 1e-6) - 1e-9]
        if len(recent) < 4:
            return None
        mean = posterior.evaluate(recent)
        top, bottom = (
            self.unit.find_phase(float(recent[place]), calendar)
            for place in (mean.argmax(), mean.argmin())
        )
        return None if top is None or top == bottom else f"highest {top}, lowest {bottom}"

    # ------------------------------------------------------------------ amounts

    def _find_amounts(self, x: Vector) -> Amounts:
        """Return amounts at the mean level over some inputs, on which those of a root depend."""
        level = float(np.mean(self.model.predict_latent(x[:, np.newaxis])))
        return replace(self.amounts, level=level)

    def _by(self, change: float, std: float) -> str:
        return f"by {self.amounts.format_change(change, std)}"

    def _over_record(self, posterior: PartPosterior) -> str:
        change, std = posterior.compute_change(posterior.x[0], posterior.x[-1])
        return format_move(self.amounts, change, std, is_past=True)

    def _by_rate(self, posterior: PartPosterior, start: float, end: float) -> str:
        """Return the mean slope between two inputs, such as "rises by 3.1 ± 0.2 per year"."""
        change, std = posterior.compute_change(float(start), float(end))
        rate = self.unit.rate
        scale = rate.length / float(end - start)
        return format_move(self.amounts, scale * change, scale * std, rate=rate.name)
