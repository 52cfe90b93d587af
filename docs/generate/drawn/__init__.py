"""Pictures of claims that no result of a paper shows, computed while the pages are built, in seconds each.

A function without arguments returns a `Drawing`; the decorator `draws` names the claims that show it. The functions
call those that the checks of the claims call, on one of their settings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from bounds.views.panels import Panel, arranged


@dataclass(frozen=True)
class Drawing:
    """Panels with the title of their picture; `columns` side by side, `height` inches each."""

    title: str
    panels: Sequence[Panel]
    columns: int = 1
    height: float = 2.4

    def figure(self) -> Any:
        """Return the picture."""
        return arranged(self.panels, self.title, self.columns, self.height)


Make = Callable[[], Drawing]
PANELS: dict[str, Make] = {}
"""What draws the picture of a claim, by claim."""


def draws(*claims: str) -> Callable[[Make], Make]:
    """Register a function as the one that draws the picture of these claims; it computes once for all of them."""

    def register(make: Make) -> Make:
        once = cache(make)
        for claim in claims:
            assert claim not in PANELS, claim
            PANELS[claim] = once
        return once

    return register


from generate.drawn import queues, reservation, rewards, sharing, sizes, tenants  # noqa: E402, F401 (they register themselves)
