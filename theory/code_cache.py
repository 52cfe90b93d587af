"""Machine code of compiled functions on disk, in the folder that numba would store it in, a file a signature.

Each file begins with a digest of the rest. A file that is damaged, cut short or of types whose module is gone counts as
a miss, and the function is compiled anew. So it is where nothing can be written: on a full disk, or in a folder that
has become read-only.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl
from numba.core.serialize import dumps

DIGEST = 32
"""Bytes of the digest before the rest."""


class CodeCache:
    """The machine code of a function; dispatchers of numba ask it by signature.

    Parameters
    ----------
    function : callable
        As Python.
    name : str
        Of the function with all that its machine code depends on: other code is stored under another name.

    Raises
    ------
    RuntimeError
        If there is no folder to store it in.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._function = CompileResultCacheImpl(function)
        self._stamp = self._function.locator.get_source_stamp()
        self.cache_path = self._function.locator.get_cache_path()
        self.prefix = Path(self.cache_path) / f"{self._function.filename_base}-{name}"

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the compiled function for a signature, None if there is none."""
        target.refresh()
        content = _sound_content(self._path(signature, target.codegen()))
        if content is None:
            return None
        try:
            stored_signature, compiled = pickle.loads(content)
        except Exception:  # a type whose module is gone, or has changed, may fail in any way
            return None
        return self._function.rebuild(target, compiled) if stored_signature == signature else None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Store the compiled function for a signature, if that can be done."""
        if not self._function.check_cachable(compiled):
            return
        content = dumps((signature, self._function.reduce(compiled)))
        with suppress(OSError):
            self._function.locator.ensure_cache_path()
            _write(self._path(signature, compiled.codegen), hashlib.sha256(content).digest() + content)

    def holds(self, signature: Any, target: Any) -> bool:
        """Return whether machine code is stored for a signature."""
        return _sound_content(self._path(signature, target.codegen())) is not None

    def is_empty(self) -> bool:
        """Return whether no machine code is stored, for any signature."""
        return not any(True for _ in self._files())

    def flush(self) -> None:
        """Remove what is stored."""
        for path in self._files():
            path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        beginning = f"{self.prefix.name}-"
        with suppress(OSError):
            return [path for path in self.prefix.parent.iterdir() if path.name.startswith(beginning)]
        return []

    def _path(self, signature: Any, codegen: Any) -> Path:
        """Return where the code for a signature is stored, by this version of numba for this kind of processor."""
        key = repr((signature, codegen.magic_tuple(), numba.__version__, self._stamp))
        return Path(f"{self.prefix}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.nbc")


def _sound_content(path: Path) -> bytes | None:
    """Return what a file holds after the digest, None where the two do not fit, or there is no file."""
    try:
        stored = path.read_bytes()
    except OSError:
        return None
    content = stored[DIGEST:]
    return content if hashlib.sha256(content).digest() == stored[:DIGEST] else None


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise
