"""Attacks on packproof: ``python -m tests.tools.attacks [--small] [NAME ...]`` runs them and prints what came out.

Each attack gives the same answer for the same seed. Wrong are: a false claim that is accepted, an exception other than
a refusal, a refusal of several lines, a status that does not say what happened, and more than ten seconds of CPU for
an answer that is bounded. The small form is for every run of CI and takes at most five minutes altogether.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from tests.tools.attacks.compiled import attack_compiled
from tests.tools.attacks.exhaustion import attack_exhaustion
from tests.tools.attacks.forgeries import attack_certificates
from tests.tools.attacks.inputs import attack_inputs
from tests.tools.attacks.logs import attack_logs
from tests.tools.attacks.named_code import attack_named_code
from tests.tools.attacks.policies import attack_policies
from tests.tools.attacks.report import Report
from tests.tools.attacks.rules import SMALL, attack_rules
from tests.tools.attacks.written import attack_written

ATTACKS: dict[str, Callable[[bool, int], Report]] = {
    "forgeries": lambda small, seed: attack_certificates(4_000 if small else 48_000, seed),
    "inputs": lambda small, seed: attack_inputs(100 if small else 400, seed),
    "named-code": lambda small, seed: attack_named_code(200 if small else 2000, seed),
    "logs": lambda small, seed: attack_logs(60 if small else 1_000, seed),
    "compiled": lambda small, seed: attack_compiled(8 if small else 200, seed),
    "exhaustion": attack_exhaustion,
    "written": attack_written,
    "policies": attack_policies,
    "rules": lambda small, _seed: attack_rules(SMALL if small else ()),
}
"""Each attack by its name: ``attack(small, seed)`` returns its report."""


def main() -> int:
    """Run the attacks; return 0 if nothing was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.attacks", description="attacks on packproof")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ATTACKS)}; all where none is given")
    parser.add_argument("--small", action="store_true", help="a part of each")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if unknown := set(options.names) - set(ATTACKS):
        parser.error(f"unknown attacks {sorted(unknown)}; there are {', '.join(ATTACKS)}")
    sound = True
    for name in options.names or ATTACKS:
        start, wall = time.process_time(), time.perf_counter()
        report = ATTACKS[name](options.small, options.seed)
        sound = sound and not report.wrong
        seconds = f"{time.process_time() - start:.0f} s of CPU here, {time.perf_counter() - wall:.0f} s of wall"
        print(f"{name} ({seconds})\n{report}", flush=True)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
