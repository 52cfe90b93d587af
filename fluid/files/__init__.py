"""From files to scenarios: the table ``[simulation]``, and the scenario of a document for a policy.

`tables` and `initial` read what the table says, with what the model of the policy adds (``document.py`` of its folder);
`given_by_trace` is what types may leave to a trace, and `measured` takes it from one.
"""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "tables": ("Place", "parse_slotted", "parse_table"),
        "scenarios": ("Given", "read_scenario"),
    },
)
