"""The registry of claims: each theorem, figure and table as something that can be checked, and can fail.

A claim is a function ``(level, broken) -> Outcome``. With ``broken=True`` an input or a formula is perturbed; the
outcome must then not be the registered one, which shows that the check can fail.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module

from theory.errors import InputError

PAPERS = ("autoscaling", "ps-dsf", "throughput", "nonpreemptive", "packproof")
"""The papers by key; ``packproof`` stands for results of packproof itself.

Each paper has a folder whose ``CLAIMS`` lists its claims by module; a claim loads no other paper."""


class Level(StrEnum):
    """How much is tried: ``quick`` for every day, ``full`` for larger families and samples."""

    quick = "quick"
    full = "full"


class Evidence(StrEnum):
    """How a claim is known, from strongest to weakest; `refuted` and `skipped` stand apart."""

    proved = "proved"
    certified = "certified"
    numeric = "numeric"
    statistical = "statistical"
    refuted = "refuted"
    skipped = "skipped"


@dataclass(frozen=True)
class Outcome:
    """What checking a claim gave.

    Attributes
    ----------
    computed : str
        What we computed, in words and exact numbers.
    evidence : Evidence
    holds : bool or None
        None if skipped.
    """

    computed: str
    evidence: Evidence
    holds: bool | None


Check = Callable[[Level, bool], Outcome]


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, with the outcome on record.

    Attributes
    ----------
    id : str
        ``paper/name``.
    paper : str
    statement : str
        What is checked, on which family.
    printed : str
        What the paper prints; ``lost`` marks what is missing in the text at hand.
    evidence : Evidence
        The registered rank; `refuted` if the statement as printed fails.
    check : callable
        ``(level, broken) -> Outcome``.
    """

    id: str
    paper: str
    statement: str
    printed: str
    evidence: Evidence
    check: Check

    def is_as_registered(self, outcome: Outcome) -> bool:
        """Return whether an outcome is the one on record ; a skipped claim neither holds nor fails."""
        if outcome.evidence is Evidence.skipped:
            return outcome.holds is None
        return outcome.evidence is self.evidence and outcome.holds is (self.evidence is not Evidence.refuted)


@dataclass(frozen=True)
class Verdict:
    """A claim, its outcome and the time it took."""

    claim: Claim
    outcome: Outcome
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the outcome is the registered one."""
        return self.claim.is_as_registered(self.outcome)


REGISTRY: dict[str, Claim] = {}


def claim(name: str, statement: str, *, printed: str, evidence: Evidence) -> Callable[[Check], Check]:
    """Register a check function as a claim of the paper in whose folder it stands.

    Parameters
    ----------
    name : str
        As listed in ``CLAIMS`` of the folder.
    statement : str
        What is checked, on which family.
    printed : str
        What the paper prints.
    evidence : Evidence
        The outcome on record.
    """

    def register(check: Check) -> Check:
        paper = check.__module__.split(".")[2].replace("_", "-")
        identity = f"{paper}/{name}"
        REGISTRY[identity] = Claim(identity, paper, statement, printed, evidence, check)
        return check

    return register


def _listed(paper: str) -> dict[str, str]:
    """Return the module that holds each claim of a paper, by id, without loading any of them."""
    folder = f"bounds.claims.{paper.replace('-', '_')}"
    tables: dict[str, tuple[str, ...]] = import_module(folder).CLAIMS
    return {f"{paper}/{name}": f"{folder}.{module}" for module, names in tables.items() for name in names}


def claims(names: Iterable[str] = (), paper: str | None = None) -> list[Claim]:
    """Return the claims of a paper, or those named, or all, in the order in which they are listed.

    Parameters
    ----------
    names : iterable of str
        Full ids, or their last part.
    paper : str, optional
        One of `PAPERS`.

    Raises
    ------
    InputError
        Unknown claim or paper.
    """
    if paper is not None and paper not in PAPERS:
        raise InputError(f"--paper: expected one of {', '.join(PAPERS)}, got {paper!r}")
    listed: dict[str, str] = {}
    for one in PAPERS if paper is None else (paper,):
        listed |= _listed(one)
    wanted = list(names)
    for name in wanted:
        if not any(name in (identity, identity.partition("/")[2]) for identity in listed):
            raise InputError(f"CLAIM: expected an id of `packproof verify --list`, got {name!r}")
    chosen = [x for x in listed if not wanted or x in wanted or x.partition("/")[2] in wanted]
    for identity in chosen:
        import_module(listed[identity])
    return [REGISTRY[identity] for identity in chosen]


def verify(claim_: Claim, level: Level = Level.quick) -> Verdict:
    """Check a claim."""
    start = time.perf_counter()
    outcome = claim_.check(level, False)
    return Verdict(claim_, outcome, time.perf_counter() - start)


def verify_all(chosen: Sequence[Claim], level: Level = Level.quick) -> Iterator[Verdict]:
    """Check claims on all processors and yield the verdicts in order; a few are checked here, one after another."""
    if len(chosen) < 8:
        yield from (verify(one, level) for one in chosen)
        return
    from fluid.parallel import run_all

    finished: dict[int, Verdict] = {}
    following = 0
    for number, (outcome, seconds) in run_all(_checked, [(one.id, level) for one in chosen]):
        finished[number] = Verdict(chosen[number], outcome, seconds)
        while following in finished:
            yield finished.pop(following)
            following += 1


def _checked(identity: str, level: Level) -> tuple[Outcome, float]:
    verdict = verify(claims([identity])[0], level)
    return verdict.outcome, verdict.seconds


def control(claim_: Claim, level: Level = Level.quick) -> Outcome:
    """Check the perturbed claim: its outcome must not be the registered one."""
    return claim_.check(level, True)
