"""Every fit in a process of its own, without paying for the imports every time."""

from __future__ import annotations

import json
import os
import resource
import signal
import traceback
from collections.abc import Callable
from typing import Any

from bench.measure import limit_cpu

__all__ = ["in_child"]


def in_child(
    call: Callable[[], dict[str, Any]], limit: float, memory_gb: float | None = None
) -> dict[str, Any]:
    """Return the record that `call` makes in a copy of this process.

    Parameters
    ----------
    call : callable
        Takes nothing and returns a record for JSON.
    limit : float
        CPU seconds after which the copy is ended; its record then has the status "over limit".
    memory_gb : float, optional
        Address space beyond which allocations fail in the copy.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(call, limit, memory_gb, writing)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == -signal.SIGXCPU:
        return {"status": "over limit"}
    if code != 0 or not text:
        return {"status": "failed", "error": f"ended with code {code}"}
    record: dict[str, Any] = json.loads(text)
    return record


def _answer(
    call: Callable[[], dict[str, Any]], limit: float, memory_gb: float | None, writing: int
) -> None:
    code = 1
    try:
        if memory_gb is not None:
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (int(memory_gb * 2**30), hard))
        limit_cpu(limit)
        try:
            record = {"status": "ok", **call()}
        except Exception as error:
            traceback.print_exc()
            record = {"status": "failed", "error": f"{type(error).__name__}: {error}"}
        limit_cpu(None)
        with os.fdopen(writing, "w") as answer:
            json.dump(record, answer)
        code = 0
    finally:
        os._exit(code)  # nothing of the parent may run twice
