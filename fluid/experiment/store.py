"""The store: one SQLite file, one row a result, committed as it completes.

A result is known by a key that says all it depends on, so it does not matter who writes it: several processes may
write at once, and the first to finish a result stores it. Write-ahead logging keeps every committed row through a kill;
the file must lie on a local disk.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from theory.errors import InputError
from theory.files.places import open_regular, refuse_unwritable

Value = TypeVar("Value")

APPLICATION = 0x7061636B
"""Marks a file as a store of packproof ("pack")."""

VERSION = 4
"""Raised when the keys or the contents of results change, so that whoever has an older store hears of it."""

WAIT = 5.0
"""Seconds to wait for another program that reads or writes the file."""

_SCHEMA = """
create table if not exists results (
    key text primary key,
    content blob not null,
    digest text not null,
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


def _digest(key: str, content: bytes) -> str:
    """Return what a row is compared with when it is read, since SQLite checks no content."""
    return hashlib.sha256(key.encode() + b" " + content).hexdigest()


def _opened(path: Path, pages: int | None) -> sqlite3.Connection:
    """Open the file of a store to write, made where it does not exist."""
    end = time.monotonic() + WAIT
    while True:
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
        except BaseException as error:
            connection.close()
            # SQLite refuses some of those that make one file together at once, without waiting
            if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
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
        Whether it is only read: it must exist.

    Attributes
    ----------
    computed : dict
        For readers to note what they have computed of a result, by its key, while the store is open.

    Raises
    ------
    InputError
        A file that is no store, one that another program holds, one that cannot be read or written.
    """

    def __init__(self, path: str | Path, *, pages: int | None = None, reading: bool = False) -> None:
        self.path = Path(path)
        self.computed: dict[str, Any] = {}
        if self.path.name == ":memory:":
            raise InputError(self.path, "", "expected a file to store in, since a store in memory keeps nothing")
        if reading:
            self._refuse_foreign()
            with self._errors():
                self._connection = self._read_only()
            return
        refuse_unwritable(self.path)
        if self.path.exists():
            self._refuse_foreign()
        with self._errors():
            self._connection = _opened(self.path.resolve(), pages)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self._connection.close()

    def _refuse_foreign(self) -> None:
        with open_regular(self.path) as stream:
            head = stream.read(16)
            names = os.fstat(stream.fileno()).st_nlink
        if names > 1:
            raise InputError(
                self.path,
                "",
                f"expected a file with one name, found {names} hard links to it: SQLite names its log "
                "after the file; copy the file, or remove the other name",
            )
        if not head:
            return
        if head != b"SQLite format 3\x00":
            raise InputError(self.path, "", "expected a store of experiments, found another kind of file")
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
            raise InputError(self.path, "", "expected a store of experiments, found another program's database")
        if application == APPLICATION and declared and version != VERSION:
            advice = "use a newer packproof" if version > VERSION else "take a new file, and run again"
            raise InputError(self.path, "", f"expected a store of version {VERSION}, found version {version}: {advice}")
        if declared and declared != _declared():
            unlike = sorted({f"{kind} {name}" for kind, name, *_ in set(declared) ^ set(_declared())})
            raise InputError(
                self.path,
                "",
                "expected a store of experiments with the table results alone, as packproof declares it; "
                f"found otherwise: {', '.join(unlike)}: take a new file",
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
            raise InputError(self.path, "", f"{advice.get(str(error), error)}") from error
        except sqlite3.DatabaseError as error:
            raise InputError(self.path, "", f"expected a store of experiments: {error}") from error

    def known(self, keys: Iterable[str]) -> set[str]:
        """Return which of the results are in the store; a damaged one is refused."""
        wanted = set(keys)
        return {key for key, *row in self._rows("key, content, digest") if key in wanted and self._sound(key, *row)}

    def refuse_missing(self, keys: Iterable[str]) -> None:
        """Refuse to go on without results that were stored: another program takes them away."""
        wanted = set(keys)
        missing = len(wanted) - sum(key in wanted for (key,) in self._rows("key"))
        if missing:
            cells = "cell that was stored is" if missing == 1 else "cells that were stored are"
            raise InputError(
                self.path, "", f"{missing:,} {cells} missing: another program writes to it; take a new file"
            )

    def put(self, key: str, content: bytes, seconds: float) -> bool:
        """Write a result and commit; return whether the store had none of this key, which stays as it is."""
        row = (key, content, _digest(key, content), seconds, time.time())
        with self._errors():
            return self._connection.execute("insert or ignore into results values (?, ?, ?, ?, ?)", row).rowcount == 1

    def seconds(self, keys: Iterable[str]) -> dict[str, float]:
        """Return how long the results that are there took, by key."""
        wanted = set(keys)
        return {key: seconds for key, seconds in self._rows("key, seconds") if key in wanted}

    def read(self, key: str, unpack: Callable[[bytes], Value]) -> tuple[Value, float] | None:
        """Return a result, unpacked from its content, and its seconds; None if it is not there."""
        for content, digest, seconds in self._rows("content, digest, seconds", key):
            self._sound(key, content, digest)
            try:
                return unpack(content), seconds
            except MemoryError:
                raise
            except Exception as error:  # a content that was not written by this packproof fails in many ways
                raise self._damaged() from error
        return None

    def _rows(self, columns: str, key: str | None = None) -> Iterator[tuple[Any, ...]]:
        where, values = ("", ()) if key is None else (" where key = ?", (key,))
        with self._errors():
            # ``yield from`` would close the cursor, perhaps after its connection
            for row in self._connection.execute(f"select {columns} from results{where}", values):  # noqa: UP028
                yield row

    def _sound(self, key: str, content: Any, digest: Any) -> bool:
        """Return True; a row that is not as it was written is refused."""
        if not isinstance(content, bytes) or _digest(key, content) != digest:
            raise self._damaged()
        return True

    def _damaged(self) -> InputError:
        return InputError(self.path, "", "a cell is damaged: take a new file, and run again")
