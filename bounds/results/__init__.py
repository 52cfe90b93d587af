"""What the papers claim and print, a folder a paper: a claim, its figure and its picture in one place.

`bounds.claims` says what a claim is, `reproduction.py` what a reproduced figure or table is. The folder of a paper has
its title and its numbered statements (``STATEMENTS``), and lists its claims (``CLAIMS``) and its figures and tables
(``FIGURES``) by file, so that no other file is loaded.
"""

from __future__ import annotations

import gc
import os
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence

from bounds.claims import PAPERS, REGISTRY, Checked, Claim, Evidence, Level, Outcome
from bounds.results.names import chosen
from theory.doors import imported
from theory.errors import FAULT, InputError, expect, words_of_fault


def folder_of(paper: str) -> str:
    """Return the package that holds the results of a paper."""
    return f"bounds.results.{paper.replace('-', '_')}"


def _contents(papers: Iterable[str]) -> dict[str, str]:
    """Return the module that holds each claim of some papers, by id, without loading any of them."""
    return {
        f"{paper}/{name}": f"{folder_of(paper)}.{module}"
        for paper in papers
        for module, names in imported(folder_of(paper)).CLAIMS.items()
        for name in names.split()
    }


def modules(names: Iterable[str] = (), paper: str | None = None) -> dict[str, str]:
    """Return the module of each claim of a paper, of those named, or of all, by id; none of them is loaded.

    Parameters
    ----------
    names : iterable of str
        Full ids, their last part, or one of `PAPERS` for all of its claims (`bounds.results.names`).
    paper : str, optional
        One of `PAPERS`.

    Raises
    ------
    InputError
        Unknown claim or paper.
    """
    if paper is not None and paper not in PAPERS:
        raise InputError("--paper", f"expected one of {', '.join(PAPERS)}, got {paper!r}")
    wanted = list(names)
    papers = {name.partition("/")[0] for name in wanted}
    every = _contents(one for one in PAPERS if one in papers)
    if paper is not None or not wanted or not all(name in every for name in wanted):
        every = _contents(PAPERS if paper is None else (paper,))
    if not wanted:
        return every
    expected = "a paper or an id of `packproof verify --list`"
    named = chosen(wanted, list(every), "CLAIM", expected, ambiguous=True)
    return {identity: every[identity] for identity in named}


def claims(names: Iterable[str] = (), paper: str | None = None) -> list[Claim]:
    """Load the claims of a paper, those named, or all (`modules`), and return them in the order of the lists."""
    module_of = modules(names, paper)
    for module in module_of.values():
        imported(module)
    return [REGISTRY[identity] for identity in module_of]


def verify(claim_: Claim, level: Level = Level.quick) -> Checked:
    """Check a claim."""
    expect(claim_, Claim, "claim_", "a Claim (packproof.claims gives them by id)")
    start = time.perf_counter()
    outcome = claim_.outcome(level)
    return Checked(claim_, outcome, time.perf_counter() - start)


def _ended_by(error: Exception) -> Outcome:
    """Return the outcome of a check that an error has ended: of input that is refused, or of a fault of packproof."""
    if os.environ.get("PACKPROOF_TRACEBACK", "0") != "0":
        traceback.print_exception(error)
    if isinstance(error, InputError):
        return Outcome(str(error), None, status=2)
    return Outcome(words_of_fault(error), None, status=FAULT)


def _verify_to_the_end(claim_: Claim, level: Level) -> Checked:
    """Check a claim; an error ends its check alone, and is its outcome."""
    start = time.perf_counter()
    try:
        return verify(claim_, level)
    except MemoryError:  # of the machine, and of all claims
        raise
    except Exception as error:
        return Checked(claim_, _ended_by(error), time.perf_counter() - start)


def verify_all(identities: Sequence[str], level: Level = Level.quick, *, engine: str = "local") -> Iterator[Checked]:
    """Check claims on all processors and yield them as they finish; a few are checked here, one after another.

    Another `engine`, ``dask://HOST:PORT``, is a cluster, which gets all of them. An error in one check is the outcome
    of that claim alone (`bounds.claims.Outcome.status`).

    Claims that share what they compute go to one processor together, as those of a file do. Groups with many claims
    that rest on simulations or floats take longest and begin first, so that no processor is left alone at the end.
    """
    if len(identities) < 8 and engine == "local":
        yield from (_verify_to_the_end(one, level) for one in claims(identities))
        return
    from fluid.parallel import processors, run_all

    groups: list[list[Claim]] = []

    def tasks() -> Iterator[tuple[Sequence[str], Level | None]]:
        # processes here load the claims while this one does, to see what is to be checked
        for _ in range(processors() if engine == "local" else 0):
            groups.append([])
            yield identities, None
        together: dict[str, list[Claim]] = {}
        for one in claims(identities):
            together.setdefault(_shared(one), []).append(one)
        for group in sorted(together.values(), key=lambda group: -sum(map(_effort, group))):
            groups.append(group)
            yield [one.id for one in group], level

    for number, outcomes in run_all(_checked, tasks(), engine=engine):
        for one, (outcome, seconds) in zip(groups[number], outcomes, strict=True):
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
    loaded = claims(identities)
    gc.freeze()  # what is loaded stays: the collector need not look at it again
    if level is None:
        return []
    if level is Level.quick:  # the collector would find next to nothing: claims make numbers, not cycles
        gc.disable()
    checked = [_verify_to_the_end(one, level) for one in loaded]
    return [(one.outcome, one.seconds) for one in checked]
