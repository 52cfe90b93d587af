"""Wrong policies of authors: each must end in one line with status 2, whatever it does, and however it does it.

The policies of a model stand in one file (`SOURCES`), so that they are compiled together: the option ``fault`` of the
table ``[simulation]`` says which fault is made, and ``late`` after how many calls. Each is a fault, the place where it
is made, and the way by which the author's code reaches the tool (`WAYS`). There are three runs:

- ``rehearsed``: the fault is made at once, in the events that run as Python beside compiled tools;
- ``compiled``: long after these events, in compiled code;
- ``python``: as late, with ``NUMBA_DISABLE_JIT=1``.

Every run is the command line itself, in a process that is forked from one that has the modules loaded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.attacks.report import Report

ROOT = Path(__file__).parents[2]

PATIENCE = 120.0
"""Seconds of wall after which a run counts as one that does not end."""

FAR = 10**8
"""The index of a server that is nowhere."""

LATE = 300
"""Calls of a function after which a late fault is made; the rehearsal has 64 events at most."""

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
from fluid.simulation.state_types import type_of
from fluid.simulation.queue.state import queue_fields
from fluid.simulation.slotted.state import COUNT, FIRST, SIZE, begin, shared
class Kit(NamedTuple):
    tool: object
FAR = 10**8
def state_of(setting, fields, **more):
    own = np.array([setting.options.get("fault", 0), setting.options.get("late", 0), 0])
    return type_of((*fields, "own"))(**(fields | more), own=own)
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

WAYS: dict[str, str] = {
    "by name": "{tool}",
    "attribute of packproof": "packproof.simulation.{tool}",
    "attribute of a room": "simulation.{tool}",
    "attribute of its module": "{home}.{tool}",
    "alias": "alias_{tool}",
    "default": "default_{tool}",
    "closure": "closure_{tool}",
    "tuple": "TUPLE_{tool}[0]",
    "NamedTuple": "KIT_{tool}.tool",
    "helper beside": "helpers.{tool}",
    "step of its own": "step_{tool}",
    "njit of its own": "njit_{tool}",
}
"""How an author's code may reach a tool."""

REACHING = """
alias_{tool} = {tool}
TUPLE_{tool} = ({tool}, {tool})
KIT_{tool} = Kit({tool})
def default_{tool}({arguments}, tool={tool}): return tool({arguments})
def bind_{tool}(tool):
    def inner({arguments}): return tool({arguments})
    return inner
closure_{tool} = bind_{tool}({tool})
@step
def step_{tool}({arguments}): return {tool}({arguments})
@njit
def njit_{tool}({arguments}): return {tool}({arguments})
"""
"""What a file must hold for that."""

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
        ("refresh", "state.lines[0, SIZE] = 1"),
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
        if {tool}(state, s, j): return s
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
                {tool}(state, j, s)
                return True
    return False""",
        "ring": "pass",
    },
    "slotted": {
        "place": "return -1",
        "depart": "pass",
        "refresh": """for c in range(len(state.sizes) - 1, -1, -1):
        for s in range(len(state.free) if state.lines[c, COUNT] > 0 else 0):
            if state.lines[c, SIZE] <= state.free[s]:
                {tool}(state, c, s)
                return True
    return False""",
    },
}
"""The functions of a right policy of each model, but for the tool that it calls."""

USED = {"loss": "fits", "queue": "start", "slotted": "begin"}
"""The tool that the right policy of each model calls."""

FIELDS = {"loss": "common(s)", "queue": "queue_fields(s, clocks=1), clocks=np.array([0.5])", "slotted": "shared(s)"}
MAKERS = {model: f"state_of(s, {fields})" for model, fields in FIELDS.items()}


class Case(NamedTuple):
    """A wrong policy: a fault of the file of its model, or a file of its own."""

    name: str
    model: str
    fault: int = 0
    text: str = ""


def faults(model: str) -> list[tuple[str, str, str]]:
    """Return name, function and statement of the faults of the file of a model; each has its place, from 1, as number."""
    calls = []
    for function, tool, arguments in CALLS[model]:
        for way in WAYS:
            call = f"{called(tool, way)}({arguments})"
            calls.append((f"{tool} {way}", function, f"state.own[2] += {call}" if tool == "fits" else call))
    return calls + [(statement, function, statement) for function, statement in WRITES[model]]


def called(tool: str, way: str) -> str:
    """Return how a tool is called that is reached in a way."""
    return WAYS[way].format(tool=tool, home=TOOLS[tool][0])


def policy_file(model: str, way: str = "by name", *, wrong: bool = True) -> str:
    """Return the file of a policy X that calls its tool in a way, with the faults of its model."""
    tools = dict.fromkeys([USED[model], *(tool for _, tool, _ in CALLS[model])])
    text = HEAD + "".join(REACHING.format(tool=tool, arguments=TOOLS[tool][1]) for tool in tools)
    text += f"def prepare(s): return {MAKERS[model]}\n"
    for function, body in RIGHT[model].items():
        text += f"def {function}({ARGUMENTS[function]}):\n"
        for number, (_, where, statement) in enumerate(faults(model) if wrong else (), 1):
            if where == function:
                text += f"    if now(state, {number}): {statement}\n"
        text += f"    {body.format(tool=called(USED[model], way))}\n"
    more = {"loss": ", moves_jobs=True", "queue": ", ring=ring", "slotted": ""}[model]
    return text + f"X = Policy('x', '{model}', prepare, place, depart, refresh{more}, options=('fault', 'late'))\n"
