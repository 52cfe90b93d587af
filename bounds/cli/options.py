"""Options that several commands share, and the words for options and arguments that are refused."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from theory.errors import InputError

if TYPE_CHECKING:
    from theory.instance import Instance

PICTURES = (".png", ".svg", ".pdf")


def announcing(*, printed: bool = False, folder: bool = False) -> Callable[[Path | None], Path | None]:
    """Return the callback of an option that names an output: it refuses a bad place before any work is done.

    With `printed`, ``-`` and ``/dev/stdout`` are standard output; with `folder`, the place may be a folder.
    """

    def announce(path: Path | None) -> Path | None:
        from theory.files.places import announce_output

        if path is not None:
            announce_output(path, printed=printed, folder=folder)
        return path

    return announce


to_write = announcing()
to_write_or_print = announcing(printed=True)


def to_store(path: Path | None) -> Path | None:
    """Refuse what `to_write` refuses, for a store and the files that SQLite makes beside it."""
    if path is not None:
        to_write(path)
        file = path.resolve()
        for beside in ("-wal", "-shm", "-journal"):
            to_write(file.with_name(file.name + beside))
    return path


def to_print_json(wanted: bool) -> bool:
    """Note that standard output holds the answer as JSON, so that no other output is printed."""
    from theory.files.places import announce_print

    if wanted:
        announce_print("--json")
    return wanted


def to_draw(path: Path | None) -> Path | None:
    """Refuse the name of a picture in a format that is not drawn, too."""
    if path is not None and path.suffix.lower() not in PICTURES:
        raise InputError(path, "", "expected a picture's name ending in .png, .svg or .pdf")
    return to_write(path)


def to_allow(context: typer.Context, nodes: int | None) -> int | None:
    """Set the limit of nodes of branch and bound while the command runs."""
    if nodes is not None:
        from theory.exact.knapsack.search import allowing

        context.with_resource(allowing(nodes))
    return nodes


InstanceFile = Annotated[
    Path, typer.Argument(metavar="INSTANCE", help="Instance file, TOML or JSON.", show_default=False)
]
JsonFlag = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.", callback=to_print_json)
]
PlotFile = Annotated[Path | None, typer.Option("--plot", metavar="OUT.png", help="Draw a picture.", callback=to_draw)]
CertificateFile = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        metavar="OUT.json",
        help="Write a certificate for `packproof check`.",
        callback=to_write_or_print,
    ),
]
WorstFile = Annotated[
    Path | None, typer.Option("--out", metavar="WORST.toml", help="Write the instance found.", callback=to_write)
]
WorkloadTrace = Annotated[
    Path | None,
    typer.Option(
        "--trace", metavar="LOG", help="Measure the workload of types without one, on --servers L, in a log or trace."
    ),
]
TraceServers = Annotated[
    int | None,
    typer.Option(
        "--servers", metavar="L", min=1, max=10**9, help="Servers of the trace in which the workload is measured."
    ),
]
EngineOption = Annotated[
    str,
    typer.Option("--engine", metavar="local|dask://HOST:PORT", help="Do the work here, or on a dask cluster."),
]
WorkersOption = Annotated[
    int, typer.Option("--workers", metavar="N", help="Number of local processes (-1: one per core).")
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="S", min=0)]
StoreFile = Annotated[
    Path | None,
    typer.Option(
        "--store", metavar="FILE", help="Store runs there, and continue from those already stored.", callback=to_store
    ),
]
NodesLimit = Annotated[
    int | None,
    typer.Option(
        "--nodes",
        metavar="N",
        min=1,
        max=10**15,
        help="Most nodes of branch and bound for a question, where resources are too fine for a table "
        "(default 100000000).",
        callback=to_allow,
    ),
]

LogFile = Annotated[
    Path, typer.Argument(metavar="LOG", help="Log of VMs, jobs or pods (docs: Traces).", show_default=False)
]
DropOpen = Annotated[
    bool, typer.Option("--drop-open", help="Drop rows without an end (else they run on to the end of the log).")
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Refuse a log with rows that never ran (else they are dropped and counted).")
]


def read_with_trace(
    instance: Path, trace: Path | None, servers: int | None, *, only_for_trace: bool = False
) -> Instance:
    """Read an instance, with the workload of a trace where it leaves that out, and print what was measured.

    `only_for_trace`: the number of servers says nothing else, and is refused where there is nothing to measure.
    """
    from theory.files.document import read_document
    from theory.files.instances import parse_instance, without_workload

    document = read_document(instance)
    if trace is None and not without_workload(document):  # without what reads traces
        if only_for_trace:
            refuse_unused({"--servers": servers is not None}, f"{instance}, whose types all have a workload")
        return parse_instance(document, str(instance))
    from fluid.files.measured import measured_instance

    measured, notes = measured_instance(document, instance, trace, servers)
    for line in notes:
        print(f"{trace or instance}: {line}", file=sys.stderr)
    return measured


def refuse_unused(is_given: Mapping[str, bool], other: str) -> None:
    """Refuse the first option that is given and does nothing beside another one."""
    for option in (name for name, given in is_given.items() if given):
        raise InputError(option, f"has no meaning with {other}")


def read_number(option: str, text: str) -> Fraction:
    """Read a number; a bad one ends in one line that names the option."""
    from theory.numbers import rational

    try:
        return rational(text)
    except ValueError as error:
        raise InputError(option, f"expected a number, got {text[:60]!r} ({error})") from error


def named_values(option: str, parts: Sequence[str], expected: str, got: str | None = None) -> dict[str, str]:
    """Read parts ``NAME=VALUE``, each name once; the refusal shows the words that it got, by default the part."""
    values: dict[str, str] = {}
    for part in parts:
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or name in values:
            raise InputError(option, f"expected {expected}, got {part if got is None else got!r}")
        values[name] = value
    return values


def refuse_no_time(option: str, time: float) -> None:
    """Refuse what is no time ahead."""
    if not (isfinite(time) and time > 0):
        raise InputError(option, f"expected a time greater than 0, got {time!r}")


def refuse_endless(seconds: float, when: str) -> None:
    """Refuse a search that nothing would end."""
    if not isfinite(seconds):
        raise InputError("--time-limit", f"expected a finite number {when}, since the search runs until then")


def refusal(command: Any, error: Exception, given: dict[str, Any]) -> InputError | None:
    """Return in one line what the parser refused; None for what is no fault of one option or argument.

    `given` has the words of the command line by parameter, before anything was made of them. The classes of the
    parser's errors depend on the version of typer, so they are distinguished by their attributes.
    """
    name = getattr(error, "option_name", None)
    if name is not None:
        near = getattr(error, "possibilities", None)
        if near:
            return InputError(name, f"no such option, did you mean {' or '.join(sorted(near))}?")
        parameter = next((one for one in command.params if name in one.opts), None)
        if parameter is None:
            return InputError(name, f"no such option, `{_called(error, command)} --help` lists them")
        if parameter.is_flag:
            return InputError(name, "expected no value, since it is a switch")
        return InputError(name, f"expected {expectation(command, parameter)}, got no value")
    parameter = getattr(error, "param", None)
    if parameter is None:
        return None
    words = given.get(parameter.name)
    if not isinstance(words, str | list | tuple | int | float):  # none, or an object of older parsers that means none
        return missing(command, parameter, _called(error, command))
    return InputError(
        name_of(parameter), f"expected {expectation(command, parameter)}{_as_share(words)}, got {_got(words)}"
    )


def _as_share(words: Any) -> str:
    """Return how a share is written, in place of a percentage; nothing where none was given.

    >>> _as_share("99%"), _as_share("99.9 %"), _as_share("x%")
    (' such as 0.99', ' such as 0.999', '')
    """
    try:
        share = float(str(words).removesuffix("%")) / 100
    except ValueError:
        return ""
    return f" such as {share:g}" if str(words).endswith("%") and isfinite(share) else ""


def name_of(parameter: Any) -> str:
    """Return the name of an option, or of an argument as the help has it."""
    is_option = parameter.param_type_name == "option"
    return str(parameter.opts[0] if is_option else parameter.metavar or parameter.name.upper())


def missing(command: Any, parameter: Any, called: str) -> InputError:
    """Return the refusal of a command without an option or argument that it needs."""
    name = name_of(parameter)
    is_option = parameter.param_type_name == "option"
    place = f"{name} {parameter.metavar or 'VALUE'}" if is_option else f"it after {called}"
    return InputError(name, f"missing, expected {place}: {expectation(command, parameter)}")


def expectation(command: Any, parameter: Any) -> str:
    """Return in words what a parameter takes, by the annotation of the function of the command.

    >>> from bounds.cli import application
    >>> simulate = application().parser().commands["simulate"]
    >>> [expectation(simulate, one) for one in simulate.params if one.name in ("servers", "seed")]
    ['a whole number from 1 to 100,000,000', 'a whole number of at least 0']
    """
    hint = get_type_hints(inspect.unwrap(command.callback), include_extras=True)[parameter.name]
    annotation, *details = get_args(hint)
    kind = _one(annotation)
    if issubclass(kind, Enum):
        return f"one of {', '.join(str(one.value) for one in kind)}"
    if kind in (int, float):
        least, most = (next((getattr(one, end, None) for one in details), None) for end in ("min", "max"))
        return f"{'a whole number' if kind is int else 'a number'}{_within(least, most)}"
    meaning = (parameter.help or "a value").strip().rstrip(".")
    return meaning if meaning[1:2].isupper() else meaning[0].lower() + meaning[1:]


def _one(annotation: Any) -> type:
    """Return the type of one value: ``int`` of ``int | None`` and of ``list[int]``."""
    inner = [one for one in get_args(annotation) if one is not type(None)]
    return _one(inner[0]) if inner else annotation


def _within(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f" from {least:,} to {most:,}"
    if least is not None:
        return f" of at least {least:,}"
    return "" if most is None else f" of at most {most:,}"


def _got(words: Any) -> str:
    """Return what was given as messages show it: numbers as they stand, text in quotes."""
    if isinstance(words, list | tuple):
        return ", ".join(map(_got, words))
    try:
        float(words)
    except ValueError:
        return repr(words[:60])
    return str(words)[:60]


def _called(error: Any, command: Any) -> str:
    return error.ctx.command_path if getattr(error, "ctx", None) is not None else f"packproof {command.name}"
