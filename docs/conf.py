"""Sphinx configuration: what is written by hand, what is generated, and no request to any other host."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import sphinxcontrib.katex

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT), str(DOCS)]

import generate
import generate.formulas
from generate.gallery import GALLERY

from theory.version import __version__

project = "packproof"
author = "The packproof authors"
project_copyright = "2026, the packproof authors"
release = version = __version__
language = "en"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "sphinx_proof",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.katex",
]
exclude_patterns = ["_build", "_generated", "generate", "**.ipynb"]
root_doc = "index"
nitpicky = False
smartquotes = False  # two hyphens begin an option: they are no dash
default_role = None

# Markdown and notebooks. A tutorial that fails fails the build; what it printed is stored until its text changes.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist", "attrs_inline"]
myst_heading_anchors = 3
myst_update_mathjax = False
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 300
nb_execution_cache_path = str(DOCS / "_build" / "notebooks")
nb_execution_excludepatterns = ["_generated/*"]
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
nb_merge_streams = True
nb_render_markdown_format = "myst"

# The tutorials run in the folder of packproof, with its command on the path, and start without a user's profile.
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
os.environ["PYTHONPATH"] = str(ROOT)
os.environ["IPYTHONDIR"] = str(DOCS / "_build" / "ipython")
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
os.environ["COLUMNS"] = "100"
os.environ["NO_COLOR"] = "1"

# Mathematics: rendered while building where node is there, else by the browser. Script, style and fonts are local and
# of one version. An error in a formula fails the build.
katex_prerender = shutil.which("node") is not None
katex_css_path = "katex/katex.min.css"
sphinxcontrib.katex.KATEX_DEFAULT_OPTIONS["throwOnError"] = True
sphinxcontrib.katex.KaTeXServer.start_server_process = generate.formulas.start
math_number_all = False

# The API.
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
viewcode_line_numbers = True

sphinx_gallery_conf = GALLERY

html_theme = "pydata_sphinx_theme"
html_title = "packproof"
html_static_path = ["_static"]
html_css_files = ["packproof.css"]
html_favicon = "_static/mark.svg"
html_search_scorer = str(DOCS / "_static" / "scorer.js")
html_show_search_summary = False  # the summaries are fetched, which a browser refuses on a disk
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "gallery/index": []}
html_theme_options = {
    "logo": {"text": "packproof", "image_light": "_static/mark.svg", "image_dark": "_static/mark.svg"},
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "show_toc_level": 2,
    "collapse_navigation": True,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "back_to_top_button": True,
}

proof_minimal_theme = True
suppress_warnings = ["config.cache", "mystnb.unknown_mime_type"]


def setup(app: object) -> None:
    """Write the generated pages before any page is read."""
    generate.pages(DOCS)
    # The theme copies the logo into this folder, and makes a file of that name where a failed build left no folder.
    Path(app.outdir, "_static").mkdir(parents=True, exist_ok=True)  # type: ignore[attr-defined]
    app.connect("source-read", generate.with_notebook)  # type: ignore[attr-defined]
    app.connect("source-read", generate.with_list)  # type: ignore[attr-defined]
