"""Cells of the jobs of HTCondor as ``condor_history -af:ht`` prints them: when a job ended, how, and what it requests.

Source: the manual of HTCondor, its pages on job ClassAd attributes and on condor_history.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from theory.errors import InputError
from theory.files.cells import is_absent, nonnegative
from theory.numbers import text

STATUS = {
    "1": "evict", "2": "censored", "3": "kill", "4": "finish", "5": "evict", "6": "censored", "7": "censored",
}  # fmt: skip
"""How the last run of a job ended, by its status: idle again, running, removed, completed, held, transferring its
output, suspended."""


def end(completed: str, entered: str, status: str) -> str:
    """Return when the last run of a job ended; empty while it runs.

    Jobs that were removed or held never completed: they count until they entered that status.

    Examples
    --------
    >>> end("1588294800", "1588294800", "4"), end("0", "1588291200", "3"), end("undefined", "1588291200", "2")
    ('1588294800', '1588291200', '')
    """
    if _known(status) == "censored":
        return ""
    return entered if is_absent(completed) or completed == "0" else completed


def outcome(status: str, code: str = "0") -> str:
    """Return how a job ended; one that completed failed if its exit code is not 0, or undefined after a signal.

    Examples
    --------
    >>> outcome("4", "0"), outcome("4", "undefined"), outcome("3", "undefined")
    ('finish', 'fail', 'kill')
    """
    return "fail" if status == "4" and code != "0" else _known(status)


def _known(status: str) -> str:
    if status not in STATUS:
        raise InputError("JobStatus", f"expected a status of HTCondor, 1 to 7, got {status[:40]!r}")
    return STATUS[status]


def request(units: int = 1) -> Callable[[str], str]:
    """Make the reader of a request, of which a number of `units` is one of ours; an undefined one is 0.

    Examples
    --------
    >>> request(1024)("4096"), request()("undefined")
    ('4', '0')
    """
    return lambda cell: "0" if is_absent(cell) else text(Fraction(nonnegative(cell), units))
