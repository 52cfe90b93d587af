"""The registry of claims: each theorem, figure and table as something that can be checked, and can fail.

A claim is a function ``(level, broken) -> Outcome``. `broken` is empty, or one of the claim's named breaks: an input or
a formula is then perturbed, and the outcome must not be the registered one, which shows that the check can fail.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module

from theory.errors import InputError, meant

PAPERS = ("autoscaling", "ps-dsf", "throughput", "nonpreemptive", "admission", "packproof")
"""The papers by key; ``packproof`` stands for results of packproof itself.

Each paper has a folder whose ``CLAIMS`` lists its claims by module; a claim loads no other paper."""


class Level(StrEnum):
    """How much is tried: ``quick`` for every day, ``full`` for larger families and samples."""

    quick = "quick"
    full = "full"


class Evidence(StrEnum):
    """How an outcome is known, from strongest to weakest.

    `formal`: a theorem that Coq checked. `proved`: for the whole family that the statement names, by exhaustion or
    symbolic identity, with no step sampled. `certified`: exact rational evidence for the instances tried. `numeric`:
    floats, with a stated tolerance. `statistical`: simulation, with a stated false-alarm rate.
    """

    formal = "formal"
    proved = "proved"
    certified = "certified"
    numeric = "numeric"
    statistical = "statistical"


class Verdict(StrEnum):
    """What came out.

    `refuted`: what is printed fails, shown by a counterexample of the claim's rank. `not_reproduced`: a figure whose
    setting is lost in part did not come out as printed. `skipped`: nothing was checked, and the reason is given.
    """

    holds = "holds"
    refuted = "refuted"
    not_reproduced = "not reproduced"
    skipped = "skipped"


class Refutes(StrEnum):
    """What a refutation refutes: the statement itself, a step of its proof, or a printed number."""

    statement = "statement"
    proof_step = "proof step"
    number = "number"


@dataclass(frozen=True)
class Outcome:
    """What checking a claim gave.

    Attributes
    ----------
    computed : str
        What we computed, in words and exact numbers.
    holds : bool or None
        Whether what is printed came out; None if nothing was checked, for the reason in `computed`.
    """

    computed: str
    holds: bool | None


Check = Callable[[Level, str], Outcome]


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, with the outcome on record.

    Attributes
    ----------
    id : str
        ``paper/name``.
    paper : str
    source : str
        The numbered statement of the paper.
    statement : str
        What is checked, on which family.
    printed : str
        What the paper prints; ``lost`` marks what is missing in the text at hand.
    evidence : Evidence or None
        The rank of the evidence, for a refutation that of the counterexample; None where the claim cannot be checked.
    verdict : Verdict
        The outcome on record.
    refutes : Refutes or None
        What fails, where the verdict is `refuted`.
    breaks : tuple of str
        The named perturbations; each must change the outcome.
    theorems : tuple of str
        For the rank `formal`: the theorems that Coq checked, ``File.name`` of the folder ``proofs``. The check then
        shows that packproof's functions compute what they speak of.
    check : callable
        ``(level, broken) -> Outcome``.
    """

    id: str
    paper: str
    source: str
    statement: str
    printed: str
    evidence: Evidence | None
    verdict: Verdict
    refutes: Refutes | None
    breaks: tuple[str, ...]
    theorems: tuple[str, ...]
    check: Check

    @property
    def holds(self) -> bool | None:
        """Whether what is printed is on record as coming out."""
        return {Verdict.holds: True, Verdict.skipped: None}.get(self.verdict, False)

    def is_as_registered(self, outcome: Outcome) -> bool:
        """Return whether an outcome is the one on record; a check that was skipped does not contradict it."""
        return outcome.holds is None or outcome.holds is self.holds

    def verdict_of(self, outcome: Outcome) -> Verdict:
        """Return the verdict that an outcome gives on this claim."""
        if outcome.holds is None:
            return Verdict.skipped
        if outcome.holds:
            return Verdict.holds
        return self.verdict if self.verdict is Verdict.not_reproduced else Verdict.refuted


@dataclass(frozen=True)
class Checked:
    """A claim, its outcome and the time it took."""

    claim: Claim
    outcome: Outcome
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the outcome does not contradict the registered one: it is that, or nothing was checked."""
        return self.claim.is_as_registered(self.outcome)

    @property
    def skipped(self) -> bool:
        """Whether nothing was checked."""
        return self.outcome.holds is None

    @property
    def verdict(self) -> Verdict:
        """The verdict of this check."""
        return self.claim.verdict_of(self.outcome)

    @property
    def evidence(self) -> Evidence | None:
        """The rank of the evidence; None where nothing was checked."""
        return None if self.skipped else self.claim.evidence

    @property
    def refutes(self) -> Refutes | None:
        """What fails: as on record, or the statement where a refutation was not expected."""
        if self.verdict is not Verdict.refuted:
            return None
        return self.claim.refutes or Refutes.statement


REGISTRY: dict[str, Claim] = {}


def claim(
    name: str,
    statement: str,
    *,
    source: str,
    printed: str,
    evidence: Evidence | None,
    verdict: Verdict = Verdict.holds,
    refutes: Refutes | None = None,
    breaks: tuple[str, ...] = (),
    theorems: tuple[str, ...] = (),
) -> Callable[[Check], Check]:
    """Register a check function as a claim of the paper in whose folder it stands.

    Parameters
    ----------
    name : str
        As listed in ``CLAIMS`` of the folder.
    statement, source, printed, evidence, verdict, refutes, breaks, theorems
        As in `Claim`.

    Raises
    ------
    ValueError
        A refutation that does not say what it refutes, a claim that can be checked without any break, or one of rank
        `formal` without theorems.
    """
    if (verdict is Verdict.refuted) != (refutes is not None):
        raise ValueError(f"{name}: a refutation, and nothing else, says what it refutes")
    if (verdict is Verdict.skipped) != (evidence is None) or (verdict is Verdict.skipped) == bool(breaks):
        raise ValueError(f"{name}: a claim has evidence and breaks, or it is skipped")
    if (evidence is Evidence.formal) != bool(theorems):
        raise ValueError(f"{name}: a claim of rank formal, and no other, names its theorems")

    def register(check: Check) -> Check:
        paper = check.__module__.split(".")[2].replace("_", "-")
        identity = f"{paper}/{name}"
        REGISTRY[identity] = Claim(
            identity, paper, source, statement, printed, evidence, verdict, refutes, breaks, theorems, check
        )
        return check

    return register


def _listed(paper: str) -> dict[str, str]:
    """Return the module that holds each claim of a paper, by id, without loading any of them."""
    folder = f"bounds.claims.{paper.replace('-', '_')}"
    tables: dict[str, tuple[str, ...]] = import_module(folder).CLAIMS
    return {f"{paper}/{name}": f"{folder}.{module}" for module, names in tables.items() for name in names}


def modules(names: Iterable[str] = (), paper: str | None = None) -> dict[str, str]:
    """Return the module of each claim of a paper, of those named, or of all, by id; none of them is loaded.

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
    found: dict[str, str] = {}
    for one in PAPERS if paper is None else (paper,):
        found |= _listed(one)
    wanted = list(names)
    for name in wanted:
        if not any(name in (identity, identity.partition("/")[2]) for identity in found):
            near = meant(name, {part for identity in found for part in (identity, identity.partition("/")[2])})
            raise InputError(f"CLAIM: expected an id of `packproof verify --list`, got {name!r}{near}")
    return {
        identity: module
        for identity, module in found.items()
        if not wanted or identity in wanted or identity.partition("/")[2] in wanted
    }


def claims(names: Iterable[str] = (), paper: str | None = None) -> list[Claim]:
    """Load the claims of a paper, those named, or all (`modules`), and return them in the order of the lists."""
    chosen = modules(names, paper)
    for module in chosen.values():
        import_module(module)
    return [REGISTRY[identity] for identity in chosen]


def verify(claim_: Claim, level: Level = Level.quick) -> Checked:
    """Check a claim."""
    start = time.perf_counter()
    outcome = claim_.check(level, "")
    return Checked(claim_, outcome, time.perf_counter() - start)


def verify_all(identities: Sequence[str], level: Level = Level.quick) -> Iterator[Checked]:
    """Check claims on all processors and yield them as they finish; a few are checked here, one after another.

    Claims that share what they compute go to one processor together, as those of a file do. Groups with many claims
    that rest on simulations or floats take longest and begin first, so that no processor is left alone at the end.
    """
    if len(identities) < 8:
        yield from (verify(one, level) for one in claims(identities))
        return
    from fluid.parallel import processors, run_all

    groups: list[list[Claim]] = []

    def tasks() -> Iterator[tuple[Sequence[str], Level | None]]:
        for _ in range(processors()):  # they load the claims while this process does, to see what is to be checked
            groups.append([])
            yield identities, None
        together: dict[str, list[Claim]] = {}
        for one in claims(identities):
            together.setdefault(_shared(one), []).append(one)
        for group in sorted(together.values(), key=lambda group: -sum(map(_effort, group))):
            groups.append(group)
            yield [one.id for one in group], level

    for number, found in run_all(_checked, tasks()):
        for one, (outcome, seconds) in zip(groups[number], found, strict=True):
            yield Checked(one, outcome, seconds)


def _shared(one: Claim) -> str:
    """Return what a claim shares with others: its file, or the real trace or the algebra, which take long to load."""
    file = one.check.__module__
    if one.evidence is Evidence.proved:
        return "algebra"
    return "trace" if file.endswith((".trace", ".traces")) else file


def _effort(one: Claim) -> int:
    """Return about how long a claim takes beside others, by its rank."""
    return {Evidence.statistical: 6, Evidence.numeric: 3}.get(one.evidence or Evidence.formal, 1)


def _checked(identities: Sequence[str], level: Level | None) -> list[tuple[Outcome, float]]:
    """Check claims in a process of its own; without a level they are only loaded."""
    os.environ.setdefault("PACKPROOF_COMPILE", "first")  # every processor has a claim: none is left to compile beside
    from theory.compile_costs import uncollected

    chosen = claims(identities)
    gc.freeze()  # what is loaded stays: the collector need not look at it again
    if level is None:
        return []
    found = []
    for one in chosen:
        # at the quick level the collector would find next to nothing: claims make numbers, not cycles
        with uncollected() if level is Level.quick else nullcontext():
            checked = verify(one, level)
        found.append((checked.outcome, checked.seconds))
    return found


def control(claim_: Claim, broken: str, level: Level = Level.quick) -> Outcome:
    """Check the claim with one of its breaks: the outcome must not be the registered one.

    Raises
    ------
    ValueError
        A name that is none of the claim's breaks.
    """
    if broken not in claim_.breaks:
        raise ValueError(f"{claim_.id} has no break {broken!r}")
    return claim_.check(level, broken)
