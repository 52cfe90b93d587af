"""packproof: checks, sharpens and attacks the theory of packing jobs into servers.

The one name to import: lazy doors to the public names of the three floors, so that ``import packproof`` is quick and
each name loads what it needs on first use.

Examples
--------
>>> import packproof
>>> packproof.solve(packproof.additive([12], [[5], [7]])).ratio
Fraction(3, 4)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_DOORS = {
    "theory.errors": ("InputError", "TooLargeError"),
    "theory.instance": ("Additive", "Explicit", "Instance", "JobType", "Pool", "additive", "explicit", "pooled"),
    "theory.files": ("instance_document", "parse_instance", "read_instance", "write_instance"),
    "theory.files.catalogue": ("catalogue", "catalogue_instance"),
    "theory.exact.configurations": ("count", "feasible", "maximal"),
    "theory.exact.knapsack": ("max_reward", "max_weight"),
    "theory.greedy.assignment": (
        "GreedyAssignment",
        "global_greedy",
        "greedy_configurations",
        "is_global_greedy",
        "is_permutation_of_proposition_3_1",
        "sequential_greedy",
    ),
    "theory.greedy.optimal": ("AssignmentProgram", "OptimalAssignment", "Solution", "optimal_assignment", "solve"),
    "theory.files.sizes": ("Sizes", "read_sizes"),
    "theory.partition": (
        "Law",
        "Partition",
        "bracket",
        "discrete",
        "empirical",
        "lower_rounded",
        "piecewise",
        "supportable",
        "uniform",
        "universal_partition",
        "upper_rounded",
        "vqs_workload",
    ),
    "theory.partition.guarantee": ("best_partitions", "guarantee"),
    "theory.greedy.scaling": ("Scaling", "scaling"),
    "theory.greedy.servers": ("greedy_placement", "least_servers", "lemma_b1_bound"),
    "fluid.simulation.policy": ("Policy",),
    "fluid.simulation.state": ("Setting",),
    "fluid.simulation.policy_names": ("policy",),
    "fluid.simulation.loss.model": ("Scenario",),
    "fluid.simulation.loss.result": ("simulate_loss",),
    "fluid.simulation.queue.model": ("QueueScene",),
    "fluid.files.slotted_table": ("parse_slotted", "sized_scene"),
    "fluid.simulation.slotted.model": ("SlottedScene", "slotted_scene"),
    "fluid.simulation.slotted.sizes": ("size_law",),
    "fluid.simulation.waiting": ("simulate_waiting",),
    "fluid.chains.loss": ("stationary_law",),
    "fluid.chains.queue": ("queue_law", "slotted_law"),
    "fluid.limits.reservation": ("FluidPath", "Reservation", "fluid_path"),
    "fluid.limits.convergence": ("CrossCheck", "crosscheck"),
    "fluid.limits.lyapunov": ("Lyapunov", "is_unique_maximiser", "lyapunov"),
    "fluid.limits.max_weight": ("MaxWeight", "QueuePath", "queue_path"),
    "fluid.limits.decay": ("decay_rate", "escape_velocity", "guaranteed_rate", "least_time", "linear_bound"),
    "fluid.limits.drift": ("Algorithm1",),
    "fluid.limits.cone": ("LeastMove", "least_move"),
    "fluid.traces": ("Trace", "read_alibaba", "read_google_events", "read_google_table", "read_plain", "read_trace"),
    "fluid.experiment": ("Store", "read_grid", "run_experiment"),
    "theory.region": (
        "CapacityProgram",
        "Region",
        "kept_fraction",
        "region_facets",
        "region_slice",
        "single_types",
        "stable_servers",
        "traffic_intensity",
    ),
    "theory.region.oracles": ("oracle",),
    "theory.region.worst_weights": ("worst_weights",),
    "theory.files.clusters": ("parse_cluster", "read_cluster"),
    "theory.sharing": (
        "MECHANISMS",
        "Cluster",
        "c_drfh",
        "cdrf",
        "cluster",
        "decide",
        "drf",
        "is_certified",
        "is_ps_dsf",
        "is_ps_dsf_tdm",
        "ps_dsf",
        "ps_dsf_tdm",
        "tsf",
        "whole_tasks",
    ),
    "bounds.certificates": (
        "allocation_certificate",
        "assignment_certificate",
        "region_certificate",
        "throughput_certificate",
    ),
    "bounds.checker": ("check",),
    "bounds.adversary.budget": ("Budget",),
    "bounds.adversary.search": ("WorstInstance", "worst_instance"),
    "bounds.adversary.workload": ("WorstWorkload", "worst_workload"),
    "bounds.claims": ("claims", "verify"),
}
_HOME = {name: module for module, names in _DOORS.items() for name in names}

__all__ = ["__version__", *sorted(_HOME)]  # noqa: PLE0604 (names, computed)


def __getattr__(name: str) -> Any:
    """Open a door: import the module that holds a public name."""
    if name not in _HOME:
        raise AttributeError(f"module 'packproof' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)


if __name__ == "__main__":
    from bounds.cli import main

    main()
