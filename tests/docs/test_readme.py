"""The commands of the README run, and what it says is what the program and the registry say."""

from __future__ import annotations

import json
import re
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

from bounds.adversary.by_size import on_record, proven_from_below
from bounds.claims import Verdict, numbers_of
from bounds.cli import application, run
from bounds.results import claims, modules

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_links() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_pages_say_the_same_of_how_long_make_takes() -> None:
    """The README says it first; the page on how to install has the same minutes in the same order."""
    install = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    first, second = (re.findall(r"about (\w+)\s+minutes", text) for text in (README, install))
    assert first == second
    assert len(first) == 2


BLOCKS = re.findall(r"^```(?:bash|console)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
SHOWN = [
    pairs for block in BLOCKS if (pairs := re.findall(r"^\$ packproof (.+)\n((?:(?!\$ ).+\n)*)", block, re.MULTILINE))
]
"""The commands of each block with what is shown of their output: lines in their order, "..." for those left out."""

COMMANDS = re.findall(r"\| `packproof ([^`]+)` \|", README)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda text: text.partition(" -")[0])
def test_commands_run(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    assert run(shlex.split(command)) == 0
    assert capsys.readouterr().out


def shows(printed: str, shown: str) -> bool:
    """Whether what is shown are the first lines of an output, those after "..." anywhere below."""
    lines, at = printed.splitlines(), 0
    for number, part in enumerate(shown.rstrip("\n").split("...\n")):
        wanted = part.splitlines()
        places = [i for i in range(at, len(lines)) if lines[i : i + len(wanted)] == wanted]
        if not places or (number == 0 and places[0] != 0):
            return False
        at = places[0] + len(wanted)
    return True


def test_what_is_shown_may_leave_out_lines_but_not_change_them() -> None:
    assert shows("a\nb\nc\nd\n", "a\n...\nc\n")
    assert shows("a\nb\n", "a\n")
    assert not shows("a\nb\nc\n", "b\n")
    assert not shows("a\nb\nc\n", "a\nc\n")
    assert not shows("a\nb\nc\n", "a\n...\nC\n")


@pytest.mark.parametrize("block", SHOWN, ids=lambda block: block[0][0].partition(" ")[0])
def test_output_is_what_the_commands_print(
    block: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands of a block run in one folder: later ones read what earlier ones write."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for command, output in block:
        assert run(shlex.split(command)) == 0
        assert shows(capsys.readouterr().out, output.removesuffix("...\n")), command


BEGIN, END = "<!-- the first screen: docs/index.md shows it too -->", "<!-- the end of the first screen -->"


def test_the_first_screen_has_the_two_commands_and_answers() -> None:
    """It is short, says how to install, and shows an attack, and a certificate that is checked."""
    first = README.split(BEGIN)[1].split(END)[0]
    assert len(README.splitlines()) <= 130
    assert "```bash\nmake verify\nmake test\n```" in first
    assert "```bash\npip install .\n```" in first
    assert [[command.split()[0] for command, _ in block] for block in SHOWN] == [["attack"], ["solve", "check"]]
    assert all(f"$ packproof {command}" in first for block in SHOWN for command, _ in block)
    assert first.count("| reader | begin with | minutes |") == 1
    assert len(re.findall(r"^\| I (?:plan|write|study) .*\]\(docs/tutorials/.*\| \d+ \|$", first, re.MULTILINE)) == 3


def test_the_front_page_shows_the_same_first_screen() -> None:
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert f"```{{include}} ../README.md\n:start-after: {BEGIN}\n:end-before: {END}\n" in page


def test_the_readme_says_how_many_claims_are_checked() -> None:
    every = claims()
    skipped = sum(claim.verdict is Verdict.skipped for claim in every)
    said = f"{len(every) - skipped} claims checked; all outcomes are as expected; {skipped} skipped"
    assert f'"{said}"' in " ".join(README.split())
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    listed = (ROOT / "proofs" / "theorems.txt").read_text(encoding="utf-8").splitlines()
    theorems = [line for line in listed if line and not line.startswith("#")]
    assert f"- {len(every)} claims of five papers" in changes
    assert f"and {len(theorems)} theorems checked by Coq" in changes


def test_every_command_is_named() -> None:
    for name in application().parser().commands:  # type: ignore[attr-defined]
        assert f"`packproof {name}" in README or f"$ packproof {name}" in README, name


def parsed(command: Any, words: list[str]) -> None:
    """Read the words of a command line as the command line does, without running anything."""
    context = command.make_context("packproof", list(words))
    if isinstance(command, TyperGroup):
        parsed(command.commands[words[0]], words[1:])
    elif command.name == "verify":
        modules(context.params["names"] or (), context.params["paper"])


def test_every_command_is_one_of_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those in sentences, which name files of the reader."""
    monkeypatch.chdir(ROOT)
    commands = re.findall(r"^(?:\$ )?packproof (.+)$", "".join(BLOCKS), re.MULTILINE)
    commands += re.findall(r"`packproof ([^`\s]+ [^`]+)`", README)
    assert len(commands) >= 8
    for command in commands:
        parsed(application().parser(), shlex.split(command.partition(" > ")[0]))


ROWS = {
    "Greedy attains at least": ("packproof/pools",),
    "On one resource with equal servers": ("packproof/one-resource-anchors",),
    "At the worst workload": ("packproof/worst-workload", "autoscaling/figure-2-86-percent"),
    "The universal partition": ("throughput/prop-1",),
    "Algorithm I of PS-DSF": ("packproof/algorithm-1-cycles",),
}


def test_evidence_of_what_is_shown_is_that_of_the_registry() -> None:
    section = README.split("## What is shown")[1].split("*Formal*")[0]
    rows = dict(re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", section, re.MULTILINE))
    rows.pop("result")
    assert len(rows) == len(ROWS)
    for text, evidence in rows.items():
        about = next(found for start, found in ROWS.items() if text.startswith(start))
        assert evidence.split(", ") == [claim.evidence for name in about for claim in claims([name])]
        assert all(claim.holds for name in about for claim in claims([name]))


NUMBERED = {
    "Greedy attains at least": ("autoscaling/thm-3.7", "autoscaling/thm-3.9"),
    "At the worst workload": ("autoscaling/figure-2-86-percent",),
    "The universal partition": ("throughput/prop-1", "throughput/theorem-3"),
}
"""The claims about the numbered statements that a row of what is shown names, in their order."""


def test_numbers_of_what_is_shown_are_those_of_the_papers() -> None:
    section = README.split("## What is shown")[1].split("*Formal*")[0]
    for row in re.findall(r"^\| ([^|]+?) \| [^|]+? \|$", section, re.MULTILINE)[1:]:
        about = next((names for start, names in NUMBERED.items() if row.startswith(start)), ())
        sources = [number for name in about for claim in claims([name]) for number in numbers_of(claim.source)]
        assert list(numbers_of(row)) == sources, row


def test_evidence_of_all_results_is_that_of_the_registry() -> None:
    text = (ROOT / "docs" / "explanation" / "results.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| (\w+) \| (\[.+) \|$", text, re.MULTILINE)
    assert len(rows) >= 15
    for evidence, links in rows:
        for name in re.findall(r"\[([^\]]+)\]", links):
            assert claims([name])[0].evidence == evidence, name


def test_the_page_of_results_is_cited_as_the_citation_file_says() -> None:
    page = (ROOT / "docs" / "explanation" / "results.md").read_text(encoding="utf-8")
    citation = dict(re.findall(r"^([\w-]+): (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE))
    year = citation["date-released"][:4]
    assert f"The packproof authors, *{citation['title']}*, version {citation['version']}, {year}" in page


def test_the_table_by_size_is_the_one_on_record() -> None:
    page = (ROOT / "docs" / "explanation" / "results.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d) \| (.+) \|$", page, re.MULTILINE)
    shown = {
        (int(types), resources): tuple(map(Fraction, re.fullmatch(r"(\S+) \((\S+)\)", cell).groups()))  # type: ignore[union-attr]
        for types, cells in rows
        for resources, cell in enumerate(cells.split(" | "), 1)
    }
    assert shown == {size: (ratio, proven_from_below(*size)) for size, (ratio, _) in on_record().items()}


def test_the_stored_run_of_the_atlas_has_every_claim_and_its_outcome_on_record() -> None:
    stored = {one["id"]: one for one in json.loads((ROOT / "docs" / "atlas" / "run.json").read_text(encoding="utf-8"))}
    registered = {claim.id: claim for claim in claims()}
    assert set(stored) == set(registered), "run `make docs-run`"
    differs = [name for name, one in stored.items() if one["verdict"] not in (registered[name].verdict, "skipped")]
    assert not differs
