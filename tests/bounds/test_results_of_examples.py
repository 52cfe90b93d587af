"""The scripts of `examples/` that compute what a theorem says; their pictures are in `tests/pictures`."""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType

import pytest

from examples import capacity_region, monotone_property, server_pools, tight_family, worst_rewards


@pytest.mark.parametrize("example", [tight_family, monotone_property, server_pools, worst_rewards])
def test_computed_is_theory(example: ModuleType) -> None:
    computed, theory = example.main()
    assert computed == theory


def test_capacity_region() -> None:
    assert capacity_region.main() == Fraction(5, 8)
