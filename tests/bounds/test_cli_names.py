"""What there is to choose from: policies, VM types, near names for a miss."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from bounds.cli import run
from fluid.simulation.policy_names import HOMES, all_options, policy
from tests.bounds.validated import expect_valid
from theory.files.document import Fields
from theory.files.price_catalogue import catalogue, matching, missing_sizes, near
from theory.files.record import take

FOUR = str(Path(__file__).parent.parent.parent / "examples" / "four_types.toml")


def test_list_of_policies_needs_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "--policy", "list"]) == 0
    shown = capsys.readouterr().out
    policies, _, _ = shown.partition("\noptions, ")
    for name in HOMES:
        lines = [line for line in policies.splitlines() if re.match(rf"  {name} ", line)]
        assert len(lines) == 1, name
        assert policy(name).about in lines[0]
    assert shown.index("first-fit") < shown.index("max-weight-local") < shown.index("vqs-bf"), "by model"
    assert run(["simulate", "--json", "--policy", "list"]) == 0
    found = json.loads(capsys.readouterr().out)
    expect_valid(found, "policies")
    assert {one["name"]: one["model"] for one in found} == {name: policy(name).model for name in HOMES}


def test_options_of_policies_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Of all policies, and of those that are named; an author's options have no text but their names."""
    assert run(["simulate", "--policy", "list"]) == 0
    every = " ".join(capsys.readouterr().out.split())
    assert run(["simulate", "--policy", "power-of-d:list", "--policy", "first-fit:list"]) == 0
    some = " ".join(capsys.readouterr().out.split())
    for name, option in all_options().items():
        default = f" {option.written}" if option.written else ""
        readers = [home for home in HOMES if name in policy(home).options]
        assert readers
        for home in readers:
            shown = " ".join(f" {home} {name}{default} {option.about}".split())
            assert every.count(shown) == 1
            assert some.count(shown) == (home == "power-of-d")
    assert some.startswith("2 policies, with their options.")
    assert "max-weight" not in some
    assert "without options first-fit" in some
    assert run(["simulate", "--json", "--policy", "max-weight-local:list"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    expect_valid([found], "policies")
    assert [one["name"] for one in found["explained"]] == found["options"] == list(policy("max-weight-local").options)
    assert run(["simulate", "--policy", "frst-fit:list"]) == 2
    assert capsys.readouterr().err.endswith("; did you mean first-fit or best-fit?\n")


@pytest.mark.parametrize("name", all_options())
def test_a_default_as_it_is_shown_means_the_default(name: str) -> None:
    """What the list shows may be copied into a file."""
    option = all_options()[name]
    if option.written:
        given = tomllib.loads(f"{name} = {option.written}")
        assert take(option, Fields(given, "f"), ("a",)) == option.default


def test_unknown_policy_names_near_ones_and_shows_a_person_the_list(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["simulate", FOUR, "--policy", "firstfit", "--servers", "3", "--until", "3"]
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert "did you mean first-fit" in shown.err
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1
    assert all(f"  {name} " in shown.out for name in HOMES)
    assert run([*arguments, "--json"]) == 2
    assert capsys.readouterr().out == ""


EXPECTED: dict[str, Callable[[str, str], bool]] = {
    "aws:m5.*": lambda _, family: family == "m5",
    "gcp:*": lambda name, _: name.startswith("gcp:"),
    "n2-standard": lambda name, _: name.startswith("gcp:n2-standard"),
    "*.2xlarge": lambda name, _: name.endswith(".2xlarge"),
    "": lambda *_: True,
}


@pytest.mark.parametrize("pattern", EXPECTED)
def test_catalogue_lists_what_the_pattern_names(pattern: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalogue", *([pattern] if pattern else []), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    expect_valid(answer, "catalogue")
    names = [name for name, one in catalogue().items() if EXPECTED[pattern](name, one.family)]
    assert [one["name"] for one in answer["types"]] == names
    for one in answer["types"]:
        assert one["price_float"] == float(catalogue()[one["name"]].price)
    assert run(["catalogue", *([pattern] if pattern else [])]) == 0
    shown = capsys.readouterr().out
    prices = [one["price_float"] for one in answer["types"]]
    assert shown.startswith(f"{len(names):,} VM type")
    assert f"from {min(prices):g} to {max(prices):g} US dollars" in shown
    assert all(name in shown for name in names), "all rows of a list are shown"


def test_missing_sizes_are_those_of_sisters() -> None:
    assert missing_sizes("aws", "m5") == ["xlarge"]
    assert missing_sizes("gcp", "e2-highmem") == ["32"]
    for provider, line in {(one.provider, one.line) for one in catalogue().values()}:
        own = {one.size for one in catalogue().values() if (one.provider, one.line) == (provider, line)}
        assert not own & set(missing_sizes(provider, line)), "a size that is there is not missing"


@pytest.mark.parametrize("name", ["aws:m5.xlarge", "m5.large", "aws:m5larg", "gcp:n2-standart-4", "aws:r5.*x"])
def test_a_miss_is_told_near_names(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    hint = near(name)
    assert hint
    assert set(hint) <= set(catalogue())
    assert not matching(name) or name == "m5.large"
    assert run(["instance", "--types", name, "--server", "cpu=96,memory=768"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert hint[0] in told
    assert ("lacks this size" in told) == (name == "aws:m5.xlarge")


def test_nothing_near_names_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["instance", "--types", "qqqqqqqq", "--server", "cpu=96,memory=768"]) == 2
    assert "packproof catalogue" in capsys.readouterr().err
    assert run(["catalogue", "qqqqqqqq"]) == 2
    assert capsys.readouterr().err.startswith("PATTERN: 'qqqqqqqq'")


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", FOUR, "--servers", "3", "--servers", "4"],
        ["solve", FOUR, "--json", "--json"],
        ["worst", FOUR, "--vary", "workload", "--vary=rewards"],
        ["simulate", FOUR, "--policy", "dra", "--servers", "2", "--until", "3", "--until", "4"],
        ["admission", "law", "x.toml", "--at", "1", "--at", "2"],
    ],
)
def test_options_that_mean_one_are_refused_twice(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert "expected once, got it 2 times" in shown.err
