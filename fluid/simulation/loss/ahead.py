"""Guesses at the next events of a jump chain, so that what they touch in memory is fetched before they come.

With a million servers an event waits longest for the entry of the job that leaves, and then for the row of its server,
both anywhere in memory. The random words that decide stand in a buffer already (`fluid.simulation.words`), so the entry
is fetched `DEEP` events before, and the row `NEAR` events before. Nothing else follows from a guess, so the path is
that of a system without guesses, and a guess may be wrong: it assumes that each job that comes is placed, that no job
migrates before the event, and that the rates of types are still those of the last survey.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.words import Words, is_inside, refill, unit_of
from theory.jit import routine, step

DEEP, NEAR = 7, 4
"""How many events before its own the entry of a job is fetched, and the row of its server."""

RING = 8
"""Guesses held: a power of 2, more than `DEEP`."""

KINDS = 1024
"""Parts of [0, 1) of which the kind of event is known: of a number in a part with a bound the guess may be wrong."""

SURVEY = 4096
"""Events between two surveys of the kinds; a power of 2."""

_WORDS = 4
"""Words of an event in a guess, at most: two for the holding time, one for the type, one for the job."""


class Guesses(NamedTuple):
    """What the next events will be, in a ring of `RING` guesses.

    Attributes
    ----------
    kinds : int64[KINDS]
        Which kind of event comes of a number that decides it, in equal parts of [0, 1): as it was `SURVEY` events ago
        at most.
    kind : int64[RING]
        j for an arrival of type j, J + j for a departure.
    pick : float64[RING]
        The number that picks the job that leaves; 0 for an arrival.
    begins : int64[RING]
        Where the words of the event stand in their buffer.
    reached : int64[3]
        Events that have been, events guessed, and where the words of the next to be guessed stand.
    """

    kinds: NDArray[np.int64]
    kind: NDArray[np.int64]
    pick: NDArray[np.float64]
    begins: NDArray[np.int64]
    reached: NDArray[np.int64]


def no_guesses() -> Guesses:
    """Make the ring of a loop that has not begun: nothing is guessed."""
    return Guesses(
        np.zeros(KINDS, np.int64), np.zeros(RING, np.int64), np.zeros(RING), np.full(RING, -1), np.array([-1, 0, 0])
    )


@step
def prefetch(array: NDArray[Any], row: int) -> None:
    """Fetch nothing."""


@routine
def _survey(
    kinds: NDArray[np.int64], totals: NDArray[np.int64], arrival: NDArray[np.float64], service: NDArray[np.float64]
) -> None:
    """Write down which kind of event a number in each part of [0, 1) makes, by the jobs in service: O(J + KINDS)."""
    types, total = len(totals), 0.0
    for j in range(types):
        total += arrival[j] + totals[j] * service[j]
    kind, bound = 0, arrival[0]
    for i in range(KINDS):
        level = (i + 0.5) / KINDS * total
        while level >= bound and kind < 2 * types - 1:
            kind += 1
            bound += arrival[kind] if kind < types else totals[kind - types] * service[kind - types]
        kinds[i] = kind


@step
def _guess(guesses: Guesses, words: Words, types: int) -> int:
    """Guess one event more and return its place in the ring; no branch depends on what is guessed."""
    row = guesses.reached[1] & (RING - 1)
    begins = guesses.reached[2]
    at = begins + (1 if is_inside(words.word[begins]) else 2)
    kind = guesses.kinds[int(unit_of(words.word[at]) * KINDS)]
    leaves = 1 if kind >= types else 0
    guesses.kind[row] = kind
    guesses.pick[row] = leaves * unit_of(words.word[at + 1])
    guesses.begins[row] = begins
    guesses.reached[1] += 1
    guesses.reached[2] = at + 1 + leaves
    return int(row)


@step
def _entry(guesses: Guesses, urn: Any, row: int, since: int, until: int) -> int:
    """Return the entry that a departure takes out of the urns after the events of a range; any entry for an arrival."""
    types = len(urn.length)
    kind = guesses.kind[row]
    j = kind - types if kind >= types else kind
    length = urn.length[j]
    for event in range(since, until):
        between = guesses.kind[event & (RING - 1)]
        length += (1 if between == j else 0) - (1 if between == types + j else 0)
    return int(min(urn.first[j] + int(guesses.pick[row] * length), len(urn.servers) - 1))


@step
def look_ahead(guesses: Guesses, urn: Any, state: Any, rates: Any, rng: Any) -> None:
    """After an event begin to fetch the entry of a job that will leave, and the server of one that will leave earlier.

    Parameters
    ----------
    guesses : Guesses
    urn : fluid.simulation.loss.jobs.Urn
    state : Common
        Of any policy; where it has a field ``rows``, one a server, that is fetched too.
    rates : fluid.simulation.loss.loop.Rates
    rng : numpy.random.Generator
        What the words of the urn are drawn from.
    """
    words = urn.words
    if words.at[0] + _WORDS * RING > len(words.word):
        refill(words, rng)
    at, now = words.at[0], guesses.reached[0] + 1
    guesses.reached[0] = now
    if now & (SURVEY - 1) == 0:
        _survey(guesses.kinds, state.totals, rates.arrival, rates.service)
    ahead = guesses.reached[2] - at
    # a guess was wrong, or the words have moved: guess anew from here
    if guesses.begins[now & (RING - 1)] != at or ahead < 0 or ahead > _WORDS * DEEP:
        guesses.reached[1], guesses.reached[2] = now, at
    while guesses.reached[1] < now + DEEP:
        row = _guess(guesses, words, len(state.totals))
        prefetch(urn.servers, _entry(guesses, urn, row, now, now))
    near = now + NEAR - 1
    server = int(urn.servers[_entry(guesses, urn, near & (RING - 1), now, near)])
    prefetch(state.counts, server)
    if state.free.shape[1] > 0:
        prefetch(state.free, server)
    if len(urn.stale) > 0:
        prefetch(urn.stale, server)


@step
def look_nowhere(guesses: Guesses, urn: Any, state: Any, rates: Any, rng: Any) -> None:
    """Stand for `look_ahead` where the caches of a processor hold the whole system."""
