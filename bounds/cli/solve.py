"""``packproof solve``: greedy beside the optimum, with a certificate and a picture, or with an approximate oracle."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bounds.cli.app import app, show, write_certificate
from bounds.cli.modes import Mode, command_of
from bounds.cli.options import (
    CertificateFile,
    InstanceFile,
    JsonFlag,
    NodesLimit,
    PlotFile,
    WorkloadTrace,
    read_number,
    read_with_trace,
)

if TYPE_CHECKING:
    from theory.instance import Instance


class Oracle(StrEnum):
    """What finds the configuration of a stage."""

    exact = "exact"
    fptas = "fptas"


Servers = Annotated[
    int | None,
    typer.Option("--servers", metavar="L", min=1, max=10**9, help="Also place the workload of L whole servers."),
]
OracleOption = Annotated[
    Oracle,
    typer.Option(
        "--oracle",
        metavar="exact|fptas",
        help="What finds the configuration of a stage; fptas, an approximation scheme, takes one resource.",
    ),
]
Epsilon = Annotated[
    str | None,
    typer.Option(
        "--epsilon", metavar="EPS", help="With fptas: a stage earns at least 1/(1 + EPS) of the greatest reward."
    ),
]


@dataclass(frozen=True, kw_only=True)
class Options(Mode):
    """What both modes take."""

    instance: InstanceFile
    oracle: OracleOption = Oracle.exact
    trace: WorkloadTrace = None
    servers: Servers = None
    as_json: JsonFlag = False


@dataclass(frozen=True, kw_only=True)
class Exactly(Options):
    """Greedy with the best configurations, beside the optimum."""

    beside = "--oracle exact, which finds the best configuration"

    nodes: NodesLimit = None
    certificate: CertificateFile = None
    plot: PlotFile = None


@dataclass(frozen=True, kw_only=True)
class Approximately(Options):
    """Greedy with an approximation scheme, without the optimum."""

    beside = "--oracle fptas, which computes no optimum"

    epsilon: Epsilon


def _mode(given: Any) -> type[Mode]:
    return Approximately if given.oracle is Oracle.fptas else Exactly


def exactly(options: Exactly) -> None:
    """Show greedy and optimal assignment."""
    from bounds.certificates.assignment import assignment_certificate
    from bounds.views.assignment import (
        picture_of_solution,
        servers_answer,
        solution_answer,
    )
    from theory.greedy.optimal import solve as solve_exactly
    from theory.greedy.servers import greedy_placement, least_servers, lemma_b1_bound

    servers = options.servers
    solution = solve_exactly(_read(options))
    placed = on_servers = None
    if servers is not None:
        placement = greedy_placement(solution.instance, servers)
        # workload is per server: L servers are offered L rho
        least = least_servers(solution.instance, [servers * rho for rho in solution.instance.workload])
        placed = (servers, placement, least)
        on_servers = servers_answer(solution, *placed, lemma_b1_bound(solution.instance, solution.greedy))
    if options.plot is not None:
        picture_of_solution(solution, options.plot)
    if options.certificate is not None:
        write_certificate(options.certificate, assignment_certificate(solution, placed))
    show(solution_answer(solution, on_servers), as_json=options.as_json)


def approximately(options: Approximately) -> None:
    """Show greedy with an approximate oracle, and what is proved of it."""
    from bounds.views.assignment import approximate_answer
    from theory.greedy.scheme import solve_approximately

    assert options.epsilon is not None
    epsilon = read_number("--epsilon", options.epsilon)
    show(approximate_answer(solve_approximately(_read(options), epsilon)), as_json=options.as_json)


def _read(options: Options) -> Instance:
    """Read the instance, with the workload of a trace where it leaves that out."""
    return read_with_trace(
        options.instance, options.trace, options.servers, only_for_trace=isinstance(options, Approximately)
    )


app.command(
    "solve",
    examples=(
        "packproof solve examples/four_types.toml --servers 1000",
        "packproof solve examples/ec2.toml --certificate proof.json --plot picture.png",
        "packproof solve examples/fine_units.toml --oracle fptas --epsilon 0.01",
    ),
)(
    command_of(
        _mode,
        {Exactly: exactly, Approximately: approximately},
        "Greedy and optimal assignment of an instance, their ratio, and what is guaranteed.",
    )
)
