"""The checker knows no groups: a cluster with them is refused, whatever is claimed of it."""

from __future__ import annotations

import pytest

from tests.checker.corpus import changed, verdict
from tests.checker.test_caps import ALL, FAIR, HONEST, PRICES, judged

GROUPS = ("instance", "group"), [{"name": "g", "weight": "1"}]
IN_IT = ("instance", "user", 0, "group"), "g"


@pytest.mark.parametrize("change", [GROUPS, IN_IT])
def test_no_claim_about_groups_is_taken(change: tuple[tuple[str | int, ...], object]) -> None:
    """Without the group each of these certificates is right."""
    for honest in (*HONEST.values(), judged("1/4", "3/4", ALL, {"prices": PRICES, "fair": FAIR})):
        assert not verdict(honest)
        assert verdict(changed(honest, change))
