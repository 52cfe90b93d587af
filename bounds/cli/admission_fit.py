"""``packproof admission fit``: the laws of a cluster's deployments, by a log of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bounds.cli.admission import group
from bounds.cli.app import progress, show
from bounds.cli.options import JsonFlag, PlotFile, SeedOption, StrictOption, announcing, named_values
from fluid.admission.choices import InitialSizes
from theory.errors import InputError, naming

if TYPE_CHECKING:
    from fluid.admission.study.watched import TenantLog

ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="NAME=HEADER",
        help="What a column is, where its header does not say it: arrival, end, lifetime, deployment, cores, "
        "scale_outs, added_cores, ended_cores or core_time.",
    ),
]
OutFile = Annotated[
    Path | None,
    typer.Option("--out", metavar="OWN.toml", help="Write the cluster that was fitted.", callback=announcing()),
]
TenantsFile = Annotated[
    Path | None,
    typer.Option(
        "--tenants",
        metavar="NOW.csv",
        help="Write the deployments that are there now, and what was seen of each, for decide --state.",
        callback=announcing(),
    ),
]
InitialOption = Annotated[
    InitialSizes, typer.Option("--initial", help="Law of initial sizes: 1 + Poisson, or as seen.")
]
SimulatedLogsOption = Annotated[
    int,
    typer.Option("--replications", metavar="N", min=119, max=100_000, help="Simulated logs for goodness of fit."),
]


@group.command(
    examples=(
        "packproof admission fit examples/tenant_log.csv --out own.toml",
        "packproof admission fit examples/tenant_log.csv --capacity 150 --to 2026-04-01 --plot fit.png",
    )
)
def fit(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="A row a VM, or a row a deployment.", show_default=False)],
    out: OutFile = None,
    tenants: TenantsFile = None,
    capacity: Annotated[
        int | None,
        typer.Option("--capacity", metavar="C", min=1, help="Cores (else the most that the log has at once)."),
    ] = None,
    columns: ColumnsOption = None,
    begin: Annotated[
        str, typer.Option("--from", metavar="T", help="When the watch began: a date, or hours after the first arrival.")
    ] = "",
    end: Annotated[
        str, typer.Option("--to", metavar="T", help="When the watch ended (else the log's last moment).")
    ] = "",
    at_once: Annotated[
        int, typer.Option("--at-once", metavar="K", min=2, help="VMs that end at once where a deployment is shut down.")
    ] = 2,
    within: Annotated[
        float, typer.Option("--within", metavar="S", min=0, max=86400, help="Seconds that are at once.")
    ] = 0.0,
    strict: StrictOption = False,
    initial: InitialOption = InitialSizes.poisson,
    replications: SimulatedLogsOption = 199,
    seed: SeedOption = 0,
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Fit the laws of a cluster's deployments to a log: standard errors, goodness of fit, and a file for the others."""
    from bounds.views.admission_fit import fit_answer, fit_document
    from fluid.admission.law.admission_files import parse_admission
    from fluid.admission.study.estimation import fit_log, refuse_unconverged
    from fluid.admission.study.goodness import goodness_of_fit
    from fluid.admission.study.tenant_log import state_csv
    from theory.files.instances import write_tables
    from theory.files.places import write_text

    named = named_values("--column", columns or [], "NAME=HEADER, each name once")
    is_poisson = initial is InitialSizes.poisson
    with progress() as say:
        say("reading and fitting")
        watched = watched_log(log, columns=named, begin=begin, end=end, least=at_once, together=within, strict=strict)
        cores = watched.most_cores if capacity is None else capacity
        if cores is None:
            raise InputError("--capacity", "missing, expected it where a row is a deployment")
        with naming(log, ("data",)):
            fitted = fit_log(watched, is_poisson=is_poisson)
            refuse_unconverged(fitted.problem)
        document = fit_document(watched, fitted, cores)
        cluster = parse_admission(document, str(out or log))
        compared = goodness_of_fit(cluster, watched, replications=replications, seed=seed, progress=say)
    answer = fit_answer(watched, fitted, cluster, compared)
    state = state_csv(watched, is_poisson=is_poisson)
    # all is done: only now is anything written
    if plot is not None:
        from bounds.views.admission_pictures import picture_of_fit

        picture_of_fit(compared, plot)
    if tenants is not None:
        write_text(tenants, state)
    if out is not None:
        write_tables(out, document)
    show(answer, as_json=as_json)


def watched_log(log: Path, **how: Any) -> TenantLog:
    """Read a log of tenants, and say what was guessed of it."""
    from fluid.admission.study.tenant_log import read_tenant_log

    watched = read_tenant_log(log, **how)
    for note in watched.notes:
        print(f"{log}: {note}", file=sys.stderr)
    return watched
