"""The checker's limits: documents made to exhaust it end in one line, and nothing that they hold is printed raw."""

from __future__ import annotations

import json
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bounds import checker
from bounds.certificates.assignment import assignment_certificate
from bounds.certificates.document import beyond_checker
from bounds.cli import run
from theory.greedy.optimal import solve
from theory.greedy.servers import greedy_placement, least_servers
from theory.instance import additive

# The signal that ends a check may come while a collector of garbage calls back, which swallows what is raised; the next
# one, a second later, ends the check.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

Document = dict[str, Any]
CHECKER = Path(checker.__file__)


def signed(kind: Any, instance: Any, evidence: Any, claims: Any) -> Document:
    """Return a document with its digest."""
    document = {"format": checker.FORMAT, "kind": kind, "instance": instance, "evidence": evidence, "claims": claims}
    return {**document, "digest": checker.digest(document)}


def with_types(types: list[dict[str, Any]], servers: list[dict[str, Any]]) -> Document:
    """Return a certificate of an assignment whose evidence is empty: the checker runs greedy before it looks."""
    zero = {"greedy": "0", "optimal": "0", "ratio": "1", "guarantee": "1", "guarantee_stagewise": "1"}
    evidence = {
        "permutation": [t["name"] for t in types],
        "stages": [],
        "columns": [],
        "slot_prices": {t["name"]: "0" for t in types},
        "server_prices": {s["name"]: "0" for s in servers},
    }
    return signed("assignment", {"server": servers, "type": types}, evidence, zero)


def kind_of(name: str, demand: dict[str, str], reward: str = "1", workload: str = "1") -> dict[str, Any]:
    return {"name": name, "reward": reward, "workload": workload, "service_rate": "1", "demand": demand}


def many_pools() -> Document:
    """A thousand pools, each with a table of four million cells."""
    servers = [{"name": f"s{i}", "share": "1/1000", "capacity": {"cpu": "1999", "memory": "1999"}} for i in range(1000)]
    demands: list[dict[str, str]] = [{"cpu": "1", "memory": "2"}, {"cpu": "2", "memory": "1"}]
    return with_types([kind_of(f"t{j}", demand) for j, demand in enumerate(demands)], servers)


def long_denominators() -> Document:
    """Rewards whose denominators of thousands of digits have no common factor to speak of."""
    draw = random.Random(1)
    types = [kind_of(f"t{j}", {"cpu": "1"}, f"1/{draw.getrandbits(13000) | 1}") for j in range(300)]
    return with_types(types, [{"name": "s", "share": "1", "capacity": {"cpu": "10"}}])


def many_types() -> Document:
    """Two thousand types, whose configurations are packed into integers of so many digits."""
    types = [kind_of(f"t{j}", {"cpu": "1"}) for j in range(2000)]
    return with_types(types, [{"name": "s", "share": "1", "capacity": {"cpu": "10"}}])


def many_shares() -> Document:
    """Pools whose shares, prime by prime, have a common denominator of tens of thousands of digits."""
    primes = [n for n in range(2, 40_000) if all(n % d for d in range(2, int(n**0.5) + 1))]
    shares = [f"1/{p}" for p in primes]
    servers = [{"name": f"s{i}", "share": share, "capacity": {"cpu": "10"}} for i, share in enumerate(shares)]
    return with_types([kind_of("t", {"cpu": "1"})], servers)


def many_users() -> Document:
    """As many users as servers, all of whom may run anywhere."""
    names = [f"n{i}" for i in range(600)]
    instance = {
        "server": [{"name": n, "capacity": {"cpu": "1"}, "count": 1} for n in names],
        "user": [{"name": n, "demand": {"cpu": "1"}, "weight": "1"} for n in names],
    }
    evidence = {"allocation": {n: {n: "1"} for n in names}}
    return signed("allocation", instance, evidence, {"mechanism": "ps-dsf", "tasks": dict.fromkeys(names, "1")})


def many_prices() -> Document:
    """A law of many sizes with prices on as fine a grid as one table may have."""
    prime = 2003
    instance = {"sizes": {"servers": 1, "discrete": {f"{n}/{prime}": f"1/{prime - 1}" for n in range(1, prime)}}}
    column = {"slots": {str(n): 1 for n in range(20)}, "fraction": "1"}
    below = {"cells": [[f"{n}/{prime}", "0"] for n in range(1, prime)], "columns": [column]}
    above = {"grid": 19_999, "points": [[9 * n, f"{n}/{prime}"] for n in range(1, prime)]}
    claims = {"lower": "0", "upper": "0", "vqs": "0", "vqs_lost": "0", "J": 2}
    return signed("throughput", instance, {"below": below, "above": above, "vqs": {}}, claims)


ATTACKS: list[Callable[[], Document]] = [
    many_pools,
    long_denominators,
    many_types,
    many_shares,
    many_users,
    many_prices,
]


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_no_document_takes_more_than_the_time(attack: Callable[[], Document]) -> None:
    document = attack()
    with pytest.raises((checker.Unreadable, checker.Refused)) as ended, checker.limited(0.2):
        checker.check(document)
    if attack in (many_pools, many_types, many_users):  # these take longer than that
        assert "not decided within 0.2 s of processor time" in str(ended.value)
        assert isinstance(ended.value, checker.Unreadable)


@pytest.mark.slow
def test_beyond_the_time_is_no_verdict(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(many_users()))
    command = [sys.executable, "-I", "-S", str(CHECKER), str(path), "--seconds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "not decided within 1 s of processor time, which does not refute it: expected more" in done.stderr


@pytest.mark.slow
def test_the_limits_act_around_the_checking_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command line ends as the checker does, and leaves the process as it was; a second takes a tenth here."""
    limited = checker.limited
    path = tmp_path / "c.json"
    path.write_text(json.dumps(many_types()))
    before = signal.getsignal(signal.SIGPROF), resource.getrlimit(resource.RLIMIT_AS)
    with monkeypatch.context() as patch:
        patch.setattr(checker, "limited", lambda seconds: limited(seconds / 10))
        assert run(["check", str(path), "--seconds", "3"]) == 2
        door = capsys.readouterr().err
        assert checker.main([str(path), "--seconds", "3"]) == 2
    assert capsys.readouterr().err == door
    assert "not decided within 0.3 s of processor time" in door
    assert (signal.getsignal(signal.SIGPROF), resource.getrlimit(resource.RLIMIT_AS)) == before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    path.write_text(json.dumps(assignment_certificate(solve(additive([400], [[3], [7], [11]])))))
    assert run(["check", str(path), "--seconds", "1"]) == 0
    for wrong in ("0", "-1", "10000000"):
        assert run(["check", str(path), "--seconds", wrong]) == 2
        assert "--seconds: expected a whole number from 1 to 9,999,999, got" in capsys.readouterr().err


@pytest.mark.slow
def test_the_memory_of_a_document_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text('{"format":"packproof/2","a":[' + '{"":0},' * 10**6 + "0]}")  # seven megabytes, which take 200
    # in a process of its own: one that has freed memory needs no more from the system
    code = f"""
import resource
from bounds import checker
from bounds.cli import run

before = resource.getrlimit(resource.RLIMIT_AS)
for most in (6 * 10**7, 10**9):
    checker.MEMORY = most
    print(run(["check", {str(path)!r}]), resource.getrlimit(resource.RLIMIT_AS) == before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [line for line in done.stdout.splitlines() if line.endswith("True")] == ["2 True", "1 True"]
    assert "not decided within the memory that is allowed, at most 60 MB" in done.stderr


def test_whole_servers_with_tables_beyond_the_limit_are_decided_by_enumeration() -> None:
    demands = [[160_001, 64_003, 10_007], [80_007, 128_009, 20_003], [310_030, 31_007, 30_011]]
    instance = additive([641_230, 512_377, 90_071], demands, workload=[1, 2, Fraction(1, 2)])
    solution = solve(instance)
    whole = (10, greedy_placement(instance, 10), least_servers(instance, [Fraction(n) for n in (10, 20, 5)]))
    document = assignment_certificate(solution, whole)
    model = checker.model(document["instance"])
    cells = 1
    for units in model.pools[0].capacity:
        cells *= units + 1
    assert cells * 3 > checker.MAX_CELLS
    assert checker.check(document)["servers"]["servers"] == 10


@pytest.mark.parametrize("kind", [[], {}, 3, None, "", "Assignment"])
def test_an_unknown_kind_is_refused(kind: Any) -> None:
    with pytest.raises(checker.Refused, match="kind"):
        checker.check(signed(kind, {}, {}, {}))


def test_numerals_beyond_what_python_reads() -> None:
    with pytest.raises(checker.Unreadable, match="4,000 digits"):
        checker.load('{"format": "packproof/2", "n": 1' + "0" * 4200 + "}")
    for digits in (4000, 4300, 4301, 9999):
        assert checker.rational("1" + "0" * (digits - 1), "it") == 10 ** (digits - 1)
    for wrong in ("1" * 100_001, "-0", "00", "01", "1/01", "2/4", "3/1", "1/0", "0/1", "+1", "1/-2", "٣", "1\n"):
        with pytest.raises(checker.Refused):
            checker.rational(wrong, "it")
    assert checker.rational("-3/7", "it") * 7 == -3


def test_names_cannot_forge_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "u\nvalid: everything \x1b[2K"
    instance = {
        "server": [{"name": "s", "capacity": {"cpu": "1"}, "count": 1}],
        "user": [{"name": name, "demand": {"cpu": "1"}, "weight": "1"}],
    }
    evidence = {"allocation": {name: {"s": "1"}}}
    path = tmp_path / "c.json"
    for tasks, status in (("1", 0), ("2", 1)):
        claims = {"mechanism": "ps-dsf", "tasks": {name: tasks}}
        path.write_text(json.dumps(signed("allocation", instance, evidence, claims)))
        assert checker.main([str(path)]) == status
        assert run(["check", str(path)]) == status
    wrong = {"mechanism": "ps-dsf", "tasks": {"v": "1"}}
    path.write_text(json.dumps(signed("allocation", instance, evidence, wrong)))
    assert checker.main([str(path)]) == run(["check", str(path)]) == 1
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert not any(line.startswith("valid: everything") for line in out.splitlines())


def test_a_fault_of_the_checker_is_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise KeyError("a\nb")

    monkeypatch.setitem(checker.KINDS, "region", fails)
    path = tmp_path / "c.json"
    path.write_text(json.dumps(signed("region", {}, {}, {})))
    assert checker.main([str(path)]) == 70
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    assert "no verdict" in err
    assert run(["check", str(path)]) == 70
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf{}", b"\xff\xfe{\x00", b"", b"[" * 100_000, b"{}", b"\x00"])
def test_both_doors_read_alike(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(content)
    assert checker.main([str(path)]) == run(["check", str(path)]) == 2


def test_both_doors_limit_the_length_of_a_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.json"
    text = json.dumps(assignment_certificate(solve(additive([12], [[5], [7]]))))
    path.write_text(text + "\u2003" * 6_000_000, encoding="utf-8")  # of three bytes each
    assert checker.main([str(path)]) == 2
    alone = capsys.readouterr().err
    assert "bytes: beyond the 16,777,216 that this checker decides" in alone
    assert run(["check", str(path)]) == 2
    assert capsys.readouterr().err == alone
    path.write_text(text + " " * 10_000_000)
    assert run(["check", str(path)]) == 0


def test_whoever_writes_a_certificate_hears_of_one_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    document = assignment_certificate(solve(additive([12], [[5], [7]])))
    assert beyond_checker(document) is None
    monkeypatch.setattr(checker, "MAX_BYTES", 1000)
    assert "bytes: beyond the 1,000 that this checker decides" in str(beyond_checker(document))


def test_a_byte_order_mark_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    text = json.dumps(assignment_certificate(solve(additive([12], [[5], [7]]))))
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert checker.main([str(path)]) == run(["check", str(path)]) == 0
