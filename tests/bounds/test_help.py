"""Every help text ends with two examples that run; scripts take --help; completion works in every installed shell."""

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
import typer

from bounds.cli import app, run

ROOT = Path(__file__).parent.parent.parent


def commands(command: Any = None, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Return every command and group by its path."""
    command = command or typer.main.get_command(app)
    found = {path: command}
    for name, inner in getattr(command, "commands", {}).items():
        found |= commands(inner, (*path, name))
    return found


ALL = {path: command for path, command in commands().items() if not command.hidden}


def help_of(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run([*path, "--help"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("path", ALL, ids=lambda path: " ".join(path) or "packproof")
def test_examples_of_help_run(
    path: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = help_of(path, capsys)
    _, found, lines = text.partition("Examples:\n")
    assert found, f"{path}: no examples"
    examples = [line.strip() for line in lines.splitlines() if line.strip()]
    assert len(examples) == 2
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for example in examples:
        for command in example.split(" && "):
            name, *arguments = shlex.split(command)
            assert name == "packproof"
            assert run(arguments) == 0, (command, capsys.readouterr().err)
        assert arguments[: len(path)] == list(path), "an example is about the command"


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


def completed(line: str) -> list[str]:
    """Let bash complete a line by the script that ``packproof completion bash`` prints."""
    code = f"""
        packproof() {{ {sys.executable} -m packproof "$@"; }}
        eval "$(packproof completion bash)"
        COMP_LINE={shlex.quote(line)}
        COMP_POINT=${{#COMP_LINE}}
        _packproof_complete packproof
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not done.stderr
    return [word for word in done.stdout.splitlines() if word]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("packproof sol", ["solve"]),
        ("packproof admission mo", ["moments"]),
        ("packproof solve --cert", ["--certificate"]),
        ("packproof solve examples/four_types.toml --se", ["--servers"]),
        ("packproof simulate examples/four_types.toml --policy best", ["best-fit"]),
        ("packproof simulate --policy=best", ["best-fit"]),
        ("packproof share x.toml --mechanism ps", ["ps-dsf", "ps-dsf-tdm"]),
        ("packproof worst x.toml --vary w", ["workload"]),
        ("packproof instance --types aws:m5.large,aws:m5.12", ["m5.large,aws:m5.12xlarge"]),
        ("packproof verify --paper ps", ["ps-dsf"]),
        ("packproof completion f", ["fish"]),
        ("packproof solve examples/fo", []),
        ("packproof solve --plot x", []),
        ("packproof 'unfinished", []),
    ],
)
def test_bash_completes(line: str, expected: list[str]) -> None:
    found = completed(line)
    if "aws:" in line:  # bash breaks words at colons, so what stands before the last one is not repeated
        expected = [one.rpartition(":")[2] for one in expected]
    assert found == expected


LINES = [
    (["packproof", "sol"], ["solve"]),
    (["packproof", "admission", "mo"], ["moments"]),
    (["packproof", "solve", "examples/four_types.toml", "--se"], ["--servers"]),
    (["packproof", "simulate", "examples/four_types.toml", "--policy", "best"], ["best-fit"]),
    (["packproof", "simulate", "--policy=best"], ["--policy=best-fit"]),
    (["packproof", "share", "x.toml", "--mechanism", "ps"], ["ps-dsf", "ps-dsf-tdm"]),
    (["packproof", "worst", "x.toml", "--vary", "w"], ["workload"]),
    (["packproof", "instance", "--types", "aws:m5.large,aws:m5.12"], ["aws:m5.large,aws:m5.12xlarge"]),
    (["packproof", "attack", "x", "--kind", ""], ["assignment", "items", "sharing", "online"]),
]
"""Words of unfinished lines, the last one as typed so far, and what may stand for it."""


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh")
def test_zsh_completes() -> None:
    """What the script gives to ``compadd``, in zsh itself; where packproof knows no word, zsh lists files."""
    code = f"""
        packproof() {{ {sys.executable} -m packproof "$@" }}
        compdef() {{ [[ "$*" == "_packproof packproof" ]] && print -r -- bound }}
        compadd() {{ shift; print -r -- ${{(j:,:)@}} }}
        _files() {{ print files }}
        eval "$(packproof completion zsh)"
    """
    for words, _ in LINES:
        code += f"words=({shlex.join(words)}); CURRENT={len(words)}; _packproof\n"
    code += "words=(packproof solve examples/fo); CURRENT=3; _packproof\n"
    done = subprocess.run(["zsh", "-fc", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not done.stderr
    assert done.stdout.splitlines() == ["bound", *(",".join(expected) for _, expected in LINES), "files"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish")
def test_fish_completes(tmp_path: Path) -> None:
    """What fish lists by itself with the script loaded; files stand beside the words."""
    code = f"function packproof; {sys.executable} -m packproof $argv; end; packproof completion fish | source\n"
    code += "".join(f"complete -C {shlex.quote(shlex.join(words))}; echo +\n" for words, _ in LINES if words[-1])
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["fish", "--no-config", "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert not done.stderr
    listed = [answer.split() for answer in done.stdout.split("+")[:-1]]
    assert listed == [expected for words, expected in LINES if words[-1]]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
@pytest.mark.parametrize(("words", "expected"), LINES)
def test_the_question_of_a_script_is_answered(
    shell: str, words: list[str], expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the shell: the words of its script's question, with the line in the place of the shell's own."""
    assert run(["completion", shell]) == 0
    script = capsys.readouterr().out
    asked = {"zsh": '"${(j: :)words[1,CURRENT]}"', "fish": "(commandline -cp | string collect)"}[shell]
    (question,) = re.findall(rf"packproof (completion --line {re.escape(asked)}) 2>/dev/null", script)
    assert run([*question.removesuffix(asked).split(), " ".join(words)]) == 0
    assert capsys.readouterr().out.split("\n") == [*expected, ""]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    assert "packproof completion --line" in capsys.readouterr().out
    assert run(["completion", "csh"]) == 2
    assert run(["completion"]) == 2
