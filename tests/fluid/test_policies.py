"""The tools of policies: sets, own policies, operations per event, options, statistics, limits of exact chains."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fluid.chains.loss import Branching, stationary_law
from fluid.experiment.run import loss_numbers
from fluid.files.tables import parse_table
from fluid.simulation.arrivals import Law
from fluid.simulation.authors import AuthorError
from fluid.simulation.continuous import ContinuousTable
from fluid.simulation.driver import run_once, simulate
from fluid.simulation.loss.loop import jump_chain
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.loss.policies.dra import drained_server
from fluid.simulation.options import Expression
from fluid.simulation.policy_interface import Policy, nothing_to_depart, nothing_to_refresh
from fluid.simulation.policy_names import HOMES, policy
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.run import _EXPECTED, Runner
from fluid.simulation.state import MOVES, Common, Setting, common, copied, fits, key, one_of, over_servers, put, take
from fluid.simulation.structures.bitset import empty_sets, insert
from fluid.statistics import batch_means, growth, mean_interval, paired, ratio_interval, slope, warm_up
from theory.compiled import plain
from theory.errors import InputError, TooLargeError
from theory.instance import Additive, additive, explicit, pooled

TWO = additive([12], [[5], [7]], [1, 1], [1, 1])
LOSS = [name for name in HOMES if policy(name).model == "loss"]


class Counting(np.ndarray):
    """An array that counts how often it is read or written."""

    accesses = 0

    def __getitem__(self, place: Any) -> Any:
        Counting.accesses += 1
        return np.asarray(self)[place]

    def __setitem__(self, place: Any, value: Any) -> None:
        Counting.accesses += 1
        np.asarray(self)[place] = value


def operations(name: str, servers: int, events: int, options: dict[str, Any]) -> float:
    """Array accesses per event of the policy's own functions, counted in Python after a compiled warm-up.

    The warm-up of reservation with preemption is that without, whose loop takes half a minute less to compile.
    """
    instance = additive([20, 160], [[1, 1], [4, 16], [2, 32], [8, 64]], [9, 48, 48, 128], [4, 1, 2, "1/2"])
    found = policy(name)
    rates = sum(float(t.workload) for t in instance.types)
    warm = LossScenario(instance, servers, 6.0, 1.0, options=options)
    warms = policy(name.removesuffix("-preemption"))
    state = warms.prepare(Setting(instance, servers, options))
    with pytest.MonkeyPatch.context() as patch:  # an author's policy would be checked at each call, and copied for it
        patch.setattr("fluid.simulation.driver.prepared", lambda *_, **__: state)
        run_once(warms, warm, 1)
        if warms is not found:
            state = found.prepare(Setting(instance, servers, options, state.counts.copy()))
        # the state that the compiled loop leaves
        counted = type(state)(*(array.view(Counting) for array in state))
        initial = np.asarray(counted.counts).copy()
        horizon = events / (2 * rates * servers)
        scenario = LossScenario(instance, servers, horizon, 0.0, options=options, initial=initial)
        patch.setattr("fluid.simulation.driver.prepared", lambda *_, **__: counted)
        Counting.accesses = 0
        run = run_once(found, scenario, 2, python=True)
    assert run.events > events / 2
    return Counting.accesses / run.events


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSS)
def test_operations_do_not_grow(name: str) -> None:
    """Accesses per event at 100 times the servers: equal up to the levels of a set (one in 32) and chance."""
    options = {"priority": {"t1": 0, "t2": 0, "t3": 1, "t4": 1}, "reservation": "8"}
    small, large = (operations(name, servers, 3000, options) for servers in (60, 6000))
    assert large < 1.35 * small + 10, (small, large)


def scanning(state: Common, job_type: int, draws: Any) -> int:
    for server in range(len(state.counts)):
        if fits(state, server, job_type):
            return server
    return -1


def not_for_numba(state: Common, job_type: int, draws: Any) -> int:
    able = {f"{server}": server for server in range(len(state.counts)) if fits(state, server, job_type)}
    return min(able.values(), default=-1)


def own_first_fit(place: Any) -> Policy:
    return Policy("own", "loss", lambda s: Common(**common(s)), place, nothing_to_depart, nothing_to_refresh)


@pytest.mark.usefixtures("compiled_at_once")
def test_own_policies(capsys: pytest.CaptureFixture[str]) -> None:
    """First-fit as an author writes it takes the path of the one that is built in."""
    scenario = LossScenario(TWO, 6, 40.0, 5.0, service=Law("deterministic"))
    mine, known = (run_once(one, scenario, 4) for one in (own_first_fit(scanning), policy("first-fit")))
    assert (mine.measures.jobs == known.measures.jobs).all()
    assert "runs as Python" not in capsys.readouterr().err


@pytest.mark.parametrize("place", [scanning, not_for_numba])
def test_own_policies_in_the_exact_chain(place: Any) -> None:
    law, known = (stationary_law(one, TWO, 2) for one in (own_first_fit(place), policy("first-fit")))
    assert law.reward == pytest.approx(known.reward, abs=1e-12)


def test_branching_goes_through_all_outcomes() -> None:
    draws = Branching()
    seen: dict[tuple[int, ...], float] = {}
    for _ in draws.paths():
        first = plain(one_of)(draws, 3)
        outcome = (first, int(draws.random() < 0.25)) if first else (first,)
        seen[outcome] = seen.get(outcome, 0.0) + draws.probability
    assert sorted(seen) == [(0,), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert seen[(1, 1)] == pytest.approx(1 / 12)
    assert sum(seen.values()) == pytest.approx(1)


def test_random_refusals_thin_the_arrivals() -> None:
    """A policy that refuses by the flip of a coin: Erlang's formula at a thinned load, exactly."""

    def place(state: Common, job_type: int, draws: Any) -> int:
        return 0 if draws.random() < 0.75 and fits(state, 0, job_type) else -1

    coin = Policy("coin", "loss", lambda s: Common(**common(s)), place, nothing_to_depart, nothing_to_refresh)
    law = stationary_law(coin, additive([2], [[1]], workload=[2]), 1)
    load = 1.5
    erlang = (load**2 / 2) / (1 + load + load**2 / 2)
    assert law.blocking[0] == pytest.approx(1 - 0.75 * (1 - erlang))
    assert law.totals()[(2,)] == pytest.approx(erlang)


def test_a_chain_too_large_is_refused() -> None:
    with pytest.raises(TooLargeError, match="100"):
        stationary_law(policy("first-fit"), TWO, 8, states=100)


def test_states_copy_and_compare() -> None:
    for name in LOSS:
        options = {"priority": {"t1": 0, "t2": 1}}
        state = policy(name).prepare(Setting(TWO, 4, options))
        other = copied(state)
        assert key(state) == key(other)
        other.counts[0, 0] += 1
        assert key(state) != key(other)
        assert state.counts[0, 0] == 0


def test_explicit_servers_fit_what_is_listed() -> None:
    state = Common(**common(Setting(explicit([[2, 0], [0, 1], [1, 1]]), 1, {}, np.array([[1, 0]], np.int32))))
    assert [bool(fits(state, 0, j)) for j in (0, 1)] == [True, True]
    state = Common(**common(Setting(explicit([[2, 0], [0, 1], [1, 1]]), 1, {}, np.array([[2, 0]], np.int32))))
    assert [bool(fits(state, 0, j)) for j in (0, 1)] == [False, False]


@pytest.mark.parametrize(
    ("text", "servers", "value"),
    [("(log L)^1.5", 100, np.log(100) ** 1.5), ("2*sqrt L", 16, 8.0), ("3", 5, 3.0), ("-L/4+10", 8, 8.0)],
)
def test_expressions(text: str, servers: int, value: float) -> None:
    assert Expression.of(text)(servers) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "M",
        "log",
        "__import__('os')",
        "L.real",
        "L if L else 1",
        "L;L",
        "1/0",
        "log(-1)",
        "9**9**9**9",
        "True",
        "L" * 300,
    ],
)
def test_bad_expressions(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Expression.of(text)(10)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"arrivals": "now and then"}, "simulation.arrivals"),
        ({"arrivals": {"law": "poisson", "batch": "5/2"}}, "simulation.arrivals.batch"),
        ({"arrivals": {"law": "poisson", "size": 5}}, "simulation.arrivals.size"),
        ({"arrivals": {"law": "poisson", "scv": 2}}, "simulation.arrivals.scv"),
        ({"arrivals": {"law": "deterministic", "scv": 2}}, "simulation.arrivals.scv"),
        ({"arrivals": {"law": "poisson", "batch": 3, "sizes": "geometrical"}}, "simulation.arrivals.sizes"),
        ({"arrivals": {"law": "poisson", "sizes": "geometric"}}, "simulation.arrivals.sizes"),
        ({"service": {"law": "poisson"}}, "simulation.service.law"),
        ({"service": {"law": "hyper-exponential", "scv": 1}}, "simulation.service.scv"),
        ({"service": "quick"}, "simulation.service"),
        ({"initial": "full"}, "simulation.initial"),
        ({"initial": {"full": {"t9": 1}}}, "simulation.initial.full.t9"),
        ({"initial": [{"servers": 0, "jobs": {}}]}, r"simulation.initial\[1\].servers"),
        ({"reservation": "two"}, "simulation.reservation"),
        ({"placement": "any"}, "simulation.placement"),
        ({"d": 0}, "simulation.d"),
        ({"priority": {"t1": 1}}, "simulation.priority.t2"),
        ({"colour": 1}, "simulation.colour"),
    ],
)
def test_bad_options(table: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError, match=f"^instance: {expected}: ") as error:
        parse_table(ContinuousTable, table, TWO)
    assert "\n" not in str(error.value)


def test_refusals_to_prepare_say_what_is_wrong() -> None:
    with pytest.raises(InputError, match=r"simulation\.priority\.t9: unknown field, expected one of t1$"):
        policy("dra-preemption").prepare(Setting(additive([2], [[1]]), 4, {"priority": {"t1": 1, "t9": 1}}))
    for row in (0, 1):  # static reservation has slots for one job of each type on both servers
        jobs = np.zeros((2, 2), np.int32)
        jobs[row] = [2, 0]
        with pytest.raises(InputError, match=rf"simulation\.initial: server {row + 1} holds 2 t1, "):
            policy("static").prepare(Setting(TWO, 2, {}, jobs))


def test_initial_jobs() -> None:
    made = parse_table(
        ContinuousTable, {"initial": [{"servers": 2, "jobs": {"t1": 1}}, {"servers": 1, "jobs": {"t2": 1}}]}, TWO
    )
    counts = made.initial.counts(4, 2)
    assert counts is not None
    assert counts.tolist() == [[1, 0], [1, 0], [0, 1], [0, 0]]
    with pytest.raises(InputError, match=r"simulation\.initial: expected jobs on 2 servers at most, got 3"):
        made.initial.counts(2, 2)
    full = parse_table(ContinuousTable, {"initial": {"full": {"t1": 2}}}, TWO).initial.counts(3, 2)
    assert full is not None
    assert full.tolist() == [[2, 0]] * 3
    with pytest.raises(InputError, match="cannot hold"):
        Common(**common(Setting(TWO, 3, {}, np.full((3, 2), 2, np.int32))))


@pytest.mark.slow
def test_intervals_cover() -> None:
    """95 % intervals over 2,000 samples cover in 92.5 to 97.5 % (false alarm below 1e-6 by the binomial law)."""
    generator = np.random.default_rng(1)
    normal = generator.normal(3.0, 2.0, (2000, 12))
    covers = {
        "mean": np.mean([mean_interval(row).holds(3.0) for row in normal]),
        "paired": np.mean([paired(row, row - generator.normal(1.0, 1.0, 12)).holds(1.0) for row in normal]),
        "slope": np.mean([slope(np.arange(12), 2 * np.arange(12) + row).holds(2.0) for row in normal]),
        "batches": np.mean([batch_means(generator.normal(3, 1, 400)).holds(3.0) for _ in range(2000)]),
        "ratio": np.mean(
            [ratio_interval(row + 20, row + generator.normal(20, 1, 12)).holds(23 / 23) for row in normal]
        ),
        "growth": np.mean(
            [growth(np.cumsum(generator.normal(0.5, 1, 401)), np.arange(401)).holds(0.5) for _ in range(2000)]
        ),
    }
    assert all(0.925 < share < 0.975 for share in covers.values()), covers


def test_growth_tells_stable_from_unstable() -> None:
    generator = np.random.default_rng(2)
    steady = np.abs(np.cumsum(generator.normal(-0.2, 1, (10, 400)), axis=1) % 7)
    assert growth(steady, np.arange(400), 1 - 1e-6).holds(0.0)
    rising = steady + 0.05 * np.arange(400)
    assert growth(rising, np.arange(400), 1 - 1e-6).low > 0


def test_warm_up_check() -> None:
    generator = np.random.default_rng(3)
    noise = generator.normal(0, 0.1, 400)
    settled = 1 - np.exp(-np.arange(400) / 10) + noise
    assert warm_up(settled, 80).enough
    assert 10 <= warm_up(settled, 80).suggested <= 120
    assert not warm_up(1 - np.exp(-np.arange(400) / 200) + noise, 80).enough


def test_warm_up_check_seldom_complains_of_a_stationary_series() -> None:
    """Level 0.999: of 400 series 0.4 complain in the mean; more than 8 with probability 1e-9."""
    draws = np.random.default_rng(8)
    assert sum(not warm_up(draws.normal(size=200), 20).enough for _ in range(400)) <= 8


def test_best_fit_takes_the_fullest_server_with_room() -> None:
    """Servers of 4 that hold 1, 3, 2 and 4 jobs: the one with 3, then those with 2, then the one with 1."""
    instance = additive([4], [[1]], workload=[0])
    initial = np.array([[1], [3], [2], [4]], np.int32)
    state = policy("best-fit").prepare(Setting(instance, 4, {}, initial))
    chosen = []
    for _ in range(6):
        server = plain(policy("best-fit").place)(state, 0, None)
        plain(put)(state, server, 0)
        plain(policy("best-fit").refresh)(state, None)
        chosen.append(server)
    assert chosen == [1, 2, 2, 0, 0, 0]


BEST_FIT_SYSTEMS = {
    "one resource": additive([12], [[5], [7], [2]]),
    "two resources": additive([6, 12], [[1, 4], [2, 1], [3, 6]]),
    "equal loads": additive([8], [[1], [2], [4]]),
    "two pools": pooled([(1, [8, 6]), (2, [6, 8])], [[1, 2], [2, 1], [3, 3]]),
    "listed": explicit([[3, 0, 0], [1, 2, 0], [0, 1, 1]]),
    "loads beyond 64 bits": pooled(
        [(1, [10**9 + 7, 10**9 + 9]), (1, [10**9 + 21, 10**9 + 33])], [[10**8 + 1, 3 * 10**8], [3 * 10**8 + 7, 10**8]]
    ),
}


@pytest.mark.parametrize("name", BEST_FIT_SYSTEMS)
def test_best_fit_beside_a_look_at_all_servers(name: str) -> None:
    """The fullest with room; of equal loads the first pool and contents, of equal contents the last to come to them."""
    instance, servers, rng = BEST_FIT_SYSTEMS[name], 5, np.random.default_rng(1)
    setting, types = Setting(instance, servers), len(instance.types)
    state = policy("best-fit").prepare(setting)
    place, depart, refresh = (plain(getattr(policy("best-fit"), part)) for part in ("place", "depart", "refresh"))
    came = {server: -server for server in range(servers)}  # when a server came to its contents

    def load(server: int) -> Fraction:
        space, jobs = instance.pools[setting.pool[server]].space, state.counts[server].tolist()
        if isinstance(space, Additive):
            used = [sum(k * d[r] for k, d in zip(jobs, space.demands, strict=True)) for r in range(len(space.capacity))]
            return sum((Fraction(u, c) for u, c in zip(used, space.capacity, strict=True)), Fraction(0)) / len(used)
        return sum((Fraction(k, space.most(j)) for j, k in enumerate(jobs)), Fraction(0))

    refused = 0
    for event in range(1, 400):
        inside = np.argwhere(state.counts > 0).tolist()
        j = int(rng.integers(types))
        if inside and rng.random() < 0.45:
            server, j = inside[rng.integers(len(inside))]
            plain(take)(state, server, j)
            depart(state, server, j, None)
        else:
            fitting = [one for one in range(servers) if plain(fits)(state, one, j)]
            best = min(
                fitting,
                key=lambda one: (-load(one), setting.pool[one], state.counts[one].tolist(), -came[one]),
                default=-1,
            )
            server = place(state, j, None)
            assert server == best
            refused += server < 0
            if server < 0:
                continue
            plain(put)(state, server, j)
        came[server] = event
        assert not refresh(state, None)
        used = state.order_[: state.classes_[0]]
        assert len({(int(setting.pool[one]), *row) for one, row in enumerate(state.counts.tolist())}) == len(used)
        assert sorted(state.order_.tolist()) == list(range(len(state.order_)))
    assert refused > 5


def test_best_fit_does_not_list_configurations() -> None:
    """Thirteen types of which a server holds millions of mixes."""
    many = additive([640, 2560], [[n, n * n] for n in range(1, 14)])
    state = policy("best-fit").prepare(Setting(many, 50))
    assert sum(array.nbytes for array in state) < 200_000


def test_static_reservation_counts_the_jobs_of_time_0() -> None:
    """Slots that are taken at the start are not given to others."""
    instance = additive([4], [[1]], workload=[4])
    reserved = policy("static").prepare(Setting(instance, 3, {})).slots.sum()
    initial = np.array([[1], [1], [0]], np.int32)
    state = policy("static").prepare(Setting(instance, 3, {}, initial))
    assert state.height.sum() == reserved - 2


def test_preemption_stops_no_more_than_it_must() -> None:
    """G = 1 and equal sizes: one job of priority 0 goes for one of higher priority that is refused."""
    instance = additive([2], [[1], [1]], [1, 3], workload=[1, 1])
    options = {"reservation": 1, "priority": {"t1": 0, "t2": 1}}
    state = policy("dra-preemption").prepare(Setting(instance, 2, options, np.array([[2, 0], [2, 0]], np.int32)))
    assert plain(policy("dra-preemption").place)(state, 1, None) == -1
    assert state.moves[: state.done[MOVES]].tolist()[0][::2] == [0, -1]
    assert state.done[MOVES] == 1
    assert plain(policy("dra-preemption").place)(state, 0, None) == -1  # of priority 0: nobody goes
    assert state.done[MOVES] == 1


place_by_preemption = policy("dra-preemption").place
WITH_OTHERS: list[int] = []
"""Drained servers from which a job went while another server had one of its type."""


def watched(state: Any, job_type: int, draws: Any) -> int:
    source = int(drained_server(state, 0))
    others = bool((state.counts[:, 0] > 0).sum() > 1)
    server = int(place_by_preemption(state, job_type, draws))
    if state.done[MOVES] and source >= 0:
        assert state.moves[0].tolist() == [0, source, -1]
        if others:
            WITH_OTHERS.append(source)
    return server


@pytest.mark.slow
def test_preemption_takes_from_drained_servers_first() -> None:
    """Whenever a drained server holds a job of the smallest type of priority 0, the first job to go is from there."""
    instance = additive([6], [[1], [2], [3]], [1, 2, 9], ["3/2", 1, 1])
    options = {"reservation": 1, "priority": {"t1": 0, "t2": 1, "t3": 1}}
    ours = policy("dra-preemption")
    scenario = LossScenario(instance, 6, 150.0, 1.0, options=options, bins=4)
    run_once(replace(ours, place=watched), scenario, 3, python=True)
    assert len(WITH_OTHERS) > 10


def test_slope_has_the_error_of_the_textbook() -> None:
    """Student's interval of a fitted slope, against another implementation."""
    from scipy.stats import linregress, t

    draws = np.random.default_rng(3)
    x = np.arange(7.0)
    y = 2 * x + draws.normal(size=7)
    theirs, ours = linregress(x, y), slope(x, y, 0.9)
    assert ours.mean == pytest.approx(theirs.slope)
    assert ours.half_width == pytest.approx(theirs.stderr * t.ppf(0.95, 5))


def test_utilisation_is_a_share_of_all_servers() -> None:
    """Jobs of 2 in a pool of servers of 4 and one of 6: the share of the units of all of them, in every model."""
    instance = pooled([(2, [4]), (1, [6])], [[2]], workload=["1/2"])
    lost = simulate("first-fit", LossScenario(instance, 6, 200.0, 10.0), seed=2)
    waiting = simulate("max-weight-local", QueueScenario(instance, 6, 200.0, 10.0), seed=2)
    for result in (lost, waiting):
        (share,) = result.utilisation().values()
        assert share.mean == pytest.approx(2 * result.jobs(0).mean / (4 * 4 + 2 * 6))
    numbers = loss_numbers(lost.runs[0])
    (name,) = (name for name in numbers if name.startswith("utilisation"))
    assert numbers[name] == pytest.approx(lost.utilisation()[name.partition(".")[2]].mean)


def test_power_of_d_takes_the_first_of_equals() -> None:
    """Of servers 2 and 1, drawn in this order and equally empty, server 2."""

    class Draws:
        def __init__(self) -> None:
            self.left = [0.7, 0.4]

        def random(self) -> float:
            return self.left.pop(0)

    state = policy("power-of-d").prepare(Setting(additive([2], [[1]], workload=[1]), 3, {}))
    assert plain(policy("power-of-d").place)(state, 0, Draws()) == 2


def test_power_of_d_takes_the_least_loaded() -> None:
    """Of servers 1 and 2, drawn in this order, the one that is empty."""

    class Draws:
        def __init__(self) -> None:
            self.draws = iter((0.1, 0.4))

        def random(self) -> float:
            return next(self.draws)

    initial = np.array([[1], [0], [1]], np.int32)
    state = policy("power-of-d").prepare(Setting(additive([2], [[1]], workload=[1]), 3, {}, initial))
    assert plain(policy("power-of-d").place)(state, 0, Draws()) == 1


def test_first_fit_takes_the_first_server_with_room() -> None:
    initial = np.array([[2], [1], [0]], np.int32)
    state = policy("first-fit").prepare(Setting(additive([2], [[1]], workload=[1]), 3, {}, initial))
    assert plain(policy("first-fit").place)(state, 0, None) == 1


def test_a_slot_of_static_reservation_is_free_again_after_a_job() -> None:
    state = policy("static").prepare(Setting(additive([1], [[1]], workload=[1]), 1, {}))
    place = plain(policy("static").place)
    assert [place(state, 0, None) for _ in range(2)] == [0, -1]
    plain(policy("static").depart)(state, 0, 0, None)
    assert place(state, 0, None) == 0


@pytest.mark.slow
def test_a_policy_of_a_file_runs_again_from_kept_code(tmp_path: Path) -> None:
    """Each process finds the code that the one before has compiled, of plain functions and of steps."""
    root = Path(__file__).parent.parent.parent
    (tmp_path / "own.py").write_text((root / "examples" / "own_policies.py").read_text())
    command = [sys.executable, "-m", "packproof", "simulate", str(root / "examples" / "four_types.toml"), "--json"]
    command += ["--policy", f"{tmp_path / 'own.py'}:WORST_FIT", "--servers", "20", "--until", "5"]
    answers = []
    for _ in range(2):
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        answers.append(json.loads(done.stdout)["reward"])
    assert answers[0] == answers[1]


@pytest.mark.usefixtures("compiled_at_once")
def test_a_run_that_lasts_longer_than_expected_goes_on_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The path is the same, and as Python run twice the events from which on a run is compiled."""
    monkeypatch.setattr("fluid.simulation.run.COMPILED_FROM", 50)
    monkeypatch.setattr(LossScenario, "expected_events", property(lambda _: 0.01))
    monkeypatch.setattr("fluid.simulation.run._EXPECTED", defaultdict(float))
    scenario = LossScenario(TWO, 6, 60.0, 5.0)
    switched, python = (run_once(policy("first-fit"), scenario, 4, python=how) for how in (None, True))
    assert (switched.interpreted, python.interpreted) == (100, python.events)
    assert switched.events == python.events > 200
    assert (switched.measures.jobs == python.measures.jobs).all()


@pytest.mark.parametrize("turn", range(3))  # two of them in one process at least
def test_a_test_begins_without_the_events_of_those_before(turn: int) -> None:
    """Else the tests before would decide which of them compiles."""
    assert not _EXPECTED
    run_once(policy("first-fit"), LossScenario(TWO, 6, 5.0 + turn, 1.0), 4)
    assert sum(_EXPECTED.values()) > 0


def test_many_servers_are_looked_at_by_compiled_code() -> None:
    """What they are prepared by is the same; a million calls of a step from Python would take seconds."""
    servers = 10**6
    assert over_servers(insert, 70) is insert
    compiled = over_servers(insert, servers)
    assert compiled is not insert
    sets = [empty_sets(1, servers) for _ in range(2)]
    for way, (words, levels) in zip((insert, compiled), sets, strict=True):
        for server in (3, 999_999, 5):
            way(words, levels, 0, server)
    assert all(np.array_equal(*pair) for pair in zip(*sets, strict=True))
    assert sets[0][0].any()


def test_what_the_guard_says_of_a_compiled_part_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the part is right as Python."""
    mine = Policy("own", "loss", lambda s: Common(**common(s)), scanning, nothing_to_depart, nothing_to_refresh)
    said = AuthorError("policy", "own.py:1: place of own left totals")

    def part(runner: Any, run: Any, inputs: Any, most: int) -> int:
        if run is len:
            raise said
        return 0

    monkeypatch.setattr(Runner, "_part", part)
    runner = Runner(mine, jump_chain, {}, events=1.0)
    with pytest.raises(AuthorError) as raised:
        runner._watched(len, [np.zeros(1)], 10)
    assert raised.value is said
