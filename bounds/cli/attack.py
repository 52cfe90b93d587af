"""``packproof attack``: search for the instance on which a rule of a user's own keeps least."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from bounds.cli.app import JsonFlag, app, progress, show, to_write


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


@app.command()
def attack(
    rule: Annotated[
        str,
        typer.Argument(
            metavar="RULE.py:NAME",
            help="The rule, a function; with --kind online a policy, by name or FILE.py:NAME.",
            show_default=False,
        ),
    ],
    kind: Annotated[Kind, typer.Option("--kind", help="What the rule decides.")] = Kind.assignment,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the search.")] = 0,
    time_limit: Annotated[
        float,
        typer.Option("--time-limit", metavar="SECONDS", min=0, help="Time after which the worst so far is shown."),
    ] = 60,
    evaluations: Annotated[
        int | None, typer.Option("--evaluations", metavar="N", min=1, help="Instances to judge at most.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="RATIO", help="End when the rule keeps no more than this.")
    ] = None,
    types: Annotated[int, typer.Option("--types", min=1, max=8, help="Types of jobs, or users.")] = 2,
    resources: Annotated[int, typer.Option("--resources", min=1, max=6, help="Resources.")] = 1,
    bins: Annotated[int, typer.Option("--bins", min=1, max=20, help="Bins, or servers, of the instances.")] = 3,
    most: Annotated[int, typer.Option("--items", min=1, max=60, help="Items at most.")] = 12,
    measure: Annotated[
        str, typer.Option("--measure", help="Of sharing rules: fair-share, equal-part or utilisation.")
    ] = "fair-share",
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
    out: Annotated[
        Path | None, typer.Option("--out", metavar="WORST.toml", help="Write the instance found.", callback=to_write)
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Search for the instance on which a rule of your own keeps least of the optimum, or a policy does badly."""
    import time

    from bounds.adversary.budget import Budget
    from bounds.adversary.engine import attack as search
    from bounds.views.attack import Attacked, attack_answer, attack_lines, case_document
    from theory.errors import InputError
    from theory.files.instances import write_tables
    from theory.numbers import rational

    try:
        end = None if target is None else Fraction(rational(target))
    except ValueError as error:
        raise InputError(f"--target: expected a number, got {target!r} ({error})") from None
    if kind is Kind.online:
        how = {"types": types, "resources": resources, "servers": servers, "service": service.value}
        _attack_policy(rule, how, seed, time_limit, evaluations, end, out, as_json=as_json)
        return
    function = _function(rule)
    judge, space, surrogate = _game(kind, function, rule, types, resources, bins, most, measure)
    begin = time.perf_counter()
    with progress() as report:
        found = search(
            judge,
            space,
            seed=seed,
            budget=Budget(time_limit, report),
            evaluations=evaluations,
            target=end,
            surrogate=surrogate,
        )
    made = Attacked(rule, kind.value, found, time.perf_counter() - begin)
    if out is not None:
        write_tables(out, case_document(found.case))
    show(attack_answer(made), lambda: attack_lines(made), as_json=as_json)


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

    from bounds.adversary.online import break_policy
    from bounds.views.online import AttackedPolicy, online_answer, online_lines
    from fluid.simulation.policy_names import policy
    from theory.errors import InputError
    from theory.files.instances import write_tables

    found = policy(name)
    if found.model == "slotted" and how["resources"] > 1:
        raise InputError(f"--resources: expected 1, since {name} is a slotted policy, got {how['resources']}")
    begin = time.perf_counter()
    with progress() as report:
        broken = break_policy(
            found,
            **how,
            seed=seed,
            time_limit=time_limit,
            report=report,
            evaluations=evaluations,
            target=target,
        )
    made = AttackedPolicy(name, found, broken, time.perf_counter() - begin, str(out or "WORST.toml"))
    if out is not None:
        write_tables(out, broken.document())
    show(online_answer(made), lambda: online_lines(made), as_json=as_json)


def _function(rule: str) -> Callable[..., Any]:
    """Return the function that RULE.py:NAME names."""
    from theory.errors import InputError
    from theory.files.code import module_of

    path, _, name = rule.rpartition(":")
    if not path.endswith(".py") or not name:
        raise InputError(f"RULE: expected FILE.py:NAME, got {rule!r}")
    found = getattr(module_of(path, "RULE"), name, None)
    if not callable(found):
        raise InputError(f"RULE: {path}: expected the name of a function, got {name!r}")
    function: Callable[..., Any] = found
    return function


def _game(
    kind: Kind, function: Callable[..., Any], name: str, types: int, resources: int, bins: int, most: int, measure: str
) -> tuple[Any, Any, Any]:
    """Return the judge, the space and the surrogate of a kind of rule."""
    if kind is Kind.items:
        from bounds.adversary.items import ItemSpace, estimate_items, judge_items

        return judge_items(function, name), ItemSpace(bins, most, resources), estimate_items(function, name)
    if kind is Kind.sharing:
        from bounds.adversary.division import DivisionSpace, judge_division

        return judge_division(function, measure, name), DivisionSpace(types, bins, resources), None
    from bounds.adversary.assignment import AssignmentSpace, judge_assignment

    return judge_assignment(function, name), AssignmentSpace(types, resources), None
