"""The distributed algorithm of the PS-DSF paper: the simulation of Section V, Figure 6."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.papers import table_4
from bounds.results.reproduction import reproduction
from bounds.views.panels import Chart, Curve, Panel
from fluid.limits.sharing import Event, History, Schedule, run_at_once, run_schedule
from theory.errors import InputError, expect_number
from theory.numbers import text
from theory.sharing.maxmin import c_drfh, tsf
from theory.sharing.model import Cluster, ServerClass

UNTIL, AWAY = 300, (100, 200)  # seconds that are run, and in which user 4 is away; the printed times are lost

USER_4, CLASSES = 3, "ABCD"
CLOSE = 1e-6
PROMPT = 20  # seconds within which the algorithm is to have settled


def one_by_one(instance: Cluster, order: Sequence[int]) -> Cluster:
    """Return the cluster with each server of a class of its own, named after its class, in the given order."""
    servers = [ServerClass(f"{one.name}{k}", one.capacity) for one in instance.servers for k in range(one.count)]
    users = (
        replace(user, servers=user.servers and tuple(one.name for one in servers if one.name[0] in user.servers))
        for user in instance.users
    )
    return replace(instance, servers=tuple(servers[k] for k in order), users=tuple(users))


def section_5_schedule(period: Fraction = Fraction(1)) -> Schedule:
    """Return when user 4 is away, and how often servers update."""
    away = tuple(Event(Fraction(time), USER_4, arrives) for time, arrives in zip(AWAY, (False, True), strict=True))
    return Schedule(away, Fraction(UNTIL), period)


def section_5_history(order: Sequence[int], period: Fraction = Fraction(1), user_3_memory: str = "1/10") -> History:
    """Return the run of Section V: 120 servers update once a period, one after another in an order."""
    return run_schedule(one_by_one(table_4(user_3_memory=user_3_memory), order), section_5_schedule(period))


def by_class(instance: Cluster, utilisation: NDArray[np.float64], resource: int) -> NDArray[np.float64]:
    """Return the mean utilisation of the servers of each class, float64[T, 4], from that of all, float64[T, K, R]."""
    place = [CLASSES.index(server.name[0]) for server in instance.servers]
    columns = [utilisation[:, np.array(place) == k, resource].mean(axis=1) for k in range(len(CLASSES))]
    return np.stack(columns, axis=1)


def is_nearly_ps_dsf(instance: Cluster, tasks: NDArray[np.float64], present: NDArray[np.bool_]) -> bool:
    """Decide Theorem 1 up to a relative `CLOSE`: tasks fit, and each user who is there has a bottleneck everywhere."""
    totals = tasks.sum(axis=1)
    for i, capacity in enumerate(instance.capacity):
        here = [n for n in np.flatnonzero(present).tolist() if instance.monopoly[n][i]]
        level = {n: totals[n] / float(instance.monopoly[n][i] * instance.weights[n]) for n in here}
        served = set()
        for r, c in enumerate(map(float, capacity)):
            demand = [n for n in here if instance.use(n, i)[r]]
            use = {n: tasks[n, i] * float(instance.use(n, i)[r]) for n in demand}
            if sum(use.values()) > c * (1 + CLOSE):
                return False
            if sum(use.values()) >= c * (1 - CLOSE):
                top = max((level[n] for n in demand if use[n] > CLOSE * c), default=0.0)
                served |= {n for n in demand if level[n] >= top * (1 - CLOSE)}
        if len(served) < len(here):
            return False
    return True


def _orders(shuffled: int) -> dict[str, list[int]]:
    """Return the orders in which servers update: by class, the other way round, and at random."""
    every = list(range(120))
    orders = {"by class": every, "reversed": every[::-1]}
    for seed in range(shuffled):
        orders[f"shuffled {seed}"] = random.Random(seed).sample(every, len(every))
    return orders


def _periods(history: History, period: int) -> list[tuple[int, int]]:
    """Return the rows of a history, one a period, of the three spans between changes of the users."""
    ends = [0, *AWAY, UNTIL]
    return [(ends[k] // period, min(ends[k + 1] // period, len(history.time))) for k in range(3)]


@claim(
    "section-5-simulation",
    "PS-DSF on 120 servers converges within 20 s",
    "120 servers, each updating every second, in three orders (full: 22): after user 4 leaves and returns the "
    "utilisation of classes C and D stays where it ends within 20 s, in an allocation that is PS-DSF up to 1e-6. While "
    "all are active all memory is in use, and more CPU of C and D together than under TSF and C-DRFH. While user 4 is "
    "away neither is claimed: the order decides which PS-DSF allocation is reached, and TSF leaves its split open. The "
    "times, 100 s each, are ours.",
    source="Section V, Figures 5 and 6",
    printed="greater utilisation than TSF and C-DRFH, prompt convergence (times lost)",
    evidence=Evidence.numeric,
    tiny={"shuffled": 0, "period": 2},
    full={"shuffled": 20},
    controls={
        "servers update every 30 seconds": {"period": 30},
        "user 3 needs 3/20 of memory": {"user_3_memory": Fraction(3, 20), "compared_memory": Fraction(1, 10)},
    },
)
def section_5_simulation(
    shuffled: int = 1,
    period: int = 1,
    user_3_memory: Fraction = Fraction(1, 10),
    *,
    compared_memory: Fraction | None = None,
) -> Outcome:
    """Run the algorithm, and compare with TSF and C-DRFH, under which user 3 needs `compared_memory`: the same."""
    expect_number(shuffled, "shuffled", 0)
    expect_number(period, "period", 1, min(AWAY[0], AWAY[1] - AWAY[0], UNTIL - AWAY[1]))
    if user_3_memory <= 0:
        raise InputError("user_3_memory", f"expected a number greater than 0, got {text(user_3_memory)}")
    memory, compared = text(user_3_memory), text(compared_memory or user_3_memory)
    static = table_4(user_3_memory=compared)
    shares: dict[str, list[float]] = {
        mechanism.__name__: [float(mechanism(static).utilisation(i, 0)) for i in (2, 3)] for mechanism in (tsf, c_drfh)
    }
    counts = np.array([server.count for server in static.servers[2:]])
    best_other = max(float(counts @ np.array(share)) for share in shares.values())
    settle, good, away, least, memory_used = 0, True, set(), np.inf, 1.0
    orders = _orders(shuffled)
    for order in orders.values():
        history = section_5_history(order, Fraction(period), memory)
        instance = one_by_one(table_4(user_3_memory=memory), order)
        cpu, ram = (by_class(instance, history.utilisation, r) for r in (0, 1))
        for span, (start, end) in enumerate(_periods(history, period)):
            last = end - 1  # the state that a span between two changes of the users ends in
            moved = np.abs(cpu[start:end, 2:] - cpu[last, 2:]).max(axis=1) > CLOSE
            settle = max(settle, period * (1 + int(np.flatnonzero(moved).max(initial=-1))))
            good &= is_nearly_ps_dsf(instance, history.tasks[last], history.present[last])
            if span == 1:
                away.add(f"{cpu[last, 3]:.4f}")
                memory_used = min(memory_used, float(ram[last].min()))
            else:
                good &= bool(ram[last].min() > 1 - CLOSE)
                least = min(least, float(counts @ cpu[last, 2:]))
    good &= settle <= PROMPT and least > best_other + CLOSE
    servers, split = int(counts.sum()), float(tsf(table_4(user_3_memory=compared, users=(0, 1, 2))).utilisation(3, 0))
    computed = (
        f"{len(orders)} orders, settled within {settle} s of each change; CPU of C and D in use at least "
        f"{least / servers:.4f} (others at most {best_other / servers:.4f}); while user 4 is away "
        f"{', '.join(sorted(away))} of D (TSF's split at hand {split:.4f}), of the memory of a class at least "
        f"{memory_used:.4f}"
    )
    return Outcome(computed, bool(good))


@reproduction(
    "figure-6",
    "CPU in use on classes C and D as user 4 leaves and returns",
    printed="greater utilisation than TSF and C-DRFH, prompt convergence",
    lost="all times, the curves",
    chosen=f"{UNTIL} s, user 4 away from {AWAY[0]} to {AWAY[1]} s; the order in which servers update decides which "
    "allocation is reached while user 4 is away, and TSF and C-DRFH leave their split open",
    claims=("section-5-simulation", "section-5-full"),
)
def figure_6_panels() -> Sequence[Panel]:
    """Return the utilisation over time: PS-DSF in motion, the others as they would be at once."""
    order = range(120)
    history = section_5_history(order)
    used = by_class(one_by_one(table_4(), order), history.utilisation, 0)
    times, panels = history.time.tolist(), []
    others = {
        name: run_at_once(table_4(), section_5_schedule(), mechanism).utilisation
        for name, mechanism in (("C-DRFH", c_drfh), ("TSF", tsf))
    }
    for place in (2, 3):
        curves = [Curve("PS-DSF, servers in motion", times, used[:, place].tolist(), look="plain")]
        for name, shares in others.items():
            curves.append(Curve(f"{name}, exact", times, shares[:, place, 0].tolist(), look="steps"))
        title, shaded = f"class {CLASSES[place]}", (("user 4 is away", float(AWAY[0]), float(AWAY[1])),)
        panels.append(Chart("time (s)", "CPU in use (share)", curves, title=title, ylim=(0.0, 1.05), shaded=shaded))
    return panels
