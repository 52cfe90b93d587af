"""What proves where dynamic reservation goes: a linear function that only the greedy assignment maximises.

``V(x, y) = sum_i Z_i x_i - Z sum_j (y_j - rho_j)^+`` over effective configurations x_i in the greedy order, with
``Z_i >= (2K + 2) Z_{i+1}`` and ``Z > Z_1`` (K the most jobs on a server). Source: auto-scaling paper, (45)-(47) and
Propositions 6.2, 6.3; the constants are rebuilt, with a dual solution in closed form as the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fluid.limits.reservation.model import Reservation, Vector, plan
from fluid.limits.reservation.regimes import Masses
from theory.greedy.assignment import MaxRewards, global_greedy, greedy_configurations
from theory.greedy.servers import max_jobs
from theory.instance import Configuration, Instance


@dataclass(frozen=True)
class Lyapunov:
    """The constants of V for an instance.

    Attributes
    ----------
    configurations : tuple of Configuration
        Greedy configurations in decreasing order, up to the last one that the greedy assignment uses.
    weights : tuple of Fraction
        Z_i of each.
    penalty : Fraction
        Z.
    """

    configurations: tuple[Configuration, ...]
    weights: tuple[Fraction, ...]
    penalty: Fraction

    def value(self, model: Reservation, jobs: Vector, masses: Masses) -> float:
        """Return V at jobs and masses of configurations, those beyond the greedy map's target not counted."""
        effective = {
            s.configuration: min(masses.get(s.configuration, 0.0), s.mass) for s in plan(model, jobs, 0 * jobs)
        }
        gain = sum(float(z) * effective.get(k, 0.0) for k, z in zip(self.configurations, self.weights, strict=True))
        return gain - float(self.penalty) * float((jobs - model.workload).clip(min=0.0).sum())


def lyapunov(instance: Instance, ratio: Fraction | int | None = None) -> Lyapunov:
    """Return V's constants: weights that fall by a factor of 2K + 2, scaled so that the last is 1.

    Parameters
    ----------
    instance : Instance
        One pool.
    ratio : rational, optional
        Another factor; `is_unique_maximiser` tells whether it will do.

    Examples
    --------
    >>> from theory.instance import additive
    >>> v = lyapunov(additive([2], [[1], [2]], rewards=[1, 3], workload=["1/2", 2]))
    >>> v.configurations, [int(z) for z in v.weights]
    (((0, 1),), [1])
    """
    every = greedy_configurations(instance)
    _, final = _stages(instance)
    last = (0,) * len(instance.types) if final is None else final
    used = [k for k in every[: every.index(last) + 1] if any(k)]
    factor = Fraction(2 * max_jobs(instance) + 2 if ratio is None else ratio)
    # Z_i / Z_{i+1} = 2K + 2 with K the most jobs on a server, the last weight is 1, and Z is twice the greatest one
    weights = tuple(factor ** (len(used) - 1 - i) for i in range(len(used)))
    return Lyapunov(tuple(used), weights, 2 * max(weights, default=Fraction(1)))


def _stages(instance: Instance) -> tuple[list[tuple[Configuration, int]], Configuration | None]:
    """Return the greedy stages that end with a type, and the configuration of the one in which the servers end."""
    greedy, rewards = global_greedy(instance), MaxRewards(instance)
    remaining, servers = frozenset(range(len(instance.types))), Fraction(1)
    stages: list[tuple[Configuration, int]] = []
    for j, length in zip(greedy.permutation, greedy.lengths, strict=True):
        k = rewards(remaining).configurations[0]
        if length >= servers:
            return stages, k
        stages.append((k, j))
        servers -= length
        remaining -= {j}
    return stages, None


def is_unique_maximiser(instance: Instance, function: Lyapunov) -> bool:
    """Decide exactly whether a dual solution in closed form proves a unique maximiser (Proposition 6.2).

    The program is ``max sum Z_i eta_i - Z sum theta_j`` with ``sum eta_i <= 1``, ``sum_i k_j eta_i - theta_j <=
    rho_j``, ``theta_j <= eps``. With multipliers p and q_j that make the columns of the greedy stages tight and all
    others slack, complementary slackness leaves only those columns and theta = 0, and the tight rows of the types that
    drive the stages determine eta one after another.

    Returns
    -------
    bool
        False means that this dual solution does not prove it, not that another maximiser exists.

    Notes
    -----
    O(J^2 + J C) rational operations for C greedy configurations.
    """
    stages, final = _stages(instance)
    weight = dict(zip(function.configurations, function.weights, strict=True))
    if any(k not in weight for k, _ in stages) or (final is not None and final not in weight):
        return False
    p = Fraction(0) if final is None else weight[final]
    q = [Fraction(0)] * len(instance.types)
    for k, j in reversed(stages):
        # the column of stage (k, j) is tight: p + sum_i q_i k_i = Z_k, and types i of later stages have their q_i
        q[j] = (weight[k] - p - sum((q[i] * slots for i, slots in enumerate(k) if i != j), Fraction(0))) / k[j]
    tight = {k for k, _ in stages} | ({final} if final is not None else set())
    driving = {j for _, j in stages}
    # multipliers of tight rows are positive, theta has a slack column, and all other columns have slack
    return (
        all(0 < q[j] < function.penalty for j in driving)
        and (final is None or p > 0)
        and all(
            (slack == 0) if k in tight else slack > 0
            for k, slack in (
                (k, p + sum((q[j] * slots for j, slots in enumerate(k)), Fraction(0)) - z) for k, z in weight.items()
            )
        )
    )
