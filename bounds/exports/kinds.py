"""The formats of exports and the kinds of certificates that each takes: what the help and the documentation show."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """A format for tools of other people.

    Attributes
    ----------
    tools : str
        Which tools read it.
    states : str
        What its files state.
    kinds : tuple of str
        The kinds of certificates that it takes, as their field ``kind`` has them.
    only : str
        Which certificates of these kinds, where it does not take all of them.
    """

    tools: str
    states: str
    kinds: tuple[str, ...]
    only: str = ""

    def takes(self) -> str:
        """Return which certificates it takes.

        Examples
        --------
        >>> TABLE["lrs"].takes(), TABLE["smtlib"].takes()
        ('region (with facets)', 'assignment, region, throughput')
        """
        return f"{', '.join(self.kinds)}{f' ({self.only})' if self.only else ''}"


TABLE = {
    "smtlib": Format(
        "z3, cvc5",
        '"no configuration is worth more than its server", a query each',
        ("assignment", "region", "throughput"),
    ),
    "lp": Format(
        "GLPK",
        "the exact linear programs",
        ("assignment", "region", "throughput", "allocation"),
        "of allocations those by c-drfh, cdrf and tsf",
    ),
    "lrs": Format("lrs, cdd", "facets and vertices of a region", ("region",), "with facets"),
}
"""The formats by name."""

FORMATS: dict[str, tuple[str, ...]] = {name: one.kinds for name, one in TABLE.items()}
"""The kinds of certificate that each format takes."""


def formats_in_words() -> str:
    """Return the formats with their tools.

    Examples
    --------
    >>> formats_in_words()
    'smtlib (z3, cvc5), lp (GLPK) or lrs (lrs, cdd)'
    """
    *others, last = (f"{name} ({one.tools})" for name, one in TABLE.items())
    return f"{', '.join(others)} or {last}"


def kinds_in_words() -> str:
    """Return which kinds of certificates each format takes, and that there are others."""
    formats = "; ".join(f"{name} takes {one.takes()}" for name, one in TABLE.items())
    return f"Of the kinds of certificates {formats}. Other kinds, such as those of worst and attack, have no export."
