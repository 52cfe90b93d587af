"""The reference of JSON schemas: of the answers of commands, and of files."""

from __future__ import annotations

import json
from pathlib import Path

from generate.text import plain, save

FOLDER = Path(__file__).parents[2] / "bounds" / "schemas"


def write(docs: Path) -> None:
    """Write the page."""
    parts = [
        "# JSON schemas\n",
        "What the commands print with `--json`, and the files that they read and write, are described by these JSON "
        "Schemas (draft 2020-12). They stand in `bounds/schemas`, and tests hold the commands to them. Exact rationals "
        "are text: `p/q`, or `n` where they are whole.\n",
    ]
    for path in sorted(FOLDER.glob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        place = f"/../bounds/schemas/{path.name}"
        parts += [
            f"## {path.stem}\n",
            f"{plain(schema.get('title', path.stem))}. {{download}}`Download {path.name} <{place}>`\n",
            f":::{{dropdown}} The schema\n```{{literalinclude}} {place}\n:language: json\n```\n:::\n",
        ]
    save(docs / "reference" / "schemas.md", "\n".join(parts))
