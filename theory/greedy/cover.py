"""The program of jobs that given numbers of servers carry, over all configurations."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from theory.exact.columns import ConfigurationColumns
from theory.exact.programs import Bound, LinearProgram, Vertex
from theory.instance import Instance


class Cover:
    """The greatest multiple of the jobs that given numbers of servers carry, by a warm-started linear program."""

    def __init__(self, instance: Instance, need: Sequence[int]) -> None:
        width, pools = len(need), [pool.space for pool in instance.pools]
        rows: list[tuple[Bound, Bound]] = [(None, 0)] * (width + len(pools))
        self._program = LinearProgram(rows)
        self._program.add_columns([1], [dict(enumerate(need))])
        self._first = width
        self.columns = ConfigurationColumns(self._program, pools, range(width), range(width, width + len(pools)))

    def multiple(self, servers: Sequence[Fraction | int]) -> Vertex:
        """Return the optimal vertex for numbers of servers of the pools."""
        for p, number in enumerate(servers):
            self._program.set_row(self._first + p, None, number)
        return self.columns.solve()
