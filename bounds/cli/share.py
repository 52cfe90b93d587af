"""``packproof share``: fair sharing of a cluster by one mechanism, or by all side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bounds.cli.app import app, completed_by, progress, show, write_certificate
from bounds.cli.options import CertificateFile, JsonFlag, PlotFile, refuse_unused
from theory.errors import InputError

if TYPE_CHECKING:
    from bounds.answers.sharing import Shares
    from theory.sharing.allocation import Allocation
    from theory.sharing.mechanisms import Mechanism
    from theory.sharing.model import Cluster


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
        help="For large clusters: numeric shares that are feasible exactly, and within EPS of the conditions of"
        " their mechanism (not drf, which is exact at any size; c-drfh, cdrf and tsf up to 1,000,000 pairs of user"
        " and server class).",
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

    chosen = _mechanisms_named(mechanism)
    if certificate is not None:
        if mechanism == "all":
            raise InputError("--certificate: expected one mechanism, got all")
        if not chosen[0].has_certificate:
            raise InputError(f"--certificate: packproof check knows no certificate of {mechanism}")
    unused = {"--certificate": certificate is not None, "--whole": whole, "--lies": lies is not None}
    if events is not None:
        refuse_unused(unused, "--events, which follows shares over time")
        if all(one.pools_servers for one in chosen):
            raise InputError(f"--events: expected a mechanism that divides servers, got {mechanism}, which pools them")
    if check is not None and tolerance is None:
        raise InputError("--check: expected --tolerance beside it, the violation that is allowed")
    if tolerance is not None:
        unused |= {"--events": events is not None, "--plot": plot is not None}
        refuse_unused(unused, "--tolerance, which makes numeric shares")
        _within(cluster, mechanism, tolerance, check, as_json=as_json)
        return
    shared = read_cluster(cluster)
    for one in chosen:
        one.refuse_if_too_large(shared)
    if events is not None:
        for one in chosen:
            if one.pools_servers:
                print(f"--events: {one.name} is left out, as it pools the servers", file=sys.stderr)
        _over_time(shared, events, mechanism, [one for one in chosen if not one.pools_servers], plot, as_json=as_json)
        return
    allocations, answers = _divided(shared, chosen, whole=whole, lies=lies, seed=seed)
    _show_shares(shared, mechanism, allocations, answers, certificate, plot, as_json=as_json)


def _show_shares(
    shared: Cluster,
    mechanism: str,
    allocations: dict[str, Allocation],
    answers: dict[str, Shares],
    certificate: Path | None,
    plot: Path | None,
    *,
    as_json: bool,
) -> None:
    """Write the files that were asked for, and show the shares by one mechanism, or by all side by side."""
    from bounds.views.sharing_answers import all_shares_answer
    from bounds.views.sharing_pictures import picture_of_shares

    if certificate is not None and not allocations[mechanism].exact:
        raise InputError(f"--certificate: the {mechanism} allocation is numeric, not exact: it has none")
    if certificate is not None and answers[mechanism].feasible is False:
        raise InputError(
            f"--certificate: expected tasks that fit the cluster; those of {mechanism}, which ignores"
            f" {'; '.join(answers[mechanism].ignored or ())}, do not fit"
        )
    if plot is not None:
        picture_of_shares(list(allocations.values()), plot)
    if certificate is not None:
        from bounds.certificates.allocation import allocation_certificate

        write_certificate(certificate, allocation_certificate(shared, allocations[mechanism]))
    show(all_shares_answer(answers) if mechanism == "all" else answers[mechanism], as_json=as_json)


def _mechanisms_named(name: str) -> list[Mechanism]:
    """Return the mechanism of a name, or all of them."""
    from theory.sharing.mechanisms import MECHANISMS

    if name != "all" and name not in MECHANISMS:
        raise InputError(f"--mechanism: expected one of {', '.join(MECHANISMS)}, all, got {name!r}")
    return list(MECHANISMS.values()) if name == "all" else [MECHANISMS[name]]


def _divided(
    cluster: Cluster, chosen: list[Mechanism], *, whole: bool, lies: int | None, seed: int
) -> tuple[dict[str, Allocation], dict[str, Shares]]:
    """Return the allocation by each mechanism, and the answer with its properties, by name."""
    from bounds.views.sharing_answers import shares_answer
    from theory.sharing.allocation import whole_tasks
    from theory.sharing.pooled import judge
    from theory.sharing.properties import Verdict, decide
    from theory.sharing.strategy import strategy_proofness

    allocations, answers = {}, {}
    with progress() as say:
        for one in chosen:
            say(f"{one.name} ...")
            allocation = allocations[one.name] = one(cluster)
            ignored, feasible = one.ignored(cluster), None
            if ignored:
                feasible, properties = judge(allocation, cluster)
            else:
                properties = decide(allocation)
            if lies is None:
                lying = Verdict(None, {"note": "not searched (--lies)"})
            elif ignored:
                lying = Verdict(None, {"note": f"{one.name} does not say which servers run the tasks"})
            else:
                lying = strategy_proofness(one, cluster, rounds=lies, seed=seed)
            properties["strategy_proofness"] = lying
            rounded = whole_tasks(allocation) if whole else None
            answers[one.name] = shares_answer(allocation, properties, rounded, ignored, feasible=feasible)
    return allocations, answers


def _over_time(
    cluster: Cluster, events: Path, mechanism: str, chosen: list[Mechanism], plot: Path | None, *, as_json: bool
) -> None:
    """Follow one mechanism, or all, while users come and go: PS-DSF by its servers in motion, the others at once."""
    from bounds.answers.record import encode
    from bounds.answers.sharing import AllInMotion
    from bounds.views.sharing_answers import history_answer
    from bounds.views.sharing_pictures import picture_of_histories, picture_of_history
    from fluid.limits.sharing import History, read_schedule, run_at_once, run_schedule

    schedule = read_schedule(events, cluster)
    histories: dict[str, History] = {}
    with progress() as say:
        for one in chosen:
            say(f"{one.name} ...")
            if one.updates_by_server:
                histories[one.name] = run_schedule(cluster, schedule, division=one.division)
            else:
                histories[one.name] = run_at_once(cluster, schedule, one)
    answers = {name: history_answer(name, history, cluster) for name, history in histories.items()}
    if mechanism == "all":
        if plot is not None:
            picture_of_histories(answers, plot)
        show(encode(AllInMotion, mechanism="all", mechanisms=answers), as_json=as_json)
        return
    if plot is not None:
        picture_of_history(answers[mechanism], plot)
    show(answers[mechanism], as_json=as_json)


def _within(path: Path, name: str, tolerance: str, stored: Path | None, *, as_json: bool) -> None:
    """Make numeric shares of one mechanism, or check those of a file."""
    from bounds.views.sharing_answers import numeric_answer
    from theory.files.clusters import read_cluster
    from theory.numbers import rational
    from theory.sharing.mechanisms import MECHANISMS
    from theory.sharing.per_server import LEAST_VIOLATION

    try:
        most = float(rational(tolerance))
    except (ValueError, OverflowError):
        most = -1.0
    mechanism = MECHANISMS.get(name)
    if mechanism is None or mechanism.numeric is None:
        able = [(one.numeric.least_tolerance, one.name) for one in MECHANISMS.values() if one.numeric is not None]
        finest_first = ", ".join(other for _, other in sorted(able, key=lambda pair: pair[0]))
        raise InputError(
            f"--tolerance: expected --mechanism {finest_first}, got {name}:"
            + (" one at a time" if mechanism is None else f" {name} is exact at any size, leave --tolerance out")
        )
    # prices of levels are floats of a solver, which come no nearer; a stored allocation is only checked
    least = LEAST_VIOLATION if stored is not None else mechanism.numeric.least_tolerance
    if not least <= most < 1:
        raise InputError(f"--tolerance: expected a number of at least {least:g} and less than 1, got {tolerance}")
    if stored is not None:
        _check_stored(path, mechanism, most, stored, as_json=as_json)
        return
    with progress() as say:
        say(f"{path}: reading ...")
        allocation = mechanism.numeric.allocate(read_cluster(path), most, say=say)
    reached = allocation.violation
    assert reached is not None
    if allocation.interrupted:
        print("interrupted: the nearest shares so far", file=sys.stderr)
    elif reached.value > most:
        raise InputError(
            f"{path}: --tolerance: {'prices' if allocation.rounds is None else f'{allocation.rounds:,} rounds'} of"
            f" {name} came within {reached.value:.1e} of {mechanism.conditions}, not {most:g}: allow more with"
            f" --tolerance {2 * reached.value:.0e}"
        )
    show(numeric_answer(allocation, reached, most), as_json=as_json)


def _check_stored(path: Path, mechanism: Mechanism, most: float, stored: Path, *, as_json: bool) -> None:
    """Compute how far a stored allocation is from the conditions: status 1 if that is more than is allowed."""
    from bounds.views.sharing_answers import checked_answer
    from theory.files.clusters import read_allocation, read_cluster, read_prices

    assert mechanism.numeric is not None
    with progress() as say:
        say(f"{path}: reading ...")
        cluster = read_cluster(path)
        name, tasks = read_allocation(stored, cluster)
        if name != mechanism.name:
            raise InputError(f"{stored}: mechanism: expected {mechanism.name}, got {name!r}")
        say("checking ...")
        prices = read_prices(stored, cluster) if mechanism.numeric.has_prices else ()
        violation = mechanism.numeric.violation(cluster, tasks, prices)
    answer = checked_answer(mechanism.name, mechanism.division, violation, most)
    show(answer, as_json=as_json)
    if not answer.valid:
        raise typer.Exit(1)
