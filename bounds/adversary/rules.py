"""Rules by name: a function of a user's file, or a sharing mechanism of packproof, which travel to other processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from theory.errors import InputError
from theory.files.code import digest_of, module_of
from theory.sharing.mechanisms import MECHANISMS
from theory.sharing.model import Cluster, Matrix


@dataclass(frozen=True)
class FileRule:
    """A function of a Python file; another process that it is sent to reads the file itself.

    Attributes
    ----------
    path : str
        Absolute.
    name : str
    """

    path: str
    name: str

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function.

        Raises
        ------
        InputError
            A file that cannot be read or run, or has no function of the name.
        """
        module = module_of(self.path, "RULE")
        function: Callable[..., Any] | None = getattr(module, self.name, None)
        if not callable(function):
            named = ((name, value) for name, value in vars(module).items() if callable(value))
            here = ", ".join(name for name, value in named if getattr(value, "__module__", "") == module.__name__)
            raise InputError(
                f"RULE: {self.path}: expected the name of one of its functions ({here or 'it has none'}), got "
                f"{self.name!r}"
            )
        return function

    def __call__(self, *given: Any) -> Any:
        """Call the function."""
        return self.function(*given)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel without the function."""
        return FileRule, (self.path, self.name)


@dataclass(frozen=True)
class Mechanism:
    """A sharing mechanism of packproof as a rule.

    Attributes
    ----------
    name : str
        One of `theory.sharing.MECHANISMS`.
    """

    name: str

    def __call__(self, given: Cluster) -> Matrix:
        """Return the tasks that the mechanism gives.

        Raises
        ------
        InputError
            A mechanism that pools the servers, on several; an allocation that is not exact.
        """
        allocation = MECHANISMS[self.name](given)
        if len(allocation.cluster.servers) != len(given.servers):
            raise InputError(f"{self.name} pools all servers, so it is attacked on one (--bins 1)")
        if not allocation.exact:
            shared = f"{len(given.users)} users on {len(given.servers)} servers"
            raise InputError(f"{self.name} has no exact allocation of a cluster that the search met ({shared})")
        return allocation.tasks


def rule_named(rule: str, *, sharing: bool = False) -> Callable[..., Any]:
    """Return the rule that ``FILE.py:NAME`` names, or among sharing rules a mechanism of packproof.

    Raises
    ------
    InputError
        Neither, or a file that cannot be read or run.

    Examples
    --------
    >>> from theory.sharing import cluster
    >>> rule_named("drf", sharing=True)(cluster([[9]], [[1], [3]]))
    ((Fraction(9, 2),), (Fraction(3, 2),))
    """
    if sharing and rule in MECHANISMS:
        return Mechanism(rule)
    path, name = note_rule(rule, sharing=sharing)
    _refuse_missing(path, name)
    return FileRule(str(Path(path).resolve()), name)


def note_rule(rule: str, *, sharing: bool = False) -> tuple[str, str]:
    """Return the file and the name in it of a rule, whose file is read and noted as an input, and not run.

    Raises
    ------
    InputError
        Neither ``FILE.py:NAME`` nor, among sharing rules, a mechanism; a file that cannot be read.
    """
    path, _, name = rule.rpartition(":")
    if sharing and rule in MECHANISMS:
        return "", rule
    if not path.endswith(".py") or not name:
        mechanisms = f", or one of {', '.join(MECHANISMS)}" if sharing else ""
        raise InputError(f"RULE: expected FILE.py:NAME{mechanisms}, got {rule!r}")
    # reads the file and notes it as an input, and does not run it
    digest_of(path, "RULE")
    return path, name


def _refuse_missing(path: str, name: str) -> None:
    """Refuse a file without the function, by the path that the user gave."""
    _ = FileRule(path, name).function
