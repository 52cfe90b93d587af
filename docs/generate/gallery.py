"""The gallery of examples: which of them run while the pages are built, and the pictures that they make or made.

An example writes its pictures where its arguments say. Those that are quick run and draw anew; the others show the
picture that stands in ``docs``, under their own name. Those without a picture are listed below the gallery as text.
"""

from __future__ import annotations

import ast
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
    "monotone_property": ("picture.png",),
    "phase_portrait": ("picture.png",),
    "server_pools": ("picture.png",),
    "strangers_heuristic": (),
    "tight_family": ("picture.png",),
    "whole_servers": ("certificate.json", "picture.png"),
    "worst_by_size": ("picture.png",),
    "worst_of_a_family": ("picture.png",),
    "worst_rewards": ("picture.png",),
}
"""The examples that run, with the arguments that name what they write: pictures, and other files."""


FIRST: dict[str, tuple[str, tuple[float, float, float, float]]] = {
    "worst_of_a_family": ("Greedy keeps 80 % of the reward at the worst mix of AWS types", (0.0, 0.06, 0.5, 1.0)),
    "worst_by_size": ("Greedy's worst cases, by job types and resources", (0.0, 0.0, 1.0, 1.0)),
    "unstable_queues": ("A sensible policy whose queue grows without bound", (0.0, 0.0, 0.54, 1.0)),
    "capacity_region": ("What a server of EC2 types can carry, exactly", (0.0, 0.0, 0.66, 1.0)),
    "best_partitions": ("No partition of sizes guarantees more than two thirds", (0.0, 0.0, 0.475, 1.0)),
    "tenant_admission": ("Observed tenants let more cores be used at equal SLA", (0.0, 0.0, 1.0, 1.0)),
}
"""The examples that come first: the finding that stands below each, and the part of its picture that is shown there.

A part has its left, upper, right and lower end, in parts of the picture that ``docs`` stores.
"""

FINDINGS = {
    "admission_policies": "Admission policies at equal SLA, beside a bound for all",
    "fair_sharing": "Fair mechanisms side by side on Google's cluster of 2011",
    "fluid_limit": "Simulated paths approach the fluid limit of dynamic reservation",
    "maxweight_flow": "The flow of max-weight turns where configurations tie",
    "monotone_property": "More workload can mean less greedy reward",
    "own_policies": "Policies of your own, simulated",
    "phase_portrait": "All fluid paths end in the greedy assignment",
    "server_pools": "Greedy over all pools at once beats one pool after another",
    "tight_family": "The guarantee of greedy is attained for every number of types",
    "whole_servers": "What whole servers earn, and how few carry the workload",
    "worst_rewards": "Workload and rewards at their worst together",
}
"""What stands below the pictures of the others."""

CROPS = "_generated/crops"


class Order:
    """The order of the gallery: `FIRST`, then by name."""

    def __init__(self, src_dir: str) -> None:
        del src_dir

    def __call__(self, name: str) -> tuple[int, str]:
        """Return what a file is sorted by."""
        stem = Path(name).stem
        return (list(FIRST).index(stem) if stem in FIRST else len(FIRST)), stem

    def __repr__(self) -> str:
        """Say the same at each build, so that pages are not built again."""
        return "Order"


def crop(docs: Path, name: str) -> None:
    """Write the part of a stored picture that the gallery shows."""
    from PIL import Image

    (docs / CROPS).mkdir(parents=True, exist_ok=True)
    with Image.open(docs / f"{name}.png") as whole:
        left, upper, right, lower = FIRST[name][1]
        box = (
            round(left * whole.width),
            round(upper * whole.height),
            round(right * whole.width),
            round(lower * whole.height),
        )
        whole.crop(box).save(docs / CROPS / f"{name}.png")


def title_of(path: Path) -> str:
    """Return the finding of an example, or the name of one without a picture."""
    findings = {name: finding for name, (finding, _) in FIRST.items()} | FINDINGS
    return findings.get(path.stem, path.stem.replace("_", " ").capitalize())


def write(docs: Path) -> None:
    """Copy the examples, each under a title, with the files that they read."""
    for name in FIRST:
        crop(docs, name)
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
    title = title_of(path)
    found = re.match(r'(r?""")(.*?)(""")', source, re.DOTALL)
    assert found is not None, f"{path.name}: expected a docstring"
    about = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", found[2].strip())
    parts = [f"{title}\n{'=' * len(title)}\n\n{about}\n"]
    front = ""
    if path.stem not in QUICK and (docs / f"{path.stem}.png").exists():
        parts.append(f".. image:: /{path.stem}.png\n   :alt: {title}\n")
        front = f"# sphinx_gallery_thumbnail_path = '{path.stem}.png'\n"
    if path.stem in FIRST:
        front = f"# sphinx_gallery_thumbnail_path = '{CROPS}/{path.stem}.png'\n"
    return f'"""\n{chr(10).join(parts)}"""\n{front}{source[found.end() :]}'


def without_picture(docs: Path) -> list[Path]:
    """Return the examples that have no picture, neither one that they draw now nor one that stands in ``docs``."""
    scripts = (path for path in sorted(EXAMPLES.glob("*.py")) if path.stem != "__init__")
    drawn = {name for name, files in QUICK.items() if any(file.endswith(".png") for file in files)}
    return [path for path in scripts if path.stem not in drawn and not (docs / f"{path.stem}.png").exists()]


def with_list(source: str, docs: Path) -> str:
    """Return the index that sphinx-gallery wrote, its examples without a picture as a list below the gallery."""
    rows = []
    for path in without_picture(docs):
        entry = re.compile(THUMBNAIL.format(name=re.escape(path.stem)))
        assert entry.search(source), f"{path.name}: sphinx-gallery lists it in another form"
        source = entry.sub("", source)
        about = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
        rows.append(f"* :doc:`{path.stem.replace('_', ' ').capitalize()} <{path.stem}>`: {about}")
    return "\n".join((source, "", LIST, "-" * len(LIST), "", *rows, ""))


THUMBNAIL = (
    r'\.\. raw:: html\n\n    <div class="sphx-glr-thumbcontainer"(?:(?!thumbcontainer)[\s\S])*?'
    r"/sphx_glr_{name}_thumb\.png\n[\s\S]*?</div>\n    </div>\n"
)
"""One entry of the gallery, as sphinx-gallery writes it."""

LIST = "Scripts without a picture"


def pictures(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Collect the pictures that an example wrote: a scraper of sphinx-gallery."""
    from sphinx_gallery.scrapers import figure_rst

    del block
    made = []
    for name in QUICK.get(Path(variables["src_file"]).stem, ()):
        written = Path(variables["src_file"]).parent / name
        if written.suffix == ".png" and written.exists():
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
    "thumbnail_size": (704, 480),
    "within_subsection_order": "generate.gallery.Order",
}
"""The configuration of sphinx-gallery."""

arguments = Arguments()
