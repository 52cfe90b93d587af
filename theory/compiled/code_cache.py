"""Machine code on disk: one file for each compiled function and signature, in the folder that numba would use.

The name of a file says what its machine code depends on, as digests: the signature, the versions, the processor, the
options, and all functions that are compiled together, with the values that they name. Numba's own cache does not notice
that a callee in another file has changed; here changed code has another name. Each file begins with a digest of its
content, so damage counts as a miss, as does everything else that cannot be read; what cannot be written (a full disk, a
folder that has become read-only) is not stored. The cache saves time, but it changes no answer and raises no error.
"""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, cached_property
from pathlib import Path
from types import CodeType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.registry import CPUDispatcher

from theory.compiled.copies import is_followed, references, source_of

DIGEST_SIZE = 32
"""Bytes of the digest (SHA-256) at the beginning of a file."""


class CodeCache:
    """The stored machine code of a compiled function; numba calls `load_overload` and `save_overload`.

    Raises
    ------
    RuntimeError
        If there is no folder to store it in.
    ImportError, AttributeError
        If a version of numba stores machine code in another way.
    """

    def __init__(self, function: CPUDispatcher) -> None:
        from numba.core.caching import CompileResultCacheImpl

        self._numba = CompileResultCacheImpl(function.py_func)
        self.cache_path = self._numba.locator.get_cache_path()
        self.prefix = Path(self.cache_path) / f"{self._numba.filename_base}-{digest_of(function)}"

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the compiled function for a signature, None if none is stored."""
        target.refresh()
        content = _sound_content(self._path(signature, target.codegen()))
        if content is None:
            return None
        # the name of the file has the text of the signature, which types of two modules may share
        try:
            stored_signature, compiled = pickle.loads(content)
            return self._numba.rebuild(target, compiled) if stored_signature == signature else None
        except Exception:  # a type whose module is gone or has changed may fail in any way
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Store the compiled function for a signature, if that is possible."""
        with suppress(Exception):  # OSError, and whatever a type that cannot be pickled raises
            from numba.core.serialize import dumps

            if self._numba.check_cachable(compiled):
                content = dumps((signature, self._numba.reduce(compiled)))
                self._numba.locator.ensure_cache_path()
                _write(self._path(signature, compiled.codegen), hashlib.sha256(content).digest() + content)

    def holds(self, signature: Any, target: Any) -> bool:
        """Return whether machine code is stored for a signature."""
        return _sound_content(self._path(signature, target.codegen())) is not None

    def is_empty(self) -> bool:
        """Return whether no machine code is stored, for any signature."""
        return not self._files()

    def flush(self) -> None:
        """Remove what is stored."""
        for path in self._files():
            path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        with suppress(OSError):
            return [path for path in self.prefix.parent.iterdir() if path.name.startswith(f"{self.prefix.name}-")]
        return []

    def _path(self, signature: Any, codegen: Any) -> Path:
        """Return where the code for a signature is stored, by these versions for this kind of processor."""
        key = repr((signature, codegen.magic_tuple(), numba.__version__, llvmlite.__version__, np.__version__))
        return Path(f"{self.prefix}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.nbc")


def _sound_content(path: Path) -> bytes | None:
    """Return what a file holds after its digest, None if there is no file or the two do not agree."""
    try:
        stored = path.read_bytes()
    except OSError:
        return None
    content = stored[DIGEST_SIZE:]
    return content if hashlib.sha256(content).digest() == stored[:DIGEST_SIZE] else None


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: another process that reads it finds the old content or the new one."""
    # each process has a temporary file of its own; the last one to replace the target wins
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise


def digest_of(function: Callable[..., Any]) -> str:
    """Return a digest of what is compiled with a function: options, code, files, and all values that the code names.

    Constants count by their value. Other values (a class, or a function with a compiled form of its own) count by the
    file that they come from.
    """
    parts = {f"{getattr(function, 'targetoptions', '')} {_digest_of_home(type(function))}"}
    # breadth of the search does not matter: `parts` is a set, and is sorted in the end
    reached = {source_of(function)}
    waiting = [source_of(function)]
    while waiting:
        source = waiting.pop()
        code = source.__code__
        # the module counts: stored code imports it again, by its name at that time
        where = f"{source.__module__} {code.co_qualname}"
        constants = [_text_of_constant(constant) for constant in code.co_consts]
        parts.add(f"{where} {_digest_of_file(code.co_filename)} {code.co_code.hex()} {code.co_names} {constants}")
        for words, value in references(source):
            content = _text_of_constant(value) or _digest_of_home(value)
            parts.add(f"{where} {words} {content} {getattr(value, 'targetoptions', '')}")
            if is_followed(value, source.__module__) and source_of(value) not in reached:
                reached.add(source_of(value))
                waiting.append(source_of(value))
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()[:12]


def _text_of_constant(value: Any) -> str | None:
    """Return the text of a number, a string, an array, or a tuple of these, None for anything else."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple):
        entries = [_text_of_constant(entry) for entry in value]
        return None if None in entries else f"{type(value).__qualname__} {entries}"
    return repr(value) if isinstance(value, int | float | complex | str | bytes | np.generic | None) else None


def _digest_of_home(value: Any) -> str:
    """Return the digest of the file of the module that a function, a class or an object of a class comes from."""
    code = getattr(value, "__code__", None)
    home = sys.modules.get(str(getattr(value, "__module__", "")))
    return _digest_of_file(str(code.co_filename if isinstance(code, CodeType) else getattr(home, "__file__", "")))


@cache
def _digest_of_file(path: str) -> str:
    """Return the digest of a file, empty where there is none (a function typed at a prompt)."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


_IS_COMPILING: ContextVar[bool] = ContextVar("is_compiling", default=False)


class CachedKernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function as numba makes it, whose machine code is stored in a `CodeCache`."""

    @cached_property
    def code_cache(self) -> CodeCache | None:
        """Where machine code is stored, None where it cannot be; looked for when it is first needed."""
        try:
            return CodeCache(self)
        except (RuntimeError, ImportError, AttributeError):
            return None

    def compile(self, sig: Any) -> Any:
        """Compile for a signature, or load what is stored."""
        # what a compiled function calls is stored with its caller
        if not _IS_COMPILING.get() and self.code_cache is not None:
            self._cache = self.code_cache
        before = _IS_COMPILING.set(True)
        try:
            with uncollected():
                return super().compile(sig)
        finally:
            _IS_COMPILING.reset(before)


@contextmanager
def uncollected() -> Iterator[None]:
    """Let Python's collector rest: a compiler makes millions of objects, and few of them are cyclic garbage early."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextmanager
def called_as(form_of: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Iterator[None]:
    """Let calls from Python run another form of each compiled function of packproof, such as its Python.

    It does not matter how a call reaches the function; calls from compiled code stay what they are.
    """
    before = CachedKernel.__dict__.get("__call__")
    CachedKernel.__call__ = lambda self, *values, **named: form_of(self)(*values, **named)
    try:
        yield
    finally:
        if before is None:
            del CachedKernel.__call__
        else:
            CachedKernel.__call__ = before
