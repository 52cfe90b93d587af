"""Code of users: a Python file is run once for each content that it has, and its faults are told in one line."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from theory.errors import InputError
from theory.files.places import note_input, read_bytes


def module_of(path: str, option: str) -> ModuleType:
    """Return the module of a Python file; a file that has changed is read again.

    Parameters
    ----------
    path : str
    option : str
        Names the option or argument in errors.

    Raises
    ------
    InputError
        A file that cannot be read or run; in one line, with the line of the file where it is known.
    """
    return _run(path, option, digest_of(path, option))


def digest_of(path: str, option: str) -> str:
    """Read a Python file without running it, note it as an input of the command, and return its SHA-256.

    Raises
    ------
    InputError
        A file that cannot be read.
    """
    note_input(path)
    try:
        content = read_bytes(path)
    except InputError as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise InputError(f"{option}: {path}: expected a Python file ({reason})") from None
    return hashlib.sha256(content).hexdigest()


@cache
def _run(path: str, option: str, digest: str) -> ModuleType:
    """Run a file with so much in it."""
    file = Path(path).resolve()
    # a name that other processes find again, where they too have read the file: compiled code is kept under it
    known_as = f"packproof_own_{hashlib.sha256(f'{file}{digest}'.encode()).hexdigest()[:16]}"
    spec = spec_from_file_location(known_as, file)
    if spec is None or spec.loader is None:
        raise InputError(f"{option}: {path}: expected a Python file")
    module = sys.modules[known_as] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        del sys.modules[known_as]
        line = line_in(file, error)
        told = str(error) if isinstance(error, InputError) else f"does not run: {text_of(error)}"
        raise InputError(f"{option}: {path}{line}: {told}") from None
    return module


def text_of(error: BaseException) -> str:
    """Return the kind of an exception of a user's code and what it says, which may be nothing, or fail.

    Examples
    --------
    >>> text_of(ValueError("no")), text_of(KeyError())
    ('ValueError: no', 'KeyError')
    """
    try:
        text = str(error)
    except BaseException as other:
        text = f"an exception whose text raises {type(other).__name__}"
    return f"{type(error).__name__}: {text}".rstrip(": ")


def line_in(file: Path, error: BaseException) -> str:
    """Return ``:LINE`` of a file whose code failed, where it is known."""
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == str(file) else None
    step_down = error.__traceback__
    while step_down is not None and line is None:
        if step_down.tb_frame.f_code.co_filename == str(file):
            line = step_down.tb_lineno
        step_down = step_down.tb_next
    return "" if line is None else f":{line}"
