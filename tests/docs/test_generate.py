"""The code that makes pages: what it names exists, text stays text, and claims without a run say so."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from bounds.claims import claims

pytest.importorskip("jupytext")
DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.usefixtures("generate")


@pytest.fixture(scope="module")
def generate() -> Iterator[ModuleType]:
    sys.path.insert(0, str(DOCS))
    import generate

    yield generate
    sys.path.remove(str(DOCS))


def test_pictures_and_certificates_are_of_claims_and_exist() -> None:
    from generate.evidence import CERTIFICATES, DRAWN, PICTURES

    known = {claim.id for claim in claims()}
    assert set(PICTURES) | set(DRAWN) | set(CERTIFICATES) <= known
    for names in PICTURES.values():
        assert all((DOCS / name).exists() for name in names)


def test_quick_examples_exist() -> None:
    from generate.gallery import EXAMPLES, QUICK

    assert all((EXAMPLES / f"{name}.py").exists() for name in QUICK)


@pytest.mark.parametrize("name", ["tight_family", "fluid_limit", "rules_to_attack"])
def test_an_example_has_a_title_and_stays_a_program(name: str) -> None:
    from generate.gallery import EXAMPLES, titled

    made = titled(EXAMPLES / f"{name}.py", DOCS)
    assert made.startswith(f'"""\n{name.replace("_", " ").capitalize()}\n===')
    assert (f".. image:: /{name}.png" in made) == (name == "fluid_limit")
    compile(made, name, "exec")


def test_text_is_shown_as_it_is() -> None:
    from generate.text import plain
    from markdown_it import MarkdownIt

    said = "x_1 <k> |a| *b* `c` [d](e) $f$ {g} # 1. ~h~ & \\ i^j 1 - x"
    shown = MarkdownIt().render(plain(said))
    assert shown == "<p>" + said.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") + "</p>\n"


def test_a_claim_without_a_stored_run_says_so(tmp_path: Path) -> None:
    from generate.atlas import claim_page

    claim = claims(["packproof/tight"])[0]
    assert "not in the stored run" in claim_page(claim, None, tmp_path)
    page = claim_page(claim, {"computed": "2/3 found", "seconds": 1.0}, tmp_path)
    assert "2/3 found" in page
    assert "not in the stored run" not in page
    assert (tmp_path / "_generated" / "certificates" / "tight-3-types.json").exists()


def test_a_notebook_link_stands_below_the_title(generate: ModuleType, tmp_path: Path) -> None:
    from types import SimpleNamespace

    folder = tmp_path / generate.notebooks.FOLDER
    folder.mkdir(parents=True)
    (folder / "one.ipynb").touch()
    source = ["---\na: 1\n---\n# Title\n\nText\n"]
    generate.with_notebook(SimpleNamespace(srcdir=tmp_path), "tutorials/one", source)
    assert source[0].startswith("---\na: 1\n---\n# Title\n\n{download}`This page as a notebook <")
    other = ["# Title\n"]
    generate.with_notebook(SimpleNamespace(srcdir=tmp_path), "how-to/one", other)
    assert other == ["# Title\n"]
