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


@pytest.mark.parametrize("page", PAGES)
def test_output_is_what_the_commands_print(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands of a page in their order, in one folder: later ones read what earlier ones write."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    silent = re.findall(r"^\$ packproof (.* --certificate .*)\n```", _text(page), re.MULTILINE)
    for command in silent:  # what later commands read
        assert run(shlex.split(command)) == 0
    capsys.readouterr()
    for command, output in recipes(page):
        assert run(shlex.split(command)) == 0
        printed, _, origin = capsys.readouterr().out.rpartition("\nmade by packproof ")
        assert printed == output
        assert command in origin


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
