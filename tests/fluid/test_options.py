"""What is said of a policy's options begins with the field of the file, so that whoever knows the file can name it."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bounds.cli import run
from fluid.experiment.grid import RUN, read_grid
from fluid.experiment.run import run_experiment
from fluid.experiment.store import Store
from fluid.experiment.summaries import summary
from fluid.simulation.options import Expression
from fluid.simulation.policy_interface import Policy
from fluid.simulation.policy_names import HOMES, all_options, policy, read_by
from fluid.simulation.slotted.policies.vqs import virtual_queues
from fluid.simulation.slotted.state import SlottedSetting
from fluid.simulation.state import Setting
from tests.instances import ONE
from theory.errors import InputError, TooLargeError
from theory.instance import additive, explicit

TWO = additive([12], [[5], [7]])


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("nonpreemptive", {"oracle": "best"}, "simulation.oracle: expected one of exact, single, greedy, got 'best'"),
        ("max-weight-local", {"oracle": 3}, "simulation.oracle: expected one of exact, single, greedy, got 3"),
        ("max-weight-local", {"renewal": "never"}, "simulation.renewal: expected one of while-empty, on-emptying, got"),
        ("randomized-sampling", {"sampling": "1e30"}, "simulation.sampling: expected a number from 0 to 1e+12"),
        ("randomized-sampling", {"expiry": -1}, "simulation.expiry: expected a number from 0 to 1e+12, got -1"),
        ("dra", {"reservation": Expression("L^L")}, "simulation.reservation: expected a number from 0 to"),
        ("dra", {"reservation": -1}, "simulation.reservation: expected a number from 0 to 2^31 at L = 1000, got -1"),
        ("dra", {"reservation": "many"}, "simulation.reservation: expected a number or a function of L such as "),
        ("dra-preemption", {}, "simulation.priority: missing, expected a table with t1, t2, for each a"),
    ],
)  # fmt: skip
def test_options_begin_with_their_field(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(words)}"):
        policy(name).prepare(Setting(TWO, 1000, options))


@pytest.mark.parametrize("name", ["vqs", "vqs-bf"])
@pytest.mark.parametrize("given", [1, 41, 3.5])
def test_partitions(name: str, given: float) -> None:
    with pytest.raises(InputError, match=r"^simulation\.partition: expected a (whole )?number from 2 to 40, got"):
        policy(name).prepare(SlottedSetting(np.array([3, 6]), 10, 2, {"partition": given}))
    with pytest.raises(InputError, match=r"^simulation\.partition: "):
        virtual_queues(np.array([3, 6]), 10, 1)


def test_initial_contents_are_told_by_name() -> None:
    full = np.zeros((4, 2), np.int32)
    full[2] = [2, 1]
    for name in ("first-fit", "dra", "power-of-d"):
        with pytest.raises(InputError, match=r"^simulation\.initial: server 3 cannot hold 2 t1, 1 t2$"):
            policy(name).prepare(Setting(TWO, 4, {}, full))
    with pytest.raises(InputError, match=r"^simulation\.initial: expected 4 rows of 2 numbers, got .*\(4, 3\)$"):
        policy("first-fit").prepare(Setting(TWO, 4, {}, np.zeros((4, 3), np.int32)))
    with pytest.raises(InputError, match=r"^simulation\.initial: expected empty servers"):
        policy("nonpreemptive").prepare(Setting(TWO, 4, {}, np.ones((4, 2), np.int32)))


def test_policies_that_do_not_suit_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = explicit([[2, 0], [0, 1]])
    with pytest.raises(InputError, match=r"^simulation\.oracle: 'greedy' expects"):
        policy("nonpreemptive").prepare(Setting(listed, 2, {"oracle": "greedy"}))
    with pytest.raises(InputError, match=r"^policy randomized-sampling: expected servers with capacities"):
        policy("randomized-sampling").prepare(Setting(listed, 2, {}))
    with pytest.raises(TooLargeError, match=r"^policy max-weight: expected at most 64 sizes"):
        policy("max-weight").prepare(SlottedSetting(np.arange(1, 66), 100, 2, {}))
    monkeypatch.setattr("fluid.simulation.oracle.LIMIT", 1)
    with pytest.raises(TooLargeError, match=r"^simulation\.oracle: .*; or oracle = 'greedy'$"):
        policy("nonpreemptive").prepare(Setting(TWO, 2, {}))


def test_every_policy_reads_what_it_declares() -> None:
    """The list of all options is that of what the policies read, and each finds what it declares."""
    read = [name for home in HOMES for name in policy(home).options]
    assert set(read) == set(all_options())
    table = dict.fromkeys(all_options(), 1)
    for home in HOMES:
        assert tuple(read_by(policy(home), table)) == tuple(n for n in all_options() if n in policy(home).options)
    with pytest.raises(InputError, match=r"^simulation\.bet: unknown option, expected one of beta|oracle"):
        read_by(policy("nonpreemptive"), {"bet": 1})


INSTANCE = ONE + "[simulation]\nd = 3\nbeta = 0.5\n"

OWN = """
from fluid.simulation.policy_interface import Policy, nothing_to_depart, nothing_to_refresh
from fluid.simulation.state import Common, common, fits
from theory.errors import InputError


def prepare(setting):
    seen.append(dict(setting.options))
    if setting.options.get("keep", 0) < 0:
        raise InputError("simulation.keep", "expected 0 or more")
    return Common(**common(setting))


def place(state, job_type, draws):
    for server in range(len(state.counts)):
        if fits(state, server, job_type):
            return server
    return -1


seen = []
MINE = Policy("mine", "loss", prepare, place, nothing_to_depart, nothing_to_refresh, options=("keep",))
"""


def test_options_of_other_policies_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.toml"
    path.write_text(INSTANCE)
    common = ["simulate", str(path), "--servers", "3", "--until", "5", "--policy"]
    for name, unread, reads in (
        ("first-fit", "d, beta", "it has no options"),
        ("power-of-d", "beta", "it reads d"),
        ("nonpreemptive", "d", "it reads oracle, beta, p, z, cut, fall, early, start"),
        ("vqs", "d, beta", "it reads partition"),
    ):
        assert run([*common, name]) == 0
        assert f"{path}: simulation: {name} does not read {unread}; {reads}\n" in capsys.readouterr().err
    path.write_text(INSTANCE.replace("beta", "bet"))
    assert run([*common, "dra"]) == 2
    error = capsys.readouterr().err
    assert f"{path}: simulation.bet: unknown field, expected one of " in error
    listed = re.split(r", | or ", error.partition("expected one of ")[2].partition(";")[0].strip())
    assert set(all_options()) < set(listed)
    assert error.endswith("; did you mean beta?\n")


def test_options_of_one_s_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.py").write_text(OWN)
    path = tmp_path / "one.toml"
    path.write_text(INSTANCE + "keep = 2\n")
    mine = f"{tmp_path / 'own.py'}:MINE"
    command = ["simulate", str(path), "--servers", "3", "--until", "5", "--policy"]
    assert run([*command, mine]) == 0
    assert policy(mine).prepare.__globals__["seen"] == [{"keep": 2}]
    assert run([*command, "dra"]) == 2
    assert "simulation.keep: unknown field" in capsys.readouterr().err
    path.write_text(INSTANCE + "keep = -2\n")
    assert run([*command, mine]) == 2
    assert capsys.readouterr().err.endswith(f"{path}: simulation.keep: expected 0 or more\n")


def test_options_of_one_s_own_that_are_declared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A record of an author's is read and listed as those of packproof's policies are."""
    declared = OWN.replace("def prepare(setting):", DECLARED).replace('options=("keep",)', "record=Mine")
    (tmp_path / "own.py").write_text(declared)
    path = tmp_path / "one.toml"
    path.write_text(INSTANCE + "keep = 2\n")
    mine = f"{tmp_path / 'own.py'}:MINE"
    command = ["simulate", str(path), "--servers", "3", "--until", "5", "--policy"]
    assert run([*command, mine]) == 0
    assert policy(mine).prepare.__globals__["read"] == [2]
    path.write_text(INSTANCE + "keep = -2\n")
    for name in (mine, "dra"):
        assert run([*command, name, *(() if name == mine else ("--policy", mine))]) == 2
        expected = f"{path}: simulation.keep: expected a whole number of at least 0, got -2\n"
        assert capsys.readouterr().err.endswith(expected)
    assert run(["simulate", "--policy", f"{mine}:list"]) == 0
    assert " keep 1 jobs that are kept" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(InputError, match=r"^Policy x: record: expected a dataclass, got 3$"):
        Policy("x", *(getattr(policy(mine), name) for name in FIELDS), record=3)  # type: ignore[arg-type]


FIELDS = ("model", "prepare", "place", "depart", "refresh")
DECLARED = """
from dataclasses import dataclass
from typing import Annotated
from fluid.simulation.options import options_of
from theory.files.record import Range


@dataclass(frozen=True)
class Mine:
    keep: Annotated[int, Range(0), "jobs that are kept"] = 1


read = []


def prepare(setting):
    read.append(options_of(Mine, setting.options).keep)
"""


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_policies_that_are_compared_take_their_own_options(
    order: tuple[int, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "other.py").write_text(OWN.replace("keep", "spare").replace('"mine"', '"other"'))
    path = tmp_path / "one.toml"
    path.write_text(INSTANCE + "keep = 2\nspare = 5\n")
    mine, other = f"{tmp_path / 'own.py'}:MINE", f"{tmp_path / 'other.py'}:MINE"
    names = [("power-of-d", mine, other)[place] for place in order]
    command = ["simulate", str(path), "--servers", "3", "--until", "5", "--replications", "1"]
    words = [word for name in names for word in ("--policy", name)]
    assert run([*command, *words, "--json"]) == 0
    assert policy(mine).prepare.__globals__["seen"] == [{"keep": 2}]
    assert policy(other).prepare.__globals__["seen"] == [{"spare": 5}]
    said = capsys.readouterr().err
    assert f"{path}: simulation: mine does not read d, beta, spare; it reads keep\n" in said
    # a word that none of them knows is refused by all their names, before anything runs
    path.write_text(INSTANCE + "kept = 2\nspare = 5\n")
    assert run([*command, *words]) == 2
    readers = ", ".join(policy(name).name for name in names)
    error = capsys.readouterr().err
    assert error.startswith(f"{path}: simulation.kept: unknown field to {readers}, expected one of ")
    assert (error.count("\n"), error.endswith("; did you mean keep?\n")) == (1, True)
    # the option of a policy that is not compared is no option here
    path.write_text(INSTANCE + "keep = 2\n")
    without = [word for name in names if name != mine for word in ("--policy", name)]
    assert run([*command, *without]) == 2
    assert "simulation.keep: unknown field" in capsys.readouterr().err


@pytest.mark.parametrize("options", ["spare", ["spare"], ("spare", 3), ("arrivals",), ("two words",)])
def test_options_that_are_no_names(options: Any) -> None:
    ours = policy("first-fit")
    with pytest.raises(InputError, match=r"^Policy mine: options: expected"):
        Policy("mine", "loss", ours.prepare, ours.place, ours.depart, ours.refresh, options=options)


GRID = """
instance = "one.toml"
until = 20
replications = 2
servers = 3
[vary]
policy = ["power-of-d", "best-fit", "own.py:MINE"]
d = [1, 2]
keep = [0, 1]
"""


@pytest.mark.slow
def test_a_value_that_a_policy_does_not_read_is_run_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.toml").write_text(INSTANCE)
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "grid.toml").write_text(GRID)
    grid = read_grid(tmp_path / "grid.toml", code=RUN)
    keys = {name: {c.key for c in grid.cells if c.varied["policy"] == name} for name in ("power-of-d", "best-fit")}
    assert {name: len(found) for name, found in keys.items()} == {"power-of-d": 4, "best-fit": 2}
    told: list[str] = []
    with Store(tmp_path / "s.db") as store:
        # 2 values of d, nothing to best-fit, 2 values of keep; 2 replications each
        assert run_experiment(grid, store, workers=1, say=lambda state: told.append(str(state))) == 4 + 2 + 4
        groups = {tuple(group.parameters.values()): group.numbers["reward"] for group in summary(grid, store)}
    assert len(groups) == 12
    assert len({number.mean for place, number in groups.items() if place[0] == "best-fit"}) == 1
    assert len({number.mean for place, number in groups.items() if place[0] == "power-of-d"}) == 2
    assert told[0].startswith("0 of 24")
    assert told[-1].startswith("24 of 24")
    (tmp_path / "grid.toml").write_text(GRID.replace('"power-of-d", ', ""))
    command = ["experiment", str(tmp_path / "grid.toml"), "--store", str(tmp_path / "s.db"), "--workers", "1"]
    command += ["--allow-code", "--json"]
    assert run(command) == 0
    shown = capsys.readouterr()
    assert "grid.toml: vary.d: no policy of the grid reads it" in shown.err
    assert json.loads(shown.out)["finished"] == 16
