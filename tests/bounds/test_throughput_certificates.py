"""Certificates of supportable workloads: accepted as made, every number counts, forged evidence is refused."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bounds import checker
from bounds.certificates.throughput import throughput_certificate
from bounds.results.instances.drawn import random_law
from theory.files.sizes import Sizes
from theory.partition.bounding import bracket
from theory.partition.laws import Law, discrete, piecewise, uniform
from theory.partition.universal import vqs_workload

LAWS = {
    "uniform": uniform("1/10", "9/10"),
    "jump": uniform("3/10", "3/5"),
    "to zero": uniform(0, "1/2"),
    "discrete": discrete({"2/5": "1/3", "3/5": "1/3", "1/7": "1/3"}),
    "mixture": piecewise([("1/10", "1/5", "1/2"), ("1/3", "1/2", "1/4"), ("2/3", "2/3", "1/4")]),
    "many atoms": Law(atoms=tuple((Fraction(1, 4) + Fraction(i, 997), Fraction(1, 30)) for i in range(0, 300, 10))),
}


def made(law: Law, servers: int = 3, gap: Fraction = Fraction(1, 20)) -> dict[str, Any]:
    document = throughput_certificate(Sizes(law, servers), bracket(law, gap), vqs_workload(law))
    loaded: dict[str, Any] = json.loads(json.dumps(document))
    return loaded


@pytest.mark.parametrize("name", list(LAWS))
def test_accepted_as_made(name: str) -> None:
    document = made(LAWS[name])
    claims = checker.check(document)
    assert claims == document["claims"]
    low, high = Fraction(claims["lower"]), Fraction(claims["upper"])
    assert 0 < low <= high <= low * Fraction(21, 20)
    assert Fraction(claims["vqs"]) * 3 >= 2 * low * (1 - Fraction(claims["vqs_lost"])) or high > low


def test_random_laws_are_accepted() -> None:
    generator = random.Random(4)
    for _ in range(15):
        checker.check(made(random_law(generator)))


def places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def changes(value: Any) -> Iterator[Any]:
    """Yield what a forger might write instead."""
    if isinstance(value, str):
        for factor in (Fraction(8, 7), Fraction(999, 1000), Fraction(0)):
            yield str(Fraction(value) * factor)
        yield str(Fraction(value) + Fraction(1, 97))
    elif isinstance(value, int):
        yield value + 1
        yield max(0, value - 1)
    elif isinstance(value, list):
        yield value[:-1]
        yield value[::-1]
        yield value + value[-1:]
    else:
        yield dict(list(value.items())[:-1])
        yield {**value, "0": 7}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(LAWS))
def test_every_number_counts(name: str) -> None:
    document = made(LAWS[name])
    choose = random.Random(5)
    tried = 0
    for part in ("evidence", "claims"):
        found = list(places(document[part], (part,)))
        for path in choose.sample(found, min(len(found), 30)):
            holder = document
            for key in path[:-1]:
                holder = holder[key]
            for new in changes(holder[path[-1]]):
                if new == holder[path[-1]]:
                    continue
                forged = copy.deepcopy(document)
                place = forged
                for key in path[:-1]:
                    place = place[key]
                place[path[-1]] = new
                with pytest.raises(checker.Refused, match="digest"):
                    checker.check(forged)
                forged["digest"] = checker.digest(forged)
                tried += 1
                try:
                    checker.check(forged)
                except checker.Refused:
                    continue
                pytest.fail(f"accepted {new} at {path}")
    assert tried > 40


def forged(document: dict[str, Any], **claims: str) -> dict[str, Any]:
    document["claims"].update(claims)
    document["digest"] = checker.digest(document)
    return document


def test_a_configuration_that_does_not_fit() -> None:
    document = made(uniform("1/10", "9/10"), 1)
    document["evidence"]["below"]["columns"] = [{"slots": {"0": 3}, "fraction": "1"}]
    with pytest.raises(checker.Refused, match="does not fit"):
        checker.check(forged(document, lower="3"))


def test_prices_that_a_configuration_exceeds() -> None:
    document = made(discrete({"2/5": "1/2", "3/5": "1/2"}), 1)
    document["evidence"]["above"] = {"grid": 5, "points": [[2, "1/2"], [3, "1"]]}
    with pytest.raises(checker.Refused, match="worth more than 1"):
        checker.check(forged(document, upper="4/3"))


def test_prices_that_fail_off_the_points_only() -> None:
    law = uniform("2/5", "7/10")
    document = made(law, 1)
    # at the points 2/5 and 7/10 alone nothing is worth more than 1, but 2/5 + 3/5 is worth 1/2 + 5/6
    document["evidence"]["above"] = {"grid": 10, "points": [[4, "1/2"], [7, "1"]]}
    with pytest.raises(checker.Refused, match="off the points"):
        checker.check(forged(document, upper="4/3"))


def test_one_job_of_a_cell_takes_its_top() -> None:
    law = uniform("1/2", "3/5")
    document = made(law, 1)
    document["evidence"]["below"] = {
        "cells": [["1/2", "1/20"], ["11/20", "1/20"]],
        "columns": [{"slots": {"0": 1, "1": 1}, "fraction": "1"}],
    }
    with pytest.raises(checker.Refused, match="does not fit"):
        checker.check(forged(document, lower="2"))


def test_mixed_jobs_take_half_the_sum_of_their_widths() -> None:
    """Six jobs of [1/10, 3/10] fill 6/10 + 6/10, not 6/10 + the width of one."""
    document = made(uniform("1/10", "3/10"), 1)
    assert document["claims"]["lower"] == "5"
    document["evidence"]["below"]["columns"][0]["slots"]["0"] = 6
    with pytest.raises(checker.Refused, match="does not fit"):
        checker.check(forged(document, lower="6"))


def test_an_altered_law_is_refused_unless_the_claims_are_true_of_it() -> None:
    document = made(uniform("1/10", "9/10"), 5)
    document["instance"]["sizes"]["uniform"] = ["1/10", "4/5"]
    with pytest.raises(checker.Refused):
        checker.check(forged(document))
    document = made(uniform("1/10", "9/10"), 5)
    document["instance"]["sizes"] = {"piecewise": [["1/10", "9/10", "1"]], "servers": 5}
    checker.check(forged(document))
    document["instance"]["sizes"] = {"piecewise": [["1/10", "9/10", "1/2"]], "servers": 5}
    with pytest.raises(checker.Refused, match="sum to 1"):
        checker.check(forged(document))


def test_the_checker_runs_alone(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(made(LAWS["mixture"])))
    alone = tmp_path / "checker.py"
    alone.write_text(Path(checker.__file__).read_text())
    command = [sys.executable, "-I", "-S", str(alone), str(path)]
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 0
    path.write_text(json.dumps({**made(LAWS["mixture"]), "digest": "0" * 64}))
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 1
