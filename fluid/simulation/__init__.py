"""Simulation: one core for all models, and one folder a model (``loss``, ``queue``, ``slotted``) with its policies.

A scenario says what is simulated, a policy who decides; `simulate` runs replications of both. `driver` runs
replications, `runner` binds a policy to the loop of its model, `measures` is written at every event, and `results`
takes intervals. `policy_interface` says what a policy is, `authors` and `prepared` what one of an author's may do,
`options` how their options are read, `oracle` what policies of queues share. `documents` says how a model makes its
scenario of a document.
"""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "loss.model": ("LossScenario",),
        "queue.model": ("QueueScenario",),
        "slotted.model": ("SlottedScenario", "slotted_scenario"),
        "slotted.document": ("sized_scenario",),
        "loss.policies.dra": ("ReservationState",),
        "slotted.sizes": ("SizeLaw", "discrete", "size_law"),
        "driver": ("run_once", "simulate"),
        "policy_interface": ("Policy", "nothing_to_depart", "nothing_to_refresh", "nothing_to_ring"),
        "policy_names": ("all_options", "policy"),
        "state": (
            "ASKS",
            "MOVES",
            "REASSIGNED",
            "Common",
            "QueueCommon",
            "Setting",
            "common",
            "fits",
            "longest_that_fits",
            "move",
            "one_of",
            "put",
            "queue_fields",
            "serve",
            "start",
            "state_type",
            "stop",
            "take",
        ),
        "slotted.state": (
            "SlottedCommon",
            "SlottedSetting",
            "begin",
            "class_size",
            "largest_that_fits",
            "moves_are_many",
            "place_nowhere",
            "shared",
            "smallest_waiting",
            "waiting",
        ),
        "arrivals": ("ArrivalLaw", "JobList", "Law"),
        "options": ("Expression", "OfServers", "options_of"),
        "results": ("LossResult", "QueueResult", "Result", "Run"),
    },
)
