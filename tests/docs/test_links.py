"""Links in Markdown that is read without a build: each leads to a file, or its page says that `make docs` makes it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from bounds.claims import PAPERS
from bounds.results import claims

ROOT = Path(__file__).parents[2]
GENERATED = (
    *(f"docs/atlas/{paper}/*.md" for paper in PAPERS),
    "docs/atlas/code/*.md",
    "docs/atlas/by-*.md",
    "docs/atlas/summary.txt",
    "docs/_generated/formats/*",
    "docs/gallery/*",
    "docs/reference/api/*",
    *(f"docs/reference/{name}.md" for name in ("commands", "policies", "schemas")),
)
"""What only the build makes (`docs/generate`, `.gitignore`)."""
MARK = re.compile(r"`make docs`\s+makes")
"""The text by which a page says that some of its links need a build."""
WRITTEN = sorted(
    page
    for page in (*ROOT.glob("*.md"), *(ROOT / "proofs").glob("*.md"), *(ROOT / "docs").rglob("*.md"))
    if not any(fnmatch(str(page.relative_to(ROOT)), pattern) for pattern in (*GENERATED, "docs/_*"))
)
FENCED = re.compile(r"^(`{3,})(.*)\n([\s\S]*?)^\1[ \t]*$", re.MULTILINE)
SPAN = re.compile(r"(?<![`}])`[^`\n]+`(?!`)")
"""Code in a line, but not the text of a role."""
LINKS = re.compile(
    r"\]\(<?([^)\s>]+)"  # of Markdown
    r"|\{(?:doc|download)\}`(?:[^`<]*<)?([^`>]+)"  # of roles
    r"|^:link: (\S+)"  # of cards
    r"|^```\{(?:image|figure|include|literalinclude)\} (\S+)",
    re.MULTILINE,
)
TREE = re.compile(r"^```\{toctree\}\n([\s\S]*?)^```", re.MULTILINE)


def without_code(text: str) -> str:
    """Return a page without code: what blocks of other directives hold stays, and so does their first line."""

    def kept(block: re.Match[str]) -> str:
        directive = block[2].startswith("{") and not block[2].startswith(("{code-cell}", "{toctree}"))
        return f"```{block[2]}\n{block[3]}" if directive else ""

    return SPAN.sub("", FENCED.sub(kept, text))


def targets(text: str) -> Iterator[str]:
    """Yield the relative targets of a page, without anchors."""
    for found in LINKS.finditer(without_code(text)):
        target = next(part for part in found.groups() if part).partition("#")[0]
        if target and not re.match(r"\w+:", target):
            yield target
    for tree in TREE.findall(text):
        for line in tree.splitlines():
            if line and not line.startswith(":") and "*" not in line:
                yield re.sub(r".*<(.*)>", r"\1", line)


def place(page: Path, target: str) -> str | None:
    """Return what a target names, from the root of the tree; None where it names nothing that is or will be there."""
    start = ROOT / "docs" if target.startswith("/") else page.parent
    for ending in ("", ".md", ".rst"):
        path = Path(f"{start}/{target.lstrip('/')}{ending}").resolve()
        name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""
        if any(fnmatch(name, pattern) for pattern in GENERATED):
            return name
        if path.exists():
            return name
    return None


def broken(page: Path, text: str) -> list[str]:
    """Return the links of a page that lead nowhere, and those that need a build where the page does not say so."""
    found = []
    for target in targets(text):
        name = place(page, target)
        if name is None:
            found.append(f"{target}: is not there")
        elif any(fnmatch(name, pattern) for pattern in GENERATED) and not MARK.search(text):
            found.append(f"{target}: only the build makes it, and the page does not say that `make docs` makes it")
    return found


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_or_the_page_says_what_makes_them(page: Path) -> None:
    assert not broken(page, page.read_text(encoding="utf-8"))


def test_generated_pages_of_the_atlas_are_those_of_claims() -> None:
    known = {f"docs/atlas/{claim.paper}/{claim.id.partition('/')[2].replace('/', '-')}.md" for claim in claims()}
    known |= {f"docs/atlas/{paper}/index.md" for paper in PAPERS}
    for page in WRITTEN:
        named = {place(page, target) for target in targets(page.read_text(encoding="utf-8"))}
        assert {name for name in named if name and re.match(r"docs/atlas/[^/]+/(?!\.)", name)} - known <= {
            "docs/atlas/code/index.md"
        }


def test_links_that_lead_nowhere_are_found() -> None:
    page = ROOT / "docs" / "how-to" / "page.md"
    assert not broken(page, "[a](index.md) [b](../reference/traces.md#top) [c](https://a.b) `[d](e.md)`")
    for text in ("[a](nothing.md)", "{doc}`x <../nothing>`", "```{toctree}\n:hidden:\n\nnothing\n```", ":link: nothing",
                 "```{image} /nothing.png\n```"):  # fmt: skip
        assert len(broken(page, text)) == 1, text
    assert len(broken(page, "[a](../reference/policies.md)")) == 1
    assert not broken(page, "[a](../reference/policies.md), a page that `make docs` makes")
    assert not broken(page, "```bash\n[a](nothing.md)\n```")
