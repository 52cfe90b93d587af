"""Answers of ``packproof worst``."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, UnsetType

from bounds.answers.record import HIDDEN, Answer, Exact, Head, Of
from bounds.answers.shared import CommandAnswer


class Worst(CommandAnswer):
    """The answer of ``worst``: ratio, exact and instance are attained, the infimum is approached."""

    ratio: Annotated[float, Head("greedy reward, of the optimal reward", share=True)]
    exact: Annotated[Exact, Head("the same, exactly")]
    infimum: Annotated[float, Head("approached as rewards go to their ties", share=True)]
    infimum_exact: Annotated[Exact, Of("infimum")]
    is_worst: Annotated[bool, Head("every order of exhaustion was decided")]
    complete: Annotated[bool, Head("the search came to its end")]
    starts: Annotated[int, Head("starts of the search")]
    workload: Annotated[dict[str, Exact], Head("workload, jobs per server", by="type")]
    rewards: Annotated[dict[str, Exact], Head("reward", by="type")]
    instance: Annotated[dict[str, Any], HIDDEN]


class BySize(CommandAnswer):
    """The answer of ``worst --types``: the least value found, beside the bound that no instance goes below."""

    ratio: Annotated[float, Head("greedy reward, of the optimal reward", share=True)]
    exact: Annotated[Exact, Head("the same, exactly")]
    infimum: Annotated[float, HIDDEN]
    infimum_exact: Annotated[Exact, Of("infimum")]
    is_worst: Annotated[bool, HIDDEN]
    complete: Annotated[bool, Head("the search came to its end")]
    types: int
    resources: int
    bound: Annotated[float, Head("proved for every instance of this size", share=True)]
    bound_exact: Annotated[Exact, Of("bound"), Head("the same bound, exactly")]
    attained: Annotated[bool, Head("the bound is attained")]
    chain: Annotated[Skeleton | None, Head("configurations of the worst case")]
    refuted: Annotated[int, Head("chains that would attain less: refuted on these resources")]
    undecided: Annotated[int, Head("chains that would attain less: given up undecided")]
    workload_decided: Annotated[bool, Head("no workload of these types is worse")]
    workload: Annotated[dict[str, Exact], Head("workload, jobs per server", by="type")]
    rewards: Annotated[dict[str, Exact], Head("reward", by="type")]
    instance: Annotated[dict[str, Any], HIDDEN]
    certificate: Annotated[str | UnsetType, Head("kind of the certificate")] = UNSET


class Skeleton(Answer):
    """Jobs of each type that fill a server alone, and that the optimal configuration holds."""

    alone: Annotated[list[int], Head("jobs of each type that fill a server alone")]
    best: Annotated[list[int], Head("jobs of each type in the optimal configuration")]
