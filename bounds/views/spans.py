"""Spans and points of time in words, as answers about logs have them."""

from __future__ import annotations

import numpy as np

from theory.errors import InputError

HOUR = 3600.0

LATEST = 1e14  # seconds from 1970 that are a date, some three million years


def lasting(span: float) -> str:
    """Write a span of time, in seconds, in the unit that suits it.

    >>> lasting(59), lasting(3600), lasting(7200), lasting(14 * 86400)
    ('59 s', '1 hour', '2 hours', '14 days')
    """
    if span < 300:
        return f"{span:,.3g} s"
    number, unit = (f"{span / HOUR:,.3g}", "hour") if span < 48 * HOUR else (f"{span / (24 * HOUR):,.4g}", "day")
    return f"{number} {unit}{'s' * (number != '1')}"


def moment(begins: float | None, at: float) -> str:
    """Write a time of a log, in seconds after it begins: the date where it has dates.

    Raises
    ------
    InputError
        A time that is no date.

    Examples
    --------
    >>> moment(1777852800.0, 90.0), moment(None, 7200.0)
    ('2026-05-04T00:01:30 UTC', '2 hours after the first arrival')
    """
    if not abs((begins or 0.0) + at) < LATEST:
        raise InputError("peak.at", f"expected seconds up to a date that can be written, got {at:g}")
    if begins is None:
        return f"{lasting(at)} after the first arrival"
    return f"{np.datetime64(round(begins + at), 's')} UTC"
