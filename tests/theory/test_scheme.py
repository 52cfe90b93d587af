"""Greedy with an approximation scheme: its share of the best configuration, and of the optimum."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.cli import run
from theory.errors import InputError, TooLargeError
from theory.exact.knapsack import max_reward, weight
from theory.exact.knapsack.search import allowing
from theory.files.instances import read_instance
from theory.greedy import scheme
from theory.greedy.assignment import global_greedy
from theory.greedy.optimal import solve
from theory.greedy.scheme import near_max_reward, solve_approximately
from theory.instance import Instance, additive, explicit, pooled

FINE = Path(__file__).parents[2] / "examples" / "fine_units.toml"
PRECISIONS = [Fraction(1, 100), Fraction(1, 7), Fraction(1, 2), Fraction(1)]


@st.composite
def on_one_resource(draw: st.DrawFn) -> Instance:
    """Draw types of very different sizes and rewards on one server."""
    capacity = draw(st.integers(1, 300))
    types = draw(st.integers(1, 6))
    sizes = [draw(st.integers(1, capacity)) for _ in range(types)]
    rewards = [size * draw(st.integers(1, 12)) ** draw(st.integers(0, 2)) for size in sizes]
    workload = [Fraction(draw(st.integers(0, 12)), 4) for _ in range(types)]
    return additive([capacity], [[size] for size in sizes], rewards, workload)


@given(on_one_resource(), st.sampled_from(PRECISIONS))
def test_each_configuration_earns_its_share(instance: Instance, epsilon: Fraction) -> None:
    space, rewards = instance.pools[0].space, instance.rewards
    for types in (None, range(1, len(rewards))):
        near = near_max_reward(space, rewards, types, epsilon=epsilon)
        assert space.holds(near)
        assert types is None or not near[0]
        best = max_reward(space, rewards, types)
        assert weight(near, rewards) * (1 + epsilon) >= weight(best, rewards)


@given(on_one_resource(), st.sampled_from(PRECISIONS))
def test_greedy_keeps_what_is_proved(instance: Instance, epsilon: Fraction) -> None:
    near, best = solve_approximately(instance, epsilon), solve(instance).optimal.reward
    share = near.greedy.reward / best if best else Fraction(1)
    assert near.alpha == 1 / (1 + epsilon)
    assert share >= near.guarantee >= near.guarantee_of_size
    assert share >= near.guarantee_stagewise
    assert best <= near.upper_bound


def test_a_unit_that_is_too_large_loses_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the unit delta P in place of delta^2 P a job may lose half of its reward."""
    space, rewards, epsilon = additive([49], [[39], [11], [4]]).pools[0].space, [312, 33, 32], Fraction(1, 100)
    best = weight(max_reward(space, rewards), rewards)
    assert weight(near_max_reward(space, rewards, epsilon=epsilon), rewards) == best == 384
    monkeypatch.setattr(scheme, "rounding_unit", lambda delta, alone: delta * alone)
    assert weight(near_max_reward(space, rewards, epsilon=epsilon), rewards) * (1 + epsilon) < best


def test_the_rest_of_the_server_is_filled_with_small_jobs() -> None:
    space = additive([100], [[60], [1]]).pools[0].space
    assert near_max_reward(space, [900, 10], epsilon=Fraction(1)) == (1, 40)


def test_several_pools_of_one_resource_each() -> None:
    instance = pooled([(1, [19]), (2, [4])], [[4], [5], [10]], ["1/4", "1/4", "1/2"], [1, "2/3", "2/3"])
    near = solve_approximately(instance, Fraction(1, 100))
    assert near.greedy.reward == global_greedy(instance).reward
    assert near.guarantee <= solve(instance).ratio


def test_where_the_exact_search_gives_up() -> None:
    instance = read_instance(FINE)
    with allowing(100_000), pytest.raises(TooLargeError, match="branch and bound gave up"):
        global_greedy(instance)
    near = solve_approximately(instance, Fraction(1, 10))
    assert near.guarantee_of_size == 1 - (1 - Fraction(10, 11) / 30) ** 30
    assert near.guarantee_stagewise > Fraction(9, 10)


def test_the_command_says_what_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["solve", str(FINE), "--oracle", "fptas", "--epsilon", "0.1"]
    assert run([*command, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["alpha"] == "10/11"
    assert Fraction(answer["guarantee_of_size"]) == 1 - (1 - Fraction(1, 33)) ** 30
    assert Fraction(answer["greedy"]["reward"]) <= Fraction(answer["upper_bound"])
    assert run(command) == 0
    assert "it is not proved for an approximate oracle" in capsys.readouterr().out


REFUSED = {
    "examples/four_types.toml --oracle fptas --epsilon 0.1": "pool1: expected one resource that binds for the scheme, ",
    "examples/fine_units.toml --oracle fptas": "--epsilon: missing",
    "examples/fine_units.toml --oracle fptas --epsilon 0": "--epsilon: expected a number above 0 and at most 1, got 0",
    "examples/fine_units.toml --oracle fptas --epsilon x": "--epsilon: expected a number, got 'x'",
    "examples/fine_units.toml --oracle fptas --epsilon 0.00001": "--epsilon: 40,",
    "examples/fine_units.toml --oracle best": "--oracle: expected one of exact, fptas, got 'best'",
    "examples/fine_units.toml --epsilon 0.1": "--epsilon: has no meaning with --oracle exact",
    "examples/fine_units.toml --oracle fptas --epsilon 0.1 --plot x.png": "--plot: has no meaning with --oracle fptas",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    file, *options = words.split()
    assert run(["solve", str(FINE.parents[1] / file), *options]) == 2
    assert capsys.readouterr().err.startswith(REFUSED[words])


def test_arguments_are_refused() -> None:
    listed = additive([10], [[3]])
    with pytest.raises(InputError, match="epsilon: expected a number above 0"):
        solve_approximately(listed, Fraction(0))
    with pytest.raises(TooLargeError, match="use coarser units"):
        near_max_reward(additive([2**62 + 1], [[2**61], [3]]).pools[0].space, [1, 1], epsilon=Fraction(1))
    everything = explicit([[1, 1]], [1, 1], [1, 1])
    with pytest.raises(InputError, match="got listed configurations"):
        solve_approximately(everything, Fraction(1))
