"""Numbers far from any cluster: an answer or one line, never a traceback, a warning or a run without end."""

from __future__ import annotations

from pathlib import Path

import pytest

from bounds.cli import run

POLICIES = ("first-fit", "dra", "power-of-d", "static", "nonpreemptive", "randomized-sampling", "bf-js", "vqs")


def written(folder: Path, workload: str, service_rate: str, more: str = "") -> str:
    path = folder / "one.toml"
    path.write_text(
        f'[server]\ncapacity = {{ cpu = 8 }}\n[[type]]\nname = "a"\ndemand = {{ cpu = 3 }}\nreward = 1\n'
        f"workload = {workload}\nservice_rate = {service_rate}\n{more}"
    )
    return str(path)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("workload", "service_rate"), [("1e-100", "1"), ("1", "1e-100"), ("1e-99", "1e-99")])
def test_nobody_comes(
    policy: str, workload: str, service_rate: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, workload, service_rate)
    assert run(["simulate", path, "--policy", policy, "--servers", "9", "--until", "5"]) == 0
    assert "0 %  [0, 0]" in capsys.readouterr().out


@pytest.mark.parametrize("policy", POLICIES)
def test_endless_work_is_refused(policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "1e99", "1")
    assert run(["simulate", path, "--policy", policy, "--servers", "9", "--until", "5"]) == 2
    error = capsys.readouterr().err
    assert ("jobs are expected by then" in error) or ("jobs come in a slot" in error)
    assert error.count("\n") == 1


@pytest.mark.parametrize("command", ["solve", "region", "fluid", "simulate"])
@pytest.mark.parametrize("number", ['"1e400"', "1e101", "1e-101", '"1/1' + "0" * 101 + '"'])
def test_numbers_beyond_any_use(command: str, number: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, number, "1")
    more = {"fluid": ["--until", "2"], "simulate": ["--policy", "dra", "--servers", "3", "--until", "2"]}
    assert run([command, path, *more.get(command, [])]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{path}: type[1].workload: expected")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("more", "options", "expected"),
    [
        (
            "[simulation]\ninitial = [{ servers = 4, jobs = { a = 1 } }]",
            ["--policy", "dra"],
            "on 3 servers at most, got 4",
        ),
        ("", ["--policy", "bf-js"], "type a: service_rate: expected the probability"),
    ],
)
def test_what_does_not_suit_names_file_and_field(
    more: str, options: list[str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "1", "2", more)
    assert run(["simulate", path, "--servers", "3", "--until", "2", *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{path}: ")
    assert expected in error


@pytest.mark.parametrize("policy", ["dra", "nonpreemptive", "bf-js"])
def test_more_jobs_at_once_than_anybody_has(policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kind = "full" if policy == "dra" else "queue"
    for number in ("1e30", "10000001"):
        path = written(tmp_path, "1", "1", f"[simulation]\ninitial = {{ {kind} = {{ a = {number} }} }}\n")
        assert run(["simulate", path, "--servers", "3", "--until", "2", "--policy", policy]) == 2
        error = capsys.readouterr().err
        assert error.startswith(
            f"{path}: simulation.initial.{kind}.a: expected a number of jobs up to ten million, got"
        )
        assert error.count("\n") == 1


def test_batches_of_a_million(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Drawn in parts: a batch is far more than what comes in the whole time, on average."""
    batches = '[simulation]\narrivals = { law = "poisson", batch = 1e6, sizes = "geometric" }\n'
    path = written(tmp_path, "2", "1", batches)
    assert run(["simulate", path, "--servers", "2", "--until", "5", "--policy", "first-fit"]) == 0
    assert "first-fit on 2 servers" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "first", "second"),
    [
        (["simulate", "one.toml", "--policy", "dra", "--servers", "3", "--until", "2"], "--plot", "--store"),
        (["fluid", "one.toml", "--until", "2"], "--csv", "--plot"),
        (["experiment", "grid.toml"], "--store", "--csv"),
    ],
)
def test_a_file_named_twice(
    command: list[str],
    first: str,
    second: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    written(tmp_path, "1", "1")
    (tmp_path / "grid.toml").write_text(
        'instance = "one.toml"\nuntil = 9\nreplications = 1\nservers = 2\npolicy = "dra"\n'
    )
    monkeypatch.chdir(tmp_path)
    assert run([*command, first, "out.png", second, "./out.png"]) == 2
    assert "out.png: named twice" in capsys.readouterr().err
    assert not (tmp_path / "out.png").exists()


def test_deterministic_service_of_parts_of_slots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fixed = '[simulation]\nservice = "deterministic"\n'
    path = written(tmp_path, "1", "0.3", fixed)
    assert run(["simulate", path, "--servers", "3", "--until", "9", "--policy", "bf-js"]) == 2
    assert "type a: service_rate: expected 1 over a whole number of slots" in capsys.readouterr().err
    sizes = tmp_path / "sizes.toml"
    sizes.write_text(f'[sizes]\nuniform = ["0.1", "0.9"]\nservers = 3\n{fixed}rate = 0.1\nservice_rate = 0.3\n')
    assert run(["simulate", str(sizes), "--until", "9", "--policy", "bf-js"]) == 2
    assert "sizes.toml: simulation.service_rate: expected 1 over a whole number" in capsys.readouterr().err


@pytest.mark.slow
def test_a_law_of_sizes_names_its_servers_or_the_command_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sizes.toml"
    law = '[sizes]\nuniform = ["0.1", "0.9"]\n[simulation]\nintensity = 0.5\nservice_rate = 0.1\n'
    path.write_text(law)
    command = ["simulate", str(path), "--policy", "bf-js", "--until", "100"]
    assert run(command) == 2
    assert "--servers: missing" in capsys.readouterr().err
    assert run([*command, "--servers", "2"]) == 0
    (tmp_path / "grid.toml").write_text('instance = "sizes.toml"\nuntil = 100\nreplications = 1\npolicy = "bf-js"\n')
    grid = ["experiment", str(tmp_path / "grid.toml"), "--store", str(tmp_path / "s.db")]
    assert run(grid) == 2
    assert "grid.toml: servers: missing" in capsys.readouterr().err
    path.write_text(law.replace("[simulation]", "servers = 2\n[simulation]"))
    assert run(command) == 0
    assert run([*grid, "--workers", "1"]) == 0


def test_a_field_fixed_and_varied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, "1", "1")
    (tmp_path / "grid.toml").write_text(
        'instance = "one.toml"\nuntil = 10\nreplications = 1\nservers = 2\npolicy = "dra"\n'
        '[vary]\npolicy = ["static"]\n'
    )
    assert run(["experiment", str(tmp_path / "grid.toml"), "--store", str(tmp_path / "s.db")]) == 2
    assert "grid.toml: policy: expected it here or under [vary]" in capsys.readouterr().err
