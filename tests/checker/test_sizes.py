"""Forged bounds of a workload of random sizes: each breaks one condition, and is refused for it."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from bounds import checker
from tests.checker.corpus import CERTIFICATES, Document, changed, refused, verdict

HALF = "throughput, one atom"
"""All sizes are 1/2 and there are 7 servers: they support 14 jobs, and no more."""


def test_bounds_that_are_weaker_are_true() -> None:
    below, above = ("evidence", "below", "columns", 0, "fraction"), ("evidence", "above", "points", 0, 1)
    assert not verdict(changed(CERTIFICATES[HALF], (below, "1/2"), (("claims", "lower"), "7")))
    assert not verdict(changed(CERTIFICATES[HALF], (above, "1/3"), (("claims", "upper"), "21")))


def test_columns_of_sizes_that_are_not_right() -> None:
    columns, lower = ("evidence", "below", "columns"), ("claims", "lower")

    def forged(rows: Any, claim: str, name: str = HALF) -> Document:
        listed = [{"slots": slots, "fraction": fraction} for slots, fraction in rows]
        return changed(CERTIFICATES[name], (columns, listed), (lower, claim))

    refused("the columns use more than a server", forged([({"0": 2}, "2")], "28"))
    refused("a configuration does not fit", forged([({"0": 3}, "1")], "21"))
    refused("a fraction is 0", forged([({"0": 2}, "1"), ({"0": 1}, "0")], "14"))
    refused("the columns are not in order", forged([({"0": 2}, "1/2"), ({"0": 2}, "1/2")], "14"))
    refused("the columns are not in order", forged([({"0": 1}, "1/2"), ({"0": 2}, "1/2")], "21/2"))
    refused("a column lists a cell without slots", forged([({}, "1")], "0"))
    refused("an unknown cell", forged([({"1": 2}, "1")], "14"))
    refused("the lower bound is not right", forged([({"0": 2}, "1")], "15"))
    rows = [({"0": 7}, "1/8"), ({"1": 1, "2": 1}, "3/4")]
    refused("the slots are not in proportion to the law", forged(rows, "63/8", "throughput, atoms"))
    refused("a configuration does not fit", forged([({"0": 5}, "1")], "5", "throughput, to zero"))
    refused("a configuration does not fit", forged([({"0": 3}, "1")], "6", "throughput, uniform"))


def test_cells_that_are_not_right() -> None:
    def forged(name: str, cells: Any, rows: Any = (), **claims: str) -> Document:
        listed = [{"slots": slots, "fraction": fraction} for slots, fraction in rows]
        return changed(
            CERTIFICATES[f"throughput, {name}"],
            (("evidence", "below"), {"cells": cells, "columns": listed}),
            *((("claims", key), value) for key, value in claims.items()),
        )

    wide, zero = [["1/10", "2/5"], ["1/2", "2/5"]], [["1/7", "0"], ["2/5", "0"], ["3/5", "0"]]
    pair = [({"0": 1, "1": 1}, "1")]
    assert not verdict(forged("uniform", wide, pair, lower="4"))
    refused("a configuration does not fit", forged("uniform", wide, [({"0": 1, "1": 2}, "1/2")], lower="3"))
    cases: list[tuple[str, Any, str]] = [
        ("uniform", [["1/10", "4/5", "0"]], "a cell has not a base and a width"),
        ("uniform", [["1/10"]], "a cell has not a base and a width"),
        ("uniform", wide[::-1], "the cells are not in order"),
        ("uniform", [["1/10", "4/5"], ["1/2", "2/5"]], "cells overlap"),
        ("uniform", [["1/10", "4/5"], ["1/10", "4/5"]], "a cell stands twice"),
        ("uniform", wide[:1], "the cells do not cover the law"),
        ("uniform", [["1/20", "4/5"]], "a cell is not part of a piece"),
        ("uniform", [["1/10", "9/10"]], "a cell is not part of a piece"),
        ("uniform", [["1/10", "0"], *wide], "a group of atoms does not end at an atom"),
        ("atoms", zero[::-1], "the cells are not in order"),
        ("atoms", [zero[0], zero[0], *zero[1:]], "a cell stands twice"),
        ("atoms", zero[:2], "the cells do not cover the law"),
        ("atoms", [["1/2", "0"], zero[2]], "a group of atoms does not end at an atom"),
        ("atoms", [["-1/7", "0"], *zero], "a base is less than 0"),
        ("atoms", [["3/5", "-1/5"]], "a width is less than 0"),
    ]
    for name, cells, reason in cases:
        refused(reason, forged(name, cells))
    grouped = [({"0": 2}, "1/4"), ({"0": 1, "1": 1}, "1/2")]  # sizes 1/7 are taken at 2/5
    assert not verdict(forged("atoms", zero[1:], grouped, lower="9/2"))
    refused("the slots are not in proportion to the law", forged("atoms", zero[1:], grouped[::-1][:1], lower="9/4"))


def test_prices_of_sizes_that_are_not_right() -> None:
    def forged(name: str, grid: Any, points: Any, upper: str) -> Document:
        evidence = {"grid": grid, "points": points}
        return changed(
            CERTIFICATES[f"throughput, {name}"], (("evidence", "above"), evidence), (("claims", "upper"), upper)
        )

    cases: list[tuple[str, Any, Any, str, str]] = [
        ("one atom", 2, [[1, "1"]], "7", "a configuration is worth more than 1"),
        ("one atom", 2, [[1, "0"]], "14", "the prices prove nothing"),
        ("one atom", 0, [[1, "1/2"]], "14", "there is no grid"),
        ("one atom", 2, [], "14", "there is no grid"),
        ("one atom", 2, [[1, "1/2"], [1, "1/2"]], "14", "the points are not in order"),
        ("one atom", 2, [[1, "1/2"], [2, "1"]], "14", "a point is of no use"),
        ("one atom", 2, [[0, "0"], [1, "1/2"]], "14", "a point is of no use"),
        ("one atom", 2, [[1]], "14", "a point has not a place and a price"),
        ("one atom", 2, [[1, "1/2", 0]], "14", "a point has not a place and a price"),
        ("one atom", 2, [[2, "1/2"]], "14", "a point is of no use"),
        ("one atom", 4, [[2, "1/2"]], "15", "the upper bound is not right"),
        ("atoms", 5, [[2, "2/5"], [3, "3/5"]], "9", "a size lies outside the prices"),
        ("atoms", 35, [[5, "1/7"], [14, "3/7"], [21, "5/7"]], "49/8", "a configuration is worth more than 1"),
        ("uniform", 1, [[1, "1"]], "2", "one point does not price a piece"),
        ("uniform", 1, [[0, "1/2"], [1, "1"]], "8/3", "a job of size 0 has a price"),
        ("uniform", 2, [[0, "0"], [1, "1"], [2, "1"]], "8/3", "a configuration is worth more than 1"),
        ("uniform", 2, [[0, "0"], [1, "1/2"], [2, "2"]], "1", "a configuration is worth more than 1"),
        ("uniform", 10, [[2, "1/5"], [9, "9/10"]], "4", "a piece lies outside the prices"),
        ("uniform", 10, [[1, "1/10"], [8, "4/5"]], "4", "a piece lies outside the prices"),
        ("uniform", 10, [[0, "0"], [9, "9/10"]], "4", "a point lies beyond the sizes"),
        ("uniform", 10, [[1, "1/10"], [10, "1"]], "4", "a point lies beyond the sizes"),
        ("uniform", 10, [[0, "0"], [1, "1/10"], [9, "9/10"]], "4", "a point is of no use"),
        ("uniform", 10, [[1, "1/10"], [4, "3/10"], [5, "3/10"], [6, "3/10"], [9, "3/5"]], "4", "a point is of no use"),
        ("uniform", 10, [[1, "1/10"], [4, "3/10"], [5, "3/10"], [9, "3/10"]], "4", "a point is of no use"),
    ]
    for name, grid, points, upper, reason in cases:
        found = verdict(forged(name, grid, points, upper))
        assert found == reason, (name, grid, points, found)
    cases = [
        ("one atom", 2, [[2, "1"], [1, "1/2"]], "14", "the points are not in order"),
        ("one atom", 2, [[1, "-1/2"]], "14", "a price is less than 0"),
    ]
    for name, grid, points, upper, reason in cases:
        assert verdict(forged(name, grid, points, upper)) == reason
    for points, upper in (
        ([[1, "1/10"], [9, "9/10"]], "4"),
        ([[1, "1/10"], [5, "1/2"], [9, "9/10"]], "4"),
        ([[1, "1/10"], [4, "3/10"], [5, "3/10"], [9, "3/5"]], "160/27"),  # the mean price is 27/80
    ):
        assert not verdict(forged("uniform", 10, points, upper)), points


def test_every_claim_of_vqs_is_exact() -> None:
    for honest in CERTIFICATES.values():
        if honest["kind"] == "throughput":
            for step in (Fraction(1, 1000), Fraction(-1, 1000)):
                for claim in ("vqs", "vqs_lost"):
                    other = Fraction(honest["claims"][claim]) + step
                    assert other < 0 or verdict(changed(honest, (("claims", claim), str(other)))), claim
            for other_j in {2, honest["claims"]["J"] + 1, honest["claims"]["J"] - 1} - {honest["claims"]["J"]}:
                assert verdict(changed(honest, (("claims", "J"), other_j)))


def test_prices_of_queues_below_zero() -> None:
    negative = ("evidence", "vqs", "prices", 0), "-1/2"
    refused("a price is less than 0", changed(CERTIFICATES[HALF], negative))


def test_prices_between_points_against_all_configurations() -> None:
    """One size off the points at most, on the grid, beside sizes at the points: worth more than 1 or not."""
    draw, agreed = random.Random(3), {True: 0, False: 0}
    for _ in range(300):
        grid = draw.randint(3, 12)
        points = sorted(draw.sample(range(1, grid + 3), draw.randint(1, 4)))
        values = [Fraction(draw.randint(0, 12), draw.choice([10, 12, 15])) for _ in points]
        between = [draw.random() < 0.6 for _ in points[1:]]
        most = [Fraction(0)] * (grid + 1)
        for room in range(1, grid + 1):
            worth = [v + most[room - p] for p, v in zip(points, values, strict=True) if p <= room]
            most[room] = max([most[room - 1], *worth])
        best = most[grid]
        for i, inside in enumerate(between):
            a, b = points[i : i + 2]
            for g in range(a + 1, min(b, grid + 1)) if inside else ():
                price = values[i] + (values[i + 1] - values[i]) * Fraction(g - a, b - a)
                best = max(best, price + most[grid - g])
        try:
            checker.require_worth(grid, points, values, between)
        except checker.Refused:
            accepted = False
        else:
            accepted = True
        assert accepted is (best <= 1), (grid, points, values, between)
        agreed[accepted] += 1
    assert min(agreed.values()) > 50, agreed


def test_pieces_that_touch_or_overlap() -> None:
    law = ("instance", "sizes", "piecewise")
    mixed = CERTIFICATES["throughput, mixed"]
    touching = [["1/10", "1/5", "1/2"], ["1/5", "1/2", "3/8"], ["7/10", "7/10", "1/8"]]
    assert verdict(changed(mixed, (law, touching))) not in ("", "pieces overlap")
    overlapping = [["1/10", "1/4", "1/8"], ["1/5", "1/2", "3/4"], ["7/10", "7/10", "1/8"]]
    refused("pieces overlap", changed(mixed, (law, overlapping)))


def limited(action: Callable[[], Any], **limits: int) -> Any:
    """Return what an action returns under other limits of the checker, or why it does not decide."""
    old = {name: getattr(checker, name) for name in limits}
    try:
        for name, value in limits.items():
            setattr(checker, name, value)
        return action()
    except checker.Unreadable as reason:
        return f"not decided: {reason}"
    finally:
        for name, value in old.items():
            setattr(checker, name, value)


def test_a_grid_beyond_the_limit_is_decided_by_a_search() -> None:
    table = CERTIFICATES["throughput, atoms"]  # 35 places and three points: 105 cells
    for cells in (105, 104):
        assert not limited(lambda: verdict(table), MAX_CELLS=cells)
    for place in range(3):
        point = ("evidence", "above", "points", place, 1)
        price = Fraction(table["evidence"]["above"]["points"][place][1])
        dear = changed(table, (point, str(price * Fraction(1001, 1000))))
        for cells in (105, 104):  # a forgery is refused for the same reason
            reason = limited(lambda forged=dear: verdict(forged), MAX_CELLS=cells)
            assert reason == "a configuration is worth more than 1"
    uniform = limited(lambda: verdict(CERTIFICATES["throughput, uniform"]), MAX_CELLS=1)
    assert uniform == "not decided: a table of more than 1 cells: beyond what this checker decides"


def test_the_grid_may_be_finer_than_the_sizes_need() -> None:
    """21 million units and 3 points: a table would be beyond the limit of cells."""
    table, finer = CERTIFICATES["throughput, atoms"], 600_000
    points = [[finer * place, price] for place, price in table["evidence"]["above"]["points"]]
    assert not verdict(changed(table, (("evidence", "above"), {"grid": finer * 35, "points": points})))


def test_prices_that_do_not_rise() -> None:
    """Two jobs of [2/5, 1/2] fit a server and three do not: a price of 1/2 for each proves it."""
    column = {"slots": {"0": 2}, "fraction": "1"}
    vqs = {"columns": [{"slots": [0, 0, 2, 0], "fraction": "1"}], "prices": ["0", "0", "1/2", "0"]}
    flat = changed(
        CERTIFICATES["throughput, uniform"],
        (("instance", "sizes"), {"servers": 2, "uniform": ["2/5", "1/2"]}),
        (("evidence", "below"), {"cells": [["2/5", "1/10"]], "columns": [column]}),
        (("evidence", "above"), {"grid": 20, "points": [[8, "1/2"], [10, "1/2"]]}),
        (("evidence", "vqs"), vqs),
        (("claims",), {"lower": "4", "upper": "4", "vqs": "4", "vqs_lost": "0", "J": 2}),
    )
    assert not verdict(flat)


def test_a_size_off_the_points_counts() -> None:
    """At 2/5 and 7/10 nothing is worth more than 1, but 2/5 and 3/5 are worth 1/2 + 5/6."""
    base = CERTIFICATES["throughput, uniform"]
    law = {"servers": 2, "uniform": ["2/5", "7/10"]}
    column = {"slots": {"0": 1}, "fraction": "1"}
    forged = changed(
        base,
        (("instance", "sizes"), law),
        (("evidence", "below"), {"cells": [["2/5", "3/10"]], "columns": [column]}),
        (("claims", "lower"), "2"),
        (("evidence", "above"), {"grid": 10, "points": [[4, "1/2"], [7, "1"]]}),
        (("claims", "upper"), "8/3"),
    )
    refused("a configuration with a size off the points is worth more than 1", forged)


def test_workloads_of_vqs_that_are_not_right() -> None:
    def forged(J: int, rows: Any, prices: list[str], vqs: str = "14", lost: str = "0") -> Document:
        listed = [{"slots": slots, "fraction": fraction} for slots, fraction in rows]
        return changed(
            CERTIFICATES[HALF],
            (("evidence", "vqs"), {"columns": listed, "prices": prices}),
            (("claims", "J"), J),
            (("claims", "vqs"), vqs),
            (("claims", "vqs_lost"), lost),
        )

    two, price = [0, 0, 2, 0], ["0", "0", "1/2", "0"]
    assert not verdict(forged(2, [(two, "1")], price))
    least = "J is not the least for which all sizes are larger than 1/2^J"
    refused(least, forged(3, [([*two, 0, 0], "1")], [*price, "0", "0"]))
    refused("J is out of range", forged(1, [([1, 0], "1")], ["1", "0"], lost="1"))
    refused("J is out of range", forged(31, [([*two, *[0] * 58], "1")], [*price, *["0"] * 58]))
    refused("the share below 1/2^J is not right", forged(2, [(two, "1")], price, lost="1"))
    reduced = "a configuration is none of the reduced ones"
    for odd in ([0, 0, 3, 0], [0, 0, 1, 0], two[:3], [*two, 0]):
        refused(reduced, forged(2, [(odd, "1")], ["0", "0", "1/3", "0"], "21"))
    refused("the columns do not use a server", forged(2, [(two, "1/2")], price))
    refused("the columns do not use a server", forged(2, [(two, "2")], price))
    refused("a fraction is 0", forged(2, [([1, 0, 0, 0], "0"), (two, "1")], price))
    for rows in ([(two, "1/2"), (two, "1/2")], [(two, "1/2"), ([1, 0, 0, 0], "1/2")]):
        refused("the columns are not in order", forged(2, rows, price))
    refused("the columns do not carry the workload", forged(2, [([1, 0, 0, 0], "1/2"), (two, "1/2")], price))
    refused("there is not one price for every queue", forged(2, [(two, "1")], price[:3]))
    refused("there is not one price for every queue", forged(2, [(two, "1")], [*price, "0"]))
    refused("a price without jobs", forged(2, [(two, "1")], ["0", "0", "1/2", "1/4"]))
    refused("a reduced configuration is worth more than 1", forged(2, [(two, "1")], ["0", "0", "1", "0"], "7"))
    refused("the columns do not carry the workload", forged(2, [(two, "1")], ["0", "0", "1/3", "0"], "21"))
    refused("the prices prove nothing", forged(2, [(two, "1")], ["0", "0", "0", "0"]))
    refused("the workload of VQS is not", forged(2, [(two, "1")], price, "13"))
