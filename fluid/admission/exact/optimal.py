"""The best policy of a small cluster of known kinds, under a limit on the share of refused scale-outs.

The cluster is a Markov decision process with one constraint (`fluid.admission.exact.chain` lists its states): accept or
refuse each kind at each state; the mean of active cores is maximised while refused scale-outs are at most a share tau
of all. Two methods solve it, and each gives a bound that does not depend on its tolerances:

- the linear program over occupation measures gives a randomised policy; solved by the chain, and found to meet the SLA
  (the program is tightened until it does), it is a *lower* bound;
- for any price of a refusal and any potentials h, the largest of Bellman's residuals bounds from *above* what any
  policy earns on average, net of the price (weak duality). Potentials come from policy iteration, the price from
  bisection.

Policies that do not see the kinds can do no better than those that do, so the upper bound holds for them too;
`fluid.admission.exact.hidden` has a nearer one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fluid.admission.exact.chain import ExactResult, Space, generator, small_space, solved
from fluid.admission.law.cluster import AdmissionCluster
from theory.errors import ArgumentError, InputError


@dataclass(frozen=True)
class Optimum:
    """The constrained optimum of a small cluster.

    Attributes
    ----------
    space : Space
    sla : float
        tau.
    program : float
        Utilisation by the linear program, up to its tolerances.
    lagrangian : float
        Utilisation by the Lagrangian, at the best price found.
    lower, upper : float
        Bounds on the utilisation of the best policy: a policy solved exactly, and weak duality.
    price : float
        Cores on average that a refusal an hour is worth.
    accept : float64[n, K]
        Probabilities of acceptance of the policy of the lower bound.
    result : ExactResult
        Of that policy.
    """

    space: Space
    sla: float
    program: float
    lagrangian: float
    lower: float
    upper: float
    price: float
    accept: NDArray[np.float64]
    result: ExactResult


def optimal_policy(cluster: AdmissionCluster, sla: float, most: int) -> Optimum:
    """Return the best policy of a small cluster under an SLA.

    Parameters
    ----------
    cluster : AdmissionCluster
        Of known kinds.
    sla : float
        Share of scale-outs that may be refused, between 0 and 1.
    most : int
        Most deployments at once.

    Raises
    ------
    InputError
        An SLA that is no share.
    TooLargeError
        Too many states.
    """
    if not 0 < sla < 1:
        raise ArgumentError("sla", f"expected a share between 0 and 1, got {sla!r}")
    space = small_space(cluster, most)
    program, accept = by_program(space, sla)
    result = solved(space, accept)
    for tighter in (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-3):  # until the policy, solved exactly, meets the SLA
        if result.sla <= sla:
            break
        _, accept = by_program(space, sla * (1 - tighter))
        result = solved(space, accept)
    if result.sla > sla:  # to admit no deployment meets every SLA
        accept = np.zeros(space.entered.shape)
        result = solved(space, accept)
    dual = by_lagrangian(space, sla)
    program, lagrangian, upper = (value / cluster.capacity for value in (program, dual.value, dual.bound))
    return Optimum(space, sla, program, lagrangian, result.utilisation, upper, dual.price, accept, result)


def _surplus(space: Space, sla: float) -> NDArray[np.float64]:
    """Refusals an hour beyond the share allowed, by state: its mean must be at most 0."""
    return space.refused - sla * space.asked


def by_program(space: Space, sla: float) -> tuple[float, NDArray[np.float64]]:
    """Solve the linear program; return its value in cores, and probabilities of acceptance.

    Variables are the probability x of each state, and y[s, k] = x[s] times the probability that kind k is accepted;
    balance of flow holds in every state.
    """
    import highspy
    from scipy.sparse import coo_matrix, csc_matrix, hstack, identity, vstack

    from theory.exact.programs import SilentHighs

    # rows: balance of flow in each state; sum x = 1; surplus . x <= 0; y[s, k] - x[s] <= 0
    n = len(space.states)
    refuse_all = generator(space, np.zeros(space.entered.shape))
    at, kind = np.nonzero(space.entered >= 0)
    rate = space.cluster.arrival_rate * space.dynamics.probability[kind]
    to = space.entered[at, kind]
    m = len(at)
    column = np.arange(m)
    enter = coo_matrix(
        (np.concatenate([-rate, rate]), (np.concatenate([at, to]), np.concatenate([column, column]))), (n, m)
    )
    balance = hstack([refuse_all.T.tocsr(), enter.tocsr()])
    chosen = coo_matrix((np.ones(m), (column, at)), (m, n))
    below = hstack([-chosen.tocsr(), identity(m, format="csr")])  # y[s, k] <= x[s]
    total = csc_matrix(np.concatenate([np.ones(n), np.zeros(m)])[None, :])
    limit = csc_matrix(np.concatenate([_surplus(space, sla), np.zeros(m)])[None, :])
    matrix = vstack([balance, total, limit, below]).tocsc()
    low = np.concatenate([np.zeros(n), [1.0, -np.inf], np.full(m, -np.inf)])
    high = np.concatenate([np.zeros(n), [1.0, 0.0], np.zeros(m)])
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = n + m, len(low)
    model.col_cost_ = -np.concatenate([space.cores.astype(float), np.zeros(m)])
    model.col_lower_, model.col_upper_ = np.zeros(n + m), np.full(n + m, 1.0)
    model.row_lower_, model.row_upper_ = low, high
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_, model.a_matrix_.index_ = matrix.indptr, matrix.indices
    model.a_matrix_.value_ = matrix.data
    solver = SilentHighs()
    solver.setOptionValue("primal_feasibility_tolerance", 1e-9)
    solver.setOptionValue("dual_feasibility_tolerance", 1e-9)
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        rates = np.abs(np.concatenate([rate, space.moves[2]]))
        rates = rates[rates > 0]
        if rates.max() < 1e8 * rates.min():  # well within what floats and the tolerances above tell apart
            raise ArithmeticError(f"the linear program of the best policy was not solved: {solver.getModelStatus()}")
        raise InputError(
            space.cluster.source,
            "kind",
            f"rates of {rates.min():g} to {rates.max():g} an hour in one chain, "
            "expected them closer together: a linear program in floats was not solved",
        )
    values = np.array(solver.getSolution().col_value)
    x, y = values[:n], values[n:]
    accept = np.zeros(space.entered.shape)
    accept[at, kind] = np.where(x[at] > 1e-12, np.clip(y / np.maximum(x[at], 1e-300), 0.0, 1.0), 0.0)
    return float(x @ space.cores), accept


@dataclass(frozen=True)
class Dual:
    """The Lagrangian at the best price found."""

    value: float  # in cores, of the best response
    bound: float  # a rigorous upper bound of it
    price: float
    # best responses at prices just above and just below, [n, K]: the first meets the SLA
    meets: NDArray[np.float64]
    misses: NDArray[np.float64]


def by_lagrangian(space: Space, sla: float) -> Dual:
    """Return the least value over prices of the best response to them, by bisection on the price."""
    surplus = _surplus(space, sla)
    low, high = 0.0, 1.0
    accept = np.zeros(space.entered.shape)
    while True:  # a price at which the best policy meets the SLA
        _, accept, _ = _best_response(space, high, surplus, accept)
        if solved(space, accept).law @ surplus <= 0 or high > 1e12:
            break
        low, high = high, 4 * high
    best = (np.inf, np.inf, high)
    meets, misses = accept, accept
    for _ in range(70):
        middle = (low + high) / 2
        value, accept, bound = _best_response(space, middle, surplus, accept)
        if bound < best[1]:
            best = (value, bound, middle)
        if solved(space, accept).law @ surplus <= 0:
            high, meets = middle, accept
        else:
            low, misses = middle, accept
        if high - low < 1e-11 * high:
            break
    return Dual(*best, meets, misses)


def _best_response(
    space: Space, price: float, surplus: NDArray[np.float64], accept: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64], float]:
    """Policy iteration for the mean of cores less the price of refusals beyond the share.

    Returns the mean of the last policy, the policy, and the largest Bellman residual: for the potentials h at hand, no
    policy earns more than max over states of reward + max over actions of the drift of h.
    """
    from scipy.sparse import bmat, csr_matrix
    from scipy.sparse.linalg import splu

    n = len(space.states)
    reward = space.cores - price * surplus
    probability = space.dynamics.probability
    fits = space.entered >= 0
    entered = np.where(fits, space.entered, 0)
    quiet = generator(space, np.zeros(space.entered.shape))
    for _ in range(200):
        matrix = generator(space, accept)
        # gain g and potentials h with reward - g + Q h = 0 and h of the empty state 0
        pin = csr_matrix(np.eye(1, n))
        system = bmat([[matrix, csr_matrix(-np.ones((n, 1)))], [pin, None]]).tocsc()
        solution = splu(system).solve(np.concatenate([-reward, [0.0]]))
        h, gain = solution[:n], float(solution[n])
        # to admit is better where it raises the potential; weak duality: gain <= max of reward + drift of h
        rise = np.where(fits, h[entered] - h[:, None], 0.0)
        better = fits & (rise > 1e-12 * (1 + np.abs(h).max()))
        drift = reward + quiet @ h + space.cluster.arrival_rate * np.maximum(rise, 0.0) @ probability
        bound = float(drift.max())
        if np.array_equal(better, accept > 0.5):
            break
        accept = better.astype(float)
    return gain, accept, bound
