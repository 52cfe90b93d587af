"""Servers by configuration and free slot, for policies that reserve: linked lists, so each step is O(1) in the servers.

Servers of a configuration stand in the order in which they were assigned to it, the newest first. The oldest of them,
as many as the greedy placement wants, are *effective*, the newer ones surplus; the border between the two moves by
single servers. Beside that order each server is in one list of its class (configuration, effective or not) for every
type of which it has a free slot, and in one more while it is empty.

::

    configuration c:   newest -> [s] -> [s] -> | [e] -> [e] -> [e] <- oldest      number = 5, MATCHED = 3
                                 surplus       ^ border
    lists[c, 0, j]: surplus servers with a free type-j slot      lists[c, 0, J]: empty surplus servers
    lists[c, 1, j]: effective ones                               lists[c, 1, J]: empty effective ones
    words, by configuration, for each pool:
                              DRAIN j  newest server is surplus and holds a type-j job
                              OPEN j   a surplus server other than the newest has a free type-j slot
                              TOP j    newest server is surplus and has a free type-j slot
                              IDLE     a surplus server is empty
"""

from __future__ import annotations

from typing import Any

from fluid.simulation.state import Common, wide
from fluid.simulation.structures.bitset import contains, discard, insert
from theory.compiled import routine, step

CONFIGURATION, NEWER, OLDER, EFFECTIVE, JOBS, LINKS = 0, 1, 2, 3, 4, 5
"""Columns of ``rows``: what a server is assigned, its neighbours in that order, whether it is effective, its jobs, and
then two links (next, previous) for each of the J + 1 lists."""

OLDEST, BORDER, MATCHED, STAGE = 0, 1, 2, 3
"""Columns of ``ends``: of each configuration its oldest server, the newest effective one, the number of effective ones,
and its row of the plan, counted from 1, 0 for none."""

NOBODY = -1
"""No server."""


@step
def _link(state: Any, server: int, slot: int) -> None:
    """Put a server at the head of a list of its class."""
    c, e = state.rows[server, CONFIGURATION], state.rows[server, EFFECTIVE]
    head = state.lists[c, e, slot]
    state.rows[server, LINKS + 2 * slot] = head
    state.rows[server, LINKS + 2 * slot + 1] = NOBODY
    if head >= 0:
        state.rows[head, LINKS + 2 * slot + 1] = server
    state.lists[c, e, slot] = server


@step
def _unlink(state: Any, server: int, slot: int) -> None:
    """Take a server out of a list of its class."""
    after, before = state.rows[server, LINKS + 2 * slot], state.rows[server, LINKS + 2 * slot + 1]
    # what it links to itself stays behind: it is written anew before it is read
    if after >= 0:
        state.rows[after, LINKS + 2 * slot + 1] = before
    if before >= 0:
        state.rows[before, LINKS + 2 * slot] = after
    else:
        state.lists[state.rows[server, CONFIGURATION], state.rows[server, EFFECTIVE], slot] = after


@step
def words_of(types: int, pool: int) -> int:
    """Return the first of the 3 J + 1 words of a pool: DRAIN, OPEN and TOP by type, then IDLE."""
    return pool * (3 * types + 1)


@step
def _mark(state: Any, c: int, slot: int) -> None:
    """Bring the three words of a configuration and type up to date (or IDLE, for the list of empty servers)."""
    types = len(state.totals)
    first_word = words_of(types, wide(state.owner[c]))
    if slot == types:
        _put_bit(state, first_word + 3 * types, c, state.lists[c, 0, types] >= 0)
        return
    head = state.newest[c]
    holds, top, other = False, False, False
    if state.number[c] > state.ends[c, MATCHED]:  # the newest server is surplus
        holds = state.counts[head, slot] > 0
        top = state.counts[head, slot] < state.configurations[c, slot]
        first = state.lists[c, 0, slot]
        other = first >= 0 and (first != head or state.rows[first, LINKS + 2 * slot] >= 0)
    _put_bit(state, first_word + slot, c, holds)
    _put_bit(state, first_word + types + slot, c, other)
    _put_bit(state, first_word + 2 * types + slot, c, top)


@step
def _put_bit(state: Any, row: int, c: int, value: bool) -> None:
    if contains(state.words, row, c) != value:  # seldom
        _turn_bit(state.words, state.levels, row, c)


@routine
def _turn_bit(words: Any, levels: Any, row: int, c: int) -> None:
    if contains(words, row, c):
        discard(words, levels, row, c)
    else:
        insert(words, levels, row, c)


@routine
def mark_all(state: Common, c: int) -> None:
    """Bring all words of a configuration up to date."""
    for slot in range(len(state.totals) + 1):
        _mark(state, c, slot)


@step
def follow_filled_slot(state: Any, server: int, j: int) -> None:
    """Follow a job that has been put into a type-j slot of a server."""
    c = wide(state.rows[server, CONFIGURATION])
    types = len(state.totals)
    if state.counts[server, j] == state.configurations[c, j]:  # that was the last free slot
        _unlink(state, server, j)
    if state.rows[server, JOBS] == 0:
        _unlink(state, server, types)
        if state.rows[server, EFFECTIVE] == 0:
            _mark(state, c, types)
    state.rows[server, JOBS] += 1
    if state.rows[server, EFFECTIVE] == 0:
        _mark(state, c, j)


@step
def follow_freed_slot(state: Any, server: int, j: int) -> None:
    """Follow a job that has been taken out of a type-j slot of a server."""
    c = wide(state.rows[server, CONFIGURATION])
    types = len(state.totals)
    if state.counts[server, j] == state.configurations[c, j] - 1:  # the only free slot
        _link(state, server, j)
    state.rows[server, JOBS] -= 1
    if state.rows[server, JOBS] == 0:
        _link(state, server, types)
        if state.rows[server, EFFECTIVE] == 0:
            _mark(state, c, types)
    if state.rows[server, EFFECTIVE] == 0:
        _mark(state, c, j)


@step
def _is_listed(state: Any, server: int, slot: int) -> bool:
    """Return whether a server belongs to a list of its class: it has a free slot of the type, or no job at all."""
    if slot == len(state.totals):
        return bool(state.rows[server, JOBS] == 0)
    return bool(state.counts[server, slot] < state.configurations[state.rows[server, CONFIGURATION], slot])


@step
def _join_lists(state: Any, server: int) -> None:
    for slot in range(len(state.totals) + 1):
        if _is_listed(state, server, slot):
            _link(state, server, slot)


@step
def _leave_lists(state: Any, server: int) -> None:
    for slot in range(len(state.totals) + 1):
        if _is_listed(state, server, slot):
            _unlink(state, server, slot)


@routine
def _turn(state: Any, server: int, e: int) -> None:
    """Make a server effective (1) or surplus (0): it changes all its lists."""
    _leave_lists(state, server)
    state.rows[server, EFFECTIVE] = e
    _join_lists(state, server)


@step
def set_effective(state: Any, c: int, target: int) -> None:
    """Move the border so that the `target` oldest servers of a configuration are effective."""
    if state.ends[c, MATCHED] != target:
        _shift(state, c, target)


@routine
def _shift(state: Any, c: int, target: int) -> None:
    """Turn servers one by one from the border on."""
    # the oldest `effective` servers are effective, and the border is the newest of them: so before and after each turn
    while state.ends[c, MATCHED] < target:
        border = state.ends[c, BORDER]
        server = wide(state.ends[c, OLDEST] if border < 0 else state.rows[border, NEWER])
        _turn(state, server, 1)
        state.ends[c, BORDER] = server
        state.ends[c, MATCHED] += 1
    while state.ends[c, MATCHED] > target:
        server = wide(state.ends[c, BORDER])
        _turn(state, server, 0)
        state.ends[c, BORDER] = state.rows[server, OLDER]
        state.ends[c, MATCHED] -= 1
    mark_all(state, c)


@routine
def assign(state: Any, server: int, c: int) -> None:
    """Reassign an empty server to a configuration, as its newest and effective server.

    All servers of that configuration are effective when this is called.
    """
    old = wide(state.rows[server, CONFIGURATION])
    _leave_lists(state, server)
    # out of the order of its configuration
    newer, older = state.rows[server, NEWER], state.rows[server, OLDER]
    if newer >= 0:
        state.rows[newer, OLDER] = older
    else:
        state.newest[old] = older
    if older >= 0:
        state.rows[older, NEWER] = newer
    else:
        state.ends[old, OLDEST] = newer
    state.number[old] -= 1
    # an empty server may have been effective in a later stage; the border then moves to the next older one
    if state.rows[server, EFFECTIVE] == 1:
        state.ends[old, MATCHED] -= 1
        if state.ends[old, BORDER] == server:
            state.ends[old, BORDER] = older
    mark_all(state, old)
    add_server(state, server, c, 1)
    for j in range(len(state.totals)):
        state.slots[j] += state.configurations[c, j] - state.configurations[old, j]


@routine
def add_server(state: Any, server: int, c: int, e: int) -> None:
    """Make a server without configuration the newest of one; effective only where all others are."""
    head = state.newest[c]
    state.rows[server, CONFIGURATION] = c
    state.rows[server, NEWER] = NOBODY
    state.rows[server, OLDER] = head
    state.rows[server, EFFECTIVE] = e
    if head >= 0:
        state.rows[head, NEWER] = server
    else:
        state.ends[c, OLDEST] = server
    state.newest[c] = server
    state.number[c] += 1
    if e == 1:
        state.ends[c, MATCHED] += 1
        state.ends[c, BORDER] = server
    _join_lists(state, server)
    mark_all(state, c)
