"""What pages of the documentation show as output is what the command prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from bounds.cli import run

ROOT = Path(__file__).parents[2]
PAGES = ("may-this-tenant-enter", "queues-of-own-types", "simulate-a-policy")
"""Pages whose commands end within seconds, and whose output has no time of day or pace in it."""


def recipes() -> list[tuple[str, str]]:
    """Return the commands that are shown with an output, and the output."""
    found = []
    for page in PAGES:
        text = (ROOT / "docs" / "how-to" / f"{page}.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```console\n\$ packproof (.*)\n((?:.*\n)*?)```", text)
        found += [(command, output) for command, output in blocks if output]
    return found


def test_there_are_recipes() -> None:
    assert len(recipes()) == 4


@pytest.mark.parametrize(("command", "output"), recipes())
def test_output_is_what_the_command_prints(
    command: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")  # what a command writes beside them goes
    monkeypatch.chdir(tmp_path)
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
