"""The code that makes pages: what it names exists, text stays text, and claims without a run say so."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bounds.claims import Checked, Level, Outcome
from bounds.results import claims
from bounds.results import modules as files_of_claims
from bounds.results.reproduction import DRAWINGS, modules, reproductions
from bounds.results.run import picture
from tests.pictures.looks import faults, flaws

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
    from generate.evidence import CERTIFICATES, DRAWN, OF_EXAMPLES

    known = {claim.id for claim in claims()}
    assert set(OF_EXAMPLES) | set(DRAWN) | set(DRAWINGS) | set(CERTIFICATES) <= known
    assert not set(DRAWN) & set(DRAWINGS), "one picture a claim"
    assert all((DOCS / f"{name}.png").exists() for name in OF_EXAMPLES.values())


def test_what_is_stored_outlives_a_run_without_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from generate import store

    names = ["autoscaling/introduction", "autoscaling/figure-5-bound"]
    held = [
        {"id": name, "verdict": "holds", "evidence": "numeric", "computed": "before", "seconds": 1.0} for name in names
    ]
    (tmp_path / "run.json").write_text(json.dumps(held))
    monkeypatch.setattr(store, "RUN", tmp_path / "run.json")
    outcomes = dict(zip(names, (Outcome("now", True), Outcome("no real data", None)), strict=True))
    checked = (Checked(one, outcomes[one.id], 2.0) for one in claims(names))
    monkeypatch.setattr("bounds.results.verify_all", lambda some: checked if some == names else ())
    assert store.main(names) == 0
    stored = {entry["id"]: entry["computed"] for entry in json.loads((tmp_path / "run.json").read_text())}
    assert stored == dict(zip(names, ("now", "before"), strict=True))


def test_every_policy_has_a_line_of_its_own(tmp_path: Path) -> None:
    from generate import policies

    from fluid.simulation.policy_names import HOMES

    (tmp_path / "reference").mkdir()
    policies.write(tmp_path)
    lines = (tmp_path / "reference" / "policies.md").read_text().splitlines()
    about = [lines[lines.index(f"* - `{name}`") + 1] for name in HOMES]
    assert len(set(about)) == len(HOMES)


def test_theorems_are_quoted_as_coq_has_them() -> None:
    """A quotation is the text that Coq compiled, with what is declared around it, and nothing of other sections."""
    from generate.theorems import STATEMENTS, statement_of

    text = STATEMENTS.read_text(encoding="utf-8")
    for name in STATEMENTS.with_name("theorems.txt").read_text(encoding="utf-8").split():
        around, _, said = statement_of(name).partition("Theorem ")
        assert f"Definition {said[:-1]}\n  := " in text, name
        assert all(line in text for line in around.splitlines()), name
    single = statement_of("SingleType.single_type_keeps")
    assert {"v_ge0", "k_fits"} <= set(single.split())
    assert "K_down" not in single
    assert "st_run" in statement_of("Greedy.greedy_keeps")
    assert "st_run" not in statement_of("Greedy.serves_all_optimal")
    with pytest.raises(KeyError):
        statement_of("Greedy.no_such_theorem")


LATE = """
import socket, sys, time
made = socket.socket(socket.AF_UNIX)
made.bind(sys.argv[1])
time.sleep(0.3)
{then}
"""


def test_a_program_that_listens_late_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from generate import formulas
    from sphinxcontrib.katex import KaTeXError

    for name, then in (("listens", "made.listen(); made.accept()[0].sendall(b'x')"), ("never", "time.sleep(60)")):
        (tmp_path / name).mkdir()
        command = [sys.executable, "-c", LATE.format(then=then), str(tmp_path / name / "katex.sock")]
        monkeypatch.setattr(formulas.KaTeXServer, "build_command", lambda command=command, **_: command)
        if name == "never":
            with pytest.raises(KaTeXError):
                formulas.start(tmp_path / name, 1.0)
        else:
            process, connection = formulas.start(tmp_path / name, 30.0)
            assert connection.recv(1) == b"x"
            connection.close()
            process.communicate(timeout=30)


def test_quick_examples_exist() -> None:
    from generate.gallery import EXAMPLES, QUICK

    assert all((EXAMPLES / f"{name}.py").exists() for name in QUICK)


def test_examples_without_a_picture_are_a_list_below_the_gallery() -> None:
    from generate.gallery import EXAMPLES, LIST, with_list, without_picture

    bare = [path.stem for path in without_picture(DOCS)]
    assert bare == ["rules_to_attack", "strangers_heuristic", "tenant_log", "tenants_of_a_trace"]
    entry = (
        '.. raw:: html\n\n    <div class="sphx-glr-thumbcontainer" tooltip="A &amp; B">\n\n.. only:: html\n\n'
        "  .. image:: /gallery/images/thumb/sphx_glr_{0}_thumb.png\n    :alt:\n\n"
        "  :doc:`/gallery/{0}`\n\n.. raw:: html\n\n"
        '      <div class="sphx-glr-thumbnail-title">{0}</div>\n    </div>\n\n\n'
    )
    names = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "__init__")
    made = with_list("Gallery\n\n" + "".join(entry.format(name) for name in names), DOCS)
    grid, listed = made.split(LIST)
    for name in names:
        assert (f"{name}_thumb.png" in grid) == (name not in bare), name
        assert (f"<{name}>`: " in listed) == (name in bare), name
    assert grid.count("raw::") == 2 * (len(names) - len(bare)), "whole entries go"
    with pytest.raises(AssertionError, match="another form"):
        with_list("Gallery", DOCS)


@pytest.mark.parametrize("name", ["tight_family", "fluid_limit", "rules_to_attack"])
def test_an_example_has_a_title_and_stays_a_program(name: str) -> None:
    from generate.gallery import EXAMPLES, FINDINGS, titled

    made = titled(EXAMPLES / f"{name}.py", DOCS)
    assert made.startswith(f'"""\n{FINDINGS.get(name, "Rules to attack")}\n===')
    assert (f".. image:: /{name}.png" in made) == (name == "fluid_limit")
    compile(made, name, "exec")


def test_every_picture_of_the_gallery_has_a_finding() -> None:
    """A name of a file says nothing to a reader."""
    from generate.gallery import EXAMPLES, FINDINGS, FIRST, QUICK

    drawn = {name for name, made in QUICK.items() if made}
    stored = {path.stem for path in EXAMPLES.glob("*.py") if (DOCS / f"{path.stem}.png").exists()}
    assert drawn | stored == FIRST.keys() | FINDINGS.keys()
    assert all(len(finding) <= 64 for finding in FINDINGS.values())


def test_six_findings_come_first_in_the_gallery(tmp_path: Path) -> None:
    """Each has a caption that fits below a picture, and a part of a picture that can be read."""
    from generate.gallery import CROPS, EXAMPLES, FIRST, Order, crop, titled
    from PIL import Image

    scripts = sorted((path.name for path in EXAMPLES.glob("*.py")), key=Order(""))
    assert [name.removesuffix(".py") for name in scripts[:6]] == list(FIRST)
    assert scripts[6:] == sorted(scripts[6:])
    for name, (finding, _) in FIRST.items():
        assert len(finding.split()) <= 14
        made = titled(EXAMPLES / f"{name}.py", DOCS)
        assert made.startswith(f'"""\n{finding}\n{"=" * len(finding)}\n')
        assert f"# sphinx_gallery_thumbnail_path = '{CROPS}/{name}.png'" in made
        (tmp_path / f"{name}.png").write_bytes((DOCS / f"{name}.png").read_bytes())
        crop(tmp_path, name)
        with Image.open(tmp_path / CROPS / f"{name}.png") as part:
            assert part.width <= 1000, "text of 7 points is 7 pixels at least where 352 pixels are shown"
            assert part.width / part.height < 2


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


def test_the_page_of_a_claim_says_first_what_is_printed(tmp_path: Path) -> None:
    """Its title is that of the claim; what is printed comes first, then ours, then the outcome."""
    from generate.atlas import claim_page, paper_page, parts_of

    (claim,) = claims(["nonpreemptive/lemma-4.3"])
    page = claim_page(claim, {"computed": "found", "seconds": 1.0}, tmp_path)
    assert page.startswith("# Max\\-weight drift fails for light servers\n")
    names = [line[4:].partition("\n")[0] for line in page.split("\n") if line.startswith("* - ")]
    assert names[:3] == ["Printed", "Ours", "Outcome"]
    (proved,) = claims(["autoscaling/thm-3.9"])
    theorem, tried = parts_of(proved.statement)
    assert f"{theorem} {tried}" == proved.statement
    assert "random" not in theorem
    assert "random" in tried
    paper = claims(paper="ps-dsf")
    listed = paper_page("ps-dsf", paper)
    assert all(f"[{plain(one.title)}](../{one.id}.md)" in listed for one in paper)
    (attained,) = claims(["autoscaling/prop-3.10"])
    assert claim_page(attained, None, tmp_path).startswith("# One family attains $1-(1-1/J)^{J}$ for every J\n")


def plain(text: str) -> str:
    from generate.text import plain

    return plain(text)


FORMULAS = {
    "at least 1 - (1 - 1/J)^J of it": "at least $1 - (1 - 1/J)^{J}$ of it",
    "sum_j Q_j (rho_j - k_j) <= B_2.": r"$\sum_{j} \, Q_{j} \, (\rho_{j} - k_{j}) \le B_{2}$\.",
    "for 4 10^4 servers, 1e-6": r"for $4 \cdot 10^{4}$ servers, $10^{-6}$",
    "the sum of z^(l) over beta = 7/8": r"the sum of $z^{(l)}$ over $\beta = 7/8$",
    "D_n = -(a A + b B) times": r"$D_{n} = -(a \, A + b \, B)$ times",
    "0.97 x 2/3 rho*": r"$0.97 \times 2/3 \, \rho^{*}$",
    "there is a C > 0, Example 1 (N = 6)": r"there is a $C \gt 0$, Example 1 \($N = 6$\)",
    "||Q(t)||_inf < C |q|^2 or E[V] <= -delta": r"$\lVert Q(t) \rVert_{\infty} \lt C \, \lvert q \rvert^{2}$ or "
    r"$E[V] \le -\delta$",
    "J = 2..12 has 4J - 4 of them, k != l": r"$J = 2, \dots, 12$ has $4J - 4$ of them, $k \ne l$",
    "K_RED has (1-eps)2/3, over 1 - 1/e": r"$K_{\mathrm{RED}}$ has $(1-\varepsilon) \cdot 2/3$, over $1 - 1/e$",
    "at most 2/3 over k~ in M14 | G16": r"at most 2/3 over $\tilde{k}$ in M14 \| G16",
    "exactly 2/3, J=2,3, of 2,000": r"exactly 2/3, $J=2, 3$, of 2,000",
    "inside K_RED's hull, over k != k~": r"inside $K_{\mathrm{RED}}$\'s hull, over $k \ne \tilde{k}$",
    "where Q = (1, 2/3, n), q(x) = 1(x < p)": r"where $Q = (1, 2/3, n)$, $q(x) = \mathbf{1}(x \lt p)$",
    "sqrt(E[f^2 | B_i]) and mu^(N - 2a), not 2a": r"$\sqrt{E[f^{2} \mid B_{i}]}$ and $\mu^{N - 2a}$, not 2a",
    "types (1, 1), 20 servers, VQS-BF, K_RED_x": r"types \(1, 1\), 20 servers, VQS\-BF, $K_{\mathrm{RED\_x}}$",
}


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_set(text: str) -> None:
    from generate.mathematics import with_formulas

    assert with_formulas(text) == FORMULAS[text]


def test_formulas_of_claims_are_sound() -> None:
    """Nothing but the formulas changes, brackets are balanced, and KaTeX (where node is) accepts each of them."""
    from generate.mathematics import with_formulas

    found = set()
    for claim in claims():
        for text in (claim.title, claim.statement, claim.printed):
            pieces = re.split(r"(?<!\\)\$(.+?)(?<!\\)\$", with_formulas(text))
            at = 0
            for piece in pieces[::2]:
                shown = re.sub(r"\\(.)", r"\1", piece)
                place = " ".join(text.split()).find(shown, at)
                assert place >= at, (claim.id, piece)
                at = place + len(shown)
            found |= set(pieces[1::2])
    assert len(found) > 250
    for formula in found:
        assert formula.count("(") == formula.count(")"), formula
        assert formula.count("{") == formula.count("}"), formula
        assert formula.count("[") == formula.count("]"), formula


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


RESULTS = list(modules())


def test_stored_panels_rest_on_the_parameters_of_today() -> None:
    from generate.reproduced import basis, stored

    held = stored(DOCS)
    assert list(held) == RESULTS, "run `make docs-run`"
    for one in reproductions():
        assert {name: held[one.id][name] for name in basis(one)} == basis(one), "run `make docs-run`"


@pytest.mark.parametrize("name", ["autoscaling/figure-2", "ps-dsf/figure-1", "ps-dsf/table-4", "throughput/figure-2"])
def test_stored_panels_are_what_is_computed(name: str) -> None:
    from generate.reproduced import as_data, stored

    (one,) = reproductions([name])
    panels = [as_data(panel) for panel in one.compute(**one.parameters[Level.quick])]
    assert stored(DOCS)[name]["panels"] == json.loads(json.dumps(panels))


@pytest.mark.parametrize("name", RESULTS)
def test_stored_pictures_are_sound(name: str) -> None:
    from generate.reproduced import panels_of, stored

    (one,) = reproductions([name])
    assert not flaws(picture(one, panels_of(stored(DOCS)[name])))


def test_results_are_computed_where_they_are_missing_or_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from generate import reproduced

    chosen, said = reproductions(["ps-dsf/figure-4", "ps-dsf/figure-5"]), list[str]()
    monkeypatch.setattr(reproduced, "reproductions", lambda: chosen)
    (tmp_path / "atlas").mkdir()
    for expected in (["ps-dsf/figure-4", "ps-dsf/figure-5"], []):
        reproduced.refresh(tmp_path, say=said.append)
        assert said == [f"{name}: computed" for name in expected]
        said.clear()
    chosen[1] = replace(chosen[1], seed=8)
    reproduced.refresh(tmp_path, say=said.append)
    assert said == ["ps-dsf/figure-5: computed"]
    assert reproduced.stored(tmp_path)["ps-dsf/figure-5"]["seed"] == 8
    assert set(reproduced.shown(tmp_path)) == {name for one in chosen for name in one.claims}


@pytest.mark.parametrize("file", sorted(set(files_of_claims().values())))
def test_drawings_of_claims_are_sound(file: str) -> None:
    """Each file of claims registers its drawings as it is loaded; several claims may share one."""
    loaded = vars(import_module(file)).values()
    shown = {id(one.compute): one for one in DRAWINGS.values()}
    for drawing in (shown[id(made)] for made in loaded if id(made) in shown):
        assert not flaws(drawing.figure()), drawing.title


def test_every_drawing_is_found_in_its_file() -> None:
    files = {import_module(file) for file in files_of_claims().values()}
    made = {id(value) for file in files for value in vars(file).values()}
    assert DRAWINGS
    assert all(id(drawing.compute) in made for drawing in DRAWINGS.values())


def test_drawings_of_examples_are_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from generate import evidence

    drawn: list[Any] = []
    monkeypatch.setattr(evidence, "save", lambda figure, _: drawn.append(figure))
    for claim in ("packproof/tight", "packproof/sequential-pools", "packproof/worst-rewards"):
        evidence.DRAWN[claim](tmp_path / "picture.png")
        assert not flaws(drawn[-1])
    evidence.DRAWN["autoscaling/def-3.8-three-types"](tmp_path / "picture.png")
    assert len(drawn) == 4
    assert not faults(drawn[-1])
