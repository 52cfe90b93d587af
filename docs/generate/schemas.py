"""The reference of JSON schemas: of the answers of commands, and of files."""

from __future__ import annotations

import json
from pathlib import Path

from bounds.answers import names, schema
from generate.text import plain, save


def write(docs: Path) -> None:
    """Write the page, and the schemas as files that it offers."""
    parts = [
        "# JSON schemas\n",
        "What the commands print with `--json`, and the files that they read and write, are described by these JSON "
        "Schemas (draft 2020-12); `packproof schema NAME` prints one. Those of answers are made from the classes in "
        "`bounds/answers/`, from which the commands make their answers, and those of files from the records "
        "by which they are read. Exact rationals are text: `p/q`, or `n` where "
        "they are whole.\n",
    ]
    for name in names():
        form, place = schema(name), f"_generated/schemas/{name}.json"
        save(docs / place, json.dumps(form, indent=2, ensure_ascii=False) + "\n")
        parts += [
            f"## {name}\n",
            f"{plain(form['title'])}. {{download}}`Download {name}.json </{place}>`\n",
            f":::{{dropdown}} The schema\n```{{literalinclude}} /{place}\n:language: json\n```\n:::\n",
        ]
    save(docs / "reference" / "schemas.md", "\n".join(parts))
