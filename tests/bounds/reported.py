"""An answer of each kind that has a report, as the commands print it."""

from __future__ import annotations

import contextlib
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bounds.cli import run
from bounds.views.report import report_page
from tests.pictures.looks import hostile_instance

EXAMPLES = Path(__file__).parents[2] / "examples"

COMMANDS = {
    "solve": "solve four_types.toml --servers 10",
    "solve, two pools": "solve pools.json --servers 9",
    "worst": "worst caught.toml --vary workload",
    "worst by size": "worst --types 3 --resources 1",
    "region": "region caught.toml",
    "log": "log vm_log.csv",
    "simulate": "simulate four_types.toml --policy dra --servers 5 --until 3 --replications 2",
    "simulate a queue": "simulate caught.toml --policy nonpreemptive --servers 2 --until 20",
    "simulate several": "simulate caught.toml --policy first-fit --policy best-fit --servers 2 --until 20",
    "simulate several queues": "simulate caught.toml --policy nonpreemptive --policy max-weight-local --servers 2 "
    "--until 20",
    "against fluid": "simulate four_types.toml --policy dra --servers 160 --until 0.2 --against-fluid --replications 3",
    "experiment": "experiment small_grid.toml --store s.db --workers 1",
    "tune": "admission tune admission_small.toml --policy zeroth --sla 0.1 --until 900 --replications 4 --steps 3",
    "share": "share four_classes.toml --mechanism tsf --whole",
    "share, all": "share four_classes.toml",
    "share, allocation": "share four_classes.toml --allocation four_classes_today.csv",
    "share over time": "share four_classes.toml --mechanism ps-dsf --events user_4_leaves.toml",
    "share over time, all": "share four_classes.toml --events user_4_leaves.toml",
    "share, numeric": "share four_classes.toml --mechanism tsf --tolerance 1e-6",
    "fluid": "fluid four_types.toml --until 2",
    "throughput": "throughput uniform_sizes.toml",
    "law": "admission law admission.toml --at 24 --size 4 --given mu=0.05,lambda=1,sigma=4",
    "moments": "admission moments admission.toml --at 24 --size 4",
    "belief": "admission belief admission.toml --observed observed.json",
    "check": "check plan_certificate.json",
    "catalogue": "catalogue m5.*",
    "verify with": "verify nonpreemptive/table-1 --with workload=1,3,1",
    "attack": "attack rules_to_attack.py:first_fit --kind items --items 5 --time-limit 2",
}

KINDS_OF_ANSWERS = ["plan", *COMMANDS]


@cache
def page_of_the_plan() -> str:
    """Return the report of the example of a plan; its seven pictures take a second."""
    document = json.loads((EXAMPLES / "plan_answer.json").read_text())
    return report_page(document, document["made"]["command"])


def answers_of_each_kind(folder: Path) -> dict[str, Any]:
    """Return the answers, by the names of `KINDS_OF_ANSWERS`; their files are written into a folder."""
    (folder / "pools.json").write_text(json.dumps(hostile_instance(3, 2)))
    documents: dict[str, Any] = {"plan": json.loads((EXAMPLES / "plan_answer.json").read_text())}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, command in COMMANDS.items():
            documents[name] = json.loads(printed([*words_of(command, folder), "--json"]))
    return documents


def words_of(command: str, folder: Path) -> list[str]:
    """Return the words of a command with the places of its files: of the folder, or else of the examples."""
    return [_place(word, folder) for word in command.split()]


def _place(word: str, folder: Path) -> str:
    if word == "pools.json":
        return str(folder / word)
    return str(EXAMPLES / word) if word.partition(":")[0].endswith((".toml", ".py", ".json", ".csv")) else word


def printed(words: list[str]) -> str:
    """Return what a command prints, which must succeed."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        assert run(words) == 0, words
    return stream.getvalue()
