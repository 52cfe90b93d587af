"""The lists of the event loops: jobs by the time at which they end, and jobs that wait in line."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fluid.simulation.event_list import new_event_list, pop, push
from fluid.simulation.queue.loop import Lines, join, join_all, leave, new_lines
from theory.jit import plain


@given(st.data())
def test_entries_leave_by_time_and_ties_in_the_order_in_which_they_came(data: st.DataObject) -> None:
    """Times are few, so that most of four neighbours tie."""
    add, take = plain(push), plain(pop)
    events, held, added = new_event_list(64), [], 0
    for time in data.draw(st.lists(st.none() | st.integers(0, 4), max_size=60)):
        if time is not None:
            add(events, float(time), added)
            held.append((time, added))
            added += 1
        elif held:
            held.remove(first := min(held))
            assert take(events) == first[1]
    assert [take(events) for _ in sorted(held)] == [number for _, number in sorted(held)]


def left(lines: Lines, types: int) -> list[list[tuple[float, float]]]:
    """Let all jobs leave, line by line."""
    go = plain(leave)
    return [[go(lines, j) for _ in iter(lambda j=j: lines.first[j] >= 0, False)] for j in range(types)]


@given(st.lists(st.integers(0, 2), max_size=20))
def test_jobs_that_join_at_once_stand_as_if_they_had_come_one_by_one(types: list[int]) -> None:
    work = np.arange(1.0, len(types) + 1)
    one_by_one, at_once = new_lines(3, 22), new_lines(3, 22)
    for j, needed in zip(types, work.tolist(), strict=True):
        plain(join)(one_by_one, j, 0.0, needed)
    join_all(at_once, np.array(types, np.int32), work)
    for lines in (one_by_one, at_once):
        plain(join)(lines, 1, 2.0, 99.0)
    assert left(at_once, 3) == left(one_by_one, 3)
