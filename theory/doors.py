"""Public names of a package that load the module that defines them on first use.

So ``import packproof`` is quick, and the command that checks certificates loads no solver.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

PACKAGE = __name__.removesuffix("theory.doors")
"""What the names of packproof's modules begin with: nothing in a checkout, ``packproof.`` where it is installed."""


def imported(module: str) -> Any:
    """Import a module by its name in a checkout, such as ``fluid.limits``."""
    return import_module(PACKAGE + module)


def doors(package: str, names: Mapping[str, tuple[str, ...]]) -> tuple[Callable[[str], Any], list[str]]:
    """Return the function ``__getattr__`` and the list ``__all__`` of a package, and let ``dir`` list its names.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    names : mapping
        Public names by the module of the package that holds them.

    Examples
    --------
    >>> load, public = doors("theory", {"numbers": ("rational", "text")})
    >>> public, load("text")(3)
    (['rational', 'text'], '3')
    >>> from fluid import simulation
    >>> "simulate" in dir(simulation)
    True
    """
    home = {name: module for module, defined in names.items() for name in defined}

    def load(name: str) -> Any:
        if name not in home:
            rooms = getattr(sys.modules.get("packproof"), "ROOMS", {})
            public = next((f"packproof.{room}" for room, at in rooms.items() if PACKAGE + at == package), package)
            raise AttributeError(f"module {public!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)  # the next time Python finds it without calling `load`
        return value

    vars(sys.modules[package])["__dir__"] = lambda: sorted(home)
    return load, sorted(home)
