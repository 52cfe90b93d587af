"""The API: one page for each room of packproof, from the docstrings of its public names."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, get_origin

import packproof
from generate.text import save


def write(docs: Path) -> None:
    """Write the pages; rooms are documented by the names under which users reach them."""
    folder = docs / "reference" / "api"
    for room, module in packproof.ROOMS.items():
        sys.modules[f"packproof.{room}"] = import_module(module)
        save(folder / f"{room}.rst", room_page(room, module))
    save(folder / "packproof.rst", top_page())
    rows = [
        f"   * - :doc:`packproof.{room} <{room}>`\n     - {about(module)}" for room, module in packproof.ROOMS.items()
    ]
    lines = [
        _title("API"),
        "Every name is reached from ``packproof``: :doc:`the most used ones <packproof>` directly, all others by their "
        "room. Rooms and names are loaded on first use.\n",
        ".. list-table::\n\n   * - :doc:`packproof <packproof>`\n     - The names used most.",
        *rows,
        "\n.. toctree::\n   :hidden:\n",
        *(f"   {name}" for name in ("packproof", *packproof.ROOMS)),
        "",
    ]
    save(folder / "index.rst", "\n".join(lines))


def about(module: str) -> str:
    """Return the first sentence of a module's docstring."""
    return (import_module(module).__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")


def _title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n"


def room_page(room: str, module: str) -> str:
    """Return the page of a room."""
    loaded, names = import_module(module), _names_of(module)
    parts = [_title(f"packproof.{room}"), (loaded.__doc__ or "").strip() + "\n"]
    parts += [entry(f"packproof.{room}", name, getattr(loaded, name)) for name in names]
    return "\n".join(parts)


def top_page() -> str:
    """Return the page of the names that `packproof` itself shows and that no room shows."""
    in_rooms = {
        name
        for module in packproof.ROOMS.values()
        for name in _names_of(module)
        if packproof._HOME.get(name, "").startswith(module)  # the checker has names of its own for other things
    }
    names = sorted(set(packproof._HOME), key=str.lower)
    parts = [
        _title("packproof"),
        "The names used most. Those that a room documents are listed first; the others follow.\n",
        *(
            f"* ``packproof.{name}``: :doc:`packproof.{_room(name)} <{_room(name)}>`"
            for name in names
            if name in in_rooms
        ),
        "",
    ]
    parts += [entry("packproof", name, getattr(packproof, name)) for name in names if name not in in_rooms]
    return "\n".join(parts)


def _room(name: str) -> str:
    """Return the room that shows a name of the top page."""
    home = packproof._HOME[name]
    return next(room for room, module in packproof.ROOMS.items() if home.startswith(module))


def _names_of(module: str) -> list[str]:
    """Return the names that a module lists, or those that it defines where it has no list."""
    loaded = import_module(module)
    listed: list[str] = list(getattr(loaded, "__all__", ()))
    return listed or [
        name
        for name, value in vars(loaded).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module
    ]


def entry(home: str, name: str, value: Any) -> str:
    """Return the directive that documents one name."""
    if get_origin(value) is not None:
        return f".. py:data:: {home}.{name}\n   :value: {value}\n"
    if inspect.isclass(value):
        return f".. autoclass:: {home}.{name}\n   :members:\n"
    if callable(value):
        return f".. autofunction:: {home}.{name}\n"
    return f".. autodata:: {home}.{name}\n   :no-value:\n"
