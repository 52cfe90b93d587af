"""What the figures of `make bench` are measured beside still runs: nobody would notice a peer that does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks import figures

QUICK = [figure for figure in figures.FIGURES if figure.peer is not None and "1,000 x" not in figure.name]


def once(action: Callable[[], object], runs: int = 1) -> float:
    """Stand for the measure: run an action once, whatever the runs asked for."""
    del runs
    action()
    return 1.0


@pytest.mark.parametrize("figure", QUICK, ids=lambda figure: figure.name)
def test_peers_run(figure: figures.Figure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "cpu", once)
    assert figure.peer is not None
    assert figure.peer[1]() > 0
