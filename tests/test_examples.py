"""Every example runs, and shows what it says."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from examples import own_policies, strangers_heuristic, worst_of_a_family


def test_worst_of_a_family(tmp_path: Path) -> None:
    picture = tmp_path / "ratio.png"
    assert Fraction(7, 10) < worst_of_a_family.main(str(picture)) < Fraction(8, 10)
    assert picture.stat().st_size > 10_000


def test_strangers_heuristic() -> None:
    assert strangers_heuristic.main() < Fraction(1, 2)


def test_own_policies(tmp_path: Path) -> None:
    picture = tmp_path / "own.png"
    rewards = own_policies.main(str(picture))
    assert rewards["worst-fit"] < rewards["first-fit"] < rewards["dra"]
    assert rewards["worst-fit, 2 servers"] < rewards["first-fit, 2 servers"]
    assert picture.stat().st_size > 10_000
