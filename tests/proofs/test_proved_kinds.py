"""The proved checkers of regions, throughputs and allocations agree with `bounds/checker.py`."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bounds import checker
from bounds.certificates import allocation_certificate, region_certificate, throughput_certificate
from bounds.results.instances.drawn import random_cluster, random_instance
from tests.checker.corpus import CERTIFICATES, Document, at, changed, places
from tests.checker.test_alterations import forgeries, others, same
from tests.proofs.built import PROOFS
from tests.proofs.verdicts import Proved, converter, python
from theory.files.sizes import parse_sizes
from theory.instance import additive
from theory.partition import bracket, vqs_workload
from theory.region import CapacityProgram
from theory.sharing.mechanisms import MECHANISMS

KINDS = ("region", "throughput", "allocation")


def is_covered(document: Document) -> bool:
    """Return whether something is proved of all claims of a certificate."""
    law = document["instance"].get("sizes", {"discrete": {}})
    return document["kind"] in KINDS and "facets" not in document["claims"] and "discrete" in law


TWO_TYPES = additive([12], [[5], [7]], workload=[1, 1])
CORPUS = {name: document for name, document in CERTIFICATES.items() if is_covered(document)}


def plain(document: dict[str, Any]) -> Document:
    result: Document = json.loads(json.dumps(document))
    return result


def regions(count: int) -> Iterator[Document]:
    generator = np.random.default_rng(23)
    for i in range(count):
        instance = random_instance(generator, pools=1 + i % 3, exact_fit=i % 5 == 0)
        yield plain(region_certificate(instance, CapacityProgram(instance).intensity()))


def throughputs(count: int) -> Iterator[Document]:
    generator = random.Random(23)
    for i in range(count):
        unit = generator.choice([7, 12, 30, 60])
        chances = {n: generator.randint(1, 5) for n in generator.sample(range(1 + unit // 10, unit + 1), 1 + i % 5)}
        everything = sum(chances.values())
        law = {str(Fraction(n, unit)): str(Fraction(p, everything)) for n, p in chances.items()}
        sizes = parse_sizes({"sizes": {"discrete": law, "servers": 1 + i % 4}})
        yield plain(throughput_certificate(sizes, bracket(sizes.law), vqs_workload(sizes.law)))


def allocations(count: int) -> Iterator[Document]:
    generator = random.Random(23)
    for i in range(count):
        drawn = random_cluster(generator, 1 + i % 4, 1 + i % 3, 1 + i % 2, counts=2)
        if all(any(server.capacity) for server in drawn.servers):  # others are no cluster of a file
            for allocate in MECHANISMS.values():
                document = allocate(drawn)
                if document.exact:
                    yield plain(allocation_certificate(drawn, document))


@pytest.mark.slow
@pytest.mark.parametrize(("documents", "least"), [(regions(30), 30), (throughputs(20), 20), (allocations(14), 70)])
def test_both_accept_what_is_made(proved: Proved, documents: Iterator[Document], least: int) -> None:
    count = 0
    for document in documents:
        assert python(document) == "accepted"
        assert proved(document) == "accepted", document
        count += 1
    assert count >= least


@pytest.mark.slow
def test_they_agree_on_alterations(proved: Proved) -> None:
    """A part of the forgeries that `tests/checker` refuses, with the digest made anew."""
    decided = dict.fromkeys(KINDS, 0)
    for name, document in CORPUS.items():
        for path, other in list(forgeries(document))[::4]:
            forged = changed(document, (path, other))
            verdict = proved(forged)
            assert verdict.startswith(python(forged)), (name, path, other)
            decided[document["kind"]] += verdict == "refused"
    assert min(decided.values()) > 40, decided  # refused by the proved part, not by the reader alone


@pytest.mark.slow
def test_they_agree_on_altered_instances(proved: Proved) -> None:
    verdicts = {kind: set[str]() for kind in KINDS}
    documents = [*regions(4), *throughputs(4), *allocations(3), *CORPUS.values()]
    altered = [
        (document, path, other)
        for document in documents
        for path in places(document["instance"], ("instance",))
        for other in others(at(document, path), 0)[:3]
        if not same(at(document, path), other)
    ]
    for document, path, other in altered[:: 1 + len(altered) // 350]:
        forged = changed(document, (path, other))
        verdict = proved(forged)
        assert verdict.startswith(python(forged)), (document, path, other)
        verdicts[document["kind"]].add(verdict)
    assert all("refused" in document for document in verdicts.values()), verdicts
    assert "accepted" in verdicts["region"] & verdicts["allocation"]  # the law alone has no numbers without effect


def false_regions() -> Iterator[Document]:
    """Numbers that agree with each other, with one condition broken: a server of 12, types of 5 and 7, one job each."""
    document = plain(region_certificate(TWO_TYPES, CapacityProgram(TWO_TYPES).intensity()))
    assert document["claims"]["traffic_intensity"] == "1"
    columns = ("evidence", "columns")
    single = [column_of("1/2", t1=2), column_of("1", t2=1)]
    yield changed(document, (columns, [column_of("1/2", t1=2, t2=2)]))  # does not fit
    yield changed(document, (columns, single))  # more servers than claimed
    yield changed(document, (columns, single), (("claims", "traffic_intensity"), "3/2"))  # the prices prove less
    yield changed(document, (columns, [column_of("1/2", t1=1, t2=1)]))  # half of the workload
    yield changed(document, (("claims", "supportable"), True))


def column_of(fraction: str, **slots: int) -> Document:
    return {"pool": "pool1", "configuration": slots, "fraction": fraction}


def false_throughputs() -> Iterator[Document]:
    """Jobs of size 3/5, of which a server holds one."""
    law = parse_sizes({"sizes": {"discrete": {"3/5": "1"}, "servers": 1}})
    document = plain(throughput_certificate(law, bracket(law.law), vqs_workload(law.law)))
    claims, evidence = document["claims"], document["evidence"]
    assert (claims["lower"], claims["upper"], claims["vqs"], claims["J"]) == ("1", "1", "1", 2)
    two = {"columns": [{"slots": [0, 2, 0, 0], "fraction": "1"}], "prices": ["0", "1/2", "0", "0"]}
    below = {**evidence["below"], "columns": [{"slots": {"0": 2}, "fraction": "1"}]}
    yield changed(document, (("evidence", "below"), below), (("claims", "lower"), "2"))  # two do not fit
    twice = {**evidence["below"], "columns": [{"slots": {"0": 1}, "fraction": "2"}]}
    yield changed(document, (("evidence", "below"), twice), (("claims", "lower"), "2"))  # two servers
    (point, _) = evidence["above"]["points"][0]
    above = {**evidence["above"], "points": [[point, "2"]]}
    yield changed(document, (("evidence", "above"), above), (("claims", "upper"), "1/2"))  # a job is worth more than 1
    yield changed(document, (("evidence", "vqs"), two), (("claims", "vqs"), "2"))  # not a reduced configuration
    dear = {**evidence["vqs"], "prices": ["0", "2", "0", "0"]}
    yield changed(document, (("evidence", "vqs"), dear), (("claims", "vqs"), "1/2"))
    wide = {"columns": [{"slots": [0, 1, 0, 0, 0, 0], "fraction": "1"}], "prices": ["0", "1", *["0"] * 4]}
    yield changed(document, (("evidence", "vqs"), wide), (("claims", "J"), 3))  # 2 is enough


def false_allocations() -> Iterator[Document]:
    """Everybody has half of what is fair, or twice: the totals are right, and prices go with them."""
    for name, document in CORPUS.items():
        if document["kind"] == "allocation":
            for factor in (Fraction(1, 2), Fraction(2)):
                placed = {
                    user: {s: str(factor * Fraction(x)) for s, x in row.items()}
                    for user, row in document["evidence"]["allocation"].items()
                }
                tasks = {user: str(factor * Fraction(x)) for user, x in document["claims"]["tasks"].items()}
                changes: list[Any] = [(("evidence", "allocation"), placed), (("claims", "tasks"), tasks)]
                if "stages" in document["evidence"]:
                    stages = [
                        {**stage, "values": {user: str(Fraction(q) / factor) for user, q in stage["values"].items()}}
                        for stage in document["evidence"]["stages"]
                    ]
                    changes.append((("evidence", "stages"), stages))
                yield changed(document, *changes)
            if name.endswith("constrained"):  # the shares of the one under the name of the other
                other = {
                    "c-drfh": "tsf",
                    "tsf": "cdrf",
                    "cdrf": "c-drfh",
                    "ps-dsf": "ps-dsf-tdm",
                    "ps-dsf-tdm": "ps-dsf",
                }
                mechanism = document["claims"]["mechanism"]
                if mechanism in other:
                    yield changed(document, (("claims", "mechanism"), other[mechanism]))


@pytest.mark.parametrize("forged", [false_regions, false_throughputs, false_allocations])
def test_both_refuse_forgeries(proved: Proved, forged: Any) -> None:
    for document in forged():
        assert python(document) == "refused"
        assert proved(document) == "refused", document


def test_what_is_not_proved_is_refused_in_one_line(tmp_path: Path) -> None:
    """Facets, continuous laws, and other kinds, whether true or forged."""
    convert, beyond = converter(), [document for document in CERTIFICATES.values() if not is_covered(document)]
    beyond = [document for document in beyond if document["kind"] != "assignment"]
    for document in beyond:
        with pytest.raises(checker.Unreadable, match=r"the proved checker does not check|expected a certificate of"):
            convert.converted(document)
    assert {document["kind"] for document in beyond} == {
        "region",
        "throughput",
        "worst",
        "packing",
        "rule",
        "fair-share",
        "fairness",
        "cost",
    }
    path = tmp_path / "c.json"
    path.write_text(json.dumps(CERTIFICATES["region, square"]))
    command = [sys.executable, "-I", str(PROOFS / "convert.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_sizes_taken_together_are_not_covered() -> None:
    law = {"discrete": {"1/2": "1/2", "1/3": "1/2"}, "servers": 1}
    columns = [{"slots": {"0": 2}, "fraction": "1"}]
    document = changed(
        plain(
            throughput_certificate(sizes := parse_sizes({"sizes": law}), bracket(sizes.law), vqs_workload(sizes.law))
        ),
        (("evidence", "below"), {"cells": [["1/2", "0"]], "columns": columns}),
        (("claims", "lower"), "2"),
    )
    assert python(document) == "accepted"
    with pytest.raises(checker.Unreadable, match="sizes that are taken together"):
        converter().converted(document)
