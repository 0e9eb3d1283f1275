"""Runs the tasks of an experiment: in processes, with progress, keeping what is done."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from threadpoolctl import threadpool_limits

from bench.measure import cpu_clock
from reproduce.engine.experiment import Experiment, Results, Settings, Task
from reproduce.engine.store import Record, Store, fingerprint

__all__ = ["Progress", "TaskError", "Workers", "run"]

EVERY = 20.0
"""Seconds between lines where nothing can be overwritten."""


class TaskError(RuntimeError):
    """A task did not finish; the message names it."""


def _work(task: Task, folder: Path | None) -> Record:
    """Do a task and measure its CPU time."""
    start = cpu_clock()
    value = task.call(folder, *task.arguments)
    return Record(value, cpu_clock() - start)


def _one_thread() -> None:
    threadpool_limits(1)


class Workers:
    """Processes that do tasks, one BLAS thread each; a single job is done right here.

    Parameters
    ----------
    n_jobs : int
        Number of processes.
    """

    def __init__(self, n_jobs: int) -> None:
        self._n_jobs = n_jobs
        self._pool: ProcessPoolExecutor | None = None
        if n_jobs > 1:
            self._pool = self._new_pool()

    def _new_pool(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self._n_jobs, context, initializer=_one_thread)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def do(self, tasks: Sequence[Task], folder: Path | None) -> Iterator[tuple[Task, Record]]:
        """Yield the tasks as they are done."""
        if self._pool is None:
            with threadpool_limits(1):
                for task in tasks:
                    yield task, _named(task, partial(_work, task, folder))
            return
        with _interrupts_ignored():  # processes that start now inherit it: only this one answers
            running = {self._pool.submit(_work, task, folder): task for task in tasks}
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    task = running.pop(future)
                    yield task, _named(task, future.result)
        except TaskError as error:
            if isinstance(error.__cause__, BrokenProcessPool):
                self._pool.shutdown(wait=False, cancel_futures=True)
                self._pool = self._new_pool()
            raise
        finally:
            for future in running:
                future.cancel()


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ignore Ctrl-C for a moment; nothing changes outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _named(task: Task, call: Callable[[], Record]) -> Record:
    """Return what the call returns, or say which task failed."""
    try:
        return call()
    except FileNotFoundError:
        raise
    except Exception as error:
        raise TaskError(f"{task.key}: {type(error).__name__}: {error}") from error


class Progress:
    """Says on stderr how far an experiment has come.

    Parameters
    ----------
    name : str
        Of the experiment.
    is_quiet : bool
        Say nothing.
    """

    def __init__(self, name: str, is_quiet: bool = False) -> None:
        self._name, self._is_quiet = name, is_quiet
        self._start = self._said = time.monotonic()
        self._can_overwrite = sys.stderr.isatty()

    def show(
        self,
        n_done: int,
        n_all: int,
        n_kept: int,
        *,
        is_first: bool = False,
        is_last: bool = False,
    ) -> None:
        """Tell, if it is time to."""
        now = time.monotonic()
        is_time = is_first or is_last or self._can_overwrite or now - self._said > EVERY
        if self._is_quiet or not is_time:
            return
        self._said = now
        elapsed = now - self._start
        fresh = n_done - n_kept
        words = f"{self._name}: {n_done} of {n_all} tasks, {elapsed:.0f} s"
        if n_kept:
            words += f", {n_kept} known from before"
        if fresh and n_done < n_all:
            words += f", about {elapsed / fresh * (n_all - n_done):.0f} s to go"
        end = "\n" if is_last or not self._can_overwrite else ""
        start = "\r\x1b[K" if self._can_overwrite else ""
        print(start + words, end=end, file=sys.stderr, flush=True)


def run(
    name: str,
    experiment: Experiment,
    settings: Settings,
    store: Store,
    workers: Workers,
    is_quiet: bool = False,
) -> Results:
    """Do what is not done yet, and return all results.

    Parameters
    ----------
    name : str
        Of the experiment.
    experiment : Experiment
        What to do.
    settings : Settings
        What the user asked for.
    store : Store
        Results of earlier runs; new ones are added.
    workers : Workers
        Who does it.
    is_quiet : bool
        Do not tell how far it has come.
    """
    progress = Progress(name, is_quiet)
    known: dict[str, Record] = {}
    n_kept = 0
    for stage in experiment.stages:
        tasks = stage(settings, _results(known))
        marks = {task.key: fingerprint(task, settings.folder) for task in tasks}
        if len(marks) < len(tasks) or known.keys() & marks:
            raise ValueError(f"{name}: two tasks have the same key.")
        done = {key: record for key, mark in marks.items() if (record := store.get(key, mark))}
        n_kept += len(done)
        waiting = [task for task in tasks if task.key not in done]
        n_all = len(known) + len(tasks)
        progress.show(len(known) + len(done), n_all, n_kept, is_first=not known)
        for task, record in workers.do(waiting, settings.folder):
            done[task.key] = store.add(task.key, marks[task.key], record)
            progress.show(len(known) + len(done), n_all, n_kept)
        # in the order of the tasks, whichever was done first
        known |= {task.key: done[task.key] for task in tasks}
    progress.show(len(known), len(known), n_kept, is_last=True)
    return _results(known, n_kept)


def _results(known: dict[str, Record], n_known: int = 0) -> Results:
    values = {key: record.value for key, record in known.items()}
    return Results(values, {key: record.seconds for key, record in known.items()}, n_known)
