"""The PS-DSF paper on properties of mechanisms: Theorem 3, Lemma 1, Table I."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

from bounds.claims import Evidence, Outcome, Refutes, Verdict, claim
from bounds.results.instances.drawn import random_cluster
from bounds.results.instances.families import table_1_witnesses
from bounds.results.ps_dsf.examples import row_text
from bounds.results.reproduction import reproduction
from bounds.views.panels import Cells, Panel
from theory.errors import expect_number
from theory.numbers import text
from theory.sharing.maxmin import c_drfh, tsf
from theory.sharing.model import Cluster, User, cluster
from theory.sharing.per_server import ps_dsf, ps_dsf_tdm
from theory.sharing.properties import PROPERTIES, bottleneck_resource, decide
from theory.sharing.strategy import Mechanism, misreports, search_lies, utility_under

MECHANISMS = {"c-drfh": c_drfh, "tsf": tsf, "ps-dsf": ps_dsf, "ps-dsf-tdm": ps_dsf_tdm}
STRATEGY = "strategy_proofness"
Decided = dict[str, int]


def _some_cluster(generator: random.Random) -> Cluster:
    return random_cluster(generator, generator.randint(2, 5), generator.randint(1, 4), generator.randint(1, 3))


def _failures(
    mechanisms: Sequence[Mechanism], instance: Cluster, asked: Callable[[str, str], bool], into: Decided
) -> int:
    """Decide the properties asked of each mechanism, count failures by both; return the number of decisions."""
    decided = 0
    for mechanism in mechanisms:
        allocation = mechanism(instance)
        for name, verdict in decide(allocation).items():
            if asked(allocation.mechanism, name):
                decided += 1
                if not verdict.holds:
                    key = f"{allocation.mechanism} {name}"
                    into[key] = into.get(key, 0) + 1
    return decided


def _listed(failed: Decided) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(failed.items())) or "none"


@claim(
    "theorem-3",
    "PS-DSF has its fairness properties on random clusters",
    "PS-DSF has single resource fairness, bottleneck fairness, envy freeness and sharing incentive under both "
    "divisions, Pareto optimality under time division: decided exactly on random clusters, some of one resource and "
    "some with a bottleneck resource.",
    source="Theorem 3",
    printed="single resource, bottleneck fairness, envy freeness, sharing incentive; Pareto under TDM",
    evidence=Evidence.certified,
    tiny={"count": 12},
    full={"count": 1000},
    controls={
        "TSF stands for PS-DSF": {"mechanisms": (tsf,)},
        "Pareto optimality is asked under resource division": {"pareto_everywhere": True},
    },
)
def theorem_3(
    count: int = 60,
    seed: int = 2,
    *,
    mechanisms: tuple[Mechanism, ...] = (ps_dsf, ps_dsf_tdm),
    pareto_everywhere: bool = False,
) -> Outcome:
    expect_number(count, "count", 1)
    generator = random.Random(seed)
    failed: Decided = {}
    decided = single = bottleneck = 0
    for _ in range(count):
        instance = _some_cluster(generator)
        single += len(instance.resources) == 1
        bottleneck += bottleneck_resource(instance) is not None
        decided += _failures(
            mechanisms,
            instance,
            lambda mechanism, name: pareto_everywhere or (mechanism, name) != ("ps-dsf", "pareto_optimality"),
            failed,
        )
    computed = (
        f"{decided} decisions on {count} clusters, {single} of one resource, {bottleneck} with a bottleneck; failures: "
        f"{_listed(failed)}"
    )
    return Outcome(computed, not failed)


PAYING = ([[4, 3, 2], [2, 2, 2]], [[2, 4, 1], [4, 2, 4]])
"""Capacities and demands with which a lie pays under resource division."""


@claim(
    "theorem-3-strategy",
    "No tried lie pays under time division",
    "No lie about demands or servers pays under time division: none of those that were tried on random clusters, and "
    "on one where a lie pays under resource division. A search, which proves nothing beyond them.",
    source="Theorem 3",
    printed="strategy proofness in case of TDM",
    evidence=Evidence.numeric,
    tiny={"count": 1, "rounds": 2},
    full={"count": 100},
    controls={"resource division": {"mechanism": ps_dsf}},
)
def theorem_3_strategy(count: int = 5, rounds: int = 4, *, mechanism: Mechanism = ps_dsf_tdm) -> Outcome:
    expect_number(count, "count", 0)
    expect_number(rounds, "rounds", 0)
    generator = random.Random(3)
    instances = [cluster(*PAYING)]
    for _ in range(count):
        users, servers, resources = (generator.randint(low, 3) for low in (2, 1, 1))
        instances.append(random_cluster(generator, users, servers, resources))
    searches = [search_lies(mechanism, instance, rounds=rounds) for instance in instances]
    paying = sum(lie is not None for lie, _ in searches)
    tried = sum(lies for _, lies in searches)
    return Outcome(f"{tried} lies on {len(searches)} clusters, one pays on {paying}", paying == 0)


@claim(
    "lemma-1",
    "A false server claim can lower others' tasks",
    "Lemma 1: where all demand everything, under resource division no user lowers another's tasks by a lie about "
    "demands or eligible servers without lowering its own. Fails for a user that claims a server it cannot use.",
    source="Lemma 1",
    printed="no lie about demands or eligible servers decreases others without decreasing one's own",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.statement,
    controls={"only lies about demands, and lies that leave out servers": {"claims_a_server": False}},
)
def lemma_1(*, claims_a_server: bool = True) -> Outcome:
    if not claims_a_server:
        return _lies_that_claim_no_server(6)
    instance = cluster([[2, 1], [2, 2]], [[1, 3], [1, 4]], eligible=[[True, False], [False, True]])
    told = instance.with_user(0, cluster([[2, 1], [2, 2]], [[1, 3]]).users[0])
    honest, lying = ps_dsf(instance), ps_dsf(told)
    own = utility_under(instance, 0, told.users[0], lying)  # tasks of true demands that the lie brings
    holds = not (own >= honest.totals[0] and lying.totals[1] < honest.totals[1])
    shown = (
        f"by claiming the second server user 1 keeps {text(own)} (honest {text(honest.totals[0])}), "
        f"user 2 falls from {text(honest.totals[1])} to {text(lying.totals[1])}"
    )
    return Outcome(shown, holds)


def _lies_that_claim_no_server(count: int) -> Outcome:
    """Look for a lie of another kind that harms another user for nothing, on random clusters."""
    generator = random.Random(4)
    tried = harmed = 0
    for _ in range(count):
        instance = random_cluster(generator, 3, 2, 2, zeros=0, weights=1)
        before = ps_dsf(instance)
        eligible = {s.name for s, gamma in zip(instance.servers, instance.monopoly[0], strict=True) if gamma}
        for report in misreports(instance, 0, 4, generator):
            if not set(report.servers or [s.name for s in instance.servers]) <= eligible:
                continue
            told = instance.with_user(0, report)
            after = ps_dsf(told)
            tried += 1  # a lie about demands, or one that leaves out servers
            kept = utility_under(instance, 0, report, after) >= before.totals[0]
            harmed += kept and any(a < b for a, b in zip(after.totals[1:], before.totals[1:], strict=True))
    return Outcome(f"{harmed} of {tried} such lies harm for nothing", harmed == 0)


@cache
def _witness_fails(name: str, mechanism: Mechanism) -> bool:
    """Decide that a mechanism fails on a witness of Table I; cached, as it is asked with each control."""
    _, instance, property_name = table_1_witnesses()[name]
    if property_name == STRATEGY:
        return search_lies(mechanism, instance)[0] is not None
    return decide(mechanism(instance))[property_name].holds is False


@cache
def _on_random_clusters(count: int) -> tuple[list[tuple[str, str, bool]], list[tuple[bool, int]]]:
    """Decide all properties of the mechanisms of Table I on random clusters, and try lies on some of them.

    Return decisions by mechanism and property, and for each search whether a lie pays, and how many were tried.
    """
    generator = random.Random(2)
    drawn = [_some_cluster(generator) for _ in range(count)]
    decisions = [
        (one, name, bool(verdict.holds))
        for instance in drawn
        for one, mechanism in MECHANISMS.items()
        for name, verdict in decide(mechanism(instance)).items()
    ]
    searches = [search_lies(mechanism, instance, rounds=2) for instance in drawn[::20] for mechanism in (c_drfh, tsf)]
    return decisions, [(lie is not None, lies) for lie, lies in searches]


YES = {
    "c-drfh": {"envy_freeness", "pareto_optimality"},
    "tsf": {"envy_freeness", "pareto_optimality"},
    "ps-dsf": {"sharing_incentive", "envy_freeness", "bottleneck_fairness"},
    "ps-dsf-tdm": {"sharing_incentive", "envy_freeness", "bottleneck_fairness", "pareto_optimality"},
}
"""The marks "yes" of Table I that an allocation decides, from the prose, but for TSF's sharing incentive."""


@claim(
    "table-1",
    "Table I's marks agree with witnesses and samples",
    "Table I, whose marks are lost and taken from the prose. No: C-DRFH lacks sharing incentive and bottleneck "
    "fairness, TSF bottleneck fairness, PS-DSF under resource division strategy proofness and Pareto optimality: a "
    "witness for each. Yes: envy freeness for all, Pareto optimality for C-DRFH, TSF and PS-DSF under time division, "
    "sharing incentive and bottleneck fairness for PS-DSF, decided on random clusters; strategy proofness of C-DRFH "
    "and TSF, where no lie that was tried pays (of PS-DSF: theorem-3-strategy). TSF's sharing incentive: "
    "table-1-tsf-incentive.",
    source="Table I",
    printed="marks lost; * for strategy proofness and Pareto optimality of PS-DSF",
    evidence=Evidence.certified,
    tiny={"count": 11},
    full={"count": 600},
    controls={
        "PS-DSF under time division is claimed to fail on the same witnesses": {"blamed": ps_dsf_tdm},
        "sharing incentive is a yes for C-DRFH": {"more": ("c-drfh", "sharing_incentive")},
        "Pareto optimality is a yes for PS-DSF under RDM": {"more": ("ps-dsf", "pareto_optimality")},
    },
)
def table_1(count: int = 40, *, blamed: Mechanism | None = None, more: tuple[str, str] | None = None) -> Outcome:
    expect_number(count, "count", 1)
    refuted = [_witness_fails(name, blamed or mechanism) for name, (mechanism, *_) in table_1_witnesses().items()]
    marks = {mechanism: set(names) for mechanism, names in YES.items()}
    if more is not None:
        marks[more[0]].add(more[1])
    decisions, searches = _on_random_clusters(count)
    asked = [(mechanism, name, holds) for mechanism, name, holds in decisions if name in marks[mechanism]]
    failed = Counter(f"{mechanism} {name}" for mechanism, name, holds in asked if not holds)
    paying = sum(pays for pays, _ in searches)
    computed = (
        f"no: {sum(refuted)} of {len(refuted)} witnesses; yes: {len(asked)} decisions, failures: {_listed(failed)}; "
        f"{sum(lies for _, lies in searches)} lies to C-DRFH and TSF, {paying} times one pays"
    )
    return Outcome(computed, all(refuted) and not failed and not paying)


@claim(
    "table-1-tsf-incentive",
    "TSF lacks sharing incentive on two servers",
    "Table I and Section II: TSF provides sharing incentive. Fails by the paper's own definition (a uniform part of "
    "every server): two servers, two users, one with a placement constraint. The source of TSF may mean another part.",
    source="Table I",
    printed="TSF is shown to satisfy ... sharing incentive",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.statement,
    controls={"the placement constraint is dropped": {"constrained": False}},
)
def table_1_tsf_incentive(*, constrained: bool = True) -> Outcome:
    eligible = [[False, True], [True, True]] if constrained else None
    instance = cluster([[1, 2], [2, 1]], [[0, 1], [3, 2]], eligible=eligible)
    verdict = decide(tsf(instance))["sharing_incentive"]
    shown = "holds" if verdict.holds else f"{verdict.witness}"
    return Outcome(shown, bool(verdict.holds))


@reproduction(
    "table-1",
    "properties of the mechanisms, each no with a witness",
    printed="the table; stars for strategy proofness and Pareto optimality of PS-DSF",
    lost="the marks, which are taken from the prose",
    chosen="the random clusters on which a yes is decided, and on which lies are tried",
    seed=2,
    claims=("table-1", "table-1-tsf-incentive", "theorem-3", "theorem-3-strategy"),
    tiny={"clusters": 2, "lied": 1},
    quick={"clusters": 16, "lied": 1},
    full={"clusters": 100, "lied": 6},
    columns=1,
    height=2.1,
)
def table_1_panels(clusters: int, lied: int) -> Sequence[Panel]:
    """Decide every property of every mechanism on random clusters and on the witnesses."""
    generator = random.Random(2)
    drawn = [_some_cluster(generator) for _ in range(clusters)]
    witnesses = [instance for _, instance, _ in table_1_witnesses().values()]
    names = [*PROPERTIES, STRATEGY]
    failed = {(name, one): 0 for name in names for one in MECHANISMS}
    tried = dict.fromkeys(failed, 0)
    for one, mechanism in MECHANISMS.items():
        for instance in [*drawn, *witnesses]:
            for name, verdict in decide(mechanism(instance)).items():
                tried[name, one] += 1
                failed[name, one] += verdict.holds is False
        for instance in [*drawn[:lied], *witnesses]:
            lie, _ = search_lies(mechanism, instance, rounds=2)
            tried[STRATEGY, one] += 1
            failed[STRATEGY, one] += lie is not None
    texts, tones = [], []
    for name in names:
        texts.append([_mark(failed[name, one], tried[name, one], name, one) for one in MECHANISMS])
        tones.append(["bad" if failed[name, one] else "good" for one in MECHANISMS])
    marks = Cells([one.upper() for one in MECHANISMS], [name.replace("_", " ") for name in names], texts, tones)
    rows = [
        [", ".join(f"({row_text(row)})" for row in cluster.capacity), ", ".join(map(_user, cluster.users))]
        for _, cluster, _ in table_1_witnesses().values()
    ]
    return marks, Cells(["servers: capacities", "users: demands"], list(table_1_witnesses()), rows, (), "witnesses")


def _user(user: User) -> str:
    """Write a user's demands, its weight unless that is 1, and its servers unless those are all."""
    weight = "" if user.weight == 1 else f" weight {text(user.weight)}"
    return f"({row_text(user.demand)}){weight}{' on ' + ', '.join(user.servers) if user.servers else ''}"


SAID = {**YES, "tsf": YES["tsf"] | {"sharing_incentive"}}  # what the prose says of the five properties but one


def _mark(failures: int, tried: int, name: str, mechanism: str) -> str:
    said = "" if name not in SAID["ps-dsf-tdm"] else f"\n(prose: {'yes' if name in SAID[mechanism] else 'no'})"
    return f"no: fails on {failures} of {tried}{said}" if failures else f"held on {tried} tried{said}"
