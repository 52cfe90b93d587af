"""The compiled structures of the event loops against what they return in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid.simulation.structures import bitset, event_list, searches, slot_ends
from fluid.simulation.structures.searches import NOTHING
from tests.reference import structures
from theory.compiled import plain


@given(st.integers(1, 3000), st.lists(st.tuples(st.booleans(), st.integers(0, 10**6))))
def test_sets(number: int, steps: list[tuple[bool, int]]) -> None:
    words, levels = bitset.empty_sets(2, number)
    members: set[int] = set()
    for adds, each in steps:
        member = each % number
        (bitset.insert if adds else bitset.discard)(words, levels, 1, member)
        (members.add if adds else members.discard)(member)
        assert bitset.least(words, levels, 1) == structures.least_from(members)
    for member in members:
        bitset.discard(words, levels, 1, member)
    assert not words.any()


@given(st.integers(1, 40_000), st.sets(st.integers(0, 39_999), max_size=30), st.lists(st.integers(0, 39_999)))
def test_sets_find_neighbours(number: int, members: set[int], asked: list[int]) -> None:
    words, levels = bitset.empty_sets(1, number)
    inside = {m % number for m in members}
    for m in inside:
        bitset.insert(words, levels, 0, m)
    for q in [*(x % number for x in asked), 0, number - 1]:
        assert bitset.greatest_upto(words, levels, 0, q) == structures.greatest_upto(inside, q)
        assert bitset.least_from(words, levels, 0, q) == structures.least_from(inside, q)


@given(st.integers(1, 20), st.lists(st.tuples(st.integers(0, 19), st.integers(0, 9)), max_size=40))
def test_tree(number: int, changes: list[tuple[int, int]]) -> None:
    tree, leaves = searches.new_tree(number), [NOTHING] * number
    for place, key in changes:
        leaf = place % number
        leaves[leaf] = key if leaves[leaf] == NOTHING else NOTHING
        searches.set_leaf(tree, leaf, leaves[leaf])
        assert searches.leaf_value(tree, leaf) == leaves[leaf]
        assert (tree[1:] == searches.new_tree(number, value=np.array(leaves))[1:]).all()
        for value in range(11):
            for start in range(number):
                assert searches.first_at_least(tree, start, value) == structures.first_at_least(leaves, start, value)
    assert searches.close_up(tree) == number - leaves.count(NOTHING)
    closed = searches.new_tree(number, value=np.array(structures.close_up(leaves, NOTHING)))
    assert (tree[1:] == closed[1:]).all()


@pytest.mark.slow
@given(st.integers(1, 400), st.integers(1, 50), st.integers(0, 2**32), st.lists(st.integers(0, 49), max_size=12))
def test_open_servers(number: int, most: int, seed: int, phases: list[int]) -> None:
    """Servers change their residuals, many at once to the same one; some, or all, are not open for a while."""
    draws = np.random.default_rng(seed)
    keys, places, count = searches.new_open_servers(number, most)
    residuals = dict.fromkeys(range(number), most)
    for phase in phases:
        for server in draws.permutation(number)[: draws.integers(0, number + 1)].tolist():
            if residuals.pop(server, 0) > 0:
                searches.close_server(keys, places, count, server)
            residual = int(draws.integers(0, min(phase, most) + 1))
            if residual > 0:
                residuals[server] = residual
                searches.open_server(keys, places, count, server, residual)
        for size in range(1, most + 2):
            assert searches.tightest(keys, count, size) == structures.tightest(residuals, size)
        assert searches.most_room(keys, count) == structures.most_room(residuals)
        assert count[0] == len(residuals)


@given(st.data())
def test_entries_leave_by_time_and_ties_in_the_order_in_which_they_came(data: st.DataObject) -> None:
    """Times are few, so that most of four neighbours tie; or slots, which no float tells apart."""
    add, take = plain(event_list.push), plain(event_list.pop)
    in_slots = data.draw(st.booleans())
    events, added = event_list.new_event_list(4, np.int64 if in_slots else np.float64), 0
    first = 2**60 if in_slots else 0
    entries: list[tuple[float, int]] = []
    for later in data.draw(st.lists(st.none() | st.integers(0, 4), max_size=60)):
        if later is not None:
            if len(entries) == len(events.time):
                events = event_list.enlarged(events)
            add(events, first + later, added)
            entries.append((first + later, added))
            added += 1
        elif entries:
            assert take(events) == structures.pop(entries)
        assert event_list.next_time(events, 2**62) == min(entries, default=(2**62, 0))[0]
    while entries:
        assert take(events) == structures.pop(entries)


@given(st.data())
def test_jobs_of_a_slot_leave_in_the_order_in_which_they_came(data: st.DataObject) -> None:
    """Slots are few, so that jobs share them, or a multiple of `RECENT` apart, so that one is forgotten for another."""
    add, take = plain(slot_ends.push), plain(slot_ends.pop)
    ends, now, added = slot_ends.new_slot_ends(4), data.draw(st.sampled_from((0, 2**60))), 0
    jobs: list[tuple[float, int]] = []
    for served in data.draw(st.lists(st.none() | st.sampled_from((1, 2, 3, 1024, 1025, 2048, 10_000)), max_size=60)):
        if served is not None:
            if len(jobs) == len(ends.rows):
                ends = slot_ends.enlarged(ends)
            add(ends, now + served, added)
            jobs.append((now + served, added))
            added += 1
        elif jobs:
            now = int(min(jobs)[0])  # a loop goes on to the slot of the next end
            while jobs and min(jobs)[0] == now:
                assert slot_ends.next_slot(ends, 2**62) == now
                assert take(ends) == structures.pop(jobs)
        assert sorted(slot_ends.in_service(ends)) == sorted(what for _, what in jobs)
        assert ends.size[0] == len(jobs)
    while jobs:
        assert take(ends) == structures.pop(jobs)
    assert slot_ends.next_slot(ends, -1) == -1
