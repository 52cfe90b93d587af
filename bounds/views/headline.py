"""What a report says first: one large number, and a sentence of at most 25 words.

The sentence of a subject (`sentence` of its view) follows, with all that was found; here is what a reader takes away.
"""

from __future__ import annotations

import re
from functools import singledispatch
from math import floor, log10
from typing import Any, NamedTuple

from bounds.answers.assignment import Approximated, Solved
from bounds.answers.log import LogAnswer
from bounds.answers.plan import PlanAnswer
from bounds.answers.region import RegionAnswer
from bounds.answers.sharing import Shares
from bounds.answers.simulation import SimulatedLoss, SimulatedQueue
from bounds.answers.throughput import Throughput
from bounds.answers.worst import BySize, Worst
from bounds.views.checked import as_float
from bounds.views.pictures import drawn, plain
from bounds.views.spans import lasting, moment
from bounds.views.text import many

DOUBTED = "The log is in doubt"  # with these words a plan's sentence begins where its log looks wrong


class Headline(NamedTuple):
    """A number, and what it is in a sentence; `dated` says when a log begins and how long it lasts."""

    number: str
    words: str
    dated: str = ""


@singledispatch
def headline(answer: Any) -> Headline | None:
    """Return the first lines of a report; None for answers that are more than one number."""
    del answer
    return None


@headline.register
def _plan(answer: PlanAnswer) -> Headline:
    dated = _dated(answer.log.begins, answer.log.seconds)
    if answer.servers is None or answer.policy is None:
        return Headline("none", "No number of servers that was tried meets the target on this log.", dated)
    row = next((one for one in answer.policies if one.policy == answer.policy), None)
    is_share = answer.target.kind == "accepted"
    aim = f"{share(answer.target.value)} accepted" if is_share else f"{plain(answer.target.value)} s of mean waiting"
    reached = "" if row is None else share(row.attained) if is_share else f"{plain(row.attained)} s"
    attained = f", and attain {reached} in simulation" if reached else ""
    words = f"Servers under {drawn(answer.policy, 40)} meet the target of {aim} on this log{attained}."
    doubt = " The log is in doubt." if answer.sentence.startswith(DOUBTED) else ""
    return Headline(f"{answer.servers:,}", words + doubt, dated)


@headline.register
def _log(answer: LogAnswer) -> Headline:
    wrong = f"{many(len(answer.doubts), 'doubt')} about it" if answer.doubts else "nothing looks wrong"
    return Headline(f"{answer.tasks:,}", f"Tasks are in this log; {wrong}.", _dated(answer.begins, answer.span))


@headline.register
def _solved(answer: Solved) -> Headline:
    least = share(as_float(answer.guarantee_stagewise), down=True)
    words = f"Greedy reservation attains this share of the optimal reward; its run alone guarantees at least {least}."
    return Headline(share(answer.ratio), words)


@headline.register
def _approximated(answer: Approximated) -> Headline:
    words = "Greedy reservation with an approximate oracle is guaranteed at least this share of the optimal reward."
    return Headline(share(as_float(answer.guarantee_stagewise), down=True), words)


@headline.register
def _region(answer: RegionAnswer) -> Headline:
    intensity = as_float(answer.traffic_intensity)
    verdict = "The servers can carry the workload" if answer.supportable else "The servers cannot carry the workload"
    if intensity == 1:
        verdict = "The workload is on the boundary, where queues are not stable"
    # a number next to 1 is not written as 1
    number = plain(intensity) if intensity == 1 or plain(intensity) != "1" else f"{intensity:.7g}"
    return Headline(number, f"{verdict}: this is its traffic intensity, and the limit is 1.")


@headline.register
def _worst(answer: Worst) -> Headline:
    certainty = "no workload of these types is worse" if answer.is_worst else "worse instances may exist"
    words = f"Greedy reservation attains this share of the optimal reward on the worst instance found; {certainty}."
    return Headline(share(answer.ratio), words)


@headline.register
def _by_size(answer: BySize) -> Headline:
    words = "Greedy reservation attains this share of the optimal reward on the worst instance found of this size"
    return Headline(share(answer.ratio), f"{words}; at least {share(answer.bound, down=True)} is proved.")


@headline.register
def _throughput(answer: Throughput) -> Headline:
    low, high = plain(answer.maximum.lower), plain(answer.maximum.upper)
    number = low if low == high else f"{low} to {high}"
    return Headline(number, f"Jobs are the most that any policy can support on {many(answer.servers, 'server')}.")


@headline.register
def _loss(answer: SimulatedLoss) -> Headline | None:
    if answer.accepted.mean is None:
        return None
    words = f"Jobs are accepted in this share under {drawn(answer.policy, 40)} on {many(answer.servers, 'server')}"
    return Headline(
        share(answer.accepted.mean), f"{words}, on average over {many(answer.replications, 'replication')}."
    )


@headline.register
def _queue(answer: SimulatedQueue) -> Headline | None:
    if answer.queue.mean is None:
        return None
    grows = "; the queue grows beyond doubt" if answer.queue.growth.grows else ""
    words = f"Jobs wait on average under {drawn(answer.policy, 40)} on {many(answer.servers, 'server')}{grows}."
    return Headline(plain(answer.queue.mean), words)


@headline.register
def _shares(answer: Shares) -> Headline:
    words = "Jain's index, which is 1 where all users have equal shares, is this for the allocation by"
    return Headline(plain(answer.jain_index), f"{words} {answer.mechanism}.")


def _dated(begins: float | None, span: float) -> str:
    """Return when a log begins, and how long it lasts."""
    date = f"begins on {moment(begins, 0.0).partition('T')[0]} and " if begins is not None else ""
    return f"The log {date}lasts {lasting(span)}."


def share(value: float, *, down: bool = False) -> str:
    """Write a share in three digits; one below all is never written as all, and a bound from below is rounded down.

    >>> share(0.871774), share(1.0), share(0.99996), share(0.68987, down=True)
    ('87.2 %', '100 %', '99.996 %', '68.9 %')
    """
    digits = 3
    while digits < 12 and value < 1 and f"{100 * value:.{digits}g}" == "100":
        digits += 1
    if down and value > 0:
        step = 10.0 ** (floor(log10(100 * value)) + 1 - digits)
        # a number that is a multiple of the step but for its last bit stays
        value = step * floor(100 * value / step + 1e-9) / 100
    return f"{100 * value:.{digits}g} %"


DECIMAL = re.compile(r"(?<![\w.,/])-?\d[\d,]*\.\d+(?![\w.])")


def three_digits(text: str) -> str:
    """Return text with its decimal numbers in three digits; whole numbers and fractions stay, and so does a 99.9996 %.

    >>> three_digits("13/15 (0.866667)"), three_digits("1,234.56  [0.12345, 99.9996]"), three_digits("99.9996 %")
    ('13/15 (0.867)', '1,235  [0.123, 99.9996]', '99.9996 %')
    """

    def rounded(found: re.Match[str]) -> str:
        value = float(found[0].replace(",", ""))
        if abs(value) >= 1000:
            return f"{value:,.0f}"
        short = f"{value:.3g}"
        # what is next to all, or to a limit of 1, is not written as that
        return found[0] if short in ("1", "100") and float(short) != value else short

    return DECIMAL.sub(rounded, text)
