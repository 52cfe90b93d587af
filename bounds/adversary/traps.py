"""Traps of queueing policies: regimes that servers do not leave while some queues are long, and what they do not carry.

A *trap* is a regime of a saturated cluster (`fluid.chains.saturated`): while the queues of some types G are long, the
servers hold a mean number s_j of jobs of type j in service, whatever the other queues are. If more work comes, L rho_j
> s_j for every j in G, then all queues of G grow in it, so they stay long, and the servers stay trapped. The least
traffic intensity at which that happens solves a linear program,

    min z  subject to  rho in z C,  L rho_j >= s_j (j in G),  rho >= 0,

whose optimum is the intensity of s / L on G: an infimum, which workloads a little larger come near. The region C needs
nothing of the policy: a trap with z < 1 loses workloads that other policies carry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from fluid.chains.saturated import Regime, Saturated
from fluid.simulation.policy_interface import Policy
from theory.errors import TooLargeError
from theory.instance import Additive, Instance
from theory.region.membership import CapacityProgram

HEAVY = 12  # how many times as long as the others a queue is made, so that policies that weigh queues prefer it
ARRIVALS = 500  # most states that are followed while jobs come, in any order, to empty servers
PART = Fraction(1, 200)  # traffic intensity of a type that only brings a trap about


@dataclass(frozen=True)
class Trap:
    """A regime that loses workload.

    Attributes
    ----------
    growing : tuple of int
        G, the types whose queues grow.
    service : tuple of Fraction, shape (J,)
        s: mean jobs in service of each type of G on all servers, 0 for the others.
    drift : tuple of int, shape (J,)
        Ratios of the queues for which the regime was found, 0 outside G: the queues are to grow in these.
    intensity : Fraction
        The infimum of the traffic intensities at which these queues grow.
    contents : tuple of tuple of int, shape (L, J)
        Jobs of these types on each server, in one state of the regime.
    fixed : bool
        Whether the servers hold the same jobs of these types in all states of the regime.
    cause : tuple of int, shape (J,)
        Ratios of the queues under which empty servers came to hold what traps them.
    """

    growing: tuple[int, ...]
    service: tuple[Fraction, ...]
    drift: tuple[int, ...]
    intensity: Fraction
    contents: tuple[tuple[int, ...], ...]
    fixed: bool
    cause: tuple[int, ...]


def queues(types: int, longest: int) -> Iterator[tuple[int, ...]]:
    """Yield lengths of queues: for each set of types equal ones, and each of them `HEAVY` times as long as the others.

    >>> list(queues(2, 1))
    [(1, 0), (0, 1), (1, 1), (12, 1), (1, 12)]
    """
    for size in range(1, types + 1):
        for chosen in combinations(range(types), size):
            even = tuple(longest if j in chosen else 0 for j in range(types))
            yield even
            for heavy in chosen if size > 1 else ():
                yield tuple(n * HEAVY if j == heavy else n for j, n in enumerate(even))


def least_trap(
    policy: Policy, instance: Instance, servers: int = 1, options: dict[str, Any] | None = None
) -> Trap | None:
    """Return the trap that loses workload at the least traffic intensity, of those that are found.

    Servers are filled by jobs that come in every order, and under each of `queues`; they end in regimes, and from there
    each of `queues` is supplied in turn.

    Parameters
    ----------
    policy : Policy
        Of a model of queues; slotted ones are taken to serve jobs for a fixed number of slots, one departure at a time.
    instance : Instance
        Of one pool; its workload is not used.
    servers : int
        L.
    options : dict, optional
        Of the policy.

    Returns
    -------
    Trap or None
        None if no regime is found, or the chain has too many states to follow, or the policy has clocks of its own:
        their rates may depend on how long the queues are, which are not followed as they grow.

    Examples
    --------
    M14 on a server of 20: with two jobs of 1 beside one of 18 it never becomes empty while jobs of 1 come at a workload
    above 2, of 20.

    >>> from fluid.simulation.policy_names import policy
    >>> from theory.instance import additive
    >>> trap = least_trap(policy("max-weight-local"), additive([20], [[1], [18]]))
    >>> trap.intensity, trap.growing
    (Fraction(1, 10), (0,))
    """
    cluster, program = Saturated(policy, instance, servers, options), CapacityProgram(instance)
    if cluster.has_clocks:
        return None
    supplies = list(queues(len(instance.types), cluster.long * most_jobs(instance, servers)))
    try:
        # first the regimes in which empty servers end; from each of them every supply is tried in turn
        ends = _regimes_from_empty(cluster, supplies)
        least: Trap | None = None
        intensities: dict[tuple[Fraction, ...], Fraction] = {}  # many regimes serve alike
        for supply in supplies:
            for regime in cluster.regimes([cluster.filled(node, supply) for node, _ in ends], supply):
                if regime.service not in intensities:
                    intensities[regime.service] = program.intensity([s / servers for s in regime.service]).value
                intensity = intensities[regime.service]
                if least is None or intensity < least.intensity:
                    # z of the linear program above: the intensity of s/L on G
                    least = _trap(cluster, regime, supply, intensity)
        if least is not None and least.intensity < 1:
            least = replace(least, cause=_cause(cluster, ends, least, cluster.long * most_jobs(instance, servers)))
    except TooLargeError:
        return None
    return least


def _regimes_from_empty(cluster: Saturated, supplies: Sequence[tuple[int, ...]]) -> list[tuple[Any, tuple[int, ...]]]:
    """Return one state of every regime that is reached from empty servers, and the supply that leads there."""
    ends: dict[bytes, tuple[Any, tuple[int, ...]]] = {}
    full = cluster.reached_by_arrivals(ARRIVALS)
    for supply in supplies:
        begun = [cluster.filled(cluster.begun(), supply, in_turn=in_turn) for in_turn in (False, True)]
        if len(set(supply)) == 1:  # all types wait, none more than another
            begun += [cluster.held(node, supply) for node in full]
        for regime in cluster.regimes(begun, supply):
            ends.setdefault(cluster.name(regime.nodes[0]), (regime.nodes[0], supply))
    return list(ends.values())


def most_jobs(instance: Instance, servers: int) -> int:
    """Return the most jobs of one type that a cluster holds."""
    return servers * max(pool.space.most(j) for pool in instance.pools for j in range(len(instance.types)))


def _trap(cluster: Saturated, regime: Regime, supply: tuple[int, ...], intensity: Fraction) -> Trap:
    growing = tuple(j for j, n in enumerate(supply) if n)
    contents = tuple(
        tuple(n if supply[j] else 0 for j, n in enumerate(row)) for row in cluster.contents(regime.nodes[0])
    )
    shortest = min(filter(None, supply))
    ratios = tuple(n // shortest for n in supply)
    return Trap(growing, regime.service, ratios, intensity, contents, regime.fixed, ratios)


def _cause(
    cluster: Saturated, ends: Sequence[tuple[Any, tuple[int, ...]]], trap: Trap, longest: int
) -> tuple[int, ...]:
    """Return the ratios of the first supply from whose regime the trap is reached."""
    drift = [n * longest for n in trap.drift]
    for node, supply in ends:
        reached = cluster.regimes([cluster.filled(node, drift)], drift)
        # the servers were in this regime before the long queues of G came, and fell into the trap
        if any(regime.service == trap.service for regime in reached):
            return tuple(n // longest for n in supply)
    raise AssertionError("the trap was reached from one of them")


def overload(trap: Trap, instance: Instance, servers: int, margin: Fraction) -> tuple[Fraction, ...] | None:
    """Return a workload per server that the trap does not carry, of an intensity within a margin above its infimum.

    The types of the trap get more than is served, in the ratio of its drift; the others `PART` of a server each, which
    comes on top of the margin. None if the intensity would not be less than 1.

    >>> from fluid.simulation.policy_names import policy
    >>> from theory.instance import additive
    >>> instance = additive([20], [[1], [18]])
    >>> trap = least_trap(policy("max-weight-local"), instance)
    >>> rho = overload(trap, instance, 1, Fraction(1, 10))
    >>> rho[0] > 2, float(CapacityProgram(instance).intensity(rho).value) < 0.12
    (True, True)
    """
    program = CapacityProgram(instance)
    room = [max(pool.space.most(j) for pool in instance.pools) for j in range(len(instance.types))]
    others = PART * (len(room) - len(trap.growing))
    most = min(trap.intensity * (1 + margin) + others, (1 + trap.intensity) / 2)

    def offered(steps: int) -> tuple[Fraction, ...]:
        step = Fraction(most_jobs(instance, 1) * steps, 4000)
        return tuple(
            s / servers + step * d / max(trap.drift) if j in trap.growing else PART * n
            for j, (s, d, n) in enumerate(zip(trap.service, trap.drift, room, strict=True))
        )

    low, high = 0, 1000  # the intensity grows with the steps
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if program.intensity(offered(middle)).value <= most else (low, middle)
    return offered(low) if low else None


def work_of(instance: Instance) -> list[Fraction]:
    """Return the time that a server takes for a waiting job of each type, where it holds as many of these as it can."""
    space = instance.pools[0].space
    assert isinstance(space, Additive)
    return [1 / (t.service_rate * space.most(j)) for j, t in enumerate(instance.types)]
