"""What an author's policy of jobs with types is held against, in loss systems and in queues in continuous time."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.authors import Books, first_difference
from fluid.simulation.measures import Measures
from fluid.simulation.state import State, unique_rows
from theory.instance import Additive

WAITING, SERVED = 0, 1
"""Rows of ``measures.inside``, where the loop of an author's policy counts jobs for itself."""


class TypedBooks(Books):
    """What the loops know of jobs with types."""

    constants = ("demands", "generators", "spans", "pool")

    def __init__(self, setting: Any, state: State) -> None:
        super().__init__(setting, state)
        self._capacity = state.free + state.counts.astype(np.int64) @ state.demands

    def open(self, state: State, measures: Measures) -> None:
        """Count the jobs in service, for `note_and_count` to go on from."""
        measures.inside[SERVED] = state.totals

    @abstractmethod
    def in_service(self, state: State, jobs: Any) -> NDArray[np.int64]:
        """Return the jobs in service by server and type, as the loop has them in its own lists."""

    def expected(self, state: State, jobs: Any, measures: Measures) -> dict[str, Any]:
        """Return the jobs in service, and what they leave free."""
        del measures
        counts = self.in_service(state, jobs)
        free = self._capacity - counts @ self._constants["demands"]
        return {"counts": counts, "totals": counts.sum(axis=0), "free": free}

    def overfull(self, state: State) -> NDArray[Any]:
        """Return which servers hold no configuration of their pool."""
        found = np.zeros(len(state.counts), bool)
        for p, pool in enumerate(self._setting.instance.pools):
            servers = np.flatnonzero(self._constants["pool"] == p)
            counts = state.counts[servers]
            if isinstance(pool.space, Additive):
                needs = counts.astype(np.int64) @ np.array(pool.space.demands, np.int64)
                found[servers] = (needs > np.array(pool.space.capacity, np.int64)).any(axis=1)
            elif len(servers):
                rows, _, inverse = unique_rows(counts)
                found[servers] = ~np.array([pool.space.holds(row) for row in rows.tolist()])[inverse]
        return found


def refusal_of_common(state: State, wanted: dict[str, NDArray[Any]]) -> str | None:
    """Return what is wrong with the common part as it was prepared, by the one that packproof makes."""
    for name, model in wanted.items():
        array = getattr(state, name)
        if name in ("moves", "clocks"):
            fits_shape = (
                array.ndim == model.ndim and array.shape[1:] == model.shape[1:] and (name == "clocks" or len(array))
            )
            shape = f"({'n, 3' if name == 'moves' else 'n,'})"
        elif name in ("free", "demands", "generators"):
            empty = (0, *model.shape[1:]) if name == "generators" else (len(model), 0)
            fits_shape, shape = array.shape in (model.shape, empty), str(model.shape)
        else:
            fits_shape, shape = array.shape == model.shape, str(model.shape)
        if not fits_shape:
            return f"field {name}: expected shape {shape}, got {array.shape}"
        if array.dtype.kind != model.dtype.kind or array.dtype.itemsize < model.dtype.itemsize:
            return f"field {name}: expected {model.dtype}, got {array.dtype}"
        if name == "slots":
            if (array < 0).any():
                return "field slots: expected at least 0"
        elif name == "clocks":
            if not (np.isfinite(array) & (array >= 0)).all():
                return f"field clocks: expected rates of at least 0, got {array.tolist()}"
        elif name == "spans" and not len(state.generators):
            continue
        elif name not in ("moves",) and array.size and (words := first_difference(array, model)) is not None:
            return f"field {name}: is{words}"
    if state.free.shape[1] != state.demands.shape[1]:
        return f"field demands: expected as many resources as free, got {state.demands.shape} and {state.free.shape}"
    return None
