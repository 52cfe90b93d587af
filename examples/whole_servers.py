"""A plan on real VM types: what 1,000 servers earn, and how few servers carry the whole workload.

Both answers go into a certificate, which the independent checker verifies. Run
``python -m examples.whole_servers [CERTIFICATE.json]``.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from bounds.views import arguments
from packproof import assignment_certificate, catalogue_instance, check, greedy_placement, least_servers, solve

TYPES = ["aws:m5.large", "aws:m5.4xlarge", "aws:c5.2xlarge", "aws:r5.2xlarge", "aws:r5.12xlarge"]
SERVER = {"cpu": Fraction(96), "memory": Fraction(768)}
SERVERS = 1000


def main(path: str | None = None) -> dict[str, object]:
    """Print both answers and return the claims that the checker found true."""
    instance = catalogue_instance(TYPES, SERVER).with_workload([6, 2, 3, 4, 1])
    jobs = [SERVERS * rho for rho in instance.workload]
    placement, least = greedy_placement(instance, SERVERS), least_servers(instance, jobs)
    solution = solve(instance)
    print(f"greedy placement earns {float(placement.reward):.2f} an hour on {SERVERS} servers,")
    print(f"the best assignment at most {float(SERVERS * solution.optimal.reward):.2f}")
    print(f"the whole workload needs between {least.lower} and {least.upper} servers")
    certificate = assignment_certificate(solution, (SERVERS, placement, least))
    if path is not None:
        Path(path).write_text(json.dumps(certificate, indent=2), encoding="utf-8")
    return check(certificate)


if __name__ == "__main__":
    main(*arguments(__doc__, "CERTIFICATE.json"))
