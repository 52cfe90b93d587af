"""Commands of several modes: what a mode takes is a frozen record, and from the records comes the command.

A command whose options choose between different pieces of work has one record for each of them. The command takes the
fields of all records. An option that is given and that the chosen record lacks is refused, and so is one that it needs
and that is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
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
        _refuse_unfit(context, mode, values)
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
            mode_name = re.split("[,:]", mode.beside)[0]
            lines.append(f"\n\nWith {mode_name} there is no {', '.join(options)}.")
    return "".join(lines)


def _option(parameter: Parameter) -> str:
    """Return the name of an option or argument on the command line, by its annotation."""
    (info,) = parameter.annotation.__metadata__
    # in an annotation the first name of an option takes the place of a default
    return str(info.default if isinstance(info, OptionInfo) else info.metavar)


def _refuse_unfit(context: typer.Context, mode: type[Mode], values: Mapping[str, Any]) -> None:
    """Refuse what is given and means nothing to a mode, and what the mode needs and is not given."""
    needed = {field.name: field.default is MISSING for field in fields(mode)}  # type: ignore[arg-type]
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        on_the_line = source is not None and source.name == "COMMANDLINE"
        if on_the_line and parameter.name not in needed:
            raise InputError(name_of(parameter), f"has no meaning with {mode.beside}")
        if needed.get(parameter.name or "") and values[parameter.name or ""] is None:
            raise missing(context.command, parameter, context.command_path)
