"""The tutorials as Jupyter notebooks, to download."""

from __future__ import annotations

from pathlib import Path

import jupytext

from generate.text import save

FOLDER = "_generated/notebooks"
STARTUP = '''"""A tutorial runs in the folder of packproof, as its reader does, without progress and versions."""
import os
import re
import subprocess

MADE = r"(?m)\\n*^made by packproof .*$"  # versions, which change from build to build
os.chdir({root!r})


def system(command):
    done = subprocess.run(get_ipython().var_expand(command, depth=1), shell=True, capture_output=True, text=True)
    print(re.sub(MADE, "", done.stdout) + (done.stderr if done.returncode else ""), end="")


get_ipython().system = system
'''


def write(docs: Path) -> None:
    """Write the notebooks, and the profile of the kernel in which the tutorials run: errors alone are logged."""
    for page in sorted((docs / "tutorials").glob("*.md")):
        if page.stem != "index":
            notebook = jupytext.reads(page.read_text(encoding="utf-8"), fmt="md:myst")
            notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
            for number, cell in enumerate(notebook.cells):
                cell["id"] = f"cell-{number}"  # drawn at random otherwise
            save(docs / FOLDER / f"{page.stem}.ipynb", jupytext.writes(notebook, fmt="ipynb"))
    profile = docs / "_build" / "ipython" / "profile_default"
    save(profile / "ipython_kernel_config.py", "c = get_config()\nc.Application.log_level = 40\n")
    save(profile / "startup" / "00_folder.py", STARTUP.format(root=str(docs.parent)))


def split_at_title(text: str) -> tuple[str, str, str]:
    r"""Return what stands before the title of a page, the line of the title, and the rest.

    Examples
    --------
    >>> split_at_title("---\na: 1\n---\n# T\nbody")
    ('---\na: 1\n---\n', '# T', '\nbody')
    """
    at = 0 if text.startswith("# ") else text.index("\n# ") + 1
    end = text.find("\n", at)
    return text[:at], text[at:end], text[end:]
