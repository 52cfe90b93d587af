"""What pages of the documentation show as output is what the command prints."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from bounds.cli import run

ROOT = Path(__file__).parents[2]
PAGES = (
    "how-many-servers",
    "is-this-allocation-fair",
    "may-this-tenant-enter",
    "queues-of-own-types",
    "simulate-a-policy",
)
"""Pages whose commands end within seconds, and whose output has no time of day or pace in it."""


def _text(page: str) -> str:
    return (ROOT / "docs" / "how-to" / f"{page}.md").read_text(encoding="utf-8")


def recipes(page: str) -> list[tuple[str, str]]:
    """Return the commands of a page that are shown with an output, and the output."""
    blocks = re.findall(r"```console\n\$ packproof (.*)\n((?:.*\n)*?)```", _text(page))
    return [(command, output) for command, output in blocks if output]


def test_there_are_recipes() -> None:
    assert [len(recipes(page)) for page in PAGES] == [1, 2, 4, 1, 1]


LONG, SHORTER = "--until 2000 --warmup 500 --replications 40", "--until 500 --warmup 100 --replications 20"
"""How long `admission tune` simulates on a page, and a tenth of that."""


def words(output: str) -> str:
    """Return an output without its notes, whatever its numbers and the width of its columns are."""
    return " ".join(re.sub(r"\d[\d.,]*", "0", output.partition("\nnotes\n")[0]).split())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, which has the examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed_by(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what a command prints before the line that says by what it was made."""
    assert run(shlex.split(command)) == 0
    printed, _, origin = capsys.readouterr().out.rpartition("\nmade by packproof ")
    assert command in origin
    return printed


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", PAGES)
def test_output_is_what_the_commands_print(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands of a page in their order, in one folder: later ones read what earlier ones write.

    Long ones are shorter here, and print other numbers in the same words.
    """
    silent = re.findall(r"^\$ packproof (.* --certificate .*)\n```", _text(page), re.MULTILINE)
    for command in silent:  # what later commands read
        assert run(shlex.split(command)) == 0
    capsys.readouterr()
    for command, output in recipes(page):
        printed = printed_by(command.replace(LONG, SHORTER), capsys)
        if LONG in command:
            assert words(printed) == words(output)
        else:
            assert printed == output


@pytest.mark.soak
@pytest.mark.usefixtures("folder")
def test_output_of_long_commands_is_what_they_print(capsys: pytest.CaptureFixture[str]) -> None:
    found = recipes("may-this-tenant-enter")
    long = [LONG in command for command, _ in found]
    assert sum(long) == 1
    for command, output in found[: long.index(True) + 1]:
        assert printed_by(command, capsys) == output


def test_grids_on_pages_are_those_of_the_examples() -> None:
    """The page shows one grid whole, and names the others, which can be read."""
    from fluid.experiment.grid import read_grid

    text = (ROOT / "docs" / "how-to" / "queues-of-own-types.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    named = sorted(set(re.findall(r"examples/(queues_\w+\.toml)", text)))
    assert len(named) == 3
    for name in named:
        assert read_grid(ROOT / "examples" / name).cells
    assert shown in (ROOT / "examples" / "queues_by_servers.toml").read_text(encoding="utf-8")
