"""Claims of the auto-scaling paper on short intervals: driving types, Poisson tails (Section 5.3.1, Appendix F)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil, exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from bounds.claims import NOTHING, Check, Evidence, Outcome, Verdict, claim
from bounds.results.decisions import ALARM, FRESH_SEED, Decisions
from bounds.results.instances.drawn import dynamic_instance, full_of_the_first
from bounds.results.instances.families import DRAINING, limited_by_draining
from bounds.results.reproduction import drawing
from bounds.views.panels import Chart, Curve, Panel
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from theory.errors import InputError, expect_number
from theory.greedy.assignment import global_greedy, greedy_configurations
from theory.greedy.servers import max_jobs
from theory.instance import Configuration, Instance
from theory.numbers import total

SEED = 333


def _slots(listed: list[Configuration], values: list[Fraction], i: int, j: int) -> Fraction:
    """Return ``sum_{l <= i} k_j^(l) values_l``, places from 0."""
    return total(k[j] * v for k, v in zip(listed[: i + 1], values[: i + 1], strict=True))


def _tight(listed: list[Configuration], x: list[Fraction], y: list[Fraction]) -> list[list[int]]:
    """Return T_i of (31) for each followed configuration, up to the first that has none."""
    tight = []
    for i, k in enumerate(listed):
        types = [j for j, slots in enumerate(k) if slots and _slots(listed, x, i, j) == y[j]]
        if not types:
            break
        tight.append(types)
    return tight


def _solved(listed: list[Configuration], driving: list[int], free: list[Fraction]) -> list[Fraction]:
    """Return w of (35): the slots of each configuration's driving type grow as fast as its jobs."""
    w: list[Fraction] = []
    for i, j in enumerate(driving):
        w.append((free[j] - _slots(listed, w, i - 1, j)) / listed[i][j])
    return w


def _faster(gain: Fraction) -> bool:
    """Whether a type with this gain of slots over jobs replaces the driving type (36)."""
    return gain > 0


def _slower(gain: Fraction) -> bool:
    return gain < 0


def _never(gain: Fraction) -> bool:
    del gain
    return False


def _driven(
    listed: list[Configuration],
    tight: list[list[int]],
    free: list[Fraction],
    replaces: Callable[[Fraction], bool] = _faster,
) -> tuple[list[Fraction], int, bool]:
    """Follow (35)-(37) from the first tight types; return w, the number of driving sets, and whether one came twice.

    A tight type that would get slots faster than jobs (36) replaces the driving type of its configuration, and those
    of later ones begin anew (37).
    """
    driving = [types[0] for types in tight]
    seen = {tuple(driving)}
    while True:
        w = _solved(listed, driving, free)
        gains = ((i, j, _slots(listed, w, i, j) - free[j]) for i, types in enumerate(tight) for j in types)
        place = next(((i, j) for i, j, gain in gains if replaces(gain)), None)  # (36)
        if place is None:
            return w, len(seen), False
        i, j = place
        driving = [*driving[:i], j, *(types[0] for types in tight[i + 1 :])]
        if tuple(driving) in seen:
            return w, len(seen), True
        seen.add(tuple(driving))


def _tied_state(instance: Instance, generator: np.random.Generator) -> tuple[list[Fraction], list[Fraction]]:
    """Draw jobs at which greedy exhausts several types at once, and velocities lambda - mu y in small fractions."""
    types = len(instance.types)
    first = greedy_configurations(instance)[0]
    jobs = [Fraction(int(generator.integers(0, 4)), 12) for _ in range(types)]
    share = Fraction(int(generator.integers(1, 5)), 12)
    for j, slots in enumerate(first):
        if slots and generator.random() < 0.8:
            jobs[j] = share * slots
    return jobs, [Fraction(int(generator.integers(-12, 13)), 6) for _ in range(types)]


@claim(
    "equations-33-38",
    "Driving types solve (35)-(38) at random states",
    "The driving types of Section 5.3.1, exactly, at random states where several types are exhausted at once: the "
    "system (35) has one solution, no driving set comes twice, and where no type replaces another (36)-(37), w is the "
    "derivative of the global greedy assignment along the velocities of the jobs (38). With f(L) = sqrt(g log L) / L "
    "for (33), which is lost and ours, L f / log L grows beyond all bounds and L f / g tends to 0 for g = (log "
    "L)^1.5, symbolically.",
    source="Equations (33)-(38)",
    printed="driving sets change finitely often; w approximates the local derivatives; f(L) (formulas lost)",
    evidence=Evidence.certified,
    tiny={"states": 80},
    full={"states": 3000},
    controls={"no type is replaced": {"replaces": _never}, "slower slots replace": {"replaces": _slower}},
)
def equations_33_38(states: int = 150, *, replaces: Callable[[Fraction], bool] = _faster) -> Outcome:
    """Follow driving sets, and compare with a difference quotient of the assignment."""
    expect_number(states, "states", 1)
    several = twice = wrong = longest = 0
    for instance, listed, y, free, tight in _tied_states(states):
        x = _fractions(instance, listed, y)
        several += any(len(types) > 1 for types in tight)
        w, sets, again = _driven(listed, tight, free, replaces)
        longest, twice = max(longest, sets), twice + again
        h = Fraction(1, 10**9)
        moved = _fractions(instance, listed, [n + h * v for n, v in zip(y, free, strict=True)])
        wrong += [(b - a) / h for a, b in zip(x, moved, strict=True)] != w
    limits = _limits_of_subintervals()
    computed = (
        f"{states} states, {several} with several tight types: up to {longest} driving sets, {twice} times one came "
        f"again, {wrong} wrong derivatives; L f / log L tends to {limits[0]}, L f / g to {limits[1]}"
    )
    return Outcome(computed, not twice and not wrong and limits == ("oo", "0"))


class TiedState(NamedTuple):
    """Jobs at which several types are exhausted at once, so that every greedy configuration has a tight type."""

    instance: Instance
    listed: list[Configuration]  # the greedy configurations
    jobs: list[Fraction]
    free: list[Fraction]  # velocities
    tight: list[list[int]]  # types by configuration


def _tied_states(count: int) -> list[TiedState]:
    """Draw states at which every followed configuration has a tight type."""
    generator, states = np.random.default_rng(SEED), list[TiedState]()
    while len(states) < count:
        instance = dynamic_instance(int(generator.integers(60)))
        listed = [k for k in greedy_configurations(instance) if any(k)]
        y, free = _tied_state(instance, generator)
        if sum(global_greedy(instance.with_workload(y)).lengths) >= 1:
            continue  # servers are to be left, so that every configuration is followed
        tight = _tight(listed, _fractions(instance, listed, y), y)
        if len(tight) == len(listed) and not any(v < 0 and not n for v, n in zip(free, y, strict=True)):
            states.append(TiedState(instance, listed, y, free, tight))
    return states


def _limits_of_subintervals() -> tuple[str, str]:
    """Return the limits of L f / log L and of L f / g, for f(L) = sqrt(g log L) / L and g = (log L)^1.5."""
    import sympy as sp

    n = sp.symbols("n", positive=True)  # log L
    g = n ** sp.Rational(3, 2)
    return str(sp.limit(sp.sqrt(g * n) / n, n, sp.oo)), str(sp.limit(sp.sqrt(g * n) / g, n, sp.oo))


def _fractions(instance: Instance, listed: list[Configuration], y: list[Fraction]) -> list[Fraction]:
    """Return the global greedy assignment of jobs y by place in the list."""
    used = {s.configurations[0]: s.fraction for s in global_greedy(instance.with_workload(y)).stages}
    return [used.get(k, Fraction(0)) for k in listed]


def poisson_tail(mean: float, e: float) -> float:
    """Return the probability of at least (1 + e) m of a Poisson variable of mean m, for e < 0 of at most that."""
    from scipy.special import pdtr, pdtrc

    edge = (1 + e) * mean
    return float(pdtrc(np.ceil(edge) - 1, mean) if e > 0 else pdtr(np.floor(edge), mean))


def tail_bound(mean: float, e: float, factor: float = 1.0) -> float:
    """Return exp(-m e^2 psi(e) / 2), psi(x) = 2 ((1 + x) log(1 + x) - x) / x^2 being Pollard's function."""
    psi = 2 * ((1 + e) * log(1 + e) - e) / e**2
    return exp(-factor * mean * e**2 * psi / 2)


@claim(
    "lemma-f.1",
    "Poisson tails stay below their bounds, where computed",
    "For Poisson variables of mean m from 1 to 10^5 and e from 0.05 to 2, tails beyond (1 + e) m are at most exp(-m "
    "e^2 psi(e) / 2), and below (1 - e) m at most exp(-m e^2 psi(-e) / 2) (exact tails in floats, within 1e-12). With "
    "m = c sqrt(g log L) and g = (log L)^1.5 these fall faster than any power of L, symbolically; f(L) is ours.",
    source="Lemma F.1",
    printed="bounds (73)-(75) with probability 1 - o(L^-q), by tail bounds of the Poisson distribution (formulas lost)",
    evidence=Evidence.numeric,
    controls={"the exponent is twice as large": {"factor": 2.0}, "g = log L": {"power": Fraction(1)}},
)
def lemma_f_1(
    power: Fraction = Fraction(3, 2),
    above: tuple[float, ...] = (0.05, 0.1, 0.3, 0.6, 0.9, 1.5, 2.0),
    below: tuple[float, ...] = (0.05, 0.1, 0.3, 0.6, 0.9),
    *,
    factor: float = 1.0,
) -> Outcome:
    """Compare tails with their bounds, and take the limit for g = (log L)^power."""
    import sympy as sp

    if not (above or below) or min((*above, *below)) <= 0 or max(below, default=0.0) >= 1:
        raise InputError("above, below", "expected numbers e greater than 0, and below 1 for the lower tail")
    cases = list(product(np.geomspace(1, 1e5, 26).tolist(), (*above, *(-e for e in below))))
    worst = max(poisson_tail(mean, e) - tail_bound(mean, e, factor) for mean, e in cases)
    n, c, q = sp.symbols("n c q", positive=True)  # n = log L
    g = n ** sp.Rational(power.numerator, power.denominator)
    exponent = sp.limit((q * n - c * sp.sqrt(g * n)) / n, n, sp.oo)
    computed = f"{len(cases)} tails, at most {worst:.1e} above their bounds; log(L^q tail) / log L tends to {exponent}"
    return Outcome(computed, bool(worst <= 1e-12) and exponent == -sp.oo)


@drawing("Tails of the Poisson distribution and their bounds", "lemma-f.1", columns=2)
def tails() -> Sequence[Panel]:
    means, panels = np.geomspace(1, 3000, 60).tolist(), []
    ticks = [(10**n, f"{10**n:,}") for n in range(4)]
    for title, sign in (("above (1 + ε) m", 1), ("below (1 − ε) m", -1)):
        curves = []
        for e in (0.1, 0.3):
            for name, height in (("bound", tail_bound), ("tail", poisson_tail)):
                curves.append(Curve(f"{name}, ε = {e:g}", means, [height(m, sign * e) for m in means], look="plain"))
        panels.append(
            Chart("mean m (number)", "tail (share)", curves, (), title, "log", "log", ylim=(1e-12, 3), xticks=ticks)
        )
    return panels


def _ours(servers: int) -> float:
    """F(L) as reconstructed, with g = (log L)^1.5."""
    return sqrt(log(servers) ** 1.5 * log(servers)) / servers


@cache
def _counts_by_interval(instance: Instance, servers: int, until: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return events and the largest change of X^e of a configuration in each interval of length f(L)."""
    from fluid.limits.reservation import Reservation, plan

    model = Reservation(instance)
    listed = [k for k in greedy_configurations(instance) if any(k)]
    length, seen = _ours(servers), list[tuple[float, list[float]]]()

    def watch(state: Any, _jobs: Any, measures: Any) -> None:
        jobs = np.asarray(state.totals, float) + float(state.reserve[0])
        wanted = {s.configuration: s.mass * servers for s in plan(model, jobs / servers, 0 * jobs)}
        numbers = zip(state.configurations.tolist(), state.number.tolist(), strict=True)
        have = {tuple(k): n for k, n in numbers if any(k)}
        seen.append((float(measures.now[0]), [min(have.get(k, 0), wanted.get(k, 0.0)) for k in listed]))

    scenario = LossScenario(instance, servers, until, 0.0, bins=1)
    run_once(policy("dra"), scenario, np.random.SeedSequence((SEED, seed)), python=True, watch=watch)
    times, values = np.array([t for t, _ in seen]), np.array([v for _, v in seen])
    place = (times / length).astype(int)
    events = np.bincount(place)
    ends = values[np.searchsorted(place, np.arange(len(events)), side="right") - 1]
    return events[1:], np.abs(np.diff(ends, axis=0)).max(axis=1)


def _seldom_exceeded(mean: float, risk: float) -> float:
    """Return the least number that a Poisson number of given mean exceeds with a probability of at most a risk."""
    from scipy.special import pdtrc

    tails = np.asarray(pdtrc(np.arange(ceil(mean + 40 * sqrt(mean + 40))), mean))
    return float(np.argmax(tails <= risk))


@claim(
    "lemma-f.2",
    "Watched runs have bounded changes in short intervals",
    "Local derivatives are bounded: in watched runs on 300 servers from empty, cut into intervals of length f(L) "
    "(ours), every interval has at most a + d events, which two Poisson numbers exceed with probability 1e-6 in all: "
    "the arrivals, and the departures if no job were refused, at the rate that these have at the end of the run; "
    "effective servers change by at most (K + 1)^J times them.",
    source="Lemma F.2",
    printed="local derivatives of x and y are at most constants with probability 1 - o(L^-q) (formulas lost)",
    evidence=Evidence.statistical,
    tiny={"seeds": (3,)},
    full={"seeds": tuple(range(12))},
    controls={
        "departures are left out of the rate": {"departures": False},
        "the interval is two fifths as long for the bound": {"part": 0.4},
    },
)
def lemma_f_2(
    servers: int = 300,
    seeds: tuple[int, ...] = (0, 3, 8),
    until: float = 1.0,
    *,
    departures: bool = True,
    part: float = 1.0,
) -> Outcome:
    """Watch one run an instance; `part` is that of the interval for which the bound counts events."""
    expect_number(servers, "servers", 3)
    expect_number(len(seeds), "seeds: how many", 1)
    ratio, shares, over, intervals = 0.0, [], 0, 0
    for seed in seeds:
        instance = dynamic_instance(seed)
        events, changes = _counts_by_interval(instance, servers, until, seed)
        risk = ALARM / (2 * len(seeds) * (until / _ours(servers) + 1))
        means = _rates(instance, until, departures) * servers * _ours(servers) * part
        bound = sum(_seldom_exceeded(mean, risk) for mean in means.tolist())
        step = (max_jobs(instance) + 1) ** len(instance.types)  # Lemma D.1: X^e changes by no more at an event
        ratio = max(ratio, float((changes / np.maximum(events[: len(changes)] * step, 1)).max()))
        shares.append(float(events.max()) / bound)
        over, intervals = over + int((events > bound).sum()), intervals + len(events)
    computed = (
        f"{intervals} intervals of {len(seeds)} runs: events at most {max(shares):.3f} of the bound, {over} times "
        f"beyond it; change of effective servers at most {ratio:.4f} of what the events allow (false-alarm rate "
        f"{ALARM:g}, seed {SEED})"
    )
    return Outcome(computed, not over and ratio <= 1)


def _rates(instance: Instance, until: float, departures: bool) -> np.ndarray:
    """Return the rates a server of arrivals, and of departures at the end of a run from empty, where they count.

    Without refusals, departures from empty servers are a Poisson process of rate lambda (1 - exp(-mu t)); refusals
    leave some of them out.
    """
    mu = np.array([float(t.service_rate) for t in instance.types])
    arriving = np.array([float(t.workload) for t in instance.types]) * mu
    rates = [arriving.sum(), (arriving * -np.expm1(-mu * until)).sum()]
    return np.array(rates if departures else rates[:1])


@cache
def _freed(name: str, servers: int, until: float, runs: int, options: tuple[tuple[str, Any], ...]) -> list[float]:
    """Return servers reassigned per server, from servers full of small jobs over a short time, by run."""
    instance = limited_by_draining()[name]
    initial = full_of_the_first(instance, servers)
    scenario = LossScenario(instance, servers, until, 0.0, initial=initial, bins=1, options=dict(options))
    ended = (run_once(policy("dra"), scenario, np.random.SeedSequence((FRESH_SEED, r))) for r in range(runs))
    return [float(run.measures.reassigned.sum()) / servers for run in ended]


@claim(
    "lemma-f.3",
    "In four systems, unwanted servers empty as expected",
    "Servers that must go empty at a positive rate: from 2,000 servers full of k small jobs that the greedy assignment "
    "wants elsewhere, over a twentieth of a mean service time t, k departures empty a server and no small job comes, "
    "so 1 - exp(-mu t) of them go empty: the interval of the mean over runs holds this and lies above 17/20 of "
    "it, in four systems. The argument of Appendix F needs less, mu y_1 / (K C) a unit of time for C greedy "
    "configurations, since K C departures of each type that such a server holds empty one (the printed constant is "
    "lost).",
    source="Lemma F.3",
    printed="the number of servers that empty is at least a constant times the servers that lack (formula (84) lost)",
    evidence=Evidence.statistical,
    tiny={"servers": 150, "runs": 20, "until": 0.8},
    full={"runs": 100},
    controls={
        "no migration": {"options": {"migration": False}},
        "g = 0": {"options": {"reservation": 0}},
        "a server takes one departure more to empty": {"more_departures": 1},
    },
)
def lemma_f_3(
    servers: int = 2000,
    runs: int = 24,
    until: float = 0.05,
    *,
    options: Mapping[str, Any] = NOTHING,
    more_departures: int = 0,
) -> Outcome:
    """Compare the rate at which servers go empty with one that takes so many more departures a server."""
    expect_number(servers, "servers", 1)
    expect_number(runs, "runs", 2)
    decisions, good, shown = Decisions(len(DRAINING)), True, []
    for name in DRAINING:
        instance = limited_by_draining()[name]
        service, slots = float(instance.types[0].service_rate), instance.pools[0].space.most(0)
        departures = slots * (1 - exp(-service * until))  # by server
        exact = departures / (slots + more_departures) / until
        least = service * slots * 0.9 / (max_jobs(instance) * len(greedy_configurations(instance)))
        rate = decisions.mean(np.array(_freed(name, servers, until, runs, tuple(options.items()))) / until)
        good &= rate.holds(exact) and rate.low > max(0.85 * exact, least)
        shown.append(
            f"{name} {rate.mean:.3f} [{rate.low:.3f}, {rate.high:.3f}], exactly {exact:.3f}, needed {least:.3f}"
        )
    return Outcome(f"rate a server: {'; '.join(shown)}; {runs} runs, {decisions}, seed {FRESH_SEED}", bool(good))


def _lost(name: str, title: str, source: str, printed: str, reason: str) -> Check:
    """Register a statement that cannot be checked."""

    @claim(
        name,
        title,
        "Nothing is checked.",
        source=source,
        printed=printed,
        evidence=None,
        verdict=Verdict.skipped,
    )
    def lost() -> Outcome:
        return Outcome(f"not checked: {reason}", None)

    return lost


CONSTANTS = "its formula and the constants (87)-(90), in which it is stated, are lost; prop-5.10 is what it is for"
LEMMAS_G = {
    "Lemma G.1, on free servers, is not checked": "a least fraction of servers has no effective configuration among "
    "the first i*",
    "Lemma G.2, on local derivatives, is not checked": "local derivatives are close to w of (35), (92), under (91)",
    "Lemma G.3, bounds of w, is not checked": "bounds (93) of w",
    "Lemma G.4, on first configurations, is not checked": "a bound (95) on what the first configurations change",
}
LOST = (
    *(
        _lost(f"lemma-g.{n}", title, f"Lemma G.{n}", f"{what} (formulas and constants lost)", CONSTANTS)
        for n, (title, what) in enumerate(LEMMAS_G.items(), 1)
    ),
    _lost(
        "lemma-i.1",
        "Lemma I.1, on derivative inequalities, is not checked",
        "Lemma I.1",
        "an inequality between the local derivatives, (183), with probability 1 - o(L^-q); formula and constants lost",
        "inequality (183) and its constants (182), (190), (204), (217) are lost; lemma-6.4 is what it is for",
    ),
    _lost(
        "remark-3",
        "Remark 3 is lost, and not checked",
        "Remark 3",
        "lost: of the remark after Theorem 4.1 only its number is left",
        "the text is lost",
    ),
    _lost(
        "prop-5.10-claims",
        "Claims 1 and 2 behind (40) are unchecked",
        "Proof of Proposition 5.10, Claims 1 and 2",
        "if ... for every i (lost) with probability (lost), then (40) holds with probability (lost), by induction",
        "hypotheses, probabilities and formula (40) are lost; prop-5.10, prop-5.10-p2 and -p3 check what they are for",
    ),
)
