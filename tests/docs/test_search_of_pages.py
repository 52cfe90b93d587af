"""Search of the documentation: questions come before claims, by the scorer, and on the index where pages are built."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HTML = ROOT / "docs" / "_build" / "html"
SCORER = ROOT / "docs" / "_static" / "scorer.js"
NODE = shutil.which("node") or ""
pytestmark = pytest.mark.skipif(not NODE, reason="node is not installed")

FIRST = {
    # a planner
    "how many servers": "how-to/how-many-servers",
    "install packproof": "how-to/install",
    "plan a cluster from a log of VMs": "how-to/plan-a-cluster",
    "EC2 instance types prices": "how-to/plan-with-real-vm-types",
    "column names of my csv trace": "reference/traces",
    "headroom": "reference/glossary",
    # an author of policies
    "attack your own rule": "tutorials/attack-your-own-rule",
    "write my own policy": "how-to/write-a-policy",
    "test my packing heuristic": "how-to/attack-a-packing-rule",
    "compare policies on the same jobs": "how-to/simulate-a-policy",
    "exit status 2": "how-to/read-bad-input",
    # a student of the papers
    "fair shares": "tutorials/fair-shares",
    "check a certificate": "how-to/check-a-certificate",
    "greedy guarantee 1-1/e": "tutorials/what-greedy-keeps",
    "PS-DSF": "explanation/fairness",
    "monotone greedy property": "explanation/greedy",
    "reproduce figure": "how-to/reproduce-a-figure",
}
"""What is asked, and the page that answers it."""


def node(*words: str) -> object:
    return json.loads(subprocess.run([NODE, *words], capture_output=True, text=True, check=True).stdout)


def test_the_scorer_puts_pages_before_claims() -> None:
    """Claims and the API weigh a fifth, questions more; a title with the whole query weighs most."""
    results = [
        ["how-to/how-many-servers", "", "", None, 9, "", "title"],
        ["explanation/fairness", "", "", None, 15, "", "text"],
        ["atlas/packproof/vqs-bf-several-servers", "", "", None, 15, "", "text"],
        ["reference/api/region", "", "", None, 11, "", "object"],
        ["reference/commands", "", "", None, 5, "", "text"],
    ]
    code = f"{SCORER.read_text(encoding='utf-8')}\nconsole.log(JSON.stringify({json.dumps(results)}.map(Scorer.score)))"
    assert node("-e", code) == pytest.approx([31.2, 16.5, 3, 2.2, 3.5])


@pytest.mark.skipif(not (HTML / "searchindex.js").exists(), reason="no pages: run `make docs`")
@pytest.mark.parametrize("query", FIRST)
def test_the_page_that_answers_is_among_the_first_three(query: str) -> None:
    (found,) = node(str(ROOT / "tests" / "docs" / "search.js"), str(HTML), query)  # type: ignore[misc, attr-defined]
    assert FIRST[query] in [page for page, *_ in found[:3]], found[:5]
