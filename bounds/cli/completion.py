"""``packproof completion``: what a shell needs to complete commands, options and their values."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer

from bounds.cli.app import app
from bounds.cli.attack import Kind
from bounds.cli.worst import Vary
from theory.files.answer import print_answer

SCRIPTS = {
    "bash": """\
# source <(packproof completion bash), or append this to ~/.bashrc
_packproof_complete() {
    local IFS=$'\\n'
    COMPREPLY=( $("$1" completion --line "${COMP_LINE:0:COMP_POINT}" --breaks ':=' 2>/dev/null) )
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}
complete -o default -F _packproof_complete packproof
# it asks: packproof completion --line WORDS
""",
    "zsh": """\
#compdef packproof
# source <(packproof completion zsh), after compinit; or a file _packproof in a folder of $fpath
_packproof() {
    local -a found
    found=("${(@f)$(packproof completion --line "${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
    if [[ -n ${found[1]} ]]; then compadd -- $found; else _files; fi
}
compdef _packproof packproof
""",
    "fish": """\
# packproof completion fish > ~/.config/fish/completions/packproof.fish
complete -c packproof -a '(packproof completion --line (commandline -cp | string collect) 2>/dev/null)'
""",
}
"""By shell; a test runs each where the shell is installed."""


def _policies() -> Iterable[str]:
    from fluid.simulation.policy_names import HOMES

    return HOMES


def _mechanisms() -> Iterable[str]:
    from theory.sharing.mechanisms import MECHANISMS

    return [*MECHANISMS, "all"]


def _machines() -> Iterable[str]:
    from theory.files.price_catalogue import catalogue

    return catalogue()


def _papers() -> Iterable[str]:
    from bounds.claims import PAPERS

    return PAPERS


def _formats() -> Iterable[str]:
    from bounds.exports.formats import FORMATS

    return FORMATS


VALUES: dict[tuple[str, str], Callable[[], Iterable[str]]] = {
    ("simulate", "--policy"): lambda: [*_policies(), "list"],
    ("share", "--mechanism"): _mechanisms,
    ("instance", "--types"): _machines,
    ("attack", "--kind"): lambda: Kind,
    ("worst", "--vary"): lambda: Vary,
    ("verify", "--paper"): _papers,
    ("verify", "--level"): lambda: ("quick", "full"),
    ("export", "--format"): _formats,
    ("catalogue", "PATTERN"): _machines,
    ("completion", "SHELL"): lambda: SCRIPTS,
}
"""Values by command, and option or name of the argument."""


@app.command(examples=("packproof completion bash", "packproof completion fish"))
def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.", show_default=False)] = "",
    line: Annotated[str | None, typer.Option("--line", help="Complete this line.", hidden=True)] = None,
    breaks: Annotated[str, typer.Option("--breaks", help="Where the shell breaks words.", hidden=True)] = "",
) -> None:
    """Print the script by which a shell completes packproof's commands, options and values."""
    from theory.errors import InputError

    if line is not None:
        print_answer("\n".join(candidates(line, breaks)))
        return
    if shell not in SCRIPTS:
        raise InputError(f"SHELL: expected one of {', '.join(SCRIPTS)}, got {shell[:60]!r}")
    print_answer(SCRIPTS[shell], end="")


def candidates(line: str, breaks: str = "") -> list[str]:
    """Return what may stand for the last word of a line; nothing where a file is asked for.

    Parameters
    ----------
    line : str
        As typed so far; the first word is the name of the program.
    breaks : str
        Characters at which the shell begins a new word: what stands before the last of them is left out of the answer.

    Examples
    --------
    >>> candidates("packproof so"), candidates("packproof solve x.toml --js"), candidates("packproof solve ex")
    (['solve'], ['--json'], [])
    """
    try:
        words = shlex.split(line)
    except ValueError:  # an open quotation mark: whatever stands in it is the user's
        return []
    last = words.pop() if words and not line[-1:].isspace() else ""
    command: Any = typer.main.get_command(app)
    name, waiting = "", None
    for word in words[1:]:
        if waiting is not None:
            waiting = None
        elif word.startswith("-"):
            option = _option(command, word)
            waiting = option if option is not None and not option.is_flag and "=" not in word else None
        elif word in getattr(command, "commands", {}):
            command, name = command.commands[word], word
    if last.startswith("-") and "=" in last and waiting is None:
        flag, _, typed = last.partition("=")
        found = [f"{flag}={value}" for value in _values(name, _option(command, flag), typed)]
    elif waiting is not None:
        found = _values(name, waiting, last)
    elif last.startswith("-"):
        found = [flag for one in command.params for flag in _flags(one) if flag.startswith(last)]
    elif hasattr(command, "commands"):
        found = [one for one, inner in sorted(command.commands.items()) if one.startswith(last) and not inner.hidden]
    else:
        arguments = [one for one in command.params if one.param_type_name == "argument"]
        found = _values(name, arguments[0], last) if arguments else []
    cut = max((last.rfind(sign) for sign in breaks), default=-1) + 1
    return [one[cut:] for one in found]


def _flags(option: Any) -> list[str]:
    shown = option.param_type_name == "option" and not option.hidden
    return [flag for flag in (*option.opts, *option.secondary_opts) if flag.startswith("--")] if shown else []


def _option(command: Any, word: str) -> Any:
    flag = word.partition("=")[0]
    return next((one for one in command.params if flag in (*one.opts, *one.secondary_opts)), None)


def _values(command: str, parameter: Any, typed: str) -> list[str]:
    """Return the values of a parameter that begin as typed; the last of several with commas between them."""
    if parameter is None:
        return []
    place = parameter.opts[0] if parameter.param_type_name == "option" else parameter.metavar
    known = VALUES.get((command, place or ""))
    values = [str(value) for value in (known() if known else ())]
    before, comma, begun = typed.rpartition(",")
    return [f"{before}{comma}{value}" for value in values if value.startswith(begun)]
