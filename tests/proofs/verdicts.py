"""Verdicts of the proved checkers and of `bounds/checker.py` on one document."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from typing import Any

from bounds import checker
from tests.proofs.built import PROOFS, proved_checker


def converter() -> Any:
    """Return `proofs/convert.py` as a module."""
    spec = importlib.util.spec_from_file_location("convert", PROOFS / "convert.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Proved:
    """The verdict of the proved checkers; documents that are not covered raise `checker.Unreadable`."""

    def __init__(self, path: Path) -> None:
        self.program, self.convert, self.path = proved_checker(), converter(), path

    def __call__(self, document: dict[str, Any]) -> str:
        try:
            self.path.write_text(self.convert.converted(document))
        except checker.Refused:
            return "refused by the reader"
        command = [self.program, self.path]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode in (0, 1), done.stderr
        assert done.stdout == ("refused\n" if done.returncode else "accepted\n")
        return done.stdout.strip()


def python(document: dict[str, Any]) -> str:
    """Return the verdict of the checker in Python."""
    try:
        checker.check(document)
    except checker.Refused:
        return "refused"
    return "accepted"
