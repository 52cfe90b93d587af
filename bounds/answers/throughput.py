"""Answers of ``packproof throughput``."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType

from bounds.answers.record import HIDDEN, NOTES, Answer, Exact, Head, Of
from bounds.answers.shared import CommandAnswer


class Throughput(CommandAnswer):
    """The answer of ``throughput``; workloads are on all servers."""

    maximum: Annotated[Maximum, Head("maximum supportable workload, jobs on all servers")]
    gap: Annotated[float, Head("gap between the bounds", digits=3, share=True)]
    reached: Annotated[bool, Head("the gap asked for is reached")]
    cells: Annotated[int, Head("cells of the law")]
    servers: int
    mean_size: Annotated[Exact, Head("mean size, of a server")]
    vqs: Annotated[float, HIDDEN]
    vqs_exact: Annotated[Exact, Of("vqs"), Head("VQS supports at least, jobs on all servers")]
    vqs_J: Annotated[int, Head("J of VQS")]  # noqa: N815 (a key of JSON)
    vqs_lost: Annotated[float, Head("jobs below 2^-J, which VQS rounds up", digits=4, share=True)]
    vqs_guarantee: Annotated[float, Head("VQS supports for any law (2/3), jobs on all servers")]
    best_fit_guarantee: Annotated[float, Head("Best-Fit supports for any law (1/2), jobs on all servers")]
    rounds: Annotated[list[Round], Head("how the bounds closed")]
    partition: Annotated[Rounded | UnsetType, Head("the partition of the file")] = UNSET
    bins: Annotated[Bins | UnsetType, Head("bins for the jobs")] = UNSET
    notes: Annotated[list[str] | UnsetType, NOTES] = UNSET


class Maximum(Answer):
    """The maximum supportable workload, between exact bounds."""

    lower: Annotated[float, Head("at least")]
    upper: Annotated[float, Head("at most")]
    exact: Annotated[Exact | None, Head("exactly")]
    lower_exact: Annotated[Exact, Of("lower")]
    upper_exact: Annotated[Exact, Of("upper")]


class Round(Answer):
    """A round of the bracket."""

    cells: int
    lower: Annotated[float, Head("at least")]
    upper: Annotated[float, Head("at most")]


class Rounded(Answer):
    """Workloads of the rounded queues of the file's partition; null where there is no bound."""

    upper_rounded: Annotated[Exact | None, Head("sizes rounded up to it, jobs on all servers")]
    lower_rounded: Annotated[Exact | None, Head("sizes rounded down to it, jobs on all servers")]


class Bins(Answer):
    """Bins for a list of jobs: least servers in fractions, by any configurations and by proper ones.

    They are null where the configuration program was not solved. A configuration is proper if it holds no more jobs of
    a size than there are; `at_least` is the second number, rounded up, or a bound by the sizes alone, and `at_most` the
    bins of the best packing that is known.
    """

    jobs: int
    configurations: Annotated[Exact | None, Head("servers in fractions, any configurations")]
    proper: Annotated[Exact | None, Head("servers in fractions, proper configurations")]
    at_least: Annotated[int, Head("bins, at least")]
    at_most: Annotated[int, Head("bins, at most")]


class ItemBins(CommandAnswer):
    """The least number of bins for a list of items lies between `at_least` and `at_most`, and they are proved.

    At the prices of `kinds` the items are worth more than ``at_least - 1`` bins can be, whatever these hold (where
    one resource alone binds, `at_least` may be proved by bins that hold no more items of a kind than there are);
    `packing` has places for all items in `at_most` bins.
    """

    items: int
    capacity: Annotated[dict[str, Exact], Head("capacity of a bin", by="resource")]
    at_least: Annotated[int, Head("bins, at least")]
    at_most: Annotated[int, Head("bins, at most")]
    exact: Annotated[bool, HIDDEN]
    kinds: Annotated[list[ItemKind], HIDDEN]
    packing: Annotated[list[Filled], HIDDEN]
    notes: Annotated[list[str] | UnsetType, NOTES] = UNSET


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
