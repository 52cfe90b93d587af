"""What kind of file a file is, for messages: files of packproof by a field that no other has, others by their content.

Only a file that is refused is looked at, so a kind is a help for the reader of the message and decides nothing.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

KINDS_OF_FILES = {
    "digest": ("a certificate", "packproof check, and packproof export, read it"),
    "items": ("a list of items", "packproof throughput, and packproof attack --kind items --from, read it"),
    "sizes": ("a law of sizes", "packproof throughput, and packproof simulate under slotted policies, read it"),
    "user": ("users who share a cluster", "packproof share reads it"),
    "event": ("events of sharing", "packproof share CLUSTER --events reads it"),
    "deployments": ("a cluster with deployments", "the commands of packproof admission read it"),
    "kind": ("a cluster with deployments", "the commands of packproof admission read it"),
    "deployment": ("the deployments of a cluster", "packproof admission decide --state reads it"),
    "core_deaths": ("what was observed of a deployment", "packproof admission belief --observed reads it"),
    "vary": ("the grid of an experiment", "packproof experiment reads it"),
    "type": ("an instance", "packproof solve reads it"),
    "assignment": ("a state of the fluid limit", "packproof fluid INSTANCE --from reads it"),
}
"""What a document is, by a field that no other kind has, and what reads it."""

KUBERNETES = (
    "objects of Kubernetes (kubectl get -o json)",
    "packproof log, packproof plan and packproof simulate --trace read pods as a log (kubectl get pods -o json), "
    "or a CSV with a row a pod and columns such as created_at, deleted_at, cpu (m), memory (Mi); nodes are servers, "
    "--server cpu=...,memory=...",
)
"""What kubectl writes, and what to make of it."""

_KUBERNETES = re.compile(
    r"""\s*(?:\{\s*"(?:apiVersion"\s*:\s*"|kind"\s*:\s*"\w+"\s*,\s*"apiVersion)"""
    r"""|(?:---\s*)?(?:kind: \w+\s+)?apiVersion: )"""
)

VALUES = ("digest", "core_deaths")
"""The fields among them that are no tables."""

SIGNATURES = (
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"%PDF", "a PDF document"),
    (b"\x1f\x8b", "a compressed file (gzip): of these packproof reads traces only"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PAR1", "a table (Parquet): packproof simulate --trace reads it"),
    (b"SQLite format 3", "a store of runs (SQLite): packproof experiment, and packproof simulate, take it as --store"),
)
"""How files that are no text begin."""

CSV = (
    "comma-separated values (CSV): packproof plan, packproof log and packproof simulate --trace read logs, packproof"
    " instance --own VM types, packproof share --allocation tasks by user, where the name ends in .csv"
)
LINES = "JSON lines: packproof simulate --trace reads those of jobs"
CODE = "Python code: packproof attack, and packproof simulate --policy, take it as FILE.py:NAME"


def kind_of_document(document: Mapping[str, Any]) -> tuple[str, str]:
    """Return what a document is, and what reads it; empty texts where it is of no known kind.

    Examples
    --------
    >>> kind_of_document({"user": [{}], "server": [{}]})
    ('users who share a cluster (table user)', 'packproof share reads it')
    >>> kind_of_document({"user": 3})
    ('', '')
    """
    if isinstance(document.get("apiVersion"), str) and isinstance(document.get("kind"), str):
        return KUBERNETES
    for name, (kind, commands) in KINDS_OF_FILES.items():
        if name in document and (name in VALUES or isinstance(document[name], Mapping | list)):
            return f"{kind} ({'field' if name in VALUES else 'table'} {name})", commands
    return "", ""


def begins_as_kubernetes(text: str) -> bool:
    """Return whether a text begins as what kubectl writes, in JSON or YAML.

    Examples
    --------
    >>> begins_as_kubernetes('{ "apiVersion": "v1", "items": ['), begins_as_kubernetes('{"items": []}')
    (True, False)
    """
    return _KUBERNETES.match(text) is not None


def kind_of_bytes(content: bytes) -> str:
    """Return what a file that is no text is, by how it begins; empty where that is not known."""
    return next((kind for begin, kind in SIGNATURES if content.startswith(begin)), "")


def kind_of_text(text: str) -> str:
    r"""Return what a text is, and what reads it; empty where that is not known.

    Examples
    --------
    >>> kind_of_text('[[user]]')
    'a TOML document, users who share a cluster (table user): packproof share reads it'
    >>> kind_of_text('name,cpu\nbatch,16\n')[:28]
    'comma-separated values (CSV)'
    >>> kind_of_text("words without any form")
    ''
    """
    if begins_as_kubernetes(text):
        return ": ".join(KUBERNETES)
    # JSON first: a text such as [1] is both, and hardly anybody writes such TOML
    for form, loads in (("JSON", json.loads), ("TOML", tomllib.loads)):
        try:
            document = loads(text)
        except (ValueError, RecursionError):
            continue
        kind, commands = kind_of_document(document) if isinstance(document, dict) else ("", "")
        return f"a {form} document{f', {kind}: {commands}' if kind else ''}"
    lines = [line for line in text.splitlines() if line.strip()][:20]
    if len(lines) > 1 and all(line.lstrip().startswith("{") and line.rstrip().endswith("}") for line in lines):
        return LINES
    # a table has the same number of commas in each line, and TOML an equals sign in the first
    commas = {line.count(",") for line in lines}
    if len(lines) > 1 and len(commas) == 1 and 0 not in commas and "=" not in lines[0]:
        return CSV
    if any(re.match(r"(from|import) [\w.]+|(def|class) \w+.*:$", line) for line in text.splitlines()):
        return CODE
    return "XML" if text.lstrip().startswith("<") else ""
