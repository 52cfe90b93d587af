"""A theorem is its statement, not its name: Coq compares all proofs with `proofs/Statements.v`.

A statement that is weakened there, or in the file of its proof, does not compile. A change of both, or of a definition,
changes `DIGEST`.
"""

from __future__ import annotations

import re
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from bounds.results import claims
from tests.proofs.built import PROOFS, proved_checker

NAMES = (PROOFS / "theorems.txt").read_text().split()
DIGEST = "3704c588c54f2ae2"
"""Of the statements and definitions, as `digest` computes it. Read their changes before you change it."""
SAID = ("Model", "CertificateModel", "BridgeModel", "Statements")


def code(text: str) -> str:
    """Return the text of a file of Coq without comments, each blank as one space."""
    while (shorter := re.sub(r"\(\*(?:(?!\(\*|\*\)).)*\*\)", "", text, flags=re.DOTALL)) != text:
        text = shorter
    return " ".join(text.split())


def digest(texts: list[str]) -> str:
    return sha256("\n".join(map(code, texts)).encode()).hexdigest()[:16]


def sources() -> dict[str, str]:
    return {name: (PROOFS / f"{name}.v").read_text() for name in SAID}


def test_every_theorem_has_a_statement() -> None:
    found = re.findall(
        r"\bDefinition (\w+)(?:(?!\bDefinition\b).)*?:= (?:fun \w+ => )?@?(\w+\.\w+)", code(sources()["Statements"])
    )
    assert all(theorem.endswith(f".{name}") for name, theorem in found)
    assert sorted(theorem for _, theorem in found) == sorted(NAMES)
    assert {theorem for claim in claims() for theorem in claim.theorems} <= set(NAMES)


def test_the_readme_lists_every_theorem_with_its_claims() -> None:
    table = (PROOFS / "README.md").read_text().split("## All theorems")[1].split("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| `")]
    assert [row[0].strip("| `") for row in rows] == NAMES
    for theorem, row in zip(NAMES, rows, strict=True):
        assert re.findall(r"`(.*?)`", row[2]) == [claim.id for claim in claims() if theorem in claim.theorems]


def test_statements_and_definitions_are_those_on_record() -> None:
    assert digest(list(sources().values())) == DIGEST


def weakened(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("Model", "run_servers : used st <= 1;", "run_servers : used st <= 2%:R;"),
        ("Model", "run_max : forall pre s post, st = pre ++ s :: post ->", "run_max : forall pre s post, False ->"),
        ("CertificateModel", "0 <= gamma /\\ forall k", "0 <= gamma \\/ forall k"),
        (
            "Statements",
            "earned w u st\n  := Greedy.greedy_keeps_half",
            "3%:R * earned w u st\n  := Greedy.greedy_keeps_half",
        ),
    ],
)
def test_a_weaker_definition_changes_the_digest(name: str, old: str, new: str) -> None:
    texts = sources()
    assert digest([weakened(text, old, new) if part == name else text for part, text in texts.items()]) != DIGEST
    assert digest([f"{text} (* a (* remark *) *)" for text in texts.values()]) == DIGEST


def compiled(name: str, text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Compile a changed file beside what was built of all others."""
    proved_checker()
    for file in PROOFS.glob("*.vo"):
        if file.stem != name and not (folder / file.name).exists():
            (folder / file.name).symlink_to(file)
    (folder / f"{name}.v").write_text(text)
    command = ["coqc", "-q", "-w", "none", "-Q", ".", "packproof", f"{name}.v"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


WEAKER = {
    "nothing is said": ("value u a <= 2%:R * earned w u st\n", "True\n"),
    "a third for one half": ("value u a <= 2%:R * earned w u st\n", "value u a <= 3%:R * earned w u st\n"),
    "a hypothesis less": (
        "(u rho : J -> F).\nHypothesis K_down : down_closed K.\n"
        "Hypothesis w_ge0 : forall p, 0 <= w p.\nHypothesis u_ge0",
        "(u rho : J -> F).\nHypothesis w_ge0 : forall p, 0 <= w p.\nHypothesis u_ge0",
    ),
    "a hypothesis more": ("Definition greedy_keeps_half : ", "Definition greedy_keeps_half : (0 < #|P|)%N -> "),
    "another theorem": ("  := Greedy.greedy_keeps_half", "  := Greedy.greedy_keeps_product"),
}
ELSEWHERE = {"nothing is said", "another theorem"}
"""Those for `make soak`: a statement and a proof that do not agree, as in the third and in `SectionFive` below."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    ["", *(pytest.param(case, marks=[pytest.mark.soak] if case in ELSEWHERE else []) for case in WEAKER)],
)
def test_a_statement_that_is_not_proved_does_not_compile(case: str, tmp_path: Path) -> None:
    text = sources()["Statements"]
    done = compiled("Statements", weakened(text, *WEAKER[case]) if case else text, tmp_path)
    assert (done.returncode == 0) == (not case), done.stderr
    assert ("Error" in done.stderr) == bool(case)


@pytest.mark.slow
def test_a_theorem_weakened_beside_its_proof_does_not_compile(tmp_path: Path) -> None:
    text = (PROOFS / "SectionFive.v").read_text()
    start = text.index("Theorem section_5_full")
    end = text.index("Qed.", start)
    weak = f"{text[:start]}Theorem section_5_full : True.\nProof. exact: I. {text[end:]}"
    assert compiled("SectionFive", weak, tmp_path).returncode == 0
    done = compiled("Statements", sources()["Statements"], tmp_path)
    assert done.returncode != 0
    assert "section_5_full" in done.stderr
