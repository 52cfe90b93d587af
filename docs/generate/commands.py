"""The reference of commands, from the application itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer.main

from bounds.cli import application
from generate.text import code, plain, save, table

TASKS: dict[str, tuple[str, ...]] = {
    "Plan a cluster": ("log", "plan", "instance", "catalogue", "region", "throughput"),
    "Decide": ("solve", "worst", "share", "admission"),
    "Try out a policy or a rule": ("simulate", "experiment", "fluid", "attack"),
    "Check the papers": ("verify", "reproduce", "check", "export"),
    "Files, schemas and reports": ("example", "schema", "report"),
}
"""The commands by what they are for; the README has the same groups."""


def write(docs: Path) -> None:
    """Write the page of all commands, by task."""
    commands = application().parser().commands  # type: ignore[attr-defined]
    if missing := set(commands) ^ {name for names in TASKS.values() for name in names}:
        raise ValueError(f"TASKS: expected each command once, got {', '.join(sorted(missing))} in one place only")
    first = [(task, ", ".join(f"[{name}](#packproof-{name})" for name in names)) for task, names in TASKS.items()]
    parts = [
        "# Commands\n",
        "All commands take `--json`, which prints one JSON document and nothing else, and options that write JSON or "
        "CSV take `-` for standard output. A number that is not finite is `null` in JSON, such as an infinite "
        "`--time-limit`, which means no limit. [The meaning of exit statuses](../how-to/read-bad-input.md) is the same "
        "for all commands.\n",
        table(first, ("task", "commands")),
        *(
            part
            for task, names in TASKS.items()
            for part in (f"## {task}\n", *(section(f"packproof {name}", commands[name], 3) for name in names))
        ),
    ]
    save(docs / "reference" / "commands.md", "\n".join(parts))


def unmarked(text: str) -> str:
    r"""Return a help text without the marks (``\b``, ``\f``) by which click keeps lines, or ends the text."""
    return text.partition("\f")[0].replace("\b", "")


def section(path: str, command: Any, depth: int) -> str:
    """Return the section of a command, or of a group with its commands."""
    parts = [f"{'#' * depth} {path}\n", *(plain(part) + "\n" for part in unmarked(command.help or "").split("\n\n"))]
    if hasattr(command, "commands"):
        parts += [section(f"{path} {name}", one, depth + 1) for name, one in command.commands.items()]
        return "\n".join(parts)
    context = typer.Context(command)
    usage = " ".join(command.collect_usage_pieces(context))
    parts.append(f"```console\n$ {path} {usage}\n```\n")
    rows = [row for parameter in command.params if (row := _row(parameter, context))]
    parts.append(table(rows))
    if getattr(command, "epilog", None):
        parts.append(f"```text\n{unmarked(command.epilog).strip()}\n```\n")
    return "\n".join(parts)


def _row(parameter: Any, context: typer.Context) -> tuple[str, str] | None:
    record = parameter.get_help_record(context)
    if record is None:
        if parameter.param_type_name != "argument":
            return None
        return code(parameter.make_metavar(context)), plain(getattr(parameter, "help", None) or "")
    return code(record[0]), plain(record[1])
