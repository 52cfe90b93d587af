"""Documents made to exhaust the checker, with the budget that users have."""

from __future__ import annotations

import time

from bounds import checker
from tests.attacks.report import Report
from tests.bounds.test_checker_limits import ATTACKS, many_users


def attack_exhaustion() -> Report:
    """Let the checker decide documents made to exhaust it, within the budget that users have."""
    report = Report()
    for make in ATTACKS:
        document = make()
        start = time.process_time()
        try:
            checker.check(document)
        except (checker.Refused, checker.Unreadable) as reason:
            report.outcomes["refused" if isinstance(reason, checker.Refused) else "beyond the budget"] += 1
        except Exception as fault:
            report.wrong.append(f"{make.__name__}: {type(fault).__name__}: {fault}")
        else:
            report.outcomes["accepted, and true"] += 1
            if make is not many_users:  # equal users, one to a server: nothing else is fair
                report.wrong.append(f"{make.__name__}: accepted")
        report.took(time.process_time() - start, make.__name__)
    return report
