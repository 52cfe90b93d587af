"""The lists of the event loops: jobs by the time at which they end, and jobs that wait in line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fluid.simulation.structures.event_list import new_event_list, pop, push
from theory.compiled import plain


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
