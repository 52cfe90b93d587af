"""``packproof throughput`` of items of several resources: bounds of bins, packings, prices, files, bad input."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import product
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.adversary.documents import items_of
from bounds.adversary.items import fewest_packing
from bounds.cli import run
from bounds.views.answers import Answer, schema
from bounds.views.throughput import MOST_SHOWN, items_answer, items_lines
from theory.errors import InputError
from theory.exact.columns.cutting_stock import stock
from theory.files.items import ItemList, parse_items
from theory.greedy import servers

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
    monkeypatch.setattr(servers, "_whole", lambda *_: None)
    generator = random.Random(1)
    rows = [(generator.randint(1, 32), generator.randint(2, 128)) for _ in range(60)]
    found = items_answer(listed(rows, (64, 256)))
    assert found.at_least <= found.at_most <= 1.2 * found.at_least


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
        jsonschema.validate(answers[-1], schema("throughput_items"))
        del answers[-1]["made"]  # it names the files
    assert [kind.pop("called") for kind in answers[0]["kinds"]] == [["a", "c"], ["b"]], "a list has no names"
    assert answers[0] == answers[1]
    assert run(["throughput", str(tmp_path / "a.toml")]) == 0
    assert "a, c (cpu 2, memory 3/2)" in capsys.readouterr().out
    assert [(kind["size"]["memory"], kind["count"]) for kind in answers[0]["kinds"]] == [("3/2", 4), ("4", 1)]
    assert (answers[0]["at_least"], answers[0]["at_most"]) == (3, 3)
    assert run(["throughput", str(tmp_path / "a.toml")]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "bins for 5 items of 2 kinds: 3, exactly"
    assert any("(cpu 2, memory 3/2)" in line for line in shown[3:])
    for option in (["--gap", "0.1"], ["--jobs", "3"], ["--certificate", str(tmp_path / "c.json")]):
        assert run(["throughput", str(tmp_path / "a.toml"), *option]) == 2
        assert capsys.readouterr().err.startswith(f"{option[0]}: expected a law of sizes on one resource")


def test_long_packings_are_cut_short_in_text() -> None:
    rows = [(60 + k, 1) for k in range(MOST_SHOWN + 5)]
    lines = items_lines(items_answer(listed(rows, (100, 100))))
    assert lines[0].endswith(f": {len(rows)}, exactly")
    assert lines[-1] == "  and 5 more, which --json has"


BAD = [
    (
        {"capacity": [4, 0], "sizes": [[1, 1]]},
        "f: items.capacity.r2: expected a positive number for each resource, got 0",
    ),
    ({"capacity": {}, "sizes": [[1]]}, "f: items.capacity: expected a positive number for each resource, got none"),
    ({"capacity": [4, 4], "sizes": []}, "f: items.sizes: expected a list of items"),
    ({"capacity": [4, 4], "sizes": [[1, 2], [1]]}, "f: items.sizes[2]: expected a list of 2 sizes, of r1, r2"),
    ({"capacity": [4, 4], "sizes": [[0, 0]]}, "f: items.sizes[1]: expected an item with a size greater than 0"),
    ({"capacity": [4, 4], "sizes": [[1, 5]]}, "f: items.sizes[1].r2: expected a size that fits a bin of 4, got 5"),
    ({"capacity": [4, 4], "sizes": [[1, -1]]}, "f: items.sizes[1].r2: expected a size of at least 0, got -1"),
    ({"capacity": [4, 4]}, "f: items: expected either sizes, "),
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
        ("cpu,memory\n1,2\n1\n", ":3: expected 2 cells, got 1"),
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
