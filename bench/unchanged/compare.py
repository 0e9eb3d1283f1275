"""Run the problems with two versions of relvec in turns, and compare what they give."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from bench.runner import ONE_THREAD, ROOT
from bench.unchanged.data import Array
from bench.unchanged.quantities import Answer

__all__ = ["TOLERANCE", "Comparison", "Side", "compare", "difference", "largest_difference"]

TOLERANCE = 1e-8
"""Largest difference of equal results, relative to the larger of one and the largest entry."""

LONG = 0.5
"""CPU seconds from which on a problem is not repeated."""

REFUSED = "refused-"
"""How names of problems begin that are meant to end with an exception."""

END_OF_PROCESS = "EndOfProcess"
"""Stands for the exception where a process ended, which nothing is equal to."""


class Side:
    """A version of relvec at work: a process that is kept alive and asked problem by problem.

    Parameters
    ----------
    checkout : Path
        Folder that holds ``src/relvec``.
    """

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout.resolve()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def start(self) -> None:
        """Start the process, and wait until it is ready; if it never is, end the program."""
        paths = {"PYTHONPATH": str(self.checkout / "src"), "PYTHONHASHSEED": "0"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.unchanged.worker", str(self.checkout)],
            cwd=ROOT,
            env={**os.environ, **ONE_THREAD, **paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            self._answer()
        except EOFError:
            raise SystemExit(f"relvec of {self.checkout} cannot be started") from None

    def run(self, problem: str) -> Answer:
        """Run a problem once; if the process ends, that is the exception of the problem."""
        if self._process is None:
            self.start()
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{problem}\n".encode())
            self._process.stdin.flush()
            answer: Answer = self._answer()
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            code = self._stop()
            message = f"the process of {self.checkout} ended with code {code}"
            return Answer(0.0, {}, error=END_OF_PROCESS, message=message)
        return answer

    def _stop(self) -> int | None:
        """End the process and return its exit code, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return None
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        process.stdin = None
        try:
            process.communicate(timeout=5.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        return process.returncode

    def _answer(self) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        return pickle.load(self._process.stdout)


@dataclass(frozen=True)
class Comparison:
    """What two versions gave for a problem."""

    problem: str
    difference: float
    """The largest one over all quantities and repeats; infinite where one has no size."""
    quantity: str
    """Where it is."""
    unsteadiness: float
    """The largest difference between repeats with the same version."""
    cpu_before: float
    cpu_after: float
    """CPU seconds of the fastest repeat."""
    errors: tuple[str | None, str | None]
    """Exceptions, before and after."""
    messages: tuple[str, str]

    @property
    def is_equal(self) -> bool:
        """Whether the results are equal to rounding."""
        return self.difference <= TOLERANCE

    @property
    def ratio(self) -> float:
        """CPU seconds after over those before."""
        return self.cpu_after / self.cpu_before if self.cpu_before else math.nan


def compare(
    problems: Iterable[str], before: Side, after: Side, repeats: int
) -> Iterator[Comparison]:
    """Yield comparisons as they come.

    The sides take turns, and who begins changes from one repeat to the next and from one problem to
    the next, so that a computer that gets slower or faster does so to both.
    """
    for number, problem in enumerate(problems):
        answers: tuple[list[Answer], list[Answer]] = ([], [])
        for repeat in range(repeats):
            first = (number + repeat) % 2
            for side in (first, 1 - first):
                answers[side].append((before, after)[side].run(problem))
            if max(answers[0][-1].cpu, answers[1][-1].cpu) >= LONG:
                break
        yield compared(problem, *answers)


def compared(problem: str, before: Sequence[Answer], after: Sequence[Answer]) -> Comparison:
    """Compare the repeats of two versions one by one."""
    found = [largest_difference(*pair) for pair in zip(before, after, strict=True)]
    worst, quantity = max(found, key=lambda each: each[0])
    error = before[0].error
    if worst <= TOLERANCE and error is not None and not problem.startswith(REFUSED):
        worst, quantity = math.inf, f"exception in both ({error}), so that nothing is compared"
    unsteady = [
        largest_difference(side[0], again)[0] for side in (before, after) for again in side[1:]
    ]
    return Comparison(
        problem,
        worst,
        quantity,
        max(unsteady, default=0.0),
        min(each.cpu for each in before),
        min(each.cpu for each in after),
        (before[0].error, after[0].error),
        (before[0].message, after[0].message),
    )


def largest_difference(before: Answer, after: Answer) -> tuple[float, str]:
    """Return the largest difference between two answers, and the quantity that it is in."""
    if before.error != after.error or before.error == END_OF_PROCESS:
        return math.inf, f"exception ({before.error or 'none'}, {after.error or 'none'})"
    if before.warnings != after.warnings:
        kinds = (", ".join(answer.warnings) or "none" for answer in (before, after))
        return math.inf, f"warnings ({'; '.join(kinds)})"
    return _largest(before.quantities, after.quantities)


def _largest(before: Mapping[str, Array], after: Mapping[str, Array]) -> tuple[float, str]:
    worst, where = 0.0, ""
    for name in [*before, *(name for name in after if name not in before)]:
        if name not in before or name not in after:
            return math.inf, f"{name} (absent {'after' if name in before else 'before'})"
        size = difference(before[name], after[name])
        if size > worst:
            worst, where = size, name
    return worst, where


def difference(before: Array, after: Array) -> float:
    """Return the largest difference over the largest entry, or over one if that is larger.

    Infinite if shapes differ, if one is infinite or not a number where the other is not, and if
    arrays that are not of floating-point numbers (sets of atoms, labels) are not the same.
    """
    before, after = np.asarray(before), np.asarray(after)
    if before.shape != after.shape:
        return math.inf
    if not {before.dtype.kind, after.dtype.kind} <= set("fc"):
        return 0.0 if np.array_equal(before, after) else math.inf
    known = np.isfinite(before)
    if not np.array_equal(before[~known], after[~known], equal_nan=True):
        return math.inf
    before, after = before[known], after[known]
    if not np.isfinite(after).all():
        return math.inf
    scale = max(1.0, float(np.abs(before).max(initial=0.0)))
    return float(np.abs(before - after).max(initial=0.0)) / scale
