"""``packproof attack``: the worst instance found for a rule or an online policy, as a sentence and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from bounds.adversary.assignment import GROWN, Numbers
from bounds.adversary.division import Shape
from bounds.adversary.documents import case_document, items_of
from bounds.adversary.engine import Found
from bounds.adversary.items import Items, bounds_of, worst_known
from bounds.adversary.lies import Misreport
from bounds.answers.attack import Attack, OnlineAttack
from bounds.answers.record import Fields, encode
from bounds.views.assignment import column_answer
from bounds.views.checked import as_float
from bounds.views.panels import Bars
from bounds.views.pictures import drawn
from bounds.views.shown import Picture, Table, packed_by_name, tables_of
from bounds.views.text import many, short
from theory.errors import InputError, listed, quoted
from theory.files.clusters import parse_cluster
from theory.files.instances import parse_instance
from theory.greedy.optimal import Column
from theory.instance import Additive, Instance
from theory.numbers import text, texts, total
from theory.sharing.model import Cluster

if TYPE_CHECKING:
    from bounds.adversary.online import Broken
    from fluid.statistics import Interval

Evidence = Mapping[str, Any]  # what the judge of a rule says of an instance, as JSON has it

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Attacked:
    """What was attacked, and what was found."""

    rule: str
    kind: str
    worst: Found[Any]
    seconds: float


@dataclass(frozen=True)
class AttackedPolicy:
    """What was attacked, and what was found."""

    name: str
    model: str
    broken: Broken
    seconds: float
    file: str


# ---- answers ---------------------------------------------------------------------------------------------------------


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
        evidence=evidence_answer(judged.evidence or {}, case) | _known(made),
        seconds=round(made.seconds, 3),
    )


def _known(made: Attacked) -> dict[str, Any]:
    """Return the most bins that classical rules take where as many are needed, as evidence."""
    bins = worst_known(made.worst.case, made.worst.judged) if isinstance(made.worst.case, Items) else {}
    return {"known": bins} if bins else {}


def evidence_answer(found: Mapping[str, Any], case: Any) -> dict[str, Any]:
    """Return the evidence of a judge as JSON has it."""

    def plain(value: Any) -> Any:
        if isinstance(value, Fraction):
            return text(value)
        if isinstance(value, Column):
            return column_answer(case if isinstance(case, Instance) else case.instance(), value)
        return [plain(each) for each in value] if isinstance(value, list | tuple) else value

    return {name: plain(value) for name, value in found.items()}


def shares_of_evaluations(worst: Found[Any]) -> list[str]:
    """Return a note on how many instances were judged after the search, which its limit does not count."""
    if not worst.shrinking:
        return []
    searched = many(worst.evaluations - worst.shrinking, "instance")
    return [f"{searched} judged in the search, {worst.shrinking:,} in shrinking the worst of them."]


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
        model=made.model,
        certified=False,
        instance=broken.document(),
        trap=None if trap is None else Fields(trap, growing=[names[j] for j in trap.growing]),
        growth=None if growth is None else Fields(growth, **windows),
        share=_measured(broken.share, ALARM),
        reproduce=_command(made),
        seconds=round(made.seconds, 3),
    )


def _measured(mean: Interval | None, alarm: float) -> Fields | None:
    return None if mean is None else Fields(mean, interval=mean, alarm=alarm)


def _command(made: AttackedPolicy) -> str:
    """Return the command that simulates the instance again, on the same jobs; empty where nothing was simulated."""
    run = made.broken.run
    if run is None:
        return ""
    return (
        f"packproof simulate {made.file} --policy {made.name} --servers {made.broken.servers} --until {run.until:g} "
        f"--replications {run.replications} --seed {run.seed}"
    )


# ---- the view --------------------------------------------------------------------------------------------------------

KEEPS = {
    "": "keeps {} of the optimum",
    "fair": "gives a user {} of its fair share of the bottleneck resource",
    "equal-part": "gives a user {} of what its equal part of every server would run",
    "utilisation": "keeps {} of the greatest mean utilisation",
    "envy": "gives a user {} of the tasks that it could run with what another user holds, by weight",
    "lie": "gives a user who tells the truth {} of the tasks that it can run by lying",
    "unknown": "keeps {} of what is possible",
}
"""What is said of a rule, by measure of sharing rules."""


def _whole(read: Callable[P, T]) -> Callable[P, T]:
    """Refuse an answer whose instance or evidence, which have no declared form, cannot be read."""

    @wraps(read)
    def checked(*arguments: P.args, **words: P.kwargs) -> T:
        try:
            return read(*arguments, **words)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, AssertionError) as error:
            if isinstance(error, InputError):
                raise
            problem = f"expected an instance and evidence as packproof attack writes them ({type(error).__name__})"
            raise InputError("evidence", f"{problem}") from error

    return checked


def _measure(answer: Attack) -> str:
    """Return the measure of a sharing rule; the command that made the answer says it."""
    if answer.kind != "sharing":
        return ""
    measure = str(answer.made.options.get("measure", "fair")) if answer.made else "unknown"
    return measure if measure in KEEPS else "unknown"


def _percent(ratio: Fraction) -> str:
    """Write a share in per cent, with the exact one beside it where that is short."""
    share = f"{100 * as_float(text(ratio)):.4g} %"
    return f"{share} ({text(ratio)})" if len(text(ratio)) <= 24 and ratio.denominator > 1 else share


@_whole
def sentence(answer: Attack | OnlineAttack) -> str:
    """Return the answer in a sentence, and what makes it doubtful."""
    stopped = "" if answer.complete else " The search was stopped early."
    if isinstance(answer, OnlineAttack):
        return f"{_online_sentence(answer)}{stopped}"
    ratio, keeps = Fraction(answer.ratio), KEEPS[_measure(answer)]
    searched = f"the {many(answer.evaluations, 'instance')} that the search judged"
    if ratio >= 1:  # a ratio is at most 1; at 1 the search has found nothing
        all_of_it = "at least 100 %" if _measure(answer) else "100 %"
        return f"{answer.rule} {keeps.format(all_of_it)} on all of {searched}.{stopped}"
    worst = f"On the worst of {searched}, {answer.rule}"
    share = _percent(ratio)
    if forgotten := answer.evidence.get("forgotten"):
        times = " and ".join(f"{factor:,}" for factor in GROWN)
        return (
            f"{worst} {keeps.format(share)}. It serves no jobs of {quoted(forgotten)}, and none at {times} times their "
            f"reward: the ratio tends to 0 as this reward grows.{stopped}"
        )
    if answer.certified:
        return f"{worst} {keeps.format(share)}; this ratio is exact.{stopped}"
    return f"{worst} {keeps.format(f'at most {share}')}: the optimum was not decided in time.{stopped}"


def _online_sentence(answer: OnlineAttack) -> str:
    """Return what was found for a policy."""
    policy, servers = answer.policy, many(answer.servers, "server")
    if answer.share is not None:
        low, high = answer.share.interval
        ends = "" if low is None or high is None else f" [{100 * low:.4g} %, {100 * high:.4g} %]"
        reward = f"earns {100 * answer.share.mean:.4g} %{ends} of the reward of the optimal assignment"
        return f"On the worst instance found, with {servers}, {policy} {reward}."
    if Fraction(answer.ratio) >= 1:
        return f"The search confirmed no growth of the queues of {policy} below traffic intensity 1, on {servers}."
    doubt = "" if answer.confirmed else " A simulation with a fresh seed did not confirm it."
    return f"On {servers} the queues of {policy} grow at traffic intensity {short(answer.ratio)}.{doubt}"


@_whole
def tables(answer: Attack | OnlineAttack) -> list[Table]:
    """Return the tables: numbers, the instance with what the rule does on it, and notes."""
    if isinstance(answer, OnlineAttack):
        return [*tables_of(answer, "search"), *_offered(answer), *_table_of_notes(_online_notes(answer))]
    shown = tables_of(answer, "search")
    if Fraction(answer.ratio) >= 1:  # a rule that keeps all has no instance to be shown
        return shown
    return [*shown, *_tables_of_document(answer), *_table_of_notes(_notes(answer))]


def _table_of_notes(notes: Sequence[str]) -> list[Table]:
    return [Table("notes", [""], [[note] for note in notes], [False])] if notes else []


def pictures(answer: Attack | OnlineAttack) -> list[Picture]:
    """Return the jobs of an assignment that the rule and the optimum serve, as bars."""
    if isinstance(answer, OnlineAttack) or Fraction(answer.ratio) >= 1:
        return []
    return _served_bars(answer)


@_whole
def _served_bars(answer: Attack) -> list[Picture]:
    evidence = answer.evidence
    if not {"columns_of_rule", "columns_of_optimum"} <= evidence.keys():
        return []
    instance = parse_instance(answer.instance, "instance")
    sides = (("by the rule", "columns_of_rule"), ("in the optimum", "columns_of_optimum"))
    lengths = [(side, [float(jobs) for jobs in _served(instance, evidence[name])]) for side, name in sides]
    bars = Bars("jobs in service (per server)", list(map(drawn, instance.names)), lengths)
    return [Picture("Jobs that the rule and the optimum serve, by type.", bars)]


def evidence(answer: Attack | OnlineAttack) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    if isinstance(answer, OnlineAttack):
        if answer.share is not None:
            return [("the share of the reward on this instance", "statistical")]
        return [("that the queues grow on this instance", "statistical")] if answer.confirmed else []
    if answer.ratio == "1":  # no instance is shown
        return []
    if answer.certified:
        return [("what the rule keeps on this instance", "certified")]
    return [("that the rule keeps no more than this on the instance", "certified")]


def _notes(answer: Attack) -> list[str]:
    """Return what should be known beside the numbers: bins that are needed, a lie, and that worse may exist."""
    found, notes = answer.evidence, []
    if used := max(found.get("bins", ()), default=-1) + 1:
        notes.append(f"The rule uses {many(used, 'bin')}; {_bins_needed(answer, used)}.")
    if classical := found.get("known"):
        most = ", ".join(f"{bins} by {name}" for name, bins in classical.items())
        notes.append(f"By theorems, classical rules use at most, where as many are needed: {most}.")
    if "reported_demand" in found:
        factor = "" if found["factor"] is None else f", {short(found['factor'])} times as many"
        said, servers = ", ".join(map(str, found["reported_demand"].values())), listed(found["reported_servers"])
        notes.append(f"User {quoted(found['user'])} reports a demand of {said} on {servers}.")
        notes.append(f"It can then run {found['tasks_by_lying']} tasks instead of {found['tasks_by_truth']}{factor}.")
    return [*notes, "The search is not exhaustive: worse instances may exist."]


def _bins_needed(answer: Attack, used: int) -> str:
    """Return the fewest bins that hold the items, or between which ends they are."""
    if answer.certified:
        needed = int(Fraction(answer.ratio) * used)
        return f"{needed} {'is' if needed == 1 else 'are'} enough, and no fewer"
    case = items_of(answer.instance, "instance")
    fewest = bounds_of(case)
    return f"the fewest that hold the items are from {fewest.lower} to {min(fewest.upper, case.bins)}"


def _online_notes(answer: OnlineAttack) -> list[str]:
    notes, growth = [], answer.growth
    if growth is not None and (windows := [one for one in (growth.first, growth.second) if one is not None]):
        alarm = sum(window.alarm for window in windows)
        notes.append(f"The intervals of growth in brackets together miss with a probability of at most {alarm:g}.")
    if answer.share is not None:
        notes.append(f"The interval in brackets misses with a probability of at most {answer.share.alarm:g}.")
        notes.append("The share was measured in longer simulations, with a fresh seed, than those of the search.")
    notes.append("A simulation confirms, and does not prove; a search is not exhaustive, so worse instances may exist.")
    return [*notes, f"The same jobs are simulated again by: {answer.reproduce}"] if answer.reproduce else notes


# ---- instances as tables ---------------------------------------------------------------------------------------------


def _tables_of_document(answer: Attack) -> list[Table]:
    document, found = answer.instance, answer.evidence
    if answer.kind == "items":
        items_of(document, "instance")
        items = document["items"]
        packing = items.get("packing", range(len(items["sizes"])))
        return _of_items(items["capacity"], items["sizes"], packing, found.get("bins", ()))
    if answer.kind == "sharing":
        return _of_cluster(parse_cluster(document, "instance"), found.get("tasks"))
    return _of_instance(parse_instance(document, "instance"), found)


def case_tables(case: Any, found: Evidence | None = None) -> list[Table]:
    """Return an instance, a cluster or items as tables, with what a rule does with it (`evidence_answer`)."""
    found = found or {}
    if isinstance(case, Numbers | Instance):
        return _of_instance(case if isinstance(case, Instance) else case.instance(), found)
    if isinstance(case, Misreport):
        return _of_cluster(case.truth.cluster(), found.get("tasks"))
    if isinstance(case, Shape | Cluster):
        return _of_cluster(case if isinstance(case, Cluster) else case.cluster(), found.get("tasks"))
    assert isinstance(case, Items)
    return _of_items(case.capacity, case.sizes, found.get("packing", case.packing), found.get("bins", ()))


def _of_items(
    capacity: Sequence[int], sizes: Sequence[Sequence[int]], packing: Sequence[int], used: Sequence[int]
) -> list[Table]:
    """Return items with the bin of each, from 1: of the rule, and in a packing."""
    bins = many(max(packing, default=-1) + 1, "bin")
    head = ["item", "size", *(("bin of the rule",) if used else ()), f"bin in a packing with {bins}"]
    rows = []
    for i, (size, place) in enumerate(zip(sizes, packing, strict=True)):
        chosen = (str(used[i] + 1),) if used else ()
        rows.append([str(i + 1), texts(size), *chosen, str(place + 1)])
    return [Table(f"items, in bins of capacity {texts(capacity)}", head, rows, [False, *(True for _ in head[1:])])]


def _served(instance: Instance, columns: Sequence[Mapping[str, Any]]) -> list[Fraction]:
    """Return the jobs in service per server by type: slots that jobs can fill, at most the workload."""
    every = [(Fraction(column["fraction"]), column["configuration"]) for column in columns]
    return [
        min(total(x * int(configuration[kind.name]) for x, configuration in every), kind.workload)
        for kind in instance.types
    ]


def _of_instance(instance: Instance, found: Evidence) -> list[Table]:
    """Return the servers and the job types, in whole units of the resources, and what the rule and the optimum do."""
    servers = []
    for pool in instance.pools:
        where = "" if len(instance.pools) == 1 else f" of {quoted(pool.name)} ({text(pool.share)} of all servers)"
        space = pool.space
        additive = isinstance(space, Additive)
        what = texts(space.capacity) if isinstance(space, Additive) else ", ".join(map(texts, space.generators))
        servers.append([f"{'capacity' if additive else 'configurations'} of a server{where}", what])
    sides = [side for side in ("rule", "optimum") if f"columns_of_{side}" in found]
    served = [_served(instance, found[f"columns_of_{side}"]) for side in sides]
    demands = next((pool.space.demands for pool in instance.pools if isinstance(pool.space, Additive)), None)
    titles = {"rule": "served by the rule", "optimum": "served in the optimum"}
    head = ["type", *(("demand",) if demands else ()), "reward of a job", "workload", *(titles[side] for side in sides)]
    rows = []
    for j, kind in enumerate(instance.types):
        demand = (texts(demands[j]),) if demands else ()
        jobs = (text(one[j]) for one in served)
        rows.append([quoted(kind.name), *demand, text(kind.reward), text(kind.workload), *jobs])
    numeric = [False, *(True for _ in head[1:])]
    shown = [
        Table("servers", ["", ""], servers, [False, True]),
        Table("job types, with jobs per server", head, rows, numeric),
    ]
    return [*shown, _of_columns(instance, found)] if len(sides) == 2 else shown


def _of_columns(instance: Instance, found: Evidence) -> Table:
    """Return the fraction of all servers that the rule and the optimum give to each configuration, and the rewards."""
    several = len(instance.pools) > 1
    sides: list[dict[tuple[str, str], Fraction]] = []
    for name in ("columns_of_rule", "columns_of_optimum"):
        side: dict[tuple[str, str], Fraction] = {}
        for column in found[name]:
            key = (column["pool"], packed_by_name(column["configuration"]))
            side[key] = side.get(key, Fraction(0)) + Fraction(column["fraction"])
        for pool in instance.pools:  # what a side leaves empty of a pool: its share less that of its configurations
            used = total(x for (where, what), x in side.items() if where == pool.name and what != "empty")
            side[pool.name, "empty"] = pool.share - used
        sides.append(side)
    places = sorted(dict.fromkeys([*sides[0], *sides[1]]), key=lambda place: place[1] == "empty")
    rows = []
    for where, what in places:
        shares = [side.get((where, what), Fraction(0)) for side in sides]
        if any(shares):
            rows.append([f"{quoted(where)}: {what}" if several else what, *map(text, shares)])
    rows.append(["reward per server", short(found["reward"]), short(found["optimum"])])
    head = ["configuration of a server", "by the rule", "in the optimum"]
    return Table("fraction of all servers in each configuration", head, rows, [False, True, True])


def _of_cluster(given: Cluster, tasks: Sequence[Sequence[Any]] | None = None) -> list[Table]:
    """Return the servers and the users of a cluster, and perhaps the tasks of each user on each server."""
    servers = [[quoted(one.name), texts(one.capacity), f"{one.count:,}"] for one in given.servers]
    head = ["user", "demand of a task", "weight", "may use", *(("tasks on each server",) if tasks else ())]
    rows = []
    for n, user in enumerate(given.users):
        allowed = "all" if user.servers is None else " ".join(map(quoted, user.servers))
        row = [quoted(user.name), texts(user.demand), text(user.weight), allowed]
        rows.append([*row, *((texts(map(Fraction, tasks[n])),) if tasks else ())])
    return [
        Table("servers", ["server", "capacity", "number"], servers, [False, True, True]),
        Table("users", head, rows, [False] * len(head)),
    ]


def _offered(answer: OnlineAttack) -> list[Table]:
    """Return the servers and the job types of the instance of a policy, as its file says them."""
    document = answer.instance
    capacity = [
        [f"{quoted(name)} of a server", str(amount)] for name, amount in document["server"][0]["capacity"].items()
    ]
    rows = [
        [
            quoted(row["name"]),
            " ".join(map(str, row["demand"].values())),
            *(str(row[name]) for name in ("reward", "workload", "service_rate")),
        ]
        for row in document["type"]
    ]
    head = ["type", "demand", "reward of a job", "workload per server", "service rate"]
    return [
        Table("capacity", ["", ""], capacity, [False, True]),
        Table("job types", head, rows, [False, True, True, True, True]),
    ]
