"""Claims that are asked about a reader's own numbers: by name in Python, or by words of a command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, get_args, get_type_hints

from bounds.claims import PAPERS, Claim, Compared, in_words
from bounds.results import claims as listed
from bounds.results.names import spelled
from theory.errors import InputError

NUMBERS: dict[Any, tuple[Callable[[str], Any], str]] = {
    int: (int, "a whole number"),
    float: (float, "a number"),
    Fraction: (Fraction, "a number or a fraction, such as 3/4"),
    bool: (lambda word: {"true": True, "false": False}[word], "true or false"),
    str: (str, "a word"),
}
"""How a parameter of a type is read, and what is expected."""


class Claims:
    """The claims: ``claims(names, paper)`` lists them, and ``claims.PAPER.NAME(...)`` asks one about other numbers.

    In names of Python a claim ``ps-dsf/figure-1`` is ``claims.ps_dsf.figure_1``.

    Examples
    --------
    >>> from packproof import claims
    >>> [claim.id for claim in claims(["introduction"])]
    ['autoscaling/introduction']
    >>> claims.autoscaling.introduction().holds
    True
    """

    def __call__(self, names: Iterable[str] = (), paper: str | None = None) -> list[Claim]:
        """Return the claims that are named, those of a paper, or all (`bounds.results.claims`)."""
        return listed(names, paper)

    def __getattr__(self, name: str) -> OfPaper:
        """Return the claims of a paper."""
        for paper in PAPERS:
            if _identifier(paper) == name:
                return OfPaper(paper)
        raise AttributeError(f"no paper {name!r}: expected one of {', '.join(map(_identifier, PAPERS))}")

    def __dir__(self) -> list[str]:
        """List the papers."""
        return [*map(_identifier, PAPERS)]


class OfPaper:
    """The claims of a paper, each an attribute that is called with its parameters."""

    def __init__(self, paper: str) -> None:
        self._paper = paper

    def __getattr__(self, name: str) -> Claim:
        """Return a claim; the kind of statement has either spelling (`bounds.results.names`)."""
        wanted = _identifier(spelled(name.replace("_", "-", 1)))
        for claim in listed(paper=self._paper):
            if _identifier(spelled(claim.id.partition("/")[2])) == wanted:
                return claim
        raise AttributeError(f"no claim {name!r} of {self._paper}: `packproof verify --list {self._paper}` lists them")

    def __dir__(self) -> list[str]:
        """List the claims of the paper."""
        return [_identifier(claim.id.partition("/")[2]) for claim in listed(paper=self._paper)]


claims = Claims()


def _identifier(name: str) -> str:
    """Return the name of a paper or a claim as one of Python: ``prop_5_10_p3``."""
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def ask(claim: Claim, words: Sequence[str]) -> tuple[dict[str, str], Compared]:
    """Ask a claim about parameters in words, such as ``rate=0.013``; return all parameters in words, and what came out.

    Raises
    ------
    InputError
        A word that is no ``NAME=VALUE``, a parameter that the claim does not have, a value of another form, or one for
        which the claim cannot be computed.
    """
    chosen: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise InputError("--with", f"expected NAME=VALUE, got {word[:60]!r}")
        if name in chosen:
            raise InputError("--with", f"expected each parameter once, got {name} twice")
        try:
            claim.expect_parameter(name)
        except InputError as error:
            raise error.within("--with") from error
        chosen[name] = _read(name, value, get_type_hints(claim.check)[name])
    try:
        return in_words(claim.parameters | chosen), claim(**chosen)
    except InputError as error:
        raise _of_the_option(error, words) from error
    except (ArithmeticError, ValueError, LookupError, AssertionError) as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise InputError("--with", f"{claim.id} cannot be computed for {', '.join(words)} ({reason})") from error


def _of_the_option(error: InputError, words: Sequence[str]) -> InputError:
    """Return what a check refuses as a refusal of the option, with what was given; one about a file stays as it is."""
    if error.source:
        return error
    got = "" if ", got " in error.problem else f", got {' '.join(words)}"
    return InputError("--with", error.place, error.problem + got)


def _read(name: str, value: str, kind: Any) -> Any:
    """Return a value of the type of its parameter."""
    several = get_args(kind)
    read, expected = NUMBERS[several[0] if several else kind]
    try:
        if not several:
            return read(value.strip())
        return tuple(read(part.strip()) for part in value.split(",")) if value.strip() else ()
    except (ValueError, LookupError, ZeroDivisionError) as error:
        form = f"{expected}, or several with commas between them" if several else expected
        raise InputError("--with", f"{name}: expected {form}, got {value[:60]!r}") from error
