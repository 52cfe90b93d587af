"""What ``verify`` says of the time that claims take, before it checks them."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from bounds.claims import REGISTRY, Level, Outcome
from bounds.cli import run
from bounds.results import claims, modules
from bounds.results.recorded import RUN, about, recorded_seconds


def test_every_claim_has_a_time_on_record() -> None:
    seconds = recorded_seconds()
    assert set(seconds) == set(modules())
    stored = {entry["id"]: entry["seconds"] for entry in json.loads(RUN.read_text(encoding="utf-8"))}
    chosen = sorted(stored)[::7]
    assert about(chosen, Level.quick, seconds) == (
        f"{len(chosen)} claims: about {round(sum(stored[one] for one in chosen)):,} s on record if one after another; "
        "a first run also compiles"
    )


@pytest.mark.parametrize("content", [None, "", "[", "{}", "[1]", '[{"id": "a"}]', '[{"id": "a", "seconds": "soon"}]'])
def test_without_a_record_no_time_is_invented(content: str | None, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    if content is not None:
        file.write_text(content)
    assert recorded_seconds(file) == {}
    assert about(["a"], Level.quick, {}) == "a: no time on record"
    assert about(["a", "b"], Level.quick, {"a": 9.0}) == "2 claims: no time on record"
    assert about(["a"], Level.tiny, {"a": 9.0}) == "a: no time on record for the level tiny"


@pytest.mark.parametrize("words", [[], ["--with", "rewards=4,3,3"], ["--json"]], ids=["check", "with", "json"])
def test_a_long_check_says_on_stderr_what_it_costs_before_it_ends(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Standard error is no terminal here; a quick check says nothing, and standard output has the answer alone."""
    (claim,) = claims(["introduction"])
    monkeypatch.setattr(sys.modules["bounds.cli.app"], "INTERVAL", 1e9)
    assert run(["verify", claim.id, *words]) == 0
    quick = capsys.readouterr()
    monkeypatch.setattr(sys.modules["bounds.cli.app"], "INTERVAL", 0.02)
    lines = list[str]()

    def slow(rewards: tuple[int, ...] = (4, 3, 3)) -> Outcome:
        time.sleep(0.3)
        lines.extend(capsys.readouterr().err.splitlines())
        return Outcome(str(rewards), True)

    slowed = {name: getattr(claim, name) for name in claim.__dataclass_fields__} | {"check": slow}
    monkeypatch.setitem(REGISTRY, claim.id, type(claim)(**slowed))
    assert run(["verify", claim.id, *words]) == 0
    assert quick.err == ""
    assert lines[0].startswith("autoscaling/introduction: about 1 s on record; a first run also compiles")
    assert lines[0].endswith("(recorded with the defaults)") is ("--with" in words)
    assert "on record;" not in capsys.readouterr().out
