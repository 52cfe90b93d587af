"""A headless Chromium, driven over its debugging protocol: opens pages of a disk and notes whatever they ask for."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tornado.ioloop import IOLoop
from tornado.websocket import WebSocketClientConnection, websocket_connect

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--window-size=1280,1000",
    "--remote-debugging-port=0",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
PATIENCE = 30.0
"""Seconds to wait for a condition."""

LEFT = (
    "Inspected target navigated or closed",
    "Execution context was destroyed.",
    "Cannot find default execution context",
)
"""What Chromium answers when a page goes while a script of it runs."""


class PageGoneError(Exception):
    """The page went before it answered."""


def chromium() -> str | None:
    """Return the program, or None where there is none."""
    return next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )


class Browser:
    """One tab. `asked` lists the addresses that pages asked for, `complaints` the errors that they raised."""

    def __init__(self, profile: Path) -> None:
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self._loop = IOLoop(make_current=False)
        self._number = 0
        command = [str(chromium()), *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if found := re.search(r"listening on (ws://\S+)", line):
                break
        else:
            raise RuntimeError("chromium did not start")
        self._socket: WebSocketClientConnection = self._loop.run_sync(
            lambda: websocket_connect(found[1], max_message_size=2**28)
        )
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._send(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        self._process.terminate()
        self._process.communicate(timeout=PATIENCE)
        self._loop.close(all_fds=False)

    def _send(self, method: str, **parameters: Any) -> Any:
        """Send a command, note what happens meanwhile, and return its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if hasattr(self, "_session"):
            message["sessionId"] = self._session
        self._loop.run_sync(lambda: self._socket.write_message(json.dumps(message)), timeout=PATIENCE)
        while True:
            text = self._loop.run_sync(self._read, timeout=PATIENCE)
            answer = json.loads(text)
            if answer.get("id") == self._number:
                if answer.get("error", {}).get("message") in LEFT:
                    raise PageGoneError(method)
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self._note(answer)

    async def _read(self) -> str | bytes:
        message = await self._socket.read_message()
        assert message is not None, "chromium closed the connection"
        return message

    def _note(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.asked.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.complaints.append(str(parameters["entry"]))

    def do(self, script: str) -> Any:
        """Return the value of a JavaScript expression."""
        found = self._send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, f"{script}: {found['exceptionDetails']}"
        return found["result"].get("value")

    def wait(self, script: str) -> Any:
        """Wait until an expression is true, and return it."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with suppress(PageGoneError):
                if value := self.do(script):
                    return value
            time.sleep(0.05)
        raise AssertionError(f"not within {PATIENCE:g} s: {script} at {self.do('location.href')}")

    def open(self, page: Path, query: str = "") -> None:
        """Open a page, and wait until all of it is there."""
        self.do("window.left = true")
        self._send("Page.navigate", url=page.as_uri() + query)
        self.settle(page.name)

    def click(self, selector: str, arrive: str) -> None:
        """Click what a selector names first, and wait for the page whose address, without its query, ends so."""
        self.do(f"window.left = true; document.querySelector({json.dumps(selector)}).click()")
        self.settle(arrive)

    def settle(self, ending: str) -> None:
        """Wait until the page whose address ends so has been loaded, and is not the one that was left."""
        here = f"!window.left && location.pathname.endsWith({json.dumps(ending)})"
        self.wait(f"{here} && document.readyState === 'complete'")

    def resize(self, width: int, medium: str = "screen") -> None:
        """Show pages on a screen of a width in pixels, as a telephone does below 600, or as they are printed."""
        self._send(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        self._send("Emulation.setEmulatedMedia", media=medium)

    def picture(self, path: Path) -> None:
        """Take a screenshot."""
        path.write_bytes(base64.b64decode(self._send("Page.captureScreenshot", format="png")["data"]))
