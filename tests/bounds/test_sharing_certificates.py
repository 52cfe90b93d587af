"""Certificates of allocations: accepted as made, refused when altered, with the digest recomputed."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from bounds import checker
from bounds.certificates.allocation import allocation_certificate
from bounds.results.instances.drawn import random_cluster
from theory.sharing.checks import is_ps_dsf
from theory.sharing.mechanisms import MECHANISMS
from theory.sharing.model import Cluster, User, cluster


def made(name: str, seed: int) -> dict:
    instance = random_cluster(random.Random(seed), 5, 3, 3, counts=4)
    return allocation_certificate(instance, MECHANISMS[name](instance))


def numbers_of(value, path=()):
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from numbers_of(entry, (*path, key))
    elif isinstance(value, list):
        for key, entry in enumerate(value):
            yield from numbers_of(entry, (*path, key))
    elif isinstance(value, str) and path[-1] not in {"mechanism", "name", "ignored"}:
        yield path


def altered(document, path, change):
    document = copy.deepcopy(document)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = change(place[path[-1]])
    document["digest"] = checker.digest(document)
    return document


@pytest.mark.parametrize("name", list(MECHANISMS))
@pytest.mark.parametrize("seed", range(10))
def test_accepted_as_made(name, seed):
    document = json.loads(json.dumps(made(name, seed)))
    assert checker.check(document) == document["claims"]


@pytest.mark.parametrize("name", list(MECHANISMS))
@pytest.mark.parametrize("seed", range(4))
def test_every_number_counts(name, seed):
    document = made(name, seed)
    for part in ("evidence", "claims"):
        for path in numbers_of(document[part], (part,)):
            for change in (lambda t: str(Fraction(t) * Fraction(8, 7)), lambda t: str(Fraction(t) - Fraction(1, 9))):
                with pytest.raises(checker.Refused):
                    checker.check(altered(document, path, change))


def test_another_mechanism_is_refused():
    figure_1 = cluster([[9, 12, 100], [12, 12, 0]], [[1, 2, 10], [1, 2, 1], [1, 2, 0]], weights=[1, 1, 2])
    for name, mechanism in MECHANISMS.items():
        document = allocation_certificate(figure_1, mechanism(figure_1))
        for other in ("drf", "c-drfh", "tsf", "ps-dsf"):
            if other != name and {name, other} != {"tsf", "cdrf"} and {name, other} != {"ps-dsf", "ps-dsf-tdm"}:
                with pytest.raises(checker.Refused):
                    checker.check(altered(document, ("claims", "mechanism"), lambda _, new=other: new))


def test_missing_and_added_evidence_is_refused():
    document = made("tsf", 1)
    for change in (
        lambda stages: stages[:-1],
        lambda stages: stages + stages[-1:],
        lambda _: [],
        lambda stages: stages[::-1] if len(stages) > 1 else [],
    ):
        with pytest.raises(checker.Refused):
            checker.check(altered(document, ("evidence", "stages"), change))
    with pytest.raises(checker.Refused):
        checker.check(altered(made("ps-dsf", 1), ("evidence",), lambda e: {**e, "stages": []}))


def test_an_altered_cluster_is_refused_unless_the_claims_are_true_of_it():
    document = made("ps-dsf", 2)
    for path in numbers_of(document["instance"], ("instance",)):
        if path[-1] == "count" or "servers" in path:
            continue
        changed = altered(document, path, lambda t: str(Fraction(t) * 2))
        try:
            checker.check(changed)
        except checker.Refused:
            continue
        from theory.files.clusters import parse_cluster

        pass

        instance = parse_cluster(changed["instance"])
        rows = changed["evidence"]["allocation"]
        tasks = [[Fraction(rows[u.name].get(s.name, 0)) for s in instance.servers] for u in instance.users]
        assert is_ps_dsf(instance, tasks)


def test_effective_capacities():
    base = cluster([[4, 2], [3, 3]], [[1, 1], [2, 1]])
    users = (
        User("u1", base.users[0].demand, effective={"s2": (Fraction(6), Fraction(3))}),
        User("u2", base.users[1].demand, Fraction(2), servers=("s1", "s2")),
    )
    instance = Cluster(base.resources, base.servers, users)
    for mechanism in MECHANISMS.values():
        checker.check(allocation_certificate(instance, mechanism(instance)))


def test_what_drf_ignores_is_claimed_and_verified():
    """All servers count as one, so that borders, placement and effective capacities count for nothing."""
    base = cluster([[4, 2], [3, 3]], [[1, 1], [2, 1]])
    plain, placed = base.users[0], User("u2", base.users[1].demand, servers=("s2",))
    seen = User("u1", plain.demand, effective={"s2": (Fraction(6), Fraction(3))})
    drf = MECHANISMS["drf"]
    for users, ignored in (
        ((plain, base.users[1]), "borders of servers"),
        ((plain, placed), "borders of servers, placement"),
        ((seen, placed), "borders of servers, effective capacities, placement"),
    ):
        instance = Cluster(base.resources, base.servers, users)
        document = allocation_certificate(instance, drf(instance))
        assert checker.check(document)["ignored"] == ignored
        for wrong in ("", "placement", "borders of servers, effective capacities", [ignored], None):
            with pytest.raises(checker.Refused):
                checker.check(altered(document, ("claims", "ignored"), lambda _, new=wrong: new))
        del document["claims"]["ignored"]
        checker.check(altered(document, ("claims", "mechanism"), str)), "certificates of before do not say it"
    alone = cluster([[4, 2]], [[1, 1], [2, 1]])
    assert "ignored" not in checker.check(allocation_certificate(alone, drf(alone)))
    for name in set(MECHANISMS) - {"drf"}:
        document = allocation_certificate(base, MECHANISMS[name](base))
        with pytest.raises(checker.Refused):
            checker.check(altered(document, ("claims",), lambda claims: {**claims, "ignored": "borders of servers"}))


def test_the_checker_runs_alone(tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(made("c-drfh", 3)))
    alone = tmp_path / "checker.py"
    alone.write_text(Path(checker.__file__).read_text())
    command = [sys.executable, "-I", "-S", str(alone), str(path)]
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 0
    path.write_text(json.dumps({**made("c-drfh", 3), "digest": "0" * 64}))
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 1
