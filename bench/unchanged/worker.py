"""One version of relvec in a process of its own: it is told problems and answers with results.

Run by `bench.unchanged.compare` as ``python -m bench.unchanged.worker CHECKOUT`` with
``CHECKOUT/src`` on the path. Names of problems come in, one on each line; what goes out is
pickled: that it is ready, then an answer to each.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

from bench.unchanged.quantities import Answer, Quantities

WARM_UP = ("rvm-20-rows", "labels-20-rows", "classes-softmax", "denoise-line-short")
"""Problems that are run once before anything is measured: they pay for lazy imports."""

NOT_COMPARED = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning)
"""Warnings that speak of the program, not of the data."""


def run(name: str) -> Answer:
    """Run a problem once."""
    from bench.unchanged.problems import PROBLEMS

    quantities: Quantities = {}
    error, message = None, ""
    np.random.seed(0)  # noqa: NPY002 (what chance decides if no random_state is given)
    gc.collect()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.process_time()
        try:
            quantities = PROBLEMS[name]()
        except Exception as raised:
            error, message = type(raised).__name__, traceback.format_exc(limit=-4)
        cpu = time.process_time() - start
    kinds = {
        each.category.__name__ for each in caught if not issubclass(each.category, NOT_COMPARED)
    }
    return Answer(cpu, quantities, tuple(sorted(kinds)), error, message)


def main(checkout: str) -> None:
    """Answer until there are no more problems."""
    import relvec

    home = Path(relvec.__file__).resolve()
    if not home.is_relative_to(Path(checkout).resolve()):
        sys.exit(f"relvec comes from {home}, not from {checkout}")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed must not get among the answers
    for name in WARM_UP:
        run(name)
    pickle.dump("ready", answers)
    answers.flush()
    for request in sys.stdin:
        pickle.dump(run(request.strip()), answers)
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
