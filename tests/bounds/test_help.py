"""Every help text ends with examples that run; scripts take --help; completion works in every installed shell."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bounds.cli import application, main, run

ROOT = Path(__file__).parent.parent.parent


def commands(command: Any = None, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Return every command and group by its path."""
    command = command or application().parser()
    found = {path: command}
    for name, inner in getattr(command, "commands", {}).items():
        found |= commands(inner, (*path, name))
    return found


ALL = {path: command for path, command in commands().items() if not command.hidden}


def help_of(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run([*path, "--help"]) == 0
    return capsys.readouterr().out


def examples_of(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> list[str]:
    _, found, lines = help_of(path, capsys).partition("Examples:\n")
    assert found, f"{path}: no examples"
    return [line.strip() for line in lines.splitlines() if line.strip()]


SMALLER = {
    "--items 8": "--items 6",
    "--evaluations 300": "--evaluations 30",
    "--most-deployments 4": "--most-deployments 2",
    "--most-deployments 3": "--most-deployments 2",
    "--until 2000": "--until 400",
    "--until 900": "--until 300",
    "--at 24,168 --size 4": "--at 24 --size 4",
}
"""Sizes of examples, and those at which they run here: what is asked is the same."""


def test_smaller_sizes_are_those_of_examples(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for path in ALL for line in examples_of(path, capsys)]
    assert all(any(size in line for line in lines) for size in SMALLER)


@pytest.mark.slow
@pytest.mark.parametrize("path", ALL, ids=lambda path: " ".join(path) or "packproof")
def test_examples_of_help_run(
    path: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that the help of a group shares with one of its commands run there."""
    examples = examples_of(path, capsys)
    assert examples
    within = {line for inner in ALL if inner[:-1] == path and inner for line in examples_of(inner, capsys)}
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    ran: set[str] = set()
    for example in examples:
        smaller = example
        for size, less in SMALLER.items():
            smaller = smaller.replace(size, less)
        for command in smaller.split(" && "):
            name, *arguments = shlex.split(command)
            assert name == "packproof"
            assert example in within or command in ran or run(arguments) == 0, (command, capsys.readouterr().err)
            ran.add(command)
        assert arguments[: len(path)] == list(path), "an example is about the command"


@pytest.mark.slow
def test_summaries_are_whole(capsys: pytest.CaptureFixture[str]) -> None:
    for path, command in ALL.items():
        text = help_of(path, capsys)
        assert "..." not in re.sub(r"(,|\[ARGS\]|\[CLAIM\]|\[RESULT\])\.\.\.", "", text), path
        for inner in getattr(command, "commands", {}).values():
            if not inner.hidden:
                assert "".join(inner.help.partition(".")[0].split()) in "".join(text.split())


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_scripts_take_help_and_write_no_file_of_that_name(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if script.stem == "__init__":
        return
    monkeypatch.chdir(tmp_path)
    for word, status in (("--help", 0), ("--hlep", 2)):
        monkeypatch.setattr(sys, "argv", [str(script), word])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(script), run_name="__main__")
        assert ended.value.code == status
    assert "usage: " in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


COMMANDS = [
    ("packproof sol", ["solve"]),
    ("packproof admission mo", ["moments"]),
    ("packproof solve --cert", ["--certificate"]),
    ("packproof solve examples/four_types.toml --se", ["--servers"]),
    ("packproof simulate examples/four_types.toml --policy best", ["best-fit"]),
    ("packproof simulate --policy li", ["list"]),
    ("packproof share x.toml --mechanism ps", ["ps-dsf", "ps-dsf-tdm"]),
    ("packproof worst x.toml --vary w", ["workload"]),
    ("packproof attack x --kind ", ["assignment", "items", "sharing", "online"]),
    ("packproof verify --paper ps", ["ps-dsf"]),
    ("packproof verify --level q", ["quick"]),
    ("packproof export x.json --format sm", ["smtlib"]),
    ("packproof catalogue gcp:n2-standard-12", ["gcp:n2-standard-128"]),
    ("packproof instance --types aws:m5.large,aws:m5.12", ["aws:m5.large,aws:m5.12xlarge"]),
    ("packproof solve examples/fo", []),
    ("packproof solve --plot x", []),
    ("packproof 'unfinished", []),
]
"""Lines as typed so far, and what may stand for their last word."""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(("line", "expected"), COMMANDS)
def test_the_question_of_a_shell_is_answered(
    shell: str, line: str, expected: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the shell: its question in the environment, as the script of ``packproof --show-completion`` puts it."""
    words = [*line.split(), ""] if line.endswith(" ") else line.split()
    for name, value in {
        "_PACKPROOF_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 0
    shown = capsys.readouterr()
    assert not shown.err
    if shell == "zsh":  # a command for zsh: _files, or words with what help says of them
        words = re.findall(r'^(?:_arguments .*\(\()?"([^"]*)"', shown.out, re.MULTILINE)
        assert [word.replace(r"\\:", ":") for word in words] == expected
        assert expected or shown.out == "_files\n"
    else:
        assert [row.partition("\t")[0] for row in shown.out.splitlines() if row] == expected


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes(tmp_path: Path) -> None:
    """By the script of ``packproof --show-completion``, in bash itself."""
    program = tmp_path / "packproof"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m packproof "$@"\n')
    program.chmod(0o755)
    code = """
        eval "$(packproof --show-completion)"
        complete -p packproof
        for COMP_WORDS in "packproof sol" "packproof share --mechanism ps"; do
            COMP_WORDS=($COMP_WORDS)
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _packproof_completion packproof
            echo "${COMPREPLY[@]}"
        done
    """
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert not done.stderr
    bound, *answers = done.stdout.splitlines()
    assert bound == "complete -o default -F _packproof_completion packproof"
    assert answers == ["solve", "ps-dsf ps-dsf-tdm"]
