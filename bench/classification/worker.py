"""One case of one part, in a process of its own.

Run by `bench.classification.suite` as ``python -m bench.classification.worker JOB`` with a JSON
job; prints a JSON record. It imports nothing but the module of the part: what a library needs in
memory is one of the things measured.
"""

from __future__ import annotations

import importlib
import json
import sys
import traceback
import warnings
from typing import Any


def main(argument: str) -> None:
    """Run the job and print its record as the last line."""
    warnings.simplefilter("ignore")
    job: dict[str, Any] = json.loads(argument)
    try:
        run = importlib.import_module(job["module"]).run
        record = {"status": "ok", **run(job["case"], job["limit"])}
    except Exception as error:
        traceback.print_exc()
        record = {"status": "failed", "error": f"{type(error).__name__}: {error}"}
    print(json.dumps({**job, **record}))


if __name__ == "__main__":
    main(sys.argv[1])
