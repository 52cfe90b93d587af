"""The file of a grid as it stands: what is fixed, what varies, and where which fields belong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

from fluid.simulation.policy_names import all_options
from theory.errors import InputError, meant
from theory.files.document import Fields, read_document
from theory.files.record import Expected, Placed, Range, Some, fields_of, read

ARRIVING = ("arrivals", "service", "initial", "rate", "intensity", "service_rate", "grid")
"""Fields of ``[simulation]`` that say which jobs come, whatever the policy."""

ONE_VALUE = ("instance", "until", "warmup", "replications", "seed")
"""Fields of a grid that have one value for all cells."""

AT_THE_TOP = ("policy", "servers", "workload", "intensity")
"""Fields that stand at the top, or vary."""


@dataclass(frozen=True)
class GridFile(Placed):
    """The grid of an experiment: every combination of what varies is run."""

    SIGN: ClassVar = "vary"

    instance: Annotated[str, Expected("the name of an instance file"), "beside the grid file"]
    until: Annotated[float, Range(0, above=True), Expected("a positive time"), "how long each cell runs"]
    warmup: Annotated[
        float | None, Range(0), Expected("a time"), "before measurements begin; a fifth of `until` unless given"
    ] = None
    replications: Annotated[int, Range(1), Expected("a number of at least 1"), "of each cell"] = 1
    seed: Annotated[int, Range(0), Expected("a whole number"), "of the random numbers"] = 0
    policy: Annotated[Any, "name of a policy, or code of your own; may vary"] = None
    servers: Annotated[Any, "number of servers; may vary"] = None
    workload: Annotated[Any, "factor of the workload of the instance; may vary"] = None
    intensity: Annotated[Any, "traffic intensity that the workload is scaled to; may vary"] = None
    simulation: Annotated[
        Mapping[str, Any], "what holds in all cells, where the instance says otherwise or nothing"
    ] = field(default_factory=dict)
    vary: Annotated[
        Mapping[str, Annotated[tuple[Any, ...], Expected("a list of values"), Some("a list of at least one value")]],
        Expected("a table"),
        "lists of values, by the name of what varies: any field of [simulation], or one that may vary at the top",
    ] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.warmup is not None and self.warmup >= self.until:
            raise InputError("warmup", f"expected less than until, got {self.warmup:g}")
        for name, values in self.vary.items():
            if name in ONE_VALUE:
                raise InputError(f"vary.{name}", "belongs at the top of the file, with one value for all cells")
            if name in self.simulation:
                raise InputError(f"vary.{name}", "expected it here or under [simulation], found it in both")
            if name in self.fixed():
                raise InputError(name, "expected it here or under [vary], found it in both")
            written = [json.dumps(value, sort_keys=True, default=str) for value in values]
            if len(set(written)) < len(written):
                raise InputError(f"vary.{name}", "expected values of which none comes twice")
        for name in self.simulation:
            if name in AT_THE_TOP and name != "intensity":  # which is a field of laws of sizes, too
                words = "belongs at the top of the file, or under [vary] with a list of values"
                raise InputError(f"simulation.{name}", words)
            if name in ONE_VALUE:
                raise InputError(f"simulation.{name}", "belongs at the top of the file")

    def fixed(self) -> dict[str, Any]:
        """Return what could vary and stands at the top."""
        return {name: value for name in AT_THE_TOP if (value := getattr(self, name)) is not None}


def read_grid_file(path: str | Path) -> GridFile:
    """Read the file of a grid; what belongs elsewhere in it is told so.

    Raises
    ------
    InputError
        One line that names the file, the field and what was expected.
    """
    fields = Fields(read_document(path), str(path))
    unknown = [name for name in fields.names() if name not in {one.name for one in fields_of(GridFile)}]
    for name in unknown if isinstance(fields.peek("instance"), str) else ():  # else it is perhaps no grid
        if name in all_options() or name in (*ARRIVING, "slot"):
            fields.fail(name, "belongs under [simulation], with one value, or under [vary], with a list of values")
        fields.fail(
            name,
            f"unknown field; at the top stand {', '.join(ONE_VALUE)}, {', '.join(AT_THE_TOP)} and the tables "
            f"[simulation] and [vary]{meant(name, (*ONE_VALUE, *AT_THE_TOP))}",
        )
    return read(GridFile, fields)
