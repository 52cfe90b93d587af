"""Several starts give the same answer whatever the number of processes; instances travel through files."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bounds.adversary.assignment import AssignmentSpace
from bounds.adversary.budget import Budget
from bounds.adversary.division import DivisionSpace, judge_division
from bounds.adversary.documents import case_document, items_of, read_case
from bounds.adversary.engine import attack
from bounds.adversary.games import search_key, worst_stored
from bounds.adversary.items import ItemSpace, contents, estimate_items, judge_items
from bounds.adversary.rules import FileRule, rule_named
from bounds.cli import run
from examples.rules_to_attack import first_fit, first_fit_decreasing
from fluid.experiment import Store
from theory.errors import InputError
from theory.files.document import parse_document
from theory.files.instances import tables_toml

RULES = Path(__file__).parents[2] / "examples" / "rules_to_attack.py"


def searched(rule: Any, **how: Any) -> Any:
    return attack(judge_items(rule), ItemSpace(3, 9), surrogate=estimate_items(rule), seed=4, **how)


@pytest.mark.slow
def test_the_number_of_processes_does_not_matter() -> None:
    """The second start wins here, so that its draws matter."""
    judge = judge_division(FileRule(str(RULES), "equal_parts"), "utilisation")

    def found(seed: int, evaluations: int, **how: Any) -> Any:
        return attack(judge, DivisionSpace(2, 2, 2), seed=seed, evaluations=evaluations, shrink=False, **how)

    seed = next(n for n in range(9) if found(n, 80, starts=2).judged.value < found(n, 40).judged.value)
    alone, pair = (found(seed, 80, starts=2, workers=n) for n in (1, 2))
    assert alone == pair
    assert alone.complete


def test_starts_differ_from_each_other() -> None:
    """The second start draws from a seed of its own, and does not begin at the corners."""
    climb = attack(judge_items(first_fit), ItemSpace(3, 9), seed=4, evaluations=200, shrink=False)
    both = attack(judge_items(first_fit), ItemSpace(3, 9), seed=4, evaluations=400, starts=2, shrink=False)
    assert both.evaluations == 400
    assert both.judged.value <= climb.judged.value


def test_starts_divide_the_evaluations_and_the_best_of_them_is_the_answer() -> None:
    found = searched(first_fit, evaluations=1000, starts=3, shrink=False)
    assert found.evaluations == 1000
    one = searched(first_fit, evaluations=334, shrink=False)  # the first start by itself
    assert found.judged.value <= one.judged.value
    reached = searched(first_fit, starts=2, target=Fraction(3, 4))
    assert reached.complete
    assert reached.judged.value <= Fraction(3, 4)
    late = searched(first_fit, starts=2, budget=Budget(-1.0))
    assert not late.complete


@pytest.mark.slow
def test_a_search_begins_where_it_is_told_to() -> None:
    worst = searched(first_fit_decreasing, evaluations=3000)
    again = searched(first_fit_decreasing, evaluations=1, begin=[worst.case], shrink=False)
    assert again.judged == worst.judged
    assert again.evaluations == 1


@pytest.mark.parametrize(
    ("kind", "space"),
    [("assignment", AssignmentSpace(3, 2)), ("items", ItemSpace(3, 9, 2)), ("sharing", DivisionSpace(3, 2, 2))],
)
def test_instances_travel_through_files(kind: str, space: Any) -> None:
    """A case read back is the same instance: its document is the same, up to the unit of a resource."""
    rng = np.random.default_rng(2)
    for _ in range(30):
        case = space.draw(rng)
        text = tables_toml(case_document(case))
        back = read_case(parse_document(text, "a file", is_json=False), kind, "a file")
        once = tables_toml(case_document(back))
        again = read_case(parse_document(once, "a file", is_json=False), kind, "a file")
        assert again == back
        if kind == "items":
            assert back == case


def test_lists_of_items_of_users() -> None:
    given = {"items": {"capacity": [4, 6], "sizes": [[4, 0], [0, 6], [1, 1]], "packing": [7, 7, 2]}}
    items = items_of(given)
    assert items.capacity == (12, 12)
    assert items.sizes == ((12, 0), (0, 12), (3, 2))
    assert items.packing == (0, 0, 1)
    assert set(contents(items.sizes, items.packing)) == {0, 1}
    for wrong, said in (
        ({"capacity": [0], "sizes": [[1]]}, "capacity"),
        ({"capacity": [4], "sizes": []}, "at least one item"),
        ({"capacity": [4], "sizes": [[5]]}, "fits a bin"),
        ({"capacity": [4], "sizes": [[1, 2]]}, "1 whole numbers"),
        ({"capacity": [4], "sizes": [[3], [3]], "packing": [0, 0]}, "take 6 of 4"),
        ({"capacity": [4], "sizes": [[3], [3]], "packing": [0]}, "each of 2"),
        ({"capacity": [4], "sizes": [[True]]}, "a whole number"),
    ):
        with pytest.raises(InputError, match=said) as refused:
            items_of({"items": wrong})
        assert "\n" not in str(refused.value)


def test_rules_of_files_travel() -> None:
    rule = rule_named(f"{RULES}:first_fit")
    assert pickle.loads(pickle.dumps(rule))([(3,), (4,)], (5,)) == [0, 1]


@pytest.mark.slow
def test_command_with_starts_and_a_beginning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "worst.toml"
    rule = [f"{RULES}:first_fit", "--kind", "items", "--json"]
    how = ["--starts", "2", "--workers", "1", "--evaluations", "2000", "--out", str(out)]
    assert run(["attack", *rule, *how]) == 0
    first = json.loads(capsys.readouterr().out)
    assert run(["attack", *rule, "--from", str(out), "--evaluations", "1"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["ratio"] == first["ratio"]
    assert again["instance"] == first["instance"]
    for wrong in (["--workers", "0"], ["--engine", "nowhere"], ["--from", str(RULES)]):
        assert run(["attack", *rule, *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1


RULE = """def next_fit(items, capacity):
    used, load = [], None
    for (size,) in items:
        if load is None or load + size > capacity[0]:
            used.append(used[-1] + 1 if used else 0)
            load = size
        else:
            used.append(used[-1])
            load += size
    return used
"""


@pytest.mark.slow
def test_searches_go_on_from_one_another_by_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule, store = tmp_path / "mine.py", tmp_path / "worst.db"
    rule.write_text(RULE)

    def found(evaluations: int, seed: int, *more: str) -> tuple[Fraction, int]:
        search = ["attack", f"{rule}:next_fit", "--kind", "items", "--items", "8", "--store", str(store), "--json"]
        assert run([*search, "--evaluations", str(evaluations), "--seed", str(seed), *more]) == 0
        answer = json.loads(capsys.readouterr().out)
        return Fraction(answer["ratio"]), int(answer["evaluations"])

    first, _ = found(400, 1)
    assert first < 1
    again, _ = found(1, 2)
    assert again <= first  # the first instance judged is the one that was kept
    space = {"types": 2, "resources": 1, "bins": 3, "items": 8, "fixed": False, "measure": "fair"}
    keys = [
        search_key(f"{rule}:next_fit", "items", space),
        search_key(f"{rule}:next_fit", "items", {**space, "bins": 4}),
    ]
    rule.write_text(RULE + "# another text, so another rule\n")
    keys.append(search_key(f"{rule}:next_fit", "items", space))
    with Store(store, reading=True) as held:
        documents = [worst_stored(held, key) for key in keys]
    assert documents[0] is not None
    assert documents[1:] == [None, None]
    kept = judge_items(FileRule(str(rule), "next_fit"))(read_case(documents[0], "items", "store"))
    assert kept.value == again
    foreign = tmp_path / "notes.txt"
    foreign.write_text("no store")
    assert run(["attack", f"{rule}:next_fit", "--kind", "items", "--store", str(foreign)]) == 2
    assert "expected a store" in capsys.readouterr().err
