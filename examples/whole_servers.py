"""A plan on real VM types: what 1,000 servers earn, and how few servers carry the whole workload.

Both answers go into a certificate, which the independent checker verifies. Run
``python -m examples.whole_servers [CERTIFICATE.json PICTURE.png]``.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from packproof import (
    Instance,
    assignment_certificate,
    catalogue_instance,
    check,
    greedy_placement,
    least_servers,
    solve,
)
from packproof.views import Chart, Curve, Line, arguments, picture_of_panels

TYPES = ["aws:m5.large", "aws:m5.4xlarge", "aws:c5.2xlarge", "aws:r5.2xlarge", "aws:r5.12xlarge"]
SERVER = {"cpu": Fraction(96), "memory": Fraction(768)}
SERVERS = 1000
TITLE = "Greedy placement on whole servers, five AWS types on servers of 96 vCPU and 768 GiB"


def main(path: str | None = None, picture: str | None = None) -> dict[str, object]:
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
    if picture is not None:
        picture_of_panels([panel(instance)], picture, TITLE, columns=1)
    return check(certificate)


def panel(instance: Instance) -> Chart:
    """Return the placement's reward as a share of the best assignment's, by number of servers."""
    solution, sizes = solve(instance), (5, 10, 20, 50, 100, 200, 500, SERVERS)
    shares = [greedy_placement(instance, n).reward / (n * solution.optimal.reward) for n in sizes]
    curve = Curve("greedy placement", sizes, [float(share) for share in shares])
    assignment = Line("greedy assignment, in fractions of servers", float(solution.ratio))
    return Chart("servers (number)", "reward / best (ratio)", [curve], [assignment], xscale="log")


if __name__ == "__main__":
    main(*arguments(__doc__, "CERTIFICATE.json", "PICTURE.png"))
