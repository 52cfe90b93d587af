"""What the pages written by hand name exists: commands with their options, files, claims."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from bounds.cli import application
from bounds.results import claims

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *(page for folder in ("tutorials", "how-to", "explanation") for page in (ROOT / "docs" / folder).glob("*.md")),
    *(ROOT / "docs" / "reference" / f"{name}-files.md" for name in ("instance", "cluster", "sizes", "admission")),
    ROOT / "docs" / "reference" / "traces.md",
    ROOT / "docs" / "reference" / "simulation-table.md",
]
COMMANDS = application().parser()


def commands_of(page: Path) -> Iterator[list[str]]:
    for line in re.findall(
        r"^(?:\$ |!|\| [^|]*\| `)packproof (.*?)(?:`.*)?$", page.read_text(encoding="utf-8"), re.MULTILINE
    ):
        words = shlex.split(line, comments=True)
        ends = [at for at, word in enumerate(words) if word in ("&&", "|", ">", "<", ";")]
        yield words[: min(ends, default=len(words))]


def parsed(words: list[str]) -> Any:
    """Parse a command without running it; click refuses unknown commands and options."""
    command: Any = COMMANDS
    while hasattr(command, "commands"):
        assert words[0] in command.commands, words
        command, words = command.commands[words[0]], words[1:]
    return command.make_parser(typer.Context(command)).parse_args(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_and_options(page: Path) -> None:
    for words in commands_of(page):
        parsed(words)
    known = {"--help", "--version"} | {name for one in _all(COMMANDS) for part in one.params for name in part.opts}
    assert set(re.findall(r"(?<=`)--[a-z][a-z-]*", page.read_text(encoding="utf-8"))) <= known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_title_has_no_mathematics_which_tabs_would_show_raw(page: Path) -> None:
    titles = re.findall(
        r"^# .*$", re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL), re.MULTILINE
    )
    assert len(titles) == 1
    assert "$" not in titles[0]


def _all(command: Any) -> Iterator[Any]:
    yield command
    for one in getattr(command, "commands", {}).values():
        yield from _all(one)


def test_an_unknown_option_is_found() -> None:
    with pytest.raises(Exception, match="No such option"):
        parsed(["solve", "examples/four_types.toml", "--nothing"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_and_claims(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in set(re.findall(r"\b(?:tests|examples|bounds|fluid|theory|docs)/[\w./-]*[\w/]", text)):
        place = name.partition("docs/_build")[0] or "docs"
        assert (ROOT / place).exists() or (ROOT / "docs" / place).exists(), name
    pages = {f"{claim.paper}/{claim.id.partition('/')[2].replace('/', '-')}.md" for claim in claims()}
    assert set(re.findall(r"\.\./atlas/((?!index|by-)[\w./-]+\.md)", text)) <= pages
