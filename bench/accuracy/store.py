"""Records on disk, one file per problem and method: a run can be continued, pages made anew."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["Store"]

Record = dict[str, Any]


class Store:
    """The folder of a run: ``part/problem/method.json``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, part: str, problem: str, method: str) -> Path:
        """Return where the record of a method on a problem is kept."""
        name = re.sub(r"[^\w.-]+", "_", method)
        return self.folder / part / problem / f"{name}.json"

    def read(self, part: str, problem: str, method: str) -> Record | None:
        """Return the record, if there is one."""
        path = self.path(part, problem, method)
        if not path.exists():
            return None
        record: Record = json.loads(path.read_text(encoding="utf-8"))
        return record

    def write(self, record: Record) -> None:
        """Keep the record; a run that is ended meanwhile leaves the one before."""
        path = self.path(record["part"], record["problem"], record["method"])
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        text = json.dumps({**record, "date": datetime.date.today().isoformat()})
        partial.write_text(text + "\n", encoding="utf-8")
        partial.replace(path)

    def delete(self, part: str, problem: str, method: str) -> None:
        """Forget the record."""
        self.path(part, problem, method).unlink(missing_ok=True)

    def records(self) -> Iterator[Record]:
        """Yield all records."""
        for path in sorted(self.folder.glob("*/*/*.json")):
            yield json.loads(path.read_text(encoding="utf-8"))
