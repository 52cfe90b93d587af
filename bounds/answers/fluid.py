"""Answers of ``packproof fluid`` and of ``packproof simulate --against-fluid``."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from bounds.answers.record import Answer, Ends, Of
from bounds.answers.shared import CommandAnswer


class Converged(CommandAnswer):
    """Distances from the fluid path by size, and how fast they fall."""

    policy: str
    servers: list[int]
    distances: list[list[float]]
    slope: Slope
    time: list[float]
    fluid: dict[str, list[float]]
    greedy_reward: float
    late_rewards: list[list[float]]
    gap_slope: Slope | None


class Slope(Answer):
    """A fitted exponent with its 95 % interval."""

    mean: float
    ci95: Annotated[Ends, Of("")]


class FluidAnswer(CommandAnswer):
    """The answer of ``fluid``."""

    time: list[float]
    jobs: dict[str, list[float]]
    reward: list[float]
    admitted: dict[str, list[float]]
    assignment: list[Mass]
    equilibrium_reward: float
    equilibrium: list[Share]
    modes: list[RegimeRow]
    draining_limits: bool
    gross_margin: float
    exact: bool
    error: float
    time_within: dict[str, float | None]


class Mass(Answer):
    """A configuration and its fraction of the servers over time."""

    configuration: dict[str, int]
    fraction: list[float]


class Share(Answer):
    """A configuration and its fraction of the servers."""

    configuration: dict[str, int]
    fraction: float


class RegimeRow(Answer):
    """What happens between two switches; the keys `from` and `mode` are those of the published answer."""

    from_: float = field(name="from")
    until: float
    mode: str
    follows: list[Followed]
    drains: list[dict[str, int]]
    blocked: list[str]


class Followed(Answer):
    """A configuration that is followed, and the type that drives it."""

    configuration: dict[str, int]
    driver: str | None
