"""Exported files, read back by readers of their own, say exactly what the certificate says."""

from __future__ import annotations

import copy
import json
import operator as op
import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from bounds import checker
from bounds.answers.exports import CheckedCertificate
from bounds.certificates import assignment_certificate, region_certificate
from bounds.cli import run
from bounds.exports import FORMATS, Exported, export, programs, smtlib
from bounds.exports.document import certificate_of
from bounds.exports.kinds import TABLE
from bounds.exports.programs import Program, programs_of
from bounds.testing import explicit_instances, instances
from bounds.views.exports import tables
from tests.bounds.validated import expect_valid
from tests.foreign.certificates import allocations, assignments, regions, throughputs
from theory.errors import InputError, TooLargeError
from theory.greedy import solve
from theory.instance import Instance, additive
from theory.numbers import total
from theory.region import CapacityProgram, region_facets

ROOT = Path(__file__).parents[2]
FROZEN = sorted((ROOT / "tests" / "frozen" / "certificates").glob("*.json"))


def documents() -> Iterator[dict[str, Any]]:
    for made in (assignments, regions, throughputs, allocations):
        yield from made()[:8]


# ---- linear programs -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(instances(max_pools=3) | explicit_instances())
def test_solutions_of_the_program_and_its_dual_have_the_claimed_value(instance: Instance) -> None:
    for document in (
        assignment_certificate(solve(instance)),
        region_certificate(instance, CapacityProgram(instance).intensity(), region_facets(instance)),
    ):
        for program in programs_of(certificate_of(document)):
            assert_optimal(program)


def test_programs_of_laws_and_allocations_are_optimal() -> None:
    for document in [*throughputs(), *allocations()]:
        for program in programs_of(certificate_of(document)):
            assert_optimal(program)


def assert_optimal(program: Program) -> None:
    """Primal and dual are feasible and have the claimed value: so it is the optimum (weak duality)."""
    x, c = program.primal, program.objective
    assert set(x) <= set(c)
    assert min(x.values(), default=0) >= 0
    for row in program.rows:
        assert total(a * x.get(v, Fraction(0)) for v, a in row.coefficients.items()) <= row.bound
    assert program.dual is not None
    assert min(program.dual) >= 0
    paid = dict.fromkeys(c, Fraction(0))
    for row, y in zip(program.rows, program.dual, strict=True):
        for v, a in row.coefficients.items():
            paid[v] += a * y
    assert all(paid[v] >= c[v] for v in c)
    assert total(c[v] * amount for v, amount in x.items()) == program.optimum
    assert total(row.bound * y for row, y in zip(program.rows, program.dual, strict=True)) == program.optimum


Rows = dict[str, tuple[dict[str, Fraction], Fraction]]
Parsed = tuple[dict[str, Fraction], Rows, Fraction]


def parsed_sum(text: str) -> dict[str, Fraction]:
    found = re.findall(r"([+-]) (\S+) ([a-z]\S*)", text)
    assert "".join(f"{sign} {c} {v} " for sign, c, v in found).split() == text.split()
    return {v: Fraction(c) * (-1 if sign == "-" else 1) for sign, c, v in found}


def read_lp(text: str) -> Parsed:
    """Read the LP dialects: objective, rows and claimed optimum."""
    body = "\n".join(line for line in text.splitlines() if not line.startswith("\\"))
    match = re.fullmatch(r"(?:Problem\n \w+\n)?Maximize\n obj: (.*?)\nSubject To\n(.*)\nEnd", body, re.S)
    assert match is not None
    rows: Rows = {}
    for name, left, right in re.findall(r"(\w+): (.*?) <= (\S+)", match[2], re.S):
        rows[name] = (parsed_sum(left), Fraction(right))
    return parsed_sum(match[1]), rows, claimed(text)


def claimed(text: str) -> Fraction:
    match = re.search(r"claimed optimum: (\S+)", text)
    assert match is not None
    return Fraction(match[1])


def proportional(a: tuple[dict[str, Fraction], Fraction], b: tuple[dict[str, Fraction], Fraction]) -> bool:
    """Whether two rows are the same inequality: equal up to a positive factor."""
    (first, right), (second, other) = a, b
    v = next(iter(first))
    factor = second[v] / first[v]
    return factor > 0 and {x: c * factor for x, c in first.items()} == second and right * factor == other


def test_programs_read_back() -> None:
    for document in documents():
        programs = programs_of(certificate_of(document))
        for program, file in zip(programs, export(document, "lp"), strict=True):
            objective, rows, optimum = read_lp(file.text)
            wanted = {v: c for v, c in program.objective.items() if c}
            assert proportional((objective, optimum), (wanted, program.optimum))
            assert list(rows) == [row.name for row in program.rows]
            assert all(proportional(rows[row.name], (row.coefficients, row.bound)) for row in program.rows)
            numbers = [optimum, *objective.values(), *(c for row, b in rows.values() for c in (b, *row.values()))]
            assert all(number.denominator == 1 for number in numbers)
            assert not re.search(r"\d[./]\d", "\n".join(line for line in file.text.splitlines() if line[0] == " "))


def test_a_number_that_readers_would_round_is_refused() -> None:
    document = assignment_certificate(solve(additive([12], [[5], [7]], workload=["1/9007199254740993", 1])))
    with pytest.raises(TooLargeError, match="--format smtlib"):
        export(document, "lp")
    assert "9007199254740993" in export(document, "smtlib")[0].text


def test_where_configurations_are_too_many_the_program_says_so() -> None:
    instance = additive([4000], [[d] for d in (7, 11, 13, 17, 19, 23)], workload=[1] * 6)
    (program,) = programs_of(certificate_of(assignment_certificate(solve(instance))))
    assert "which are not all" in program.states
    assert_optimal(program)  # the prices are dual to the columns listed, and to all others


# ---- facets and vertices ---------------------------------------------------------------------------------------------


def rows_of(file: Exported, form: str) -> list[list[Fraction]]:
    match = re.search(rf"^{form}\nbegin\n(\d+) (\d+) rational\n(.*)\nend\n$", file.text, re.M | re.S)
    assert match is not None
    rows = [[Fraction(word) for word in line.split()] for line in match[3].splitlines()]
    assert (len(rows), {len(row) for row in rows}) == (int(match[1]), {int(match[2])})
    return rows


def test_facets_and_vertices_read_back() -> None:
    for document in regions():
        facets, vertices = export(document, "lrs")
        m = checker.model(document["instance"])
        claims = [
            [Fraction(facet["offset"]), *(-Fraction(facet["normal"][name]) for name in m.names)]
            for facet in document["claims"]["facets"]
        ]
        assert rows_of(facets, "H-representation") == claims
        corners = [
            [Fraction(1), *checker.slots_of(m, [m.configuration(made[pool.name], "") for pool in m.pools])]
            for made in document["evidence"]["boundary"]["vertices"]
        ]
        assert rows_of(vertices, "V-representation") == [*corners, [Fraction(1), *[Fraction(0)] * len(m.names)]]


# ---- queries ---------------------------------------------------------------------------------------------------------

Tree = Any


def trees(text: str) -> list[Tree]:
    """Read s-expressions."""
    stack: list[list[Tree]] = [[]]
    for word in re.findall(r"[()]|[^\s()]+", re.sub(r";[^\n]*", "", text)):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    (found,) = stack
    return found


Value = Callable[[tuple[int, ...]], Any]
COMPARISONS = {"<=": op.le, ">=": op.ge, "<": op.lt, ">": op.gt, "=": op.eq}


def value(tree: Tree, variables: list[str]) -> Value:
    """Return what evaluates a term or a formula at values of its variables: a tree is read once for all of them."""
    if isinstance(tree, str):
        if tree in variables:
            return op.itemgetter(variables.index(tree))
        constant = {"true": True, "false": False}[tree] if tree in ("true", "false") else int(tree)
        return lambda _: constant
    operator, *rest = tree
    parts = [value(part, variables) for part in rest]
    if operator in ("+", "and", "or"):
        together = {"+": sum, "and": all, "or": any}[operator]
        return lambda at: together([part(at) for part in parts])
    if operator in ("-", "not"):
        (one,) = parts
        return (lambda at: -one(at)) if operator == "-" else (lambda at: not one(at))
    a, b = parts
    if operator == "*":
        assert rest[0] not in variables  # linear: a number in front
        factor = a(())
        return lambda at: factor * b(at)
    compare = COMPARISONS[operator]
    return lambda at: compare(a(at), b(at))


def queries(document: dict[str, Any]) -> list[tuple[str, list[str], list[Tree]]]:
    """Read a script: what each query says, its variables and its assertions."""
    (file,) = export(document, "smtlib")
    found = []
    for part in file.text.split("(reset)"):
        (said,) = re.findall(r"^; query \d+: (.*)$", part, re.M)
        commands = trees(part)
        assert commands[0] == ["set-logic", "QF_LIA"]
        assert commands[-1] == ["check-sat"]
        variables = [c[1] for c in commands if c[0] == "declare-const"]
        assert all(c[2:] == ["Int"] for c in commands if c[0] == "declare-const")
        found.append((said, variables, [c[1] for c in commands if c[0] == "assert"]))
    assert file.expected == f"{len(found)} times unsat"
    return found


def answers(variables: list[str], assertions: list[Tree], most: int) -> set[tuple[int, ...]]:
    """Return the solutions of a query with all variables from -1 to a bound."""
    points = product(range(-1, most + 1), repeat=len(variables))
    holds = [value(assertion, variables) for assertion in assertions]
    return {k for k in points if all(one(k) for one in holds)}


SMALL = additive([7, 5], [[2, 1], [1, 2]], rewards=["3/2", 1], workload=["1/3", 2])


def test_a_query_of_prices_has_the_dearer_configurations_as_its_solutions() -> None:
    document = assignment_certificate(solve(SMALL))
    (pool,) = checker.model(document["instance"]).pools
    evidence = document["evidence"]
    for price in ("0", "1", "3/2", "2", evidence["server_prices"]["pool1"]):
        for name in evidence["slot_prices"]:
            evidence["slot_prices"][name] = "2/3" if name == "t1" else "1/2"
        evidence["server_prices"]["pool1"] = price
        document["digest"] = checker.digest(document)
        _, variables, assertions = queries(document)[0]
        dearer = {
            k
            for k in product(range(9), repeat=2)
            if pool.holds(k) and Fraction(2, 3) * k[0] + Fraction(1, 2) * k[1] > Fraction(price)
        }
        assert answers(variables, assertions, 9) == dearer


def test_a_query_of_greedy_has_the_preferred_configurations_as_its_solutions() -> None:
    document = assignment_certificate(solve(SMALL))
    m = checker.model(document["instance"])
    (pool,) = m.pools
    listed = [k for k in product(range(9), repeat=2) if pool.holds(k)]
    stage = document["evidence"]["stages"][0]
    best = max(listed, key=lambda k: (checker.total(m.rewards, k), k))
    for k in listed:
        stage["configurations"]["pool1"] = {name: slots for name, slots in zip(m.names, k, strict=True) if slots}
        document["digest"] = checker.digest(document)
        said, variables, assertions = queries(document)[1]
        assert said.startswith("greedy stage 1")
        mine = (checker.total(m.rewards, k), k)
        assert answers(variables, assertions, 9) == {x for x in listed if (checker.total(m.rewards, x), x) > mine}
        assert (not answers(variables, assertions, 9)) == (k == best)


@pytest.mark.slow
def test_all_queries_of_small_certificates_have_no_solution() -> None:
    tried = 0
    for document in [*assignments(), *regions()]:
        m = checker.model(document["instance"])
        most = max(pool.most(j) for pool in m.pools for j in range(len(m.names)))
        for _, variables, assertions in queries(document):
            if (most + 2) ** len(variables) <= 4000:
                assert not answers(variables, assertions, most)
                tried += bool(variables)
    assert tried > 50


def test_queries_of_sizes_have_no_solution_until_a_price_is_raised() -> None:
    for document in throughputs()[:6]:
        for said, variables, assertions in queries(document):
            if not variables:
                assert not answers(variables, assertions, 0), said
    document = copy.deepcopy(throughputs()[0])
    above = document["evidence"]["above"]
    above["points"] = [[point, str(Fraction(price) * 10**6)] for point, price in above["points"]]
    document["digest"] = checker.digest(document)
    said, variables, assertions = queries(document)[0]
    sizes = [point for point, price in above["points"] if point and price != "0"]
    one = tuple(int(i == len(sizes) - 1) for i in range(len(variables)))
    # one job of the largest size, now worth more than 1
    assert all(value(assertion, variables)(one) for assertion in assertions), said


# ---- what is refused, and names --------------------------------------------------------------------------------------


def test_the_table_of_formats_is_what_the_writers_take() -> None:
    """Each kind of the table has a writer and is one of the checker's; nothing else is written."""
    assert set(FORMATS["smtlib"]) == set(smtlib.KINDS)
    assert set(FORMATS["lp"]) == set(programs.KINDS)
    assert TABLE["lp"].only == f"of allocations those by {', '.join(checker.LEVELLED[:-1])} and {checker.LEVELLED[-1]}"
    taken = {kind for kinds in FORMATS.values() for kind in kinds}
    assert taken < set(checker.KINDS)
    assert not taken & {"packing", "rule", "fair-share", "fairness", "worst"}  # of attack and worst


def test_help_and_page_name_the_kinds_of_each_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("jupytext", reason="the environment of the pages is not there")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    assert run(["export", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "all others take every kind" not in shown
    import_module("generate.exports").write(tmp_path)
    (page,) = tmp_path.rglob("exports.md")
    cells = page.read_text(encoding="utf-8").replace("\\", "")
    for name, one in TABLE.items():
        assert f"{name} takes {one.takes()}" in shown
        assert f"{name} ({one.tools})" in shown
        assert f"* - `{name}`\n  - {one.tools}\n" in cells
        assert one.takes() in cells
    source = (ROOT / "docs" / "how-to" / "check-with-tools-of-others.md").read_text(encoding="utf-8")
    assert f"```{{include}} ../{page.relative_to(tmp_path)}\n" in source


def test_a_certificate_of_an_attack_is_refused_by_each_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    attacked = "attack next-fit --kind items --items 4 --evaluations 20 --certificate packing.json"
    assert run(attacked.split()) == 0
    capsys.readouterr()
    for form, kinds in FORMATS.items():
        assert run(["export", "packing.json", "--format", form]) == 2
        reason = f"not for this certificate of kind packing: {form} takes {', '.join(kinds)}; no format takes packing"
        assert capsys.readouterr().err == f"packing.json: --format {form}: {reason}\n"


@pytest.mark.parametrize("path", FROZEN, ids=lambda path: path.stem)
def test_formats_take_the_kinds_that_they_say(path: Path) -> None:
    document = checker.load(path.read_text())
    for form, kinds in FORMATS.items():
        bare = form == "lrs" and "facets" not in document["claims"]
        by_bottleneck = document["claims"].get("mechanism") in ("drf", "ps-dsf")
        if document["kind"] not in kinds or bare or by_bottleneck:
            with pytest.raises(InputError, match=f"^--format {form}: not for this certificate of kind"):
                export(document, form)
        else:
            files = export(document, form)
            assert len({file.name for file in files}) == len(files)
            assert all(file.text.endswith("\n") and file.text.isascii() for file in files)


@pytest.mark.parametrize(
    "name", ["begin", "end", "x\nend\nbegin", "; (check-sat)", "\\ End", "größe", "*/", "nl\r\nEnd"]
)
def test_no_name_is_more_than_a_name(name: str) -> None:
    """A name of a type or a pool changes comments only, and those stay comments."""
    plain = json.loads(json.dumps(region_certificate(SMALL, CapacityProgram(SMALL).intensity(), region_facets(SMALL))))
    named = renamed(plain, {"t1": name, "pool1": name})
    named["digest"] = checker.digest(named)
    marks = {"smtlib": ";", "lp": "\\", "lrs": "*"}
    for form, mark in marks.items():
        bodies = [
            [[line for line in file.text.split("\n") if not line.startswith(mark)] for file in export(made, form)]
            for made in (plain, named)
        ]
        assert bodies[0] == bodies[1]


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Put other names in the place of names, as keys and as values."""
    if isinstance(value, dict):
        return {names.get(key, key): renamed(part, names) for key, part in value.items()}
    if isinstance(value, list):
        return [renamed(part, names) for part in value]
    return names.get(value, value) if isinstance(value, str) else value


@pytest.mark.slow
def test_whatever_is_altered_ends_in_files_or_in_one_line() -> None:
    choose = random.Random(7)
    sample = [assignments()[0], assignments()[4], regions()[2], throughputs()[1], allocations()[0]]
    texts = [json.dumps(document) for document in sample]  # to read one again is quicker than to copy it
    for _ in range(1500):
        document = json.loads(choose.choice(texts))
        spot: Any = document[choose.choice(["instance", "evidence", "claims"])]
        while isinstance(spot, dict | list) and spot:
            key = choose.choice(list(spot) if isinstance(spot, dict) else range(len(spot)))
            if choose.random() < 0.35 or not isinstance(spot[key], dict | list):
                spot[key] = choose.choice(
                    [None, True, -1, 0, "0", "-1/2", "x", "1/0", [], {}, [[]], {"a": 1}, "9" * 5000]
                )
                break
            spot = spot[key]
        document["digest"] = checker.digest(document)
        form = choose.choice(list(FORMATS))
        told = ""
        try:
            assert export(document, form)
        except InputError as error:
            told = str(error)
        assert "\n" not in told


# ---- the command -----------------------------------------------------------------------------------------------------


def test_what_a_certificate_proves_is_shown_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proof = tmp_path / "c.json"
    document = regions()[0]
    proof.write_text(json.dumps(document))
    assert run(["check", str(proof), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    expect_valid(answer, "check")
    assert run(["check", str(proof)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("The certificate is valid: its evidence proves all values that it claims.\n")
    intensity = answer["claims"]["traffic_intensity"]
    assert re.search(rf"traffic intensity +{re.escape(intensity)}\n", shown)
    assert re.search("[a-z]_[a-z]", shown.partition("\nmade by")[0]) is None
    proof.write_text(json.dumps({**document, "digest": "0"}))
    assert run(["check", str(proof)]) == 1
    assert capsys.readouterr().out.startswith("The certificate is refused: the digest does not belong to the document.")


def test_names_of_a_certificate_imitate_nothing() -> None:
    claims = {"tasks": {"a\nvalid": "1", "servers": "2"}, "facets": [1, 2], "supportable": True}
    (table,) = tables(CheckedCertificate(valid=True, reason=None, claims=claims))
    assert table.rows == [
        ["facets", "2 of them"],
        ["the servers carry the workload", "yes"],
        ['tasks, "a\\nvalid"', "1"],
        ["tasks, servers", "2"],
    ]


@pytest.mark.slow
def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proof = tmp_path / "c.json"
    proof.write_text(json.dumps(regions()[0]))
    before = proof.read_bytes()
    assert run(["export", str(proof), "--format", "smtlib"]) == 0
    (file,) = export(regions()[0], "smtlib")
    assert capsys.readouterr().out == file.text
    assert run(["export", str(proof), "--format", "lrs"]) == 2
    assert "--out: expected a folder for 2 files: facets.ine, vertices.ext" in capsys.readouterr().err
    folder = tmp_path / "new"
    assert run(["export", str(proof), "--format", "lrs", "--out", str(folder)]) == 0
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        file.name: file.text for file in export(regions()[0], "lrs")
    }
    assert run(["export", str(proof), "--format", "lrs", "--out", str(folder)]) == 2  # it holds files
    assert run(["export", str(proof), "--format", "smtlib", "--out", str(proof)]) == 2
    assert run(["export", str(proof), "--format", "lrs", "--out", str(proof)]) == 2
    assert proof.read_bytes() == before
    assert run(["export", str(proof), "--format", "coq"]) == 2
    capsys.readouterr()
    proof.write_text(json.dumps({**regions()[0], "digest": "0"}))
    assert run(["export", str(proof), "--format", "lrs", "--out", str(tmp_path / "other")]) == 2
    assert "c.json" in (told := capsys.readouterr().err)
    assert (told.count("\n"), (tmp_path / "other").exists()) == (1, False)
