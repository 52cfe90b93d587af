"""``packproof solve``: greedy beside the optimum, with a certificate and a picture."""

from __future__ import annotations

from typing import Annotated

import typer

from bounds.cli.app import app, show, write_certificate
from bounds.cli.options import (
    CertificateFile,
    InstanceFile,
    JsonFlag,
    NodesLimit,
    PlotFile,
    WorkloadTrace,
    read_with_trace,
)


@app.command(
    examples=(
        "packproof solve examples/four_types.toml --servers 1000",
        "packproof solve examples/ec2.toml --certificate proof.json --plot picture.png",
    )
)
def solve(
    instance: InstanceFile,
    servers: Annotated[
        int | None,
        typer.Option("--servers", metavar="L", min=1, max=10**9, help="Also place the workload of L whole servers."),
    ] = None,
    trace: WorkloadTrace = None,
    nodes: NodesLimit = None,
    certificate: CertificateFile = None,
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Greedy and optimal assignment of an instance, their ratio, and what is guaranteed."""
    del nodes  # its callback has set it
    from bounds.certificates.assignment import assignment_certificate
    from bounds.views.assignment import (
        picture_of_solution,
        servers_answer,
        solution_answer,
    )
    from theory.greedy.optimal import solve as solve_exactly
    from theory.greedy.servers import greedy_placement, least_servers, lemma_b1_bound

    solution = solve_exactly(read_with_trace(instance, trace, servers))
    placed = on_servers = None
    if servers is not None:
        placement = greedy_placement(solution.instance, servers)
        # workload is per server: L servers are offered L rho
        least = least_servers(solution.instance, [servers * rho for rho in solution.instance.workload])
        placed = (servers, placement, least)
        on_servers = servers_answer(solution, *placed, lemma_b1_bound(solution.instance, solution.greedy))
    if plot is not None:
        picture_of_solution(solution, plot)
    if certificate is not None:
        write_certificate(certificate, assignment_certificate(solution, placed))
    show(solution_answer(solution, on_servers), as_json=as_json)
