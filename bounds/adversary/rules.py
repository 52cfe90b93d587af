"""Rules by name: a function of a user's file, or a rule of packproof, which travel to other processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from theory.errors import InputError
from theory.files.code import digest_of, module_of
from theory.files.places import names_own_code
from theory.numbers import many
from theory.rules.packing import RULES
from theory.sharing.mechanisms import MECHANISMS
from theory.sharing.model import Cluster, Matrix


@dataclass(frozen=True)
class FileRule:
    """A function of a Python file, or of a module behind its folder; another process that it is sent to reads it."""

    path: str
    name: str

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function; a file that cannot be read or run, or has no function of the name, is refused."""
        module = module_of(self.path, "RULE")
        function: Callable[..., Any] | None = getattr(module, self.name, None)
        if not callable(function):
            named = ((name, value) for name, value in vars(module).items() if callable(value))
            here = ", ".join(name for name, value in named if getattr(value, "__module__", "") == module.__name__)
            raise InputError(
                "RULE",
                f"{self.path}: expected the name of one of its functions ({here or 'it has none'}), got {self.name!r}",
            )
        return function

    def __call__(self, *given: Any) -> Any:
        """Call the function."""
        return self.function(*given)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel without the function."""
        return FileRule, (self.path, self.name)


def tasks_by(mechanism: str, divided: Cluster) -> Matrix:
    """Return the tasks that a mechanism gives, if it pools no servers here and its allocation is exact."""
    allocation = MECHANISMS[mechanism](divided)
    if len(allocation.cluster.servers) != len(divided.servers):
        raise InputError(f"{mechanism} pools all servers, so it is attacked on one (--bins 1)")
    if not allocation.exact:
        shared = f"{many(len(divided.users), 'user')} on {many(len(divided.servers), 'server')}"
        raise InputError(f"{mechanism} has no exact allocation of a cluster that the search met ({shared})")
    return allocation.tasks


def rule_named(rule: str, kind: str = "assignment") -> Callable[..., Any]:
    """Return the rule that ``FILE.py:NAME`` or ``PACKAGE.MODULE:NAME`` names, or one of packproof for the kind.

    >>> from theory.sharing import cluster
    >>> rule_named("drf", "sharing")(cluster([[9]], [[1], [3]]))
    ((Fraction(9, 2),), (Fraction(3, 2),))
    >>> rule_named("next-fit", "items")([(5,), (7,), (5,)], (10,))
    [0, 1, 2]
    """
    path, name = note_rule(rule, kind)
    if not path:
        return partial(tasks_by, rule) if kind == "sharing" else RULES[rule]
    _ = FileRule(path, name).function  # refused by the path that the user gave
    return FileRule(str(Path(path).resolve()), name)


def shipped(kind: str) -> tuple[str, ...]:
    """Return the names of the rules of a kind that packproof has: mechanisms of sharing, and rules that pack items."""
    known: dict[str, Iterable[str]] = {"sharing": MECHANISMS, "items": RULES}
    return tuple(known.get(kind, ()))


def note_rule(rule: str, kind: str = "assignment") -> tuple[str, str]:
    """Return the file and the name in it of a rule, whose file is read and noted as an input, and not run.

    The file of a rule of packproof is empty.
    """
    path, _, name = rule.rpartition(":")
    if rule in shipped(kind):
        return "", rule
    if not names_own_code(rule) or not name:
        known = ", ".join(shipped(kind))
        more = f", or one of {known}" if known else ""
        raise InputError("RULE", f"expected FILE.py:NAME or PACKAGE.MODULE:NAME{more}, got {rule!r}")
    digest_of(path, "RULE")
    return path, name
