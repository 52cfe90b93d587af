"""The command line: a file a command, or a few that belong together; `endings` says how a command runs and ends.

`app` has the application, `modes` makes commands that do different work by their options, `options` has the options
that several commands share, `made` what made an answer, and `apart` runs authors' code in a process of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pkgutil import iter_modules
from typing import Any

from bounds.cli.app import COMPLETE, COMPLETION, MAX_WIDTH, Application, app
from bounds.cli.endings import ended
from bounds.cli.endings import run as run_to_the_end
from bounds.cli.made import forget_command
from theory.doors import imported
from theory.files.answer import answer_width

__all__ = ["application", "main", "run"]

ELSEWHERE = {
    "admission": ("admission", "admission_decide", "admission_fit"),
    "catalogue": ("instance",),
    "export": ("check",),
}
"""The files of commands that are not in the one file of their name; a file adds its commands as it is loaded."""

NOT_FROM_A_FILE = ("NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES")
"""Settings of numba that say where machine code is loaded from. Numba takes what the environment leaves out from a file
``.numba_config.yaml`` of the working folder, which may be a stranger's; empty, they mean the default."""


def application(words: Sequence[str] = ()) -> Application:
    """Return the application with the command that a line begins with, or with all where it begins with none."""
    word = words[0] if words else ""
    files = [module.name for module in iter_modules(__path__)]
    _load(ELSEWHERE.get(word, [file for file in files if file == word]))
    # no word, none that names a file, or one that names a file without that command
    if word not in app.names():
        _load(files)
    return app


def _load(files: Sequence[str]) -> None:
    for file in files:
        imported(f"bounds.cli.{file}")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    from bounds.cli.apart import run_apart, runs_code

    words = sys.argv[1:] if arguments is None else arguments
    if COMPLETE in os.environ or words[:1] in [[option] for option in COMPLETION]:
        application()(words, prog_name="packproof")  # typer answers the shell, and exits
    last = partial(run, process_ends=True)
    apart = hasattr(os, "fork") and runs_code(words)
    sys.exit(run_apart(last, words, ended) if apart else last(words))


def run(arguments: list[str], *, process_ends: bool = False) -> int:
    """Run the command line and return its exit status (`bounds.cli.endings`).

    With `process_ends` the process does nothing afterwards but end.
    """
    from theory.files.places import files_of_a_command

    for name in NOT_FROM_A_FILE:
        os.environ.setdefault(name, "")

    def command() -> Any:
        forget_command()
        with files_of_a_command():
            width = max(min(answer_width(), MAX_WIDTH) - 2, 50)
            parser = application(arguments).parser()
            return parser(arguments, prog_name="packproof", standalone_mode=False, terminal_width=width)

    return run_to_the_end(command, process_ends=process_ends)
