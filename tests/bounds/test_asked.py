"""Claims asked about a reader's own numbers, by words of a command line and by name in Python."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import get_args, get_type_hints

import jsonschema
import pytest

import packproof
from bounds.answers import schema
from bounds.claims import PAPERS, Claim, Level, Outcome
from bounds.cli import run
from bounds.results import claims
from bounds.results.asked import _in_words, _read, ask
from theory.errors import InputError

READ = (int, float, Fraction, str, bool)
"""Types that ``--with`` reads, alone and in tuples."""


def example(**parameters: object) -> Claim:
    """Return a claim on record whose check is another function."""

    def check(rate: Fraction = Fraction(1, 2), sizes: tuple[int, ...] = (1, 2), *, wrong: bool = False) -> Outcome:
        return Outcome(f"{rate / len(sizes)} {sizes}", rate < 1 and not wrong)

    (one,) = claims(["introduction"])
    return Claim(**{name: getattr(one, name) for name in one.__dataclass_fields__} | {"check": check} | parameters)


def test_words_become_values_of_the_types_of_the_parameters() -> None:
    parameters, found = ask(example(), ["rate=3/4", "sizes=4, 5,6"])
    assert parameters == {"rate": "3/4", "sizes": "4,5,6"}
    assert found == (example().printed, "1/4 (4, 5, 6)", True)
    assert ask(example(), []) == ({"rate": "1/2", "sizes": "1,2"}, example()())


def test_levels_and_controls_give_other_arguments() -> None:
    """The defaults are those of every day; a control outweighs the size of a level."""
    sizes = {Level.tiny: {"sizes": (1,)}, Level.full: {"sizes": (1, 2, 3)}}
    claim = example(sizes=sizes, controls={"a rate above 1": {"rate": Fraction(2)}, "no size": {"sizes": (9,)}})
    assert [claim.outcome(level).computed for level in (Level.tiny, Level.quick, Level.full)] == [
        "1/2 (1,)", "1/4 (1, 2)", "1/6 (1, 2, 3)",
    ]  # fmt: skip
    assert claim.outcome(Level.full, "a rate above 1") == Outcome("2/3 (1, 2, 3)", False)
    assert claim.outcome(Level.tiny, "no size").computed == "1/2 (9,)"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("rate", "expected NAME=VALUE, got 'rate'"),
        ("rate=x", "rate: expected a number or a fraction"),
        ("rate=1/0", "rate: expected a number or a fraction"),
        ("sizes=1,x", "sizes: expected a whole number, or several with commas between them"),
        ("wrong=true", "expected one of rate, sizes, got 'wrong'"),
        ("sizes=1,,2", "sizes: expected a whole number"),
    ],
)
def test_wrong_words_are_refused(word: str, expected: str) -> None:
    with pytest.raises(InputError) as error:
        ask(example(), [word])
    assert expected in str(error.value)
    with pytest.raises(InputError, match="once"):
        ask(example(), ["rate=1", "rate=1"])


def test_a_value_for_which_nothing_can_be_computed_is_the_readers() -> None:
    def check(sizes: tuple[int, ...] = (1,)) -> Outcome:
        return Outcome(str(1 // sizes[0]), True)

    with pytest.raises(InputError, match="cannot be computed for sizes=0"):
        ask(example(check=check), ["sizes=0"])


@pytest.mark.parametrize("claim", claims(), ids=lambda claim: claim.id)
def test_parameters_of_claims_can_be_read_and_written(claim: Claim) -> None:
    """Each has one of the types that are read, and its default, written and read again, is itself."""
    hints = get_type_hints(claim.check)
    for name, default in claim.parameters.items():
        kind = hints[name]
        assert (get_args(kind) or (kind,))[0] in READ, (name, kind)
        (word,) = _in_words({name: default}).values()
        assert _read(name, word, kind) == default, name


@pytest.mark.slow
def test_the_command_and_python_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["verify", "nonpreemptive/table-1", "--with", "workload=1,3,1"]
    assert run([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    jsonschema.validate(answer, schema("verify_with"))
    found = packproof.claims.nonpreemptive.table_1(workload=tuple(map(Fraction, (1, 3, 1))))
    assert (answer["printed"], answer["computed"], answer["holds"]) == found
    assert run(words) == 0
    assert "workload=1,3,1" in capsys.readouterr().out
    assert run(["verify", "nonpreemptive/lemma-4.3", "--with", "beta=1/2"]) == 1  # refuted for this number, too
    assert run(["verify", "nonpreemptive", "--with", "beta=1/2"]) == 2
    assert run([*words, "--level", "full"]) == 2
    capsys.readouterr()


def test_claims_are_found_by_name() -> None:
    assert [paper.replace("_", "-") for paper in dir(packproof.claims)] == sorted(PAPERS)
    for claim in claims():
        paper, _, name = claim.id.partition("/")
        named = getattr(
            getattr(packproof.claims, paper.replace("-", "_")), "".join(c if c.isalnum() else "_" for c in name)
        )
        assert named is claim
    with pytest.raises(AttributeError, match="expected one of autoscaling"):
        _ = packproof.claims.nobody
    with pytest.raises(AttributeError, match="--list ps-dsf"):
        _ = packproof.claims.ps_dsf.nothing
    with pytest.raises(InputError, match="expected none"):
        claims(["autoscaling/lemma-g.1"])[0](rate=1)
