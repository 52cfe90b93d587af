"""Which servers a log needs, beside trying every mix: bounds of the cost, and the cheapest mix found."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from fluid.planning import Market, PlannedLog, Target, Trials, make_cheapest_plan, mean_jobs, with_mix
from fluid.planning.plan import Effort
from fluid.simulation.arrivals import JobList
from fluid.simulation.policy_names import policy
from theory.errors import InputError
from theory.greedy import Offer, least_servers
from theory.instance import Instance, pooled

EFFORT = Effort(1000, 1, 10)
KINDS = pooled([(1, [4, 8]), (1, [10, 9])], [[1, 1], [2, 3], [3, 2]])


def log_of(seed: int, instance: Instance, absent: int | None = None) -> PlannedLog:
    """Return a log of 80 random jobs; `absent` is a type that never comes."""
    rng = np.random.default_rng(seed)
    times = np.rint(np.sort(rng.uniform(0, 100, 80)) * 1000).astype(np.int64)
    types = rng.choice([j for j in range(len(instance.types)) if j != absent], size=80).astype(np.int32)
    stays = np.rint(rng.exponential(6, 80) * 1000).astype(np.int64)
    return PlannedLog(instance, JobList(times, types, stays), int(times[-1]) + 1, None, ())


def market_of(*offers: Offer, spare: int = 0) -> Market:
    return Market(offers, spare)


@pytest.mark.parametrize("seed", range(5))
def test_no_mix_that_meets_the_target_and_holds_the_peak_costs_less(seed: int) -> None:
    log = log_of(seed, KINDS)
    market = market_of(Offer(Fraction(4)), Offer(Fraction(17, 2), have=1), spare=seed % 2)
    trials = Trials(Target(accept=1.0))
    rule = policy("first-fit")
    found = make_cheapest_plan(log, market, [rule], trials, EFFORT)
    assert found.best is not None
    assert found.best.mix is not None
    assert found.peak is not None
    # every mix of a few servers: all jobs are accepted, so that each instant was held
    met = [
        (cost, mix)
        for mix in product(range(9), range(7))
        if any(mix) and (cost := market.cost(mix)) is not None and cost <= (found.best.cost or 0)
        if trials.attained([(rule, PlannedLog(with_mix(log.instance, mix), *_rest(log)), sum(mix))]) == [1]
    ]
    assert (found.best.cost, found.best.mix) in met
    assert found.mean.lower <= found.peak.lower <= min(met)[0]
    # what the search found is the best of all, or close to it
    assert found.best.cost <= min(met)[0] * Fraction(5, 4)
    # one server less, or one exchanged for a cheaper one, misses the target
    (a, b), cost = found.best.mix, found.best.cost
    beside = {(a - 1, b), (a, b - 1), (a - 1, b + 1), (a + 1, b - 1)}
    assert not [mix for less, mix in met if mix in beside and less < (cost or 0)]
    # the plan speaks of that mix
    assert found.plan.best is not None
    assert found.plan.best.servers == sum(found.best.mix)


def _rest(log: PlannedLog) -> tuple[JobList, float, None, tuple[str, ...]]:
    return log.jobs, log.until, None, ()


def test_a_mix_for_the_most_of_each_type_holds_every_instant() -> None:
    log = log_of(5, KINDS)
    found = make_cheapest_plan(
        log, market_of(Offer(Fraction(4)), Offer(Fraction(9))), [policy("best-fit")], Trials(Target(accept=0.9)), EFFORT
    )
    assert found.always is not None
    assert found.always.servers is not None
    mixed = with_mix(log.instance, found.always.servers)
    _, counts = log.after_arrivals()
    for column in np.unique(counts, axis=1).T:
        assert least_servers(mixed, [Fraction(int(n)) for n in column]).upper <= sum(found.always.servers)
    assert found.mean.lower <= found.always.lower
    assert least_servers(mixed, mean_jobs(log)).upper <= sum(found.always.servers)


def test_too_few_servers_for_the_peak_may_meet_a_target() -> None:
    log = log_of(7, KINDS)
    trials = Trials(Target(accept=0.5))
    few = market_of(Offer(Fraction(4), most=2), Offer(Fraction(9), most=1))
    found = make_cheapest_plan(log, few, [policy("first-fit")], trials, EFFORT)
    assert found.peak is None
    assert found.always is None
    assert found.best is not None
    assert found.best.mix is not None
    assert all(number <= most for number, most in zip(found.best.mix, (2, 1), strict=True))
    none = make_cheapest_plan(log, few, [policy("first-fit")], Trials(Target(accept=1.0)), EFFORT)
    assert none.best is None
    assert none.policies[0].mix is None
    with pytest.raises(InputError, match=r"most: the servers that there may be carry at most"):
        make_cheapest_plan(log, market_of(Offer(Fraction(4), most=1), Offer(Fraction(9), most=0)), [], trials, EFFORT)


def test_types_that_never_come_are_left_out_and_named() -> None:
    log = log_of(3, KINDS, absent=1)
    market = market_of(Offer(Fraction(4)), Offer(Fraction(9)))
    found = make_cheapest_plan(log, market, [policy("first-fit")], Trials(Target(accept=0.9)), EFFORT)
    assert found.instance.names == ("t1", "t3")
    assert "types of which no VM comes are left out: t2" in found.plan.log.notes
    assert found.plan.log.jobs.types.max() == 1
