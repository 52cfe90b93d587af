"""Commands of several modes: what a mode takes is a frozen record, and from the records comes the command.

A command whose options choose between different pieces of work has one record for each of them. The command takes the
fields of all records. An option that is given and that the chosen record lacks is refused, and so is one that it needs
and that is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from inspect import Parameter, Signature, cleandoc
from types import SimpleNamespace
from typing import Any, ClassVar, get_type_hints

import typer
from typer.models import OptionInfo

from bounds.cli.options import missing, name_of
from theory.errors import InputError


class Mode:
    """What records of modes derive from: frozen dataclasses with a field an argument or option, as typer reads them."""

    beside: ClassVar[str]
    """What the mode is called where an option has no meaning with it, such as ``--against-fluid``."""

    chosen_by: ClassVar[tuple[str, ...]] = ()
    """Fields that choose the mode when they are given; the help of the other modes is silent about them."""


def command_of(
    choose: Callable[[Any], type[Mode]], runs: Mapping[type[Any], Callable[[Any], None]], about: str
) -> Callable[..., None]:
    """Return the function of a command with several modes, as typer reads it.

    Parameters
    ----------
    choose : callable
        Returns the record of the mode; called with an object that has the value of each argument and option.
    runs : mapping
        What is called with each record.
    about : str
        The help of the command, to which the options are added that a mode does not take.
    """

    def command(context: typer.Context, **values: Any) -> None:
        mode = choose(SimpleNamespace(**values))
        _refuse_unfit(context, mode, values, list(runs))
        runs[mode](mode(**{field.name: values[field.name] for field in fields(mode)}))  # type: ignore[arg-type]

    fields_of_modes = _parameters(list(runs))
    parameters = [Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context), *fields_of_modes]
    command.__doc__ = cleandoc(about) + _left_out(list(runs), fields_of_modes)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return command


def _parameters(modes: list[type[Any]]) -> list[Parameter]:
    """Return the fields of all modes as parameters, ``--json`` last; one that some mode lacks is None by default."""
    by_name: dict[str, Parameter] = {}
    for mode in modes:
        hints = get_type_hints(mode, include_extras=True)
        for field in fields(mode):
            default = Parameter.empty if field.default is MISSING else field.default
            parameter = Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name])
            by_name.setdefault(field.name, parameter)
    in_all = set.intersection(*({field.name for field in fields(mode)} for mode in modes))
    for name, parameter in by_name.items():
        if parameter.default is Parameter.empty and name not in in_all:
            by_name[name] = parameter.replace(default=None)
    return sorted(by_name.values(), key=lambda parameter: parameter.name == "as_json")


def _left_out(modes: list[type[Any]], parameters: list[Parameter]) -> str:
    """Return the paragraphs of the help that say which options have no meaning in which mode."""
    lines = []
    choosing = {name for mode in modes for name in mode.chosen_by}
    for mode in modes:
        taken = {field.name for field in fields(mode)} | choosing
        options = [_option(parameter) for parameter in parameters if parameter.name not in taken]
        if options:
            lines.append(f"\n\nWith {_name_of_mode(mode)} there is no {', '.join(options)}.")
    return "".join(lines)


def _option(parameter: Parameter) -> str:
    """Return the name of an option or argument on the command line, by its annotation."""
    (info,) = parameter.annotation.__metadata__
    # in an annotation the first name of an option takes the place of a default
    return str(info.default if isinstance(info, OptionInfo) else info.metavar)


def _refuse_unfit(
    context: typer.Context, mode: type[Mode], values: Mapping[str, Any], modes: Sequence[type[Mode]]
) -> None:
    """Refuse what is given and means nothing to a mode, and what the mode needs and is not given."""
    needed = {field.name: field.default is MISSING for field in fields(mode)}  # type: ignore[arg-type]
    for parameter in context.command.params:
        if parameter.name not in needed and _is_given(context, parameter):
            hint = _other_than_default(context, mode, [other for other in modes if _takes(other, parameter.name)])
            raise InputError(name_of(parameter), f"has no meaning with {mode.beside}{hint}")
        if needed.get(parameter.name or "") and values[parameter.name or ""] is None:
            raise missing(context.command, parameter, context.command_path)


def _name_of_mode(mode: type[Mode]) -> str:
    """Return what a mode is called, without the reason that may follow."""
    return re.split("[,:]", mode.beside)[0]


def _is_given(context: typer.Context, parameter: Any) -> bool:
    """Return whether an argument or option stands on the command line."""
    source = context.get_parameter_source(parameter.name or "")
    return source is not None and source.name == "COMMANDLINE"


def _takes(mode: type[Any], name: str | None) -> bool:
    """Return whether a mode has a field of this name."""
    return any(field.name == name for field in fields(mode))


def _other_than_default(context: typer.Context, mode: type[Mode], suited: Sequence[type[Mode]]) -> str:
    """Return the end of a refusal by a mode that an option chose by its default: which of its values would be suited.

    Empty where the mode was chosen on the command line, or has no option that chooses it.
    """
    option = _name_of_mode(mode).split()[0]
    choosing = [one for one in context.command.params if option in one.opts]
    if not choosing or any(_is_given(context, one) for one in choosing):
        return ""
    values = [name for name in map(_name_of_mode, suited) if name.split()[0] == option]
    return f" (the default; did you mean {' or '.join(values)}?)" if values else " (the default)"
