"""Claims of the auto-scaling paper on how the fluid limit moves from moment to moment (Section 5.3, Proposition 5.10).

The paper describes the motion by effective servers x^(i) over all greedy configurations, and by i*, the last place up
to which each of them has a tight type (26). Both are worked out here from the state of a path by their definitions, and
local derivatives (29)-(30) as difference quotients between switches of the path.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.instances import dynamic_instance, limited_by_draining
from fluid.limits.reservation import Reservation, fluid_path, plan, state_of
from fluid.limits.reservation.path import State
from theory.exact.configurations import maximal
from theory.greedy.assignment import MaxRewards, greedy_configurations
from theory.instance import Configuration, Instance

SEED = 310
NEAR = 1e-7
"""Jobs and servers, per server, that differ by less are equal; paths are computed to 1e-10."""

STEP = 1e-4
"""Half of the time over which a local derivative is taken."""


@dataclass(frozen=True)
class Moment:
    """A path at one time.

    Attributes
    ----------
    listed : list of Configuration
        The greedy configurations but the empty one, in their order.
    x, slope : float64[C]
        Effective servers of each, and their local derivative.
    y, free : float64[J]
        Jobs, and lambda - mu y.
    empty : float
        Servers that are empty and of no rank.
    last : int
        Place of the last configuration of the greedy assignment in the list, C_rho - 1; the length if servers are left.
    """

    listed: list[Configuration]
    x: np.ndarray
    slope: np.ndarray
    y: np.ndarray
    free: np.ndarray
    empty: float
    last: int

    def slots(self, i: int, values: np.ndarray) -> np.ndarray:
        """Return ``sum_{l <= i} k^(l) values_l`` by type, places from 0."""
        return np.asarray(np.array(self.listed[: i + 1], float).T @ values[: i + 1])

    def tight(self, i: int) -> list[int]:
        """T_i of (31): the types of configuration i that have no job beyond the slots of the first i."""
        gap = self.y - self.slots(i, self.x)
        return [j for j, slots in enumerate(self.listed[i]) if slots and abs(gap[j]) <= NEAR]

    @property
    def tight_up_to(self) -> int:
        """i* of (26), as a number of configurations."""
        return next((i for i in range(len(self.listed)) if not self.tight(i)), len(self.listed))

    @property
    def followed(self) -> int:
        """i* of Proposition 5.10: the number of configurations up to the first that follows no tight type in (40)."""
        for i in range(len(self.listed)):
            off = np.abs(self.slots(i, self.slope) - self.free)
            if not any(off[j] <= 1e-5 for j in self.tight(i)):
                return i
        return len(self.listed)


def _effective(model: Reservation, listed: list[Configuration], state: State) -> np.ndarray:
    wanted = {s.configuration: s.mass for s in plan(model, state[0], 0 * state[0])}
    return np.array([min(state[1].get(k, 0.0), wanted.get(k, 0.0)) for k in listed])


def _last_place(instance: Instance, model: Reservation, listed: list[Configuration]) -> int:
    greedy, rewards = model.equilibrium, MaxRewards(instance)
    left, used = frozenset(range(len(instance.types))), 0.0
    for j, length in zip(greedy.permutation, greedy.lengths, strict=True):
        used += float(length)
        if used >= 1 - NEAR:
            return listed.index(rewards(left).configurations[0])
        left -= {j}
    return len(listed)


@cache
def moments(level: Level, factor: float = 1.0) -> list[Moment]:
    """Return moments of paths from the empty system, and from servers full of random maximal configurations.

    They lie in the inner four fifths of each regime of the path. Short and mixed regimes, whose rates are means, are
    left out.
    """
    generator, found = np.random.default_rng(SEED), []
    instances = [dynamic_instance(seed) for seed in range(6 if level is Level.quick else 40)]
    instances += [limited_by_draining()[name] for name in ("drains one type", "drains two types")]
    for instance in instances:
        model = Reservation(instance)
        listed = [k for k in greedy_configurations(instance) if any(k)]
        last = _last_place(instance, model, listed)
        rows = maximal(instance.pools[0].space)
        chosen = generator.permutation(len(rows))[:3]
        for start in [None, *(state_of(model, {tuple(rows[i].tolist()): 1.0}) for i in chosen)]:
            for segment in fluid_path(model, 6.0, start).segments:
                if segment.stop - segment.start < 50 * STEP or segment.regime.kind == "mixed":
                    continue
                margin = (segment.stop - segment.start) / 10  # at a switch a rate may be on its way to or from 0
                for time in np.linspace(segment.start + margin, segment.stop - margin, 6):
                    around = [segment.state(float(time) + d) for d in (-STEP, 0.0, STEP)]
                    before, x, after = (_effective(model, listed, state) for state in around)
                    jobs = around[1][0]
                    free = model.workload * model.service - factor * model.service * jobs
                    empty = around[1][1].get((0,) * len(jobs), 0.0)
                    found.append(Moment(listed, x, (after - before) / (2 * STEP), jobs, free, empty, last))
    return found


@claim(
    "equations-24-28",
    "Along computed fluid paths: the first i greedy configurations have no more slots of any type than there are jobs "
    "(24); while empty servers are left, slots of each type grow as fast as jobs arrive and depart (25b); where none "
    "are left and i* < C^(g), no type of the next configuration is tight, as i* is defined by (26)-(27), and the "
    "servers of the first i* + 1 configurations together grow (28): the least rate over what they lack is positive "
    "(its constant is lost).",
    source="Equations (24)-(28)",
    printed="(24)-(28): what is tight, what moves while servers are empty, and how fast servers empty (formulas lost)",
    evidence=Evidence.numeric,
    breaks=("departures are left out of (25)", "a tenth of a server is effective twice"),
)
def equations_24_28(level: Level, broken: str) -> Outcome:
    """Look at every moment."""
    beyond, free, least, counts = -1.0, 0.0, np.inf, {"idle": 0, "full": 0}
    for m in moments(level, 0.0 if broken.startswith("departures") else 1.0):
        places = len(m.listed)
        extra = 0.1 if broken.startswith("a tenth") else 0.0
        for i in range(places):
            beyond = max(beyond, float((m.slots(i, m.x + extra) - m.y).max()))
        if m.empty > 1e-6:
            counts["idle"] += 1
            free = max(free, float(np.abs(m.slots(places - 1, m.slope) - m.free).max()))
        elif m.tight_up_to < min(places, m.last):
            lacking = 1 - float(m.x[: m.tight_up_to + 1].sum())
            if lacking > 1e-3:
                counts["full"] += 1
                least = min(least, float(m.slope[: m.tight_up_to + 1].sum()) / lacking)
    computed = (
        f"slots beyond jobs at most {beyond:.1e}; {counts['idle']} moments with empty servers, (25b) off by "
        f"{free:.1e}; {counts['full']} without, least rate {least:.4f} of the servers that lack"
    )
    return Outcome(computed, bool(beyond < NEAR and free < 1e-3 and least > 0 and min(counts.values()) > 0))


@claim(
    "prop-5.10-p2",
    "(41): along computed fluid paths without empty servers, let i* + 1 be the first greedy configuration that "
    "follows no tight type in the sense of (40) (Definition 5.7 of i* is lost). Where it comes before the last "
    "configuration of the greedy assignment, it gains servers at all moments in the inner four fifths of each regime "
    "of the path; the least rate is said (the constant is lost; at a switch between regimes it may be 0).",
    source="Proposition 5.10, (P.2)",
    printed="the effective servers of configuration i* + 1 increase at a rate of at least a constant (formula lost)",
    evidence=Evidence.numeric,
    breaks=("configuration i* + 2 is looked at", "departures are left out of (40)"),
)
def proposition_5_10_p2(level: Level, broken: str) -> Outcome:
    """Look at the first configuration that does not follow a type."""
    rates = []
    for m in moments(level, 0.0 if broken.startswith("departures") else 1.0):
        place = m.followed + broken.startswith("configuration")
        if m.empty <= 1e-6 and m.followed < m.last and place < len(m.listed):
            rates.append(float(m.slope[place]))
    least = min(rates, default=-1.0)
    return Outcome(f"{len(rates)} moments, least rate {least:.4f} servers a server and unit of time", least > 1e-3)


@claim(
    "prop-5.10-p3",
    "(42): along computed fluid paths without empty servers on which all configurations before the last one of the "
    "greedy assignment follow a tight type, the last one does too, as in (40), or it gains what the others leave of "
    "the servers that empty: the effective servers of all of them together grow at a positive rate over what they "
    "lack (constant lost).",
    source="Proposition 5.10, (P.3)",
    printed="for the last configuration: (40), or the servers that empty less what the first ones take (formula lost)",
    evidence=Evidence.numeric,
    breaks=("one configuration fewer is counted", "all paths count, whoever follows"),
)
def proposition_5_10_p3(level: Level, broken: str) -> Outcome:
    """Look at the last configuration."""
    follows, rates = 0, []
    for m in moments(level, 1.0):
        if m.empty > 1e-6 or m.last >= len(m.listed) or (m.followed < m.last and not broken.startswith("all")):
            continue
        if m.followed > m.last:
            follows += 1
            continue
        end = m.last + (0 if broken.startswith("one") else 1)
        lacking = 1 - float(m.x[:end].sum())
        if lacking > 1e-4:
            rates.append(float(m.slope[:end].sum()) / lacking)
    least = min(rates, default=-1.0)
    computed = f"{follows} moments that follow a type, {len(rates)} others: least rate {least:.4f} of what they lack"
    return Outcome(computed, follows > 0 and len(rates) > 0 and least > 0)
