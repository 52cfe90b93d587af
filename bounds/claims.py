"""What a claim is, and the registry of claims: each is something that can be checked, and can fail.

A claim is a theorem, a figure or a table of a paper with a function of named parameters that returns an `Outcome`. The
defaults of the function are what ``packproof verify`` tries; a level and each control give other arguments. A control
is an input or a formula that is wrong: the outcome must not be the one on record, which shows that the check can fail.
`bounds.results` has the claims themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from textwrap import wrap
from types import MappingProxyType
from typing import Any, NamedTuple

from theory.doors import PACKAGE
from theory.errors import ContractError, InputError
from theory.numbers import text
from theory.shown import Shown

PAPERS = ("autoscaling", "ps-dsf", "throughput", "nonpreemptive", "admission", "packproof")
"""The papers by key; ``packproof`` is the key of packproof's own results. Each has a folder in `bounds.results`."""


class Level(StrEnum):
    """How much is tried: ``quick`` for every day, ``full`` for larger families and samples, ``tiny`` for tests."""

    tiny = "tiny"
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


Check = Callable[..., Outcome]

Arguments = Mapping[str, Any]
"""Arguments of a check, by the name of the parameter."""


class Compared(NamedTuple):
    """What a paper prints beside what packproof computes, for the parameters that a reader chose."""

    printed: str
    computed: str
    holds: bool | None  # None if nothing was checked, for the reason in `computed`


WIDTH = 88
"""Letters on a line of what ``help(claim)`` shows."""


@dataclass(frozen=True, repr=False)
class Claim(Shown):
    """A claim of a paper, with the outcome on record.

    Attributes
    ----------
    id : str
        ``paper/name``.
    title : str
        What is claimed, in at most `MOST_WORDS` words, no broader than what was checked; no two claims have the same.
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
    controls : mapping of str to mapping
        What is made wrong, in words, with the arguments that make it so; each must change the outcome.
    sizes : mapping of Level to mapping
        The arguments at each level, where they are not the defaults of the check.
    theorems : tuple of str
        For the rank `formal`: the theorems that Coq checked, ``File.name`` of the folder ``proofs``. The check then
        shows that packproof's functions compute what they speak of.
    proof : str
        For the rank `proved`: ``page#label`` of the written proof, in the folder ``docs/explanation``. The check then
        decides its calculations, or compares packproof's functions with what it says.
    check : callable
        A function that returns an `Outcome`, and may raise `WithoutData`. A reader may choose the parameters that can
        be given by position; those that can only be given by name belong to the check, and controls choose them.
    """

    id: str
    title: str
    paper: str
    source: str
    statement: str
    printed: str
    evidence: Evidence | None
    verdict: Verdict
    refutes: Refutes | None
    controls: Mapping[str, Arguments]
    sizes: Mapping[Level, Arguments]
    theorems: tuple[str, ...]
    proof: str
    check: Check

    def __post_init__(self) -> None:
        """Give ``help(claim)`` what the claim says, and its parameters."""
        object.__setattr__(self, "__doc__", self._about())

    def _about(self) -> str:
        """Return the claim as the docstring of a function of its parameters."""
        lines = [f"{self.title} ({self.id}: {self.source})."]
        for paragraph in (self.statement, f"Printed: {self.printed}"):
            lines += ["", *wrap(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)]
        if self.parameters:
            words, kinds = in_words(self.parameters), self.check.__annotations__
            lines += ["", "Parameters", "----------"]
            lines += [f"{name} : {kinds.get(name, 'any')}, default {value or '()'}" for name, value in words.items()]
        return "\n".join(lines)

    @property
    def holds(self) -> bool | None:
        """Whether what is printed is on record as coming out."""
        return {Verdict.holds: True, Verdict.skipped: None}.get(self.verdict, False)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that a reader may choose, with their defaults."""
        code = self.check.__code__
        return dict(zip(code.co_varnames[: code.co_argcount], self.check.__defaults__ or (), strict=True))

    def parameters_at(self, level: Level) -> dict[str, Any]:
        """Return the parameters that a reader may choose, with the values that a level gives them."""
        sizes = self.sizes.get(level, {})
        return {name: sizes.get(name, default) for name, default in self.parameters.items()}

    def __call__(self, **chosen: Any) -> Compared:
        """Compute what is printed for parameters that a reader chose; the others have their defaults.

        Raises
        ------
        InputError
            A parameter that the claim does not have, or a value for which it cannot be computed.
        """
        for name in chosen:
            self.expect_parameter(name)
        outcome = self._checked(chosen)
        return Compared(self.printed, outcome.computed, outcome.holds)

    def expect_parameter(self, name: str) -> None:
        """Raise InputError unless a reader may choose a parameter of this name."""
        if name not in self.parameters:
            names = ", ".join(self.parameters)
            expected = f"one of {names}" if names else "none, as this claim has none that can be chosen"
            raise InputError(self.id, "parameters", f"expected {expected}, got {name[:60]!r}")

    def outcome(self, level: Level = Level.quick, control: str = "") -> Outcome:
        """Check the claim, as it stands or with a control; without its data it is skipped.

        It fails where a policy breaks its contract.
        """
        arguments = {**self.sizes.get(level, {}), **(self.controls[control] if control else {})}
        return self._checked(arguments)

    def _checked(self, arguments: Arguments) -> Outcome:
        try:
            return self.check(**arguments)
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


_KINDS = ("Theorem", "Proposition", "Corollary", "Lemma", "Definition", "Remark", "Figure", "Table", "Example")
_PLURALS = {f"{kind}s" if kind[-1] != "y" else f"{kind[:-1]}ies": kind for kind in _KINDS}
_NUMBER = r"(?:(?:[A-Z]\.)?[0-9]+(?:\.[0-9]+)?[a-z]?|[IVX]+)\b"
_NAMED = re.compile(rf"\b({'|'.join((*_PLURALS, *_KINDS))}) ({_NUMBER}(?:(?:, | and ){_NUMBER})*)")
_PART = re.compile("(?<=[0-9])[a-z]$")  # a part of a figure, as in Figure 4a


def numbers_of(source: str) -> tuple[str, ...]:
    """Return the numbered statements that a source names, each once, in their order.

    Examples
    --------
    >>> numbers_of("Figures 2 and 3"), numbers_of("Lemma 4.1, Figure 4a"), numbers_of("Equation (2)")
    (('Figure 2', 'Figure 3'), ('Lemma 4.1', 'Figure 4'), ())
    """
    statements = []
    for word, listed in _NAMED.findall(source):
        numbers = re.split(", | and ", listed) if word in _PLURALS else [re.split(", | and ", listed)[0]]
        statements += [f"{_PLURALS.get(word, word)} {_PART.sub('', number)}" for number in numbers]
    return tuple(dict.fromkeys(statements))


def in_words(parameters: Arguments) -> dict[str, str]:
    """Return parameters as ``--with`` takes them.

    Examples
    --------
    >>> in_words({"instances": 20, "sizes": (1, 2), "exact": True})
    {'instances': '20', 'sizes': '1,2', 'exact': 'true'}
    """
    return {name: ",".join(map(_word, v)) if isinstance(v, tuple) else _word(v) for name, v in parameters.items()}


def _word(value: Any) -> str:
    return text(value) if isinstance(value, Fraction) else str(value).lower() if isinstance(value, bool) else str(value)


REGISTRY: dict[str, Claim] = {}

MOST_WORDS = 8
"""How many words a title has at most."""

NOTHING: Arguments = MappingProxyType({})
"""No arguments."""


def claim(
    name: str,
    title: str,
    statement: str,
    *,
    source: str,
    printed: str,
    evidence: Evidence | None,
    verdict: Verdict = Verdict.holds,
    refutes: Refutes | None = None,
    controls: Mapping[str, Arguments] = NOTHING,
    tiny: Arguments = NOTHING,
    full: Arguments = NOTHING,
    theorems: tuple[str, ...] = (),
    proof: str = "",
) -> Callable[[Check], Check]:
    """Register a check function as a claim of the paper in whose folder it is; the arguments are those of `Claim`.

    `tiny` and `full` are the arguments at these levels; at ``quick`` the check has its defaults.

    Raises
    ------
    ValueError
        A title that is empty, too long or that of another claim; a refutation that does not say what it refutes, a
        claim that can be checked without any control, one of rank `formal` without theorems, or one of rank `proved`
        without a proof.
    TypeError
        A parameter without a default, or an argument for one that the check does not have.
    """
    if not 1 <= len(title.split()) <= MOST_WORDS:
        raise ValueError(f"{name}: expected a title of 1 to {MOST_WORDS} words, got {title!r}")
    if (verdict is Verdict.refuted) != (refutes is not None):
        raise ValueError(f"{name}: a refutation, and nothing else, says what it refutes")
    if (verdict is Verdict.skipped) != (evidence is None) or (verdict is Verdict.skipped) == bool(controls):
        raise ValueError(f"{name}: a claim has evidence and controls, or it is skipped")
    if (evidence is Evidence.formal) != bool(theorems):
        raise ValueError(f"{name}: a claim of rank formal, and no other, names its theorems")
    if (evidence is Evidence.proved) != bool(proof):
        raise ValueError(f"{name}: a claim of rank proved, and no other, names its written proof")

    def register(check: Check) -> Check:
        paper = paper_of(check.__module__)
        identity = f"{paper}/{name}"
        _refuse_unknown(identity, check, (tiny, full, *controls.values()))
        if any(other.title == title and other.id != identity for other in REGISTRY.values()):
            raise ValueError(f"{identity}: another claim has the title {title!r}")
        REGISTRY[identity] = Claim(
            identity,
            title,
            paper,
            source,
            statement,
            printed,
            evidence,
            verdict,
            refutes,
            controls,
            {Level.tiny: tiny, Level.full: full},
            theorems,
            proof,
            check,
        )
        return check

    return register


def _refuse_unknown(identity: str, check: Check, arguments: Iterable[Arguments]) -> None:
    """Raise TypeError where a check has a parameter without a default, or lacks one that an argument is for."""
    code, by_name = check.__code__, check.__kwdefaults__ or {}
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if len(check.__defaults__ or ()) + len(by_name) != len(names):
        raise TypeError(f"{identity}: each parameter of {check.__name__} needs a default")
    if unknown := {name for given in arguments for name in given} - set(names):
        raise TypeError(f"{identity}: {check.__name__} has no parameter {', '.join(sorted(unknown))}")


def paper_of(module: str) -> str:
    """Return the key of the paper in whose folder, ``bounds/results/PAPER/``, a module is."""
    return module.removeprefix(PACKAGE).split(".")[2].replace("_", "-")
