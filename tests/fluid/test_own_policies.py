"""Policies of an author's: what goes wrong in them ends in one line that names file, line, function and event."""

import os
import pickle
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bounds.cli import run
from fluid.chains.loss import stationary_law
from fluid.chains.queue import queue_law, slotted_law
from fluid.simulation import run as loops
from fluid.simulation.driver import run_once, seed_of
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from fluid.simulation.queue.model import QueueScenario
from theory.errors import InputError
from theory.instance import additive

ROOT = Path(__file__).parent.parent.parent
LOSS = "[server]\ncapacity = { cpu = 12 }\n" + "".join(
    f"[[type]]\nname = '{name}'\ndemand = {{ cpu = {size} }}\nreward = 1\nworkload = 0.4\n"
    for name, size in (("small", 5), ("big", 7))
)
SIZES = """
[sizes]
discrete = { "0.3" = "0.5", "0.6" = "0.5" }
servers = 3
[simulation]
intensity = 0.7
service_rate = 0.05
"""
HEAD = """\
from fluid.simulation.state import QueueCommon, queue_fields
from fluid.simulation.slotted.policies.best_fit import place_nowhere
from fluid.simulation.slotted.state import COUNT, SlottedCommon, begin, class_size, shared
from fluid.simulation.policy_interface import *
from fluid.simulation.state import *
def loss(s): return Common(**common(s))
def queue(s): return QueueCommon(**queue_fields(s))
def slotted(s): return SlottedCommon(**shared(s))
@step
def first(state, j, draws):
    for s in range(len(state.counts)):
        if fits(state, s, j):
            return s
    return -1
def wait(state, j, draws): return -1
def quiet(state, s, j, draws): pass
def done(state, draws): return False
@step
def longest(state, draws):
    best = -1
    for j in range(len(state.waiting)):
        if state.waiting[j] > 0 and (best < 0 or state.waiting[j] > state.waiting[best]):
            best = j
    for s in range(len(state.counts) if best >= 0 else 0):
        if fits(state, s, best):
            state.waiting[best] -= 1
            start(state, best, s)
            return True
    return False
@step
def largest(state, draws):
    for c in range(len(state.sizes) - 1, -1, -1):
        for s in range(len(state.free)):
            if state.lines[c, COUNT] > 0 and class_size(state, c) <= state.free[s]:
                begin(state, c, s)
                return True
    return False
"""


@pytest.fixture
def own(tmp_path: Path) -> Any:
    """Write the policy ``X`` of a few lines below `HEAD`, and return its name."""

    def write(text: str, model: str = "loss") -> str:
        (tmp_path / "own.py").write_text(source(text, model))
        return f"{tmp_path / 'own.py'}:X"

    (tmp_path / "loss.toml").write_text(LOSS)
    (tmp_path / "slots.toml").write_text(SIZES)
    return write


def source(text: str, model: str = "loss") -> str:
    """A file of so much; ``{place, depart, refresh}`` stands for the policy of these functions."""
    made = re.sub(r"^{(.*)}$", rf"X = Policy('x', '{model}', {model}, \1)", textwrap.dedent(text), flags=re.M)
    return HEAD + made


def line_of(text: str, mark: str) -> int:
    lines = source(text).splitlines()
    return next(i for i, line in enumerate(lines, 1) if mark in line)


def simulated(name: str, model: str, capsys: pytest.CaptureFixture[str], until: str = "60", *more: str) -> str:
    """Return the one line of a simulation that is refused."""
    folder = Path(name.rpartition(":")[0]).parent
    file = folder / ("slots.toml" if model == "slotted" else "loss.toml")
    status = run(["simulate", str(file), "--policy", name, "--servers", "3", "--until", until, *more])
    *progress, complaint = capsys.readouterr().err.strip().splitlines()
    assert status == 2, complaint
    assert all("starting" in line or "compiling" in line for line in progress)
    return complaint


def exactly(name: str, model: str) -> str:
    """Return the line of an exact chain that is refused."""
    two = additive([12], [[5], [7]], [1, 1], [1, 1])
    few, some = np.array([0.02, 0.02]), np.array([0.1, 0.1])
    laws: dict[str, Any] = {
        "loss": lambda: stationary_law(policy(name), two, 2),
        "queue": lambda: queue_law(policy(name), two, 2, 3),
        "slotted": lambda: slotted_law(policy(name), np.array([3, 6]), 10, 1, few, some, 6),
    }
    with pytest.raises(InputError) as refused:
        laws[model]()
    return str(refused.value)


WRONG = {
    "no room": ("loss", "def bad(s, j, d): return 0\n{bad, quiet, done}", "returned 0, which"),
    "no server": ("loss", "def bad(s, j, d): return 3\n{bad, quiet, done}", "returned 3"),
    "a float": ("loss", "def bad(s, j, d): return 1.0\n{bad, quiet, done}", "1.0 (float)"),
    "nothing": ("loss", "def bad(s, j, d): pass\n{bad, quiet, done}", "returned None"),
    "place raises": (
        "loss",
        "def bad(s, j, d): return 1 // s.totals[j]\n{bad, quiet, done}",
        "FloatingPointError: divide by zero",
    ),
    "no field": (
        "loss",
        "def bad(s, d): return s.fre[0] > 0\n{first, quiet, bad}",
        "no attribute 'fre'; the state has counts, totals",
    ),
    "no tool": (
        "loss",
        "def bad(s, d): import packproof; return packproof.simulation.fit(s, 0, 0)\n{first, quiet, bad}",
        "raised AttributeError: module 'packproof.simulation' has no attribute 'fit'; did you mean fits",
    ),
    "no tool in a helper": (
        "loss",
        "def bad(s, j, d): return helper(s)\n@step\ndef helper(s): return simulation.fits_(s, 0, 0)\n"
        "{bad, quiet, done}\nfrom packproof import simulation",
        "place of x raised AttributeError: module 'packproof.simulation' has no attribute 'fits_'; did you mean fits",
    ),
    "no name in packproof": (
        "loss",
        "def bad(s, j, d): return pack.addditive(s)\n{bad, quiet, done}\nimport packproof as pack",
        "module 'packproof' has no attribute 'addditive'; did you mean additive or Additive?",
    ),
    "depart raises": (
        "loss",
        "def bad(s, l, j, d): raise KeyError('gone')\n{first, bad, done}",
        "depart of x raised KeyError: 'gone' (",
    ),
    "leaves": (
        "loss",
        "def bad(s, j, d): exit(3)\n{bad, quiet, done}",
        "place of x called sys.exit, expected it to return",
    ),
    "an index": (
        "loss",
        "def bad(s, j, d): return 0 if fits(s, 99, j) else -1\n{bad, quiet, done}",
        "place of x raised IndexError: index 99",
    ),
    "moves": (
        "loss",
        "def bad(s, l, j, d): s.counts[l, j] > 0 and move(s, j, l, l)\n{first, bad, done}",
        "moves_jobs=True",
    ),
    "moves nothing": (
        "loss",
        "def bad(s, l, j, d): move(s, j, 2, 2)\n{first, bad, done, moves_jobs=True}",
        "expected a server that holds a job of the type",
    ),
    "the jobs": (
        "loss",
        "def bad(s, j, d): s.counts[0, j] += 1; return -1\n{bad, quiet, done}",
        "has changed the jobs in service, expected changes by move and stop alone",
    ),
    "restless": (
        "loss",
        "def bad(s, d): return True\n{first, quiet, bad}",
        "refresh of x has returned True more than 1000 times at one event",
    ),
    "a text": ("loss", "def bad(s, d): return 'no'\n{first, quiet, bad}", "expected True or"),
    "queue: no room": ("queue", "def bad(s, j, d): return 0\n{bad, quiet, done}", "returned 0"),
    "queue: restless": (
        "queue",
        "def bad(s, d): return True\n{first, quiet, bad}",
        "refresh of x has returned True",
    ),
    "nobody waits": (
        "queue",
        "def bad(s, d): start(s, 0, 0); return False\n{wait, quiet, bad}",
        "refresh of x ",
    ),
    "not lowered": (
        "queue",
        """\
        def bad(s, d):
            if s.waiting[0] > 0 and fits(s, 0, 0): start(s, 0, 0)
            return False
        {wait, quiet, bad}""",
        "left waiting[0] = 1, expected 0: one less for each job that it starts",
    ),
    "a clock": (
        "queue",
        """\
        def many(s): return QueueCommon(**queue_fields(s, clocks=1))
        def bad(s, d): s.clocks[0] = -1.0; return False
        X = Policy('x', 'queue', many, wait, quiet, bad)""",
        "left clocks = [-1.0], expected rates of at least 0",
    ),
    "ring raises": (
        "queue",
        """\
        def many(s):
            fields = queue_fields(s, clocks=1)
            fields["clocks"][0] = 1.0
            return QueueCommon(**fields)
        def bad(s, k, d): raise RuntimeError("ding")
        X = Policy('x', 'queue', many, first, quiet, done, ring=bad)""",
        "ring of x raised RuntimeError: ding",
    ),
    "slots: no room": ("slotted", "def bad(s, c, d): return 0\n{bad, quiet, done}", "returned 0"),
    "slots: no server": ("slotted", "def bad(s, c, d): return 9\n{bad, quiet, done}", "returned 9"),
    "slots: restless": (
        "slotted",
        "def bad(s, d): return True\n{place_nowhere, quiet, bad}",
        "refresh of x has returned True",
    ),
    "slots: nobody waits": (
        "slotted",
        "def bad(s, d): begin(s, 0, 0); return False\n{place_nowhere, quiet, bad}",
        "refresh of x: begin: expected a job that waits; got job_class = 0, server = 0, size = ",
    ),
    "slots: no room to begin": (
        "slotted",
        """\
        def bad(s, d):
            return begin(s, 0, 0) is None if 0 < s.lines[0, COUNT] and s.free[0] < class_size(s, 0) else largest(s, d)
        {place_nowhere, quiet, bad}""",
        "begin: expected a server with room for the job; got job_class = 0, server = 0, size = ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_goes_wrong_is_told_in_one_line(case: str, own: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """On the command line (before anything is compiled) and in the exact chain."""
    model, text, words = WRONG[case]
    name = own(text, model)
    first = line_of(text, "def bad")
    where = rf"own\.py:({first}|{first + 1}|{first + 2}): \w+ of x"  # also a helper of one line behind it
    event = r"\((time|slot) \d.*\)$" if case != "slots: restless" else r"\(slot \d"
    complaint = simulated(name, model, capsys)
    assert complaint.startswith("--policy: ")
    assert words in complaint
    assert re.search(where, complaint)
    assert re.search(event, complaint), complaint
    complaint = exactly(name, model)
    assert re.search(where, complaint)
    assert re.search(r"(jobs|free) \[.*\]\)$", complaint)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def bad(s): return [][0]\nX = Policy('x', 'loss', bad, first, quiet, done)", "raised IndexError: list index"),
        (
            "from packproof import simulation\ndef bad(s): return simulation.Comon(**common(s))\n"
            "X = Policy('x', 'loss', bad, first, quiet, done)",
            "module 'packproof.simulation' has no attribute 'Comon'; did you mean common or Common?",
        ),
        ("def bad(s): return [1]\nX = Policy('x', 'loss', bad, first, quiet, done)", "a NamedTuple of numpy arrays,"),
        (
            "def bad(s): return Common(**{**common(s), 'slots': 3})\nX = Policy('x', 'loss', bad, first, quiet, done)",
            "field slots: expected a numpy array of numbers, got int",
        ),
        (
            "def bad(s): return Common(**common(s))\nX = Policy('x', 'queue', bad, first, quiet, done)",
            "field waiting: missing, expected the fields of model queue",
        ),
        (
            "def bad(s): return Common(**common(s))._replace(totals=common(s)['slots'][:1])\n"
            "X = Policy('x', 'loss', bad, first, quiet, done)",
            "field totals: expected shape (2,), got (1,)",
        ),
        (
            "def bad(s): return QueueCommon(**{**queue_fields(s), 'clocks': common(s)['slots']})\n"
            "X = Policy('x', 'queue', bad, first, quiet, done)",
            "field clocks: expected float64, got int64",
        ),
    ],
)  # fmt: skip
def test_what_prepare_makes_is_looked_at(text: str, words: str, own: Any, capsys: pytest.CaptureFixture[str]) -> None:
    name = own(text)
    complaint = simulated(name, "loss", capsys)
    assert f"own.py:{line_of(text, 'def bad')}: prepare of x" in complaint
    assert words in complaint
    in_the_library = exactly(name, policy(name).model)  # names the argument, and a place in another file
    assert in_the_library == complaint.removeprefix("--").replace(
        complaint.split(": ")[1], in_the_library.split(": ")[1]
    )


LATE = {
    "loss": """
        def bad(state, j, draws):
            server = first(state, j, draws)
            if server < 0 and draws.random() < 0.02:
                return 0
            return server
        X = Policy('x', 'loss', loss, bad, quiet, done)""",
    "queue": """
        def bad(state, draws):
            if draws.random() < 0.002:
                start(state, 1, 2)
            return longest(state, draws)
        X = Policy('x', 'queue', queue, wait, quiet, bad)""",
    "slotted": """
        def bad(state, draws):
            if draws.random() < 0.002:
                return state.free[99999999] > 0
            return largest(state, draws)
        X = Policy('x', 'slotted', slotted, place_nowhere, quiet, bad)""",
}


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_at_once")
@pytest.mark.parametrize("model", LATE)
def test_compiled_code_names_the_event_as_python_does(
    model: str, own: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long after the beginning; an index beyond an array, which compiled code would read without a word, included."""
    name = own(LATE[model])
    compiled = simulated(name, model, capsys, "3000")
    assert "bad" not in compiled
    assert float(re.search(r"(?:time|slot) ([\d.]+)", compiled)[1]) > 20  # type: ignore[index]
    monkeypatch.setattr("numba.config.DISABLE_JIT", 1)
    assert simulated(name, model, capsys, "3000") == compiled


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_at_once")
def test_a_policy_that_numba_cannot_compile_says_so_once(own: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """Here and in workers; the path is that of the policy that is compiled, helpers without a decorator included."""
    odd = """
        def bad(state, draws):
            able = {f"{j}": j for j in reversed(range(len(state.waiting)))}
            return longest(state, draws) if able else False
        X = Policy('odd', 'queue', queue, wait, quiet, bad)
        EVEN = Policy('even', 'queue', queue, wait, quiet, longest)"""
    name = own(odd)
    folder = Path(name).parent
    scenario = QueueScenario(additive([12], [[5], [7]], [1, 1], ["1/2", "1/4"]), 3, 300.0, 0.0)
    one, other = (run_once(policy(name), scenario, seed_of(1, r)) for r in range(2))
    even = [run_once(policy(name.replace(":X", ":EVEN")), scenario, seed_of(1, r)) for r in range(2)]
    assert [one.mean_queue, other.mean_queue] == [run.mean_queue for run in even]
    told = capfd.readouterr().err.splitlines()
    assert len(told) == 1
    assert re.search(r"own\.py:\d+: odd runs as Python, numba cannot compile refresh: ", told[0])
    (folder / "grid.toml").write_text(
        "instance = 'loss.toml'\nuntil = 3000\nreplications = 2\nservers = 3\n"
        "[vary]\npolicy = ['own.py:X', 'own.py:EVEN']\nworkload = [0.3, 0.5]\n"
    )
    command = ["experiment", str(folder / "grid.toml"), "--allow-code", "--workers", "2"]
    command += ["--store", str(folder / "s.db")]
    # a process of its own: workers that other tests have left write where those looked
    called = [sys.executable, "-m", "packproof", *command, "--csv", str(folder / "t.csv")]
    done = subprocess.run(called, cwd=ROOT, capture_output=True, text=True, check=True)
    told = [line for line in done.stderr.splitlines() if "runs as Python" in line]
    assert 1 <= len(told) <= 2
    rows = [row.split(",") for row in (folder / "t.csv").read_text().splitlines()]
    column = rows[0].index("queue")
    values = [row[column] for row in rows[1:]]
    assert values[:4] == values[4:]


@pytest.mark.slow
@pytest.mark.usefixtures("compiled_at_once")
def test_what_numba_cannot_compile_is_tried_once(
    own: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The run says why and stays Python, and no later run tries again."""
    begun: list[Any] = []
    compiled = loops._compiled_for_author
    monkeypatch.setattr(loops, "_compiled_for_author", lambda *of: (begun.append(of), compiled(*of))[1])
    monkeypatch.setattr(loops, "is_stored", lambda _: False)
    takes_long = lambda *_: pytest.fail("the loop is compiled, which takes long")  # noqa: E731
    monkeypatch.setattr(loops, "_checked_loops", lambda *_: (takes_long, takes_long))
    odd = policy(own("def bad(s, j, d): return first(s, int(str(j)), d)\n{bad, quiet, done}"))
    scenario = LossScenario(additive([12], [[5], [7]], [1, 1], [1, 1]), 20, 20.0, 0.0)
    runs = [run_once(odd, scenario, seed_of(1, 0)) for _ in range(2)]
    assert runs[0].events == runs[0].interpreted == runs[1].interpreted > 800
    known = run_once(policy("first-fit"), scenario, seed_of(1, 0), python=True)
    assert (runs[0].measures.jobs == known.measures.jobs).all()
    assert len(begun) == 1
    told = capfd.readouterr().err.splitlines()
    assert len(told) == 1
    assert "x runs as Python, numba cannot compile place: " in told[0]


@pytest.mark.slow
def test_experiments_and_stores_tell_the_same(own: Any, capsys: pytest.CaptureFixture[str]) -> None:
    name = own("def bad(s, j, d): return 1 if s.totals[j] > 2 else first(s, j, d)\n{bad, quiet, done}")
    folder = Path(name).parent
    (folder / "grid.toml").write_text(
        "instance = 'loss.toml'\nuntil = 50\nreplications = 2\n[vary]\npolicy = ['own.py:X']\nservers = [3, 4]\n"
    )
    command = ["experiment", str(folder / "grid.toml"), "--allow-code", "--workers"]
    for workers in ("1", "2"):
        assert run([*command, workers, "--store", str(folder / f"{workers}.db")]) == 2
        complaint = capsys.readouterr().err.strip()
        assert re.search(r"grid\.toml: policy: .*own\.py:\d+: place of x returned 1, which has no room", complaint)
        assert re.search(r"\[servers = \d, replication \d\]$", complaint)
    for more in (["--replications", "3"], ["--replications", "2", "--store", str(folder / "kept.db")]):
        assert "own.py:" in simulated(name, "loss", capsys, "60", *more)


def nowhere(state: Any, job_type: int, draws: Any) -> int:
    return -1


def test_files_that_do_not_run(tmp_path: Path) -> None:
    for text, words in (
        ("x = 1\ndef f(:\n", "own.py:2: does not run: SyntaxError"),
        ("\n\nimport nosuchmodule\n", "own.py:3: does not run: ModuleNotFoundError"),
        ("import sys\nsys.exit(3)\n", "own.py:2: does not run: SystemExit"),
        ("X = 3\n", "own.py: expected the name of a Policy (none), got 'X'"),
        (HEAD + "X = Policy('x', 'loss', loss, done, quiet, done)\n", "Policy x: place: expected a function of"),
    ):
        (tmp_path / "own.py").write_text(text)  # changed under the same name: read again each time
        with pytest.raises(InputError, match=re.escape(words)):
            policy(f"{tmp_path / 'own.py'}:X")
    with pytest.raises(InputError, match=r"none\.py: expected a Python file"):
        policy(f"{tmp_path / 'none.py'}:X")
    with pytest.raises(InputError, match=r"expected FILE\.py:NAME, got 'own\.py'"):
        policy("own.py")


def test_a_policy_travels_to_a_process_in_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path begins at the folder of the sender."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (here / "own.py").write_text((ROOT / "examples" / "own_policies.py").read_text())
    monkeypatch.chdir(here)
    sent = pickle.dumps(policy("own.py:WORST_FIT"))
    code = f"import pickle; print(pickle.loads({sent!r}).source)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=there,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "own.py:WORST_FIT"
