"""Exact Markov chains made from the functions of the policies: loss systems, queues, slotted queues, saturated ones."""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "loss": ("stationary_law",),
        "queue": ("queue_law", "slotted_law"),
        "saturated": ("Saturated",),
    },
)
