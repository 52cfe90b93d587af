"""Worst instances by size: chains against definitions, realisation against brute force, answers re-checked exactly."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds import checker
from bounds.adversary.budget import INTERRUPTED, Budget, OutOfTimeError
from bounds.adversary.by_size import on_record, worst_by_size
from bounds.adversary.chains import Chain, chains, even_chains, proven_bound
from bounds.adversary.realisation import realise
from bounds.cli import run
from bounds.results.instances.drawn import small_grid
from bounds.results.instances.papers import tight_family_additive
from bounds.results.packproof.greedy import ATTAINED
from theory.files.instances import read_instance
from theory.greedy.optimal import solve
from theory.instance import Additive, Instance, additive

SOME = (
    Chain((2, 1), (1, 1)),
    Chain((4, 3, 1), (1, 1, 1)),
    Chain((3, 3, 1), (1, 1, 1)),
    Chain((3, 6, 2), (1, 2, 2)),
    Chain((7, 5, 4, 1), (2, 1, 1, 1)),
)


@st.composite
def any_chain(draw: st.DrawFn) -> Chain:
    alone = [draw(st.integers(2, 6)) for _ in range(draw(st.integers(1, 2)))]
    return Chain((*alone, 1), (*(draw(st.integers(1, n - 1)) for n in alone), 1))


@given(any_chain())
def test_forbidden_configurations_are_the_minimal_ones_that_beat_a_stage(chain: Chain) -> None:
    width = len(chain.alone)

    def beats(k: tuple[int, ...]) -> bool:
        """Whether a configuration beats n_i e_i at some stage i, by the definition of the greedy run."""
        for i, v in enumerate(chain.stage_rewards):
            if any(k[:i]) or not any(k):
                continue
            if sum(u * n for u, n in zip(chain.rewards, k, strict=True)) > v:
                return True
        return False

    box = [k for k in product(*(range(n + 2) for n in chain.alone)) if any(k)]
    # a configuration in the box is minimal if nothing below it beats a stage
    bad = [k for k in box if beats(k)]
    minimal = {k for k in bad if not any(o != k and all(a <= b for a, b in zip(o, k, strict=True)) for o in bad)}
    inside = {k for k in chain.forbidden if all(n <= most + 1 for n, most in zip(k, chain.alone, strict=True))}
    assert inside == minimal
    assert all(beats(k) for k in chain.forbidden)
    assert all(chain.forbidden.count(k) == 1 and len(k) == width for k in chain.forbidden)


@pytest.mark.parametrize("chain", SOME)
@pytest.mark.parametrize("resources", [1, 2, 3])
def test_what_is_realised_attains_the_ratio_of_its_chain(chain: Chain, resources: int) -> None:
    found = realise(chain, resources)
    if found.instance is not None:
        solution = solve(found.instance)
        assert solution.ratio == chain.ratio
        assert solution.optimal.reward == 1
        stages = [stage.configurations[0] for stage in solution.greedy.stages]
        alone = [tuple(n if i == j else 0 for i in range(len(chain.alone))) for j, n in enumerate(chain.alone)]
        assert stages == alone
        assert realise(chain, resources + 1).instance is not None, "one more resource may stay idle"


def _realises(chain: Chain, instance: Instance) -> bool:
    """Decide by the definitions, without forbidden configurations."""
    space = instance.pools[0].space
    single = [tuple(n if i == j else 0 for i in range(len(chain.alone))) for j, n in enumerate(chain.alone)]
    if not (space.holds(chain.best) and all(map(space.holds, single))):
        return False
    solution = solve(instance)
    return [stage.configurations[0] for stage in solution.greedy.stages] == single and solution.optimal.reward == 1


@pytest.mark.parametrize("chain", [*SOME[:3], Chain((3, 4, 1), (1, 1, 1)), Chain((2, 3, 1), (1, 1, 1))])
def test_one_resource_against_all_small_demands(chain: Chain) -> None:
    """All demands on all capacities up to 30: a realisation exists among them exactly where one is found."""
    found = [
        (capacity, row)
        for capacity in range(5, 31)
        for row in product(*(range(capacity // (n + 1) + 1, capacity // n + 1) for n in chain.alone))
        if _realises(chain, additive([capacity], [[d] for d in row], chain.rewards, chain.best))
    ]
    assert bool(found) == (realise(chain, 1).instance is not None)


def test_chains_of_one_resource_leave_out_none_that_can_be_realised() -> None:
    given = {(chain.alone, chain.best) for chain in chains(3, 1, most=9)}
    for n1, n2 in product(range(2, 10), repeat=2):
        for m1, m2 in product((1, 2), repeat=2):
            if m1 < n1 and m2 < n2 and Fraction(m1, n1) + Fraction(m2, n2) < 1:
                chain = Chain((n1, n2, 1), (m1, m2, 1))
                if realise(chain, 1).instance is not None:
                    reduced = all(Fraction(m, n).numerator == m for m, n in ((m1, n1), (m2, n2)))
                    assert (chain.alone, chain.best) in given or not reduced


@pytest.mark.parametrize("resources", [1, 2])
def test_chains_come_in_order_and_never_below_the_bound(resources: int) -> None:
    ratios = [chain.ratio for chain in chains(4, resources, most=9)]
    assert ratios == sorted(ratios)
    assert all(ratio >= proven_bound(4) for ratio in ratios)


@pytest.mark.parametrize("types", [1, 2, 3, 4, 5])
def test_even_chains_attain_the_bound(types: int) -> None:
    every = list(even_chains(types))
    assert len({chain.alone for chain in every}) == len(every) == 2**types
    assert all(chain.ratio == proven_bound(types) for chain in every)


def test_the_known_family_realises_an_even_chain() -> None:
    """An independent realisation, with one resource an interval: its chain must not be refuted."""
    known = tight_family_additive(3)
    assert solve(known).ratio == proven_bound(3)
    space = known.pools[0].space
    assert isinstance(space, Additive)
    assert realise(Chain((3, 3, 3), (1, 1, 3)), len(space.capacity)).instance is not None


@pytest.mark.slow
def test_no_small_instance_goes_below_what_was_found_on_one_resource() -> None:
    least = min(solve(instance).ratio for instance in small_grid(2, 5, 2) if any(instance.workload))
    assert least >= worst_by_size(2, 1).ratio == Fraction(3, 4)


@pytest.mark.parametrize(("types", "resources"), [(2, 1), (3, 2), (4, 3)])
def test_the_bound_is_attained_and_certified(types: int, resources: int, tmp_path: Path) -> None:
    out, proof = tmp_path / "worst.toml", tmp_path / "proof.json"
    size = ["--types", str(types), "--resources", str(resources)]
    assert run(["worst", *size, "--out", str(out), "--certificate", str(proof)]) == 0
    assert solve(read_instance(out)).ratio == proven_bound(types)
    document = json.loads(proof.read_text())
    assert document["kind"] == "worst"
    assert Fraction(checker.check(document)["ratio"]) == proven_bound(types)


@pytest.mark.slow
def test_the_ratio_is_certified_where_workloads_are_undecided(tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    assert run(["worst", "--types", "6", "--resources", "3", "--time-limit", "0", "--certificate", str(proof)]) == 0
    document = json.loads(proof.read_text())
    assert document["kind"] == "assignment"
    assert Fraction(checker.check(document)["ratio"]) >= proven_bound(6)


def test_one_resource_and_three_types(capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for _ in range(2):
        assert run(["worst", "--types", "3", "--resources", "1", "--seed", "4", "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]
    assert proven_bound(3) < Fraction(answers[0]["exact"]) == Fraction(answers[0]["bound_exact"]) == Fraction(17, 24)
    assert answers[0]["attained"]
    assert answers[0]["complete"]


@pytest.mark.parametrize(
    ("types", "least"), [(4, Fraction(235, 336)), (5, Fraction(571, 819)), (6, Fraction(106531, 152915))]
)
def test_one_resource_is_decided_up_to_six_types(types: int, least: Fraction) -> None:
    found = worst_by_size(types, 1, budget=Budget(0.0))
    assert found.attained
    assert solve(found.instance).ratio == found.ratio == found.bound == least


def test_no_time_gives_an_instance_all_the_same() -> None:
    found = worst_by_size(5, 2, budget=Budget(0.0))
    assert not found.complete
    assert solve(found.instance).ratio == found.ratio >= found.bound
    assert found.chain is not None
    assert found.chain.ratio == found.ratio == Fraction(781, 1120)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["branches", "judged", "linear programs"])
def test_an_interrupt_gives_the_best_so_far(part: str) -> None:
    after: list[str] = []

    def report(progress: str) -> None:
        if after:
            after.append(progress)
        elif part in progress:
            INTERRUPTED.set()
            after.append(progress)

    found = worst_by_size(4, 2, budget=Budget(100.0, report))
    assert not found.complete
    assert not INTERRUPTED.is_set()
    assert solve(found.instance).ratio == found.ratio
    assert 0 < len(after) < 10, "the search ends soon after the interrupt"


def test_giving_up_is_not_refuting() -> None:
    hard = Chain((10, 10, 5, 5, 1), (2, 2, 1, 1, 1))
    found = realise(hard, 3, nodes=20)
    assert found.instance is None
    assert not found.decided
    with pytest.raises(OutOfTimeError):
        realise(hard, 3, Budget(0.0))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["worst"], "INSTANCE"),
        (["worst", "examples/four_types.toml"], "--vary"),
        (["worst", "examples/four_types.toml", "--types", "3", "--resources", "1"], "INSTANCE"),
        (["worst", "--types", "3"], "--resources"),
        (["worst", "--resources", "3"], "--types"),
        (["worst", "--types", "3", "--resources", "1", "--vary", "all"], "--vary"),
        (["worst", "--types", "0", "--resources", "1"], "--types"),
    ],
)
def test_refusals(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    message = capsys.readouterr().err.strip()
    assert words in message
    assert "\n" not in message


def test_table_on_record() -> None:
    record = on_record()
    for (types, resources), (ratio, instance) in record.items():
        assert solve(instance).ratio == ratio >= proven_bound(types)
        assert (ratio == proven_bound(types)) == (resources >= ATTAINED.get(types, 9))
        if resources > 1:
            assert ratio <= record[types, resources - 1][0]
        if types > 2:
            assert ratio < record[types - 1, resources][0]
        assert all(instance.workload)
