"""Policies are attacked: traps are those of the theory, simulations confirm them, and policies that survive do so."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bounds.adversary.growth import Growth, Simulated, growth_of, lost_share
from bounds.adversary.online import Offer, OfferSpace, break_policy, document_of
from bounds.adversary.traps import least_trap, overload, queues, work_of
from bounds.cli import run
from bounds.views.attack import AttackedPolicy, online_answer, sentence, tables
from fluid.chains.saturated import Saturated, closed_sets
from fluid.simulation.policy_interface import Policy
from fluid.simulation.policy_names import policy
from fluid.simulation.slotted.state import FIRST
from fluid.simulation.state import QueueCommon, queue_fields, start
from fluid.statistics import Interval
from tests.bounds.validated import expect_valid
from theory.compiled import step
from theory.errors import InputError
from theory.instance import additive
from theory.region.membership import CapacityProgram, traffic_intensity

OWN = Path(__file__).parents[2] / "examples" / "own_policies.py"


@pytest.mark.parametrize(("capacity", "small"), [(12, 1), (20, 1), (30, 2), (41, 3)])
def test_local_max_weight_keeps_two_small_jobs(capacity: int, small: int) -> None:
    """Beside one large job there is room for two small ones; floor(capacity / small) of them fit a server."""
    instance = additive([capacity], [[small], [capacity - 2 * small]])
    trap = least_trap(policy("max-weight-local"), instance)
    assert trap is not None
    assert trap.intensity == Fraction(2, capacity // small)
    assert (trap.growing, trap.service, trap.contents) == ((0,), (2, 0), ((2, 0),))


@pytest.mark.parametrize("servers", [1, 2])
def test_local_max_weight_is_trapped_on_several_servers(servers: int) -> None:
    trap = least_trap(policy("max-weight-local"), additive([9], [[1], [7]]), servers)
    assert trap is not None
    assert (trap.intensity, trap.service) == (Fraction(2, 9), (2 * servers, 0))


def test_one_small_job_beside_a_large_one_is_no_trap() -> None:
    """Whenever the small job ends the server is empty, which is a refresh time."""
    trap = least_trap(policy("max-weight-local"), additive([9], [[1], [8]]))
    assert trap is not None
    assert trap.intensity == 1


@pytest.mark.parametrize(
    ("name", "capacity", "sizes", "intensity"),
    [
        ("bf-js", 10, (2, 5), Fraction(9, 10)),
        ("bf-s", 10, (2, 5), Fraction(9, 10)),
        ("vqs-bf", 10, (2, 5), Fraction(9, 10)),
        ("vqs-bf", 6, (2, 3, 4), Fraction(5, 6)),
        ("vqs", 8, (1, 5), Fraction(1, 4)),
        ("vqs", 10, (4, 6), Fraction(1, 1)),
        ("nonpreemptive", 20, (1, 18), Fraction(1, 1)),
        ("nonpreemptive", 10, (2, 5), Fraction(1, 1)),
        ("nonpreemptive", 2, (1, 2), Fraction(1, 1)),
    ],
)
def test_traps_that_theory_knows(name: str, capacity: int, sizes: tuple[int, ...], intensity: Fraction) -> None:
    trap = least_trap(policy(name), additive([capacity], [[s] for s in sizes]))
    assert trap is not None
    assert trap.intensity == intensity


def absorbing(capacity: int, sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return what a server holds for ever under Best-Fit when all types wait and jobs end one at a time.

    Nothing more fits, and in the place of no job does a larger one fit.
    """
    found = []
    for k in product(*(range(capacity // s + 1) for s in sizes)):
        left = capacity - sum(n * s for n, s in zip(k, sizes, strict=True))
        if 0 <= left < min(sizes) and not any(
            n and any(s < other <= left + s for other in sizes) for n, s in zip(k, sizes, strict=True)
        ):
            found.append(k)
    return found


@pytest.mark.slow
def test_traps_of_best_fit_are_all_absorbing_contents() -> None:
    """The least intensity over contents by the definition of Best-Fit, and over single types, which give 1."""
    rng, seen = np.random.default_rng(3), 0
    for _ in range(25):
        capacity = int(rng.integers(8, 31))
        small, large = sorted(int(s) for s in rng.choice(np.arange(2, capacity // 2 + 1), 2, replace=False))
        instance = additive([capacity], [[small], [large]])
        program = CapacityProgram(instance)
        least = min([Fraction(1), *(program.intensity(k).value for k in absorbing(capacity, (small, large)) if all(k))])
        trap = least_trap(policy("bf-s"), instance)
        assert trap is not None
        assert trap.intensity == least
        seen += least < 1
    assert seen >= 3


def test_the_order_of_types_is_of_no_account() -> None:
    for name in ("bf-js", "vqs", "max-weight-local"):
        one = least_trap(policy(name), additive([10], [[2], [5]]))
        other = least_trap(policy(name), additive([10], [[5], [2]]))
        assert one is not None
        assert other is not None
        assert one.intensity == other.intensity


def test_a_workload_beyond_a_trap_lies_in_the_region() -> None:
    for name, demands in (("max-weight-local", [[1], [18]]), ("bf-js", [[4], [10]])):
        instance = additive([20], demands)
        trap = least_trap(policy(name), instance)
        assert trap is not None
        rho = overload(trap, instance, 1, Fraction(1, 10))
        assert rho is not None
        assert all(rho[j] > trap.service[j] for j in trap.growing)
        assert trap.intensity < traffic_intensity(instance.with_workload(rho)) < 1
    whole = least_trap(policy("nonpreemptive"), instance)
    assert whole is not None
    assert overload(whole, instance, 1, Fraction(1, 10)) is None


def test_regimes() -> None:
    """Of a server with two places, both kept full by waiting jobs: one regime, with two jobs in service."""
    cluster = Saturated(policy("nonpreemptive"), additive([2], [[1]]), 1)
    begun = cluster.filled(cluster.begun(), [50])
    assert [regime.service for regime in cluster.regimes([begun], [50])] == [(2,)]
    with pytest.raises(InputError, match="loss systems"):
        Saturated(policy("first-fit"), additive([2], [[1]]), 1)
    assert closed_sets([[1], [2], [1, 0]]) == [[0, 1, 2]]
    assert closed_sets([[]]) == closed_sets([[0, 0]]) == [[0]]
    assert closed_sets([[1, 1], []]) == [[1]]
    assert sorted(map(sorted, closed_sets([[1], [0], [0, 3], [3]]))) == [[0, 1], [3]]
    assert len(set(queues(3, 2))) == 3 + 3 * 3 + 4


@pytest.mark.parametrize("name", ["bf-js", "vqs", "vqs-bf"])
def test_no_job_is_lost_however_many_wait(name: str) -> None:
    """Slot after slot more jobs come than fit, and none ends: small ones that wait fill the server."""
    cluster = Saturated(policy(name), additive([10], [[1], [4]]), 1)
    node = cluster.begun()
    for slot in range(1, 40):
        node = cluster.offered(node, [2, 3])
        rows, lines = cluster.contents(node)[0], cluster.waiting(node)
        assert [n + w for n, w in zip(rows, lines, strict=True)] == [2 * slot, 3 * slot]
    assert name == "vqs" or rows[0] + 4 * rows[1] == 10
    state = node[0]
    places = []
    for line in state.lines:
        at = line[FIRST]
        while at >= 0:
            places.append(int(at))
            at = state.after[at]
    assert len(set(places)) == len(places) == sum(lines), "each waiting job has a place of its own"


def test_states_are_not_changed_by_what_follows() -> None:
    """A slotted state whose queues are long enough is shared, so nothing that starts from it may write into it."""
    cluster = Saturated(policy("bf-js"), additive([10], [[2], [5]]), 1)
    node = cluster.filled(cluster.begun(), [10, 10])
    assert cluster.held(node, [10, 10]) is node
    assert cluster.waiting(cluster.held(node, [11, 10])) == [11, 10]
    before = cluster.name(node), cluster.waiting(node), cluster.contents(node), [array.tobytes() for array in node[0]]
    cluster.filled(node, [10, 0])
    cluster.joined(node, 0)
    cluster.regimes([node], [10, 10])
    after = cluster.name(node), cluster.waiting(node), cluster.contents(node), [array.tobytes() for array in node[0]]
    assert before == after


@step
def first_place(state: Any, job_type: int, draws: Any) -> int:  # noqa: ARG001
    """Return the server if it is empty."""
    return 0 if state.counts[0, 0] + state.counts[0, 1] == 0 else -1


@step
def other_type(state: Any, server: int, job_type: int, draws: Any) -> None:  # noqa: ARG001
    """Start a job of the other type."""
    if state.waiting[1 - job_type] > 0:
        state.waiting[1 - job_type] -= 1
        start(state, 1 - job_type, server)


@step
def nothing_to_refresh(state: Any, draws: Any) -> bool:  # noqa: ARG001
    """Do nothing."""
    return False


def in_turn(setting: Any) -> Any:
    """Make the state of a policy that serves two types in turn, one job at a time."""
    return QueueCommon(**queue_fields(setting))


def test_a_regime_of_several_contents_is_served_as_long_as_service_takes() -> None:
    """In turn a job of mean service 1 and one of mean service 1/2: two thirds and one third of the time."""
    made = additive([1], [[1], [1]])
    instance = replace(made, types=(made.types[0], replace(made.types[1], service_rate=Fraction(2))))
    rule = Policy("in-turn", "queue", in_turn, first_place, other_type, nothing_to_refresh)
    cluster = Saturated(rule, instance, 1)
    (regime,) = cluster.regimes([cluster.filled(cluster.begun(), [9, 9])], [9, 9])
    assert (regime.service, regime.fixed) == ((Fraction(2, 3), Fraction(1, 3)), False)


def test_a_type_that_comes_rarely_may_free_the_servers() -> None:
    """An empty server with places for small jobs alone lets large ones wait until a small one has come and left."""
    trap = least_trap(policy("nonpreemptive"), additive([20], [[1], [18]]), 1, {"start": "at-once"})
    assert trap is not None
    assert trap.intensity == 1


LEVEL = Interval(1.0, 0.9, 1.1, 0.9999995, 20)


@pytest.mark.parametrize(
    ("second", "confirmed"),
    [((1.0, 0.9), True), ((0.7, 0.6), True), ((0.5, 0.4), False), ((0.0, -0.1), False), (None, False)],
)
def test_growth_that_fades_is_not_confirmed(second: tuple[float, float] | None, confirmed: bool) -> None:
    later = None if second is None else replace(LEVEL, mean=second[0], low=second[1])
    assert Growth(LEVEL, later, 20, 20, Simulated(1.0, 20, 0)).confirmed is confirmed
    assert not Growth(replace(LEVEL, low=-0.1), LEVEL, 20, 20, Simulated(1.0, 20, 0)).confirmed


def test_growth_is_seen_only_where_there_is_growth() -> None:
    """One server with one place: the work grows by rho - 1 a unit of time where rho > 1, and not where rho < 1."""
    for rho, expected in ((Fraction(6, 5), 0.2), (Fraction(4, 5), 0.0)):
        instance = additive([1], [[1]], workload=[rho])
        grown = growth_of(policy("max-weight-local"), document_of(instance, {}), work_of(instance), 1, 4000.0, seed=5)
        assert grown.confirmed is (expected > 0)
        assert grown.first is not None
        assert grown.second is not None
        assert grown.first.holds(expected)
        assert grown.second.holds(expected)
    lost = lost_share(policy("max-weight-local"), document_of(instance.with_workload([2]), {}), [Fraction(1)], 1, 4000)
    assert abs(lost - 1 / 2) < 0.05


def test_replications_that_are_not_caught_do_not_count() -> None:
    instance = additive([1], [[1]], workload=[Fraction(4, 5)])
    grown = growth_of(policy("max-weight-local"), document_of(instance, {}), work_of(instance), 1, 4000.0, expected=1.0)
    assert (grown.first, grown.caught, grown.confirmed) == (None, 0, False)


def answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_max_weight_falls_below_a_tenth_and_the_file_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "worst.toml"
    common = ["attack", "max-weight-local", "--kind", "online", "--target", "1/15", "--evaluations", "40"]
    made = answer([*common, "--out", str(out)], capsys)
    expect_valid(made, "attack_online")
    assert made["confirmed"]
    assert Fraction(made["trap"]["intensity"]) <= Fraction(1, 15)
    assert made["ratio_float"] < 0.1
    assert traffic_intensity(instance_of(made)) == Fraction(made["ratio"])
    again = made["reproduce"].split()[1:]
    shown = answer([*again[:1], str(out), *again[2:]], capsys)
    low, _ = shown["queue"]["growth"]["ci95"]
    assert low > 0
    assert answer(common, capsys)["instance"] == made["instance"]


def instance_of(made: Any) -> Any:
    from theory.files.instances import parse_instance

    return parse_instance({name: made["instance"][name] for name in ("server", "type")})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "grid", "intensity", "tables"),
    [
        ("vqs", 8, Fraction(1, 4), {"service", "initial"}),  # one type must wait before the other grows
        # near an intensity of 1 work grows slowly, which takes five times as many slots to be told
        pytest.param("bf-js", 10, Fraction(9, 10), {"service"}, marks=pytest.mark.soak),
    ],
)
def test_slotted_policies_are_caught_under_fixed_service(
    name: str, grid: int, intensity: Fraction, tables: set[str]
) -> None:
    space = OfferSpace(2, grid=grid)
    broken = break_policy(policy(name), service="deterministic", target=Fraction(9, 10), evaluations=60, space=space)
    assert broken.trap is not None
    assert broken.trap.intensity == intensity
    assert broken.confirmed
    assert intensity < broken.ratio < 1
    simulation = broken.document()["simulation"]
    assert (simulation["service"], simulation.keys()) == ("deterministic", tables)


@pytest.mark.soak
def test_fifo_piles_work_up_and_vqs_survives() -> None:
    """Small jobs wait behind one that fills the server; VQS supports 2/3 of the region under geometric service."""
    low = break_policy(policy("fifo-ff"), servers=1, evaluations=1)
    assert low.confirmed
    assert low.ratio < Fraction(1, 2)
    kept = break_policy(policy("vqs"), servers=1, evaluations=6)
    assert kept.ratio > Fraction(2, 3)


@pytest.mark.slow
def test_algorithm_1_survives() -> None:
    broken = break_policy(policy("nonpreemptive"), evaluations=25)
    assert broken.ratio == 1
    assert not broken.confirmed


@pytest.mark.slow
def test_loss_systems() -> None:
    broken = break_policy(policy("first-fit"), evaluations=30, seed=1)
    assert broken.share is not None
    assert broken.share.high < 0.9
    assert broken.share.low > 0
    assert broken.confirmed
    assert broken.document()["simulation"] == {}
    made = online_answer(AttackedPolicy("first-fit", "loss", broken, 1.0, "w.toml"))
    assert f"earns {100 * broken.share.mean:.4g} %" in sentence(made)
    text = " ".join(" ".join([*table.head, *map(" ".join, table.rows)]) for table in tables(made))
    assert not re.search(r"[a-z]_[a-z]", text)


@pytest.mark.slow
def test_a_policy_of_an_author(capsys: pytest.CaptureFixture[str]) -> None:
    made = answer(["attack", f"{OWN}:WORST_FIT", "--kind", "online", "--evaluations", "3"], capsys)
    assert 0 < made["ratio_float"] <= 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such", "--kind", "online"], "--policy: expected one of"),
        (["bf-js", "--kind", "online", "--resources", "2"], "--resources: expected 1, since bf-js is a slotted policy"),
        (["bf-js", "--kind", "online", "--target", "x"], "--target: expected a number"),
    ],
)
def test_bad_input(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["attack", *arguments]) == 2
    captured = capsys.readouterr().err
    assert said in captured
    assert captured.count("\n") == 1


def test_help_says_what_has_no_meaning_for_a_policy(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["attack", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "With --kind online there is no --from, --starts, --workers, --engine, --store, --certificate, --rewards"
        in said
    )


def test_offers_stay_within_their_space() -> None:
    rng = np.random.default_rng(2)
    for space in (OfferSpace(2), OfferSpace(3, 2, loss=True), OfferSpace(4, slots=(1, 10))):
        case = space.draw(rng)
        for _ in range(300):
            case = space.move(case, rng)
            assert all(1 <= d <= space.grid for row in case.demands for d in row)
            assert min(case.weights) > 0 < min(case.rewards)
            assert case.slots in space.slots
        for simpler in space.shrinks(case):
            assert isinstance(simpler, Offer)
            assert len(simpler.demands) < len(case.demands) or max(simpler.capacity) < max(case.capacity)
        assert all(len(corner.demands) == space.types for corner in space.corners())
