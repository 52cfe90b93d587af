"""The search beside hypothesis refutes false bounds that random examples pass, and leaves true ones alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from bounds.adversary.documents import items_of
from bounds.adversary.engine import without_entry
from bounds.adversary.items import Items, judge_items, numbered
from bounds.testing import assert_keeps, clusters, directed, instances, item_lists
from examples.rules_to_attack import density_first, equal_parts, first_fit, first_fit_decreasing
from theory.errors import InputError
from theory.files.document import read_document
from theory.greedy.assignment import global_greedy
from theory.instance import Instance
from theory.sharing import ps_dsf
from theory.sharing.model import Cluster


def greedy(instance: Instance) -> list[tuple[int, tuple[int, ...], Fraction]]:
    return [(0, stage.configurations[0], stage.fraction) for stage in global_greedy(instance).stages]


def fair(given: Cluster) -> Sequence[Sequence[Fraction]]:
    return ps_dsf(given).tasks


@pytest.fixture(autouse=True)
def without_a_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal examples give equal searches on slow machines, too."""
    monkeypatch.setattr(directed, "SECONDS", 60.0)


def authors_test(
    rule: Callable[..., Any],
    share: str,
    strategy: st.SearchStrategy[Any],
    folder: Path,
    *,
    examples: int = 100,
    shrinks: bool = True,
    **options: Any,
) -> None:
    """Run the test of an author; hypothesis runs an example that fails again, and with `shrinks` makes it smaller."""
    phases = (Phase.generate, Phase.shrink) if shrinks else (Phase.generate,)

    @seed(1)  # not that of hypothesis, which changes with the text of the test
    @settings(deadline=None, max_examples=examples, database=None, phases=phases)
    @given(strategy)
    def test(case: Any) -> None:
        assert_keeps(rule, share, case, folder=folder, **options)

    test()


FALSE = [
    (first_fit_decreasing, "3/4", item_lists()),  # two bins suffice and three are used
    (first_fit, "5/8", item_lists()),  # three suffice and five are used
    (density_first, "1/2", instances(max_types=2, max_resources=2)),
    (equal_parts, "1/2", clusters()),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(FALSE)))
def test_false_bounds_fail_with_an_instance_that_shows_it(case: int, tmp_path: Path) -> None:
    rule, share, strategy = FALSE[case]
    with pytest.raises(AssertionError, match=r"keeps \d+/\d+ .*; expected at least") as failed:
        authors_test(rule, share, strategy, tmp_path, examples=100 if case < 2 else 50, shrinks=case < 2)
    assert "written to" in str(failed.value)
    assert len(list(tmp_path.glob("*.toml"))) >= 1


@pytest.mark.slow
def test_the_instance_is_judged_anew_from_its_file(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="found by the search beside the examples\n"):
        authors_test(first_fit_decreasing, "3/4", item_lists(), tmp_path)
    (file,) = tmp_path.glob("*.toml")
    items = items_of(read_document(file))
    assert judge_items(first_fit_decreasing)(items).value == Fraction(2, 3)
    for i in range(len(items.sizes)):  # without any of its items it keeps more
        rest = Items(without_entry(items.sizes, i), items.capacity, numbered(without_entry(items.packing, i)))
        assert judge_items(first_fit_decreasing)(rest).value > Fraction(2, 3)


TRUE = [
    (first_fit_decreasing, "2/3", item_lists()),  # 11/9 OPT + 6/9 is at most 4/3, 3/2 of one, two, three bins
    (first_fit, "10/17", item_lists()),
    (greedy, "1/2", instances(max_types=2, max_resources=1)),
    (fair, "1", clusters(max_users=2)),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(TRUE)))
def test_true_bounds_pass(case: int, tmp_path: Path) -> None:
    authors_test(*TRUE[case], tmp_path, examples=40 if case < 2 else 12)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_search_can_be_left_out(tmp_path: Path) -> None:
    authors_test(first_fit_decreasing, "3/4", item_lists(), tmp_path, directed=False)


@pytest.mark.slow
def test_the_search_stays_within_the_size_of_the_examples(tmp_path: Path) -> None:
    """Two bins of at most three items of at most 9: the search meets nothing larger."""
    seen: list[Items] = []

    def noted(items: Sequence[tuple[int, ...]], capacity: tuple[int, ...]) -> list[int]:
        seen.append(Items(tuple(items), capacity, tuple(range(len(items)))))
        return first_fit(items, capacity)

    authors_test(noted, "1/4", item_lists(max_bins=2, max_items=6, max_capacity=9), tmp_path)
    assert len(seen) > 1000
    assert max(len(items.sizes) for items in seen) <= 6
    assert max(items.capacity[0] for items in seen) <= 9


@pytest.mark.slow
def test_a_rule_that_fails_in_the_search_is_told_how_to_leave_it_out(tmp_path: Path) -> None:
    def picky(items: Sequence[tuple[int, ...]], capacity: tuple[int, ...]) -> list[int]:
        if list(items) != sorted(items):
            raise ValueError("expected the smallest item first")
        return first_fit(items, capacity)

    def in_order(items: Items) -> Items:
        order = sorted(range(len(items.sizes)), key=lambda i: items.sizes[i])
        places = {place: n for n, place in enumerate(dict.fromkeys(items.packing[i] for i in order))}
        sizes, packing = (tuple(row[i] for i in order) for row in (items.sizes, items.packing))
        return Items(sizes, items.capacity, tuple(places[place] for place in packing))

    with pytest.raises(InputError, match="directed=False"):
        authors_test(picky, "1/4", item_lists().map(in_order), tmp_path)
    authors_test(picky, "1/4", item_lists().map(in_order), tmp_path, examples=30, directed=False)


def test_examples_outside_of_hypothesis_stand_alone(tmp_path: Path) -> None:
    for _ in range(50):
        assert_keeps(first_fit_decreasing, "3/4", Items(((3,), (4,)), (10,), (0, 0)), folder=tmp_path)


@pytest.mark.slow
def test_a_bound_of_another_test_is_not_refuted_by_this_one(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        authors_test(first_fit_decreasing, "3/4", item_lists(), tmp_path)
    authors_test(first_fit_decreasing, "2/3", item_lists(), tmp_path, examples=40)
