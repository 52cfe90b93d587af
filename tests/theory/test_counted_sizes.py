"""Counted and listed jobs: the law that they have, and the bins that they need."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.adversary.items import Items
from bounds.cli import run
from bounds.views.attack import case_document
from theory.errors import InputError
from theory.exact.columns.starts import largest_first
from theory.files.instances import write_tables
from theory.files.sizes import parse_sizes, read_sizes, sizes_document
from theory.instance import additive


def literal(items: list[int], capacity: int) -> int:
    """First-Fit Decreasing as it is defined, one item after another."""
    free: list[int] = []
    for size in sorted(items, reverse=True):
        for place, left in enumerate(free):
            if size <= left:
                free[place] -= size
                break
        else:
            free.append(capacity - size)
    return len(free)


@given(
    st.integers(2, 60).flatmap(
        lambda c: st.tuples(st.just(c), st.dictionaries(st.integers(1, c), st.integers(1, 9), min_size=1))
    )
)
def test_counted_first_fit_decreasing_is_the_literal_one(case: tuple[int, dict[int, int]]) -> None:
    capacity, counts = case
    items = [size for size, count in counts.items() for _ in range(count)]
    servers = additive([capacity], [[size] for size in counts]).pools[0].space
    packed = largest_first(servers, list(counts.values()), divisible=False)[1]
    assert sum(packed.tolist()) == literal(items, capacity)


def test_first_fit_decreasing_of_very_many_jobs() -> None:
    for unit in (1, 10**20):  # beyond 64 bits too
        space = additive([3 * unit], [[1 * unit + 1], [unit]]).pools[0].space
        configurations, servers = largest_first(space, [0, 10**12 * unit], divisible=False)
        assert configurations.tolist() == [[0, 3], [0, 1]]
        assert servers.tolist() == [(10**12 * unit - 1) // 3, 1]


COUNTS = {"2/5": 3, "3/5": 2, "0.2": 1}
LISTED = ["2/5", "3/5", 0.4, "0.2", "2/5", "3/5"]


def test_counts_items_and_probabilities_are_one_law(tmp_path: Path) -> None:
    counted, listed = parse_sizes({"sizes": {"counts": COUNTS}}), parse_sizes({"sizes": {"items": LISTED}})
    shares = {"2/5": "1/2", "3/5": "1/3", "1/5": "1/6"}
    assert counted == listed
    assert counted.law == parse_sizes({"sizes": {"discrete": shares}}).law
    assert dict(zip((size for size, _ in counted.law.atoms), counted.counts, strict=True)) == {
        Fraction(1, 5): 1,
        Fraction(2, 5): 3,
        Fraction(3, 5): 2,
    }
    assert parse_sizes(sizes_document(counted)).law == counted.law
    case = Items(((4,), (6,), (4,), (2,), (4,), (6,)), (10,), (0, 0, 1, 2, 2, 1))
    write_tables(tmp_path / "worst.toml", case_document(case))
    assert read_sizes(tmp_path / "worst.toml") == counted, "what the search for bad packings writes"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"counts": {"2/5": 0}}, "sizes.counts.2/5: expected a whole number of jobs"),
        ({"counts": {"2/5": "1/2"}}, "sizes.counts.2/5"),
        ({"counts": {"2/5": 1, "0.4": 1}}, "expected each size once"),
        ({"counts": {"7/5": 1}}, "a size in"),
        ({"counts": {}}, "at least one size"),
        ({"items": []}, "at least one size"),
        ({"items": ["1/2", "x"]}, "items.2."),
        ({"items": ["1/2"], "counts": {"1/2": 1}}, "exactly one law"),
    ],
)
def test_bad_counts(table: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_sizes({"sizes": table})
    with pytest.raises(InputError, match="one resource"):
        parse_sizes({"items": {"capacity": [1, 1], "sizes": [[1, 1]]}})


def test_answer_in_bins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sizes.json"
    # 2/5 and 3/5 fill a bin, two of 2/5 leave room for a 1/5: no bin is left partly empty beyond what sizes force
    path.write_text(json.dumps({"sizes": {"counts": {"2/5": 300, "3/5": 120, "1/5": 75}}}))
    assert run(["throughput", str(path), "--json"]) == 0
    bins = json.loads(capsys.readouterr().out)["bins"]
    assert (bins["jobs"], bins["at_least"], bins["at_most"]) == (495, 210, 210)
    path.write_text(json.dumps({"sizes": {"counts": {"1/2": 1, "1/3": 1, "1/6": 1, "7/12": 1}}}))
    assert run(["throughput", str(path)]) == 0
    assert "The 4 jobs need exactly 2 bins." in capsys.readouterr().out
