"""Every claim gives its registered outcome, and its perturbed twin does not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bounds.claims import PAPERS, REGISTRY, Checked, Level, Outcome, Refutes, Verdict, numbers_of
from bounds.claims import claim as declared
from bounds.cli import run
from bounds.cli.endings import TRACEBACK
from bounds.results import _checked, claims, modules, verify
from bounds.results.statements import coverage
from bounds.views.claims import as_checked, covered, sentence
from fluid.simulation.policy_names import policy
from theory.errors import InputError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("identity", list(modules()))
def test_claim_and_controls(identity: str, record_property: Callable[[str, object], None]) -> None:
    """At the smallest size; `packproof verify` checks the claims at the size of every day."""
    (claim,) = claims([identity])
    checked = claim.outcome(Level.tiny)
    assert claim.is_as_registered(checked), checked
    if checked.holds is None:
        return
    for control in claim.controls:
        outcome = claim.outcome(Level.tiny, control)
        assert outcome.holds is not None
        assert not claim.is_as_registered(outcome), f"{control!r} does not change the outcome: the check cannot fail"
        assert outcome.computed != checked.computed, f"{control!r} does not change what is said"
    record_property("controls", len(claim.controls))  # tests.tools.covered counts them


def test_tables_of_contents_list_every_claim_once() -> None:
    listed = [claim.id for claim in claims()]
    assert sorted(listed) == sorted(REGISTRY)
    assert [claim.id for paper in PAPERS for claim in claims(paper=paper)] == listed
    assert all(claim.printed and claim.source for claim in claims())


def test_every_claim_has_a_short_title_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim without a title, with one of more than eight words, or with that of another claim is refused."""
    titles = [claim.title for claim in claims()]
    assert all(1 <= len(title.split()) <= 8 for title in titles)
    assert len(set(titles)) == len(titles)
    monkeypatch.setattr("bounds.claims.REGISTRY", dict(REGISTRY))

    def made(title: str) -> None:
        options: dict[str, Any] = {"source": "Section 1", "printed": "lost", "evidence": None}
        register = declared("new", title, "Nothing.", verdict=Verdict.skipped, **options)

        def check() -> Outcome:
            return Outcome("nothing", None)

        check.__module__ = "bounds.results.ps_dsf.examples"
        register(check)

    made("One two three four five six seven eight")
    for refused in ("", " ", "one two three four five six seven eight nine", titles[0]):
        with pytest.raises(ValueError, match="title"):
            made(refused)


def test_the_list_shows_titles(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "--list", "--paper", "ps-dsf"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(claim.title in shown for claim in claims(paper="ps-dsf"))
    assert run(["verify", "--list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["title"] for row in rows] == [claim.title for claim in claims()]


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "introduction", "region-2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["evidence"], row["verdict"], row["refutes"], row["holds"]) for row in rows] == [
        ("certified", "holds", None, True),
        ("certified", "refuted", "number", False),
    ]
    assert run(["verify", "--list"]) == 0
    assert run(["verify", "no-such-claim"]) == 2
    assert run(["verify", "--paper", "no-such-paper"]) == 2
    assert run(["verify", "--level", "huge"]) == 2


@pytest.mark.slow
def test_what_is_skipped_is_not_on_record(tmp_path: Path) -> None:
    """A claim without its data, alone and beside one that is checked, and one that cannot be checked at all."""
    without, never, checked = "autoscaling/figure-6-window", "autoscaling/lemma-g.1", "autoscaling/introduction"

    asked = [[without], [without, never], [without, never, checked], [without, never, checked, "--json"]]
    # in a process of its own: one that has read the data keeps it
    code = "import sys; from bounds.cli import run\n" + "".join(
        f"assert run({['verify', *words]!r}) == 0; print('|', flush=True)\n" for words in asked
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PACKPROOF_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    alone, two, three, document = done.stdout.split("|\n")[:-1]
    first, *_, last = alone.splitlines()
    assert first == "SKIPPED         autoscaling/figure-6-window (NOT REPRODUCED is on record)"
    assert last.startswith("1 claim; nothing was checked: 1 skipped, ")
    assert "outcome" not in last
    assert two.splitlines()[-1].startswith("2 claims; nothing was checked: 2 skipped, ")
    shown = "1 claim checked; the outcome is as expected; 2 skipped, "
    assert three.splitlines()[-1].startswith(shown)
    rows = json.loads(document)
    found = {row["id"]: (row["verdict"], row["as_registered"]) for row in rows}
    assert found == {without: ("skipped", None), never: ("skipped", None), checked: ("holds", True)}


def test_coverage_tells_what_cannot_be_checked(capsys: pytest.CaptureFixture[str]) -> None:
    """Five lemmas and a remark of the auto-scaling paper are lost, and have no other claim."""
    assert run(["verify", "--coverage", "--paper", "autoscaling"]) == 0
    text = capsys.readouterr().out
    (skipped,) = re.findall(
        r"numbered statements have a claim that can be checked, (\d+) only one that is skipped", text
    )
    lost = {claim.source for claim in claims(paper="autoscaling") if claim.verdict == "skipped"}
    assert int(skipped) == len(lost - {"Proof of Proposition 5.10, Claims 1 and 2"}) == 6


def test_the_readme_counts_what_is_refuted() -> None:
    count = Counter(claim.refutes for claim in claims() if claim.refutes)
    said = (
        f"{count[Refutes.statement]} statements, {count[Refutes.proof_step]} steps of proofs and "
        f"{count[Refutes.number]} numbers are refuted in substance, and {count[Refutes.boundary]} statements in "
        "boundary cases"
    )
    assert said in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


@pytest.mark.slow
def test_many_claims_are_reported_in_the_order_of_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    """Nine claims of seven files, which processes check file by file."""
    names = [
        "autoscaling/introduction", "autoscaling/lemma-f.1", "autoscaling/prop-6.2", "autoscaling/figure-2-between",
        "nonpreemptive/table-1", "admission/prop-4.5", "admission/mixture-variance", "admission/prop-4.5-uncorrelated",
        "autoscaling/prop-5.10-p3",
    ]  # fmt: skip
    assert run(["verify", *names, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in rows] == [claim.id for claim in claims(names)]
    assert {row["id"] for row in rows} == set(names)
    assert all(row["computed"] == verify(claims([row["id"]])[0]).outcome.computed for row in rows[:4])


def test_every_proved_claim_has_a_written_proof() -> None:
    for claim in claims():
        if claim.proof:
            page, _, label = claim.proof.partition("#")
            text = (ROOT / "docs" / "explanation" / page).read_text(encoding="utf-8")
            _, _, rest = text.partition(f":label: {label}\n")
            assert ":::{prf:proof}" in rest.partition(":label:")[0], claim.id


def test_formal_claims_name_theorems_that_coq_checked() -> None:
    listed = (Path(__file__).parents[2] / "proofs" / "theorems.txt").read_text().split()
    named = {theorem for claim in claims() for theorem in claim.theorems}
    assert len(named) > 5
    assert named <= set(listed)


def test_coverage(capsys: pytest.CaptureFixture[str]) -> None:
    rows = coverage(claims(), PAPERS)
    assert {claim.id for row in rows for claim in row.claims} == set(REGISTRY)
    statements = [(row.paper, row.statement) for row in rows]
    assert len(statements) == len(set(statements))
    assert run(["verify", "--coverage", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(rows)
    assert run(["verify", "--coverage", "--paper", "throughput"]) == 0
    text = capsys.readouterr().out
    assert "prop-2-epsilon" in text
    *_, last = text.partition("claims by verdict, on record\n")
    assert sum(map(int, re.findall(r"\d+", last))) == len(claims(paper="throughput"))
    assert "autoscaling" not in text


def test_the_sentence_of_coverage_counts_the_numbered_statements() -> None:
    found = coverage(claims(), PAPERS)
    numbered = [row for row in found if row.numbered]
    checkable = sum(any(claim.verdict is not Verdict.skipped for claim in row.claims) for row in numbered)
    skipped = sum(bool(row.claims) for row in numbered) - checkable
    assert sentence(covered(found)) == (
        f"{checkable} of {len(numbered)} numbered statements have a claim that can be checked, "
        f"{skipped} only one that is skipped."
    )


def test_a_checked_claim_is_shown_with_all_of_its_words() -> None:
    for claim in (one for one in claims() if one.verdict is Verdict.skipped or one.proof or one.theorems):
        checked = Checked(claim, Outcome("what came out", None if claim.evidence is None else True), 1.25)
        shown = as_checked(checked)
        for words in (
            claim.id,
            claim.title,
            claim.source,
            claim.statement,
            claim.printed,
            "what came out",
            "1.25",
            *claim.theorems,
        ):
            assert words in shown, claim.id
        assert not claim.proof or f"docs/explanation/{claim.proof}" in shown


def test_statements_named_by_a_source() -> None:
    assert numbers_of("Lemmas 4.1, 4.3 and 5.1; Corollary 6.2") == (
        "Lemma 4.1",
        "Lemma 4.3",
        "Lemma 5.1",
        "Corollary 6.2",
    )
    assert numbers_of("Corollaries 5.2 and 5.3") == ("Corollary 5.2", "Corollary 5.3")
    assert numbers_of("Table IV, Figure 4b, Lemma D.1") == ("Table IV", "Figure 4", "Lemma D.1")
    assert numbers_of("Section 7, equation (19)") == ()


def without_looking(state: Any, job_type: int, draws: Any) -> int:
    """Place every job on the first server, whether or not it fits."""
    del state, job_type, draws
    return 0


@pytest.mark.parametrize("identity", ["autoscaling/static-limit", "packproof/best-fit-traps"])
def test_a_claim_fails_where_a_policy_breaks_its_contract(
    identity: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other claims are reported; and whatever is on record of this one, its outcome is another."""
    (claim,) = claims([identity])
    policies = vars(sys.modules[claim.check.__module__])
    broken = {"place": without_looking}
    monkeypatch.setitem(policies, "policy", lambda name: replace(policy(name), **broken))
    assert run(["verify", identity, "autoscaling/introduction", "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    by_id = {row["id"]: row for row in rows}
    assert by_id["autoscaling/introduction"]["as_registered"] is True
    row = by_id[identity]
    assert (row["holds"], row["as_registered"]) == (False, False)
    assert row["computed"].startswith("a policy breaks its contract: ")
    # on record as refuted, it would still be no outcome that is on record
    assert not replace(claim, verdict=Verdict.refuted, refutes=Refutes.statement).is_as_registered(
        claim.outcome(Level.quick)
    )


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), InputError("data.csv", "", "no number"), KeyError()])
def test_an_error_in_one_check_loses_no_other_claim(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["autoscaling/introduction", "nonpreemptive/table-1", "admission/prop-4.5"]
    first, second, third = claims(names)

    def fails() -> Outcome:
        raise error

    monkeypatch.delenv(TRACEBACK, raising=False)
    for claim in (first, third):
        monkeypatch.setitem(REGISTRY, claim.id, replace(claim, check=fails))
    status, kind = (2, "data.csv") if isinstance(error, InputError) else (70, "a fault of packproof itself: ")
    assert run(["verify", *names, "--json"]) == status
    shown = capsys.readouterr()
    rows = json.loads(shown.out)
    assert [(row["holds"], row["verdict"], row["as_registered"], row["evidence"]) for row in rows] == [
        (None, "unfinished", None, None),
        (True, "holds", True, "certified"),
        (None, "unfinished", None, None),
    ]
    assert rows[0]["computed"].startswith(kind)
    # one line for one error, with all claims that it has ended
    assert shown.err.startswith(f"{first.id}, {third.id}: {kind}")
    assert shown.err.count("\n") == 1
    assert ("please report it" in shown.err) is (status == 70)
    assert run(["verify", *names]) == status
    text = capsys.readouterr().out
    assert re.search(rf"^UNFINISHED +{first.id} \(HOLDS is on record\)$", text, re.M)
    assert "\n1 claim checked; the outcome is as expected; 2 unfinished, " in text
    # what processes send back
    (outcome, _), (good, _) = _checked([first.id, second.id], Level.quick)
    assert (outcome.holds, outcome.status, good.holds, good.status) == (None, status, True, 0)
    with pytest.raises(type(error)):  # in Python a claim by itself raises
        verify(REGISTRY[first.id])
