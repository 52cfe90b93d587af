"""Code of users: a file is run once for each content that it has, faults are told in one line, and code has a digest.

The digest is that of the text of a module and of all modules that it runs. The text holds functions, constants and
closures, so the digest changes with any of them. Modules of installed distributions, of the standard library and of
packproof itself do not count: they are known by their versions. Neither do files that the code reads as data.
"""

from __future__ import annotations

import ast
import hashlib
import site
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, resolve_name, spec_from_file_location
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from theory.errors import InputError
from theory.files.places import note_input, read_bytes


def module_of(path: str, option: str) -> ModuleType:
    """Return the module of a Python file; a file that has changed is read again.

    A file that cannot be read or run is refused in one line, which names the option or argument, and the line of the
    file where it is known.
    """
    return _run(path, option, digest_of(path, option))


def digest_of(path: str, option: str) -> str:
    """Read a Python file without running it, note it as an input of the command, and return its SHA-256."""
    note_input(path)
    try:
        content = read_bytes(path)
    except InputError as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise InputError(f"{option}: {path}: expected a Python file ({reason})") from None
    return hashlib.sha256(content).hexdigest()


@cache
def _run(path: str, option: str, digest: str) -> ModuleType:
    """Run a file, once for each content."""
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
    # the outermost frame within the file, which its author knows
    step_down = error.__traceback__
    while step_down is not None and line is None:
        if step_down.tb_frame.f_code.co_filename == str(file):
            line = step_down.tb_lineno
        step_down = step_down.tb_next
    return "" if line is None else f":{line}"


# ---- the digest of code ----------------------------------------------------------------------------------------------

_TEXTS: dict[int, tuple[ModuleSpec, bytes]] = {}
"""The text of each loaded module, by its spec, which is replaced where a module is loaded again."""


def code_digest(module: ModuleType) -> str:
    """Return the SHA-256 of the texts of a module and of the modules that it runs, wherever they lie.

    Modules are followed by the imports in their texts, those inside functions as well, whether or not they have run,
    and by what stands in the globals of loaded ones, whatever brought it there. The text of a loaded module is the one
    that the first call saw, so the first call belongs right behind the loading.
    """
    reached: dict[int, tuple[str, bytes]] = {}
    waiting = [_of_globals(vars(module))]
    while waiting:
        spec, names = waiting.pop()
        if spec is None or id(spec) in reached or _is_installed(spec):
            continue
        text = _text(spec, loaded=names is not None)
        # the name of the module itself holds the folder, which does not count
        reached[id(spec)] = (spec.name if reached else "", text)
        waiting += [_of_name(name) for name in _imported(text, spec)]
        waiting += [_of_value(value) for value in list(names.values())] if names is not None else []
    # sorted, since the order in which modules are reached depends on what was loaded before
    digests = sorted(f"{name} {hashlib.sha256(text).hexdigest()}\n" for name, text in reached.values())
    return hashlib.sha256("".join(digests).encode()).hexdigest()


Reached = tuple[ModuleSpec | None, dict[str, Any] | None]
"""Where a module lies, and its globals where it is loaded."""


def _of_globals(names: dict[str, Any]) -> Reached:
    return names.get("__spec__"), names


def _of_name(name: str) -> Reached:
    """Look a module up by its name, without loading anything."""
    if name in sys.modules:
        return _of_globals(getattr(sys.modules[name], "__dict__", {}))
    parent, _, _ = name.rpartition(".")
    if not parent:
        return PathFinder.find_spec(name), None
    package, _ = _of_name(parent)
    inside = None if package is None else package.submodule_search_locations
    return None if inside is None else PathFinder.find_spec(name, inside), None


def _of_value(value: Any) -> Reached:
    """Return the module of what stands in the globals of another: a module, a function, compiled or not, a class."""
    value = getattr(value, "py_func", value)
    if isinstance(value, ModuleType):
        return _of_globals(vars(value))
    if isinstance(value, FunctionType):
        return _of_globals(value.__globals__)
    home = getattr(value, "__module__", None)
    return _of_name(home) if isinstance(home, str) else (None, None)


def _is_installed(spec: ModuleSpec) -> bool:
    """Whether a module is of the standard library, of an installed distribution, or of packproof."""
    if spec.origin is None:  # a package without a file of its own
        return False
    if not spec.has_location:
        return True  # built in
    place = Path(spec.origin).resolve()
    return bool({"site-packages", "dist-packages"} & set(place.parts)) or any(
        place.is_relative_to(home) for home in _homes()
    )


@cache
def _homes() -> tuple[Path, ...]:
    """Return the folders of installed modules, and those of packproof."""
    library = [sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")]
    ours = Path(__file__).parents[2]
    places = [*library, *site.getsitepackages(), site.getusersitepackages()]
    return tuple(Path(place).resolve() for place in places) + tuple(
        ours / name for name in ("theory", "fluid", "bounds", "packproof.py")
    )


def _text(spec: ModuleSpec, *, loaded: bool) -> bytes:
    """Return the text of a module, or the bytes of one that is compiled; empty where it has no file."""
    if id(spec) in _TEXTS:
        return _TEXTS[id(spec)][1]
    read = getattr(spec.loader, "get_data", None)
    try:
        text: bytes = read(spec.origin) if read is not None and spec.origin is not None else b""
    except OSError:
        text = b""
    if loaded:
        _TEXTS[id(spec)] = (spec, text)
    return text


def _imported(text: bytes, spec: ModuleSpec) -> Iterator[str]:
    """Yield the modules that a text may import: of ``from a import b`` both ``a`` and ``a.b``, and all parents."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):  # compiled, or never loaded
        return
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            try:
                home = resolve_name("." * node.level + (node.module or ""), spec.parent) if node.level else node.module
            except ImportError:
                continue
            names.update([home or "", *(f"{home}.{alias.name}" for alias in node.names)])
    for name in filter(None, names):
        parts = name.split(".")
        yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))
