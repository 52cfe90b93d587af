"""``packproof attack``: search for the instance on which a rule keeps least."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bounds.adversary.choices import Kind, Measure, Rewards, Service
from bounds.cli.app import app, progress, show, write_certificate
from bounds.cli.modes import Mode, command_of
from bounds.cli.options import (
    CertificateFile,
    EngineOption,
    JsonFlag,
    WorkersOption,
    WorstFile,
    read_number,
    refuse_endless,
    to_store,
)
from theory.errors import InputError

if TYPE_CHECKING:
    from bounds.adversary.games import Sizes


Rule = Annotated[
    str,
    typer.Argument(
        metavar="RULE.py:NAME",
        help="The rule, a function of a file, or of a module as PACKAGE.MODULE:NAME; or by name one that packproof "
        "has: with --kind items a packing rule, with --kind sharing a mechanism, with --kind online a policy.",
        show_default=False,
    ),
]
RuleKind = Annotated[Kind | None, typer.Option("--kind", help="What the rule decides; assignment unless given.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the search.")]
TimeLimit = Annotated[
    float, typer.Option("--time-limit", metavar="SECONDS", min=0, help="Time after which the worst so far is shown.")
]
Evaluations = Annotated[
    int | None,
    typer.Option(
        "--evaluations",
        metavar="N",
        min=1,
        help="Instances to judge at most, before the worst is shrunk; 1 with --from judges the file alone.",
    ),
]
Target = Annotated[
    str | None, typer.Option("--target", metavar="RATIO", help="End when the rule keeps no more than this.")
]
Types = Annotated[int, typer.Option("--types", min=1, max=8, help="Types of jobs, or users.")]
Resources = Annotated[int, typer.Option("--resources", min=1, max=6, help="Resources.")]
Bins = Annotated[int, typer.Option("--bins", min=1, max=20, help="Bins, or servers, of the instances.")]
MostItems = Annotated[int, typer.Option("--items", min=1, max=60, help="Items at most.")]
FixedBins = Annotated[
    bool, typer.Option("--fixed-bins", help="Of item rules: count only lists that need --bins bins or more.")
]
MeasureOption = Annotated[Measure, typer.Option("--measure", help="Of sharing rules: what is least.")]
RewardsOption = Annotated[
    Rewards, typer.Option("--rewards", help="Of assignment rules: any, or proportional to the shares that jobs take.")
]
Beginning = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="Begin at this instance, such as the worst of an earlier search."),
]
Starts = Annotated[
    int, typer.Option("--starts", metavar="N", min=1, max=1024, help="Independent searches, run at once.")
]
Servers = Annotated[
    int | None,
    typer.Option(
        "--servers",
        min=1,
        max=10_000,
        help="Of online policies (default: 1 for traps, 100 where work piles up, 20 for loss systems).",
    ),
]
ServiceLaw = Annotated[
    Service, typer.Option("--service", help="Of slotted policies: geometric, or a fixed number of slots.")
]
StoreFile = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FILE",
        help="Begin at the worst instance that earlier searches for the rule kept there, and keep this one's.",
        callback=to_store,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Options(Mode):
    """What every kind of rule takes."""

    rule: Rule
    kind: RuleKind = None
    seed: Seed = 0
    time_limit: TimeLimit = 60
    evaluations: Evaluations = None
    target: Target = None
    resources: Resources = 1
    out: WorstFile = None
    as_json: JsonFlag = False


@dataclass(frozen=True, kw_only=True)
class OfRules(Options):
    """What the kinds of rules take that decide one instance at a time."""

    begin: Beginning = None
    starts: Starts = 1
    workers: WorkersOption = -1
    engine: EngineOption = "local"
    store: StoreFile = None
    certificate: CertificateFile = None


@dataclass(frozen=True, kw_only=True)
class OfAssignments(OfRules):
    """A rule assigns servers to configurations."""

    beside = "--kind assignment"

    types: Types = 2
    rewards: RewardsOption = Rewards.any


@dataclass(frozen=True, kw_only=True)
class OfItems(OfRules):
    """A rule packs items into bins."""

    beside = "--kind items"

    bins: Bins = 3
    most: MostItems = 12
    fixed: FixedBins = False


@dataclass(frozen=True, kw_only=True)
class OfSharing(OfRules):
    """A rule shares servers between users."""

    beside = "--kind sharing"

    types: Types = 2
    bins: Bins = 3
    measure: MeasureOption = Measure.fair


@dataclass(frozen=True, kw_only=True)
class OfPolicies(Options):
    """A policy decides online."""

    beside = "--kind online"

    types: Types = 2
    servers: Servers = None
    service: ServiceLaw = Service.geometric


MODES: dict[Kind | None, type[Mode]] = {
    None: OfAssignments,
    Kind.assignment: OfAssignments,
    Kind.items: OfItems,
    Kind.sharing: OfSharing,
    Kind.online: OfPolicies,
}


def of_assignments(options: OfAssignments) -> None:
    """Attack a rule that assigns servers to configurations."""
    from bounds.adversary.games import Sizes

    tied = options.rewards is Rewards.proportional
    _search(options, Sizes(options.types, options.resources, rewards=options.rewards.value if tied else ""))


def of_items(options: OfItems) -> None:
    """Attack a rule that packs items."""
    from bounds.adversary.games import Sizes

    _search(options, Sizes(resources=options.resources, bins=options.bins, items=options.most, fixed=options.fixed))


def of_sharing(options: OfSharing) -> None:
    """Attack a rule that shares servers."""
    from bounds.adversary.games import Sizes

    measure = options.measure.value
    if options.measure is not Measure.fair and options.certificate is not None:
        raise InputError("--certificate", f"has no meaning with --measure {measure}")
    _search(options, Sizes(options.types, options.resources, options.bins, measure=measure))


def _search(options: OfRules, sizes: Sizes) -> None:
    """Search for the instance on which a rule keeps least, write the files that were asked for, and show it."""
    from bounds.adversary.documents import case_document
    from bounds.adversary.games import search_rule
    from bounds.certificates.attack import attack_certificate
    from bounds.views.attack import Attacked, attack_answer, shares_of_evaluations
    from fluid.parallel import refuse_engine, refuse_workers
    from theory.files.instances import write_tables

    refuse_engine(options.engine)
    refuse_workers(options.workers)
    how = _limits(options) | {"begin": options.begin, "store": options.store, "starts": options.starts}
    how |= {"workers": options.workers, "engine": options.engine}
    named = None if options.kind is None else options.kind.value
    started = time.perf_counter()
    with progress() as report:
        worst = search_rule(options.rule, named, sizes, report=report, warn=_warn, **how)
    kind = named or Kind.assignment.value
    answer = attack_answer(Attacked(options.rule, kind, worst, time.perf_counter() - started))
    notes = shares_of_evaluations(worst)
    if options.out is not None:
        write_tables(options.out, case_document(worst.case))
        by = f" --measure {sizes.measure}" if sizes.measure != "fair" else ""
        file = f"--from {options.out} --evaluations 1"
        notes += [f"It is judged again by: packproof attack {options.rule} --kind {kind}{by} {file}"]
    if options.certificate is not None:
        write_certificate(options.certificate, attack_certificate(worst.case, worst.judged))
    show(answer, notes=notes, as_json=options.as_json)


def of_policies(options: OfPolicies) -> None:
    """Attack an online policy, and show what was found."""
    from bounds.adversary.online import search_policy
    from bounds.views.attack import AttackedPolicy, online_answer
    from theory.files.instances import write_tables

    how = _limits(options) | {"types": options.types, "resources": options.resources}
    how |= {"servers": options.servers, "service": options.service.value}
    started = time.perf_counter()
    with progress() as report:
        model, broken = search_policy(options.rule, report=report, warn=_warn, **how)
    seconds, file = time.perf_counter() - started, str(options.out or "WORST.toml")
    if options.out is not None:
        write_tables(options.out, broken.document())
    answer, notes = online_answer(AttackedPolicy(options.rule, model, broken, seconds, file)), []
    if broken.share is not None:
        notes.append(
            f"In the search, one short run measured a share of {100 * float(broken.found.judged.value):.4g} %."
        )
    show(answer, notes=notes, as_json=options.as_json)


def _limits(options: Options) -> dict[str, Any]:
    """Return what bounds a search; one that nothing ends is refused."""
    if options.target is None and options.evaluations is None:
        refuse_endless(options.time_limit, "without --evaluations and --target")
    target = None if options.target is None else read_number("--target", options.target)
    return {
        "seed": options.seed,
        "time_limit": options.time_limit,
        "evaluations": options.evaluations,
        "target": target,
    }


def _warn(line: str) -> None:
    from bounds.checker import printable

    print(printable(line), file=sys.stderr, flush=True)


app.command(
    "attack",
    examples=(
        "packproof attack examples/rules_to_attack.py:first_fit --kind items --items 9 --evaluations 300",
        "packproof attack ffd --kind items --resources 2 --bins 2 --items 8 --evaluations 300",
        "packproof attack examples/rules_to_attack.py:equal_parts --kind sharing --evaluations 50",
    ),
)(
    command_of(
        lambda given: MODES[given.kind],
        {OfAssignments: of_assignments, OfItems: of_items, OfSharing: of_sharing, OfPolicies: of_policies},
        "Search for the instance on which a rule of your own keeps least of the optimum, or a policy does badly.",
    )
)
