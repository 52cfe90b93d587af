"""A user's own job types, to be mixed with those of the catalogue: the ``[[type]]`` tables of a file, or a CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from theory.errors import InputError
from theory.files.comma_separated import rows_of_table
from theory.files.document import Fields, read_document
from theory.numbers import rational

FIXED = ("name", "reward", "price", "workload", "service_rate")
"""Columns of a CSV that are no resources; ``price`` is another word for ``reward``."""


def read_own_types(path: str | Path) -> list[dict[str, Any]]:
    """Read types as tables of an instance file, in which workloads may be left out.

    Parameters
    ----------
    path : str or Path
        A CSV with a header (its name ends in ``.csv``): ``name``, ``reward`` or ``price``, perhaps ``workload`` and
        ``service_rate``, and every other column a resource, an empty cell for none. Otherwise TOML or JSON with tables
        ``[[type]]`` as an instance file has them; what else such a file holds is left alone.

    Raises
    ------
    InputError
        A file without types, a column that is missing or stands twice, a row of another length, a field of a CSV that
        is empty or no number. What else is wrong is found where the instance is made
        (`theory.files.instances.parse_instance`).
    """
    place = Path(path)
    if place.suffix.lower() == ".csv":
        return _of_csv(place)
    tables = Fields(read_document(place), str(place)).take("type", "tables [[type]]")
    if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
        raise InputError(f"{place}: type: expected at least one table [[type]]")
    return [dict(one) for one in tables]


def _of_csv(place: Path) -> list[dict[str, Any]]:
    rows = [(line, row) for line, row in rows_of_table(place) if any(cell.strip() for cell in row)]
    names = [cell.strip() for cell in rows[0][1]] if rows else []
    twice = next((name for name in names if names.count(name) > 1), None)
    paid = [name for name in ("reward", "price") if name in names]
    resources = [name for name in names if name not in FIXED]
    if twice is not None or "" in names or "name" not in names or len(paid) != 1 or not resources:
        header_found = ", ".join(names)[:120] or "no columns"
        raise InputError(
            f"{place}:1: expected a header with name, reward (or price), resources, and perhaps workload and "
            f"service_rate, each once; found {header_found}"
        )
    types = []
    for line, row in rows[1:]:
        if len(row) != len(names):
            raise InputError(f"{place}:{line}: expected {len(names)} fields, got {len(row)}")
        cells = {name: cell.strip() for name, cell in zip(names, row, strict=True)}
        _refuse_cells(place, line, cells, {"name", *paid})
        table: dict[str, Any] = {"name": cells["name"], "reward": cells[paid[0]]}
        table["demand"] = {name: cells[name] for name in resources if cells[name]}
        table |= {name: cells[name] for name in ("workload", "service_rate") if cells.get(name)}
        types.append(table)
    if not types:
        raise InputError(f"{place}: expected at least one type below the header")
    return types


def _refuse_cells(place: Path, line: int, cells: dict[str, str], required: set[str]) -> None:
    """Refuse a field that is empty or no number, by line and column; their bounds are those of an instance."""
    for name, cell in cells.items():
        what = "the name of a type" if name == "name" else "a number"
        if not cell and name in required:
            raise InputError(f"{place}:{line}: {name}: expected {what}, got an empty field")
        if not cell or name == "name":
            continue
        positive = name in ("reward", "price", "service_rate")
        expected = f"a number {'greater than' if positive else 'of at least'} 0"
        try:
            value = rational(cell)
        except ValueError as error:
            raise InputError(f"{place}:{line}: {name}: expected {expected}, got {cell[:60]!r} ({error})") from None
        if value < 0 or (positive and value == 0):
            raise InputError(f"{place}:{line}: {name}: expected {expected}, got {cell[:60]}")
