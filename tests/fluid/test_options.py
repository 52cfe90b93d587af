"""What is said of a policy's options begins with the field of the file, so that whoever knows the file can name it."""

import re
from typing import Any

import numpy as np
import pytest

from fluid.policies import policy
from fluid.policies.slotted.partition import virtual_queues
from fluid.policies.slotted.state import SlottedSetting
from fluid.policy import Setting
from fluid.simulate.expression import function_of_servers
from theory.errors import InputError, TooLargeError
from theory.instance import additive, explicit

TWO = additive([12], [[5], [7]])


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("nonpreemptive", {"oracle": "best"}, "simulation.oracle: expected one of exact, single, greedy, got 'best'"),
        ("max-weight-local", {"oracle": 3}, "simulation.oracle: expected a name, got 3"),
        ("randomized-sampling", {"sampling": "1e30"}, "simulation.sampling: expected a number from 0 to 1e+12"),
        ("randomized-sampling", {"expiry": -1}, "simulation.expiry: expected a number from 0 to 1e+12, got -1"),
        ("dra", {"reservation": function_of_servers("L^L")}, "simulation.reservation: expected a number from 0 to"),
        ("dra", {"reservation": -1}, "simulation.reservation: expected a number from 0 to 2^31 at L = 1000, got -1"),
        ("dra", {"reservation": "many"}, "simulation.reservation: expected a number from 0 to 2^31 at L = 1000, got"),
    ],
)  # fmt: skip
def test_options_begin_with_their_field(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(words)}"):
        policy(name).prepare(Setting(TWO, 1000, options))


@pytest.mark.parametrize("name", ["vqs", "vqs-bf"])
@pytest.mark.parametrize("given", [1, 41, 3.5])
def test_partitions(name: str, given: float) -> None:
    with pytest.raises(InputError, match=r"^simulation\.partition: expected a (whole )?number from 2 to 40, got"):
        policy(name).prepare(SlottedSetting(np.array([3, 6]), 10, 2, {"partition": given}))
    with pytest.raises(InputError, match=r"^simulation\.partition: "):
        virtual_queues(np.array([3, 6]), 10, 1)


def test_initial_contents_are_told_by_name() -> None:
    full = np.zeros((4, 2), np.int32)
    full[2] = [2, 1]
    for name in ("first-fit", "dra", "power-of-d"):
        with pytest.raises(InputError, match=r"^simulation\.initial: server 3 cannot hold 2 t1, 1 t2$"):
            policy(name).prepare(Setting(TWO, 4, {}, full))
    with pytest.raises(InputError, match=r"^simulation\.initial: expected 4 rows of 2 numbers, got .*\(4, 3\)$"):
        policy("first-fit").prepare(Setting(TWO, 4, {}, np.zeros((4, 3), np.int32)))
    with pytest.raises(InputError, match=r"^simulation\.initial: expected empty servers"):
        policy("nonpreemptive").prepare(Setting(TWO, 4, {}, np.ones((4, 2), np.int32)))


def test_policies_that_do_not_suit_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = explicit([[2, 0], [0, 1]])
    with pytest.raises(InputError, match=r"^simulation\.oracle: 'greedy' expects"):
        policy("nonpreemptive").prepare(Setting(listed, 2, {"oracle": "greedy"}))
    with pytest.raises(InputError, match=r"^--policy randomized-sampling: expected servers with capacities"):
        policy("randomized-sampling").prepare(Setting(listed, 2, {}))
    with pytest.raises(TooLargeError, match=r"^--policy max-weight: expected at most 64 sizes"):
        policy("max-weight").prepare(SlottedSetting(np.arange(1, 66), 100, 2, {}))
    monkeypatch.setattr("fluid.policies.queue.oracle.LIMIT", 1)
    with pytest.raises(TooLargeError, match=r"^simulation\.oracle: .*; or oracle = 'greedy'$"):
        policy("nonpreemptive").prepare(Setting(TWO, 2, {}))
