"""The different rows of a table are those of numpy, whose algorithm compares whole rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.rows import unique_rows

NEAR, FAR = st.integers(-2, 3), st.integers(-(2**62), 2**62)


@given(st.integers(1, 3), st.data())
def test_unique_rows_are_those_of_numpy(width: int, data: st.DataObject) -> None:
    columns = [data.draw(st.lists(data.draw(st.sampled_from([NEAR, FAR])), min_size=30, max_size=30))] * width
    columns = [data.draw(st.permutations(column)) for column in columns]
    length = data.draw(st.integers(1, 30))
    table = np.array(columns, np.int64).T[:length]
    found = unique_rows(table)
    for ours, theirs in zip(found, np.unique(table, axis=0, return_index=True, return_inverse=True), strict=True):
        assert ours.tolist() == theirs.reshape(ours.shape).tolist()


@pytest.mark.parametrize("shape", [(0, 2), (0, 0), (3, 0)])
def test_a_table_may_be_empty(shape: tuple[int, int]) -> None:
    rows, first, which = unique_rows(np.zeros(shape, np.int32))
    assert (len(rows), len(first), which.tolist()) == (min(1, shape[0]), min(1, shape[0]), [0] * shape[0])
