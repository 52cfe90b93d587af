"""The command line with a line of progress every tenth of a second: ``python -m tests.tools.progress solve FILE``.

Tests that interrupt a command wait for such a line. Where stderr is no terminal, the command writes one each five
seconds.
"""

from __future__ import annotations

from importlib import import_module

from bounds.cli import main

INTERVAL = 0.1
"""Seconds between two lines."""


def speak_often() -> None:
    """Let the commands of this process write lines of progress that often."""
    import_module("bounds.cli.app").__dict__["INTERVAL"] = INTERVAL


if __name__ == "__main__":
    speak_often()
    main()
