"""Answers of ``packproof throughput``."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType

from bounds.answers.record import Answer, Exact, Of
from bounds.answers.shared import CommandAnswer


class Throughput(CommandAnswer):
    """The answer of ``throughput``; workloads are on all servers."""

    maximum: Maximum
    gap: float
    reached: bool
    cells: int
    servers: int
    mean_size: Exact
    vqs: float
    vqs_exact: Annotated[Exact, Of("vqs")]
    vqs_J: int  # noqa: N815 (a key of JSON)
    vqs_lost: float
    vqs_guarantee: float
    best_fit_guarantee: float
    rounds: list[Round]
    partition: Rounded | UnsetType = UNSET
    bins: Bins | UnsetType = UNSET
    notes: list[str] | UnsetType = UNSET


class Maximum(Answer):
    """The maximum supportable workload, between exact bounds."""

    lower: float
    upper: float
    exact: Exact | None
    lower_exact: Annotated[Exact, Of("lower")]
    upper_exact: Annotated[Exact, Of("upper")]


class Round(Answer):
    """A round of the bracket."""

    cells: int
    lower: float
    upper: float


class Rounded(Answer):
    """Workloads of the rounded queues of the file's partition; null where there is no bound."""

    upper_rounded: Exact | None
    lower_rounded: Exact | None


class Bins(Answer):
    """Bins for a list of jobs: least servers in fractions, by any configurations and by proper ones.

    They are null where the configuration program was not solved. A configuration is proper if it holds no more jobs of
    a size than there are; `at_least` is the second number, rounded up, or a bound by the sizes alone, and `at_most` the
    bins of the best packing that is known.
    """

    jobs: int
    configurations: Exact | None
    proper: Exact | None
    at_least: int
    at_most: int


class ItemBins(CommandAnswer):
    """The least number of bins for a list of items lies between `at_least` and `at_most`, and they are proved.

    At the prices of `kinds` the items are worth more than ``at_least - 1`` bins can be, whatever these hold (where
    one resource alone binds, `at_least` may be proved by bins that hold no more items of a kind than there are);
    `packing` has places for all items in `at_most` bins.
    """

    items: int
    capacity: dict[str, Exact]
    at_least: int
    at_most: int
    exact: bool
    kinds: list[ItemKind]
    packing: list[Filled]
    notes: list[str] | UnsetType = UNSET


class ItemKind(Answer):
    """Equal items: their sizes, how many there are, and the price of one that proves the lower bound.

    `called` has the names of their rows in the CSV.
    """

    size: dict[str, Exact]
    count: int
    price: Exact
    called: list[str] | UnsetType = UNSET


class Filled(Answer):
    """Equal bins: how many there are, and the places for items in each, by the place of the kind from 0."""

    bins: int
    places: dict[str, int]
