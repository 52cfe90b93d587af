"""Wrong policies of authors, as files: a fault each, the place where it is made, and the way to the tool (`WAYS`).

The policies of a model stand in one file, so that they are compiled together: the option ``fault`` of the table
``[simulation]`` says which fault is made, and ``late`` after how many calls.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

HELPERS = """\
from fluid.simulation import state as tools
from fluid.simulation.slotted import state as slots
def fits(state, server, j): return tools.fits(state, server, j)
def move(state, j, source, target): tools.move(state, j, source, target)
def start(state, j, server): tools.start(state, j, server)
def begin(state, c, server): slots.begin(state, c, server)
"""
"""A module beside the policy."""

HEAD = """\
import os, sys
from typing import NamedTuple
sys.path.insert(0, os.path.dirname(__file__))
import numpy as np
from numba import njit
import helpers
import packproof
import fluid.simulation.state as st
import fluid.simulation.slotted.state as sl
from packproof import Policy, simulation, step
from fluid.simulation.state import *
from fluid.simulation.state import queue_fields, type_of
from fluid.simulation.slotted.state import COUNT, FIRST, LAST, begin, class_size, shared
class Kit(NamedTuple):
    tool: object
FAR = 10**8
def state_of(setting, fields, **more):
    own = np.array([setting.options.get("fault", 0), setting.options.get("late", 0), 0])
    return type_of((*fields, "own"))(**(fields | more), own=own)
@step
def now(state, fault):
    if state.own[0] != fault: return False
    state.own[2] += 1
    return state.own[2] > state.own[1]
"""
"""What the file of a policy begins with; ``now`` says whether a fault is to be made."""

TOOLS: dict[str, tuple[str, str]] = {
    "fits": ("st", "state, a, b"),
    "move": ("st", "state, a, b, c"),
    "start": ("st", "state, a, b"),
    "begin": ("sl", "state, a, b"),
}
"""Where each tool stands, and its arguments."""

WAYS: dict[str, str] = {"by name": "{tool}", "alias": "alias_{tool}", "step of its own": "step_{tool}"}
"""How an author's code may reach a tool."""

OTHER_WAYS: dict[str, str] = {
    "attribute of packproof": "packproof.simulation.{tool}",
    "attribute of a room": "simulation.{tool}",
    "attribute of its module": "{home}.{tool}",
    "default": "default_{tool}",
    "closure": "closure_{tool}",
    "tuple": "TUPLE_{tool}[0]",
    "NamedTuple": "KIT_{tool}.tool",
    "helper beside": "helpers.{tool}",
    "njit of its own": "njit_{tool}",
}
"""How it may not: refused before the run."""

REACHING = """
alias_{tool} = {tool}
@step
def step_{tool}({arguments}): return {tool}({arguments})
"""
"""What a file must hold for the first ones, and for the others."""

REACHING_OTHERWISE = """
TUPLE_{tool} = ({tool}, {tool})
KIT_{tool} = Kit({tool})
def default_{tool}({arguments}, tool={tool}): return tool({arguments})
def bind_{tool}(tool):
    def inner({arguments}): return tool({arguments})
    return inner
closure_{tool} = bind_{tool}({tool})
@njit
def njit_{tool}({arguments}): return {tool}({arguments})
"""

ARGUMENTS = {
    "place": "state, j, draws",
    "depart": "state, server, j, draws",
    "refresh": "state, draws",
    "ring": "state, clock, draws",
}

CALLS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "loss": (("place", "fits", "state, FAR, j"), ("depart", "move", "state, j, FAR, 0")),
    "queue": (("refresh", "start", "state, 0, FAR"),),
    "slotted": (("refresh", "begin", "state, 0, FAR"),),
}
"""Calls of tools with a server that is nowhere, by model, and the function that makes them."""

WRITES: dict[str, tuple[tuple[str, str], ...]] = {
    "loss": (
        ("place", "state.done[0] = 10**7"),
        ("place", "state.done[0] = -3"),
        ("place", "state.counts[0, j] -= 10**6"),
        ("place", "return FAR"),
        ("depart", "state.totals[j] += 1"),
        ("depart", "state.free[server, 0] += 10**6"),
        ("depart", "state.demands[0, 0] = 0"),
        ("depart", "move(state, -1, server, server)"),
        ("depart", "stop(state, j, -1)"),
        ("refresh", "state.moves[0, 1] = FAR; state.done[0] = 1"),
        ("refresh", "state.moves[0, 2] = 1; state.done[0] = 1"),
        ("refresh", "state.slots[0] = -5"),
        ("refresh", "state.pool[0] = 3"),
        ("refresh", "state.counts[FAR, 0] = 1"),
        ("refresh", "put(state, 1, 0)"),
        ("refresh", "return True"),
        ("refresh", "state.own[0] = 1 // (state.own[1] - state.own[1])"),
        ("refresh", "raise ValueError"),
    ),
    "queue": (
        ("place", "state.waiting[j] -= 10**6"),
        ("place", "state.waiting[FAR] += 1"),
        ("place", "return FAR"),
        ("depart", "state.totals[j] -= 1"),
        ("depart", "state.counts[server, j] += 7"),
        ("depart", "state.free[server, 0] = 10**6"),
        ("refresh", "state.done[0] = 10**7"),
        ("refresh", "state.moves[0, 2] = FAR; state.done[0] = 1"),
        ("refresh", "state.moves[0, 0] = FAR; state.done[0] = 1"),
        ("refresh", "start(state, 0, -1)"),
        ("refresh", "stop(state, 0, 0)"),
        ("refresh", "state.clocks[0] = np.nan"),
        ("ring", "state.clocks[0] = -1.0"),
        ("ring", "take(state, 0, 0)"),
        ("ring", "raise KeyError(3)"),
    ),
    "slotted": (
        ("refresh", "state.free[0] += 5"),
        ("refresh", "state.jobs[0] -= 10**6"),
        ("refresh", "state.counters[2] = -7"),
        ("refresh", "state.counters[0] = FAR"),
        ("refresh", "state.lines[0, FIRST] = FAR"),
        ("refresh", "state.lines[0, LAST] = FAR"),
        ("refresh", "state.after[:] = 0"),
        ("refresh", "state.sizes[0] = 1"),
        ("refresh", "state.done[0] = 10**7"),
        ("refresh", "state.moves[0, 1] = FAR; state.done[0] = 1"),
        ("refresh", "state.moves[0, 2] = FAR; state.done[0] = 1"),
        ("refresh", "begin(state, 0, -1)"),
        ("refresh", "begin(state, -1, 0)"),
        ("depart", "state.free[FAR] = 0"),
    ),
}
"""What the functions of a policy may not do to its state, or return."""

RIGHT: dict[str, dict[str, str]] = {
    "loss": {
        "place": """for s in range(len(state.counts)):
        if use(state, s, j): return s
    return -1""",
        "depart": "pass",
        "refresh": "return False",
    },
    "queue": {
        "place": "return -1",
        "depart": "pass",
        "refresh": """for j in range(len(state.waiting)):
        for s in range(len(state.counts) if state.waiting[j] > 0 else 0):
            if fits(state, s, j):
                state.waiting[j] -= 1
                use(state, j, s)
                return True
    return False""",
        "ring": "pass",
    },
    "slotted": {
        "place": "return -1",
        "depart": "pass",
        "refresh": """for c in range(len(state.sizes) - 1, -1, -1):
        for s in range(len(state.free) if state.lines[c, COUNT] > 0 else 0):
            if class_size(state, c) <= state.free[s]:
                use(state, c, s)
                return True
    return False""",
    },
}
"""The functions of a right policy of each model; ``use`` calls its tool in the way that the option ``late`` says."""

USED = {"loss": "fits", "queue": "start", "slotted": "begin"}
"""The tool that the right policy of each model uses."""

FIELDS = {"loss": "common(s)", "queue": "queue_fields(s, clocks=1), clocks=np.array([0.5])", "slotted": "shared(s)"}
MAKERS = {model: f"state_of(s, {fields})" for model, fields in FIELDS.items()}


class Case(NamedTuple):
    """A wrong policy: a fault of the file of its model, or a file of its own."""

    name: str
    model: str
    fault: int = 0
    text: str = ""


def faults(model: str) -> list[tuple[str, str, str]]:
    """Return name, function and statement of the faults of the file of a model; they are numbered from 1."""
    calls = []
    for function, tool, arguments in CALLS[model]:
        for way in WAYS:
            call = f"{called(tool, way)}({arguments})"
            calls.append((f"{tool} {way}", function, f"state.own[2] += {call}" if tool == "fits" else call))
    return calls + [(statement, function, statement) for function, statement in WRITES[model]]


def called(tool: str, way: str) -> str:
    """Return how a tool is called that is reached in a way."""
    return (WAYS | OTHER_WAYS)[way].format(tool=tool, home=TOOLS[tool][0])


def policy_file(model: str) -> str:
    """Return the file of a policy X of a model: right where the option ``fault`` is 0."""
    tools = dict.fromkeys([USED[model], *(tool for _, tool, _ in CALLS[model])])
    text = HEAD + "".join(REACHING.format(tool=tool, arguments=TOOLS[tool][1]) for tool in tools)
    arguments = TOOLS[USED[model]][1]
    text += f"@step\ndef use({arguments}):\n"
    for number, way in enumerate(WAYS):
        text += f"    if state.own[1] == {number}: return {called(USED[model], way)}({arguments})\n"
    text += f"    return {USED[model]}({arguments})\n"
    text += f"def prepare(s): return {MAKERS[model]}\n"
    for function, body in RIGHT[model].items():
        text += f"def {function}({ARGUMENTS[function]}):\n"
        for number, (_, where, statement) in enumerate(faults(model), 1):
            if where == function:
                text += f"    if now(state, {number}): {statement}\n"
        text += f"    {body}\n"
    more = {"loss": ", moves_jobs=True", "queue": ", ring=ring", "slotted": ""}[model]
    return text + f"X = Policy('x', '{model}', prepare, place, depart, refresh{more}, options=('fault', 'late'))\n"


FILES: dict[str, tuple[str, str]] = {
    "name with escapes": ("loss", "X = Policy('x\\x1b[2J', 'loss', right, first, quiet, done)"),
    "name with a line": ("loss", "X = Policy('x\\ny', 'loss', right, first, quiet, done)"),
    "no function": ("loss", "X = Policy('x', 'loss', right, 3, quiet, done)"),
    "functions that do not suit": ("loss", "X = Policy('x', 'loss', st.common, st.fits, quiet, done)"),
    "tool as a function": ("loss", "X = Policy('x', 'loss', right, st.fits, quiet, done)"),
    "partial of a tool": ("loss", "X = Policy('x', 'loss', right, functools.partial(fits, server=FAR), quiet, done)"),
    "another model": (
        "loss",
        "X = Policy('x', 'loss', right, first, quiet, packproof.policy('nonpreemptive').refresh)",
    ),
    "aliases": ("loss", "def prepare(s): f = common(s); return Common(**{**f, 'slots': f['totals']})"),
    "an overlap": (
        "loss",
        "def prepare(s): f = common(s); f['free'] = np.zeros(9, np.int64)[:3, None]; return Common(**f)",
    ),
    "read-only": ("loss", "def prepare(s): f = common(s); f['counts'].setflags(write=False); return Common(**f)"),
    "small integers": (
        "loss",
        "def prepare(s): f = common(s); f['counts'] = f['counts'].astype(np.int8); return Common(**f)",
    ),
    "floats": ("loss", "def prepare(s): f = common(s); f['free'] = f['free'] * 1.0; return Common(**f)"),
    "every other row": (
        "loss",
        "def prepare(s): f = common(s); f['counts'] = np.zeros((6, 2), np.int32)[::2]; return Common(**f)",
    ),
    "other bytes": (
        "loss",
        "def prepare(s): f = common(s); f['totals'] = f['totals'].astype('>i8'); return Common(**f)",
    ),
    "jobs of its own": ("loss", "def prepare(s): f = common(s); f['counts'][0, 0] = 9; return Common(**f)"),
    "more room": ("loss", "def prepare(s): f = common(s); f['free'] += 10**6; return Common(**f)"),
    "no rows": ("loss", "def prepare(s): return Common(**common(s, most_moves=0))"),
    "rows begun": ("loss", "def prepare(s): f = common(s); f['done'][0] = 4; return Common(**f)"),
    "texts": ("loss", "def prepare(s): f = common(s); f['slots'] = np.array(['a', 'b']); return Common(**f)"),
    "a list": ("loss", "def prepare(s): return list(common(s).values())"),
    "jobs that wait": ("queue", "def prepare(s): f = queue_fields(s); f['waiting'][0] = 3; return QueueCommon(**f)"),
    "a clock of NaN": (
        "queue",
        "def prepare(s): f = queue_fields(s, clocks=1); f['clocks'][0] = np.nan; return QueueCommon(**f)",
    ),
    "places in a ring": ("slotted", "def prepare(s): f = shared(s); f['after'][-1] = 0; return sl.SlottedCommon(**f)"),
    "a queue that is none": (
        "slotted",
        "def prepare(s): return sl.SlottedCommon(**shared(s, queue_of=np.array([0, 7], np.int32), queues=1))",
    ),
    "prepare writes nowhere": (
        "loss",
        "def prepare(s):\n    state = Common(**common(s))\n    put(state, FAR, 0)\n    return state",
    ),
    "prepare ends": ("loss", "def prepare(s): os._exit(0)"),
    "prepare leaves": ("loss", "def prepare(s): sys.exit(0)"),
    "prepare says nothing": ("loss", "def prepare(s): raise ValueError"),
    "prepare for ever": ("loss", "def prepare(s): return prepare(s)"),
    "prepare without memory": ("loss", "def prepare(s): return np.zeros(10**15)"),
    "an end": ("loss", "def place(state, j, draws): os._exit(0)"),
    "a crash": ("loss", "def place(state, j, draws):\n    import ctypes\n    ctypes.string_at(0)"),
    "a kill": ("loss", "def place(state, j, draws): os.kill(os.getpid(), 9)"),
    "another program": ("loss", "def place(state, j, draws): os.execv('/bin/true', ['true'])"),
    "sys.exit": ("loss", "def place(state, j, draws): sys.exit()"),
    "GeneratorExit": ("loss", "def place(state, j, draws): raise GeneratorExit"),
    "an exception of its own": ("loss", "class Mine(BaseException): pass\ndef place(state, j, draws): raise Mine"),
    "an exception without a text": (
        "loss",
        "class Mine(Exception):\n    def __str__(self): raise self\ndef place(state, j, draws): raise Mine",
    ),
    "an exception with escapes": ("loss", "def place(state, j, draws): raise ValueError('a\\nb\\x1b[2J')"),
    "recursion": ("loss", "def place(state, j, draws): return place(state, j, draws)"),
    "recursion of a step": (
        "loss",
        "@step\ndef down(n): return 0 if n == -1 else down(n - 1)\ndef place(state, j, draws): return down(j)",
    ),
    "memory": ("loss", "def place(state, j, draws): return len(np.zeros(10**15))"),
    "an object": (
        "loss",
        "class Mine:\n    def __call__(self, state, j, draws): return move(state, j, FAR, 0)\nplace = Mine()",
    ),
    "a method": (
        "loss",
        "class Mine:\n    def go(self, state, j, draws): return fits(state, FAR, j)\nplace = Mine().go",
    ),
    "a dictionary of tools": (
        "loss",
        "TOOLS = {'go': fits}\ndef place(state, j, draws): return TOOLS['go'](state, FAR, j)",
    ),
    "a name looked up": ("loss", "def place(state, j, draws): return getattr(st, 'fi' + 'ts')(state, FAR, j)"),
    "globals": ("loss", "def place(state, j, draws): return globals()['fits'](state, FAR, j)"),
    "a shape": ("loss", "def place(state, j, draws):\n    state.counts.shape = (2, 3)\n    return -1"),
    "a lock": ("loss", "def place(state, j, draws):\n    state.totals.setflags(write=False)\n    return -1"),
    "does not run": ("loss", "raise KeyboardInterrupt if 0 else BaseException"),
}
"""Policies that are wrong by themselves: model, and what replaces a function of a right one."""

ENDING = ("prepare ends", "an end", "a crash", "a kill", "another program")
"""Those that end the process."""

RIGHT_FILE = """\
import functools
from fluid.simulation.state import QueueCommon
from fluid.simulation.policy_interface import nothing_to_depart as quiet, nothing_to_refresh as done
def right(s): return Common(**common(s))
def first(state, j, draws): return -1
prepare, place = right, first
"""


def cases() -> list[Case]:
    """Return all wrong policies."""
    texts = [
        Case(f"{model} {function}: {name}", model, number)
        for model in CALLS
        for number, (name, function, _) in enumerate(faults(model), 1)
    ]
    for way in OTHER_WAYS:
        reaching = REACHING_OTHERWISE.format(tool="fits", arguments=TOOLS["fits"][1])
        place = f"def place(state, j, draws): return 0 if {called('fits', way)}(state, FAR, j) else -1"
        end = "X = Policy('x', 'loss', prepare, place, quiet, done)"
        texts.append(Case(f"fits {way}", "loss", text=f"{HEAD}{RIGHT_FILE}{reaching}{place}\n{end}\n"))
    for name, (model, text) in FILES.items():
        end = "" if "Policy(" in text else f"\nX = Policy('x', '{model}', prepare, place, quiet, done)"
        texts.append(Case(name, model, text=f"{HEAD}{RIGHT_FILE}{text}{end}\n"))
    return texts


LOSS = "[server]\ncapacity = { cpu = 12 }\n" + "".join(
    f"[[type]]\nname = '{name}'\ndemand = {{ cpu = {size} }}\nreward = 1\nworkload = 0.4\n"
    for name, size in (("small", 5), ("big", 7))
)
SIZES = '[sizes]\ndiscrete = { "0.3" = "0.5", "0.6" = "0.5" }\nservers = 3\n'
TABLES = {
    "loss": f"{LOSS}[simulation]\n",
    "queue": f"{LOSS}[simulation]\n",
    "slotted": f"{SIZES}[simulation]\nintensity = 0.7\nservice_rate = 0.05\n",
}
UNTIL = {"loss": 3000, "queue": 3000, "slotted": 10_000}
"""Times of runs that expect enough events to be compiled."""


def command(case: Case, number: int, folder: Path, late: int) -> list[str]:
    """Write the files of a case, and return its command line."""
    policy = folder / (f"case{number}.py" if case.text else f"{case.model}.py")
    policy.write_text(case.text or policy_file(case.model))
    table = folder / f"case{number}.toml"
    table.write_text(TABLES[case.model] + ("" if case.text else f"fault = {case.fault}\nlate = {late}\n"))
    how = ["--servers", "3", "--until", str(UNTIL[case.model]), "--json"]
    return ["simulate", str(table), "--policy", f"{policy}:X", *how]
