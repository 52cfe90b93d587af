"""packproof: checks and sharpens the theory of packing jobs into servers, and searches for its worst cases.

The one name to import. What a user needs is here or one level below, in the subpackages: ``packproof.solve``,
``packproof.simulate``, ``packproof.sharing.ps_dsf``, ``packproof.region.region_facets``. Every name and every room is
loaded on first use, so ``import packproof`` is quick.

Examples
--------
>>> import packproof
>>> packproof.solve(packproof.additive([12], [[5], [7]])).ratio
Fraction(3, 4)
>>> cluster = packproof.sharing.cluster([[9, 12]], [[1, 2], [3, 1]])
>>> [str(tasks) for tasks in packproof.sharing.drf(cluster).totals]
['18/5', '9/5']
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from theory.doors import imported
from theory.shown import VIEWS
from theory.version import __version__

if TYPE_CHECKING:
    from importlib.abc import Loader  # at the start it would take as long as all the rest

ROOMS = {
    "greedy": "theory.greedy",
    "region": "theory.region",
    "partition": "theory.partition",
    "sharing": "theory.sharing",
    "rules": "theory.rules",
    "models": "theory.models",
    "files": "theory.files",
    "limits": "fluid.limits",
    "chains": "fluid.chains",
    "simulation": "fluid.simulation",
    "admission": "fluid.admission",
    "traces": "fluid.traces",
    "experiment": "fluid.experiment",
    "statistics": "fluid.statistics",
    "certificates": "bounds.certificates",
    "exports": "bounds.exports",
    "adversary": "bounds.adversary",
    "testing": "bounds.testing",
    "views": "bounds.views",
}
"""The rooms, by the name under which they are reached: ``packproof.NAME``."""

_NAMES = {
    "theory.errors": ("InputError", "TooLargeError"),
    "theory.compiled": ("kernel", "step"),
    "theory.instance": (
        "Additive", "Configuration", "Explicit", "Instance", "JobType", "Pool", "additive", "explicit",
        "pooled",
    ),
    "theory.files": (
        "catalogue", "catalogue_instance", "instance_document", "parse_cluster", "parse_instance", "read_cluster",
        "read_instance", "read_sizes", "Sizes", "write_instance",
    ),
    "theory.exact.knapsack": ("count", "feasible", "max_reward", "max_weight", "maximal"),
    "theory.greedy": (
        "ApproximateSolution", "AssignmentProgram", "GreedyAssignment", "OptimalAssignment", "Scaling", "Solution",
        "global_greedy", "greedy_configurations", "greedy_placement", "is_global_greedy",
        "is_permutation_of_proposition_3_1", "least_servers", "lemma_b1_bound", "optimal_assignment", "scaling",
        "sequential_greedy", "solve", "solve_approximately",
    ),
    "theory.partition": (
        "Law", "Partition", "best_partitions", "bracket", "discrete", "empirical", "guarantee", "lower_rounded",
        "piecewise", "supportable", "uniform", "universal_partition", "upper_rounded", "vqs_workload",
    ),
    "theory.region": (
        "CapacityProgram", "Region", "kept_fraction", "oracle", "region_facets", "region_slice", "single_types",
        "stable_servers", "traffic_intensity", "worst_weights",
    ),
    "theory.sharing": (
        "MECHANISMS", "Cluster", "c_drfh", "cdrf", "cluster", "decide", "drf", "group_shares", "is_certified",
        "is_hierarchical_drf", "is_ps_dsf", "is_ps_dsf_tdm", "max_min_violation", "numeric_max_min", "numeric_ps_dsf",
        "ps_dsf", "ps_dsf_tdm", "ps_dsf_violation", "tsf", "whole_tasks",
    ),
    "fluid.simulation": (
        "LossScenario", "Policy", "QueueScenario", "Setting", "SlottedScenario", "policy", "simulate", "size_law",
        "sized_scenario", "slotted_scenario",
    ),
    "fluid.chains": ("queue_law", "slotted_law", "stationary_law"),
    "fluid.limits": (
        "Algorithm1", "CrossCheck", "FluidPath", "LeastMove", "Lyapunov", "MaxWeight", "QueuePath", "Reservation",
        "crosscheck", "decay_rate", "escape_velocity", "fluid_path", "guaranteed_rate", "is_unique_maximiser",
        "least_move", "least_time", "linear_bound", "lyapunov", "queue_path",
    ),
    "fluid.traces": (
        "Trace", "read_alibaba", "read_google_events", "read_google_table", "read_plain", "read_trace",
    ),
    "fluid.experiment": ("Store", "read_grid", "run_experiment"),
    "fluid.files": ("parse_slotted",),
    "bounds.certificates": (
        "allocation_certificate", "assignment_certificate", "region_certificate", "throughput_certificate",
    ),
    "bounds.checker": ("check",),
    "bounds.adversary": (
        "AssignmentSpace", "Budget", "DivisionSpace", "Found", "ItemSpace", "Judged", "LieSpace", "Refutation",
        "Space", "WorstInstance", "WorstWorkload", "attack", "by_stages", "estimate_items", "judge_assignment",
        "judge_division", "judge_items", "judge_lie", "refutation", "worst_instance", "worst_workload",
    ),
    "bounds.results": ("verify",),
    "bounds.results.asked": ("claims",),
    "bounds.results.instances.families": ("one_resource_family", "one_resource_limit", "one_resource_member"),
    "bounds.results.instances.papers": ("table_4", "tight_family_additive"),
}  # fmt: skip
VIEWS.append(lambda: _loaded("bounds.views.notebook"))  # a module with `html` and `rows`
_HERE = os.path.dirname(os.path.realpath(__file__))
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = ["__version__", *sorted(ROOMS), *sorted(_HOME)]  # noqa: PLE0604 (names, computed)


def __getattr__(name: str) -> Any:
    """Load a public name, or a room, on first use."""
    if name in ROOMS:
        value: Any = _room(name)
    elif name in _HOME:
        value = getattr(_loaded(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'packproof' has no attribute {name!r}")
    globals()[name] = value
    return value


def _loaded(module: str) -> Any:
    """Import a module of packproof.

    Raises
    ------
    ImportError
        In a checkout, if another package named ``theory``, ``fluid`` or ``bounds`` is found before packproof's.
    """
    floor = module.partition(".")[0]
    file = getattr(imported(floor), "__file__", None)
    if file is None or os.path.dirname(os.path.dirname(os.path.realpath(file))) != _HERE:
        raise ImportError(
            f"packproof: the package {floor!r} at {file} is not packproof's and hides it: "
            "install packproof without --editable, or run it from another folder"
        )
    return imported(module)


class _Room(ModuleType):
    """A room: whoever calls it learns what to call."""

    def __call__(self, *arguments: Any, **named: Any) -> None:
        """Refuse to be called."""
        del arguments, named
        room, module = next((name, module) for name, module in ROOMS.items() if self.__name__.endswith(module))
        functions = [name for name in _NAMES.get(module) or self.__all__ if name.islower()]
        some = ", ".join(f"{room}.{name}" for name in functions[:8])
        raise TypeError(f"packproof.{room} is a module, not a function: call a function of it ({some}, ...)")


def _room(name: str) -> Any:
    """Load a room."""
    room = _loaded(ROOMS[name])
    if name != "testing":  # pytest would collect what can be called by such a name
        room.__class__ = _Room
    return room


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)


LEAST_MEMORY = 600_000_000
"""Bytes of address space with which commands load numpy: with less, OpenBLAS may end the process by itself, or hang."""


class _WithoutNumpy:
    """Lets numpy fail to load, before OpenBLAS can end the process with the status of verdicts."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Refuse numpy; find nothing."""
        del path, target
        if name == "numpy":
            raise MemoryError


def _refuse_numpy_in_little_memory() -> None:
    with suppress(ImportError):  # a system without limits, such as Windows
        from resource import RLIMIT_AS, getrlimit

        if 0 <= getrlimit(RLIMIT_AS)[0] < LEAST_MEMORY:  # no limit is -1
            sys.meta_path.insert(0, _WithoutNumpy())


def main() -> None:
    """Run the command line and exit with its status, while it is loaded as well."""
    try:
        import signal

        # Ctrl-C does so by itself; from here on both end in one line, whatever is being imported
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        _refuse_numpy_in_little_memory()
        _loaded("bounds.cli").main()
    except ImportError as error:
        problem, status = str(error), 2
    except KeyboardInterrupt:
        problem, status = "interrupted", 130
    except MemoryError:
        problem, status = "packproof: the memory is used up: expected more of it (see ulimit -v)", 2
    except OSError as error:  # such as no file handle left
        problem, status = f"packproof: {error.filename or 'cannot be loaded'}: {error.strerror}", 2
    print(problem, file=sys.stderr)
    sys.exit(status)


if "__path__" not in globals():  # a checkout, where this file is no package
    __path__: list[str] = []  # makes ``from packproof.testing import instances`` look for a room, which `_Rooms` finds


class _Rooms:
    """Finds the rooms as modules of packproof: ``packproof.testing`` is ``bounds.testing`` itself."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Find a room."""
        del path, target
        package, _, room = name.partition(".")
        return ModuleSpec(name, cast("Loader", _Rooms())) if package == __name__ and room in ROOMS else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave the module to be made, for `exec_module` to replace it."""

    def exec_module(self, module: ModuleType) -> None:
        """Let the room stand under its second name."""
        sys.modules[module.__name__] = _room(module.__name__.partition(".")[2])


sys.meta_path.append(_Rooms())

if __name__ == "__main__":
    main()
