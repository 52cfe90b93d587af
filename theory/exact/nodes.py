"""How long a question may search by branch and bound: a limit in nodes, which is the same on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

NODES = 100_000_000
"""Nodes of branch and bound that a question may take, unless `allowing` says otherwise: five seconds and more."""

_ALLOWED: ContextVar[int] = ContextVar("_ALLOWED", default=NODES)


@contextmanager
def allowing(nodes: int) -> Iterator[None]:
    """Let every question within the block take so many nodes of branch and bound, for grids too fine for a table."""
    token = _ALLOWED.set(nodes)
    try:
        yield
    finally:
        _ALLOWED.reset(token)


class Nodes:
    """The nodes of branch and bound that are left for a question, which may be many searches.

    Parameters
    ----------
    most : int, optional
        What `allowing` says, or `NODES`, where left out.
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = self.left = _ALLOWED.get() if most is None else most
