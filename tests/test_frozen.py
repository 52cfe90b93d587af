"""What may not change while the house is rebuilt: answers of all commands, paths of all policies, refusals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bounds.checker import check, load
from bounds.cli import run
from bounds.results import claims
from fluid.simulation.policy_names import HOMES
from tests.frozen.cases import CASES, LOSS, PATHS, QUEUE, SLOTTED
from tests.frozen.indices import refusing
from tests.frozen.refusals import REFUSED
from tests.tools.frozen import ANSWERS, CERTIFICATES, answered, differences, packed

RECORD: dict[str, Any] = json.loads(ANSWERS.read_text())


def test_every_case_is_recorded() -> None:
    assert list(RECORD) == list(CASES)


def test_no_claim_has_lost_its_name() -> None:
    names = (Path(__file__).parent / "frozen" / "claims.txt").read_text().split()
    assert set(names) <= {claim.id for claim in claims()}


def test_every_policy_has_a_case() -> None:
    assert set(LOSS + QUEUE + SLOTTED) == set(HOMES)


@pytest.mark.parametrize("name", CASES)
def test_answers(name: str) -> None:
    found = json.loads(json.dumps(packed(answered(CASES[name]))))
    assert not list(differences(RECORD[name], found))


@pytest.mark.slow
def test_paths_as_python() -> None:
    code = "from tests.tools.frozen import paths_as_python as run; run()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    found = json.loads(done.stdout)
    wrong = {name: list(differences(RECORD[name], found[name]))[:3] for name in PATHS}
    assert not {name: lines for name, lines in wrong.items() if lines}


def test_a_negative_index_is_refused() -> None:
    array = refusing(np.arange(6).reshape(2, 3))
    array[1, 2] = array[0, 0]
    for key in (-1, (1, -1)):
        with pytest.raises(AssertionError):
            array[key]
        with pytest.raises(AssertionError):
            array[key] = 7


@pytest.mark.parametrize("file", sorted(CERTIFICATES.iterdir()), ids=lambda file: file.stem)
def test_old_certificates_check(file: Path) -> None:
    assert check(load(file.read_text()))


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refusals(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, files, words = REFUSED[number]
    monkeypatch.chdir(tmp_path)
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    before = sorted(path.name for path in tmp_path.iterdir())
    assert run(arguments.split()) == 2
    shown = capsys.readouterr()
    (line,) = shown.err.splitlines()
    assert not shown.out
    at = 0
    for word in words:
        assert word in line[at:], (line, word)
        at = line.index(word, at) + len(word)
    made = sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith((*before, "s.db", "__pycache")))
    assert not made
