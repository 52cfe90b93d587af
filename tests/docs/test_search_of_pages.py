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
    "how many servers": "how-to/how-many-servers",
    "fair shares": "tutorials/fair-shares",
    "install packproof": "how-to/install",
    "attack your own rule": "tutorials/attack-your-own-rule",
}
"""What is asked, and the page that answers it."""


def node(*words: str) -> object:
    return json.loads(subprocess.run([NODE, *words], capture_output=True, text=True, check=True).stdout)


def test_the_scorer_puts_pages_before_claims() -> None:
    """Claims and the API weigh a fifth; a title with the whole query weighs most; all else is as Sphinx has it."""
    results = [
        ["how-to/how-many-servers", "", "", None, 9, "", "title"],
        ["explanation/fairness", "", "", None, 15, "", "text"],
        ["atlas/packproof/vqs-bf-several-servers", "", "", None, 15, "", "text"],
        ["reference/api/region", "", "", None, 11, "", "object"],
    ]
    code = f"{SCORER.read_text(encoding='utf-8')}\nconsole.log(JSON.stringify({json.dumps(results)}.map(Scorer.score)))"
    assert node("-e", code) == pytest.approx([24, 15, 3, 2.2])


@pytest.mark.skipif(not (HTML / "searchindex.js").exists(), reason="no pages: run `make docs`")
@pytest.mark.parametrize("query", FIRST)
def test_the_page_that_answers_is_among_the_first_three(query: str) -> None:
    (found,) = node(str(ROOT / "tests" / "docs" / "search.js"), str(HTML), query)  # type: ignore[misc, attr-defined]
    assert FIRST[query] in [page for page, *_ in found[:3]], found[:5]
