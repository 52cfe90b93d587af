"""What verifying a certificate takes, found out by letting the checker verify it."""

from __future__ import annotations

from typing import Any

from bounds import checker

MOST = 3 * checker.BUDGET
"""Units of work after which the count ends: about twenty seconds."""


def beyond_checker(document: dict[str, Any], most: int = MOST) -> str | None:
    """Return why the checker does not verify a certificate within its budget, and which one it needs; None if it does.

    Raises
    ------
    bounds.checker.Refused
        If the certificate is not accepted, which is a fault of what made it.

    Examples
    --------
    >>> from bounds.certificates import assignment_certificate
    >>> from theory.greedy.optimal import solve
    >>> from theory.instance import additive
    >>> document = assignment_certificate(solve(additive([12], [[5], [7]])))
    >>> beyond_checker(document) is None, beyond_checker(document, most=100)
    (True, 'verifying it takes more than the budget of 100 units of work, ...')
    """
    try:
        units = checker.measured(document, most)[1]
    except checker.Unreadable as reason:
        return str(reason)
    if units <= checker.BUDGET:
        return None
    return (
        f"verifying it takes {units:,} units of work, more than the {checker.BUDGET:,} allowed: "
        f"packproof check --budget {units} verifies it"
    )
