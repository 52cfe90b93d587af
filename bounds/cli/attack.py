"""``packproof attack``: search for the instance on which a rule of a user's own keeps least."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from bounds.cli.app import JsonFlag, app, progress, show, to_store, to_write

SILENT = 60.0
"""Seconds after the time limit without a word from the search for a policy, which is then ended.

The simulation at the end comes on top of the limit, and says how far it is.
"""


class Kind(StrEnum):
    """What a rule decides."""

    assignment = "assignment"
    items = "items"
    sharing = "sharing"
    online = "online"


class Service(StrEnum):
    """How long slotted policies serve a job."""

    geometric = "geometric"
    deterministic = "deterministic"


@app.command(
    examples=(
        "packproof attack examples/rules_to_attack.py:first_fit --kind items --items 9 --evaluations 300",
        "packproof attack examples/rules_to_attack.py:equal_parts --kind sharing --evaluations 50",
    )
)
def attack(
    rule: Annotated[
        str,
        typer.Argument(
            metavar="RULE.py:NAME",
            help="The rule, a function; or a sharing mechanism, or with --kind online a policy, by name.",
            show_default=False,
        ),
    ],
    given_kind: Annotated[
        Kind | None, typer.Option("--kind", help="What the rule decides; assignment unless given.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the search.")] = 0,
    time_limit: Annotated[
        float,
        typer.Option("--time-limit", metavar="SECONDS", min=0, help="Time after which the worst so far is shown."),
    ] = 60,
    evaluations: Annotated[
        int | None,
        typer.Option(
            "--evaluations",
            metavar="N",
            min=1,
            help="Instances to judge at most, before the worst is shrunk; 1 with --from judges the file alone.",
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="RATIO", help="End when the rule keeps no more than this.")
    ] = None,
    types: Annotated[int, typer.Option("--types", min=1, max=8, help="Types of jobs, or users.")] = 2,
    resources: Annotated[int, typer.Option("--resources", min=1, max=6, help="Resources.")] = 1,
    bins: Annotated[int, typer.Option("--bins", min=1, max=20, help="Bins, or servers, of the instances.")] = 3,
    most: Annotated[int, typer.Option("--items", min=1, max=60, help="Items at most.")] = 12,
    fixed: Annotated[
        bool, typer.Option("--fixed-bins", help="Of item rules: count only lists that need --bins bins or more.")
    ] = False,
    measure: Annotated[
        str, typer.Option("--measure", help="Of sharing rules: fair, equal-part, utilisation, envy or lie.")
    ] = "fair",
    begin: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Begin at this instance, such as the worst of an earlier search."),
    ] = None,
    starts: Annotated[
        int, typer.Option("--starts", metavar="N", min=1, max=1024, help="Independent searches, run in processes.")
    ] = 1,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", help="Number of local processes (-1: one per core).")
    ] = -1,
    engine: Annotated[str, typer.Option("--engine", metavar="local|dask://HOST:PORT")] = "local",
    servers: Annotated[
        int | None,
        typer.Option(
            "--servers",
            min=1,
            max=10_000,
            help="Of online policies (default: 1 for traps, 100 where work piles up, 20 for loss systems).",
        ),
    ] = None,
    service: Annotated[
        Service, typer.Option("--service", help="Of slotted policies: geometric, or a fixed number of slots.")
    ] = Service.geometric,
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar="FILE",
            help="Begin at the worst instance that earlier searches for the rule kept there, and keep this one's.",
            callback=to_store,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="WORST.toml", help="Write the instance found.", callback=to_write)
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Search for the instance on which a rule of your own keeps least of the optimum, or a policy does badly."""
    import time

    from bounds.adversary.budget import Budget
    from bounds.adversary.contained import Wire, contained
    from bounds.adversary.division import SYNONYMS
    from bounds.adversary.documents import case_document, read_case
    from bounds.adversary.engine import Found
    from bounds.adversary.engine import attack as search
    from bounds.adversary.kept import keep, search_key, worst_kept
    from bounds.adversary.rules import note_rule, rule_named
    from bounds.views.attack import Attacked, attack_answer, attack_lines
    from fluid.experiment import Store
    from fluid.parallel import refuse_engine, refuse_workers
    from theory.errors import InputError
    from theory.files.document import read_document
    from theory.files.instances import write_tables
    from theory.numbers import rational

    try:
        end = None if target is None else Fraction(rational(target))
    except ValueError as error:
        raise InputError(f"--target: expected a number, got {target!r} ({error})") from None
    kind = given_kind or Kind.assignment
    if kind is Kind.online:
        given = {"--from": begin is not None, "--starts": starts > 1, "--store": store is not None}
        for option in (name for name, is_given in given.items() if is_given):
            raise InputError(f"{option}: has no meaning with --kind online")
        how = {"types": types, "resources": resources, "servers": servers, "service": service.value}
        _attack_policy(rule, how, seed, time_limit, evaluations, end, out, as_json=as_json)
        return
    refuse_engine(engine)
    refuse_workers(workers)
    with _without_kind(given_kind):
        note_rule(rule, sharing=kind is Kind.sharing)
    measure = SYNONYMS.get(measure, measure)
    first = None if begin is None else read_case(read_document(begin), kind.value, str(begin))
    key = ""
    if store is not None:
        if first is not None:
            raise InputError("--from: expected without --store, which has the instance to begin at")
        space = {
            "types": types,
            "resources": resources,
            "bins": bins,
            "items": most,
            "fixed": fixed,
            "measure": measure,
        }
        key = search_key(rule, kind.value, space)
        with Store(store) as held:
            kept = worst_kept(held, key)
        first = None if kept is None else read_case(kept, kind.value, str(store))

    def searched(wire: Wire) -> Found[Any]:
        """Run the rule's file, and search: in a process of its own, since either may never end."""
        with _without_kind(given_kind):
            function = rule_named(rule, sharing=kind is Kind.sharing)
            game = _game(kind, function, rule, types, resources, bins, most, measure, first, fixed=fixed)
            return search(
                game.judge,
                game.space,
                seed=seed,
                budget=Budget(time_limit, wire.report),
                evaluations=evaluations,
                target=end,
                surrogate=game.surrogate,
                begin=game.begin,
                starts=starts,
                shrink=begin is None or evaluations != 1,
                workers=workers,
                engine=engine,
                watch=wire,
            )

    started = time.perf_counter()
    with progress() as report:
        found: Found[Any] = contained(searched, rule, seconds=time_limit, report=report, warn=_warn)
    if store is not None:
        with Store(store) as held:
            ratio, seconds = float(found.judged.value), time.perf_counter() - started
            keep(held, key, case_document(found.case), ratio, found.evaluations, seconds)
    shared = measure if kind is Kind.sharing else ""
    made = Attacked(rule, kind.value, found, time.perf_counter() - started, shared)
    again = []
    if out is not None:
        write_tables(out, case_document(found.case))
        again = ["", f"again: packproof attack {rule} --kind {kind.value} --from {out} --evaluations 1"]
    show(attack_answer(made), lambda: [*attack_lines(made), *again], as_json=as_json)


def _warn(line: str) -> None:
    import sys

    from bounds.checker import printable

    print(printable(line), file=sys.stderr, flush=True)


@contextmanager
def _without_kind(given: Kind | None) -> Iterator[None]:
    """Say what the kinds are where a rule fails and none was given: it may be a rule of another kind."""
    from theory.errors import InputError

    try:
        yield
    except InputError as error:
        if given is not None:
            raise
        raise type(error)(
            f"{error}; no --kind was given, so the rule was taken for one that assigns servers to configurations: "
            "expected --kind items for one that packs items, sharing for one that shares servers, online for a policy"
        ) from None


def _attack_policy(
    name: str,
    how: dict[str, Any],
    seed: int,
    time_limit: float,
    evaluations: int | None,
    target: Fraction | None,
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    """Attack an online policy, and show what was found."""
    import time

    from bounds.adversary.contained import Wire, contained
    from bounds.adversary.online import Broken, break_policy
    from bounds.views.attack import AttackedPolicy, online_answer, online_lines
    from fluid.simulation.policy_names import policy
    from theory.errors import InputError
    from theory.files.instances import write_tables

    def searched(wire: Wire) -> Broken:
        found = policy(name)
        if found.model == "slotted" and how["resources"] > 1:
            raise InputError(f"--resources: expected 1, since {name} is a slotted policy, got {how['resources']}")
        return break_policy(
            found,
            **how,
            seed=seed,
            time_limit=time_limit,
            report=wire.report,
            evaluations=evaluations,
            target=target,
        )

    begin = time.perf_counter()
    with progress() as report:
        broken: Broken = contained(
            searched, name, seconds=time_limit, overtime=SILENT, patient=True, report=report, warn=_warn
        )
    made = AttackedPolicy(name, policy(name), broken, time.perf_counter() - begin, str(out or "WORST.toml"))
    if out is not None:
        write_tables(out, broken.document())
    show(online_answer(made), lambda: online_lines(made), as_json=as_json)


class Game(NamedTuple):
    """What the search needs to know of a kind of rule."""

    judge: Any
    space: Any
    surrogate: Any = None
    begin: Any = ()


def _game(
    kind: Kind,
    function: Any,
    name: str,
    types: int,
    resources: int,
    bins: int,
    most: int,
    measure: str,
    first: Any,
    *,
    fixed: bool,
) -> Game:
    """Return the game of a kind of rule; an instance to begin with gives the sizes of all."""
    begin = () if first is None else (first,)
    if kind is Kind.items:
        from bounds.adversary.items import ItemSpace, estimate_items, judge_items

        space = ItemSpace(bins, most, resources)
        if first is not None:
            space = ItemSpace(first.bins, max(most, len(first.sizes)), len(first.capacity), first.capacity[0])
        least = bins if fixed else 0
        return Game(judge_items(function, name, least), space, estimate_items(function, name, least), begin)
    if kind is Kind.sharing:
        from bounds.adversary.division import DivisionSpace, judge_division
        from bounds.adversary.lies import LieSpace, first_lies, judge_lie

        size = (types, bins, resources) if first is None else first.size
        if measure == "lie":
            lies = [] if first is None else first_lies(first)
            return Game(judge_lie(function, name), LieSpace(*size), None, lies)
        return Game(judge_division(function, measure, name), DivisionSpace(*size), None, begin)
    from bounds.adversary.assignment import AssignmentSpace, judge_assignment

    varied = AssignmentSpace(types, resources)
    if first is not None:
        varied = AssignmentSpace(len(first.rewards), len(first.capacity), max(first.capacity))
    return Game(judge_assignment(function, name), varied, None, begin)
