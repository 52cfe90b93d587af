"""The best policy of a small cluster of two kinds that it does not see: bounds from both sides, both exact.

A deployment of k = 0 or 1 is seen through its deaths of cores, scale-outs (granted or not) and shutdown, which come at
rates q_k in total. What is believed of it is p = Pr[k = 1 | what was seen]; given what was seen, deployments are
independent, as refusals depend on cores alone. Between events p drifts by p (1 - p) (q_0 - q_1) an hour, and an event
of rates e_0, e_1 takes it to p e_1 / ((1 - p) e_0 + p e_1): a continuum of states. Two finite chains enclose it.

**From above: an oracle that keeps beliefs on a grid.** The oracle knows the kind and tells the policy something more.

- After an event that takes p to a point between g < p < g', it gives one of two signals, with probabilities given the
  kind such that the belief becomes g' with probability (p - g) / (g' - g), else g. Such a signal exists, since the mean
  of the new belief is p (Bayes: Pr[signal | k] is Pr[signal] Pr[k | signal] / Pr[k]).
- At a point p of the grid, with g its neighbour on the side to which silence would take it, signals come at rates
  a_k with a_1 - a_0 = q_0 - q_1 and a_1 / a_0 = g (1 - p) / (p (1 - g)). By the first, events and signals together come
  at one rate whatever the kind, so silence says nothing and p stays; by the second, a signal moves the belief to g.
  Both a_k are at least 0, and signals come at rate p (1 - p) |q_0 - q_1| / |g - p|.

Whatever a policy without the oracle does, a policy with the oracle can do too, and cores move by the same laws. With
the oracle the belief is a Markov chain on the grid, so the best policy is that of a finite decision process, whose dual
bound (`fluid.admission.exact.optimal`) holds for all policies that do not see kinds. (Interpolating the convex value
function of beliefs between points of a grid is the same bound, by the same inequality. Moving beliefs to the *nearest*
point would bound nothing.)

**From below: a policy with a finite memory.** A policy may keep a point of the grid for every deployment, moved at
events to one of the two neighbours of what Bayes' rule gives, at random, and in silence by a clock of its own. It uses
nothing that is hidden, and what it does together with kinds and cores is a finite chain, solved exactly. Its decisions
are the best responses of the process above, mixed until the SLA is met.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fluid.admission.exact.chain import Changes, ExactResult, Pair, Space, small_space, solved
from fluid.admission.exact.optimal import Dual, by_lagrangian, by_program
from fluid.admission.law.cluster import AdmissionCluster, Kind
from theory.errors import ArgumentError, InputError

SPAN = 7.0
"""How far log odds on the grid go about, to each side of those at arrival."""


def belief_grid(cluster: AdmissionCluster, points: int) -> NDArray[np.float64]:
    """Return beliefs with 0, 1 and what is believed at arrival among them; the others are equally spaced in log odds.

    Every event adds a number to the log odds that does not depend on the belief. The spacing divides that of a
    scale-out, so that a scale-out takes a point of the grid to a point of the grid, but for the ends.
    """
    if len(cluster.kinds) != 2:
        raise InputError(
            cluster.source, "kind", f"expected two kinds to hide one from the other, got {len(cluster.kinds)}"
        )
    if points < 3:
        raise ArgumentError("beliefs", f"expected at least 3 points, got {points}")
    a, b = cluster.kinds
    each = max(0, (points - 3) // 2)  # points on each side of what is believed at arrival
    spacing = SPAN / max(1, each)
    if a.batch == b.batch and min(a.scale_out_rate, b.scale_out_rate) > 0 and a.scale_out_rate != b.scale_out_rate:
        jump = abs(float(np.log(b.scale_out_rate) - np.log(a.scale_out_rate)))  # the ratio itself may overflow
        spacing = jump / max(1, round(jump / spacing))
    start = float(np.log(b.probability / a.probability)) if min(a.probability, b.probability) > 0 else 0.0
    odds = start + spacing * np.arange(-each, each + 1)
    return np.concatenate([[0.0], 1 / (1 + np.exp(-odds)), [1.0]])


@dataclass(frozen=True)
class Seen:
    """What may be seen of a deployment: rates under each kind, and what follows."""

    rates: tuple[float, float]
    cores: int  # after it; 0 if the deployment ends
    asks: bool = False  # whether it is a scale-out
    fits: bool = True  # whether it is granted


class _OnGrid:
    """What beliefs and memories on a grid have in common."""

    def __init__(self, cluster: AdmissionCluster, grid: NDArray[np.float64]) -> None:
        self.grid = grid
        self.kinds: tuple[Kind, Kind] = (cluster.kinds[0], cluster.kinds[1])

    def start(self, size: int) -> int:
        """Return the point of what is believed at arrival, by the initial size alone."""
        a, b = (kind.probability * (kind.size == size) for kind in self.kinds)
        return int(np.abs(self.grid - b / (a + b)).argmin())

    def seen(self, cores: int, free: int) -> list[Seen]:
        """Return what may be seen of a deployment with a number of cores."""
        a, b = self.kinds
        possible = [
            Seen((cores * a.mu, cores * b.mu), cores - 1),
            Seen((a.shutdown_rate, b.shutdown_rate), 0),
        ]
        for batch in sorted({a.batch, b.batch}):
            rates = (a.scale_out_rate * (a.batch == batch), b.scale_out_rate * (b.batch == batch))
            fits = batch <= free
            possible.append(Seen(rates, cores + batch * fits, asks=True, fits=fits))
        return [one for one in possible if max(one.rates) > 0]

    def after(self, g: int, rates: tuple[float, float]) -> list[tuple[int, float]]:
        """Return points and probabilities after an event; one that a kind cannot have proves the other."""
        if min(rates) == 0:
            return [(len(self.grid) - 1 if rates[1] > 0 else 0, 1.0)]
        p = self.grid[g]
        p = p * rates[1] / ((1 - p) * rates[0] + p * rates[1])  # Bayes' rule
        # the neighbours get the probabilities that keep the mean
        i = int(np.clip(np.searchsorted(self.grid, p, side="right") - 1, 0, len(self.grid) - 2))
        up = float((p - self.grid[i]) / (self.grid[i + 1] - self.grid[i]))
        return [(point, share) for point, share in ((i, 1 - up), (i + 1, up)) if share > 0]

    def silence(self, g: int, cores: int, free: int) -> tuple[int, float]:
        """Return the neighbour to which silence moves a belief, and the rate."""
        # p' = p (1 - p) (q_0 - q_1), as a rate of jumps to the neighbour on that side
        p = self.grid[g]
        total = np.sum([one.rates for one in self.seen(cores, free)], axis=0)
        drift = float(p * (1 - p) * (total[0] - total[1]))
        if drift == 0:
            return g, 0.0
        to = g + (1 if drift > 0 else -1)
        return to, drift / float(self.grid[to] - p)

    def changes_at(self, g: int, cores: int, free: int, weights: tuple[float, float], base: int = 0) -> Changes:
        """Return events and the moves in silence at a point of the grid, for probabilities of the kinds.

        Labels of what a deployment becomes begin at `base`.
        """
        moves: list[tuple[Pair | None, float]] = []
        asked = refused = 0.0
        for one in self.seen(cores, free):
            rate = weights[0] * one.rates[0] + weights[1] * one.rates[1]
            if rate == 0:
                continue
            asked += rate * one.asks
            refused += rate * (not one.fits)
            if one.cores == 0:
                moves.append((None, rate))
            else:
                moves += [((base + point, one.cores), rate * share) for point, share in self.after(g, one.rates)]
        point, rate = self.silence(g, cores, free)
        if rate > 0:
            moves.append(((base + point, cores), rate))
        return Changes(moves, asked, refused)


class Beliefs(_OnGrid):
    """Deployments whose label is a point of the grid, with the oracle."""

    def __init__(self, cluster: AdmissionCluster, grid: NDArray[np.float64]) -> None:
        super().__init__(cluster, grid)
        sizes = sorted({kind.size for kind in self.kinds})
        self.arriving: tuple[Pair, ...] = tuple((self.start(size), size) for size in sizes)
        shares = [sum(kind.probability for kind in self.kinds if kind.size == size) for size in sizes]
        self.probability = np.array(shares)
        self.believed = np.column_stack([1 - grid, grid])

    def changes(self, pair: Pair, free: int) -> Changes:
        """Return what may be seen, at its mean rate, and the signals of the oracle in silence."""
        g, cores = pair
        p = float(self.grid[g])
        return self.changes_at(g, cores, free, (1 - p, p))


class Memories(_OnGrid):
    """Deployments whose label is kind x points + the point that a policy remembers, without the oracle.

    A memory moves as a belief would on average over the kinds; at 0 and 1 only an event that proves the kind moves it.
    """

    def __init__(self, cluster: AdmissionCluster, grid: NDArray[np.float64]) -> None:
        super().__init__(cluster, grid)
        self.arriving: tuple[Pair, ...] = tuple(
            (k * len(grid) + self.start(kind.size), kind.size) for k, kind in enumerate(self.kinds)
        )
        self.probability = np.array([kind.probability for kind in self.kinds])
        self.believed = np.tile(np.column_stack([1 - grid, grid]), (2, 1))

    def changes(self, pair: Pair, free: int) -> Changes:
        """Return events at the rates of the kind, and the clock of the policy."""
        label, cores = pair
        k, g = divmod(label, len(self.grid))
        return self.changes_at(g, cores, free, (1.0 - k, float(k)), k * len(self.grid))


@dataclass(frozen=True)
class HiddenOptimum:
    """Bounds on the best utilisation of a small cluster of two kinds that policies do not see.

    Attributes
    ----------
    sla : float
    lower, upper : float
        Utilisation: of a policy with a finite memory, solved exactly, which meets the SLA; and of every policy.
    program, lagrangian : float
        The decision process with the oracle by two methods.
    price : float
        Cores on average that a refusal an hour is worth there.
    space, memories : Space
        With the oracle; and kinds with what the policy remembers, on which policies that do not see kinds are solved.
    result : ExactResult
        Of the policy of the lower bound.
    """

    sla: float
    lower: float
    upper: float
    program: float
    lagrangian: float
    price: float
    space: Space
    memories: Space
    result: ExactResult


def hidden_optimum(cluster: AdmissionCluster, sla: float, most: int, points: int = 15) -> HiddenOptimum:
    """Return bounds on the best policy that does not see which of two kinds a deployment is.

    Parameters
    ----------
    cluster : AdmissionCluster
        Of two kinds, which policies do not see.
    sla : float
        Share of scale-outs that may be refused.
    most : int
        Most deployments at once.
    points : int
        Points of the grid of beliefs; the bounds approach each other as they grow.

    Raises
    ------
    InputError
        An SLA that is no share, or other than two kinds.
    TooLargeError
        Too many states: O((capacity x points) ** most).
    """
    if not 0 < sla < 1:
        raise ArgumentError("sla", f"expected a share between 0 and 1, got {sla!r}")
    grid = belief_grid(cluster, points)
    beliefs = small_space(cluster, most, Beliefs(cluster, grid))
    memories = small_space(cluster, most, Memories(cluster, grid))
    dual = by_lagrangian(beliefs, sla)
    program, _ = by_program(beliefs, sla)
    best = _best_mixture(beliefs, memories, dual, sla)
    for tighter in (0.99, 0.97, 0.9, 0.7, 0.3):  # where the memory, coarser than the belief, misses the SLA
        if best is not None:
            break
        best = _best_mixture(beliefs, memories, by_lagrangian(beliefs, tighter * sla), sla)
    if best is None:
        best = solved(memories, np.zeros(memories.entered.shape))
    c = cluster.capacity
    values = (dual.bound / c, program / c, dual.value / c, dual.price)
    return HiddenOptimum(sla, best.utilisation, *values, beliefs, memories, best)


def _carried(beliefs: Space, memories: Space, accept: NDArray[np.float64]) -> NDArray[np.float64]:
    """Decisions by beliefs as decisions by memories, which do not depend on the kind; states not listed refuse."""
    number = {state: i for i, state in enumerate(beliefs.states)}
    points = len(beliefs.dynamics.believed)
    sizes = [size for _, size in beliefs.dynamics.arriving]
    columns = [sizes.index(size) for _, size in memories.dynamics.arriving]
    accepted = np.zeros(memories.entered.shape)
    for i, state in enumerate(memories.states):
        at = number.get(tuple(sorted((label % points, cores) for label, cores in state)), -1)
        if at >= 0:
            accepted[i] = accept[at, columns]
    return accepted


def _best_mixture(beliefs: Space, memories: Space, dual: Dual, sla: float) -> ExactResult | None:
    """Mix two best responses as far as the SLA is met, each decision by the same coin; None if both miss it."""
    meets, misses = (_carried(beliefs, memories, accept) for accept in (dual.meets, dual.misses))
    best = solved(memories, meets)
    if best.sla > sla:
        return None
    low, high = 0.0, 1.0
    for _ in range(16):
        share = (low + high) / 2
        solution = solved(memories, (1 - share) * meets + share * misses)
        if solution.sla <= sla:
            low = share
            best = max(best, solution, key=lambda one: one.utilisation)
        else:
            high = share
    return best
