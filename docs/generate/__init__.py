"""Pages that are made from the code: the atlas of claims, the reference, the gallery, the tutorials as notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from generate import api, atlas, commands, exports, formats, gallery, notebooks, policies, reproduced, schemas
from generate.text import written


def pages(docs: Path) -> None:
    """Write all generated pages below the folder of the documentation; a file that would not change is left alone."""
    for part in (reproduced, atlas, api, commands, policies, formats, exports, schemas, gallery, notebooks):
        part.write(docs)
    for page in (*docs.glob("atlas/*/*.md"), *docs.glob("reference/api/*.rst")):
        if page not in written:
            page.unlink()  # of a claim or a room that is gone


def with_notebook(app: Any, name: str, source: list[str]) -> None:
    """Offer a tutorial as a notebook, below its title: a handler of Sphinx's event ``source-read``."""
    folder, _, page = name.partition("/")
    if folder == "tutorials" and (Path(app.srcdir) / notebooks.FOLDER / f"{page}.ipynb").exists():
        front, title, body = notebooks.split_at_title(source[0])
        source[0] = (
            f"{front}{title}\n\n{{download}}`This page as a notebook </{notebooks.FOLDER}/{page}.ipynb>`\n{body}"
        )


def with_list(app: Any, name: str, source: list[str]) -> None:
    """List the examples without a picture below the gallery: a handler of Sphinx's event ``source-read``."""
    if name == "gallery/index":
        source[0] = gallery.with_list(source[0], Path(app.srcdir))
