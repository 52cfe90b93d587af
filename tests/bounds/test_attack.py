"""The search against any rule finds the worst cases that theory knows, shrunk and exact; bad rules are refused."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.adversary.assignment import AssignmentSpace, Numbers, by_stages, judge_assignment
from bounds.adversary.budget import Budget
from bounds.adversary.division import DivisionSpace, judge_division
from bounds.adversary.engine import Judged, Space, attack
from bounds.adversary.games import Sizes, search_rule
from bounds.adversary.items import Items, ItemSpace, contents, estimate_items, fewest_packing, judge_items, packed_by
from bounds.certificates.attack import attack_certificate
from bounds.cli import run
from bounds.views.attack import shares_of_evaluations
from examples.rules_to_attack import best_fit, density_first, equal_parts, first_fit, first_fit_decreasing
from theory.errors import InputError
from theory.files.instances import read_instance
from theory.greedy.assignment import global_greedy
from theory.greedy.optimal import solve
from theory.instance import Instance
from theory.sharing import c_drfh, cluster, ps_dsf, tsf

RULES = Path(__file__).parents[2] / "examples" / "rules_to_attack.py"


def least(rule: Any, space: ItemSpace, target: Fraction, seed: int = 1) -> Items:
    found = attack(
        judge_items(rule), space, seed=seed, evaluations=60_000, target=target, surrogate=estimate_items(rule)
    )
    assert found.judged.exact
    assert found.judged.value <= target
    case: Items = found.case
    return case


@pytest.mark.slow
def test_what_is_known_of_rules_for_items() -> None:
    assert len(least(first_fit, ItemSpace(3, 9), Fraction(3, 5)).sizes) <= 9
    assert len(least(best_fit, ItemSpace(3, 9), Fraction(3, 5)).sizes) <= 9
    assert len(least(first_fit_decreasing, ItemSpace(2, 6), Fraction(2, 3)).sizes) <= 6
    assert len(least(first_fit_decreasing, ItemSpace(2, 8, 2), Fraction(1, 2), seed=4).sizes) <= 8


@pytest.mark.slow
def test_no_rule_is_said_to_keep_less_than_it_does() -> None:
    """Two bins in the optimum: First-Fit never uses more than 1.7 times as many, rounded down, so three."""
    found = attack(judge_items(first_fit), ItemSpace(2, 8), evaluations=2000, surrogate=estimate_items(first_fit))
    assert found.judged.value == Fraction(2, 3)


@pytest.mark.slow
def test_a_clock_that_is_set_does_not_end_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several searches share a time limit, which the clock on the wall has no part in."""
    how: dict[str, Any] = {"evaluations": 400, "starts": 2, "surrogate": estimate_items(first_fit)}
    undisturbed = attack(judge_items(first_fit), ItemSpace(2, 8), budget=Budget(600.0), **how)
    clock = iter(range(0, 10**9, 1000))
    monkeypatch.setattr(time, "time", lambda: float(next(clock)))
    found = attack(judge_items(first_fit), ItemSpace(2, 8), budget=Budget(600.0), **how)
    assert (found.judged.value, found.evaluations) == (undisturbed.judged.value, undisturbed.evaluations)


def test_lists_that_need_fewer_bins_do_not_count() -> None:
    """A bin for every item: two small ones keep 1/2, but need one bin; five items that need two keep 2/5."""

    def apart(items: Sequence[Any], _: Any) -> list[int]:
        return list(range(len(items)))

    judge, estimate = judge_items(apart, optimum=2), estimate_items(apart, optimum=2)
    two = Items(((1,), (1,)), (10,), (0, 0))
    assert judge_items(apart)(two).value == Fraction(1, 2)
    assert judge(two).value == estimate(two) == 1
    found = attack(judge, ItemSpace(2, 5), evaluations=500, surrogate=estimate)
    assert found.judged.value == Fraction(2, 5)
    assert fewest_packing(found.case) == (found.case.packing, True)
    assert found.case.bins == 2


def test_the_packing_of_the_rule_counts_where_there_is_no_time() -> None:
    """The items carry a bin for each, the rule needs fewer; without time for a search none is known to be better."""
    items = Items(tuple((34 + i % 16,) for i in range(200)), (100,), tuple(range(200)))
    used = packed_by(first_fit_decreasing, items)
    judged = judge_items(first_fit_decreasing, until=0.0)(items)
    assert (judged.value, judged.exact, judged.evidence) == (1, False, {"bins": used, "packing": used})


def test_an_answer_carries_the_best_packing(tmp_path: Path) -> None:
    (tmp_path / "apart.py").write_text("def apart(items, capacity):\n    return list(range(len(items)))\n")
    begin = tmp_path / "begin.json"
    begin.write_text('{"items": {"capacity": [4], "sizes": [[2], [2], [1]], "packing": [0, 1, 2]}}')
    worst = search_rule(f"{tmp_path / 'apart.py'}:apart", "items", Sizes(), begin=begin, evaluations=1, time_limit=20)
    assert worst.case.bins == worst.judged.value * 3 == 2
    assert attack_certificate(worst.case, worst.judged)["evidence"]["packing"] == list(worst.case.packing)
    alone = Items(worst.case.sizes, worst.case.capacity, (0, 1, 2))  # judged by hand, the evidence has the packing
    assert attack_certificate(alone, judge_items(first_fit)(alone))["claims"]["most"] == 2


def test_shrinking_leaves_no_item_of_size_zero() -> None:
    space = ItemSpace(3, 9)
    case = space.draw(np.random.default_rng(1))
    assert all(all(map(any, simpler.sizes)) for simpler in space.shrinks(case))


@pytest.mark.slow
def test_density_first_is_found_out() -> None:
    for space, target in ((AssignmentSpace(2, 1), Fraction(52, 100)), (AssignmentSpace(3, 2), Fraction(3, 10))):
        found = attack(judge_assignment(density_first), space, seed=1, evaluations=4000, target=target)
        assert found.judged.value <= target
        case: Numbers = found.case
        instance = case.instance()
        parts = density_first(instance)
        served = [
            min(rho, sum((share * k[j] for _, k, share in parts), Fraction(0)))
            for j, rho in enumerate(instance.workload)
        ]
        reward = sum((u * y for u, y in zip(instance.rewards, served, strict=True)), Fraction(0))
        assert reward / solve(instance).optimal.reward == found.judged.value


@pytest.mark.slow
def test_greedy_is_not_said_to_keep_less_than_its_guarantee() -> None:
    def greedy(instance: Instance) -> list[tuple[int, tuple[int, ...], Fraction]]:
        return [(0, stage.configurations[0], stage.fraction) for stage in global_greedy(instance).stages]

    found = attack(judge_assignment(greedy), AssignmentSpace(2, 1), seed=2, evaluations=300)
    assert Fraction(3, 4) <= found.judged.value <= Fraction(4, 5)


@pytest.mark.slow
def test_divisions() -> None:
    for mechanism in (tsf, c_drfh):
        found = attack(
            judge_division(lambda given, m=mechanism: m(given).tasks),
            DivisionSpace(),
            seed=2,
            evaluations=400,
            target=Fraction(1, 4),
        )
        assert found.judged.value <= Fraction(1, 4)
    kept = attack(judge_division(lambda given: ps_dsf(given).tasks), DivisionSpace(), evaluations=30)
    assert kept.judged.value == 1
    equal = attack(judge_division(equal_parts, "equal-part"), DivisionSpace(), evaluations=30)
    assert equal.judged.value == 1
    wasted = attack(judge_division(equal_parts, "utilisation"), DivisionSpace(), evaluations=100)
    assert wasted.judged.value < Fraction(3, 4)


@pytest.mark.slow
@given(st.lists(st.integers(1, 12), min_size=1, max_size=5))
def test_the_fewest_bins_are_those_of_enumeration(sizes: list[int]) -> None:
    items = Items(tuple((s,) for s in sizes), (12,), tuple(range(len(sizes))))
    n = len(sizes)
    fitting = (
        max(places) + 1
        for places in product(range(n), repeat=n)
        if set(places) == set(range(max(places) + 1))
        and all(held[0] <= 12 for held in contents(items.sizes, places).values())
    )
    packing, exact = fewest_packing(items)
    assert (max(packing) + 1, exact) == (min(fitting), True)


@pytest.mark.parametrize("space", [ItemSpace(3, 9), ItemSpace(2, 7, 3), ItemSpace(4, 12)])
def test_items_always_fit_the_packing_that_they_carry(space: ItemSpace) -> None:
    rng = np.random.default_rng(5)
    case = space.draw(rng)
    for _ in range(600):
        assert all(max(held) <= space.grid for held in contents(case.sizes, case.packing).values())
        assert len(case.sizes) <= space.most
        assert set(case.packing) == set(range(case.bins))
        case = space.move(case, rng)
    for simpler in space.shrinks(case):
        held = contents(simpler.sizes, simpler.packing).values()
        assert all(h <= c for row in held for h, c in zip(row, simpler.capacity, strict=True))


@pytest.mark.slow
def test_equal_seeds_give_equal_answers() -> None:
    def once(seed: int) -> Any:
        return attack(judge_assignment(density_first), AssignmentSpace(2, 1), seed=seed, evaluations=60)

    assert once(3) == once(3)
    assert once(3).history != once(4).history


def test_the_clock_ends_a_search() -> None:
    found = attack(judge_items(first_fit), ItemSpace(3, 9), budget=Budget(-1.0))
    assert not found.complete
    assert found.judged.value <= 1


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (lambda items, _: [0] * len(items), "holds"),
        (lambda *_: [0], "one whole number"),
        (lambda items, _: ["a"] * len(items), "one whole number"),
        (lambda *_: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_rules_for_items_that_do_not_pack(rule: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        packed_by(rule, Items(((7,), (8,)), (10,), (0, 1)))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (lambda _: [(0, (99, 0), Fraction(1))], "not feasible"),
        (lambda _: [(0, (1, 0), 0.5)], "exact share"),
        (lambda _: [(0, (1, 0), Fraction(3))], "of all servers"),
        (lambda _: [(0, (1,), Fraction(1))], "one whole number a type"),
        (lambda _: [(1, (1, 0), Fraction(1))], "expected a pool"),
        (lambda _: [3], "expected .pool"),
        (lambda instance: instance.nothing, "AttributeError"),
    ],
)
def test_assignment_rules_that_are_none(rule: Any, said: str) -> None:
    case = Numbers((10,), ((3,), (4,)), (1, 1), (1, 1), 1)
    with pytest.raises(InputError, match=said):
        judge_assignment(rule)(case)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (lambda _: [[1]], "tasks of 2 users"),
        (lambda _: [[0.5, 0.5]] * 2, "exact numbers"),
        (lambda _: [[100, 100]] * 2, "not feasible"),
        (lambda _: None, "TypeError"),
    ],
)
def test_sharing_rules_that_are_none(rule: Any, said: str) -> None:
    shape = DivisionSpace().draw(np.random.default_rng(1))
    with pytest.raises(InputError, match=said):
        judge_division(rule)(shape)


@pytest.mark.slow
def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "w.toml"
    rule = f"{RULES}:density_first"
    assert run(["attack", rule, "--evaluations", "300", "--target", "3/5", "--out", str(out), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert Fraction(answer["ratio"]) <= Fraction(3, 5)
    assert answer["certified"]
    assert solve(read_instance(out)).optimal.reward == Fraction(answer["evidence"]["optimum"])
    assert run(["attack", f"{RULES}:first_fit", "--kind", "items", "--evaluations", "200"]) == 0
    assert "bin of the rule" in capsys.readouterr().out
    assert run(["attack", f"{RULES}:equal_parts", "--kind", "sharing", "--evaluations", "20"]) == 0
    own = tmp_path / "own.py"
    for code, arguments, said in (
        ("x = 1", [f"{own}:x"], "one of its functions (it has none)"),
        ("def f(", [f"{own}:f"], "does not run"),
        ("def f(a): return [(0, (9, 9), 1)]", [f"{own}:f"], "not feasible"),
        ("def f(a): return a", [f"{own}"], "FILE.py:NAME"),
        ("def f(a): return a", [f"{own}:f", "--target", "x"], "--target"),
        ("def f(a): return a", [f"{own}:f", "--kind", "sharing", "--measure", "x"], "one of fair, equal-part"),
    ):
        own.write_text(code)
        capsys.readouterr()
        assert run(["attack", *arguments]) == 2
        shown = capsys.readouterr().err
        assert shown.count("\n") == 1
        assert said in shown


def test_a_choice_goes_on_in_stages() -> None:
    def nothing(instance: Instance, _: Sequence[int]) -> tuple[int, ...]:
        return (0,) * len(instance.types)

    case = Numbers((10,), ((3,), (4,)), (1, 1), (1, 1), 1)
    assert by_stages(nothing)(case.instance()) == []
    assert judge_assignment(by_stages(nothing))(case).value == 0


@pytest.mark.slow
def test_what_the_rule_and_the_optimum_do_stands_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    """The rewards follow from the columns shown: slots that jobs can fill, at most the workload of each type."""
    arguments = ["attack", f"{RULES}:density_first", "--types", "3", "--evaluations", "60", "--starts", "1"]
    assert run([*arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    (server,), types, evidence = answer["instance"]["server"], answer["instance"]["type"], answer["evidence"]
    assert Fraction(answer["ratio"]) == Fraction(evidence["reward"]) / Fraction(evidence["optimum"]) < 1
    for name, reward in (("columns_of_rule", "reward"), ("columns_of_optimum", "optimum")):
        columns = evidence[name]
        assert sum(Fraction(column["fraction"]) for column in columns) <= 1
        for column in columns:
            used = sum(Fraction(t["demand"]["r1"]) * column["configuration"][t["name"]] for t in types)
            assert used <= Fraction(server["capacity"]["r1"])
        slots = {
            t["name"]: sum(Fraction(c["fraction"]) * c["configuration"][t["name"]] for c in columns) for t in types
        }
        earned = sum(Fraction(t["reward"]) * min(Fraction(t["workload"]), slots[t["name"]]) for t in types)
        assert earned == Fraction(evidence[reward])
    assert evidence["columns_of_rule"] != evidence["columns_of_optimum"]
    assert run(arguments) == 0
    # the last table has notes; what made it comes after a blank line
    text = capsys.readouterr().out
    shown = [line.split() for line in text[: text.index("\nnotes\n")].splitlines()]
    shown = [row for row in shown if row]
    at = shown.index(["configuration", "of", "a", "server", "by", "the", "rule", "in", "the", "optimum"])
    *configurations, rewards = shown[at + 1 :]
    assert rewards[:3] == ["reward", "per", "server"]
    assert rewards[3] == evidence["reward"]
    assert evidence["optimum"] in rewards[4:]
    for place in (-2, -1):
        assert sum(Fraction(row[place]) for row in configurations) == 1, "every server has a configuration, or is empty"


def test_a_rule_that_leaves_servers_empty() -> None:
    """Half of the servers in two parts of one configuration, half of them empty: the table adds up."""
    from bounds.adversary.assignment import kept_on
    from bounds.views.attack import case_tables, evidence_answer

    instance = Numbers((10,), ((3,), (7,)), (1, 2), (1, 1), 1).instance()
    parts = [(0, (1, 0), Fraction(1, 4)), (0, (0, 0), Fraction(1, 8)), (0, np.array([1, 0]), Fraction(1, 4))]
    judged = kept_on(lambda _: parts, instance)
    assert judged.value == Fraction(1, 6)
    rows = [row for table in case_tables(instance, evidence_answer(judged.evidence, instance)) for row in table.rows]
    assert ["1 t1", "1/2", "0"] in rows
    assert ["empty", "1/2", "0"] in rows
    assert ["t1", "3", "1", "1", "1/2", "1"] in rows


def test_messages_number_bins_from_one_and_show_no_code() -> None:
    case = Items(((6,), (5,), (7,)), (10,), (0, 1, 2))
    with pytest.raises(
        InputError, match=r"bin 2, in the order .* holds 12 and has room for 10 .items 6, 5, 7; capacity"
    ):
        judge_items(lambda *_: [3, 8, 8])(case)
    with pytest.raises(InputError, match=r"^r: ZeroDivisionError: .* .items 6, 5, 7; capacity 10.$"):
        judge_items(lambda *_: [1 // 0], "r")(case)
    numbers = Numbers((10,), ((3,), (4,)), (1, 2), (1, 3), 2)
    one = "a server has 10; t1 demands 3 at reward 1 with workload 1/2; t2 demands 4 at reward 2 with workload 3/2"
    with pytest.raises(InputError, match=f"^r: ZeroDivisionError: .* .{one}.$"):
        judge_assignment(lambda _: [1 // 0], "r")(numbers)  # type: ignore[list-item, return-value]


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ([[3, 0], [2, 0]], "the tasks take 5 of r1 on server s1, which has 4"),
        ([[-1, 0], [0, 0]], "-1 tasks of user u1 on server s1, expected 0 or more"),
        ([[0, 0], [0, 1]], "1 tasks of user u2 on server s2, where that user can run none"),
    ],
)
def test_an_infeasible_division_names_server_and_resource(tasks: Any, said: str) -> None:
    from bounds.adversary.division import divided_by

    given = cluster([[4, 1], [9, 0]], [[1, 0], [1, 1]])
    with pytest.raises(InputError, match=f"^r: the allocation is not feasible: {said}$"):
        divided_by(lambda _: tasks, given, "r")


class Halves(Space[int]):
    """Whole numbers; a number is shrunk by halving it or by taking 1 from it."""

    def draw(self, rng: np.random.Generator) -> int:
        return int(rng.integers(1000))

    def move(self, case: int, rng: np.random.Generator) -> int:
        return abs(case + int(rng.integers(-9, 10)))

    def shrinks(self, case: int) -> Iterator[int]:
        yield from (smaller for smaller in (case // 2, case - 1) if 0 <= smaller < case)


@pytest.mark.parametrize(("starts", "shrink"), [(1, True), (1, False), (2, True)])
def test_instances_judged_in_shrinking_are_counted_apart(starts: int, *, shrink: bool) -> None:
    """The limit of evaluations is that of the search; the judge, which counts its calls, says how many followed."""
    calls = list[int]()

    def judge(case: int) -> Judged:
        calls.append(case)
        return Judged(Fraction(1, 2) if case >= 100 else 1)

    found = attack(judge, Halves(), evaluations=50, shrink=shrink, starts=starts, workers=1)
    assert found.evaluations - found.shrinking == 50
    assert len(calls) == found.evaluations
    assert (found.shrinking > 0) is shrink
    assert not shrink or found.case == 100
    searched = "50 instances judged in the search"
    said = [f"{searched}, {found.shrinking:,} in shrinking the worst of them."] if shrink else []
    assert shares_of_evaluations(found) == said


def test_the_command_says_how_many_instances_were_judged_in_shrinking(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["attack", "next-fit", "--kind", "items", "--items", "5", "--evaluations", "30"]
    assert run(command) == 0
    text = capsys.readouterr().out
    (total,) = re.findall(r"instances judged +([\d,]+)", text)
    (after,) = re.findall(r"30 instances judged in the search, ([\d,]+) in shrinking the worst of them\.", text)
    assert int(total.replace(",", "")) == 30 + int(after.replace(",", ""))
