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
    "theory.configurations": ("count", "feasible", "maximal"),
    "theory.knapsack": ("max_reward", "max_weight"),
    "theory.greedy": (
        "GreedyAssignment",
        "global_greedy",
        "greedy_configurations",
        "is_global_greedy",
        "is_permutation_of_proposition_3_1",
        "sequential_greedy",
    ),
    "theory.assignment": ("AssignmentProgram", "OptimalAssignment", "Solution", "optimal_assignment", "solve"),
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
    "theory.scaling": ("Scaling", "scaling"),
    "theory.servers": ("greedy_placement", "least_servers", "lemma_b1_bound"),
    "fluid.policy": ("Policy",),
    "fluid.state": ("Setting",),
    "fluid.policies": ("policy",),
    "fluid.simulate.loss": ("Scenario",),
    "fluid.simulate.replications": ("simulate_loss",),
    "fluid.simulate.queue.scene": ("QueueScene",),
    "fluid.simulate.slotted.options": ("parse_slotted", "sized_scene"),
    "fluid.simulate.slotted.scene": ("SlottedScene", "slotted_scene"),
    "fluid.simulate.slotted.sizes": ("size_law",),
    "fluid.simulate.waiting": ("simulate_waiting",),
    "fluid.markov": ("stationary_law",),
    "fluid.markov_queue": ("queue_law", "slotted_law"),
    "fluid.reservation": ("FluidPath", "Reservation", "fluid_path"),
    "fluid.crosscheck": ("CrossCheck", "crosscheck"),
    "fluid.lyapunov": ("Lyapunov", "is_unique_maximiser", "lyapunov"),
    "fluid.maxweight": ("MaxWeight", "QueuePath", "queue_path"),
    "fluid.decay": ("decay_rate", "escape_velocity", "guaranteed_rate", "least_time", "linear_bound"),
    "fluid.quadratic": ("Algorithm1",),
    "fluid.cone": ("LeastMove", "least_move"),
    "fluid.trace": ("Trace", "read_alibaba", "read_google_events", "read_google_table", "read_plain", "read_trace"),
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
    "theory.oracles": ("oracle",),
    "theory.worst_weights": ("worst_weights",),
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
    "bounds.certificate": (
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
