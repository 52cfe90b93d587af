"""What compiled code depends on beside its own source, as a digest: machine code is stored under it.

Numba's cache does not notice that a callee in another file has changed. It is a different digest here: of all functions
that are compiled together, with the values of what they name, whether global, in a closure, in a module or a default.
"""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from theory.reach import callees, references, source_of


def digest_of(function: FunctionType) -> str:
    """Return a digest of the code that is compiled with a function, of its files, and of all that it names.

    Constants count by their value. What else is named (a class, or a function with a compiled form of its own, as in
    `theory.bits`) counts by the file that it comes from.
    """
    parts: set[str] = set()
    reached = {id(function)}
    waiting = [function]
    while waiting:
        source = waiting.pop()
        code = source.__code__
        constants = [_text_of_constant(constant) for constant in code.co_consts]
        where = source.__module__  # stored code imports its module again, under the name it had
        file = _digest_of_file(code.co_filename)
        parts.add(f"{where} {code.co_qualname} {file} {code.co_code.hex()} {code.co_names} {constants}")
        for words, value in references(source):
            content = _text_of_constant(value) or _digest_of_home(value)
            parts.add(f"{where} {code.co_qualname} {words} {content} {getattr(value, 'targetoptions', '')}")
        for callee in map(source_of, callees(source)):
            if id(callee) not in reached:
                reached.add(id(callee))
                waiting.append(callee)
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
    """The digest of a file, empty where there is none (a function typed at a prompt)."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""
