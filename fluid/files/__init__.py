"""From files to scenarios: the table ``[simulation]``, and the scenario of a document for a policy."""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "tables": ("parse_continuous", "parse_slotted"),
        "scenarios": ("Times", "read_scenario", "sized_scenario"),
    },
)
