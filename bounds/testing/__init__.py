"""The property-test kit (``packproof.testing``): strategies for hypothesis, and assertions for authors of rules.

Needs hypothesis (extra ``testing``). No other room imports this one.

Examples
--------
>>> from hypothesis import given, settings
>>> from packproof.testing import assert_keeps, item_lists
>>> @settings(max_examples=50, derandomize=True, database=None)
... @given(item_lists())
... def test_first_fit(items):
...     assert_keeps(first_fit, "1/2", items, target=True)
>>> from examples.rules_to_attack import first_fit
>>> test_first_fit()
"""

from importlib.util import find_spec

from theory.doors import doors

if find_spec("hypothesis") is None:
    raise ImportError("packproof.testing needs hypothesis: pip install 'packproof[testing]'")

__getattr__, __all__ = doors(
    __name__,
    {
        "strategies": (
            "clusters", "explicit_instances", "instances", "item_lists", "rationals", "size_laws",
        ),
        "queueing": ("Queue", "SlottedQueue", "arrival_laws", "queues", "service_laws", "slotted_queues"),
        "files": ("load",),
        "assertions": ("Heuristic", "assert_keeps", "check_heuristic", "reward_of"),
    },
)  # fmt: skip
