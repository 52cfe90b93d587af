"""Code of users: a file is run once for each content that it has, faults are told in one line, and code has a digest.

Code has the name ``FILE.py:NAME``, or ``PACKAGE.MODULE:NAME`` for what Python imports from the working folder or an
installed package. Either may import its neighbours, the modules and packages that lie in the same folder.

The digest is that of the text of a module and of all modules that it runs. The text holds functions, constants and
closures, so the digest changes with any of them. Modules of installed distributions, of the standard library and of
packproof itself do not count: they are known by their versions. Neither do files that the code reads as data. What
code loads only as it runs, under a name that its text does not have, is no part of the digest: a line on stderr names
it (`telling_what_is_loaded`).
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, resolve_name, spec_from_file_location
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from theory.errors import InputError
from theory.files.places import note_input, read_bytes


def working_folder() -> str:
    """Return the working folder; that of a worker may be gone, as it began in another one than the command."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.sep


def module_of(path: str, option: str) -> ModuleType:
    """Return the module of a Python file, or of a dotted name behind its folder; a changed file is read again.

    A file that cannot be read or run is refused in one line, which names the option or argument, and the line of the
    file where it is known.
    """
    return _run(path, option, digest_of(path, option), working_folder())


def digest_of(path: str, option: str) -> str:
    """Read a Python file without running it, note it and what it imports as inputs, and return its SHA-256."""
    named, path = path, _file_of(path, option)
    note_input(path)
    try:
        content = read_bytes(path)
    except InputError as error:
        raise InputError(option, f"{path}: expected a Python file ({error.problem})") from error
    _note_imported(named, path)
    return hashlib.sha256(content).hexdigest()


def _note_imported(named: str, path: str) -> None:
    """Note the modules that a file imports, by what their texts say, unless they are installed."""
    folder, name = os.path.split(path if named.endswith(".py") else named)
    with _beside(os.path.abspath(folder)):
        spec = spec_from_file_location("own", path) if named.endswith(".py") else _of_name(name)[0]
        waiting, seen = [spec], {os.path.realpath(path)}
        while waiting:
            spec = waiting.pop()
            for each in _imported(_text(spec, loaded=False), spec) if spec else ():
                found, _ = _of_name(each)
                if found is None or not found.has_location or not found.origin:  # none, or of Python itself
                    continue
                place = os.path.realpath(found.origin)
                if place not in seen and not _is_installed(found):
                    seen.add(place)
                    waiting.append(found)
                    note_input(os.path.relpath(place) if place.startswith(working_folder() + os.sep) else place)


def _file_of(path: str, option: str) -> str:
    """Return the file of a module that is named by its folder and dotted name; a file is its own."""
    if path.endswith(".py"):
        return path
    folder, name = os.path.split(path)
    with _beside(os.path.abspath(folder)):
        spec, _ = _of_name(name)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise InputError(
            option,
            "expected FILE.py:NAME, or PACKAGE.MODULE:NAME of a module that Python finds from "
            f"{folder or 'this folder'}, got {name!r}, which it does not find",
        )
    return spec.origin


@contextmanager
def _beside(folder: str) -> Iterator[None]:
    """Look for modules in a folder first, and from then on behind all other places, for imports within functions."""
    if folder not in sys.path:
        sys.path.append(folder)
        importlib.invalidate_caches()  # its files may be younger than what Python knows of it
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with suppress(ValueError):  # the code may have changed the list
            sys.path.remove(folder)


@cache
def _run(path: str, option: str, digest: str, working: str) -> ModuleType:
    """Run a file, once for each working folder and content; a module that is named is imported, as Python does."""
    del working  # where a relative path begins, so that it tells runs apart
    file = Path(_file_of(path, option)).resolve()
    named = not path.endswith(".py")
    folder = Path(os.path.dirname(path)).resolve() if named else file.parent
    # a name that other processes find again, where they too have read the file: compiled code is kept under it
    digest = hashlib.sha256(f"{file}{digest}".encode()).hexdigest()
    known_as = os.path.basename(path) if named else f"packproof_own_{digest[:16]}"
    try:
        with _beside(str(folder)):
            _refuse_hidden(file, folder, set())
            if named:
                module = importlib.import_module(known_as)
                # what runs is what was imported first, as for any module of Python
                if module.__spec__ is not None and _text(module.__spec__, loaded=True) != file.read_bytes():
                    raise InputError("has changed since Python imported it: start Python again")
                return module
            spec = spec_from_file_location(known_as, file)
            if spec is None or spec.loader is None:
                raise InputError("expected a Python file")
            module = sys.modules[known_as] = module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if not named:
            sys.modules.pop(known_as, None)
        line = line_in(file, error)
        told = str(error) if isinstance(error, InputError) else f"does not run: {text_of(error)}"
        if "no known parent package" in told:
            told += "; name it as PACKAGE.MODULE:NAME, from the folder that holds the package"
        raise InputError(option, f"{path}{line}: {told}") from error


def _refuse_hidden(file: Path, folder: Path, seen: set[Path]) -> None:
    """Refuse an import of a neighbour whose name another module has that is loaded already: it would get that one."""
    seen.add(file)
    spec = spec_from_file_location("own", file)
    for name in _imported(file.read_bytes(), spec) if spec else ():
        beside = [place for place in (folder / f"{name}.py", folder / name / "__init__.py") if place.is_file()]
        for place in {each.resolve() for each in beside} - seen:
            loaded = getattr(sys.modules.get(name, object()), "__file__", None) or place
            if name in sys.modules and Path(loaded).resolve() != place:
                raise InputError(f"imports {name}, and {loaded} of the same name is loaded already: rename {place}")
            _refuse_hidden(place, folder, seen)


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

_COVERED: set[str] = set()
"""The files whose texts are in digests of this process."""

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
    # a module in a package runs what the package itself says
    parents = module.__name__.split(".")[:-1]
    waiting += [_of_name(".".join(parents[: length + 1])) for length in range(len(parents))]
    while waiting:
        spec, names = waiting.pop()
        if spec is None or id(spec) in reached or _is_installed(spec):
            continue
        text = _text(spec, loaded=names is not None)
        _COVERED.add(spec.origin or "")
        # the name of the module itself holds the folder, which does not count
        reached[id(spec)] = (spec.name if reached else "", text)
        waiting += [_of_name(name) for name in _imported(text, spec)]
        waiting += [_of_value(value) for value in list(names.values())] if names is not None else []
    # sorted, since the order in which modules are reached depends on what was loaded before
    digests = sorted(f"{name} {hashlib.sha256(text).hexdigest()}\n" for name, text in reached.values())
    return hashlib.sha256("".join(digests).encode()).hexdigest()


@contextmanager
def telling_what_is_loaded(name: str, *, is_own: bool) -> Iterator[None]:
    """Say on stderr which modules a user's own code loads while it runs, if its digest does not hold them."""
    before = set(sys.modules)
    yield
    if not is_own:
        return
    for module in [sys.modules[each] for each in sys.modules.keys() - before]:
        spec = getattr(module, "__spec__", None)
        if isinstance(spec, ModuleSpec) and not _is_installed(spec) and spec.origin and spec.origin not in _COVERED:
            words = "which tells no runs apart in a store: import it at the top"
            print(f"{name}: loads {spec.origin} only as it runs, {words}", file=sys.stderr)


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
    return _is_installed_file(spec.origin)


@cache
def _is_installed_file(file: str) -> bool:
    place = Path(file).resolve()
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
