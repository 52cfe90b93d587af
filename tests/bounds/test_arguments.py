"""Functions check their arguments as the command line does, and name the argument."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import packproof
from bounds.checker import Refused
from bounds.cli import run
from bounds.cli.endings import status_of
from theory.errors import ArgumentError

ONE = packproof.additive([2], [[1]], workload=["1/2"])
LOSS = packproof.LossScenario(ONE, 1, 10.0, 1.0)
NO_INSTANCE = "instance: expected an Instance (packproof.additive makes one, packproof.read_instance reads one), got "

CALLS: list[tuple[Callable[[], Any], str]] = [
    (lambda: packproof.solve("x.toml"), NO_INSTANCE + "the str 'x.toml'"),
    (lambda: packproof.worst_workload(3), NO_INSTANCE + "the int 3"),
    (lambda: packproof.worst_instance({}, "all"), NO_INSTANCE + "the dict {}"),
    (lambda: packproof.worst_instance(ONE, "nothing"), "vary: expected workload, rewards or all, got 'nothing'"),
    (lambda: packproof.region_facets(None), NO_INSTANCE + "the NoneType None"),
    (lambda: packproof.scaling("x"), NO_INSTANCE + "the str 'x'"),
    (lambda: packproof.CapacityProgram([]), NO_INSTANCE + "the list []"),
    (lambda: packproof.drf(ONE), "cluster: expected a Cluster (packproof.cluster makes one"),
    (lambda: packproof.tsf("x"), "cluster: expected a Cluster"),
    (lambda: packproof.ps_dsf("x"), "cluster: expected a Cluster"),
    (lambda: packproof.LossScenario("x", 1, 10.0, 1.0), NO_INSTANCE),
    (lambda: packproof.LossScenario(ONE, 0, 10.0, 1.0), "servers: expected a whole number of at least 1, got 0"),
    (lambda: packproof.LossScenario(ONE, 1.5, 10.0, 1.0), "servers: expected a whole number of at least 1, got 1.5"),
    (lambda: packproof.LossScenario(ONE, True, 10.0, 1.0), "servers: expected a whole number of at least 1, got True"),
    (lambda: packproof.LossScenario(ONE, 1, "10", 1.0), "until: expected a time, got the str '10'"),
    (lambda: packproof.LossScenario(ONE, 1, float("inf"), 1.0), "until: expected a time greater than 0, got inf"),
    (lambda: packproof.LossScenario(ONE, 1, float("nan"), 1.0), "until: expected a time greater than 0, got nan"),
    (lambda: packproof.LossScenario(ONE, 1, 10.0, 10.0), "warmup: expected 0 or more and less than until 10.0"),
    (lambda: packproof.LossScenario(ONE, 1, 10.0, -1.0), "warmup: expected 0 or more"),
    (lambda: packproof.LossScenario(ONE, 1, 10.0, 1.0, bins=0), "bins: expected a whole number of at least 1, got 0"),
    (lambda: packproof.QueueScenario(ONE, -1, 10.0, 1.0), "servers: expected a whole number of at least 1, got -1"),
    (lambda: packproof.simulation.slotted_scenario(ONE, 0, 10, 1), "servers: expected a whole number of at least 1"),
    (lambda: packproof.simulate("first-fit", ONE), "scenario: expected a LossScenario, a QueueScenario or a"),
    (lambda: packproof.simulate(3, LOSS), "policy: expected a Policy or its name, got the int 3"),
    (
        lambda: packproof.simulate("first-fit", LOSS, replications=0),
        "replications: expected a whole number of at least",
    ),
    (lambda: packproof.simulate("first-fit", LOSS, seed=-1), "seed: expected a whole number of at least 0, got -1"),
    (
        lambda: packproof.simulate("first-fit", LOSS, workers=0),
        "workers: expected -1 or a number from 1 to 1024, got 0",
    ),
    (lambda: packproof.simulate("first-fit", LOSS, engine="x"), "engine: expected local or dask://HOST:PORT, got 'x'"),
    (lambda: packproof.simulate("bf-js", LOSS), "policy: bf-js is not a policy for"),
    (lambda: packproof.stationary_law(packproof.policy("bf-js"), ONE, 1), "policy: bf-js is not a loss-system policy"),
    (lambda: packproof.stationary_law(packproof.policy("dra"), ONE, 0), "servers: expected a whole number"),
    (lambda: packproof.additive(12, [[5], [7]]), "capacity: expected a list of whole numbers, one a resource, got 12"),
    (
        lambda: packproof.additive("12", [[5], [7]]),
        "capacity: expected a list of whole numbers, one a resource, got '12'",
    ),
    (lambda: packproof.additive([12], 5), "demands: expected a list of rows of whole numbers, one row a type, got 5"),
    (lambda: packproof.additive([12], [5, 7]), "demands: expected a list of rows of 1 whole numbers, got 5"),
    (lambda: packproof.additive([12], [[5]], rewards=3), "rewards: expected a list of numbers, one a type, got 3"),
    (lambda: packproof.models.static("x"), NO_INSTANCE + "the str 'x'"),
    (lambda: packproof.models.intensity(3), NO_INSTANCE + "the int 3"),
    (lambda: packproof.models.drift(3, [1]), NO_INSTANCE + "the int 3"),
    (lambda: packproof.models.drift(ONE, [1, 2]), "queues: expected 1 number, one a type, got [1, 2]"),
    (lambda: packproof.models.configuration(3), "law: expected a Law"),
    (lambda: packproof.models.ps_dsf_tdm(ONE), "cluster: expected a Cluster"),
    (lambda: packproof.verify("tight"), "claim_: expected a Claim (packproof.claims gives them by id), got the str"),
    (lambda: packproof.assignment_certificate(ONE), "solution: expected a Solution (packproof.solve makes one), got"),
    (lambda: packproof.tight_family_additive("3"), "types: expected a whole number of at least 2, got '3'"),
    (lambda: packproof.tight_family_additive(1), "types: expected a whole number of at least 2, got 1"),
    (lambda: packproof.one_resource_family(1), "types: expected a whole number of at least 2, got 1"),
    (lambda: packproof.one_resource_member(3, 0), "small: expected a whole number of at least 1, got 0"),
    (lambda: packproof.one_resource_limit(0), "powers: expected a whole number of at least 1, got 0"),
    (lambda: packproof.simulate("firstfit", LOSS), "policy: expected one of"),
    (lambda: packproof.policy("dar"), "policy: expected one of"),
    (lambda: packproof.queue_law(packproof.policy("dra"), ONE, 1, most_waiting=3), "policy: dra is not a policy for"),
]


@pytest.mark.parametrize(("call", "said"), CALLS, ids=[f"{i}-{said[:24]}" for i, (_, said) in enumerate(CALLS)])
def test_a_wrong_argument_is_named(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert str(caught.value).startswith(said), str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_file_is_no_certificate() -> None:
    with pytest.raises(Refused, match="for a file, `packproof check FILE` reads it"):
        packproof.check("w.json")


def test_a_solution_shows_its_numbers() -> None:
    solution = packproof.solve(packproof.additive([12], [[5], [7]]))
    assert repr(solution) == "Solution(ratio=3/4, greedy.reward=3/2, optimal.reward=2, types=2)"


def test_numbers_of_numpy_are_numbers() -> None:
    scenario = packproof.LossScenario(ONE, np.int64(2), np.float64(10.0), 1)
    assert packproof.simulate("first-fit", scenario, replications=np.int32(1)).runs


def test_the_command_line_writes_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(ArgumentError("most_waiting", "expected a number, got 0")) == 2
    assert capsys.readouterr().err == "--most-waiting: expected a number, got 0\n"
    command = ["simulate", "examples/four_types.toml", "--policy", "first-fit", "--servers", "2", "--until", "5"]
    assert run([*command, "--engine", "here"]) == 2
    assert capsys.readouterr().err.startswith("--engine: expected local or dask://HOST:PORT")
