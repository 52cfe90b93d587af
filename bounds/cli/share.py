"""``packproof share``: fair sharing of a cluster by one mechanism, or by all side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bounds.cli.app import app, completed_by, progress, show, write_certificate
from bounds.cli.options import CertificateFile, JsonFlag, PlotFile, refuse_unused
from theory.errors import InputError

if TYPE_CHECKING:
    from theory.sharing.model import Cluster

DIVISIONS = {"ps-dsf": "resource", "ps-dsf-tdm": "time"}
"""Mechanisms by which every server divides its resources, or its time, on its own."""

RAISING = ("c-drfh", "cdrf", "tsf")
"""Mechanisms that are max-min fair in one number a user."""

LEAST = 1e-12
"""Least tolerance: sums of floats over the largest clusters are right to about as much."""


ClusterFile = Annotated[Path, typer.Argument(metavar="CLUSTER", help="Cluster file, TOML or JSON.", show_default=False)]
MechanismName = Annotated[
    str,
    typer.Option(
        "--mechanism",
        metavar="NAME|all",
        help="drf, c-drfh, cdrf, tsf, ps-dsf, ps-dsf-tdm or all.",
        autocompletion=completed_by("theory.sharing.mechanisms:MECHANISMS", "all"),
    ),
]
WholeTasks = Annotated[bool, typer.Option("--whole", help="Also round to whole tasks and report the loss.")]
Lies = Annotated[
    int | None,
    typer.Option(
        "--lies",
        metavar="N",
        min=0,
        max=10_000,
        help="Search for profitable misreports: the systematic ones and N random ones per user.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the random misreports.")]
EventsFile = Annotated[
    Path | None, typer.Option("--events", metavar="FILE", help="Follow the shares as users arrive and leave.")
]
Tolerance = Annotated[
    str | None,
    typer.Option(
        "--tolerance",
        metavar="EPS",
        help="For very large clusters: numeric shares that are feasible exactly, and within EPS of the conditions"
        " of their mechanism (not drf, which is exact at any size).",
    ),
]
StoredShares = Annotated[
    Path | None,
    typer.Option(
        "--check",
        metavar="FILE",
        help="With --tolerance: compute no shares, but how far those of FILE, a JSON answer, are from the conditions.",
    ),
]


@app.command(
    examples=(
        "packproof share examples/four_classes.toml",
        "packproof share examples/four_classes.toml --mechanism ps-dsf --events examples/user_4_leaves.toml",
    )
)
def share(
    cluster: ClusterFile,
    mechanism: MechanismName = "all",
    whole: WholeTasks = False,
    lies: Lies = None,
    seed: Seed = 0,
    events: EventsFile = None,
    tolerance: Tolerance = None,
    check: StoredShares = None,
    certificate: CertificateFile = None,
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Fair shares of a cluster, utilisation, and which properties hold, with witnesses."""
    from theory.files.clusters import read_cluster
    from theory.sharing.mechanisms import MECHANISMS

    if mechanism != "all" and mechanism not in MECHANISMS:
        raise InputError(f"--mechanism: expected one of {', '.join(MECHANISMS)}, all, got {mechanism!r}")
    if certificate is not None and mechanism == "all":
        raise InputError("--certificate: expected one mechanism, got all")
    unused = {"--certificate": certificate is not None, "--whole": whole, "--lies": lies is not None}
    if events is not None:
        refuse_unused(unused, "--events, which follows shares over time")
    if events is not None and mechanism == "drf":
        raise InputError("--events: expected a mechanism that divides servers, got drf, which pools them")
    if check is not None and tolerance is None:
        raise InputError("--check: expected --tolerance beside it, the violation that is allowed")
    if tolerance is not None:
        unused |= {"--events": events is not None, "--plot": plot is not None}
        refuse_unused(unused, "--tolerance, which makes numeric shares")
        _within(cluster, mechanism, tolerance, check, as_json=as_json)
    elif events is not None:
        _over_time(read_cluster(cluster), events, mechanism, plot, as_json=as_json)
    else:
        how: dict[str, Any] = {"whole": whole, "lies": lies, "seed": seed, "certificate": certificate, "plot": plot}
        _exact_shares(read_cluster(cluster), mechanism, as_json=as_json, **how)


def _exact_shares(
    cluster: Cluster,
    mechanism: str,
    *,
    whole: bool,
    lies: int | None,
    seed: int,
    certificate: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Compute the shares by one mechanism, or by all, and decide their properties."""
    from bounds.views.sharing import AllShares, Shares, allocation_lines, comparison_lines, shares_answer
    from theory.sharing.allocation import Allocation, whole_tasks
    from theory.sharing.mechanisms import MECHANISMS
    from theory.sharing.properties import Verdict, decide
    from theory.sharing.strategy import strategy_proofness

    allocations: dict[str, Allocation] = {}
    answers: dict[str, Shares] = {}
    with progress() as say:
        for name in MECHANISMS if mechanism == "all" else (mechanism,):
            say(f"{name} ...")
            allocation = allocations[name] = MECHANISMS[name](cluster)
            properties = decide(allocation)
            if lies is None:
                properties["strategy_proofness"] = Verdict(None, {"note": "not searched (--lies)"})
            else:
                properties["strategy_proofness"] = strategy_proofness(MECHANISMS[name], cluster, rounds=lies, seed=seed)
            answers[name] = shares_answer(allocation, properties, whole_tasks(allocation) if whole else None)
    if certificate is not None and not allocations[mechanism].exact:
        raise InputError(f"--certificate: the {mechanism} allocation is numeric, not exact: it has none")
    if plot is not None:
        from bounds.views.sharing import picture_of_shares

        picture_of_shares(list(allocations.values()), plot)
    if certificate is not None:
        from bounds.certificates.allocation import allocation_certificate

        write_certificate(certificate, allocation_certificate(cluster, allocations[mechanism]))
    if mechanism == "all":
        every = AllShares(mechanism="all", mechanisms=answers)
        show(every, lambda: comparison_lines(answers, cluster), as_json=as_json)
    else:
        show(answers[mechanism], lambda: allocation_lines(allocations[mechanism], answers[mechanism]), as_json=as_json)


def _over_time(cluster: Cluster, events: Path, mechanism: str, plot: Path | None, *, as_json: bool) -> None:
    """Follow one mechanism, or all, while users come and go: PS-DSF by its servers in motion, the others at once."""
    from bounds.views.sharing import (
        AllInMotion,
        history_answer,
        history_lines,
        picture_of_histories,
        picture_of_history,
    )
    from fluid.limits.sharing import History, read_schedule, run_at_once, run_schedule
    from theory.sharing.mechanisms import MECHANISMS

    schedule = read_schedule(events, cluster)
    histories: dict[str, History] = {}
    with progress() as say:
        for name in MECHANISMS if mechanism == "all" else (mechanism,):
            say(f"{name} ...")
            if name in DIVISIONS:
                histories[name] = run_schedule(cluster, schedule, division=DIVISIONS[name])
            elif name != "drf":  # which pools the servers
                histories[name] = run_at_once(cluster, schedule, MECHANISMS[name])
    if mechanism != "all":
        history = histories[mechanism]
        if plot is not None:
            picture_of_history(history, cluster, plot)
        show(history_answer(mechanism, history, cluster), lambda: history_lines(history, cluster), as_json=as_json)
        return
    if plot is not None:
        picture_of_histories(histories, cluster, plot)
    answers = {name: history_answer(name, history, cluster) for name, history in histories.items()}
    lines = [line for name, one in histories.items() for line in (name, *history_lines(one, cluster), "")][:-1]
    show(AllInMotion(mechanism="all", mechanisms=answers), lambda: lines, as_json=as_json)


def _within(path: Path, mechanism: str, tolerance: str, stored: Path | None, *, as_json: bool) -> None:
    """Make numeric shares of one mechanism, or check those of a file."""
    from bounds.views.numeric_shares import conditions, numeric_answer, numeric_lines
    from theory.files.clusters import read_cluster
    from theory.numbers import rational
    from theory.sharing.numeric import numeric_ps_dsf
    from theory.sharing.numeric_levels import LEAST_TOLERANCE, numeric_max_min

    try:
        most = float(rational(tolerance))
    except (ValueError, OverflowError):
        most = -1.0
    if mechanism not in (*DIVISIONS, *RAISING):
        raise InputError(
            f"--tolerance: expected --mechanism {', '.join(DIVISIONS)}, {', '.join(RAISING)}, got {mechanism}:"
            + (" drf is exact at any size, leave --tolerance out" if mechanism == "drf" else " one at a time")
        )
    # prices of levels are floats of a solver, which come no nearer; a stored allocation is only checked
    least = LEAST if mechanism in DIVISIONS or stored is not None else LEAST_TOLERANCE
    if not least <= most < 1:
        raise InputError(f"--tolerance: expected a number of at least {least:g} and less than 1, got {tolerance}")
    if stored is not None:
        _check_stored(path, mechanism, most, stored, as_json=as_json)
        return
    with progress() as say:
        say(f"{path}: reading ...")
        cluster = read_cluster(path)
        if mechanism in RAISING:
            allocation = numeric_max_min(cluster, mechanism, most, say=say)
        else:
            allocation = numeric_ps_dsf(cluster, DIVISIONS[mechanism], most, say=say)
    violation = allocation.violation
    assert violation is not None
    if allocation.interrupted:
        print("interrupted: the nearest shares so far", file=sys.stderr)
    elif violation.value > most:
        by = "prices" if allocation.rounds is None else f"{allocation.rounds:,} rounds"
        raise InputError(
            f"{path}: --tolerance: {by} of {mechanism} came within {violation.value:.1e} of {conditions(mechanism)},"
            f" not {most:g}: allow more with --tolerance {2 * violation.value:.0e}"
        )
    answer = numeric_answer(allocation, violation, most)
    show(answer, lambda: numeric_lines(allocation, answer), as_json=as_json)


def _check_stored(path: Path, mechanism: str, most: float, stored: Path, *, as_json: bool) -> None:
    """Compute how far a stored allocation is from the conditions: status 1 if that is more than is allowed."""
    from bounds.views.numeric_shares import checked_answer, checked_lines
    from theory.files.allocations import read_allocation, read_prices
    from theory.files.clusters import read_cluster
    from theory.sharing.raising import max_min_violation
    from theory.sharing.violation import ps_dsf_violation

    with progress() as say:
        say(f"{path}: reading ...")
        cluster = read_cluster(path)
        name, tasks = read_allocation(stored, cluster)
        if name != mechanism:
            raise InputError(f"{stored}: mechanism: expected {mechanism}, got {name!r}")
        say("checking ...")
        if mechanism in RAISING:
            violation = max_min_violation(cluster, tasks, mechanism, read_prices(stored, cluster))
        else:
            violation = ps_dsf_violation(cluster, tasks, DIVISIONS[mechanism])
    answer = checked_answer(mechanism, DIVISIONS.get(mechanism, "resource"), violation, most)
    show(answer, lambda: checked_lines(answer), as_json=as_json)
    if not answer.valid:
        raise typer.Exit(1)
