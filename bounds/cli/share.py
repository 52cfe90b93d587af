"""``packproof share``: fair sharing of a cluster by one mechanism, or by all side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bounds.cli.app import CertificateFile, JsonFlag, PlotFile, app, progress, show, write_certificate

if TYPE_CHECKING:
    from theory.sharing.model import Cluster

DIVISIONS = {"ps-dsf": "resource", "ps-dsf-tdm": "time"}
"""Mechanisms of which every server divides its resources, or its time, on its own."""

RAISING = ("c-drfh", "cdrf", "tsf")
"""Mechanisms that are max-min fair in one number a user."""

LEAST = 1e-12
"""Least tolerance: sums of floats over the largest clusters are right to about as much."""


@app.command(
    examples=(
        "packproof share examples/four_classes.toml",
        "packproof share examples/four_classes.toml --mechanism ps-dsf --events examples/user_4_leaves.toml",
    )
)
def share(
    cluster: Annotated[Path, typer.Argument(metavar="CLUSTER", help="Cluster file, TOML or JSON.", show_default=False)],
    mechanism: Annotated[
        str, typer.Option("--mechanism", metavar="NAME|all", help="drf, c-drfh, cdrf, tsf, ps-dsf, ps-dsf-tdm or all.")
    ] = "all",
    whole: Annotated[bool, typer.Option("--whole", help="Also round to whole tasks and report the loss.")] = False,
    lies: Annotated[
        int | None,
        typer.Option(
            "--lies",
            metavar="N",
            min=0,
            max=10_000,
            help="Search for profitable misreports: the systematic ones and N random ones per user.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random misreports.")] = 0,
    events: Annotated[
        Path | None, typer.Option("--events", metavar="FILE", help="Follow the shares as users arrive and leave.")
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            "--tolerance",
            metavar="EPS",
            help="For very large clusters: numeric shares that are feasible exactly, and within EPS of the conditions"
            " of their mechanism (not drf, which is exact at any size).",
        ),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            "--check",
            metavar="FILE",
            help="With --tolerance: compute no shares, but how far those of FILE, a JSON answer, are from the"
            " conditions.",
        ),
    ] = None,
    certificate: CertificateFile = None,
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Fair shares of a cluster, utilisation, and which properties hold, with witnesses."""
    from bounds.views.answers import Answer, encode_answer
    from bounds.views.sharing import (
        allocation_lines,
        comparison_lines,
        shares_answer,
    )
    from theory.errors import InputError
    from theory.files.clusters import read_cluster
    from theory.sharing.allocation import Allocation, whole_tasks
    from theory.sharing.mechanisms import MECHANISMS
    from theory.sharing.properties import Verdict, decide
    from theory.sharing.strategy import strategy_proofness

    if mechanism != "all" and mechanism not in MECHANISMS:
        raise InputError(f"--mechanism: expected one of {', '.join(MECHANISMS)}, all, got {mechanism!r}")
    if certificate is not None and mechanism == "all":
        raise InputError("--certificate: expected one mechanism, got all")
    unused = {"--certificate": certificate is not None, "--whole": whole, "--lies": lies is not None}
    if events is not None:
        _refuse_unused(unused, "--events, which follows shares over time")
    if events is not None and mechanism == "drf":
        raise InputError("--events: expected a mechanism that divides servers, got drf, which pools them")
    if check is not None and tolerance is None:
        raise InputError("--check: expected --tolerance beside it, the violation that is allowed")
    if tolerance is not None:
        unused |= {"--events": events is not None, "--plot": plot is not None}
        _refuse_unused(unused, "--tolerance, which makes numeric shares")
        _within(cluster, mechanism, tolerance, check, as_json=as_json)
        return
    given = read_cluster(cluster)
    if events is not None:
        _over_time(given, events, mechanism, plot, as_json=as_json)
        return
    chosen = list(MECHANISMS) if mechanism == "all" else [mechanism]
    allocations: dict[str, Allocation] = {}
    answers: dict[str, Answer] = {}
    with progress() as say:
        for name in chosen:
            say(f"{name} ...")
            made = allocations[name] = MECHANISMS[name](given)
            properties = decide(made)
            if lies is None:
                properties["strategy_proofness"] = Verdict(None, {"note": "not searched (--lies)"})
            else:
                properties["strategy_proofness"] = strategy_proofness(MECHANISMS[name], given, rounds=lies, seed=seed)
            answers[name] = shares_answer(made, properties, whole_tasks(made) if whole else None)
    if certificate is not None and not allocations[mechanism].exact:
        raise InputError(f"--certificate: the {mechanism} allocation is numeric, not exact: it has none")
    if plot is not None:
        from bounds.views.sharing import picture_of_shares

        picture_of_shares(list(allocations.values()), plot)
    if certificate is not None:
        from bounds.certificates.allocation import allocation_certificate

        write_certificate(certificate, allocation_certificate(given, allocations[mechanism]))
    if mechanism == "all":
        show(
            encode_answer("share_all", mechanism="all", mechanisms=answers),
            lambda: comparison_lines(answers, given),
            as_json=as_json,
        )
    else:
        show(answers[mechanism], lambda: allocation_lines(allocations[mechanism], answers[mechanism]), as_json=as_json)


def _refuse_unused(given: dict[str, bool], other: str) -> None:
    """Refuse the first of the given options, which do nothing beside another."""
    from theory.errors import InputError

    for option in (name for name, is_given in given.items() if is_given):
        raise InputError(f"{option}: has no meaning with {other}")


def _over_time(cluster: Cluster, events: Path, mechanism: str, plot: Path | None, *, as_json: bool) -> None:
    """Follow one mechanism, or all, while users come and go: PS-DSF by its servers in motion, the others at once."""
    from bounds.views.answers import encode_answer
    from bounds.views.sharing import (
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
    show(encode_answer("share_events_all", mechanism="all", mechanisms=answers), lambda: lines, as_json=as_json)


def _within(path: Path, mechanism: str, tolerance: str, stored: Path | None, *, as_json: bool) -> None:
    """Make numeric shares of one mechanism, or check those of a file."""
    from bounds.views.sharing import conditions, numeric_answer, numeric_lines
    from theory.errors import InputError
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
    least = LEAST if mechanism in DIVISIONS or stored is not None else LEAST_TOLERANCE
    if not least <= most < 1:
        raise InputError(f"--tolerance: expected a number of at least {least:g} and less than 1, got {tolerance}")
    if stored is not None:
        _check_stored(path, mechanism, most, stored, as_json=as_json)
        return
    with progress() as say:
        say(f"{path}: reading ...")
        given = read_cluster(path)
        if mechanism in RAISING:
            made = numeric_max_min(given, mechanism, most, say=say)
        else:
            made = numeric_ps_dsf(given, DIVISIONS[mechanism], most, say=say)
    found = made.violation
    assert found is not None
    if made.interrupted:
        print("interrupted: the nearest shares so far", file=sys.stderr)
    elif found.value > most:
        raise InputError(
            f"{path}: --tolerance: {'prices' if made.rounds is None else f'{made.rounds:,} rounds'} of {mechanism} came"
            f" within {found.value:.1e} of {conditions(mechanism)}, not {most:g}: allow more with --tolerance"
            f" {2 * found.value:.0e}"
        )
    answer = numeric_answer(made, found, most)
    show(answer, lambda: numeric_lines(made, answer), as_json=as_json)


def _check_stored(path: Path, mechanism: str, most: float, stored: Path, *, as_json: bool) -> None:
    """Compute how far a stored allocation is from the conditions: status 1 if that is more than is allowed."""
    from bounds.views.sharing import checked_answer, checked_lines
    from theory.errors import InputError
    from theory.files.allocations import read_allocation, read_prices
    from theory.files.clusters import read_cluster
    from theory.sharing.raising import max_min_violation
    from theory.sharing.violation import ps_dsf_violation

    with progress() as say:
        say(f"{path}: reading ...")
        given = read_cluster(path)
        name, tasks = read_allocation(stored, given)
        if name != mechanism:
            raise InputError(f"{stored}: mechanism: expected {mechanism}, got {name!r}")
        say("checking ...")
        if mechanism in RAISING:
            found = max_min_violation(given, tasks, mechanism, read_prices(stored, given))
        else:
            found = ps_dsf_violation(given, tasks, DIVISIONS[mechanism])
    answer = checked_answer(mechanism, DIVISIONS.get(mechanism, "resource"), found, most)
    show(answer, lambda: checked_lines(answer), as_json=as_json)
    if not answer.valid:
        raise typer.Exit(1)
