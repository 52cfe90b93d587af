"""The linear and convex programs of the papers, as short cvxpy models that a reader can change and solve.

Each function returns a ``cvxpy.Problem`` that has not been solved. Its numbers are floats, so its answer is numeric:
packproof computes the same answers exactly by other algorithms, and the tests compare the two. Variables and parameters
have names: ``problem.var_dict["jobs"]``, ``problem.param_dict["workload"].value = ...``.

All configurations are listed, so these models are for small instances.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theory.errors import ArgumentError, expect
from theory.exact.knapsack import maximal
from theory.instance import Additive, Instance, Space
from theory.numbers import many, to_integers

if TYPE_CHECKING:
    import cvxpy

    from theory.partition.laws import Law
    from theory.sharing.model import Cluster


def static(instance: Instance) -> cvxpy.Problem:
    """Return the static program: the greatest reward per server, with fractions of servers as variables.

    ``max sum_j u_j y_j`` with ``y_j <= rho_j`` (no more jobs than are offered), ``y <= sum_p K_p' x_p`` (no more jobs
    than there are slots), and ``sum x_p <= share_p`` in each pool p, the rows of K_p being its configurations.

    Parameters
    ----------
    instance : Instance

    Returns
    -------
    cvxpy.Problem
        Variables ``jobs`` (y, shape (J,)) and ``fractions of POOL`` (x_p); parameters ``rewards`` and ``workload``.

    Notes
    -----
    Exact counterpart: `packproof.optimal_assignment`. Source: auto-scaling paper, the normalised program of Section 3.

    Examples
    --------
    >>> import packproof
    >>> problem = packproof.models.static(packproof.additive([12], [[5], [7]]))
    >>> round(float(problem.solve()), 6)
    2.0
    """
    import cvxpy as cp

    Instance.expected(instance)
    rewards = cp.Parameter(len(instance.types), name="rewards", nonneg=True, value=_floats(instance.rewards))
    workload = _workload(instance)
    jobs = cp.Variable(len(instance.types), name="jobs", nonneg=True)
    slots, fractions = _slots(instance)
    constraints = [jobs <= workload, jobs <= slots]
    constraints += [cp.sum(x) <= float(pool.share) for x, pool in zip(fractions, instance.pools, strict=True)]
    return cp.Problem(cp.Maximize(rewards @ jobs), constraints)


def intensity(instance: Instance) -> cvxpy.Problem:
    """Return the program of the traffic intensity: the least z with the workload in z times the capacity region.

    ``min z`` with ``rho <= sum_p K_p' x_p`` and ``sum x_p <= z share_p`` in each pool p.

    Parameters
    ----------
    instance : Instance

    Returns
    -------
    cvxpy.Problem
        Variables ``intensity`` (z) and ``fractions of POOL``; parameter ``workload``.

    Notes
    -----
    Exact counterpart: `packproof.traffic_intensity`. Source: non-preemptive VM scheduling paper, the capacity region.

    Examples
    --------
    >>> import packproof
    >>> problem = packproof.models.intensity(packproof.additive([12], [[5], [7]], workload=["1/2", "1/2"]))
    >>> round(float(problem.solve()), 6)
    0.5
    """
    import cvxpy as cp

    Instance.expected(instance)
    z = cp.Variable(name="intensity")
    slots, fractions = _slots(instance)
    constraints = [_workload(instance) <= slots]
    constraints += [cp.sum(x) <= z * float(pool.share) for x, pool in zip(fractions, instance.pools, strict=True)]
    return cp.Problem(cp.Minimize(z), constraints)


def configuration(law: Law) -> cvxpy.Problem:
    """Return the configuration program of a law of job sizes: the greatest workload that one server supports.

    ``max rho`` with ``rho P <= K' x`` and ``sum x <= 1``: P_j is the probability of size j, and the rows of K are the
    configurations of jobs that fit a server of capacity 1.

    Parameters
    ----------
    law : Law
        With finitely many sizes.

    Returns
    -------
    cvxpy.Problem
        Variables ``workload`` (rho) and ``fractions of server`` (x); parameter ``probabilities``.

    Raises
    ------
    ValueError
        A law with a continuous part.

    Notes
    -----
    Exact counterpart: `packproof.bracket`. Source: high-throughput bin packing paper, the supremum of supportable
    workloads.

    Examples
    --------
    >>> import packproof
    >>> round(float(packproof.models.configuration(packproof.discrete({"2/5": "1/2", "3/5": "1/2"})).solve()), 6)
    2.0
    """
    import cvxpy as cp

    from theory.partition.laws import Law

    expect(law, Law, "law", "a Law (packproof.discrete and packproof.piecewise make one)")
    if law.pieces:
        raise ValueError("law: expected finitely many sizes, got a law with a continuous part")
    whole, unit = to_integers([Fraction(1), *(size for size, _ in law.atoms)])
    space = Additive(("size",), (whole[0],), tuple((size,) for size in whole[1:]), (unit,))
    probabilities = cp.Parameter(
        len(law.atoms), name="probabilities", nonneg=True, value=_floats([p for _, p in law.atoms])
    )
    workload = cp.Variable(name="workload")
    x = _fractions(space, "server")
    return cp.Problem(cp.Maximize(workload), [workload * probabilities <= _configurations(space).T @ x, cp.sum(x) <= 1])


def ps_dsf_tdm(cluster: Cluster) -> cvxpy.Problem:
    """Return the convex program whose solutions are the PS-DSF allocations under time division.

    ``max sum_n phi_n log x_n`` with ``x_n = sum_i gamma_{n,i} t_{n,i}`` and ``sum_n t_{n,i} <= 1`` for each server
    class i: t_{n,i} is the share of its time that user n has, and gamma_{n,i} the tasks that the user runs there alone.

    Parameters
    ----------
    cluster : Cluster

    Returns
    -------
    cvxpy.Problem
        Variables ``time`` (t, shape (N, K)) and ``tasks`` (x, shape (N,)).

    Notes
    -----
    The conditions of Theorem 2 of the PS-DSF paper are the Karush-Kuhn-Tucker conditions of this program. With p_i the
    multiplier of the time of server i, phi_n gamma_{n,i} / x_n <= p_i, with equality where t_{n,i} > 0: the weighted
    virtual dominant share x_n / (phi_n gamma_{n,i}) of every user is at least 1 / p_i, and equal to it for the users
    that server i serves. It is Eisenberg and Gale's program of a Fisher market with budgets phi. Exact counterpart:
    `packproof.ps_dsf_tdm`.

    Examples
    --------
    >>> import packproof
    >>> cluster = packproof.cluster([[1], [1]], [[1], [1]], eligible=[[True, True], [False, True]])
    >>> problem = packproof.models.ps_dsf_tdm(cluster)
    >>> _ = problem.solve()
    >>> problem.var_dict["tasks"].value.round(3).tolist()
    [1.0, 1.0]
    """
    import cvxpy as cp

    from theory.sharing.model import Cluster

    Cluster.expected(cluster)
    cluster.refuse_caps_and_groups("PS-DSF")
    gamma = np.array([_floats(row) for row in cluster.monopoly])
    time = cp.Variable(gamma.shape, name="time", nonneg=True)
    tasks = cp.Variable(len(gamma), name="tasks")
    welfare = _floats(cluster.weights) @ cp.log(tasks)
    return cp.Problem(
        cp.Maximize(welfare), [tasks == cp.sum(cp.multiply(gamma, time), axis=1), cp.sum(time, axis=0) <= 1]
    )


def drift(instance: Instance, queues: Sequence[float] | NDArray[np.float64], time_step: float = 1.0) -> cvxpy.Problem:
    """Return the drift program: which point of the capacity region empties the queues most within a step of time.

    ``min sum_j q_j(h)^2 / (2 mu_j)`` with ``q(h) = q + h (lambda - mu x)`` over the points x of the capacity region:
    the quadratic function of the queues after a step h. Its derivative at h = 0 is ``q . rho - q . x``, which a point
    of the greatest weight ``q . x`` makes least; so as h tends to 0 this is max-weight scheduling.

    Parameters
    ----------
    instance : Instance
    queues : float, shape (J,)
        Jobs that wait, per server.
    time_step : float
        Its length h > 0, in units of time.

    Returns
    -------
    cvxpy.Problem
        Variables ``served`` (x, shape (J,)) and ``fractions of POOL``; parameters ``queues`` and ``workload``.

    Notes
    -----
    Exact counterparts: with no queues and a step of 1 the queues at its end are `packproof.escape_velocity`; steps as
    long as the stretches of `packproof.queue_path` follow that path. Source: non-preemptive VM scheduling paper,
    Section 4.

    Examples
    --------
    The first queue is still the longer one after the step, so all servers serve it.

    >>> import packproof
    >>> problem = packproof.models.drift(packproof.additive([1], [[1], [1]], workload=["1/4", "1/4"]), [3, 1])
    >>> _ = problem.solve()
    >>> abs(problem.var_dict["served"].value).round(3).tolist()
    [1.0, 0.0]
    """
    import cvxpy as cp

    Instance.expected(instance)
    if np.shape(queues) != (len(instance.types),):
        raise ArgumentError("queues", f"expected {many(len(instance.types), 'number')}, one a type, got {queues!r:.60}")
    mu = _floats([job_type.service_rate for job_type in instance.types])
    q = cp.Parameter(len(mu), name="queues", nonneg=True, value=np.asarray(queues, float))
    served = cp.Variable(len(mu), name="served")
    after = q + time_step * cp.multiply(mu, _workload(instance) - served)
    slots, fractions = _slots(instance)
    constraints = [served <= slots]
    constraints += [cp.sum(x) == float(pool.share) for x, pool in zip(fractions, instance.pools, strict=True)]
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(1 / (2 * mu), after**2))), constraints)


def _slots(instance: Instance) -> tuple[Any, list[Any]]:
    """Return the slots of each type per server, an expression of shape (J,), and the fractions x_p of each pool."""
    fractions = [_fractions(pool.space, pool.name) for pool in instance.pools]
    slots = sum(_configurations(pool.space).T @ x for pool, x in zip(instance.pools, fractions, strict=True))
    return slots, fractions


def _fractions(space: Space, name: str) -> Any:
    """Return the variable x: which fraction of all servers is in each configuration of a pool."""
    import cvxpy as cp

    return cp.Variable(len(_configurations(space)), name=f"fractions of {name}", nonneg=True)


def _configurations(space: Space) -> NDArray[np.float64]:
    """Return the maximal configurations of a server, shape (n, J); slots may stay empty, so others add nothing."""
    return np.asarray(maximal(space), float)


def _workload(instance: Instance) -> Any:
    import cvxpy as cp

    return cp.Parameter(len(instance.types), name="workload", nonneg=True, value=_floats(instance.workload))


def _floats(numbers: Sequence[Fraction]) -> NDArray[np.float64]:
    return np.array([float(number) for number in numbers])
