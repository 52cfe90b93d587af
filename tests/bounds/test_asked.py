"""Claims asked about a reader's own numbers, by words of a command line and by name in Python."""

from __future__ import annotations

import json
import pydoc
import re
from fractions import Fraction
from typing import get_args, get_type_hints

import numpy as np
import pytest

import packproof
from bounds.claims import PAPERS, Checked, Claim, Level, Outcome, in_words
from bounds.cli import run
from bounds.results import claims
from bounds.results.asked import _read, ask
from bounds.results.instances.drawn import random_instance
from bounds.views.claims import as_checked
from tests.bounds.validated import expect_valid
from theory.errors import ArgumentError, InputError

READ = (int, float, Fraction, str, bool)
"""Types that ``--with`` reads, alone and in tuples."""


def example(**parameters: object) -> Claim:
    """Return a claim on record whose check is another function."""

    def check(rate: Fraction = Fraction(1, 2), sizes: tuple[int, ...] = (1, 2), *, wrong: bool = False) -> Outcome:
        return Outcome(f"{rate / len(sizes)} {sizes}", rate < 1 and not wrong)

    (one,) = claims(["introduction"])
    return Claim(**{name: getattr(one, name) for name in one.__dataclass_fields__} | {"check": check} | parameters)


def particular(rate: Fraction = Fraction(1, 2), sizes: tuple[int, ...] = (1, 2), *, wrong: bool = False) -> Outcome:
    """Check nothing; refuse some values, with and without what was got, as checks do."""
    if rate < 0:
        raise InputError("rate", "expected a rate of at least 0")
    if max(sizes) > 6:
        raise ArgumentError("sizes", f"expected sizes up to 6, got {max(sizes)}")
    return Outcome("nothing", not wrong)


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
        ("rate=-1", "rate: expected a rate of at least 0, got rate=-1"),
        ("sizes=7", "sizes: expected sizes up to 6, got 7"),
        ("sizes=1,,2", "sizes: expected a whole number"),
    ],
)
def test_wrong_words_are_refused(word: str, expected: str) -> None:
    """All refusals have one form, also those of a check, which are completed by what was given."""
    with pytest.raises(InputError) as error:
        ask(example(check=particular), [word])
    assert str(error.value).startswith("--with: ")
    assert expected in str(error.value)
    assert ", got " in str(error.value)
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
        (word,) = in_words({name: default}).values()
        assert _read(name, word, kind) == default, name


@pytest.mark.slow
def test_the_command_and_python_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["verify", "nonpreemptive/table-1", "--with", "workload=1,3,1"]
    assert run([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    expect_valid(answer, "verify_with")
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


def test_a_file_that_a_check_refuses_is_not_blamed_on_the_option() -> None:
    def check(rate: Fraction = Fraction(1, 2)) -> Outcome:
        raise InputError("trace.csv", "line 3", f"expected a time, got {rate}")

    with pytest.raises(InputError) as error:
        ask(example(check=check), ["rate=3"])
    assert str(error.value) == "trace.csv: line 3: expected a time, got 3"


def test_the_command_refuses_other_lengths_in_the_form_of_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    for words, line in (
        ("figure-2 --with workload=1,1", "workload: expected 4 numbers of at least 0, not all of them 0, got 1, 1"),
        ("thm-3.7 --with instances=0", "instances: expected a whole number of at least 1, got 0"),
        ("corollary-1 --with p=1", "expected one claim, got 2: ps-dsf/corollary-1, throughput/corollary-1"),
    ):
        assert run(["verify", *words.split()]) == 2
        assert capsys.readouterr().err == f"--with: {line}\n"


def test_asked_about_other_numbers_a_theorem_holds_on_what_was_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "theorem-3.7", "--with", "instances=2"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("What autoscaling/thm-3.7 prints HOLDS on what was checked, with instances=2 and pools=1.\n")
    (said,) = (line for line in text.splitlines() if "300" in line or "Beside the theorem" in line)
    assert said.split("  ")[1] == "what it says on record"


def test_parameters_are_listed_where_a_reader_looks_for_them(capsys: pytest.CaptureFixture[str]) -> None:
    """A claim that is listed alone, one that is checked at each level, and its help in Python have them all."""
    (claim,) = claims(["autoscaling/lemma-d.1"])
    outcome = Checked(claim, Outcome("nothing", True), 1.0)
    rows = dict(re.findall(r"^  (\w+) +(\S.*)$", as_checked(outcome), re.MULTILINE))
    assert rows["parameters"] == "systems (150), rounds (1), events (600), reservations (1,3,8,60)"
    assert "systems (3000), rounds (10), events (600)" in as_checked(outcome, Level.full)
    assert run(["verify", "--list", claim.id]) == 0
    *_, table = capsys.readouterr().out.partition("parameters that --with takes\n")
    assert [tuple(line.split()) for line in table.splitlines()[1:5]] == [
        ("systems", "150"), ("rounds", "1"), ("events", "600"), ("reservations", "1,3,8,60"),
    ]  # fmt: skip
    assert run(["verify", "--list", "autoscaling/lemma-d.1", "thm-3.7"]) == 0
    assert "--with" not in capsys.readouterr().out
    assert run(["verify", "--list", "autoscaling/lemma-g.1"]) == 0  # it has none
    assert "--with" not in capsys.readouterr().out


def test_help_shows_the_statement_and_the_parameters_of_each_claim() -> None:
    for claim in claims():
        text = " ".join(pydoc.plain(pydoc.render_doc(claim)).split())
        assert " ".join(claim.statement.split()) in text, claim.id
        shown = dict(re.findall(r"(\w+) : (?:\w+|tuple\[\w+, \.\.\.\]), default (\S*)", text))
        expected = in_words(claim.parameters)
        assert list(shown) == list(expected), claim.id
        assert all((value or "()").startswith(shown[name]) for name, value in expected.items()), claim.id
    assert str(Claim.__doc__).startswith("A claim of a paper")


@pytest.mark.parametrize("instances", [20, 60])
def test_margins_of_0_are_explained_where_nothing_is_to_be_served(instances: int) -> None:
    """Of the instances of Theorem 3.7 those without workload are counted, drawn again here; no margin moves."""
    generator = np.random.default_rng(37)
    drawn = [random_instance(generator, pools=1) for _ in range(instances)]
    idle = sum(not any(instance.workload) for instance in drawn)
    computed = packproof.claims.autoscaling.thm_3_7(instances=instances).computed
    margins, *said = computed.partition(" (all margins are 0 on the ")
    assert margins.startswith(f"{instances} instances, least ratio 0.8000, least margins ")
    assert bool(idle) is margins.endswith("1/2 0") is bool(said[1])
    assert not idle or said[1] == f"{idle} without workload, which have no ratio)"
