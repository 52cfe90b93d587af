"""The text of the pages: no control characters, and no dash where an option begins with two hyphens.

The tests of the built pages need no browser; run ``make docs`` first, or they are skipped.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
HTML = DOCS / "_build" / "html"

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
DASH = re.compile(r"(?<!\w)[–—](?=[a-z])")
"""A dash before a letter: what was an option; names that are joined have a letter before it."""

SUSPECT = re.compile(CONTROL.pattern + "|[–—][a-z<]")
"""What a page that shows strange characters has once its entities are read: behind a dash, a letter or a tag."""

MARKUP = re.compile(
    r"""<(script|style)\b.*?</\1\s*>|<!--.*?-->|<[!/a-z](?:[^>"']|"[^"]*"|'[^']*')*>""", re.DOTALL | re.IGNORECASE
)
"""Scripts and styles with what they hold, comments, tags; attributes may hold what ends a tag."""


def shown(page: str) -> str:
    """Return the text that a page of HTML shows, without its scripts."""
    return unescape(MARKUP.sub("", page))


def strange_of(page: str) -> list[str]:
    """Return what is strange in the text that a page shows, whose markup is taken away where that is needed."""
    return strange(shown(page)) if SUSPECT.search(unescape(page)) else []


def strange(text: str) -> list[str]:
    """Return the surroundings of control characters and of dashes before letters."""
    found = [*CONTROL.finditer(text), *DASH.finditer(text)]
    return [text[max(0, one.start() - 30) : one.end() + 30] for one in found]


def test_what_is_strange() -> None:
    assert strange("\bExamples:") == ["\bExamples:"]
    assert len(strange("draws, –plot beside it; (–json)")) == 2
    assert not strange("Kaufman–Roberts, 3 – 4, --plot\n\t`--json`")
    assert shown("<p>a<script>let x = '–a'</script> &ndash;b</p>") == "a –b"
    assert (
        shown("""<!-- –c --><a title="x > –y" id='>'>1 &lt; 2<STYLE>–d</STYLE><br/> &amp; 3 > x</a>""")
        == "1 < 2 & 3 > x"
    )


@pytest.mark.parametrize(
    "page",
    [
        "<p>a \b</p>",
        "(–plot)",
        "<p>&ndash;plot</p>",
        "&#8212;<b title='>'>plot</b>",
        "—<!-- x -->plot",
        "&mdash;&#112;lot",
        "<i>–</i>plot",
    ],
)
def test_strange_characters_are_found_within_markup(page: str) -> None:
    assert strange_of(page) == strange(shown(page)) != []


@pytest.mark.skipif(not (HTML / "index.html").exists(), reason="no pages: run `make docs`")
def test_built_pages_show_what_their_sources_say() -> None:
    pages = sorted(HTML.rglob("*.html"))
    assert len(pages) > 50
    found = {str(page.relative_to(HTML)): strange_of(page.read_text(encoding="utf-8")) for page in pages}
    assert not {page: some for page, some in found.items() if some}


@pytest.mark.skipif(not (HTML / "reference" / "commands.html").exists(), reason="no pages: run `make docs`")
def test_the_page_of_commands_has_its_options_as_they_are_typed() -> None:
    text = shown((HTML / "reference" / "commands.html").read_text(encoding="utf-8"))
    assert text.count("--plot") >= 10
    assert "Examples:" in text


def test_two_hyphens_stay_two_hyphens() -> None:
    """The setting of Sphinx that turns quotes and hyphens into other characters is off."""
    tree = ast.parse((DOCS / "conf.py").read_text(encoding="utf-8"))
    values = {
        target.id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    assert values.get("smartquotes") is False


@pytest.fixture
def generated(tmp_path: Path) -> Iterator[Path]:
    pytest.importorskip("jupytext")
    sys.path.insert(0, str(DOCS))
    from generate import commands, policies, schemas

    for part in (commands, policies, schemas):
        part.write(tmp_path)
    yield tmp_path
    sys.path.remove(str(DOCS))


def test_generated_pages_hold_no_control_characters(generated: Path) -> None:
    pages = sorted(generated.rglob("*.md"))
    assert {page.name for page in pages} >= {"commands.md", "policies.md", "schemas.md"}
    for page in pages:
        assert not strange(page.read_text(encoding="utf-8")), page.name
    text = (generated / "reference" / "commands.md").read_text(encoding="utf-8")
    assert "```text\nExamples:\n  packproof " in text


def test_a_generated_page_with_a_control_character_is_refused(tmp_path: Path, generated: Path) -> None:
    from generate.text import save

    del generated
    with pytest.raises(ValueError, match="expected text that can be shown"):
        save(tmp_path / "page.md", "a\bb")


@pytest.mark.parametrize(
    "page", [*DOCS.glob("*.md"), *(DOCS / "how-to").glob("*.md"), *(DOCS / "tutorials").glob("*.md")]
)
def test_pages_written_by_hand_hold_no_strange_characters(page: Path) -> None:
    assert not strange(page.read_text(encoding="utf-8"))
