"""What a claim is, and the registry of claims: each is something that can be checked, and can fail.

A claim is a theorem, a figure or a table of a paper with a function ``(level, broken) -> Outcome``. `broken` is empty,
or one of the claim's named breaks: an input or a formula is then perturbed, and the outcome must not be the registered
one, which shows that the check can fail. `bounds.results` has the claims themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from theory.doors import PACKAGE
from theory.errors import ContractError
from theory.shown import Shown

PAPERS = ("autoscaling", "ps-dsf", "throughput", "nonpreemptive", "admission", "packproof")
"""The papers by key; ``packproof`` is the key of packproof's own results. Each has a folder in `bounds.results`."""


class Level(StrEnum):
    """How much is tried: ``quick`` for every day, ``full`` for larger families and samples."""

    quick = "quick"
    full = "full"


class Evidence(StrEnum):
    """How an outcome is known, from strongest to weakest.

    `formal`: a theorem that Coq checked. `proved`: a complete written proof for the whole family that the statement
    names, whose calculations are decided by exhaustion or in symbols. `certified`: exact rational evidence for the
    instances tried. `numeric`: floats, with a stated tolerance. `statistical`: simulation, with a stated false-alarm
    rate.
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
    `unfinished`: the check ended by an error; no claim has this verdict on record.
    """

    holds = "holds"
    refuted = "refuted"
    not_reproduced = "not reproduced"
    skipped = "skipped"
    unfinished = "unfinished"


ON_RECORD = tuple(verdict for verdict in Verdict if verdict is not Verdict.unfinished)
"""The verdicts that a claim may have on record."""


class Refutes(StrEnum):
    """What a refutation refutes.

    `statement`: what is printed fails in substance. `boundary`: it fails only at a tie, by rounding, or as loosely
    worded. `proof_step`: a step of the printed proof fails. `number`: a printed number or formula fails.
    """

    statement = "statement"
    boundary = "boundary case"
    proof_step = "proof step"
    number = "number"


class WithoutData(Exception):  # noqa: N818 (it is a reason to skip, no error)
    """The real data that a claim or a figure needs is not at hand; the message says which."""


@dataclass(frozen=True)
class Outcome:
    """What checking a claim gave."""

    computed: str  # in words and exact numbers
    holds: bool | None  # whether what is printed came out; None if nothing was checked, for the reason in `computed`
    status: int = 0  # the exit status of the error that ended the check, whose words are in `computed`; 0 for none


Check = Callable[[Level, str], Outcome]


@dataclass(frozen=True, repr=False)
class Claim(Shown):
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
    proof : str
        For the rank `proved`: ``page#label`` of the written proof, in the folder ``docs/explanation``. The check then
        decides its calculations, or compares packproof's functions with what it says.
    check : callable
        ``(level, broken) -> Outcome``; it may raise `WithoutData`.
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
    proof: str
    check: Check

    @property
    def holds(self) -> bool | None:
        """Whether what is printed is on record as coming out."""
        return {Verdict.holds: True, Verdict.skipped: None}.get(self.verdict, False)

    def outcome(self, level: Level, broken: str = "") -> Outcome:
        """Check the claim; without its data it is skipped, and it fails where a policy breaks its contract."""
        try:
            return self.check(level, broken)
        except WithoutData as reason:
            return Outcome(str(reason), None)
        except ContractError as error:
            return Outcome(f"a policy breaks its contract: {error}", False, status=1)

    def is_as_registered(self, outcome: Outcome) -> bool:
        """Return whether an outcome is the one on record; a check that was skipped does not contradict it."""
        return not outcome.status and (outcome.holds is None or outcome.holds is self.holds)

    def verdict_of(self, outcome: Outcome) -> Verdict:
        """Return the verdict that an outcome gives on this claim."""
        if outcome.holds is None:
            return Verdict.unfinished if outcome.status else Verdict.skipped
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
    def unfinished(self) -> bool:
        """Whether an error ended the check before there was an outcome."""
        return self.outcome.holds is None and self.outcome.status != 0

    @property
    def skipped(self) -> bool:
        """Whether nothing was checked, for a reason that is no error."""
        return self.outcome.holds is None and not self.unfinished

    @property
    def verdict(self) -> Verdict:
        """The verdict of this check."""
        return self.claim.verdict_of(self.outcome)

    @property
    def evidence(self) -> Evidence | None:
        """The rank of the evidence; None where nothing was checked."""
        return None if self.outcome.holds is None else self.claim.evidence

    @property
    def refutes(self) -> Refutes | None:
        """What fails: as on record, or the statement where a refutation was not expected."""
        if self.verdict is not Verdict.refuted:
            return None
        return self.claim.refutes or Refutes.statement


@dataclass(frozen=True)
class Covered:
    """A statement of a paper, or another place in it, with the claims about it."""

    paper: str
    statement: str  # the numbered statement, or the source of claims about something else
    claims: tuple[Claim, ...]  # empty where the statement has no claim
    numbered: bool = False  # whether it is one of the numbered statements of the paper


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
    proof: str = "",
) -> Callable[[Check], Check]:
    """Register a check function as a claim of the paper in whose folder it is; the arguments are those of `Claim`.

    Raises
    ------
    ValueError
        A refutation that does not say what it refutes, a claim that can be checked without any break, one of rank
        `formal` without theorems, or one of rank `proved` without a proof.
    """
    if (verdict is Verdict.refuted) != (refutes is not None):
        raise ValueError(f"{name}: a refutation, and nothing else, says what it refutes")
    if (verdict is Verdict.skipped) != (evidence is None) or (verdict is Verdict.skipped) == bool(breaks):
        raise ValueError(f"{name}: a claim has evidence and breaks, or it is skipped")
    if (evidence is Evidence.formal) != bool(theorems):
        raise ValueError(f"{name}: a claim of rank formal, and no other, names its theorems")
    if (evidence is Evidence.proved) != bool(proof):
        raise ValueError(f"{name}: a claim of rank proved, and no other, names its written proof")

    def register(check: Check) -> Check:
        paper = paper_of(check.__module__)
        identity = f"{paper}/{name}"
        REGISTRY[identity] = Claim(
            identity, paper, source, statement, printed, evidence, verdict, refutes, breaks, theorems, proof, check
        )
        return check

    return register


def paper_of(module: str) -> str:
    """Return the key of the paper in whose folder, ``bounds/results/PAPER/``, a module is."""
    return module.removeprefix(PACKAGE).split(".")[2].replace("_", "-")
