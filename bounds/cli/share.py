"""``packproof share``: fair sharing of a cluster by one mechanism or by all, and what is true of a given allocation."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bounds.cli.app import app, completed_by, progress, show, write_certificate
from bounds.cli.modes import Mode, command_of
from bounds.cli.options import CertificateFile, JsonFlag, PlotFile
from theory.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bounds.answers.sharing import Shares
    from theory.sharing.allocation import Allocation
    from theory.sharing.mechanisms import Mechanism, Numeric
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
GivenAllocation = Annotated[
    Path | None,
    typer.Option(
        "--allocation",
        metavar="FILE",
        help="Judge this allocation, tasks by user and server: a table with the columns user, server and tasks, or a"
        " JSON answer or certificate. With --tolerance, loads and properties within EPS are tolerated.",
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


@dataclass(frozen=True, kw_only=True)
class Options(Mode):
    """What every mode takes."""

    cluster: ClusterFile
    mechanism: MechanismName = "all"
    as_json: JsonFlag = False


@dataclass(frozen=True, kw_only=True)
class AllShares(Options):
    """The shares by all mechanisms, with their properties."""

    beside = "--mechanism all"

    whole: WholeTasks = False
    lies: Lies = None
    seed: Seed = 0
    plot: PlotFile = None


@dataclass(frozen=True, kw_only=True)
class OneShare(AllShares):
    """The shares by one mechanism, with their properties."""

    beside = "one mechanism"

    certificate: CertificateFile = None


@dataclass(frozen=True, kw_only=True)
class OverTime(Options):
    """The shares as users arrive and leave."""

    beside = "--events, which follows shares over time"
    chosen_by = ("events",)

    events: EventsFile = None
    plot: PlotFile = None


@dataclass(frozen=True, kw_only=True)
class Within(Options):
    """Numeric shares within a tolerance."""

    beside = "--tolerance, which makes numeric shares"
    chosen_by = ("tolerance",)

    tolerance: Tolerance


@dataclass(frozen=True, kw_only=True)
class Stored(Options):
    """How far shares that are stored are from the conditions of their mechanism."""

    beside = "--check, which computes no shares"
    chosen_by = ("check",)

    tolerance: Tolerance
    check: StoredShares


@dataclass(frozen=True, kw_only=True)
class Judged(Options):
    """What is true of an allocation that somebody made."""

    beside = "--allocation, which judges one that is given"
    chosen_by = ("allocation",)

    allocation: GivenAllocation = None
    tolerance: Tolerance = None
    certificate: CertificateFile = None


def _mode(given: Any) -> type[Mode]:
    if given.allocation is not None:
        return Judged
    if given.check is not None:
        return Stored
    if given.tolerance is not None:
        return Within
    if given.events is not None:
        return OverTime
    return AllShares if given.mechanism == "all" else OneShare


def all_shares(options: AllShares) -> None:
    """Show the shares by all mechanisms side by side."""
    from bounds.views.sharing_answers import all_shares_answer
    from bounds.views.sharing_pictures import picture_of_shares

    _, allocations, answers = _divided(options)
    if options.plot is not None:
        picture_of_shares(list(allocations.values()), options.plot)
    show(all_shares_answer(answers), as_json=options.as_json)


def one_share(options: OneShare) -> None:
    """Show the shares by one mechanism."""
    from bounds.views.sharing_pictures import picture_of_shares

    cluster, allocations, answers = _divided(options)
    (allocation,), (answer,) = allocations.values(), answers.values()
    document = None if options.certificate is None else _certificate(cluster, allocation, answer)
    if options.plot is not None:
        picture_of_shares([allocation], options.plot)
    if options.certificate is not None and document is not None:
        write_certificate(options.certificate, document)
    show(answer, as_json=options.as_json)


def _certificate(cluster: Cluster, allocation: Allocation, answer: Shares) -> dict[str, Any]:
    """Return the certificate of an allocation; where there is none, its reason is the refusal."""
    from bounds.certificates.allocation import allocation_certificate

    if not allocation.exact:
        raise InputError("--certificate", f"the {allocation.mechanism} allocation is numeric, not exact: it has none")
    if answer.feasible is False:
        raise InputError(
            "--certificate",
            f"expected tasks that fit the cluster; those of {allocation.mechanism}, which ignores"
            f" {'; '.join(answer.ignored or ())}, do not fit",
        )
    return allocation_certificate(cluster, allocation)


def _mechanisms_named(name: str) -> list[Mechanism]:
    """Return the mechanism of a name, or all of them."""
    from theory.sharing.mechanisms import MECHANISMS

    if name != "all" and name not in MECHANISMS:
        raise InputError("--mechanism", f"expected one of {', '.join(MECHANISMS)}, all, got {name!r}")
    return list(MECHANISMS.values()) if name == "all" else [MECHANISMS[name]]


def _read(options: Options) -> tuple[Cluster, list[Mechanism]]:
    """Return the cluster and its mechanisms, none of which it is too large for; of all, those that take its users.

    Groups are refused where a certificate of properties is asked for, or users come and go.
    """
    from theory.files.clusters import read_cluster

    chosen = _mechanisms_named(options.mechanism)
    cluster = read_cluster(options.cluster)
    if isinstance(options, Judged) and options.certificate is not None:
        what = f"{options.cluster}: --certificate with --allocation"
        cluster.refuse_groups(what, "packproof check knows properties of users alone")
    if isinstance(options, OverTime):
        cluster.refuse_groups(f"{options.cluster}: --events", "drf takes them, which pools the servers")
    if options.mechanism == "all":
        if cluster.grouped:
            chosen = _left_out(options.cluster, "group", chosen, [one for one in chosen if one.takes_groups])
        if cluster.capped:
            chosen = _left_out(options.cluster, "most_tasks", chosen, [one for one in chosen if one.takes_caps])
    for one in chosen:
        one.refuse_unsuited(cluster, str(options.cluster))
    return cluster, chosen


def _left_out(path: Path, field: str, chosen: Sequence[Mechanism], able: list[Mechanism]) -> list[Mechanism]:
    """Return the mechanisms that take a field of the users; those that are left out are named on stderr."""
    if out := [one.name for one in chosen if one not in able]:
        print(f"{path}: {field}: left out {', '.join(out)}, which do not take it", file=sys.stderr)
    return able


def _divided(options: AllShares) -> tuple[Cluster, dict[str, Allocation], dict[str, Shares]]:
    """Return the cluster, the allocation by each mechanism, and the answer with its properties, by name."""
    from bounds.views.sharing_answers import shares_answer
    from theory.sharing.allocation import whole_tasks
    from theory.sharing.pooled import judge
    from theory.sharing.properties import Verdict, decide
    from theory.sharing.strategy import strategy_proofness

    cluster, chosen = _read(options)
    if isinstance(options, OneShare) and options.certificate is not None and not chosen[0].has_certificate:
        raise InputError("--certificate", f"packproof check knows no certificate of {options.mechanism}")
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
            if options.lies is None:
                lying = Verdict(None, {"note": "not searched (--lies)"})
            elif ignored:
                lying = Verdict(None, {"note": f"{one.name} does not say which servers run the tasks"})
            else:
                lying = strategy_proofness(one, cluster, rounds=options.lies, seed=options.seed)
            properties["strategy_proofness"] = lying
            rounded = whole_tasks(allocation) if options.whole else None
            answers[one.name] = shares_answer(allocation, properties, rounded, ignored, feasible=feasible)
    return cluster, allocations, answers


def over_time(options: OverTime) -> None:
    """Follow one mechanism, or all, while users come and go: PS-DSF by its servers in motion, the others at once."""
    from bounds.answers.record import encode
    from bounds.answers.sharing import AllInMotion
    from bounds.views.sharing_answers import history_answer
    from bounds.views.sharing_pictures import picture_of_histories, picture_of_history
    from fluid.limits.sharing import History, read_schedule, run_at_once, run_schedule

    assert options.events is not None
    mechanism, plot = options.mechanism, options.plot
    if all(one.pools_servers for one in _mechanisms_named(mechanism)):
        raise InputError("--events", f"expected a mechanism that divides servers, got {mechanism}, which pools them")
    cluster, named = _read(options)
    for one in named:
        if one.pools_servers:
            print(f"--events: {one.name} is left out, as it pools the servers", file=sys.stderr)
    chosen = [one for one in named if not one.pools_servers]
    schedule = read_schedule(options.events, cluster)
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
        show(encode(AllInMotion, mechanism="all", mechanisms=answers), as_json=options.as_json)
        return
    if plot is not None:
        picture_of_history(answers[mechanism], plot)
    show(answers[mechanism], as_json=options.as_json)


def _tolerated(options: Within | Stored, least: float | None = None) -> tuple[Mechanism, Numeric, float]:
    """Return a mechanism, how it makes numeric shares, and the violation that is allowed.

    That is at least `least`, or what the mechanism comes to.
    """
    from theory.numbers import rational
    from theory.sharing.mechanisms import MECHANISMS

    name, tolerance = options.mechanism, options.tolerance or ""
    try:
        most = float(rational(tolerance))
    except (ValueError, OverflowError):
        most = -1.0
    mechanism = MECHANISMS.get(name)
    if mechanism is None or mechanism.numeric is None:
        able = [(one.numeric.least_tolerance, one.name) for one in MECHANISMS.values() if one.numeric is not None]
        finest_first = ", ".join(other for _, other in sorted(able, key=lambda pair: pair[0]))
        raise InputError(
            "--tolerance",
            f"expected --mechanism {finest_first}, got {name}:"
            + (" one at a time" if mechanism is None else f" {name} is exact at any size, leave --tolerance out"),
        )
    least = mechanism.numeric.least_tolerance if least is None else least
    if not least <= most < 1:
        raise InputError("--tolerance", f"expected a number of at least {least:g} and less than 1, got {tolerance}")
    return mechanism, mechanism.numeric, most


def within(options: Within) -> None:
    """Make numeric shares of one mechanism."""
    from bounds.views.sharing_answers import numeric_answer
    from theory.files.clusters import read_cluster

    path = options.cluster
    mechanism, numeric, most = _tolerated(options)
    with progress() as say:
        say(f"{path}: reading ...")
        cluster = read_cluster(path)
        cluster.refuse_caps_and_groups(f"{path}: --tolerance")
        allocation = numeric.allocate(cluster, most, say=say)
    reached = allocation.violation
    assert reached is not None
    if allocation.interrupted:
        print("interrupted: the nearest shares so far", file=sys.stderr)
    elif reached.value > most:
        raise InputError(
            path,
            "--tolerance",
            f"{'prices' if allocation.rounds is None else f'{allocation.rounds:,} rounds'} of"
            f" {mechanism.name} came within {reached.value:.1e} of {mechanism.conditions}, not {most:g}: allow more"
            f" with --tolerance {2 * reached.value:.0e}",
        )
    show(numeric_answer(allocation, reached, most), as_json=options.as_json)


def check_stored(options: Stored) -> None:
    """Compute how far a stored allocation is from the conditions: status 1 if that is more than is allowed."""
    from bounds.views.sharing_answers import checked_answer
    from theory.files.clusters import read_allocation, read_cluster, read_prices
    from theory.sharing.per_server import LEAST_VIOLATION

    path, stored = options.cluster, options.check
    assert stored is not None
    # prices of levels are floats of a solver, which come no nearer; a stored allocation is only checked
    mechanism, numeric, most = _tolerated(options, LEAST_VIOLATION)
    with progress() as say:
        say(f"{path}: reading ...")
        cluster = read_cluster(path)
        cluster.refuse_caps_and_groups(f"{path}: --tolerance")
        name, tasks = read_allocation(stored, cluster)
        if name != mechanism.name:
            raise InputError(stored, "mechanism", f"expected {mechanism.name}, got {name!r}")
        say("checking ...")
        prices = read_prices(stored, cluster) if numeric.has_prices else ()
        violation = numeric.violation(cluster, tasks, prices)
    answer = checked_answer(mechanism.name, mechanism.division, violation, most)
    show(answer, as_json=options.as_json)
    if not answer.valid:
        raise typer.Exit(1)


def judge_allocation(options: Judged) -> None:
    """Judge an allocation of somebody's."""
    from bounds.certificates.fairness import fairness_certificate
    from bounds.views.allocation import judged_answer
    from theory.files.allocations import read_tasks
    from theory.sharing.judgement import distance, given, judge_given

    assert options.allocation is not None
    allowed = _allowance(options)
    cluster, chosen = _read(options)
    allocation = given(cluster, read_tasks(options.allocation, cluster))
    with progress() as say:
        say("properties ...")
        judged = judge_given(allocation, allowed)
        if options.certificate is not None:
            if judged.feasible and any(one.holds is None for one in judged.properties.values()):
                raise InputError("--certificate", "expected a cluster that is small enough to decide every property of")
            write_certificate(options.certificate, fairness_certificate(judged))
        distances = []
        for one in chosen:
            say(f"{one.name} ...")
            distances.append((distance(allocation, one), one.ignored(cluster)))
    show(judged_answer(allocation, judged, distances, allowed), as_json=options.as_json)


def _allowance(options: Judged) -> Fraction:
    """Return by how much loads and properties may fail; a certificate is of numbers as they are."""
    from theory.numbers import rational

    if options.tolerance is None:
        return Fraction(0)
    if options.certificate is not None:
        raise InputError("--certificate", "has no meaning with --tolerance: a certificate tolerates nothing")
    try:
        allowed = rational(options.tolerance)
    except ValueError:
        allowed = Fraction(-1)
    if not 0 <= allowed < 1:
        raise InputError("--tolerance", f"expected a number of at least 0 and less than 1, got {options.tolerance}")
    return allowed


app.command(
    "share",
    examples=(
        "packproof share examples/four_classes.toml",
        "packproof share examples/four_classes.toml --mechanism ps-dsf --events examples/user_4_leaves.toml",
        "packproof share examples/four_classes.toml --allocation examples/four_classes_today.csv",
    ),
)(
    command_of(
        _mode,
        {
            AllShares: all_shares,
            OneShare: one_share,
            OverTime: over_time,
            Within: within,
            Stored: check_stored,
            Judged: judge_allocation,
        },
        "Fair shares of a cluster, utilisation, and which properties hold, with witnesses.",
    )
)
