"""The one interface of every policy: a state of arrays, and the plain functions ``place``, ``depart`` and ``refresh``.

The same three functions serve every use. The event loop owns clocks, service requirements, job lists, counters and
measurements; the policy owns nothing but its state, and never sees time unless its definition needs it. The state and
the tools named below (`common`, `fits`, `move`, ...) stand in `fluid.simulation.state`.

::

      Setting (instance, servers, options, initial contents)
         |  policy.prepare
         v
      State: a NamedTuple of numpy arrays, nothing else
      +-----------------------------------------------------+          +-- compiled: theory.compiled.bound(loop, ...)
      | common part, the same names in every state          |          |   millions of events a second
      |   counts[L,J] totals[J] slots[J] free[L,R]          |          |
      |   demands[J,R] generators spans pool[L]             | -- loop -+-- Python: theory.compiled.plain(loop, ...)
      |   moves[M,3] done[4]                                |          |   same seed, same path; every step checked
      | the policy's own arrays (lists, ranks, tokens, ...) |          |
      +-----------------------------------------------------+          +-- fluid.chains.loss: all outcomes of all draws,
                                                                           the exact law of a small system

      arrival of type j                              departure of type j from server l
        l = place(state, j, draws)                     take(state, l, j)           <- the loop
        l < 0: refused (loss) or waiting (queue)       depart(state, l, j, draws)
        l >= 0: put(state, l, j)     <- the loop       moves are carried out
        moves are carried out                          while refresh(state, draws): moves are carried out
        while refresh(state, draws): ...               moves are carried out

Rules
-----
- ``place`` names a server and changes nothing in the common part; the loop puts the job there, after it has checked
  that it fits. ``depart`` is called after the job has left. ``refresh`` runs after each event (queue models: it starts
  waiting jobs; dynamic reservation: it reassigns servers). A policy without need for one hands in `nothing_to_depart`
  or `nothing_to_refresh`.
- Any other change of the jobs in service goes through `move` (migration), `stop` (preemption) or `start` (a waiting job
  begins): these update the common part and write a row ``(type, from, to)`` to ``moves``, in which -1 is outside. The
  loop reads the rows, changes its lists of jobs and its measurements alike, and clears them. There is room for
  ``len(moves)`` rows between two clearings: ``refresh`` returns True where it needs another call to go on.
- Jobs of one type on one server are exchangeable to a policy: which of them moves is the loop's choice.
- ``draws`` is a numpy Generator in a simulator. Policies draw by ``one_of(draws, n)``, uniform on 0, ..., n - 1, and by
  ``draws.random() < p``: the exact chain hands in a stand-in that branches over the outcomes of these two. A policy
  that draws otherwise can be simulated, not enumerated.
- The state holds everything that a policy remembers, so a copy of the arrays is a copy of the system. ``moves`` is
  empty between events and belongs to no law; so do fields whose name ends in ``_``, which hold no more than values
  computed before (see `fluid.simulation.state.key`).
- Functions are written for numba: scalars, arrays by field, and preferably no allocation. Functions that they call
  carry ``@packproof.step`` and are reached by a global name; others are refused. What numba cannot compile runs as
  Python, on the same path, and a line on stderr says why.
- ``refresh`` has a limit: at one event it may return True `MOST_REQUESTS` times and ten times for each server and each
  job in service besides (slots: each server and each job that waits as the slot begins).
- An author's policy is watched (`fluid.simulation.authors`): the common part must change by its ``moves`` alone, and
  every index of compiled code is looked at. What goes wrong ends in one line with file, line, function and event. A
  state has fields and no methods: it is replaced by one of a type that every process knows (`fluid.simulation.state`).
- Where a policy of a loss system must be extended from outside (a table that it fills as sets of types come up), it
  sets ``done[ASKS]``; the loop then ends after the event, the driver calls ``policy.answer(setting, state)`` for a
  larger one, calls ``refresh`` once more, and goes on.

Models. ``loss``: a job that is not placed is lost. ``queue``: it waits; the state holds ``waiting`` int64[J] beside the
common part, which the loop raises for a job that is not placed and the policy lowers by one at each `start`. It also
holds ``clocks`` float64[K], the rates of exponential clocks of the policy's own (K = 0 for most): when clock k rings,
the loop calls ``ring(state, k, draws)``, then ``refresh``. Rates may change at any event. ``slotted``: slots of time
and real sizes on one resource; jobs have a class, a place among the sizes, in place of a type
(`fluid.simulation.slotted.state`).

A policy without memory makes its state by ``Common(**common(setting))``; in queues by
``QueueCommon(**queue_fields(setting))``; in slots by ``SlottedCommon(**shared(setting))``. A file with a policy may
import its neighbours, and a package may hold it: experiments and stores notice when the text of any of these modules
has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from inspect import signature
from os.path import basename
from typing import Any

from fluid.simulation.state import Setting, State
from theory.compiled import step
from theory.errors import InputError

MODELS = ("loss", "queue", "slotted")
"""The models of simulation: each is a folder beside this file."""

RESTLESS = (
    "refresh: has returned True more than 1000 times at one event and 10 times for each server and each job in the "
    "system besides, expected False at last"
)
"""What the loops say of it."""

UNANSWERED = "expected an answer that leaves done[ASKS] at 0 at last, has been asked 1000 times at one event"
"""What is said of a policy that goes on asking."""


def _nothing_to_answer(setting: Setting, state: State) -> State:
    return state


def nothing_to_ring(state: State, clock: int, draws: Any) -> None:
    """Do nothing when a clock rings: for policies without clocks."""


ARGUMENTS: dict[str, tuple[str, ...]] = {
    "prepare": ("setting",),
    "place": ("state", "job_type", "draws"),
    "depart": ("state", "server", "job_type", "draws"),
    "refresh": ("state", "draws"),
    "ring": ("state", "clock", "draws"),
    "answer": ("setting", "state"),
}
"""What the functions of a policy are called with."""

RESERVED = (
    "arrivals", "service", "initial", "slot", "rate", "intensity", "service_rate", "grid",
    "instance", "policy", "servers", "workload", "until", "warmup", "replications", "seed", "vary",
)  # fmt: skip
"""Fields of files that mean something whatever the policy, so that no option of one may have their name."""


@dataclass(frozen=True)
class Policy:
    """A placement or scheduling policy.

    Attributes
    ----------
    name : str
    model : {"loss", "queue", "slotted"}
    prepare : callable
        ``prepare(setting) -> State``; raises `theory.errors.InputError` where the setting does not suit (several pools,
        an unknown option).
    place : callable
        ``place(state, job_type, draws) -> server``, -1 for none.
    depart : callable
        ``depart(state, server, job_type, draws) -> None``.
    refresh : callable
        ``refresh(state, draws) -> again``.
    moves_jobs : bool
        Whether it ever calls `move` or `stop`: the loop then keeps the lists that this needs.
    reserves : bool
        Whether ``slots`` is kept.
    answer : callable
        ``answer(setting, state) -> State`` after ``done[ASKS]`` was set (model ``loss``).
    ring : callable
        ``ring(state, clock, draws) -> None`` (model ``queue``).
    about : str
        One line for lists of policies.
    options : tuple of str
        Names of the options that `prepare` reads, fields of the table ``[simulation]``; it is handed no others.
    record : type, optional
        A frozen dataclass that declares them (`theory.files.record`): the names are those of its fields. `prepare`
        reads it by `fluid.simulation.options.options_of`.
    source : str
        The name under which `fluid.simulation.policy_names.policy` found it.
    code : str
        The digest of the code of an author's policy (`theory.files.code`); empty for those of packproof.

    Raises
    ------
    InputError
        A function that cannot be called so, or a model that is none.
    """

    name: str
    model: str
    prepare: Callable[[Any], State]
    place: Callable[..., int]
    depart: Callable[..., None]
    refresh: Callable[..., bool]
    moves_jobs: bool = False
    reserves: bool = False
    answer: Callable[[Setting, State], State] = _nothing_to_answer
    ring: Callable[..., None] = nothing_to_ring
    about: str = ""
    options: tuple[str, ...] = ()
    record: type[Any] | None = None
    source: str = field(default="", compare=False)
    code: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Refuse functions that cannot be called as they will be."""
        if not isinstance(self.name, str) or not self.name or not self.name.isprintable():
            raise InputError("Policy", f"name: expected a text of printable characters, got {self.name!r}")
        if self.model not in MODELS:
            raise InputError(f"Policy {self.name}", f"model: expected {' or '.join(MODELS)}, got {self.model!r}")
        if self.record is not None:
            if not (isinstance(self.record, type) and is_dataclass(self.record)):
                raise InputError(f"Policy {self.name}", f"record: expected a dataclass, got {self.record!r}")
            object.__setattr__(self, "options", tuple(field.name for field in fields(self.record)))
        if not isinstance(self.options, tuple) or not all(isinstance(name, str) for name in self.options):
            raise InputError(f"Policy {self.name}", f"options: expected a tuple of names, got {self.options!r}")
        for name in self.options:
            if name in RESERVED or not name.isidentifier():
                raise InputError(f"Policy {self.name}", f"options: expected a name of its own, got {name!r}")
        for name, wanted in ARGUMENTS.items():
            _refuse_other_arguments(f"Policy {self.name}: {name}", getattr(self, name), wanted)


def _refuse_other_arguments(field: str, function: Any, wanted: tuple[str, ...]) -> None:
    expected = f"expected a function of ({', '.join(wanted)})"
    if not callable(function):
        raise InputError(field, f"{expected}, got {function!r}")
    source = getattr(function, "py_func", function)
    try:
        signature(source).bind(*wanted)
    except TypeError as error:
        code = getattr(source, "__code__", None)
        where = "" if code is None else f" in line {code.co_firstlineno} of {basename(code.co_filename)}"
        called = getattr(source, "__name__", type(source).__name__)
        raise InputError(field, f"{expected}, got {called}{signature(source)}{where}") from error
    except ValueError:  # built in, of unknown arguments
        return


@step
def nothing_to_depart(state: State, server: int, job_type: int, draws: Any) -> None:
    """Do nothing when a job leaves: for policies without memory."""


@step
def nothing_to_refresh(state: State, draws: Any) -> bool:
    """Do nothing after an event: for policies that only place."""
    return False
