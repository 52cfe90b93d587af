"""The writers of the formats, and one function that exports a certificate; `kinds` says which formats take which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bounds import checker
from bounds.exports import programs, smtlib
from bounds.exports.document import Certificate, Exported, Unsuited, certificate_of
from bounds.exports.kinds import FORMATS
from bounds.exports.linear import lp
from bounds.exports.polyhedra import lrs
from bounds.exports.programs import Program
from theory.errors import ArgumentError, InputError, TooLargeError


def _each(write: Callable[[Program], Exported]) -> Callable[[Certificate], list[Exported]]:
    """Return what writes every linear program of a certificate."""
    return lambda certificate: [write(program) for program in programs.programs_of(certificate)]


_WRITERS: dict[str, Callable[[Certificate], list[Exported]]] = {
    "smtlib": smtlib.smtlib,
    "lp": _each(lp),
    "lrs": lrs,
}


def _suited(form: str, kind: str) -> str:
    """Return what a format takes in place of a kind, and which formats take that kind."""
    others = [name for name, kinds in FORMATS.items() if kind in kinds]
    return f"{form} takes {', '.join(FORMATS[form])}; {' and '.join(others) or 'no format'} takes {kind}"


def export(document: dict[str, Any], form: str) -> list[Exported]:
    """Write what a certificate states in the format of a foreign tool.

    Parameters
    ----------
    document : dict
        A certificate, as `bounds.checker.load` reads it. Its digest must be right; its evidence is not verified, for
        that is what the foreign tool does.
    form : str
        ``smtlib`` (z3, cvc5), ``lp`` (GLPK and others: CPLEX's LP, integers), or ``lrs`` (lrs and cdd).

    Returns
    -------
    list of Exported
        One file or more. The module of the format says what its tool proves and what not.

    Raises
    ------
    InputError
        If the document is malformed, or of a kind that the format does not take.
    TooLargeError
        If a number of the program is beyond what readers of the format hold.

    Examples
    --------
    >>> from bounds.certificates import assignment_certificate
    >>> from theory.greedy import solve
    >>> from theory.instance import additive
    >>> (program,) = export(assignment_certificate(solve(additive([12], [[5], [7]]))), "lp")
    >>> program.states, program.expected
    ('The greatest reward of an average server, over all configurations (the 2 maximal ones are listed).', 'optimum 2')
    >>> program.text.splitlines()[4:8]
    ['Maximize', ' obj: + 1 y1 + 1 y2', 'Subject To', ' limit_1: + 1 y1 <= 1']
    """
    if form not in _WRITERS:
        raise ArgumentError("format", f"expected one of {', '.join(_WRITERS)}, got {form[:40]!r}")
    try:
        certificate = certificate_of(document)
        if certificate.kind not in FORMATS[form]:
            raise Unsuited(_suited(form, certificate.kind))
        return _WRITERS[form](certificate)
    except TooLargeError as error:
        raise TooLargeError(f"--format {form}", error) from error
    except (checker.Refused, checker.Unreadable, ValueError) as reason:
        raise InputError(f"the certificate cannot be read: {reason}") from reason
    except Unsuited as reason:
        kind = document["kind"]
        raise InputError(f"--format {form}", f"not for this certificate of kind {kind}: {reason}") from reason
