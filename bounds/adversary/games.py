"""The search for the worst instance of a rule by its name: its judge and space, its process, and a store of instances.

Three kinds of rules are searched: ``assignment``, ``items`` and ``sharing``. A store holds the worst instances of
earlier searches; a later search for the same rule begins at the worst of them.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from bounds.adversary.assignment import AssignmentSpace, by_shares, forgotten_type, judge_assignment
from bounds.adversary.budget import OVERTIME, Budget
from bounds.adversary.contained import Wire, contained
from bounds.adversary.division import DivisionSpace, judge_division
from bounds.adversary.documents import case_document, read_case
from bounds.adversary.engine import Found, attack
from bounds.adversary.items import Items, ItemSpace, estimate_items, judge_items, with_best_packing
from bounds.adversary.lies import LieSpace, first_lies, judge_lie
from bounds.adversary.rules import note_rule, rule_named
from fluid.experiment.store import Store
from fluid.parallel import EngineError
from theory.errors import InputError
from theory.files.code import code_digest, module_of
from theory.files.document import read_document


@dataclass(frozen=True)
class Sizes:
    """The sizes of the instances of a search, and what a sharing rule is judged by.

    `types` also counts users, `bins` servers of a cluster; with `fixed`, only lists count that need `bins` bins or
    more. `rewards` is "proportional" where those of assignments are (`AssignmentSpace`).
    """

    types: int = 2
    resources: int = 1
    bins: int = 3
    items: int = 12
    fixed: bool = False
    measure: str = "fair"
    rewards: str = ""

    def named(self) -> dict[str, Any]:
        """Return the fields that say something, as stores distinguish searches."""
        return {name: value for name, value in asdict(self).items() if value != ""}


class Game(NamedTuple):
    """What `bounds.adversary.engine.attack` needs to know of a kind of rule."""

    judge: Any
    space: Any
    surrogate: Any = None
    begin: Any = ()


def game_of(
    kind: str, rule: Callable[..., Any], name: str, sizes: Sizes, first: Any = None, until: float = float("inf")
) -> Game:
    """Return the game of a rule; an instance to begin with has its own sizes, which all others take.

    From the time `until` on, of `time.time`, the fewest bins are left undecided.
    """
    begin = () if first is None else (first,)
    if kind == "items":
        space = ItemSpace(sizes.bins, sizes.items, sizes.resources)
        if first is not None:
            most = max(sizes.items, len(first.sizes))
            space = ItemSpace(first.bins, most, len(first.capacity), first.capacity[0])
        least = sizes.bins if sizes.fixed else 0
        return Game(judge_items(rule, name, least, until), space, estimate_items(rule, name, least), begin)
    if kind == "sharing":
        size = (sizes.types, sizes.bins, sizes.resources) if first is None else first.size
        if sizes.measure == "lie":
            return Game(judge_lie(rule, name), LieSpace(*size), None, () if first is None else first_lies(first))
        return Game(judge_division(rule, sizes.measure, name), DivisionSpace(*size), None, begin)
    tied = sizes.rewards == "proportional"
    varied = AssignmentSpace(sizes.types, sizes.resources, proportional=tied)
    if first is not None:
        shares = by_shares(first)
        if tied and any(u * shares[0] != s * first.rewards[0] for u, s in zip(first.rewards, shares, strict=True)):
            raise InputError("--from", "expected rewards in proportion to the shares of a server that the types take")
        varied = AssignmentSpace(len(first.rewards), len(first.capacity), max(first.capacity), proportional=tied)
    return Game(judge_assignment(rule, name), varied, None, begin)


def search_rule(
    rule: str,
    kind: str | None,
    sizes: Sizes,
    *,
    begin: Path | None = None,
    store: Path | None = None,
    time_limit: float = float("inf"),
    evaluations: int | None = None,
    report: Callable[[str], None] | None = None,
    warn: Callable[[str], None] | None = None,
    **how: Any,
) -> Found[Any]:
    """Search for the worst instance of a rule by its name, in a process of its own.

    The rule is ``FILE.py:NAME``, or the name of one that packproof has; the kind ``assignment``, ``items`` or
    ``sharing``, or None for ``assignment``, and then errors name the kinds. `begin` is the file of an instance to begin
    at; with one evaluation it is judged and not shrunk. In its place, `store` gives the worst instance that it holds
    for the rule, and takes this search's. `how` has the rest of what `bounds.adversary.engine.attack` takes.
    """
    named_kind = kind or "assignment"
    with _saying_kinds(kind):
        note_rule(rule, named_kind)
    first = None if begin is None else read_case(given := read_document(begin), named_kind, str(begin))
    if isinstance(first, Items) and warn is not None and list(first.capacity) != given["items"]["capacity"]:
        warn(f"{begin}: sizes are scaled to a capacity of {first.capacity[0]} in every resource, for the rule as well")
    key = ""
    if store is not None:
        if first is not None:
            raise InputError("--from", "expected without --store, which has the instance to begin at")
        key = search_key(rule, named_kind, sizes.named())
        with Store(store) as opened:
            document = worst_stored(opened, key)
        first = None if document is None else read_case(document, named_kind, str(store))

    def searched(wire: Wire) -> Found[Any]:
        """Run the rule's file, and search: in a process of its own, since either may never end."""
        with _saying_kinds(kind):
            function = rule_named(rule, named_kind)
            game = game_of(named_kind, function, rule, sizes, first, time.time() + time_limit + OVERTIME)
            worst = attack(
                game.judge,
                game.space,
                budget=Budget(time_limit, wire.report, began=wire.began),
                evaluations=evaluations,
                surrogate=game.surrogate,
                begin=game.begin,
                shrink=begin is None or evaluations != 1,
                watch=wire,
                **how,
            )
            forgotten = None
            if named_kind == "assignment" and not sizes.rewards and 0 < worst.judged.value < 1:
                forgotten = forgotten_type(function, worst.case.instance(), rule)
            if forgotten is None:
                return worst
            evidence = {**worst.judged.evidence, "forgotten": forgotten}
            return replace(worst, judged=replace(worst.judged, evidence=evidence))

    started = time.perf_counter()
    worst: Found[Any] = contained(searched, rule, seconds=time_limit, report=report, warn=warn)
    if named_kind == "items":
        worst = with_best_packing(worst)
    if store is not None:
        with Store(store) as opened:
            put_worst(opened, key, worst, time.perf_counter() - started)
    return worst


@contextmanager
def _saying_kinds(kind: str | None) -> Iterator[None]:
    """Say what the kinds are where a rule fails and no kind was given: it may be a rule of another kind."""
    try:
        yield
    except InputError as error:
        if kind is not None or isinstance(error, EngineError):
            raise
        raise error.ending(
            "; no --kind was given, so the rule was taken for one that assigns servers to configurations: "
            "expected --kind items for one that packs items, sharing for one that shares servers, online for a policy"
        ) from error


def search_key(rule: str, kind: str, options: dict[str, Any]) -> str:
    """Return what distinguishes searches: the rule with the text of all its code, its kind, its space and measure.

    Neither seed nor limits are part of it, so that searches go on from one another.
    """
    file, colon, _ = rule.rpartition(":")
    source = code_digest(module_of(file, "RULE")) if colon else ""
    content = json.dumps([Path(rule).name, source, kind, options], sort_keys=True)
    return "attack " + hashlib.sha256(content.encode()).hexdigest()


def worst_stored(store: Store, key: str) -> dict[str, Any] | None:
    """Return the document of the worst instance that searches of this key have stored, None where there is none."""
    worst = min(_stored(store, key), key=lambda one: one["ratio"], default=None)
    return None if worst is None else worst["case"]


def put_worst(store: Store, key: str, worst: Found[Any], seconds: float) -> None:
    """Write the worst instance of a search beside those of earlier ones, and of others that end at the same time."""
    content = json.dumps({"ratio": float(worst.judged.value), "case": case_document(worst.case)}).encode()
    number = len(_stored(store, key))
    while not store.put(f"{key} {number}", content, seconds):
        number += 1


def _stored(store: Store, key: str) -> list[dict[str, Any]]:
    """Return what searches of this key have stored, in their order."""
    results: list[dict[str, Any]] = []
    while result := store.read(f"{key} {len(results)}", json.loads):
        results.append(result[0])
    return results
