"""What is said of options and arguments that the parser of the command line refuses: what was got, what is expected."""

from __future__ import annotations

import inspect
from enum import Enum
from typing import Any, get_args, get_type_hints

from theory.errors import InputError


def refusal(command: Any, error: Exception, given: dict[str, Any]) -> InputError | None:
    """Return in one line what the parser refused; None for what is no fault of one option or argument.

    Parameters
    ----------
    command : Command
    error : Exception
        Of the parser. Its classes depend on the version of typer, so they are told apart by what they carry.
    given : dict
        The words of the command line by parameter, before anything was made of them.
    """
    name = getattr(error, "option_name", None)
    if name is not None:
        near = getattr(error, "possibilities", None)
        if near:
            return InputError(f"{name}: no such option, did you mean {' or '.join(sorted(near))}?")
        parameter = next((one for one in command.params if name in one.opts), None)
        if parameter is None:
            return InputError(f"{name}: no such option, `{_called(error, command)} --help` lists them")
        if parameter.is_flag:
            return InputError(f"{name}: expected no value, since it is a switch")
        return InputError(f"{name}: expected {expectation(command, parameter)}, got no value")
    parameter = getattr(error, "param", None)
    if parameter is None:
        return None
    option = parameter.param_type_name == "option"
    shown = parameter.opts[0] if option else parameter.metavar or parameter.name.upper()
    words = given.get(parameter.name)
    if not isinstance(words, str | list | tuple | int | float):  # none, or what stands for none in older parsers
        metavar = f"{shown} {parameter.metavar or 'VALUE'}" if option else f"it after {_called(error, command)}"
        return InputError(f"{shown}: missing, expected {metavar}: {expectation(command, parameter)}")
    return InputError(f"{shown}: expected {expectation(command, parameter)}, got {_got(words)}")


def expectation(command: Any, parameter: Any) -> str:
    """Return in words what a parameter takes, by the annotation of the function of the command.

    Examples
    --------
    >>> from bounds.cli import app
    >>> import typer
    >>> simulate = typer.main.get_command(app).commands["simulate"]
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
    told = (parameter.help or "a value").strip().rstrip(".")
    return told if told[1:2].isupper() else told[0].lower() + told[1:]


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
    return str(words)


def _called(error: Any, command: Any) -> str:
    return error.ctx.command_path if getattr(error, "ctx", None) is not None else f"packproof {command.name}"
