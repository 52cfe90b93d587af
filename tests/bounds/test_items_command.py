"""``packproof throughput`` of items of several resources: bounds of bins, packings, prices, files, bad input."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bounds.adversary import items as adversary_items
from bounds.adversary.documents import items_of
from bounds.adversary.items import Items, bounds_of, contents, fewest_packing
from bounds.answers.record import Answer
from bounds.cli import run
from bounds.cli.throughput import bins_of_jobs
from bounds.views.shown import MOST_ROWS, lines_of
from bounds.views.throughput import items_answer, sentence, tables
from tests.bounds.validated import expect_valid
from theory.errors import InputError
from theory.exact.columns.cutting_stock import stock
from theory.files.items import ItemList, has_items, parse_items
from theory.files.sizes import parse_sizes
from theory.greedy import counted, whole
from theory.numbers import text

CAPACITY = (6, 5)
ROWS = st.lists(st.tuples(st.integers(0, CAPACITY[0]), st.integers(0, CAPACITY[1])).filter(any), min_size=1, max_size=7)


def listed(rows: list[tuple[int, ...]], capacity: tuple[int, ...] = CAPACITY) -> ItemList:
    return parse_items({"items": {"capacity": list(capacity), "sizes": [list(row) for row in rows]}})


def assert_proved(found: Answer) -> None:
    """Recount the packing, and check the prices against every configuration there is."""
    capacity = {name: Fraction(amount) for name, amount in found.capacity.items()}
    sizes = [{name: Fraction(amount) for name, amount in kind.size.items()} for kind in found.kinds]
    places = [0] * len(sizes)
    for filled in found.packing:
        held = {int(k): number for k, number in filled.places.items()}
        for name, most in capacity.items():
            assert sum(number * sizes[k][name] for k, number in held.items()) <= most
        for k, number in held.items():
            places[k] += filled.bins * number
    assert sum(filled.bins for filled in found.packing) == found.at_most
    assert all(have >= kind.count for have, kind in zip(places, found.kinds, strict=True))
    prices = [Fraction(kind.price) for kind in found.kinds]
    room = [min(int(capacity[name] // amount) for name, amount in size.items() if amount) for size in sizes]
    worth = max(
        sum(price * k for price, k in zip(prices, column, strict=True))
        for column in product(*(range(most + 1) for most in room))
        if all(
            sum(k * size[name] for k, size in zip(column, sizes, strict=True)) <= most
            for name, most in capacity.items()
        )
    )
    assert min(prices) >= 0
    assert (
        sum(price * kind.count for price, kind in zip(prices, found.kinds, strict=True)) > (found.at_least - 1) * worth
    )


@settings(max_examples=25, deadline=None)
@given(ROWS.filter(lambda rows: len(set(rows)) <= 4))
def test_bounds_hold_the_fewest_bins(rows: list[tuple[int, int]]) -> None:
    """The fewest bins by a search that shares no code lie between the bounds, and both bounds are proved."""
    found = items_answer(listed(rows))
    packing, sure = fewest_packing(
        items_of({"items": {"capacity": list(CAPACITY), "sizes": [list(row) for row in rows]}})
    )
    assert sure
    assert found.at_least <= max(packing) + 1 <= found.at_most
    assert found.exact == (found.at_least == found.at_most)
    assert found.items == len(rows)
    assert_proved(found)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=9))
def test_a_resource_twice_changes_nothing(sizes: list[int]) -> None:
    """With equal resources the lower bound is that of the program of one resource, whose code is another."""
    found = items_answer(listed([(size, 2 * size) for size in sizes], (12, 24)))
    kinds = sorted(set(sizes))
    one = stock(kinds, [sizes.count(size) for size in kinds], 12)
    assert one is not None
    assert found.at_least == -(-one.servers.numerator // one.servers.denominator)


def test_resources_bind_together() -> None:
    """No two items that take more than half of one resource share a bin, however much of the other is left."""
    rows = [(6, 1)] * 4 + [(1, 6)] * 4
    found = items_answer(listed(rows, (10, 10)))
    assert (found.at_least, found.at_most) == (4, 4)
    wide = items_answer(listed([(6, 0)] * 4 + [(0, 6)] * 4, (6, 6)))
    assert (wide.at_least, wide.at_most) == (4, 4)


def test_halves_and_thirds_have_a_common_unit() -> None:
    """Five halves and a third fill three bins; they would fit two if a half were cut down to a third."""
    rows = [["1/2", 0]] * 5 + [["1/3", 1]]
    found = items_answer(parse_items({"items": {"capacity": [1, 9], "sizes": rows}}))
    assert (found.at_least, found.at_most) == (3, 3)
    assert_proved(found)


def test_many_kinds_are_packed_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounded up, the vertex has nearly a bin for each kind; where the search finds nothing, packings come near."""
    monkeypatch.setattr(whole, "_searched", lambda *_: None)
    generator = random.Random(1)
    rows = [(generator.randint(1, 32), generator.randint(2, 128)) for _ in range(60)]
    found = items_answer(listed(rows, (64, 256)))
    assert found.at_least <= found.at_most <= 1.2 * found.at_least


@pytest.mark.slow
def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A CSV with counts, in any order of columns, is the list that it stands for; decimals are exact."""
    (tmp_path / "vms.csv").write_text("name,memory,cpu,count\na,1.5,2,3\n\nb,4,1,1\nc,1.50,2,1\n")
    (tmp_path / "a.toml").write_text('[items]\ncapacity = { cpu = 4, memory = 7.5 }\ncsv = "vms.csv"\n')
    (tmp_path / "b.toml").write_text(
        '[items]\ncapacity = { cpu = 4, memory = "15/2" }\nsizes = [[2, 1.5], [2, 1.5], [1, 4], [2, "3/2"], [2, 1.5]]\n'
    )
    answers = []
    for name in "ab":
        assert run(["throughput", str(tmp_path / f"{name}.toml"), "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
        expect_valid(answers[-1], "throughput_items")
        del answers[-1]["made"]  # it names the files
    assert [kind.pop("called") for kind in answers[0]["kinds"]] == [["a", "c"], ["b"]], "a list has no names"
    assert answers[0] == answers[1]
    assert run(["throughput", str(tmp_path / "a.toml")]) == 0
    assert "a, c (cpu 2, memory 3/2)" in capsys.readouterr().out
    assert [(kind["size"]["memory"], kind["count"]) for kind in answers[0]["kinds"]] == [("3/2", 4), ("4", 1)]
    assert (answers[0]["at_least"], answers[0]["at_most"]) == (3, 3)
    assert run(["throughput", str(tmp_path / "a.toml")]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "5 items of 2 kinds need exactly 3 bins."
    assert any("(cpu 2, memory 3/2)" in line for line in shown[3:])
    for option in (["--gap", "0.1"], ["--jobs", "3"], ["--certificate", str(tmp_path / "c.json")]):
        assert run(["throughput", str(tmp_path / "a.toml"), *option]) == 2
        assert capsys.readouterr().err.startswith(f"{option[0]}: has no meaning with items of several resources")


def test_long_packings_are_cut_short_in_text() -> None:
    rows = [(600 + k, 1) for k in range(MOST_ROWS + 5)]
    answer = items_answer(listed(rows, (1000, 1000)))
    assert sentence(answer).endswith(f" need exactly {len(rows)} bins.")
    assert lines_of("", tables(answer))[-1] == "  and 5 more"


BAD = [
    (
        {"capacity": [4, 0], "sizes": [[1, 1]]},
        "f: items.capacity[2]: expected a positive number for each resource, got 0",
    ),
    ({"capacity": {}, "sizes": [[1]]}, "f: items.capacity: expected a positive number for each resource, got none"),
    ({"capacity": [4, 4], "sizes": []}, "f: items.sizes: expected a list of items"),
    ({"capacity": [4, 4], "sizes": [[1, 2], [1]]}, "f: items.sizes[2]: expected a list of 2 sizes, of r1, r2"),
    ({"capacity": [4, 4], "sizes": [[0, 0]]}, "f: items.sizes[1]: expected an item with a size greater than 0"),
    ({"capacity": [4, 4], "sizes": [[1, 5]]}, "f: items.sizes[1].r2: expected a size that fits a bin of 4, got 5"),
    ({"capacity": [4, 4], "sizes": [[1, -1]]}, "f: items.sizes[1][2]: expected a size of at least 0, got -1"),
    ({"capacity": [4, 4]}, "f: items: expected exactly one of sizes and csv, got none"),
    ({"capacity": [4, 4], "sizes": [[1, 1]], "size": 2}, "f: items.size: unknown field"),
]


@pytest.mark.parametrize(("table", "line"), BAD)
def test_bad_lists(table: dict[str, object], line: str) -> None:
    with pytest.raises(InputError) as error:
        parse_items({"items": table}, "f")
    assert str(error.value).startswith(line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("cpu,disk\n1,2\n", ":1: expected a header with the resources cpu, memory, and perhaps name and count"),
        ("cpu,memory\n", ":1: expected at least one item below the header"),
        ("cpu,memory\n1,2\n1\n", ":3: expected 2 fields, got 1"),
        ("cpu,memory\n1,x\n", ":2: memory: expected a size of at least 0, got 'x'"),
        ("cpu,memory,count\n1,1,0\n", ":2: count: expected a whole number of items of at least 1, got '0'"),
        ("cpu,memory\n5,1\n", ":2: cpu: expected a size that fits a bin of 4, got 5"),
    ],
)
def test_bad_csv(text: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "i.csv").write_text(text)
    with pytest.raises(InputError) as error:
        parse_items({"items": {"capacity": {"cpu": 4, "memory": 4}, "csv": "i.csv"}}, "f", tmp_path)
    assert str(error.value).startswith(f"{tmp_path / 'i.csv'}{line}")


def fewest(sizes: list[int], capacity: int) -> int:
    """Return the fewest bins by dynamic programming over sets: (bins, content of the last one) of each set is least."""
    best = {0: (1, 0)}
    for chosen in range(1, 1 << len(sizes)):
        ways = []
        for i, size in enumerate(sizes):
            if chosen >> i & 1:
                bins, content = best[chosen ^ (1 << i)]
                ways.append((bins, content + size) if content + size <= capacity else (bins + 1, size))
        best[chosen] = min(ways)
    return best[(1 << len(sizes)) - 1][0]


def doors(sizes: list[int], capacity: int) -> dict[str, Any]:
    """Return a list of items in each form that a file may have, in other units, orders and beside an idle resource."""
    relative = [text(Fraction(size, capacity)) for size in sizes]
    return {
        "list": {"items": {"capacity": [capacity], "sizes": [[size] for size in sizes]}},
        "table": {"items": {"capacity": {"w": 6 * capacity}, "sizes": [[6 * size] for size in reversed(sizes)]}},
        "counts": {"sizes": {"counts": dict(Counter(relative))}},
        "sizes": {"sizes": {"items": relative}},
        "csv": {"items": {"capacity": {"w": text(Fraction(capacity, 7))}, "csv": "rows.csv"}},
        "vectors": {"items": {"capacity": [capacity, capacity], "sizes": [[size, size // 2] for size in sizes]}},
    }


def bounds_behind(document: dict[str, Any], folder: Path) -> tuple[int, int]:
    """Return what `packproof throughput` says of the bins, without the bounds of the workload."""
    if has_items(document):
        found = items_answer(parse_items(document, folder=folder))
        return found.at_least, found.at_most
    _, bins = bins_of_jobs(parse_sizes(document), None, None)
    return bins.lower, bins.upper


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    st.integers(8, 40).flatmap(
        lambda c: st.tuples(st.just(c), st.lists(st.integers(c // 8, 3 * c // 4), min_size=1, max_size=10))
    )
)
@example((29, [5, 6, 11, 14, 19]))
def test_one_list_has_one_answer_in_every_file(case: tuple[int, list[int]]) -> None:
    """Four forms of a list, a CSV, and beside a resource that never binds: one answer, and it holds the optimum."""
    capacity, sizes = case
    with TemporaryDirectory() as folder:
        rows = [f"{text(Fraction(size, 7))},{number}" for size, number in Counter(sizes).items()]
        (Path(folder) / "rows.csv").write_text("\n".join(["w,count", *rows]))
        answers = {bounds_behind(document, Path(folder)) for document in doors(sizes, capacity).values()}
    searched = bounds_of(Items(tuple((size,) for size in sizes), (capacity,), tuple(range(len(sizes)))))
    answers.add((searched.lower, searched.upper))
    assert len(answers) == 1
    ((lower, upper),) = answers
    assert lower <= fewest(sizes, capacity) <= upper
    assert upper - lower <= 1, "on lists as short as these, the program with proper configurations is this near"


@pytest.mark.slow
def test_four_files_of_one_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """7 + 3 + 2 twice, 4 + 4 + 4 and 6 + 3 + 3 fill four bins of 12; First-Fit Decreasing uses five."""
    for name, document in doors([2, 2, 3, 3, 3, 3, 4, 4, 4, 6, 7, 7], 12).items():
        if name != "csv":
            path = tmp_path / f"{name}.json"
            path.write_text(json.dumps(document))
            assert run(["throughput", str(path)]) == 0
            assert "need exactly 4 bins" in capsys.readouterr().out


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=6), st.randoms())
def test_the_order_of_items_changes_nothing(rows: list[tuple[int, int]], generator: random.Random) -> None:
    """Also where two resources bind, and if sizes are in other units."""
    shuffled = [(10 * a, 3 * b) for a, b in rows]
    generator.shuffle(shuffled)
    first, second = items_answer(listed(rows, (12, 12))), items_answer(listed(shuffled, (120, 36)))
    assert (first.at_least, first.at_most) == (second.at_least, second.at_most)


def test_a_search_that_gives_up_is_decided_by_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four bins that are full, of which each item alone is a packing: the search may look at one place only."""
    sizes = [7, 3, 2, 7, 3, 2, 4, 4, 4, 6, 3, 3]
    alone = Items(tuple((size,) for size in sizes), (12,), tuple(range(len(sizes))))
    monkeypatch.setattr(adversary_items, "NODES", 1)
    packing, exact = fewest_packing(alone)
    assert exact
    assert max(packing) + 1 == 4
    assert all(amount <= 12 for (amount,) in contents(alone.sizes, packing).values())


def test_lists_beyond_the_program_are_bounded_by_their_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """No two of the larger ones share a bin; and where the program is not solved, the answer says so."""
    monkeypatch.setattr(counted, "PROGRAM_CELLS", 1)
    monkeypatch.setattr(counted, "FEW_KINDS", 1)
    found = items_answer(listed([(51,), (52,), (53,), (2,)], (100,)))
    assert (found.at_least, found.at_most) == (3, 3)
    assert [note for note in found.notes if "by the sizes alone" in note]
    assert_proved(found)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        (["0.1667"] * 6, "6 items of size 0.1667 exceed a bin by 0.0002 (0.02 % of it)"),
        (["0.3333", "0.3334", "0.3334"], "3 items of size 0.3333 to 0.3334 exceed a bin by 0.0001"),
        ([0.143] * 9, "7 items of size 0.143 exceed a bin by 0.001 (0.1 % of it)"),
        (["0.1667"] * 5, ""),
        (["0.1666"] * 6, ""),
        (["1/6"] * 9, ""),
        (["0.34"] * 3, ""),
    ],
)
def test_sizes_that_nearly_fit_are_named(
    sizes: list[Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"sizes": {"sizes": {"items": sizes}}, "list": {"items": {"capacity": [1], "sizes": [[s] for s in sizes]}}}
    files["table"] = {"items": {"capacity": {"cpu": 1}, "sizes": [[s] for s in sizes]}}
    for name, document in files.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(document))
        assert run(["throughput", str(path)]) == 0
        shown = capsys.readouterr().out
        expected = said.replace("of size", "of cpu").replace("a bin", "the cpu of a bin") if name == "table" else said
        assert (expected in shown) if said else ("note:" not in shown)


def test_a_size_of_nothing_is_refused_in_words_that_allow_none() -> None:
    with pytest.raises(InputError) as error:
        parse_sizes({"items": {"capacity": [12], "sizes": [[3], [0]]}}, "f")
    assert str(error.value) == "f: items.sizes[2]: expected an item with a size greater than 0"


@pytest.mark.parametrize("capacity", [[12], {"w": 12}])
def test_a_packing_in_the_file_is_named_as_unused(
    capacity: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "items.json"
    path.write_text(json.dumps({"items": {"capacity": capacity, "sizes": [[7], [5]], "packing": [0, 1]}}))
    assert run(["throughput", str(path)]) == 0
    assert "items.packing is not used" in capsys.readouterr().out
