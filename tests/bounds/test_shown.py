"""Tables of answers come from their classes: words, digits, per cent, and what stands side by side."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType

from bounds.answers.record import HIDDEN, NOTES, Answer, Exact, Head, Of
from bounds.answers.shared import Bounds, Number
from bounds.views.shown import MOST_COLUMNS, MOST_ROWS, Table, lines_of, number, tables_of


class Row(Answer):
    """A row of a list."""

    configuration: dict[str, int]
    fraction: Annotated[Exact, Head("of the servers", share=True)]
    note: str | UnsetType = UNSET


class Whole(Answer):
    """An answer with fields of every kind."""

    ratio: Annotated[Exact, Head("kept")]
    ratio_float: Annotated[float, Of("ratio")]
    accepted: Annotated[Number, Head("accepted", digits=3, share=True)]
    queue: Annotated[Number, Head("jobs waiting", digits=3)]
    servers: Bounds
    complete: bool
    missing: float | None
    secret: Annotated[int, HIDDEN]
    jobs: Annotated[dict[str, float], Head("jobs", digits=3, by="type")]
    prices: Annotated[dict[str, Exact], Head("price", by="type")]
    rows: Annotated[list[Row], Head("assignment")]
    notes: Annotated[list[str], NOTES]


def whole(low: float = -0.1, high: float = 1.2, rows: int = 1) -> Whole:
    return Whole(
        ratio="3/4",
        ratio_float=0.75,
        accepted=Number(mean=0.5, ci95=(low, high)),
        queue=Number(mean=2.0, ci95=(-1.0, 5.0)),
        servers=Bounds(lower=3, upper=4, exact=False),
        complete=True,
        missing=None,
        secret=7,
        jobs={"a": 1.23456, "b": 2.0},
        prices={"b": "1/2"},
        rows=[Row(configuration={"a": 2, "b": 0}, fraction="1/4")] * rows,
        notes=["first", "second"],
    )


def test_single_values_are_one_table_with_the_declared_words() -> None:
    numbers, *_ = tables_of(whole())
    assert numbers.rows == [
        ["kept", "3/4 (0.75)"],
        ["accepted", "50 %  [0, 100]"],  # a share is between 0 and 1, and so are the ends of its interval
        ["jobs waiting", "2  [-1, 5]"],
        ["servers", "between 3 and 4"],
        ["complete", "yes"],
    ]


def test_an_interval_of_a_ratio_above_one_holds_its_mean() -> None:
    one = Number(mean=1.1, ci95=(0.9, 1.3))

    class Started(Answer):
        started: Annotated[Number, Head("started", digits=3, share=True)]

    ((_, shown),) = tables_of(Started(started=one))[0].rows
    assert shown == "110 %  [90, 110]"


def test_mappings_by_the_same_names_stand_side_by_side() -> None:
    (table,) = (table for table in tables_of(whole()) if table.title == "by type")
    assert table == Table(
        "by type", ["type", "jobs", "price"], [["a", "1.23", "-"], ["b", "2", "1/2 (0.5)"]], [False, True, True]
    )


def test_lists_and_notes_are_tables_without_columns_that_none_has() -> None:
    tables = {table.title: table for table in tables_of(whole())}
    assert tables["assignment"].head == ["configuration", "of the servers"]
    assert tables["assignment"].rows == [["2 a", "25 %"]]
    assert tables["notes"].rows == [["first"], ["second"]]
    assert set(tables) == {"numbers", "by type", "assignment", "notes"}


def test_long_tables_are_cut_and_say_so() -> None:
    lines = lines_of("A sentence.", tables_of(whole(rows=MOST_ROWS + 3)), ["that it holds"])
    assert lines[0] == "A sentence."
    assert "  and 3 more" in lines
    assert lines[-2:] == ["assumed", "  that it holds"]


def test_numbers_in_significant_digits() -> None:
    assert [number(x, 3) for x in (1234567, 1234.5, 0.00012345, float("inf"))] == [
        "1,234,567",
        "1,234",
        "0.000123",
        "-",
    ]
    assert number(0.123456, 3, share=True) == "12.3 %"


def test_numbers_by_two_names_are_columns_and_many_of_them_rows_of_pairs() -> None:
    class Shares(Answer):
        tasks: Annotated[dict[str, dict[str, float]], Head("tasks", digits=3, by="user, server")]

    (few,) = tables_of(Shares(tasks={"u": {"A": 1.23456, "B": 0.0}, "v": {"B": 2.0}}))
    assert few == Table("tasks", ["user", "A", "B"], [["u", "1.23", "0"], ["v", "", "2"]], [False, True, True])
    (many,) = tables_of(Shares(tasks={"u": {f"s{i}": float(i % 2) for i in range(MOST_COLUMNS + 1)}}))
    assert many.head == ["user", "server", ""]
    assert many.rows == [["u", f"s{i}", "1"] for i in range(1, MOST_COLUMNS + 1, 2)]  # zeros are left out
