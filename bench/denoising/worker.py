"""One case of one part, in a process of its own.

Run by `bench.denoising.suite` as ``python -m bench.denoising.worker JOB`` with a JSON job; prints
a JSON record.
"""

from __future__ import annotations

import json
import sys
import traceback
import warnings
from typing import Any

from bench.denoising.cost import COST_PART
from bench.denoising.errors import LARGE_PART, OTHERS_PART, PUBLISHED_PART, SIGNALS_PART
from bench.denoising.images import IMAGES_PART
from bench.denoising.memory import MAPPED_PART, MEMORY_PART
from bench.denoising.noise import NOISE_PART
from bench.denoising.part import Part

__all__ = ["PARTS"]

PARTS: dict[str, Part] = {
    "cost": COST_PART,
    "memory": MEMORY_PART,
    "mapped": MAPPED_PART,
    "signals": SIGNALS_PART,
    "others": OTHERS_PART,
    "published": PUBLISHED_PART,
    "large": LARGE_PART,
    "images": IMAGES_PART,
    "noise": NOISE_PART,
}


def main(argument: str) -> None:
    """Run the job and print its record as the last line."""
    warnings.simplefilter("ignore")
    job: dict[str, Any] = json.loads(argument)
    try:
        record = {"status": "ok", **PARTS[job["part"]].run(job["case"], job["seeds"])}
    except Exception as error:
        traceback.print_exc()
        record = {"status": "failed", "error": f"{type(error).__name__}: {error}"}
    print(json.dumps({**job, **record}))


if __name__ == "__main__":
    main(sys.argv[1])
