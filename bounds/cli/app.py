"""The application that commands join, and what they share: options, output, progress."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from bounds.cli.made import made, made_line, note_command
from theory.doors import imported
from theory.errors import InputError, meant
from theory.files.answer import answer_stream, can_print, print_answer

if TYPE_CHECKING:
    from rich.status import Status

    from bounds.views.shown import Shown

Function = TypeVar("Function", bound=Callable[..., Any])

MAX_WIDTH = 100  # most columns of a help text
INTERVAL = 5.0  # seconds between lines of progress where stderr is no terminal


class _Helpful:
    """A command or group whose help is an answer, on the stream of answers."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option ``--help``."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.callback = _print_help
        return option


def _print_help(ctx: Any, parameter: Any, wanted: bool) -> None:
    del parameter
    if wanted and not ctx.resilient_parsing:
        print_answer(ctx.get_help())
        ctx.exit()


class Command(_Helpful, TyperCommand):
    """A command that refuses an option that is given twice and means one thing."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of a command line; what is missing, unknown or wrong is refused in one line."""
        # parsed twice: first for the words as they stand, which messages show
        words = list(args)
        with self._refusals(ctx, self.given(ctx, args)):
            rest: list[str] = super().parse_args(ctx, args)
        self._refuse_infinite(ctx)
        note_command(ctx.command_path, words, ctx.params)
        return rest

    def given(self, ctx: Any, args: list[str]) -> dict[str, Any]:
        """Return the words of a command line by parameter, as they stand, before anything is made of them."""
        with self._refusals(ctx, {}):
            # `order` has a parameter once for each time that it is given
            found, more, order = self.make_parser(ctx).parse_args(list(args))
        if more and not ctx.allow_extra_args and not ctx.resilient_parsing:
            raise InputError(ctx.command_path, f"expected no more words, got {' '.join(more)[:60]!r}")
        for option in order:
            twice = order.count(option) > 1 and option.param_type_name == "option"
            if twice and not option.multiple and not ctx.resilient_parsing:
                raise InputError(option.opts[0], f"expected once, got it {order.count(option)} times")
        return dict(found)

    def _refuse_infinite(self, ctx: Any) -> None:
        """Refuse numbers of options that are not finite; only a limit of time may be infinite, which is no limit."""
        for parameter in self.params:
            number = ctx.params.get(parameter.name)
            unlimited = number == inf and parameter.name == "time_limit"
            if isinstance(number, float) and not isfinite(number) and not unlimited:
                raise InputError(parameter.opts[0], f"expected a finite number, got {number}")

    @contextmanager
    def _refusals(self, ctx: Any, given: dict[str, Any]) -> Iterator[None]:
        """Word what the parser refuses; completion looks at unfinished lines, and needs the parser's own errors."""
        try:
            yield
        except Exception as error:
            from bounds.cli.options import refusal

            said = None if ctx.resilient_parsing else refusal(self, error, given)
            if said is None:
                raise
            raise said from error


class Group(_Helpful, TyperGroup):
    """A group of commands whose help gives the first sentence of each, whole."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the first word names; a word that names none is refused."""
        names = sorted(name for name, one in self.commands.items() if not one.hidden)
        if args[0] not in self.commands and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise InputError(
                ctx.command_path,
                f"expected one of the commands {', '.join(names)}, got {args[0][:60]!r}{meant(args[0], names)}",
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the list of commands."""
        rows = [(name, self.commands[name].get_short_help_str(10_000)) for name in sorted(self.commands)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, line in rows if not self.commands[name].hidden])


class Application(typer.Typer):
    """Commands with examples at the end of their help."""

    def __init__(self, *, examples: Sequence[str] = (), **how: Any) -> None:
        """Make an application; `examples` are those of `command`."""
        super().__init__(cls=Group, rich_markup_mode=None, epilog=_epilog(examples), **how)
        self._parser: tuple[int, Any] | None = None

    def command(
        self, name: str | None = None, *, examples: Sequence[str] = (), **how: Any
    ) -> Callable[[Function], Function]:
        """Return a decorator that adds a command; `examples` are whole lines for a shell, run from the project."""
        return super().command(name, **{"cls": Command, "epilog": _epilog(examples), **how})

    def names(self) -> set[str]:
        """Return the names of the commands, and of their groups, that were added."""
        commands = {one.name or one.callback.__name__ for one in self.registered_commands if one.callback}
        return commands | {str(one.name) for one in self.registered_groups}

    def size(self) -> int:
        """Return how many commands were added, with those of groups."""
        groups = [one.typer_instance for one in self.registered_groups]
        return len(self.registered_commands) + sum(1 + one.size() for one in groups if isinstance(one, Application))

    def parser(self) -> Any:
        """Return what reads a command line, as click's group; it is made anew only where commands were added."""
        if self._parser is None or self._parser[0] != self.size():
            self._parser = self.size(), typer.main.get_command(self)
        return self._parser[1]


def _epilog(examples: Sequence[str]) -> str | None:
    r"""Return the end of a help text; ``\b`` keeps its lines from being wrapped."""
    return "\b\nExamples:" + "".join(f"\n  {line}" for line in examples) if examples else None


app = Application(
    context_settings={"max_content_width": MAX_WIDTH},
    pretty_exceptions_enable=False,
    no_args_is_help=False,
    help="Check and sharpen the theory of packing jobs into servers, and search for its worst cases.",
    examples=(
        "packproof solve examples/four_types.toml",
        "packproof simulate examples/four_types.toml --policy first-fit --servers 100 --until 20",
    ),
)


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        from theory.version import __version__

        print_answer(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        print_answer(context.get_help())
        raise typer.Exit


COMPLETION = ("--install-completion", "--show-completion")
"""Typer's options for the Tab key of the shell that packproof is called from."""

COMPLETE = "_PACKPROOF_COMPLETE"  # the variable of the environment by which a shell asks for what completes a line


def completed_by(place: str, *more: str) -> Callable[[str], list[str]]:
    """Return what completes a parameter in a shell; of several values with commas between them it is the last one.

    The place is ``MODULE:NAME`` of the values, or of a function that returns them, which is imported when a shell asks.
    """

    def complete(incomplete: str) -> list[str]:
        module, _, name = place.partition(":")
        values = getattr(imported(module), name)
        if callable(values) and not isinstance(values, type):
            values = values()
        before, comma, begun = incomplete.rpartition(",")
        return [f"{before}{comma}{value}" for value in (*values, *more) if value.startswith(begun)]

    return complete


def write_certificate(path: Path, document: dict[str, Any]) -> None:
    """Write a certificate that the checker accepts; say on stderr if that is beyond the checker's limits."""
    from bounds.certificates.document import beyond_checker
    from theory.files.places import write_json

    reason = beyond_checker(document)  # raises where the checker refuses it, so that no such file is left
    write_json(path, document)
    if reason:
        print(f"{path}: packproof check does not decide it: {reason}", file=sys.stderr)


def show(answer: Shown, *, as_json: bool, notes: Sequence[str] = ()) -> None:
    """Print an answer (`bounds.answers`), or a list of them: as one JSON document, or as lines of text.

    The text is the sentence and the tables of the answer (`bounds.views.shown`), and `notes` about files that were
    written or the run. Its last line says what made it, unless the answer is a list.
    """
    from theory.files.places import output_is_printed

    if as_json:
        print_json(answer)
    elif not output_is_printed():  # a printed output is all that is printed
        from bounds.views.shown import text_of

        shown = [*text_of(_with_origin(answer)), *(f"  {note}" for note in notes)]
        origin = None if isinstance(answer, Sequence) else made_line()
        shown += [] if origin is None else ["", origin]
        # a terminal has a width, a file has not
        if answer_stream().isatty():
            from bounds.views.tables import fitted

            shown = fitted(shown)
        print_answer("\n".join(shown))


def _with_origin(answer: Shown) -> Shown:
    """Return an answer that says what made it, as its JSON does."""
    from msgspec import convert
    from msgspec.structs import replace

    from bounds.answers.shared import CommandAnswer, Made

    origin = made()
    if isinstance(answer, CommandAnswer) and origin is not None:
        return replace(answer, made=convert(origin, Made))
    return answer


def print_json(document: Any) -> None:
    """Print a document as JSON; in ASCII where standard output has not all of its characters.

    An object says under ``made`` what made it. A number that is not finite is null.
    """
    from theory.files.places import json_text

    document = document.to_json() if hasattr(document, "to_json") else document
    if isinstance(document, dict) and (origin := made()) is not None:
        document = {**document, "made": origin}
    text = json_text(document)
    print_answer(text if can_print(text) else json_text(document, ascii_only=True))


class Progress:
    """What shows how far long work is, and prints what of the answer is there already."""

    def __init__(self, status: Status | None = None) -> None:
        self._status = status
        self.latest = ""

    def __call__(self, message: str) -> None:
        """Show how far the work is."""
        self.latest = message
        if self._status is not None:
            self._status.update(message.replace("[", r"\["))

    def print(self, text: str) -> None:
        """Print a part of the answer, above what shows how far the work is."""
        if self._status is not None:
            self._status.stop()
        print_answer(text)
        if self._status is not None:
            self._status.start()


@contextmanager
def progress() -> Iterator[Progress]:
    """Give what shows how far long work is, on stderr: in place on a terminal, else a line now and then."""
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status("") as status:
            yield Progress(status)
        return
    shown = Progress()
    ended = threading.Event()

    def tell() -> None:
        said = ""
        while not ended.wait(INTERVAL):
            if shown.latest != said:
                said = shown.latest
                print(said, file=sys.stderr, flush=True)

    # apart from the work, so that work that is silent for long is reported as well
    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield shown
    finally:
        ended.set()
        teller.join()
