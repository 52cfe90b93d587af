"""The built documentation in a browser: search, atlas and a tutorial work from a disk, and ask nobody for anything.

Run ``make docs`` first; the tests are skipped where there are no pages, and those of the browser where it is absent.
`PACKPROOF_SCREENSHOTS` names a folder for the screenshots.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bounds.checker import check
from bounds.results import claims

pytest.importorskip("tornado")
from tests.docs.browser import Browser, chromium

HTML = Path(__file__).parents[2] / "docs" / "_build" / "html"
pytestmark = pytest.mark.skipif(not (HTML / "index.html").exists(), reason="no pages: run `make docs`")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if chromium() is None:
        pytest.skip("Chromium is not installed")
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found
        found.do("document.title")  # reads what has been noted until now
        outside = [address for address in found.asked if not address.startswith(("file:", "data:", "blob:", "about:"))]
        assert not outside
        assert not found.complaints


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("PACKPROOF_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


BROKEN_PICTURES = "[...document.images].filter(i => !(i.complete && i.naturalWidth > 0)).map(i => i.src)"


def test_the_browser_notes_what_a_page_asks_for(tmp_path: Path) -> None:
    if chromium() is None:
        pytest.skip("Chromium is not installed")
    page = tmp_path / "page.html"
    page.write_text("<img src='http://packproof.invalid/a.png'><script>nobody.knows()</script>")
    with Browser(tmp_path / "profile") as other:
        other.open(page)
        assert other.do("document.title") == ""
        assert "http://packproof.invalid/a.png" in other.asked
        assert any("nobody" in complaint for complaint in other.complaints)


def test_search(browser: Browser, shot: Path) -> None:
    browser.open(HTML / "index.html")
    browser.picture(shot / "index.png")
    assert browser.do(BROKEN_PICTURES) == []
    browser.do("document.querySelector('button.search-button__button').click()")
    browser.do("document.querySelector('input[type=search]').value = 'monotone greedy property'")
    browser.do("document.querySelector('input[type=search]').closest('form').submit()")
    browser.settle("search.html")
    browser.wait("document.querySelectorAll('#search-results li a').length > 3")
    browser.picture(shot / "search.png")
    browser.do("document.querySelector('#search-results li a').click()")
    browser.wait("!location.pathname.endsWith('search.html') && document.readyState === 'complete'")
    assert "monotone" in browser.do("document.body.innerText").lower()


def test_atlas(browser: Browser, shot: Path) -> None:
    browser.open(HTML / "atlas" / "index.html")
    browser.picture(shot / "atlas.png")
    browser.click(".bd-article a[href^='by-verdict.html']", "by-verdict.html")
    browser.picture(shot / "by-verdict.png")
    browser.click(".bd-article a[href$='nonpreemptive/region-2.html']", "region-2.html")
    browser.picture(shot / "claim.png")
    text = browser.do("document.querySelector('article').innerText")
    stored = json.loads((HTML.parents[1] / "atlas" / "run.json").read_text(encoding="utf-8"))
    computed = next(one["computed"] for one in stored if one["id"] == "nonpreemptive/region-2")
    for part in ("refuted", computed, "packproof verify nonpreemptive/region-2", "Its code"):
        assert part in " ".join(text.split())
    browser.do("document.querySelector('article details summary').click()")
    assert browser.wait("document.querySelector('article details pre').offsetHeight > 50")
    code = ".bd-article a[href*='code/bounds.results']"
    browser.click(code, Path(browser.do(f"document.querySelector({json.dumps(code)}).pathname")).name)
    assert "region-2" in browser.do("document.querySelector('article').innerText")


def test_tutorial(browser: Browser, shot: Path) -> None:
    browser.open(HTML / "tutorials" / "index.html")
    browser.click(".bd-article a[href^='what-greedy-keeps.html']", "what-greedy-keeps.html")
    browser.picture(shot / "tutorial.png")
    assert browser.do(BROKEN_PICTURES) == []
    assert browser.do("document.querySelectorAll('.katex').length") > 0
    # what a tutorial prints is there where it was run (`make docs`, without TUTORIALS=off)
    if 'class="cell_output' in (HTML / "tutorials" / "what-greedy-keeps.html").read_text(encoding="utf-8"):
        assert "ratio            449/515" in browser.do("document.querySelector('article').innerText")
    browser.do("window.scrollTo(0, document.body.scrollHeight / 2)")
    browser.picture(shot / "tutorial-middle.png")
    assert browser.do("document.querySelectorAll('a.reference.download[href$=\".ipynb\"]').length") == 1
    browser.open(HTML / "explanation" / "greedy.html")
    browser.do("document.querySelector('.proof').scrollIntoView()")
    browser.picture(shot / "explanation.png")
    assert browser.do("document.querySelectorAll('.katex-error').length") == 0


def test_every_tutorial_is_a_notebook_too() -> None:
    tutorials = [page for page in (HTML / "tutorials").glob("*.html") if page.stem != "index"]
    assert len(tutorials) >= 6
    for page in tutorials:
        link = re.search(r'href="([^"]+\.ipynb)"', page.read_text(encoding="utf-8"))
        assert link is not None, page.stem
        notebook = json.loads((page.parent / link[1]).read_text(encoding="utf-8"))
        assert notebook["metadata"]["kernelspec"]["display_name"]
        assert any(cell["cell_type"] == "code" for cell in notebook["cells"])


PAGES = (
    "gallery/index",
    "reference/commands",
    "reference/api/sharing",
    "how-to/index",
    "developer/architecture",
    "explanation/drift",
)


@pytest.mark.parametrize("page", PAGES)
def test_other_pages(browser: Browser, shot: Path, page: str) -> None:
    browser.open(HTML / f"{page}.html")
    browser.do("document.querySelectorAll('img[loading=lazy]').forEach(i => i.loading = 'eager')")
    browser.wait("[...document.images].every(i => i.complete)")
    browser.picture(shot / f"{page.replace('/', '-')}.png")
    assert browser.do(BROKEN_PICTURES) == []
    assert browser.do("document.documentElement.scrollWidth <= window.innerWidth"), "the page is wider than the window"


def test_no_page_names_another_host_for_what_it_loads() -> None:
    loads = re.compile(
        r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc=[\"']?(?:https?:)?//"
        r"|<link\b(?![^>]*\brel=[\"']?canonical)[^>]*\bhref=[\"']?(?:https?:)?//|@import\s+[\"']?https?:|url\([\"']?https?:"
    )
    assert loads.search('<script src="https://a.b/c.js">')
    assert loads.search('<link rel="stylesheet" href="//a.b/c.css">')
    found = {
        str(path.relative_to(HTML)): hit[0]
        for kind in ("*.html", "*.css")
        for path in HTML.rglob(kind)
        if (hit := loads.search(path.read_text(encoding="utf-8")))
    }
    assert not found


def test_every_claim_has_a_page_and_certificates_are_accepted() -> None:
    pages = {str(path.relative_to(HTML / "atlas").with_suffix("")) for path in (HTML / "atlas").rglob("*.html")}
    for claim in claims():
        paper, _, name = claim.id.partition("/")
        assert f"{paper}/{name.replace('/', '-')}" in pages
    offered = [path for path in (HTML / "_downloads").rglob("*.json") if "digest" in path.read_text()[: 10**6]]
    certificates = [document for path in offered if "evidence" in (document := json.loads(path.read_text()))]
    assert len(certificates) >= 8
    for certificate in certificates:
        check(certificate)


def test_links_between_pages_lead_somewhere() -> None:
    anchors: dict[Path, set[str]] = {}
    broken = []
    for page in HTML.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        body = text[text.find("<article") : text.rfind("</article>")]
        for target in set(re.findall(r'<a\b[^>]*\bhref="([^"#?:][^":?]*)"', body)):
            name, _, anchor = target.partition("#")
            there = (page.parent / name).resolve()
            if not there.exists():
                broken.append(f"{page.relative_to(HTML)}: {target}")
            elif anchor and there.suffix == ".html":
                if there not in anchors:
                    anchors[there] = set(re.findall(r'\bid="([^"]+)"', there.read_text(encoding="utf-8")))
                if anchor not in anchors[there]:
                    broken.append(f"{page.relative_to(HTML)}: {target}")
    assert not broken
