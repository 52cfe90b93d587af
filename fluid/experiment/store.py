"""The store: one SQLite file, one row a cell, committed as it completes.

Only the process that drives an experiment writes, under a lock that ends with it, however it ends. Write-ahead logging
keeps every committed row through a kill; the file must lie on a local disk.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from theory.errors import InputError
from theory.files.places import open_regular, refuse_unwritable

Run = TypeVar("Run")

APPLICATION = 0x7061636B
"""Marks a file as a store of packproof ("pack")."""

VERSION = 3
"""Raised when the keys of cells change, so that whoever has an older store hears of it."""

DIGEST = "digest"
"""What a row has among its parameters beside those: the digest of its key and numbers, which SQLite does not check."""

WAIT = 5.0
"""Seconds to wait for another program that reads or writes the file."""

_SCHEMA = """
create table if not exists cells (
    key text primary key,
    replication integer not null,
    parameters text not null,
    numbers text not null,
    arrays blob,
    seconds real not null,
    finished real not null
) strict
"""

_LISTED = "select type, name, tbl_name, sql from sqlite_master order by name"
"""Everything that a file of SQLite declares: tables, indices, views and triggers, as they were written."""


@cache
def _declared() -> tuple[tuple[str, ...], ...]:
    """Return what a store declares and nothing else: any view, trigger or column more would change what it does."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(_SCHEMA)
        return tuple(connection.execute(_LISTED))


def _digest(key: str, numbers: str) -> str:
    return hashlib.sha256(f"{key} {numbers}".encode()).hexdigest()[:16]


def _lock(handle: int) -> None:
    """Lock an open file for as long as it stays open; OSError if another process has locked it."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:  # Windows
        msvcrt: Any = import_module("msvcrt")
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        flock(handle, LOCK_EX | LOCK_NB)


def _begun(path: Path, pages: int | None) -> sqlite3.Connection:
    """Open the file of a store to write, made where it does not exist."""
    connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
    try:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        if pages is not None:
            connection.execute(f"pragma max_page_count = {int(pages)}")
        connection.execute("begin immediate")
        connection.execute(f"pragma application_id = {APPLICATION}")
        connection.execute(f"pragma user_version = {VERSION}")
        connection.execute(_SCHEMA)
        connection.execute("commit")
    except BaseException:
        connection.close()
        raise
    return connection


class Store:
    """A store opened for reading and writing; use it as a context.

    Parameters
    ----------
    path : str or Path
        Made where it does not exist.
    pages : int, optional
        Most pages of the file, for tests of a full disk.
    reading : bool
        Whether it is only read: it must exist, and another experiment may write to it meanwhile.

    Raises
    ------
    InputError
        A file that is no store, one that another experiment is writing to, one that cannot be read or written.
    """

    def __init__(self, path: str | Path, *, pages: int | None = None, reading: bool = False) -> None:
        self.path = Path(path)
        if self.path.name == ":memory:":
            raise InputError(f"{self.path}: expected a file to store in, since a store in memory keeps nothing")
        self._lock = -1
        if reading:
            self._refuse_foreign()
            with self._errors():
                self._connection = self._read_only()
            return
        refuse_unwritable(self.path)
        if self.path.exists():
            self._refuse_foreign()
        self._lock = self._locked()
        try:
            with self._errors():
                self._connection = _begun(self.path.resolve(), pages)
        except BaseException:
            os.close(self._lock)
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store and give up its lock."""
        self._connection.close()
        if self._lock >= 0:
            os.close(self._lock)

    def _refuse_foreign(self) -> None:
        with open_regular(self.path) as stream:
            head = stream.read(16)
            names = os.fstat(stream.fileno()).st_nlink
        if names > 1:
            raise InputError(
                f"{self.path}: expected a file with one name, found {names} hard links to it: SQLite names its log "
                "after the file; copy the file, or remove the other name"
            )
        if not head:
            return
        if head != b"SQLite format 3\x00":
            raise InputError(f"{self.path}: expected a store of experiments, found another kind of file")
        # the first page may still be in the write-ahead log of a store that was killed at birth, so ask SQLite
        with self._errors():
            connection = self._read_only()
            try:
                (application,) = connection.execute("pragma application_id").fetchone()
                (version,) = connection.execute("pragma user_version").fetchone()
                declared = tuple(connection.execute(_LISTED))
            finally:
                connection.close()
        if application != APPLICATION and (application or declared):
            raise InputError(f"{self.path}: expected a store of experiments, found another program's database")
        if application == APPLICATION and declared and version != VERSION:
            advice = "use a newer packproof" if version > VERSION else "take a new file, and run again"
            raise InputError(f"{self.path}: expected a store of version {VERSION}, found version {version}: {advice}")
        if declared and declared != _declared():
            unlike = sorted({f"{kind} {name}" for kind, name, *_ in set(declared) ^ set(_declared())})
            raise InputError(
                f"{self.path}: expected a store of experiments with the table cells alone, as packproof declares it; "
                f"found otherwise: {', '.join(unlike)}: take a new file"
            )

    def _read_only(self) -> sqlite3.Connection:
        """Open the file for reading, in a folder that cannot be written as well."""
        file = self.path.resolve()
        place = file.as_uri()
        connection = sqlite3.connect(f"{place}?mode=ro", timeout=WAIT, uri=True)
        try:
            connection.execute("select count(*) from sqlite_master").fetchone()
        except sqlite3.Error as error:
            connection.close()
            if not isinstance(error, sqlite3.OperationalError):
                raise
            log = file.with_name(f"{file.name}-wal")
            whose = {"effective_ids": True} if os.access in os.supports_effective_ids else {}
            if os.access(file.parent, os.W_OK, **whose) or (log.exists() and log.stat().st_size):
                raise
            # SQLite has no place for the index of a log, and needs none where nothing is logged and nobody can write
            return sqlite3.connect(f"{place}?immutable=1", uri=True)
        return connection

    def _locked(self) -> int:
        try:
            handle = os.open(f"{self.path.resolve()}.lock", os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written: {error.strerror}") from None
        try:
            _lock(handle)
        except OSError:
            os.close(handle)
            raise InputError(f"{self.path}: another experiment is writing to this store") from None
        return handle

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn what SQLite says into one line."""
        try:
            yield
        except sqlite3.OperationalError as error:
            advice = {
                "database or disk is full": "the disk is full; finished work is stored; free some space and run again",
                "database is locked": "another program holds the file; close it and run again",
                "disk I/O error": "the disk cannot be written; finished work is stored",
            }
            raise InputError(f"{self.path}: {advice.get(str(error), error)}") from None
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self.path}: expected a store of experiments: {error}") from None

    def known(self, keys: Iterable[str]) -> set[str]:
        """Return which of the cells are in the store."""
        return set(self.numbers(keys))

    def refuse_missing(self, keys: Iterable[str]) -> None:
        """Refuse to go on without cells that were stored: another program takes them away."""
        wanted = set(keys)
        missing = len(wanted) - len(self._by_key("replication", wanted))
        if missing:
            cells = "cell that was stored is" if missing == 1 else "cells that were stored are"
            raise InputError(f"{self.path}: {missing:,} {cells} missing: another program writes to it; take a new file")

    def put(
        self,
        key: str,
        replication: int,
        parameters: dict[str, Any],
        numbers: dict[str, float | None],
        seconds: float,
        arrays: bytes | None = None,
    ) -> None:
        """Write a finished cell and commit; a cell that is there already stays as it is."""
        text = json.dumps(numbers)
        described = json.dumps({**parameters, DIGEST: _digest(key, text)})
        row = (key, replication, described, text, arrays, seconds, time.time())
        with self._errors():
            try:
                self._connection.execute("insert or ignore into cells values (?, ?, ?, ?, ?, ?, ?)", row)
            except sqlite3.OperationalError:
                if self._connection.in_transaction:
                    self._connection.execute("rollback")
                raise

    def numbers(self, keys: Iterable[str]) -> dict[str, dict[str, float | None]]:
        """Return the numbers of the cells that are there, by key; one whose digest is another's is refused."""
        numbers = {}
        for key, text, described in self._by_key("numbers, parameters", keys):
            try:
                numbers[key] = json.loads(text)
                is_sound = json.loads(described).get(DIGEST) in (None, _digest(key, text))
            except (ValueError, TypeError, AttributeError):
                is_sound = False
            if not is_sound:
                raise InputError(f"{self.path}: a cell is damaged: take a new file, and run again")
        return numbers

    def seconds(self, keys: Iterable[str]) -> dict[str, float]:
        """Return how long the cells that are there took, by key."""
        return dict(self._by_key("seconds", keys))

    def _by_key(self, columns: str, keys: Iterable[str]) -> list[tuple[Any, ...]]:
        wanted = set(keys)
        with self._errors():
            rows = self._connection.execute(f"select key, {columns} from cells").fetchall()
        return [row for row in rows if row[0] in wanted]

    def run(self, key: str, unpack: Callable[[bytes], Run]) -> tuple[Run, float] | None:
        """Return the run of a cell, unpacked from its arrays, and its seconds; None if it is not there."""
        with self._errors():
            stored = self._connection.execute("select arrays, seconds from cells where key = ?", (key,)).fetchone()
        if stored is None or stored[0] is None:
            return None
        try:
            return unpack(stored[0]), stored[1]
        except MemoryError:
            raise
        except Exception:  # archives end with a checksum, and fail in many ways before it
            raise InputError(f"{self.path}: a cell holds no run: take a new file, and run again") from None
