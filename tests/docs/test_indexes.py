"""Index pages list each page once, by reader, with a line, minutes and a level; the glossary has thirty words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
GENERATED = {"commands", "policies", "schemas", "api/index"}
LEVELS = ("first steps", "practice", "advanced")
ROW = re.compile(r"^\| \[(.+)\]\(([\w/-]+)\.(?:md|rst)\) \| (.+) \| (\d+) \| (.+) \|$", re.MULTILINE)


@pytest.mark.parametrize("folder", ["tutorials", "how-to", "explanation", "reference"])
def test_every_page_has_a_row(folder: str) -> None:
    text = (DOCS / folder / "index.md").read_text(encoding="utf-8")
    rows = ROW.findall(text)
    listed = [name for _, name, *_ in rows]
    pages = {page.stem: page for page in (DOCS / folder).glob("*.md") if page.stem not in {"index", *GENERATED}}
    assert len(listed) == len(set(listed))
    assert set(listed) - GENERATED == set(pages)
    (tree,) = re.findall(r"^```\{toctree\}\n:hidden:\n:maxdepth: 1\n\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert tree.split() == listed, "the side bar has the order of the tables"
    for title, name, line, minutes, level in rows:
        assert level in LEVELS, name
        assert line[0].isupper(), name
        assert line.endswith("."), name
        if name in pages:
            written = pages[name].read_text(encoding="utf-8")
            assert f"\n# {title}\n" in f"\n{written}", name
            words = len(written.split())
            assert words / 250 <= int(minutes) <= words / 30 + 5, f"{name}: {minutes} minutes for {words} words"


def test_the_glossary_has_thirty_words_in_their_order() -> None:
    text = (DOCS / "reference" / "glossary.md").read_text(encoding="utf-8")
    (body,) = re.findall(r":::\{glossary\}\n(.*?):::", text, re.DOTALL)
    entries = [entry.split("\n  ") for entry in body.strip().split("\n\n")]
    assert all(len(entry) == 2 and entry[1].endswith(".") for entry in entries)
    terms = [term for term, _ in entries]
    assert len(terms) == 30
    assert terms == sorted(terms, key=lambda term: re.sub("[^a-z0-9]", "", term.lower().replace("_", "")))
