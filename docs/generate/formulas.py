"""The start of the program that renders formulas, with patience: its socket is there before anybody listens."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from sphinxcontrib.katex import KaTeXServer

PAUSE = 0.005
"""Seconds between two tries."""


def start(folder: Path, timeout: float) -> tuple[Any, socket.socket]:
    """Start node, and connect to it over a socket of the file system as soon as it listens.

    It stands in for ``KaTeXServer.start_server_process``, which tries once, and over the network each formula would
    wait for an acknowledgement.

    Parameters
    ----------
    folder : Path
        Where the socket is made.
    timeout : float
        Seconds after which node counts as not there.

    Returns
    -------
    (Popen, socket)
    """
    place = folder / "katex.sock"
    process = Popen(KaTeXServer.build_command(socket=place), stdin=PIPE, stdout=PIPE, cwd=folder)
    end = time.monotonic() + timeout
    while True:
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            made.connect(str(place))
        except (FileNotFoundError, ConnectionRefusedError):
            made.close()
            if time.monotonic() > end:
                process.kill()
                process.communicate()
                raise KaTeXServer.timeout_error(timeout) from None
            time.sleep(PAUSE)
        else:
            return process, made
