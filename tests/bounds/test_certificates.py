"""The checker accepts what is true and refuses every altered claim or piece of evidence, digest recomputed or not."""

from __future__ import annotations

import copy
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds import checker
from bounds.certificates.assignment import assignment_certificate
from bounds.cli import run
from bounds.results.instances.drawn import random_instance
from bounds.results.instances.papers import four_types
from bounds.testing import explicit_instances, instances
from theory.greedy.optimal import solve
from theory.greedy.servers import greedy_placement, least_servers
from theory.instance import Instance, additive


def certificate(instance: Instance, servers: int | None) -> dict[str, Any]:
    whole = None
    if servers is not None:
        jobs = [servers * rho for rho in instance.workload]
        whole = (servers, greedy_placement(instance, servers), least_servers(instance, jobs))
    document: dict[str, Any] = json.loads(json.dumps(assignment_certificate(solve(instance), whole)))
    return document


@pytest.mark.slow
@given(instances(max_pools=3) | explicit_instances(), st.none() | st.integers(1, 50))
def test_what_is_made_is_accepted(instance: Instance, servers: int | None) -> None:
    document = certificate(instance, servers)
    assert checker.check(document) == document["claims"]


def test_servers_that_prices_and_a_placement_leave_open() -> None:
    """Jobs of 1/2, twice 1/3 and four times 1/5 are worth less than two servers, and no placement on two holds them."""
    document = certificate(additive([30], [[15], [10], [6]], workload=["1/2", 1, 2]), 2)
    servers = checker.check(document)["servers"]
    assert (servers["least"], servers["most"]) == (2, 3)


def places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def altered(value: Any, choose: random.Random) -> Any:
    if isinstance(value, str):
        try:
            return str(Fraction(value) + choose.choice([1, Fraction(-1, 2), Fraction(1, 1000), Fraction(value)]))
        except ValueError:
            return choose.choice(["t1", "t2", value + "x"])
    if isinstance(value, int):
        return value + choose.choice([1, -1, 2])
    if value is None:
        return "t1"
    changed = copy.copy(value)
    if isinstance(changed, dict):
        if changed and choose.random() < 0.5:
            del changed[choose.choice(sorted(changed))]
        else:
            changed["t1"] = choose.choice([0, 1, "1/2"])
    elif changed and choose.random() < 0.6:
        choose.choice([changed.pop, lambda: changed.append(changed[0]), changed.reverse])()
    else:
        changed.append(choose.choice([0, "t1", {}]))
    return changed


def alterations(count: int) -> Iterator[tuple[dict[str, Any], tuple[Any, ...]]]:
    generator, choose = np.random.default_rng(5), random.Random(5)
    texts = [
        json.dumps(certificate(random_instance(generator, pools=1 + i % 3), choose.choice([None, 1, 7, 100])))
        for i in range(40)
    ]
    while count:
        document = json.loads(choose.choice(texts))  # to read one again is quicker than to copy it
        part = choose.choice(["evidence", "claims"])
        path = choose.choice(list(places(document[part], (part,))))
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        new = altered(holder[path[-1]], choose)
        if new != holder[path[-1]]:
            holder[path[-1]] = new
            count -= 1
            yield document, path


@pytest.mark.slow
def test_a_thousand_alterations_are_refused() -> None:
    for document, path in alterations(1000):
        with pytest.raises(checker.Refused, match="digest"):
            checker.check(document)
        document["digest"] = checker.digest(document)
        try:
            checker.check(document)
        except checker.Refused:
            continue
        pytest.fail(f"accepted an alteration at {path}")


def test_an_altered_instance_is_accepted_only_if_the_claims_are_true_of_it() -> None:
    document = certificate(four_types(), None)
    kinds = document["instance"]["type"]
    kinds[0]["service_rate"] = "3"  # no claim speaks of it
    document["digest"] = checker.digest(document)
    checker.check(document)
    kinds[0]["workload"] = "4"
    document["digest"] = checker.digest(document)
    with pytest.raises(checker.Refused):
        checker.check(document)


@pytest.mark.slow
def test_it_runs_alone(tmp_path: Path) -> None:
    alone = shutil.copy(checker.__file__, tmp_path / "alone.py")
    path = tmp_path / "c.json"
    document = certificate(four_types(), 100)
    path.write_text(json.dumps(document))
    command = [sys.executable, "-I", "-S", str(alone), str(path)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    document["claims"]["ratio"] = "1"
    path.write_text(json.dumps(document))
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    path.write_text("{}")
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_check_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = Path(__file__).parent.parent.parent / "examples" / "four_types.toml"
    path = tmp_path / "c.json"
    assert run(["solve", str(source), "--certificate", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ratio_exact"] == "449/515"
    assert run(["check", str(path), "--instance", str(source)]) == 0
    other = tmp_path / "other.toml"
    other.write_text(source.read_text().replace("48/13", "4"))
    assert run(["check", str(path), "--instance", str(other)]) == 1
    document = json.loads(path.read_text())
    document["digest"] = "0" * 64
    path.write_text(json.dumps(document))
    assert run(["check", str(path)]) == 1
    path.write_text('{"format": "packproof/2", "x": 1.5}')
    assert run(["check", str(path)]) in (1, 2)


def test_large_tables_are_refused_not_attempted() -> None:
    document = certificate(four_types(), None)
    document["instance"]["server"][0]["capacity"] = {"cpu": "80000001", "memory": "640000007"}
    document["instance"]["type"][0]["demand"] = {"cpu": "1", "memory": "3"}
    document["digest"] = checker.digest(document)
    with pytest.raises((checker.Unreadable, checker.Refused)):
        checker.check(document)


def test_every_type_that_ends_with_a_stage_is_named() -> None:
    """Two types end together: the certificate names both, and a list that names one, or more, is refused."""
    instance = additive([2, 2], [[1, 0], [0, 1]], workload=[1, 1])
    certificate = assignment_certificate(solve(instance))
    (stage,) = certificate["evidence"]["stages"]
    assert (certificate["format"], stage["exhausts"]) == ("packproof/2", ["t1", "t2"])
    assert checker.check(certificate)
    for forged in (["t1"], ["t2"], ["t2", "t1"], [], None, "t1", ["t1", "t2", "t2"]):
        stage["exhausts"] = forged
        certificate["digest"] = checker.digest(certificate)
        with pytest.raises(checker.Refused, match="exhaust"):
            checker.check(certificate)
