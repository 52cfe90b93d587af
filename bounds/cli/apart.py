"""Commands that run an author's code have a process of their own (`bounds.adversary.contained`)."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import suppress

from theory.files.places import names_own_code

ALLOW_CODE = "--allow-code"


def runs_code(arguments: list[str]) -> bool:
    """Return whether a command runs code that its line names, or that it allows a file to name.

    There is no other way to such code: what a file says runs nothing by itself. ``attack`` begins the process itself,
    since it ends a rule that does not return, and goes on.
    """
    named = any(word == ALLOW_CODE or names_own_code(word.rpartition("=")[2]) for word in arguments)
    return named and arguments[0] != "attack"


def run_apart(run: Callable[[list[str]], int], arguments: list[str], fail: Callable[[str], int]) -> int:
    """Run a command line in a process of its own and return its status; a process that ends itself has no answer."""
    from bounds.adversary.contained import EndedError, contained

    def searched(_: object) -> int:
        status = run(arguments)
        with suppress(OSError, ValueError):  # the reader has left
            sys.stdout.flush()
        return status

    whose = next(filter(names_own_code, arguments), "a policy")
    try:
        return int(contained(searched, whose, overtime=float("inf"), patient=True, silent=False))
    except EndedError as error:
        how = f"with status {error.status}" if error.status >= 0 else f"by signal {signal.Signals(-error.status).name}"
        return fail(
            f"packproof: the code of {whose} ended the process {how}, expected it to return; there is no answer"
        )
    finally:  # the status is decided, as in `bounds.cli.endings.run`
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
