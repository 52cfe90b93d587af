"""The wheel holds one import package, ``packproof``: the folders of the checkout move into it, and imports follow.

``theory/errors.py`` of the checkout is ``packproof/theory/errors.py`` of the wheel, ``packproof.py`` is its
``__init__.py``, and ``from theory.errors import ...`` reads ``from packproof.theory.errors import ...`` there. So a
user's own ``theory.py`` hides nothing. Modules that are imported by a name in a string are named as in the checkout
(`theory.doors.imported`). An editable install is the checkout itself.
"""

from __future__ import annotations

import ast
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FLOORS = ("theory", "fluid", "bounds")
RUN = '"""``python -m packproof``."""\n\nfrom packproof import main\n\nif __name__ == "__main__":\n    main()\n'
_IN_EXAMPLE = re.compile(rf"^(\s*(?:>>>|\.\.\.) (?:from|import) )({'|'.join(FLOORS)})\b", re.MULTILINE)


class WheelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Writes the package ``packproof`` beside the checkout and lets the wheel hold it alone."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the package; ``version`` is ``editable`` for an editable install."""
        if version == "editable":
            return
        root = Path(self.root)
        self._made = Path(tempfile.mkdtemp())
        package = self._made / "packproof"
        for floor in FLOORS:
            shutil.copytree(root / floor, package / floor, ignore=shutil.ignore_patterns("__pycache__", "py.typed"))
        shutil.copytree(
            root / "examples", package / "bounds" / "examples", ignore=shutil.ignore_patterns("__pycache__")
        )
        (package / "py.typed").touch()
        shutil.copy(root / "packproof.py", package / "__init__.py")
        (package / "__main__.py").write_text(RUN, encoding="utf-8")
        for file in package.rglob("*.py"):
            text = file.read_bytes().decode()
            file.write_bytes(within_package(text, str(file.relative_to(self._made))).encode())
        build_data["force_include"][str(package)] = "packproof"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was written."""
        del build_data, artifact_path
        if version != "editable":
            shutil.rmtree(self._made)


def within_package(text: str, name: str) -> str:
    """Return the text of a module in which imports of the three floors name them within ``packproof``.

    Raises
    ------
    ValueError
        ``import theory.errors``, which would bind another name.
    """
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in FLOORS:
                    raise ValueError(f"{name}:{node.lineno}: expected from {alias.name} import ...")
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] in FLOORS:
            begin = node.col_offset + len("from ")
            line = lines[node.lineno - 1]
            lines[node.lineno - 1] = f"{line[:begin]}packproof.{line[begin:]}"
    return _IN_EXAMPLE.sub(r"\1packproof.\2", "".join(lines))
