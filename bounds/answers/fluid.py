"""Answers of ``packproof fluid`` and of ``packproof simulate --against-fluid``."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, field

from bounds.answers.record import HIDDEN, Answer, Ends, Head, Of, expect_lengths
from bounds.answers.shared import CommandAnswer
from theory.errors import quoted


class Converged(CommandAnswer):
    """Distances from the fluid path by size, and how fast they fall."""

    policy: str
    servers: Annotated[list[int], Meta(min_length=1), HIDDEN]
    distances: Annotated[list[Annotated[list[float], Meta(min_length=1)]], HIDDEN]
    slope: Annotated[Slope, Head("the distance falls like L to the power [95 %]", digits=3)]
    time: Annotated[list[float], HIDDEN]
    fluid: Annotated[dict[str, list[float]], HIDDEN]
    greedy_reward: Annotated[float, Head("reward of the greedy assignment, per server")]
    late_rewards: Annotated[list[list[float]], HIDDEN]
    gap_slope: Annotated[Slope | None, Head("the gap to that reward falls like L to the power [95 %]", digits=3)]

    def __post_init__(self) -> None:
        """Refuse rows by size, runs of a size and values over time that are not as many as they must be."""
        by_size = {"distances": self.distances, "late_rewards": self.late_rewards}
        expect_lengths(len(self.servers), "servers", by_size)
        runs = {f"{name}[{i}]": row for name, rows in by_size.items() for i, row in enumerate(rows)}
        expect_lengths(len(self.distances[0]), "distances[0]", runs)
        expect_lengths(len(self.time), "time", {f"fluid.{name}": path for name, path in self.fluid.items()})


class Slope(Answer):
    """A fitted exponent with its 95 % interval."""

    mean: float
    ci95: Annotated[Ends, Of("")]


class FluidAnswer(CommandAnswer):
    """The answer of ``fluid``."""

    time: Annotated[list[float], Meta(min_length=1), HIDDEN]
    jobs: Annotated[dict[str, list[float]], HIDDEN]
    reward: Annotated[list[float], HIDDEN]
    admitted: Annotated[dict[str, list[float]], HIDDEN]
    assignment: Annotated[list[Mass], HIDDEN]
    equilibrium_reward: Annotated[float, Head("reward of the greedy assignment, per server")]
    equilibrium: Annotated[list[Share], Head("greedy assignment")]
    modes: Annotated[list[RegimeRow], Head("regimes")]
    draining_limits: Annotated[bool, Head("draining sets the pace somewhere")]
    gross_margin: Annotated[float, HIDDEN]
    exact: Annotated[bool, Head("every rate is that of the exact limit, and none a mean")]
    error: Annotated[float, Head("numerical error in jobs and servers per server, about", digits=1)]
    time_within: Annotated[dict[str, float | None], HIDDEN]

    def __post_init__(self) -> None:
        """Refuse values over time that are not as many as the times."""
        by_type = {"jobs": self.jobs, "admitted": self.admitted}
        over_time = {f"{name}.{key}": path for name, paths in by_type.items() for key, path in paths.items()}
        masses = {f"assignment[{i}].fraction": mass.fraction for i, mass in enumerate(self.assignment)}
        expect_lengths(len(self.time), "time", {"reward": self.reward, **over_time, **masses})


class Mass(Answer):
    """A configuration and its fraction of the servers over time."""

    configuration: dict[str, int]
    fraction: list[float]


class Share(Answer):
    """A configuration and its fraction of the servers."""

    configuration: dict[str, int]
    fraction: Annotated[float, Head("of the servers", share=True)]


class RegimeRow(Answer):
    """What happens between two switches; the keys `from` and `mode` are those of the published answer."""

    from_: Annotated[float, Head("from time", digits=5)] = field(name="from")
    until: Annotated[float, Head("until", digits=5)]
    mode: Annotated[str, Head("regime")]
    follows: Annotated[list[Followed], Head("servers are filled with")]
    drains: Annotated[list[dict[str, int]], Head("servers are emptied of")]
    blocked: Annotated[list[str], Head("refused while no slot is free")]


class Followed(Answer):
    """A configuration that is followed, and the type that drives it."""

    configuration: dict[str, int]
    driver: str | None

    def in_words(self) -> str:
        """Return the configuration and the type that drives it."""
        parts = [f"{count} {quoted(name)}" for name, count in self.configuration.items() if count]
        return " + ".join(parts) + (f" (by {quoted(self.driver)})" if self.driver else "")
