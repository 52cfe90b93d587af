"""``packproof attack``: the worst instance found for a rule or an online policy, as an answer and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bounds.adversary.assignment import GROWN, Numbers, served_by
from bounds.adversary.division import Shape
from bounds.adversary.documents import case_document
from bounds.adversary.engine import Found
from bounds.adversary.items import Items, bounds_of, worst_known
from bounds.adversary.lies import Misreport
from bounds.answers.attack import Attack, OnlineAttack
from bounds.answers.record import Fields, encode
from bounds.views.assignment import column_answer
from bounds.views.tables import aligned
from bounds.views.text import in_pool, many, packed, short
from theory.errors import listed, quoted
from theory.greedy.optimal import Column
from theory.instance import Additive, Instance
from theory.numbers import text, texts, total
from theory.sharing.model import Cluster, ServerClass

if TYPE_CHECKING:
    from bounds.adversary.online import Broken
    from fluid.simulation.policy_interface import Policy
    from fluid.statistics import Interval


@dataclass(frozen=True)
class Attacked:
    """What was attacked, and what was found."""

    rule: str
    kind: str
    worst: Found[Any]
    seconds: float
    measure: str = ""


KEEPS = {
    "": "keeps {} of the optimum",
    "fair": "gives a user {} of its fair share of the bottleneck resource",
    "equal-part": "gives a user {} of what its equal part of every server would run",
    "utilisation": "keeps {} of the greatest mean utilisation",
    "envy": "gives a user {} of the tasks that it could run with what another user holds, by weight",
    "lie": "gives a user who tells the truth {} of the tasks that it can run by lying",
}
"""What is said of a rule, by measure of sharing rules."""


def attack_answer(made: Attacked) -> Attack:
    """Return the answer of ``attack``."""
    judged, case = made.worst.judged, made.worst.case
    return encode(
        Attack,
        made,
        made.worst,
        ratio=Fraction(judged.value),
        certified=judged.exact,
        instance=case_document(case),
        evidence=_evidence(judged.evidence or {}, case) | _known(made),
        seconds=round(made.seconds, 3),
    )


def _known(made: Attacked) -> dict[str, Any]:
    """Return the most bins that classical rules take where as many are needed, as evidence."""
    bins = worst_known(made.worst.case, made.worst.judged) if isinstance(made.worst.case, Items) else {}
    return {"known": bins} if bins else {}


def _known_lines(made: Attacked) -> list[str]:
    """Return what is known of the fewest bins, and of classical rules where as many are needed."""
    case, judged = made.worst.case, made.worst.judged
    used = max((judged.evidence or {}).get("bins", ()), default=-1) + 1
    if isinstance(case, Items) and not judged.exact:
        fewest = bounds_of(case)
        between = f"from {fewest.lower} to {min(fewest.upper, case.bins)}"
        return [f"it takes {many(used, 'bin')}; the fewest that hold the items are {between}"]
    classical = _known(made).get("known", {})
    if not classical:
        return []
    most = listed(f"{bins} under {name}" for name, bins in classical.items())
    needed = int(judged.value * used)
    return [
        f"it takes {many(used, 'bin')} where {needed} {'is' if needed == 1 else 'are'} needed; "
        f"the most that is possible there: {most} (theorems)"
    ]


def _evidence(evidence: dict[str, Any], case: Any) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, Fraction):
            return text(value)
        if isinstance(value, Column):
            return column_answer(case.instance(), value)
        return [plain(each) for each in value] if isinstance(value, list | tuple) else value

    return {name: plain(value) for name, value in evidence.items()}


def attack_lines(made: Attacked) -> list[str]:
    """Return the answer of ``attack`` as text."""
    worst, ratio = made.worst, Fraction(made.worst.judged.value)
    certainty = "exactly" if worst.judged.exact else "at most: the optimum was not decided"
    ended = "" if worst.complete else ", stopped early"
    # a ratio is at most 1; at 1 the search has found nothing
    if ratio >= 1:
        keeps = f"{made.rule}: found no instance on which it {KEEPS[made.measure].format('less than 1')}"
    elif forgotten := (worst.judged.evidence or {}).get("forgotten"):
        times = " and ".join(f"{factor:,}" for factor in GROWN)
        keeps = (
            f"{made.rule}: the ratio tends to 0 as the reward of {quoted(forgotten)} grows: it serves none of that, "
            f"and does the same at {times} times that reward; here it keeps {short(ratio)} of the optimum, {certainty}"
        )
    else:
        keeps = f"{made.rule} {KEEPS[made.measure].format(short(ratio))}, {certainty}"
    head = [keeps, *_known_lines(made), f"{many(worst.evaluations, 'instance')} judged in {made.seconds:.1f} s{ended}"]
    if ratio >= 1:
        # a rule that keeps all has no instance to be shown
        return head
    return [*head, "", *case_lines(worst.case, worst.judged.evidence or {})]


def case_lines(case: Any, evidence: dict[str, Any]) -> list[str]:
    """Return an instance as a small table."""
    if isinstance(case, Numbers):
        return instance_lines(case.instance(), evidence)
    if isinstance(case, Shape):
        return cluster_lines(case.cluster(), evidence.get("tasks"))
    if isinstance(case, Misreport):
        return [*cluster_lines(case.truth.cluster(), evidence.get("tasks")), *_lie_lines(evidence)]
    assert isinstance(case, Items)
    used, packing = evidence.get("bins", ()), evidence.get("packing", case.packing)
    bins = max(packing, default=-1) + 1
    rows = [("item", "size", *(("bin of the rule",) if used else ()), f"bin of a packing with {bins}")]
    for i, (size, place) in enumerate(zip(case.sizes, packing, strict=True)):
        chosen = (str(used[i] + 1),) if used else ()
        rows.append((str(i + 1), texts(size), *chosen, str(place + 1)))
    return [f"capacity {texts(case.capacity)}", *aligned(rows, right=len(rows[0]) - 1)]


def instance_lines(instance: Instance, evidence: Mapping[str, Any] | None = None) -> list[str]:
    """Return an instance as a small table, in whole units of its resources, and what the evidence says of a rule.

    The evidence is that of `bounds.adversary.assignment.kept_on`: what the rule and the optimum do with the servers.
    """
    lines, evidence = [], evidence or {}
    for pool in instance.pools:
        share = "" if len(instance.pools) == 1 else f", {text(pool.share)} of all servers"
        space = pool.space
        if isinstance(space, Additive):
            lines.append(f"server: capacity {texts(space.capacity)}{share}")
        else:
            lines.append(f"server: configurations {', '.join(map(texts, space.generators))}{share}")
    chosen = [tuple(evidence[name]) for name in ("columns_of_rule", "columns_of_optimum") if name in evidence]
    served = [served_by(instance, columns) for columns in chosen]
    demands = next((pool.space.demands for pool in instance.pools if isinstance(pool.space, Additive)), None)
    titles = ("served by the rule", "served in the optimum")[: len(chosen)]
    rows = [("type", *(("demand",) if demands else ()), "reward", "workload", *titles)]
    for j, kind in enumerate(instance.types):
        demand = (texts(demands[j]),) if demands else ()
        rows.append(
            (quoted(kind.name), *demand, text(kind.reward), text(kind.workload), *(text(jobs[j]) for jobs in served))
        )
    lines += aligned(rows, right=2 + len(chosen))
    if chosen:
        lines += ["", *_columns_lines(instance, chosen, (evidence["reward"], evidence["optimum"]))]
    return lines


def _columns_lines(instance: Instance, chosen: Sequence[Sequence[Column]], rewards: Sequence[Fraction]) -> list[str]:
    """Return the fraction of all servers that the rule and the optimum give to each configuration, and the rewards."""
    fractions = [
        {(column.pool, column.configuration): column.fraction for column in columns if any(column.configuration)}
        for columns in chosen
    ]
    rows: list[tuple[str, ...]] = [("configuration of a server", "by the rule", "in the optimum")]
    for p, k in dict.fromkeys([*fractions[0], *fractions[1]]):
        shares = [by_place.get((p, k), Fraction(0)) for by_place in fractions]
        rows.append((packed(instance, k, pool=p), *map(text, shares)))
    for p, pool in enumerate(instance.pools):
        # what a side leaves empty of a pool: its share of all servers less the fractions of its configurations
        empty = [pool.share - total(x for (q, _), x in by_place.items() if q == p) for by_place in fractions]
        if any(empty):
            rows.append((in_pool(instance, p, "empty"), *map(text, empty)))
    rows.append(("reward per server", *map(short, rewards)))
    return ["fraction of all servers in each configuration", *aligned(rows, right=2)]


def cluster_lines(cluster: Cluster, tasks: Sequence[Sequence[Fraction]] | None = None) -> list[str]:
    """Return a cluster, and perhaps the tasks of each user on each server, as a small table."""
    servers = [f"server {quoted(one.name)}: capacity {texts(one.capacity)}{_count(one)}" for one in cluster.servers]
    table = [("user", "demand", "weight", "servers", *(("tasks on each server",) if tasks else ()))]
    for n, user in enumerate(cluster.users):
        allowed = "all" if user.servers is None else " ".join(map(quoted, user.servers))
        row = (quoted(user.name), texts(user.demand), text(user.weight), allowed)
        table.append((*row, *((texts(tasks[n]),) if tasks else ())))
    return servers + aligned(table)


def _count(server: ServerClass) -> str:
    return "" if server.count == 1 else f", {server.count} of them"


def _lie_lines(evidence: dict[str, Any]) -> list[str]:
    said = " ".join(evidence["reported_demand"].values())
    truth, lie = text(evidence["tasks_by_truth"]), text(evidence["tasks_by_lying"])
    factor = "" if evidence["factor"] is None else f", {evidence['factor']} times as many"
    servers = " ".join(map(quoted, evidence["reported_servers"]))
    return [
        f"{quoted(evidence['user'])} says that it demands {said} and may use {servers}",
        f"it can then run {lie} tasks instead of {truth}{factor}",
    ]


@dataclass(frozen=True)
class AttackedPolicy:
    """What was attacked, and what was found."""

    name: str
    policy: Policy
    broken: Broken
    seconds: float
    file: str


def _measured(mean: Interval | None, alarm: float) -> Fields | None:
    return None if mean is None else Fields(mean, interval=mean, alarm=alarm)


def online_answer(made: AttackedPolicy) -> OnlineAttack:
    """Return the answer of ``attack --kind online``."""
    from bounds.adversary.growth import ALARM

    broken, trap, growth, names = made.broken, made.broken.trap, made.broken.growth, made.broken.instance.names
    # each window misses with half of the false-alarm rate
    windows: dict[str, Any] = {name: _measured(getattr(growth, name, None), ALARM / 2) for name in ("first", "second")}
    return encode(
        OnlineAttack,
        broken,
        broken.found,
        policy=made.name,
        kind="online",
        names=names,
        model=made.policy.model,
        certified=False,
        instance=broken.document(),
        trap=None if trap is None else Fields(trap, growing=[names[j] for j in trap.growing]),
        growth=None if growth is None else Fields(growth, **windows),
        share=_measured(broken.share, ALARM),
        reproduce=_command(made),
        seconds=round(made.seconds, 3),
    )


def _command(made: AttackedPolicy) -> str:
    """Return the command that simulates the instance again, on the same jobs; empty where nothing was simulated."""
    run = made.broken.run
    if run is None:
        return ""
    return (
        f"packproof simulate {made.file} --policy {made.name} --servers {made.broken.servers} --until {run.until:g} "
        f"--replications {run.replications} --seed {run.seed}"
    )


def online_lines(made: AttackedPolicy) -> list[str]:
    """Return the answer as text."""
    broken = made.broken
    ended = "" if broken.found.complete else ", stopped early"
    judged = f"{many(broken.found.evaluations, 'instance')} judged in {made.seconds:.1f} s{ended}"
    if broken.share is not None:
        share = broken.share
        head = f"{made.name} keeps {share.mean:.4f} [{share.low:.4f}, {share.high:.4f}] of the reward of the optimum"
        first = float(broken.found.judged.value)
        judged += f"; found at {first:.4f} in one short run, measured anew in longer ones with a fresh seed"
    elif made.policy.model == "loss":
        head = f"{made.name} kept {float(broken.ratio):.4f} of the reward of the optimum in one short run"
    elif broken.confirmed:
        head = f"{made.name}: queues grow at traffic intensity {short(broken.ratio)}"
    else:
        head = f"{made.name}: no growth was confirmed below traffic intensity 1"
    lines = [head, judged, *_trap_lines(broken), *_growth_lines(broken), "", *_type_lines(broken)]
    command = _command(made)
    return [*lines, "", f"again: {command}"] if command else lines


def _trap_lines(broken: Broken) -> list[str]:
    if broken.trap is None:
        return []
    names = broken.instance.names
    contents = " | ".join(
        " + ".join(f"{n} {quoted(name)}" for n, name in zip(row, names, strict=True) if n) or "none"
        for row in broken.trap.contents
    )
    growing = listed(names[j] for j in broken.trap.growing)
    stay = "stay" if broken.trap.fixed else "are in one state of it"
    return [
        f"trap: while jobs of {growing} wait, {contents} {stay} on the servers; "
        f"it loses work from intensity {short(broken.trap.intensity)} on"
    ]


def _growth_lines(broken: Broken) -> list[str]:
    from bounds.adversary.growth import ALARM

    growth = broken.growth
    if growth is None:
        return []
    caught = f"{growth.caught} of {many(growth.replications, 'replication')} {'was' if growth.caught == 1 else 'were'}"
    lines = [f"simulated with a fresh seed: {caught} caught"]
    for name, window in (("first", growth.first), ("second", growth.second)):
        if window is not None:
            lines.append(
                f"growth of the waiting work in the {name} window: {window.mean:.4g} [{window.low:.4g}, "
                f"{window.high:.4g}] servers per unit of time"
            )
    return [*lines, f"both intervals together miss with a probability of {ALARM:g} at most"]


def _type_lines(broken: Broken) -> list[str]:
    document = broken.document()
    capacity = ", ".join(f"{amount} {quoted(name)}" for name, amount in document["server"][0]["capacity"].items())
    rows = [("type", "demand", "reward", "workload", "service rate")]
    rows += [
        (quoted(row["name"]), " ".join(row["demand"].values()), row["reward"], row["workload"], row["service_rate"])
        for row in document["type"]
    ]
    return [f"{many(broken.servers, 'server')} of {capacity}", *aligned(rows, right=3)]
