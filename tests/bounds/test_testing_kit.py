"""The property-test kit: what it draws is valid, what it asserts is right, and failures are tables and files."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from bounds.adversary.division import measure_named, shared_on
from bounds.adversary.documents import items_of
from bounds.adversary.items import Items, contents, fewest_packing
from bounds.cli import run
from bounds.results.instances.families import unfair_family
from bounds.testing import (
    Queue,
    SlottedQueue,
    assert_keeps,
    check_heuristic,
    clusters,
    instances,
    item_lists,
    queues,
    size_laws,
    slotted_queues,
)
from bounds.testing.stability import growth_of_work
from examples.rules_to_attack import density_first, equal_parts, first_fit
from fluid.simulation.policy_names import policy
from theory.errors import InputError, quoted
from theory.files.clusters import parse_cluster, read_cluster
from theory.files.document import parse_document, read_document
from theory.files.instances import parse_instance, read_instance, tables_toml
from theory.files.sizes import parse_sizes
from theory.instance import Instance, additive
from theory.partition.laws import Law, discrete
from theory.partition.rounded import supportable
from theory.region import traffic_intensity
from theory.sharing import tsf
from theory.sharing.model import Cluster

THREE_FIFTHS = Items(((4,),) * 3 + ((10,),) * 3 + ((16,),) * 3, (31,), (0, 1, 2) * 3)
"""First-Fit puts 4 4 4 10 into the first bin, 10 10 into the second, and each 16 alone: five bins instead of three."""

CAUGHT = Queue(read_instance(Path(__file__).parents[2] / "examples" / "caught.toml"))
"""Example 1 of the non-preemptive paper: max-weight at local refresh times is caught at intensity 0.89."""

TWO_SIZES = SlottedQueue(discrete({"2/5": "1/2", "3/5": "1/2"}), 1, Fraction(1, 100))
"""Section VII-A.1 of the high-throughput paper: VQS carries two thirds of what a server can."""


def shares_of_tsf(given: Cluster) -> Sequence[Sequence[Fraction]]:
    return tsf(given).tasks


def kept_share(rule: Any, given: Cluster) -> Fraction:
    return Fraction(shared_on(rule, given, measure_named("fair")).value)


def told(tmp_path: Path, *arguments: Any, **how: Any) -> tuple[list[str], Path]:
    """Return what a failing assertion says, line by line, and the file that it has written."""
    with pytest.raises(AssertionError) as failed:
        assert_keeps(*arguments, folder=tmp_path, **how)
    lines = str(failed.value).splitlines()
    (file,) = tmp_path.iterdir()
    assert lines[-1].startswith(f"written to {file}, for: packproof ")
    return lines, file


def test_a_heuristic_by_its_share_of_the_optimum() -> None:
    """Greedy keeps three quarters of the optimum 8, where it earns 6: much more than a guarantee as a number."""
    instance = additive([12], [[5], [7]], rewards=[4, 4])
    half = Fraction(1, 2)
    assignment = [(0, (2, 0), half), (0, (0, 1), half)]
    assert check_heuristic(instance, lambda _: assignment, Fraction(3, 4)) == Fraction(3, 4)
    with pytest.raises(AssertionError, match="reward 6 is below 4/5 of the optimum 8"):
        check_heuristic(instance, lambda _: assignment, Fraction(4, 5))
    with pytest.raises(AssertionError):
        check_heuristic(instance, lambda _: [*assignment, (0, (1, 1), half)])


def test_a_rule_for_items(tmp_path: Path) -> None:
    lines, file = told(tmp_path, first_fit, "2/3", THREE_FIFTHS)
    assert lines[0] == "first_fit keeps 3/5 (0.6); expected at least 2/3"
    assert lines[2].startswith("items, in bins of capacity ")
    assert " ".join(lines[3].split()) == "item size bin of the rule bin in a packing with 3 bins"
    assert items_of(read_document(file)) == THREE_FIFTHS
    assert not any("Items(" in line for line in lines)
    assert_keeps(first_fit, Fraction(3, 5), THREE_FIFTHS)


def test_an_assignment_rule(tmp_path: Path) -> None:
    """Density first puts two small jobs worth 12 on a server, which could have one worth 30."""
    instance = additive([30], [[11], [30]], rewards=[12, 30], workload=[1000, 1000])
    lines, file = told(tmp_path, density_first, "9/10", instance)
    assert lines[0] == "fill_by_density keeps 4/5 (0.8); expected at least 9/10"
    assert run(["solve", str(file)]) == 0
    back = read_instance(file)
    assert (back.rewards, back.workload) == (instance.rewards, instance.workload)


def test_a_sharing_rule(tmp_path: Path) -> None:
    lines, file = told(tmp_path, shares_of_tsf, "1/4", unfair_family(8))
    assert lines[0] == "shares_of_tsf keeps 1/5 (0.2); expected at least 1/4"
    assert read_cluster(file) == unfair_family(8)
    assert_keeps(equal_parts, 1, unfair_family(8), measure="envy")


@st.composite
def unfair_clusters(draw: Any) -> Cluster:
    """Draw a cluster that TSF divides the worse the larger it is: at size 3 it is under one half already."""
    return unfair_family(draw(st.integers(1, 60)))


@pytest.mark.slow
def test_hypothesis_shrinks_to_a_file_and_a_table(tmp_path: Path) -> None:
    seen: list[Fraction] = []

    @settings(max_examples=60, derandomize=True, database=None, deadline=None)
    @given(unfair_clusters())
    def law(drawn: Cluster) -> None:
        seen.append(kept_share(shares_of_tsf, drawn))
        assert_keeps(shares_of_tsf, "1/2", drawn, target=True, directed=False, folder=tmp_path)

    with pytest.raises(AssertionError) as failed:
        law()
    assert "keeps" in str(failed.value).splitlines()[0]
    small, large = tmp_path / "shares_of_tsf.toml", tmp_path / "shares_of_tsf-worst.toml"
    assert set(tmp_path.iterdir()) == {small, large}
    with pytest.raises(AssertionError) as again:
        assert_keeps(shares_of_tsf, "1/2", read_cluster(small), folder=tmp_path)
    easy, mark, worst = str(failed.value).partition("\n\nthe worst example of this test: ")
    assert mark
    assert str(again.value) == easy
    assert str(large) in worst
    values = [kept_share(shares_of_tsf, read_cluster(file)) for file in (small, large)]
    assert values[1] < values[0] < Fraction(1, 2), "the smallest example is an easy one"
    assert worst.startswith(f"shares_of_tsf keeps {values[1]} ")
    assert all(value >= values[1] for value in seen), "no example was worse"
    assert values[1] in seen
    notes = "\n".join(getattr(failed.value, "__notes__", []))
    assert "servers\n" in notes
    assert "Cluster(" not in notes


@pytest.mark.slow
def test_policies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    how: dict[str, Any] = {"jobs": 3000}
    lines, file = told(tmp_path, "max-weight-local", "89/100", CAUGHT, **how)
    assert lines[0].startswith("max-weight-local does not carry 89/100 of the region: the work that waits grows by ")
    assert run(["simulate", str(file), "--policy", "nonpreemptive", "--servers", "1", "--until", "50"]) == 0
    assert traffic_intensity(parse_instance(without_simulation(file))) == Fraction(89, 100)
    assert_keeps("nonpreemptive", "89/100", CAUGHT, **how)
    file.unlink()
    lines, file = told(tmp_path, "vqs", "4/5", TWO_SIZES, **how)
    assert run(["throughput", str(file)]) == 0
    assert_keeps("bf-js", "7/10", TWO_SIZES, **how)
    capsys.readouterr()


def without_simulation(file: Path) -> dict[str, Any]:
    return {name: table for name, table in read_document(file).items() if name != "simulation"}


@pytest.mark.slow
def test_stable_queues_are_seldom_called_unstable() -> None:
    """An M/M/1 queue at intensity 0.8, sixty tests at 1 %: a correct test fails here with probability 10^-6."""
    queue = Queue(additive([1], [[1]], rewards=[1], workload=[1]))
    found = policy("nonpreemptive")
    alarms = sum(
        growth_of_work(found, queue, Fraction(4, 5), alarm=0.01, jobs=1000, seed=n).unstable for n in range(60)
    )
    assert alarms <= binom.isf(1e-6, 60, 0.01)


@given(item_lists(max_resources=2))
def test_lists_of_items_fit_their_packing(items: Items) -> None:
    for held in contents(items.sizes, items.packing).values():
        assert all(amount <= limit for amount, limit in zip(held, items.capacity, strict=True))
    assert set(items.packing) == set(range(items.bins))
    assert all(map(any, items.sizes))
    assert max(fewest_packing(items)[0]) < items.bins


@pytest.mark.slow
@given(clusters())
def test_clusters_serve_everybody(drawn: Cluster) -> None:
    from theory.files.clusters import cluster_document

    assert all(map(any, drawn.monopoly))
    back = parse_cluster(parse_document(tables_toml(cluster_document(drawn)), "a file", is_json=False))
    assert back.monopoly == drawn.monopoly


@given(size_laws())
def test_laws_of_sizes_are_laws(law: Law) -> None:
    assert sum(p for _, p in law.atoms) == 1
    assert all(0 < size <= 1 for size, _ in law.atoms)


@settings(deadline=None, max_examples=12)
@given(queues())
def test_queues_are_scaled_to_their_intensity(queue: Queue) -> None:
    document = queue.document(Fraction(2, 3))
    table = document.pop("simulation")
    assert traffic_intensity(parse_instance(document)) == Fraction(2, 3)
    assert set(table) == {"arrivals", "service"}
    scenario: Any = queue.scenario(policy("nonpreemptive"), Fraction(2, 3), 1000)
    assert scenario.intensity == pytest.approx(2 / 3)
    assert scenario.rates.sum() * scenario.until == pytest.approx(1000)
    assert (scenario.arrivals, scenario.service.name) == (queue.arrivals, queue.service.name)
    worth = zip(queue.work(), scenario.instance.types, strict=True)
    assert sum(w * t.workload * t.service_rate for w, t in worth) == pytest.approx(2 / 3)


@settings(deadline=None, max_examples=12)
@given(slotted_queues())
def test_slotted_queues_too(queue: SlottedQueue) -> None:
    document = queue.document(Fraction(2, 3))
    sizes = parse_sizes(document)
    assert (sizes.law, sizes.servers) == (queue.sizes, queue.servers)
    most = supportable(*zip(*queue.sizes.atoms, strict=True))
    assert most is not None
    carried = Fraction(document["simulation"]["rate"]) / queue.service_rate / queue.servers
    assert carried == Fraction(2, 3) * most.workload
    scenario: Any = queue.scenario(policy("bf-js"), Fraction(2, 3), 1000)
    assert abs(scenario.rate * scenario.until - 1000) <= scenario.rate


def floats(given: Cluster) -> list[list[float]]:
    return [[0.5] * len(given.servers) for _ in given.users]


CLUSTER = unfair_family(2)


@pytest.mark.parametrize(
    ("rule", "share", "case", "said"),
    [
        (first_fit, 0.5, THREE_FIFTHS, "share: expected an exact number"),
        (first_fit, "3/2", THREE_FIFTHS, "share: expected a number from 0 to 1"),
        (first_fit, "x", THREE_FIFTHS, "share: expected an exact number"),
        (first_fit, 1, [1, 2], "first_fit: expected an Instance"),
        (floats, 1, CLUSTER, "floats: expected exact numbers"),
        (lambda _: [[1]], 1, CLUSTER, "<lambda>: expected tasks of 2 users on 2 servers"),
        (lambda *_: [0], 1, THREE_FIFTHS, "<lambda>: expected one whole number, its bin, for each of 9"),
        (lambda _: 3, 1, additive([2], [[1]], workload=[1]), "<lambda>: expected a list"),
        (lambda _: [(0, 1, 1)], 1, additive([2], [[1]], workload=[1]), "<lambda>: expected a pool"),
        (lambda _: [(0, (1,), 0.5)], 1, additive([2], [[1]], workload=[1]), "<lambda>: expected an exact share"),
        (3, 1, CLUSTER, "3: expected a function"),
        (first_fit, "1/2", CAUGHT, "first_fit: expected a policy"),
        ("nonpreemptive", 1, CAUGHT, "nonpreemptive: expected a share of the region"),
        ("nobody", "1/2", CAUGHT, "expected one of"),
    ],
)
def test_what_is_no_answer_is_refused_in_one_line(rule: Any, share: Any, case: Any, said: str) -> None:
    with pytest.raises(InputError) as refused:
        assert_keeps(rule, share, case)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_place_that_cannot_be_written_hides_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AssertionError, match="keeps 3/5") as failed:
        assert_keeps(first_fit, 1, THREE_FIFTHS, folder=tmp_path / "file")
    assert str(failed.value).splitlines()[-1].startswith("not written: ")


def test_packproof_testing_is_a_module() -> None:
    import bounds.testing
    import packproof.testing
    from packproof.testing import instances as same

    assert packproof.testing is bounds.testing
    assert same is instances


@given(instances())
def test_instances_as_tables(instance: Instance) -> None:
    from bounds.testing.failures import example_tables

    servers, types = example_tables(instance, {})
    assert len(servers.rows) == len(instance.pools)
    assert [row[0] for row in types.rows] == [quoted(name) for name in instance.names]
