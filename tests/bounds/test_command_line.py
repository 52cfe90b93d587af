"""The command line as a contract: JSON keys, exit status, catalogue, speed of start-up."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import packproof
from bounds.cli import ELSEWHERE, application, run
from bounds.cli.app import Application
from theory.files.instances import read_instance
from theory.files.price_catalogue import catalogue

ROOT = Path(__file__).parents[2]
FOUR = str(ROOT / "examples" / "four_types.toml")


@pytest.mark.slow
def test_solve_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", FOUR, "--servers", "1000", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert sorted(answer["greedy"]["permutation"]) == ["large", "medium", "memory", "small"]
    assert sum(Fraction(stage["fraction"]) for stage in answer["greedy"]["stages"]) == 1
    assert answer["optimal"]["exact"] == "2060/13"
    assert Fraction(answer["guarantee"]) <= Fraction(answer["guarantee_stagewise"]) <= answer["ratio"]
    assert answer["servers"]["least_servers"] == {"lower": 1001, "upper": 1001, "exact": True}


def test_pools_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pools.json"
    pools = [{"name": n, "capacity": {"r": c}} for n, c in (("A", 3), ("B", 2))]
    kinds = [{"name": f"t{d}", "demand": {"r": d}, "reward": 1, "workload": "1/2"} for d in (2, 3)]
    path.write_text(json.dumps({"server": pools, "type": kinds}))
    assert run(["solve", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["greedy"]["reward"] == "3/4"
    assert set(answer["greedy"]["stages"][0]["configurations"]) == {"A", "B"}


@pytest.mark.slow
def test_text_and_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", FOUR, "--plot", str(tmp_path / "p.png")]) == 0
    assert "one more server is worth" in capsys.readouterr().out
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_catalogue_instance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "m5.toml"
    words = f"instance --types aws:m5.*,gcp:n2-standard-2 --server cpu=96,memory=384 --workload 1 --out {out}"
    assert run(words.split()) == 0
    instance = read_instance(out)
    assert "gcp:n2-standard-2" in instance.names
    assert instance.rewards[0] == catalogue()[instance.names[0]].price
    for wrong in (
        ["--types", "aws:nothing", "--server", "cpu=96,memory=384"],
        ["--types", "aws:m5.large", "--server", "cpu=96"],
        ["--types", "aws:m5.large", "--server", "cpu=1,memory=384"],
        ["--types", "aws:m5.large,aws:m5.large", "--server", "cpu=96,memory=384"],
        ["--types", "aws:m5.large", "--server", "cpu=x,memory=384"],
    ):
        capsys.readouterr()
        assert run(["instance", *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_catalogue_is_the_data(data: Path) -> None:
    shipped = Path(packproof.__file__).parent / "theory" / "files" / "prices" / "vm_catalog.csv"
    assert shipped.read_bytes() == (data / "vm_catalog.csv").read_bytes()


@pytest.mark.parametrize("arguments", [["--foo"], ["nothing"], ["solve"], ["solve", FOUR, "--servers", "0"], ["check"]])
def test_usage_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_heavy_packages_stay_out_of_the_start() -> None:
    code = (
        "import sys, packproof, bounds.cli; bounds.cli.run(['--help']);"
        "print(sorted({'numpy', 'scipy', 'sympy', 'numba', 'cvxpy', 'matplotlib'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_doors_open() -> None:
    for name in packproof.__all__:
        assert getattr(packproof, name) is not None
    with pytest.raises(AttributeError):
        _ = packproof.nothing


def test_control_characters_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = tmp_path / "a\x1b[2Kb.toml"
    named.write_text("x")
    assert run(["solve", str(named)]) == 2
    assert r"a\x1b[2Kb.toml" in capsys.readouterr().err
    forged = tmp_path / "i.toml"
    forged.write_text('[server]\ncapacity = { "cpu\\nvalid: x" = 4 }\n')
    assert run(["solve", str(forged)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
def test_a_reader_who_leaves_is_no_fault() -> None:
    """The answer is written into a pipe that nobody reads any more."""
    example = Path(__file__).parents[2] / "examples" / "four_types.toml"
    command = [sys.executable, "-m", "packproof", "solve", str(example)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_command_is_in_the_file_of_its_name() -> None:
    """A command loads its own files alone; one that is elsewhere, and not listed, would load all files."""
    app = application()
    assert set(vars(app.parser())["commands"]) == app.names()
    files = {path.stem for path in (ROOT / "bounds" / "cli").glob("*.py")}
    assert app.names() - files == set(ELSEWHERE) - files == {"catalogue", "export"}


def test_the_parser_is_made_anew_where_commands_were_added() -> None:
    """Also within a group; a process that runs many command lines makes it once."""
    own, group = Application(), Application()
    own.command("a")(lambda: None)
    own.add_typer(group, name="g")
    group.command("b")(lambda: None)
    parser = own.parser()
    assert own.parser() is parser
    group.command("c")(lambda: None)
    assert set(own.parser().commands["g"].commands) == {"b", "c"}
    own.command("d")(lambda: None)
    assert set(own.parser().commands) == {"a", "d", "g"}


@pytest.mark.parametrize(("word", "loaded"), [("report", ["report"]), ("export", ["check", "export"]), ("app", None)])
def test_a_word_loads_what_it_names(word: str, loaded: list[str] | None) -> None:
    """A word that names a file without a command of that name loads all, so that the refusal lists all."""
    alone = f"from bounds.cli import application; print(*sorted(application(['{word}']).names()))"
    done = subprocess.run([sys.executable, "-c", alone], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == (loaded or sorted(application().names()))
