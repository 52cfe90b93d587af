"""What came out of an attack."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

SECONDS = 10.0
"""CPU seconds beyond which an answer counts as an exhaustion."""


@dataclass
class Report:
    """What came out of an attack: how often each, what was wrong, the slowest answer, and how many were tried."""

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")
    tried: int = 0

    def took(self, seconds: float, what: str, most: float = SECONDS) -> None:
        """Take note of the time of one answer, which is wrong if it is more than `most` seconds."""
        self.slowest = max(self.slowest, (seconds, what))
        if seconds > most:
            self.wrong.append(f"{what}: {seconds:.1f} s")

    def __str__(self) -> str:
        counts = ", ".join(f"{n:,} {outcome}" for outcome, n in self.outcomes.most_common())
        lines = [f"  {counts}; wrong: {len(self.wrong)}; slowest {self.slowest[0]:.2f} s ({self.slowest[1]})"]
        return "\n".join(lines + [f"  WRONG {entry}" for entry in self.wrong[:20]])
