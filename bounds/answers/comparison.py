"""The answers of ``packproof simulate`` with several policies on the same jobs."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from bounds.answers.record import Answer
from bounds.answers.shared import CommandAnswer, Number
from bounds.answers.simulation import SimulatedLoss, SimulatedQueue


class ComparedLoss(CommandAnswer):
    """Policies of loss systems on the same jobs: the answer of each, and what each has more than the first.

    `replications` are those that count: copies of one run count as one.
    """

    policies: Annotated[list[SimulatedLoss], Meta(min_length=1)]
    differences: list[Difference]
    replications: int


class Difference(Answer):
    """Mean of the first policy minus that of the second, over replications that saw the same jobs.

    `number` is one of the numbers of a run as experiments name them: ``reward``, ``acceptance.TYPE``,
    ``utilisation.RESOURCE``, ``queue``, ``delay.p95`` and so on; ``acceptance`` is that of all types together.
    """

    first: str
    second: str
    number: str
    difference: Number


class ComparedQueues(CommandAnswer):
    """Policies of queues on the same jobs: the answer of each, and what each has more than the first.

    `replications` are those that count: copies of one run count as one.
    """

    policies: Annotated[list[SimulatedQueue], Meta(min_length=1)]
    differences: list[Difference]
    replications: int


Compared = ComparedLoss | ComparedQueues
