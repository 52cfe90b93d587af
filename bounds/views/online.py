"""``packproof attack --kind online``: the worst instance found for a policy, as an answer, as text, and as a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bounds.adversary.growth import ALARM
from bounds.adversary.online import Broken
from bounds.views.tables import aligned
from bounds.views.text import Answer, Ends, Exact, ends, many, named, short
from fluid.simulation.policy_interface import Policy
from fluid.statistics import Interval
from theory.errors import listed, quoted
from theory.numbers import text


class Measured(Answer, frozen=True):
    """A mean over replications with its interval, which misses with the probability `alarm` at most."""

    mean: float
    interval: Ends
    alarm: float


class TrapAnswer(Answer, frozen=True):
    """A regime that servers do not leave while the queues of some types are long."""

    growing: list[str]
    service: dict[str, Exact]
    intensity: Exact
    contents: list[dict[str, int]]
    fixed: bool
    cause: dict[str, int]


class GrowthAnswer(Answer, frozen=True):
    """How the waiting work grew in two windows, in servers per unit of time, over the replications that were caught."""

    first: Measured | None
    second: Measured | None
    caught: int
    replications: int


class OnlineAttack(Answer, frozen=True):
    """The worst instance found for a policy.

    `ratio` is the traffic intensity at which queues grow (1: none was confirmed), or the share of the reward that a
    policy of loss systems keeps. `certified` is false: a simulation confirms, and does not prove; the intensity of a
    trap is exact.
    """

    policy: str
    kind: str
    model: str
    ratio: Exact
    ratio_float: float
    certified: bool
    confirmed: bool
    instance: dict[str, Any]
    servers: int
    trap: TrapAnswer | None
    growth: GrowthAnswer | None
    share: Measured | None
    reproduce: str
    evaluations: int
    complete: bool
    seconds: float


@dataclass(frozen=True)
class AttackedPolicy:
    """What was attacked, and what was found."""

    name: str
    policy: Policy
    broken: Broken
    seconds: float
    file: str


def _measured(found: Interval | None, alarm: float) -> Measured | None:
    return None if found is None else Measured(mean=found.mean, interval=ends(found), alarm=alarm)


def online_answer(made: AttackedPolicy) -> OnlineAttack:
    """Return the answer of ``attack --kind online``."""
    broken, trap, growth = made.broken, None, None
    if broken.trap is not None:
        instance = broken.instance
        trap = TrapAnswer(
            growing=[instance.names[j] for j in broken.trap.growing],
            service=named(instance, broken.trap.service),
            intensity=text(broken.trap.intensity),
            contents=[dict(zip(instance.names, row, strict=True)) for row in broken.trap.contents],
            fixed=broken.trap.fixed,
            cause=dict(zip(instance.names, broken.trap.cause, strict=True)),
        )
    if broken.growth is not None:
        growth = GrowthAnswer(
            first=_measured(broken.growth.first, ALARM / 2),
            second=_measured(broken.growth.second, ALARM / 2),
            caught=broken.growth.caught,
            replications=broken.growth.replications,
        )
    return OnlineAttack(
        policy=made.name,
        kind="online",
        model=made.policy.model,
        ratio=text(broken.ratio),
        ratio_float=float(broken.ratio),
        certified=False,
        confirmed=broken.confirmed,
        instance=broken.document(),
        servers=broken.servers,
        trap=trap,
        growth=growth,
        share=_measured(broken.share, ALARM),
        reproduce=_command(made),
        evaluations=broken.found.evaluations,
        complete=broken.found.complete,
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
        low, high = ends(broken.share)
        head = [
            f"{made.name} keeps {broken.share.mean:.4f} [{low:.4f}, {high:.4f}] of the reward of the optimum",
            judged,
        ]
    elif made.policy.model == "loss":
        head = [f"{made.name} kept {float(broken.ratio):.4f} of the reward of the optimum in one short run", judged]
    elif broken.confirmed:
        head = [f"{made.name}: queues grow at traffic intensity {short(broken.ratio)}", judged]
    else:
        head = [f"{made.name}: no growth was confirmed below traffic intensity 1", judged]
    return [
        *head,
        *_trap_lines(broken),
        *_growth_lines(broken),
        "",
        *_type_lines(broken),
        *_again(made),
    ]


def _trap_lines(broken: Broken) -> list[str]:
    if broken.trap is None:
        return []
    names = broken.instance.names
    held = " | ".join(
        " + ".join(f"{n} {quoted(name)}" for n, name in zip(row, names, strict=True) if n) or "none"
        for row in broken.trap.contents
    )
    growing = listed(names[j] for j in broken.trap.growing)
    stay = "stay" if broken.trap.fixed else "are in one state of it"
    return [
        f"trap: while jobs of {growing} wait, {held} {stay} on the servers; "
        f"it loses work from intensity {short(broken.trap.intensity)} on"
    ]


def _growth_lines(broken: Broken) -> list[str]:
    growth = broken.growth
    if growth is None:
        return []
    lines = [f"simulated with a fresh seed: {growth.caught} of {growth.replications} replications were caught"]
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


def _again(made: AttackedPolicy) -> list[str]:
    command = _command(made)
    return ["", f"again: {command}"] if command else []
