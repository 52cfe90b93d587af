"""The gallery of examples: which of them run while the pages are built, and the pictures that they make or made.

An example writes its pictures where its arguments say. Those that are quick run and draw anew; the others show the
picture that stands in ``docs``, under their own name.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from generate.text import save

EXAMPLES = Path(__file__).parents[2] / "examples"
COPIES = "_generated/examples"
QUICK: dict[str, tuple[str, ...]] = {
    "capacity_region": ("picture.png",),
    "fair_sharing": ("picture.png",),
    "maxweight_flow": ("picture.png",),
    "monotone_property": (),
    "phase_portrait": ("picture.png",),
    "server_pools": (),
    "strangers_heuristic": (),
    "tight_family": (),
    "whole_servers": (),
    "worst_by_size": ("picture.png",),
    "worst_of_a_family": ("picture.png",),
    "worst_rewards": (),
}
"""The examples that run, with the arguments that name their pictures."""


def write(docs: Path) -> None:
    """Copy the examples, each under a title, with the files that they read."""
    folder = docs / COPIES
    save(folder / "README.txt", HEADER)
    for path in sorted(EXAMPLES.iterdir()):
        if path.suffix in (".toml", ".csv"):
            shutil.copyfile(path, folder / path.name)
        elif path.suffix == ".py" and path.stem != "__init__":
            save(folder / path.name, titled(path, docs))


HEADER = """Gallery of examples
===================

One short script for each result. Each runs from the folder of packproof, with the file for its picture where it draws
one: ``python -m examples.NAME [PICTURE.png]``.
"""


def titled(path: Path, docs: Path) -> str:
    """Return an example with a title for its page, and with its stored picture where it does not run."""
    source = path.read_text(encoding="utf-8")
    title = path.stem.replace("_", " ").capitalize()
    found = re.match(r'(r?""")(.*?)(""")', source, re.DOTALL)
    assert found is not None, f"{path.name}: expected a docstring"
    about = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", found[2].strip())
    parts = [f"{title}\n{'=' * len(title)}\n\n{about}\n"]
    front = ""
    if path.stem not in QUICK and (docs / f"{path.stem}.png").exists():
        parts.append(f".. image:: /{path.stem}.png\n   :alt: {title}\n")
        front = f"# sphinx_gallery_thumbnail_path = '{path.stem}.png'\n"
    elif path.stem not in QUICK or not QUICK[path.stem]:
        front = "# sphinx_gallery_thumbnail_path = '_static/no_picture.png'\n"
    return f'"""\n{chr(10).join(parts)}"""\n{front}{source[found.end() :]}'


def pictures(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Collect the pictures that an example wrote: a scraper of sphinx-gallery."""
    from sphinx_gallery.scrapers import figure_rst

    del block
    made = []
    for name in QUICK.get(Path(variables["src_file"]).stem, ()):
        written = Path(variables["src_file"]).parent / name
        if written.exists():
            target = next(variables["image_path_iterator"])
            shutil.move(written, target)
            made.append(target)
    return str(figure_rst(made, settings["src_dir"])) if made else ""


class Arguments:
    """The arguments that an example runs with."""

    def __call__(self, settings: dict[str, Any], variables: dict[str, Any]) -> list[str]:
        """Return them, the names of its pictures, and tell the example where it stands: sphinx-gallery does not."""
        del settings
        variables["example_globals"]["__file__"] = variables["src_file"]
        return list(QUICK.get(Path(variables["src_file"]).stem, ()))

    def __repr__(self) -> str:
        """Say the same at each build, so that pages are not built again."""
        return "Arguments()"


GALLERY: dict[str, Any] = {
    "examples_dirs": COPIES,
    "gallery_dirs": "gallery",
    "filename_pattern": r"/(" + "|".join(QUICK) + r")\.py$",
    "image_scrapers": ("generate.gallery.pictures",),
    "reset_argv": "generate.gallery.arguments",
    "reset_modules": (),
    "write_computation_times": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "plot_gallery": "True",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10_000,
    "within_subsection_order": "FileNameSortKey",
    "default_thumb_file": str(Path(__file__).parents[1] / "_static" / "no_picture.png"),
}
"""The configuration of sphinx-gallery."""

arguments = Arguments()
