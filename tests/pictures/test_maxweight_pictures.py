"""The picture of the flow: inside and beyond the region, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from bounds.views.max_weight import picture_of_flow
from theory.errors import InputError
from theory.instance import additive


@pytest.mark.parametrize("workload", [["1/4", 2], ["1", 4]])
def test_both_sides(workload: list[str], tmp_path: Path) -> None:
    target = tmp_path / "flow.png"
    picture_of_flow(additive([6], [[4], [1]], workload=workload), [[1.0, 2.0]], target, scales=(20,), runs=1)
    assert target.stat().st_size > 10_000


def test_two_types_only(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected two types, got 3"):
        picture_of_flow(additive([6], [[4], [1], [2]]), [[1.0, 2.0, 3.0]], tmp_path / "flow.png")
