"""The same question asked otherwise has the same answer, through every command that reads an instance or a cluster.

A question is rewritten: its resources in other units, its times in another unit, its rows in another order, as TOML or
JSON, and one kind of server as two equal ones. Plans and logs have tests of this kind beside them
(`test_plan_command.py`, `tests/fluid/test_log_units.py`), mechanisms of sharing too
(`tests/theory/test_sharing_metamorphic.py`).
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bounds.cli import run
from theory.numbers import text

Document = dict[str, Any]
Rewritten = Callable[[Document, random.Random], Document]

QUESTIONS = 2
"""Random questions for each command and each way to ask them otherwise."""


# ---- questions -------------------------------------------------------------------------------------------------------


def instance(rng: random.Random) -> Document:
    """Draw an instance of one pool with two resources, whose rewards are far from ties."""
    capacity = {"cpu": rng.randint(12, 20), "memory": rng.randint(12, 20)}
    types = [
        {
            "name": name,
            "demand": {"cpu": rng.randint(1, 7), "memory": rng.randint(1, 7)},
            "reward": text(Fraction(rng.randint(1000, 9000), 997)),
            "workload": text(Fraction(rng.randint(1, 30), 7)),
            "service_rate": text(Fraction(rng.choice([1, 2, 4]), rng.choice([1, 2]))),
        }
        for name in ("a", "b", "c")
    ]
    return {"server": [{"name": "only", "share": 1, "capacity": capacity}], "type": types}


def cluster(rng: random.Random) -> Document:
    """Draw a cluster of two classes of servers and three users."""
    resources = ("cpu", "memory")
    servers = [
        {"name": name, "count": 2, "capacity": {r: rng.randint(5, 20) for r in resources}} for name in ("left", "right")
    ]
    users = [{"name": n, "demand": {r: rng.randint(1, 5) for r in resources}, "weight": 1} for n in ("u", "v", "w")]
    users[0]["servers"] = ["left"]
    return {"server": servers, "user": users}


# ---- the same question otherwise -------------------------------------------------------------------------------------


def in_other_units(document: Document, rng: random.Random) -> Document:
    """Return the question with each resource in another unit."""
    factors = {resource: Fraction(rng.randint(1, 9), rng.randint(1, 9)) for resource in ("cpu", "memory")}
    document = copy.deepcopy(document)
    for row in (*document["server"], *document.get("type", ()), *document.get("user", ())):
        amounts = row.get("capacity") or row.get("demand")
        for resource, factor in factors.items():
            amounts[resource] = text(amounts[resource] * factor)
    return document


def in_another_order(document: Document, rng: random.Random) -> Document:
    """Return the question with its rows, and the resources in them, in another order."""
    document = copy.deepcopy(document)
    for name, rows in document.items():
        document[name] = rng.sample(rows, len(rows))
    for row in (*document["server"], *document.get("type", ()), *document.get("user", ())):
        for field in {"capacity", "demand"} & set(row):
            row[field] = dict(reversed(row[field].items()))
    return document


def with_split_servers(document: Document, rng: random.Random) -> Document:
    """Return the question with one kind of server as two equal ones."""
    document = copy.deepcopy(document)
    server = document["server"].pop(rng.randrange(len(document["server"])))
    part = {"share": text(Fraction(server["share"]) / 2)} if "share" in server else {"count": server["count"] // 2}
    halves = [server | part | {"name": f"{server['name']} {half}"} for half in ("one", "two")]
    document["server"] += halves
    for user in document.get("user", ()):
        if server["name"] in user.get("servers", ()):
            names = [name for name in user["servers"] if name != server["name"]]
            user["servers"] = [*names, *(half["name"] for half in halves)]
    return document


def in_another_unit_of_time(document: Document, factor: Fraction) -> Document:
    """Return the question with rates in a unit of time that is `factor` times as long."""
    document = copy.deepcopy(document)
    for row in document["type"]:
        row["service_rate"] = text(Fraction(row["service_rate"]) * factor)
    return document


WAYS: dict[str, Rewritten] = {
    "units": in_other_units,
    "order": in_another_order,
    "split": with_split_servers,
    "format": lambda document, _: document,
}


def as_toml(document: Document) -> str:
    """Write a question as TOML."""

    def value(field: Any) -> str:
        if isinstance(field, dict):
            return "{ " + ", ".join(f"{json.dumps(name)} = {value(one)}" for name, one in field.items()) + " }"
        return "[" + ", ".join(map(value, field)) + "]" if isinstance(field, list) else json.dumps(field)

    return "\n".join(
        line
        for name, rows in document.items()
        for row in rows
        for line in (f"[[{name}]]", *(f"{field} = {value(one)}" for field, one in row.items()), "")
    )


class Asked:
    """Asks commands, each question in a file of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys, self.number = folder, capsys, 0

    def __call__(self, command: str, document: Document, *, toml: bool = False) -> Any:
        """Return the answer of a command, in which ``@`` stands for the file."""
        self.number += 1
        path = self.folder / f"question{self.number}.{'toml' if toml else 'json'}"
        path.write_text(as_toml(document) if toml else json.dumps(document))
        self.capsys.readouterr()
        status = run([str(path) if word == "@" else word for word in [*command.split(), "--json"]])
        shown = self.capsys.readouterr()
        assert status == 0, shown.err
        return json.loads(shown.out)


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    return Asked(tmp_path, capsys)


# ---- what does not depend on how a question is asked -----------------------------------------------------------------


def solved(answer: Any) -> Any:
    greedy, optimal = answer["greedy"], answer["optimal"]
    return greedy["reward"], optimal["exact"], answer["ratio"], answer["guarantee"], answer["guarantee_stagewise"]


def carried(answer: Any) -> Any:
    return answer["traffic_intensity"], answer["supportable"]


def shared(answer: Any) -> Any:
    verdicts = {name: row["holds"] for name, row in answer["properties"].items() if name != "strategy_proofness"}
    return sorted(answer["tasks_exact"].items()), verdicts


def flowed(answer: Any) -> Any:
    return [round(reward, 6) for reward in answer["reward"]], round(answer["equilibrium_reward"], 9)


def earned(answer: Any) -> Any:
    accepted = {name: round(share, 12) for name, share in answer["acceptance"].items()}
    return round(answer["reward"]["mean"], 9), accepted, answer["events"]


SIMULATE = "simulate @ --servers 12 --until 4 --seed 3 --policy"

SAME: dict[str, tuple[str, Callable[[random.Random], Document], Callable[[Any], Any], tuple[str, ...]]] = {
    "solve": ("solve @", instance, solved, tuple(WAYS)),
    "worst": ("worst @ --vary workload", instance, lambda answer: answer["exact"], ("units", "order", "format")),
    "region": ("region @ --facets 0", instance, carried, tuple(WAYS)),
    "share ps-dsf": ("share @ --mechanism ps-dsf", cluster, shared, tuple(WAYS)),
    "share tsf": ("share @ --mechanism tsf", cluster, shared, tuple(WAYS)),
    "share drf": ("share @ --mechanism drf", cluster, shared, tuple(WAYS)),
    "fluid": ("fluid @ --until 3 --points 4", instance, flowed, ("units", "format")),
    "simulate": (
        "simulate @ --policy first-fit --servers 12 --until 4 --seed 3",
        instance,
        earned,
        ("units", "format"),
    ),
    "simulate dra": ("simulate @ --policy dra --servers 12 --until 4 --seed 3", instance, earned, ("units", "format")),
}
"""A command, its questions, what of its answer must not change, and the ways to ask otherwise that keep the paths."""

CASES = [(name, way) for name, (*_, ways) in SAME.items() for way in ways]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "way"), CASES)
def test_the_same_question_has_the_same_answer(name: str, way: str, ask: Asked) -> None:
    command, drawn, essence, _ = SAME[name]
    for number in range(QUESTIONS):
        rng = random.Random(f"{name} {number}")
        document = drawn(rng)
        first = ask(command, document)
        other = ask(command, WAYS[way](document, rng), toml=way == "format")
        assert essence(other) == essence(first), (number, document)


@pytest.mark.parametrize("number", range(QUESTIONS))
@pytest.mark.parametrize("policy", ["first-fit", "best-fit", "dra"])
def test_the_unit_of_time_does_not_matter(policy: str, number: int, ask: Asked) -> None:
    """Random times are floats: with a power of two the path is the same to the last bit."""
    document = instance(random.Random(number))
    factor = Fraction(8)
    command = f"simulate @ --policy {policy} --servers 12 --seed {number}"
    first = ask(f"{command} --until 4", document)
    other = ask(f"{command} --until 0.5", in_another_unit_of_time(document, factor))
    assert earned(other) == earned(first)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(QUESTIONS))
def test_the_unit_of_time_does_not_matter_to_the_fluid_limit(number: int, ask: Asked) -> None:
    document = instance(random.Random(number))
    first = ask("fluid @ --until 3 --points 4", document)
    for factor in (Fraction(10), Fraction(1, 7)):
        other = ask(f"fluid @ --until {float(3 / factor)!r} --points 4", in_another_unit_of_time(document, factor))
        assert other["reward"][-1] == pytest.approx(first["reward"][-1], abs=1e-6)
        assert other["equilibrium_reward"] == pytest.approx(first["equilibrium_reward"], abs=1e-12)


@pytest.mark.parametrize("number", range(QUESTIONS))
def test_a_law_of_sizes_is_the_same_in_other_words(number: int, ask: Asked) -> None:
    """Sizes as fractions or decimals, in any order, with weights that sum to one."""
    rng = random.Random(number)
    sizes = rng.sample(range(2, 20), 3)
    weights = [Fraction(w, 10) for w in rng.choice([(5, 3, 2), (4, 4, 2), (1, 2, 7)])]
    fractions = {text(Fraction(s, 20)): text(w) for s, w in zip(sizes, weights, strict=True)}
    decimals = {str(s / 20): str(float(w)) for s, w in reversed(list(zip(sizes, weights, strict=True)))}
    answers = [ask("throughput @ --gap 0", {"sizes": {"discrete": law, "servers": 2}}) for law in (fractions, decimals)]
    one, other = ({name: answer[name] for name in ("maximum", "vqs", "vqs_J", "mean_size")} for answer in answers)
    assert one == other
