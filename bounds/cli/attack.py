"""``packproof attack``: search for the instance on which a rule of a user's own keeps least."""

from __future__ import annotations

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bounds.cli.app import app, progress, show, write_certificate
from bounds.cli.options import (
    CertificateFile,
    EngineOption,
    JsonFlag,
    WorkersOption,
    WorstFile,
    read_number,
    refuse_endless,
    refuse_unused,
    to_store,
)

if TYPE_CHECKING:
    from fractions import Fraction


class Kind(StrEnum):
    """What a rule decides."""

    assignment = "assignment"
    items = "items"
    sharing = "sharing"
    online = "online"


class Rewards(StrEnum):
    """What rewards the types of an assignment have."""

    any = "any"
    proportional = "proportional"


class Service(StrEnum):
    """How long slotted policies serve a job."""

    geometric = "geometric"
    deterministic = "deterministic"


Rule = Annotated[
    str,
    typer.Argument(
        metavar="RULE.py:NAME",
        help="The rule, a function of a file, or of a module as PACKAGE.MODULE:NAME; or a sharing mechanism, or with "
        "--kind online a policy, by name.",
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
Measure = Annotated[
    str, typer.Option("--measure", help="Of sharing rules: fair, equal-part, utilisation, envy or lie.")
]
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


@app.command(
    examples=(
        "packproof attack examples/rules_to_attack.py:first_fit --kind items --items 9 --evaluations 300",
        "packproof attack examples/rules_to_attack.py:equal_parts --kind sharing --evaluations 50",
    )
)
def attack(
    rule: Rule,
    kind: RuleKind = None,
    seed: Seed = 0,
    time_limit: TimeLimit = 60,
    evaluations: Evaluations = None,
    target: Target = None,
    types: Types = 2,
    resources: Resources = 1,
    bins: Bins = 3,
    most: MostItems = 12,
    fixed: FixedBins = False,
    measure: Measure = "fair",
    rewards: RewardsOption = Rewards.any,
    begin: Beginning = None,
    starts: Starts = 1,
    workers: WorkersOption = -1,
    engine: EngineOption = "local",
    servers: Servers = None,
    service: ServiceLaw = Service.geometric,
    store: StoreFile = None,
    out: WorstFile = None,
    certificate: CertificateFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Search for the instance on which a rule of your own keeps least of the optimum, or a policy does badly.

    With --kind online, which attacks a policy, there is no --from, --starts, --engine, --store or --certificate.
    """
    from bounds.adversary.division import SYNONYMS
    from bounds.adversary.documents import case_document
    from bounds.adversary.games import Sizes, search_rule
    from bounds.certificates.attack import attack_certificate
    from bounds.views.attack import Attacked, attack_answer
    from fluid.parallel import refuse_engine, refuse_workers
    from theory.files.instances import write_tables

    how: dict[str, Any] = {"seed": seed, "time_limit": time_limit, "evaluations": evaluations}
    how["target"] = _target(target, evaluations, time_limit)
    tied = rewards is Rewards.proportional
    measure = SYNONYMS.get(measure, measure)
    options = {"--from": begin, "--starts": starts > 1, "--store": store, "--certificate": certificate}
    options["--engine"] = engine != "local"
    _refuse_what_has_no_meaning(kind, measure, {name: bool(given) for name, given in options.items()}, tied=tied)
    if kind is Kind.online:
        how |= {"types": types, "resources": resources, "servers": servers, "service": service.value}
        _attack_policy(rule, how, out, as_json=as_json)
        return
    refuse_engine(engine)
    refuse_workers(workers)
    sizes = Sizes(types, resources, bins, most, fixed, measure, rewards.value if tied else "")
    how |= {"begin": begin, "store": store, "starts": starts, "workers": workers, "engine": engine}
    started = time.perf_counter()
    with progress() as report:
        worst = search_rule(rule, None if kind is None else kind.value, sizes, report=report, warn=_warn, **how)
    kind = kind or Kind.assignment
    answer = attack_answer(Attacked(rule, kind.value, worst, time.perf_counter() - started))
    again = []
    if out is not None:
        write_tables(out, case_document(worst.case))
        by = f" --measure {measure}" if kind is Kind.sharing and measure != "fair" else ""
        again = [f"It is judged again by: packproof attack {rule} --kind {kind.value}{by} --from {out} --evaluations 1"]
    if certificate is not None:
        write_certificate(certificate, attack_certificate(worst.case, worst.judged))
    show(answer, notes=again, as_json=as_json)


def _target(text: str | None, evaluations: int | None, time_limit: float) -> Fraction | None:
    """Read the target; a search that nothing ends is refused."""
    if text is None and evaluations is None:
        refuse_endless(time_limit, "without --evaluations and --target")
    return None if text is None else read_number("--target", text)


def _refuse_what_has_no_meaning(kind: Kind | None, measure: str, given: dict[str, bool], *, tied: bool) -> None:
    """Refuse options that a kind of rule does not use, and a certificate of a measure that has none."""
    refuse_unused({"--rewards": tied and kind not in (None, Kind.assignment)}, f"--kind {kind}")
    if kind is Kind.online:
        refuse_unused(given, "--kind online")
    refuse_unused({"--certificate": given["--certificate"] and measure != "fair"}, f"--measure {measure}")


def _warn(line: str) -> None:
    from bounds.checker import printable

    print(printable(line), file=sys.stderr, flush=True)


def _attack_policy(name: str, how: dict[str, Any], out: Path | None, *, as_json: bool) -> None:
    """Attack an online policy, and show what was found."""
    from bounds.adversary.online import search_policy
    from bounds.views.attack import AttackedPolicy, online_answer
    from fluid.simulation.policy_names import policy
    from theory.files.instances import write_tables

    started = time.perf_counter()
    with progress() as report:
        broken = search_policy(name, report=report, warn=_warn, **how)
    attacked = AttackedPolicy(name, policy(name), broken, time.perf_counter() - started, str(out or "WORST.toml"))
    if out is not None:
        write_tables(out, broken.document())
    answer, notes = online_answer(attacked), []
    if broken.share is not None:
        notes.append(
            f"In the search, one short run measured a share of {100 * float(broken.found.judged.value):.4g} %."
        )
    show(answer, notes=notes, as_json=as_json)
