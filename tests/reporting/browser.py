"""A headless Chromium, driven through a pipe without further packages."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
]
PLACE_PIPES = """
import os, sys
# copies first, so that placing one does not close the other
reading, writing = (os.dup(int(each)) for each in sys.argv[1:3])
os.dup2(reading, 3)
os.dup2(writing, 4)
for each in (3, 4):
    os.set_inheritable(each, True)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""The browser reads its file 3 and writes its file 4."""
PATIENCE = 60.0


class Browser:
    """One page of one browser, with its requests and console messages."""

    def __init__(self, folder: Path) -> None:
        to_child, self._to = os.pipe()
        self._from, from_child = os.pipe()
        pipes = (to_child, from_child)
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-IS", "-c", PLACE_PIPES, *map(str, pipes), *command],
            pass_fds=pipes,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        self._buffer, self._count = b"", 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        try:
            self._open_tab()
        except Exception:
            self.close()
            raise

    def _open_tab(self) -> None:
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        answer = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = answer["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **options: Any) -> dict[str, Any]:
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": options}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            if not select.select([self._from], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not respond")
            part = os.read(self._from, 1 << 20)
            if not part:
                raise RuntimeError("the browser has exited")
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def open(self, path: Path, *, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.events.clear()
        self.ask("Page.navigate", url=path.as_uri())
        self.run("new Promise(r => document.readyState === 'complete' ? r() : onload = r)")
        self.run("new Promise(r => requestAnimationFrame(() => setTimeout(r, 50)))")

    def run(self, script: str) -> Any:
        answer = self.ask(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """Errors and warnings of the page."""
        found = []
        for event in self.events:
            kind, params = event.get("method"), event.get("params", {})
            if kind == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"]))
            if kind == "Runtime.consoleAPICalled":
                found.append(str(params["args"]))
            if kind == "Log.entryAdded":
                found.append(str(params["entry"]["text"]))
        return found

    def requests(self) -> list[str]:
        """URLs that the page requested, its own included."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def close(self) -> None:
        try:
            self._session = None
            self.ask("Browser.close")
            self._process.wait(timeout=10)
        except (OSError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
