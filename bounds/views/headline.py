"""What a report says first: one large number, and a sentence of at most 25 words.

The sentence of a subject (`sentence` of its view) follows, with all that was found; here is what a reader takes away.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import singledispatch
from math import floor, isfinite, log10
from typing import Any, NamedTuple

from msgspec import UNSET

from bounds.answers.admission import (
    BeliefAnswer,
    ComparedAdmission,
    DecideAnswer,
    ExactAdmission,
    FittedAdmission,
    LawAnswer,
    MomentsAnswer,
    OptimalAdmission,
    SimulatedAdmission,
    TunedAdmission,
)
from bounds.answers.allocation import JudgedShares
from bounds.answers.assignment import Approximated, Solved
from bounds.answers.attack import Attack, OnlineAttack
from bounds.answers.catalogue import Catalogue
from bounds.answers.claims import Asked
from bounds.answers.comparison import ComparedLoss, ComparedQueues
from bounds.answers.experiment import ExperimentStatus, Summarised
from bounds.answers.exports import CheckedCertificate, ExportAnswer
from bounds.answers.fluid import Converged, FluidAnswer
from bounds.answers.log import LogAnswer
from bounds.answers.plan import PlanAnswer
from bounds.answers.region import RegionAnswer
from bounds.answers.sharing import AllInMotion, AllShares, CheckedShares, InMotion, NumericShares, Shares
from bounds.answers.simulation import SimulatedLoss, SimulatedQueue
from bounds.answers.throughput import ItemBins, Throughput
from bounds.answers.worst import BySize, Worst
from bounds.views.checked import as_float
from bounds.views.exports import claimed
from bounds.views.pictures import drawn, plain
from bounds.views.spans import lasting, moment
from bounds.views.text import many


class Headline(NamedTuple):
    """A number, or a verdict, and what it is in a sentence; `dated` says when a log begins and how long it lasts."""

    number: str
    words: str
    dated: str = ""


@singledispatch
def headline(answer: Any) -> Headline | None:
    """Return the first lines of a report; None where an answer has no number, as nothing was measured."""
    raise TypeError(type(answer).__name__)


@headline.register
def _plan(answer: PlanAnswer) -> Headline:
    dated = _dated(answer.log.begins, answer.log.seconds)
    if answer.servers is None or answer.policy is None:
        return Headline("none", "No number of servers that was tried meets the target on this log.", dated)
    row = next((one for one in answer.policies if one.policy == answer.policy), None)
    is_share = answer.target.kind == "accepted"
    aim = f"{share(answer.target.value)} accepted" if is_share else f"{plain(answer.target.value)} s of mean waiting"
    reached = "" if row is None else share(row.attained) if is_share else f"{plain(row.attained)} s"
    server, meet, attain = ("Server", "meets", "attains") if answer.servers == 1 else ("Servers", "meet", "attain")
    attained = f", and {attain} {reached} in simulation" if reached else ""
    words = f"{server} under {drawn(answer.policy, 40)} {meet} the target of {aim} on this log{attained}."
    doubt = " The log is in doubt." if answer.log.doubts else ""
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
    return Headline(_beside_one(intensity), f"{verdict}: this is its traffic intensity, and the limit is 1.")


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
    number = _from_to(plain(answer.maximum.lower), plain(answer.maximum.upper))
    return Headline(number, f"Jobs are the most that any policy can support on {many(answer.servers, 'server')}.")


@headline.register
def _items(answer: ItemBins) -> Headline:
    words = f"Bins are needed for {many(answer.items, 'item')}"
    if answer.at_least == answer.at_most:
        return Headline(f"{answer.at_least:,}", f"{words}: a packing attains this number, and a proof excludes fewer.")
    return Headline(_from_to(f"{answer.at_least:,}", f"{answer.at_most:,}"), f"{words}; both bounds are proved.")


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
def _compared_loss(answer: ComparedLoss) -> Headline | None:
    rewards = {one.policy: one.reward.mean for one in answer.policies if one.reward.mean is not None}
    names = sorted(rewards, key=rewards.__getitem__, reverse=True)
    return _best(names, rewards, "This is the reward per server", "largest", "no other policy has more")


@headline.register
def _compared_queues(answer: ComparedQueues) -> Headline | None:
    waiting = {one.policy: one.queue.mean for one in answer.policies if one.queue.mean is not None}
    names = sorted(waiting, key=waiting.__getitem__)
    return _best(names, waiting, "Jobs wait on average", "fewest", "under no other policy fewer wait")


def _best(names: Sequence[str], means: Mapping[str, float], what: str, most: str, equal: str) -> Headline | None:
    """Return the number of the first of policies in their order, beside that of the last; None without policies."""
    if not names:
        return None
    best, worst = means[names[0]], means[names[-1]]
    words = f"{what} under {drawn(names[0], 40)}"
    if best == worst:
        return Headline(plain(best), f"{words}; {equal} on the same jobs.")
    return Headline(
        plain(best), f"{words}, the {most} on the same jobs; {plain(worst)} under {drawn(names[-1], 40)} is the worst."
    )


@headline.register
def _converged(answer: Converged) -> Headline | None:
    if not isfinite(answer.slope.mean):
        return None
    words = f"The distance from the fluid path under {drawn(answer.policy, 40)} falls with this power of the number"
    return Headline(plain(answer.slope.mean), f"{words} of servers.")


@headline.register
def _fluid(answer: FluidAnswer) -> Headline:
    goal = plain(answer.equilibrium_reward)
    words = f"This is the reward per server at time {answer.time[-1]:g}; the greedy assignment earns {goal}."
    return Headline(plain(answer.reward[-1]), words)


@headline.register
def _summarised(answer: Summarised) -> Headline:
    return _finished(answer.finished, answer.cells, f", at {many(len(answer.groups), 'point')} of the grid")


@headline.register
def _status(answer: ExperimentStatus) -> Headline:
    unknown = f"; {answer.unknown:,} with code of the grid's own are not counted" if answer.unknown else ""
    return _finished(answer.finished, answer.cells, unknown)


def _finished(finished: int, cells: int, more: str) -> Headline:
    return Headline(f"{finished:,}", f"Cells of {cells:,} {'is' if finished == 1 else 'are'} finished{more}.")


# ---- attacks, certificates and claims --------------------------------------------------------------------------------


@headline.register
def _attack(answer: Attack) -> Headline:
    rule, ratio = drawn(answer.rule.rpartition("/")[2], 40), as_float(answer.ratio)
    if ratio >= 1:
        return Headline("100 %", f"On all instances that the search judged, {rule} attains all that is possible.")
    certainty = "this is exact" if answer.certified else "it may be less"
    return Headline(
        share(ratio), f"On the worst instance found, {rule} attains this share of what is possible; {certainty}."
    )


@headline.register
def _online_attack(answer: OnlineAttack) -> Headline:
    policy = f"{drawn(answer.policy.rpartition('/')[2], 40)} on {many(answer.servers, 'server')}"
    if answer.share is not None:
        words = "This share of the optimal reward is earned on the worst instance found under"
        return Headline(share(answer.share.mean), f"{words} {policy}, in simulation.")
    if as_float(answer.ratio) >= 1:
        return Headline("none", f"No growth of queues below traffic intensity 1 was confirmed under {policy}.")
    doubt = "" if answer.confirmed else "; a fresh simulation did not confirm it"
    return Headline(
        _beside_one(as_float(answer.ratio)), f"At this traffic intensity queues grow under {policy}{doubt}."
    )


@headline.register
def _checked(answer: CheckedCertificate) -> Headline:
    if not answer.valid:
        return Headline("refused", "The certificate proves nothing: its evidence was refused.")
    proved = len(list(claimed(answer.claims)))
    return Headline(f"{proved:,}", f"{'Value is' if proved == 1 else 'Values are'} proved by this certificate.")


@headline.register
def _exported(answer: ExportAnswer) -> Headline:
    verb = "File states" if len(answer.files) == 1 else "Files state"
    return Headline(f"{len(answer.files):,}", f"{verb} what the certificate claims, in the format {answer.format}.")


@headline.register
def _asked(answer: Asked) -> Headline:
    verdict = {True: "holds", False: "fails", None: "skipped"}[answer.holds]
    parameters = " and ".join(f"{name}={value}" for name, value in answer.parameters.items())
    words = f"This is the outcome of what {drawn(answer.id, 40)} prints"
    return Headline(verdict, f"{words}, for {drawn(parameters, 60)}." if parameters else f"{words}.")


@headline.register
def _catalogue(answer: Catalogue) -> Headline:
    prices = [one.price_float for one in answer.types]
    cost = f", from {min(prices):g} to {max(prices):g} US dollars an hour on demand" if prices else ""
    return Headline(f"{len(prices):,}", f"VM types have this pattern in their names{cost}.")


# ---- sharing ---------------------------------------------------------------------------------------------------------


@headline.register
def _shares(answer: Shares | NumericShares) -> Headline:
    words = "Jain's index, which is 1 where all users have equal shares, is this for the allocation by"
    return Headline(plain(answer.jain_index), f"{words} {answer.mechanism}.")


@headline.register
def _all_shares(answer: AllShares) -> Headline:
    fitting = {name: one for name, one in answer.mechanisms.items() if one.feasible is not False} or answer.mechanisms
    best = max(fitting, key=lambda name: fitting[name].jain_index)
    words = f"This is the largest Jain's index of {many(len(fitting), 'mechanism')}, by {best}; equal shares have 1."
    return Headline(plain(fitting[best].jain_index), words)


@headline.register
def _judged_shares(answer: JudgedShares) -> Headline:
    if not answer.feasible:
        wrong = len(answer.overloads) + len(answer.misplaced) + len(answer.unwanted or ())
        words = "Load, placement or cap is" if wrong == 1 else "Loads, placements or caps are"
        return Headline(f"{wrong:,}", f"{words} not respected by these tasks.")
    decided = [one.holds for one in answer.properties.values() if one.holds is not None]
    words = f"Of {len(decided)} properties that were decided fail; the tasks fit this cluster."
    return Headline(f"{decided.count(False):,}", words)


@headline.register
def _checked_shares(answer: CheckedShares) -> Headline:
    verdict = "they are valid" if answer.valid else "they are refused"
    words = f"The stored shares are this far from the conditions of {answer.mechanism}"
    if answer.violation is None:
        return Headline("refused", f"No tolerance excuses the stored shares of {answer.mechanism}.")
    return Headline(plain(answer.violation), f"{words}, and {plain(answer.tolerance)} is allowed: {verdict}.")


@headline.register
def _in_motion(answer: InMotion | AllInMotion) -> Headline:
    runs = answer.mechanisms if isinstance(answer, AllInMotion) else {answer.mechanism: answer}
    totals = [sum(tasks[-1] for tasks in run.tasks.values()) for run in runs.values()]
    first = next(iter(runs.values()))
    users = many(sum(here[-1] for here in first.present.values()), "user")
    under = f"under {answer.mechanism}" if len(runs) == 1 else f"under {len(runs)} mechanisms"
    number = _from_to(plain(min(totals)), plain(max(totals)))
    return Headline(number, f"Tasks of {users} run at the end, time {first.time[-1]:g}, {under}.")


# ---- admission -------------------------------------------------------------------------------------------------------


@headline.register
def _belief(answer: BeliefAnswer) -> Headline:
    words = "This is the mean of mu, per hour, by the exact belief; the plug-in of the paper says"
    return Headline(plain(answer.exact.mean_mu), f"{words} {plain(answer.plug_in.mean_mu)}.")


@headline.register
def _compared_admission(answer: ComparedAdmission) -> Headline | None:
    used = {one.policy: one.utilisation.mean for one in answer.rows if one.utilisation.mean is not None}
    if not used or answer.bound.mean is None:
        return None
    best = max(used, key=used.__getitem__)
    words = f"Of the cores are in use under {drawn(best, 40)}, the most at this SLA; no policy can use more than"
    return Headline(share(used[best]), f"{words} {share(answer.bound.mean)}.")


@headline.register
def _decide(answer: DecideAnswer) -> Headline:
    if answer.verdict is UNSET or answer.needed is UNSET or answer.threshold is UNSET:
        return Headline(
            plain(answer.first), "Cores are the threshold above which a policy by the first moment accepts."
        )
    reason = f"it needs {plain(answer.needed)} of the threshold {plain(answer.threshold)}"
    reason = reason if answer.fits else "the deployment does not fit"
    return Headline(answer.verdict, f"This is the decision by the {answer.policy} moment: {reason}.")


@headline.register
def _exact_admission(answer: ExactAdmission) -> Headline:
    return Headline(
        share(answer.utilisation), f"Of the cores are in use; {share(answer.sla)} of scale-outs are refused."
    )


@headline.register
def _fitted(answer: FittedAdmission) -> Headline:
    doubt = many(len(answer.doubted), "quantity") if len(answer.doubted) == 1 else f"{len(answer.doubted)} quantities"
    verdict = f"tests reject the model in {doubt}" if answer.doubted else "no test rejects the model"
    return Headline(f"{answer.log.deployments:,}", f"Deployments of the log were fitted; {verdict}.")


@headline.register
def _law(answer: LawAnswer) -> Headline:
    words = f"Cores are the mean size of a deployment of {many(answer.size, 'core')} in {plain(answer.time)} h"
    return Headline(plain(answer.mean), f"{words}; it has none with probability {plain(answer.zero)}.")


@headline.register
def _moments(answer: MomentsAnswer) -> Headline | None:
    if not answer.moments:
        return None
    row = answer.moments[-1]
    words = f"Cores are the mean size of a deployment of {many(answer.size, 'core')} in {plain(row.time)} h."
    return Headline(plain(row.exact.mean), words)


@headline.register
def _optimal(answer: OptimalAdmission) -> Headline:
    number = _from_to(share(answer.lower, down=True), share(answer.upper))
    return Headline(
        number, f"Of the cores are used by the best policy that refuses at most {share(answer.sla)} of scale-outs."
    )


@headline.register
def _simulated_admission(answer: SimulatedAdmission) -> Headline | None:
    if answer.utilisation.mean is None:
        return None
    refused = "" if answer.sla.mean is None else f"; {share(answer.sla.mean)} of scale-outs are refused"
    return Headline(
        share(answer.utilisation.mean), f"Of the cores are in use under the {answer.policy} policy{refused}."
    )


@headline.register
def _tuned(answer: TunedAdmission) -> Headline:
    proven = "none is proven to" if answer.safe is None else f"{plain(answer.safe.threshold)} is proven to"
    words = f"This is the largest threshold of the {answer.policy} policy that is estimated to meet the SLA"
    return Headline(plain(answer.threshold), f"{words}; {proven}.")


# ---- how numbers are written -----------------------------------------------------------------------------------------


def _dated(begins: float | None, span: float) -> str:
    """Return when a log begins, and how long it lasts."""
    date = f"begins on {moment(begins, 0.0).partition('T')[0]} and " if begins is not None else ""
    return f"The log {date}lasts {three_digits(lasting(span))}."


def _from_to(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _beside_one(value: float) -> str:
    """Write a number that has 1 as its limit: one next to 1 is not written as 1."""
    return plain(value) if value == 1 or plain(value) != "1" else f"{value:.7g}"


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
