"""A cluster whose queues never empty: where its servers end up, by the policy's own functions.

Some types are *supplied*: a fixed number of their jobs wait, whatever starts. The other types are *rare*: a job of
theirs may come at any time, but their rates are negligible. What is left of the policy's chain is finite, as long as
the policy remembers finitely much. Its recurrent classes are the *regimes* of the policy for these queues; each serves
every type at a fixed mean rate.

Departures happen one at a time. In continuous time that is so; in slots it is so where service takes a fixed number of
slots, more than there are jobs on the servers, and jobs begin in different slots of that cycle: each ends where it
began, and a job that takes its place at once keeps the difference. In slots only regimes whose servers always hold the
same jobs are returned, because the order of the departures is then of no account.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fluid.chains.loss import Branching
from fluid.chains.steps import ContinuousSteps, SlotSteps
from fluid.simulation.policy_interface import Policy
from fluid.simulation.prepared import prepared
from fluid.simulation.slotted import state as slotted
from fluid.simulation.slotted.model import slotted_scenario
from fluid.simulation.state import Setting, copied, key
from theory.errors import ArgumentError, TooLargeError
from theory.exact.programs import solve_dense
from theory.instance import Instance

STATES = 1000
"""Most states that are followed for one supply."""

Node = Any
"""A state of the policy (continuous time), or a state and the jobs in service (slots)."""


@dataclass(frozen=True)
class Regime:
    """A recurrent class of a saturated cluster."""

    service: tuple[Fraction, ...]  # mean jobs of each type in service, on all servers together; 0 of rare types
    nodes: tuple[Node, ...]  # its states
    fixed: bool  # whether the servers hold the same jobs in all of them, rare types apart


class Saturated:
    """A policy on a cluster whose queues are held at given lengths.

    Parameters
    ----------
    policy : Policy
        Of a model of queues.
    instance : Instance
        Its workload is not used.
    servers : int
    options : mapping, optional
        Of the policy.

    Raises
    ------
    InputError
        A policy of loss systems.

    Examples
    --------
    Best-Fit on a server of 10, jobs of 2 and 5, one departure at a time: where it ends from one job of each.

    >>> from fluid.simulation.policy_names import policy
    >>> from theory.instance import additive
    >>> cluster = Saturated(policy("bf-js"), additive([10], [[2], [5]]), 1)
    >>> begun = cluster.joined(cluster.joined(cluster.begun(), 1), 0)
    >>> [(*map(int, regime.service),) for regime in cluster.regimes([begun], [10, 10])]
    [(0, 2), (2, 1)]
    """

    def __init__(self, policy: Policy, instance: Instance, servers: int, options: dict[str, Any] | None = None) -> None:
        self.types = len(instance.types)
        self.servers = servers
        idle = instance.with_workload([0] * self.types)
        self.slots = policy.model == "slotted"
        if self.slots:
            scenario = slotted_scenario(idle, servers, 1, 0, options=options or {})
            self._setting: Any = scenario.setting()
            self._class_of = np.argsort(np.array(scenario.group)).tolist()
            self._type_of = list(scenario.group)
            self._step: Any = SlotSteps(policy, np.zeros(self.types), np.ones(self.types))
        elif policy.model == "queue":
            self._setting = Setting(idle, servers, options or {})
            self._step = ContinuousSteps(policy, self._setting, Fraction)
        else:
            raise ArgumentError("policy", f"{policy.name} is a policy of loss systems, in which nobody waits")
        self._policy = policy
        self._rates = [t.service_rate for t in idle.types]

    @property
    def long(self) -> int:
        """How many times as long as the most jobs that a server holds a queue is made.

        Long enough for all that starts in one event; in continuous time, where a queue is a number, also for rules that
        take queues into account by functions that level off.
        """
        return 2 if self.slots else 100_000

    @property
    def has_clocks(self) -> bool:
        """Whether the policy has clocks of its own."""
        return not self.slots and len(self.begun().clocks) > 0

    def begun(self) -> Node:
        """Return empty servers, with empty queues."""
        state = prepared(self._policy, self._setting)
        return (state, ((0,) * self.types,) * self.servers) if self.slots else state

    def joined(self, node: Node, j: int) -> Node:
        """Return the node after a job of a type has come; where the policy draws, after the first outcome."""
        if not self.slots:
            draws = Branching()
            next(draws.paths())
            return self._step.with_arrival(node, j, draws)
        return next(self._slot(node, (), (self._class_of[j],)))[1]

    def offered(self, node: Node, queue: Sequence[int], ended: Sequence[tuple[int, int]] = ()) -> Node:
        """Return the node, of a slotted policy, after a slot: jobs (server, type) end, those of a queue come."""
        coming = [self._class_of[j] for j, n in enumerate(queue) for _ in range(n)]
        return next(self._slot(node, [(server, self._class_of[j]) for server, j in ended], coming))[1]

    def _slot(self, node: Node, ended: Sequence[Any], coming: Sequence[int]) -> Iterator[tuple[Any, Node]]:
        """Yield the outcomes of a slot, and of those after it as long as the policy asks to be called again."""
        for chance, state, serving in self._step.slot(*node, ended, coming):
            if state.done[slotted.SOON]:
                state.done[slotted.SOON] = 0
                for more, last in self._slot((state, serving), (), ()):
                    yield chance * more, last
            else:
                yield chance, (state, serving)

    def waiting(self, node: Node) -> list[int]:
        """Return the jobs of each type that wait."""
        if not self.slots:
            return [int(n) for n in node.waiting]
        return [int(node[0].lines[c, slotted.COUNT]) for c in self._class_of]

    def contents(self, node: Node) -> tuple[tuple[int, ...], ...]:
        """Return the jobs of each type in service on each server."""
        rows = node[1] if self.slots else node.counts.tolist()
        return tuple(tuple(row[self._class_of[j]] if self.slots else row[j] for j in range(self.types)) for row in rows)

    def name(self, node: Node) -> bytes:
        """Return what distinguishes two nodes under one supply."""
        if not self.slots:
            return key(node)
        state, serving = node
        memory = [f for f in state._fields if f not in slotted.COMMON and not f.endswith("_")]
        return repr((serving, self.waiting(node))).encode() + b"".join(getattr(state, f).tobytes() for f in memory)

    def held(self, node: Node, supply: Sequence[int]) -> Node:
        """Return the node with the queues of the supplied types at their lengths."""
        if not self.slots:
            node = copied(node)
            for j in range(self.types):
                node.waiting[j] = supply[j] if supply[j] else node.waiting[j]
            return node
        state, serving = node
        # the lines only grow: what a departure took from a supplied type is put back at the end of its line
        missing = [max(0, n - w) for n, w in zip(supply, self.waiting(node), strict=True)]
        if not any(missing):
            return node
        return self._step.with_more(
            state, [self._class_of[j] for j, n in enumerate(missing) for _ in range(n)]
        ), serving

    def filled(self, node: Node, supply: Sequence[int], *, in_turn: bool = False) -> Node:
        """Return the node after supplied jobs have come until one of each type waits; no other job waits.

        Types come in turn, or all jobs of one type before the next, those with the longest queue first.
        """
        if self.slots:
            node = (self._step.with_line(node[0], ()), node[1])
        else:
            node = copied(node)
            node.waiting[:] = 0
        order = sorted((j for j in range(self.types) if supply[j]), key=lambda j: -supply[j])
        while coming := [j for j in order if not self.waiting(node)[j]]:
            for j in coming if in_turn else coming[:1]:
                node = self.joined(node, j)
        return self.held(node, supply)

    def reached_by_arrivals(self, most: int) -> list[Node]:
        """Return the nodes in which a job of every type waits, after jobs have come to empty servers in any order.

        At most `most` nodes are followed on the way, those with the fewest jobs.
        """
        todo, full = [self.begun()], []
        seen = {self.name(todo[0])}
        for node in todo:
            waiting = self.waiting(node)
            if all(waiting):
                full.append(node)
            for j in (j for j, n in enumerate(waiting) if not n and len(seen) < most):
                after = self.joined(node, j)
                if (title := self.name(after)) not in seen:
                    seen.add(title)
                    todo.append(after)
        return full

    def ends(self, node: Node, supply: Sequence[int]) -> Iterator[tuple[Fraction, Node]]:
        """Yield rate and node for each departure, and for each ring of the policy's clocks."""
        if not self.slots:
            for rate, after, _ in self._step(node):
                yield rate, self.held(after, supply)
            return
        for server, row in enumerate(node[1]):
            for c, n in enumerate(row):
                if n:
                    for chance, after in self._slot(node, ((server, c),), ()):
                        yield n * self._rates[self._type_of[c]] * Fraction(chance), self.held(after, supply)

    def arrivals(self, node: Node, supply: Sequence[int]) -> Iterator[Node]:
        """Yield the nodes to which a job of a rare type leads, for rare types without a waiting job."""
        for j, n in enumerate(self.waiting(node)):
            if not supply[j] and not n:
                yield self.held(self.joined(node, j), supply)

    def regimes(self, begin: Sequence[Node], supply: Sequence[int]) -> list[Regime]:
        """Return the recurrent classes that are reached from some nodes.

        `supply` has the number of jobs of each type that wait, 0 for rare types.

        Where classes are joined by arrivals of rare types, they are returned only if all of them serve the supplied
        types alike: a mixture would depend on the rates of the rare ones. TooLargeError for more than `STATES` states;
        each takes one run of the policy in Python for every departure, some 0.1 ms.
        """
        nodes, ends, comings = self._explored(begin, supply)
        regimes = []
        for joined in closed_sets([[to for _, to in row] + more for row, more in zip(ends, comings, strict=True)]):
            # without the rare types a joined set may fall apart into several classes, each with a law of its own
            place = {node: i for i, node in enumerate(joined)}
            inside = [[place[to] for _, to in ends[node]] for node in joined]
            classes = [[joined[i] for i in part] for part in closed_sets(inside)]
            laws = [_stationary(part, ends) for part in classes]
            means = [self._mean([nodes[i] for i in part], law) for part, law in zip(classes, laws, strict=True)]
            rates = {tuple(mean[j] for j in range(self.types) if supply[j]) for mean in means}
            contents = {self.contents(nodes[i]) for part in classes for i in part}
            fixed = (
                len({tuple(row[j] for row in rows for j in range(self.types) if supply[j]) for rows in contents}) == 1
            )
            if len(rates) == 1 and (fixed or not self.slots):
                regimes.append(Regime(means[0], tuple(nodes[i] for part in classes for i in part), fixed))
        return regimes

    def _explored(
        self, begin: Sequence[Node], supply: Sequence[int]
    ) -> tuple[list[Node], list[list[tuple[Fraction, int]]], list[list[int]]]:
        """Return all states that are reached, and for each the departures and the arrivals of rare types."""
        nodes: list[Node] = []
        number: dict[bytes, int] = {}

        def add(node: Node) -> int:
            title = self.name(node)
            if title not in number:
                if len(nodes) >= STATES:
                    raise TooLargeError(f"a saturated cluster under {self._policy.name} has more than {STATES} states")
                number[title] = len(nodes)
                nodes.append(node)
            return number[title]

        for node in begin:
            add(self.held(node, supply))
        ends: list[list[tuple[Fraction, int]]] = []
        comings: list[list[int]] = []
        while len(ends) < len(nodes):
            node = nodes[len(ends)]
            ends.append([(rate, add(after)) for rate, after in self.ends(node, supply)])
            comings.append([add(after) for after in self.arrivals(node, supply)])
        return nodes, ends, comings

    def _mean(self, nodes: Sequence[Node], law: Sequence[Fraction]) -> tuple[Fraction, ...]:
        mean = [Fraction(0)] * self.types
        for node, chance in zip(nodes, law, strict=True):
            for row in self.contents(node):
                mean = [m + chance * n for m, n in zip(mean, row, strict=True)]
        return tuple(mean)


def closed_sets(following: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the sets of nodes that reach each other and nothing else."""
    n = len(following)
    if n == 1:  # nearly every set of few servers: the library takes longer to look at its input
        return [[0]]
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    once = [sorted(set(row)) for row in following]  # the search does not end where an entry is stored twice
    columns = [to for row in once for to in row]
    starts = np.cumsum([0, *map(len, once)])
    graph = csr_array((np.ones(len(columns)), columns, starts), shape=(n, n))
    _, found = connected_components(graph, directed=True, connection="strong")
    label = found.tolist()
    # a strongly connected set is closed if no edge leaves it
    leaving = {label[i] for i, row in enumerate(once) for to in row if label[i] != label[to]}
    sets: dict[int, list[int]] = {}
    for i, one in enumerate(label):
        if one not in leaving:
            sets.setdefault(one, []).append(i)
    return list(sets.values())


def _stationary(part: Sequence[int], ends: Sequence[Sequence[tuple[Fraction, int]]]) -> list[Fraction]:
    """Return the stationary law of a closed set, exactly: balance of all states but the first, and the sum."""
    if len(part) == 1:
        return [Fraction(1)]
    place = {i: n for n, i in enumerate(part)}
    matrix = [[Fraction(0)] * len(part) for _ in part]
    for i in part:
        for rate, to in ends[i]:
            matrix[place[to]][place[i]] += rate
            matrix[place[i]][place[i]] -= rate
    # the balance equations sum to 0, so one of them gives way to sum of the law = 1
    matrix[0] = [Fraction(1)] * len(part)
    law = solve_dense(matrix, [1] + [0] * (len(part) - 1))
    assert law is not None, "a closed set whose states reach each other has one stationary law"
    return law
