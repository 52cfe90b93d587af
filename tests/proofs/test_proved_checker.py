"""The checker of assignments that is proved sound in Coq agrees with `bounds/checker.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bounds import checker
from bounds.certificates.assignment import assignment_certificate
from bounds.results.instances.drawn import random_instance
from bounds.results.instances.papers import four_types, tight_family, tight_family_additive
from tests.bounds.test_certificates import alterations, certificate
from tests.checker.corpus import CERTIFICATES, GONE, at, changed, places, signed
from tests.checker.test_alterations import others
from tests.proofs.built import PROOFS, proved_checker
from tests.proofs.verdicts import Proved, converter, python
from theory.greedy.optimal import Column, solve
from theory.instance import Instance, additive, explicit


def instances() -> Iterator[Instance]:
    generator = np.random.default_rng(17)
    for i in range(60):
        yield random_instance(generator, pools=1 + i % 3, exact_fit=i % 5 == 0)
    for _ in range(30):
        rows = generator.integers(0, 5, (int(generator.integers(1, 5)), int(generator.integers(1, 4))))
        rows[0] += rows.max(axis=0) == 0
        workload = [Fraction(int(n), 3) for n in generator.integers(0, 9, rows.shape[1])]
        yield explicit(rows.tolist(), [int(n) for n in generator.integers(1, 6, rows.shape[1])], workload)
    yield four_types()
    for types in (2, 3, 4):
        yield tight_family(types)
        yield tight_family_additive(types)


@pytest.mark.slow
def test_both_accept_what_is_made(proved: Proved) -> None:
    for instance in instances():
        document = certificate(instance, None)
        assert python(document) == "accepted"
        assert proved(document) == "accepted"


@pytest.mark.slow
def test_they_agree_on_alterations(proved: Proved) -> None:
    decided = 0
    for document, path in alterations(300):
        if "servers" in path:  # whole servers are not in the proved checker
            continue
        for part in ("evidence", "claims"):
            document[part].pop("servers", None)
        verdict = proved(signed(document))
        assert verdict.startswith(python(document)), path
        decided += verdict == "refused"
    assert decided > 100  # refused by the proved part, not by the reader alone


@pytest.mark.slow
def test_they_agree_on_altered_instances(proved: Proved) -> None:
    generator, verdicts = np.random.default_rng(3), []
    for i in range(60):
        document = certificate(random_instance(generator, pools=1 + i % 2), None)
        kind = document["instance"]["type"][0]
        name = ("workload", "reward", "service_rate")[i % 3]
        kind[name] = str(Fraction(kind[name]) + Fraction(1, 1 + i % 4))
        verdict = proved(signed(document))
        assert verdict == python(document)
        verdicts.append(verdict)
    assert {"accepted", "refused"} == set(verdicts)


def forgeries() -> Iterator[dict[str, Any]]:
    """Numbers altered so that they agree with each other: each breaks one condition alone."""
    half, one = Fraction(1, 2), Fraction(1)
    two = additive([12], [[5], [7]])
    solution = solve(two)
    understated = replace(
        solution.optimal,
        reward=Fraction(3, 2),
        columns=(Column(0, (2, 0), half), Column(0, (0, 1), half)),
        slot_prices=(one, one),
        server_prices=(Fraction(3, 2),),
        job_prices=(Fraction(0), Fraction(0)),
    )
    yield assignment_certificate(replace(solution, optimal=understated))
    more = solve(two.with_workload([2, 2]))
    columns = (Column(0, (1, 1), Fraction(2)),)  # twice the servers that there are
    yield assignment_certificate(
        replace(more, optimal=replace(more.optimal, reward=2 * more.optimal.reward, columns=columns))
    )
    infeasible = replace(
        more.optimal,
        reward=Fraction(4),
        columns=(Column(0, (2, 2), one),),
        slot_prices=(one, one),
        server_prices=(Fraction(4),),
    )
    yield assignment_certificate(replace(more, optimal=infeasible))
    first, second = solution.greedy.stages
    other_tie = replace(first, configurations=((1, 1),), fraction=one, ended=(0, 1), exhausts=0)
    reward = Fraction(2)  # a better run, against the tie rule
    yield assignment_certificate(
        replace(solution, greedy=replace(solution.greedy, stages=(other_tie,), reward=reward, served=(one, one)))
    )
    yield assignment_certificate(replace(solution, greedy=replace(solution.greedy, stages=(second, first))))
    longer = replace(first, fraction=Fraction(2, 3)), replace(second, fraction=Fraction(1, 3))
    slower = replace(solution.greedy, stages=longer, reward=Fraction(5, 3))
    yield assignment_certificate(replace(solution, greedy=slower))


def test_both_refuse_forgeries(proved: Proved) -> None:
    for document in forgeries():
        assert python(document) == "refused"
        assert proved(document) == "refused"


def claims_on_servers() -> Iterator[dict[str, Any]]:
    """Yield every assignment of the corpus on whole servers, and forgeries of its claims and evidence on them."""
    for document in CERTIFICATES.values():
        if document["kind"] != "assignment" or "servers" not in document["claims"]:
            continue
        yield document
        for part in ("claims", "evidence"):
            for path in places(document[part]["servers"], (part, "servers")):
                for other in others(at(document, path), 0):
                    yield changed(document, (path, other))
            yield changed(document, ((part, "servers"), GONE))


@pytest.mark.slow
def test_claims_on_whole_servers_are_refused(tmp_path: Path) -> None:
    """Whether they are true or forged: they would pass unread."""
    convert, false = converter(), 0
    for document in claims_on_servers():
        with pytest.raises(checker.Unreadable, match="does not check claims on whole servers"):
            convert.converted(document)
        false += document not in CERTIFICATES.values()
    assert false > 2000
    path = tmp_path / "c.json"
    path.write_text(json.dumps(CERTIFICATES["assignment, one pool"]))
    command = [sys.executable, "-I", str(PROOFS / "convert.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_types_that_end_with_a_stage(proved: Proved) -> None:
    document = certificate(additive([2, 2], [[1, 0], [0, 1]]), None)
    (stage,) = document["evidence"]["stages"]
    for exhausts, expected in (
        (["t1", "t2"], "accepted"),
        (["t1"], "refused"),
        (["t2", "t1"], "refused"),
        ([], "refused"),
    ):
        stage["exhausts"] = exhausts
        assert proved(signed(document)) == python(document) == expected


@pytest.mark.slow
def test_commands(tmp_path: Path) -> None:
    program = proved_checker()
    source, words = tmp_path / "c.json", tmp_path / "c.txt"
    source.write_text(json.dumps(certificate(four_types(), None)))
    command = [sys.executable, "-I", str(PROOFS / "convert.py"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    words.write_text(done.stdout)
    assert subprocess.run([program, words], capture_output=True, check=False).returncode == 0
    words.write_text(done.stdout.replace("claims 1796/13", "claims 1797/13"))
    assert subprocess.run([program, words], capture_output=True, check=False).returncode == 1
    spoiled = [done.stdout.replace(*change) for change in (("449/515", "449/0"), ("types 4", "types"))]
    for broken in ("", done.stdout + " 1", *spoiled):
        words.write_text(broken)
        done_2 = subprocess.run([program, words], capture_output=True, text=True, check=False)
        assert (done_2.returncode, done_2.stderr.count("\n")) == (2, 1)
    source.write_text("{}")
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2
