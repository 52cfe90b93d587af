"""How claims and reproduced results are named: by their id, its last part, or the paper.

The kind of a statement, such as ``theorem``, may be spelled out or not, whichever the id has.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from theory.errors import InputError, meant

SHORT = {
    "theorem": "thm",
    "proposition": "prop",
    "corollary": "cor",
    "lemma": "lem",
    "figure": "fig",
    "definition": "def",
}
"""The short spelling of each kind of statement; ids have one or the other, and readers may write either."""


def spelled(name: str) -> str:
    """Return a name with the kind of statement in its short spelling.

    Examples
    --------
    >>> spelled("autoscaling/theorem-3.7"), spelled("thm-3.7"), spelled("figure-4a"), spelled("figures-2-3")
    ('autoscaling/thm-3.7', 'thm-3.7', 'fig-4a', 'figures-2-3')
    """
    paper, slash, last = name.partition("/") if "/" in name else ("", "", name)
    kind, dash, number = last.partition("-")
    return f"{paper}{slash}{SHORT.get(kind, kind)}{dash}{number}"


def chosen(
    names: Iterable[str], identities: Sequence[str], place: str, expected: str, *, ambiguous: bool
) -> tuple[str, ...]:
    """Return the ids that some names mean, in the order of the ids.

    Parameters
    ----------
    names : iterable of str
        Ids, their last parts, or the papers that ids begin with, for all ids of the paper.
    identities : sequence of str
        All ids, ``PAPER/NAME``.
    place, expected : str
        What the names are called in a refusal, and what is expected there.
    ambiguous : bool
        Whether a last part may mean ids of several papers, and then means all of them.

    Raises
    ------
    InputError
        A name that means nothing, or, unless `ambiguous`, several ids of different papers.

    Examples
    --------
    >>> every = ["autoscaling/thm-3.7", "autoscaling/figure-2", "admission/figure-2"]
    >>> chosen(["theorem-3.7", "admission"], every, "ID", "an id", ambiguous=False)
    ('autoscaling/thm-3.7', 'admission/figure-2')
    >>> chosen(["fig-2"], every, "ID", "an id", ambiguous=False)
    Traceback (most recent call last):
    theory.errors.InputError: ID: expected an id, got 'fig-2'; did you mean autoscaling/figure-2 or admission/figure-2?
    """
    wanted: set[str] = set()
    for name in names:
        short = spelled(name)
        named = [one for one in identities if short in _names_of(one)]
        papers = {one.partition("/")[0] for one in named}
        if not named or (len(papers) > 1 and not ambiguous):
            near = _one_of(named) if named else _like(name, identities)
            raise InputError(place, f"expected {expected}, got {name!r}{near}")
        wanted.update(named)
    return tuple(one for one in identities if one in wanted)


def _names_of(identity: str) -> set[str]:
    """Return what an id may be called, in short spelling: itself, its paper, its last part."""
    paper, _, last = identity.partition("/")
    return {spelled(identity), paper, spelled(last), *last.split("/")}


def _one_of(identities: Sequence[str]) -> str:
    """Return the end of a sentence that asks which of several ids is meant."""
    *others, last = identities
    return f"; did you mean {', '.join(others)} or {last}?"


def _like(name: str, identities: Collection[str]) -> str:
    """Return the end of a sentence that asks for a claim like a wrong name: one of its number, if there is one.

    Examples
    --------
    >>> _like("autoscaling/teorem-3.7", ["autoscaling/thm-3.7", "autoscaling/theorem-6.1"])
    '; did you mean autoscaling/thm-3.7?'
    """
    spellings = sorted({part for one in identities for part in (one, *one.split("/"))})
    number = re.findall(r"\d+", name)
    numbered = [one for one in spellings if number and re.findall(r"\d+", one) == number]
    return meant(name, numbered) or meant(name, spellings)
