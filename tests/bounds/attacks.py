"""Attacks on the checker and on the commands: ``python -m tests.bounds.attacks`` runs them and prints what came out.

Three attacks, each with the same answer for the same seed:

- *certificates*: a part of a certificate of the corpus is altered, exchanged with that of another or spoilt as text,
  and the digest is made anew. What the checker accepts is held against the solvers: are the claims true of the
  instance that the document now holds?
- *inputs*: a file of an example is altered, and a command reads it. It must answer, or refuse in one line with
  status 2.
- *exhaustion*: documents made to use up time or memory, with the budget that users have.

Wrong are: a false claim that is accepted, an exception other than a refusal, a refusal of several lines, and more than
ten seconds of CPU.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bounds import checker
from bounds.adversary import worst_workload
from bounds.cli import run
from tests.bounds.test_checker_limits import ATTACKS, many_users
from tests.checker.corpus import CERTIFICATES, Document, Path_, at, places, replaced, signed
from tests.checker.test_alterations import others
from theory.errors import InputError
from theory.files.clusters import parse_cluster
from theory.files.instances import parse_instance
from theory.files.sizes import parse_sizes
from theory.greedy.optimal import solve
from theory.greedy.servers import greedy_placement, least_servers
from theory.numbers import total
from theory.partition import bracket, vqs_workload
from theory.region import CapacityProgram, region_facets
from theory.sharing.checks import is_ps_dsf
from theory.sharing.mechanisms import MECHANISMS

EXAMPLES = Path(__file__).parents[2] / "examples"
SECONDS = 10.0
"""CPU seconds beyond which an answer counts as an exhaustion."""


@dataclass
class Report:
    """What came out of an attack: how often each, what was wrong, and the slowest answer."""

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")

    def took(self, seconds: float, what: str) -> None:
        """Take note of the time of one answer."""
        self.slowest = max(self.slowest, (seconds, what))
        if seconds > SECONDS:
            self.wrong.append(f"{what}: {seconds:.1f} s")

    def __str__(self) -> str:
        counts = ", ".join(f"{n:,} {outcome}" for outcome, n in self.outcomes.most_common())
        lines = [f"  {counts}; wrong: {len(self.wrong)}; slowest {self.slowest[0]:.2f} s ({self.slowest[1]})"]
        return "\n".join(lines + [f"  WRONG {entry}" for entry in self.wrong[:20]])


# ---- are claims true? ---------------------------------------------------------------------------------------------


def falsehood(document: Document) -> str:
    """Return which claim of an accepted certificate is false by the solvers; "" if all are true."""
    try:
        return TRUTH[document["kind"]](document["instance"], document["claims"], document["evidence"])
    except InputError as reason:
        return f"the instance is refused by the readers: {reason}"


def _differing(claims: Document, truth: dict[str, Any]) -> str:
    found = {key: claims[key] for key in truth}
    exact = {key: Fraction(value) if isinstance(value, str) else value for key, value in found.items()}
    return "; ".join(f"{key}: {found[key]} and not {truth[key]}" for key in truth if exact[key] != truth[key])


def _assignment(table: Document, claims: Document, _: Document) -> str:
    instance = parse_instance(table)
    solution = solve(instance)
    greedy = solution.greedy
    truth = {
        "greedy": greedy.reward,
        "optimal": solution.optimal.reward,
        "ratio": solution.ratio,
        "guarantee": greedy.guarantee,
        "guarantee_stagewise": greedy.guarantee_stagewise,
    }
    wrong = _differing(claims, truth)
    if wrong or "servers" not in claims:
        return wrong
    whole = claims["servers"]
    number = whole["servers"]
    least = least_servers(instance, [number * rho for rho in instance.workload])
    if whole["least"] > least.upper or whole["most"] < least.lower:
        return f"least number of servers in [{whole['least']}, {whole['most']}], not in [{least.lower}, {least.upper}]"
    return _differing(whole, {"greedy": greedy_placement(instance, number).reward})


def _region(table: Document, claims: Document, _: Document) -> str:
    instance = parse_instance(table)
    intensity = CapacityProgram(instance).intensity().value
    wrong = _differing(claims, {"traffic_intensity": intensity, "supportable": intensity < 1})
    if wrong or claims.get("facets") is None:
        return wrong
    said = {
        (tuple(Fraction(facet["normal"].get(name, "0")) for name in instance.names), Fraction(facet["offset"]))
        for facet in claims["facets"]
    }
    true = {(tuple(map(Fraction, f.normal)), Fraction(f.offset)) for f in region_facets(instance).facets}
    return "" if said == true else f"facets {said ^ true}"


def _throughput(table: Document, claims: Document, _: Document) -> str:
    sizes = parse_sizes(table)
    best, vqs = bracket(sizes.law, Fraction(1, 100)), vqs_workload(sizes.law)
    lower, upper = sizes.servers * best.lower, sizes.servers * best.upper
    if Fraction(claims["lower"]) > upper or Fraction(claims["upper"]) < lower:
        return f"the maximum in [{claims['lower']}, {claims['upper']}], not in [{lower}, {upper}]"
    return _differing(claims, {"vqs": sizes.servers * vqs.workload})


def _allocation(table: Document, claims: Document, evidence: Document) -> str:
    cluster = parse_cluster(table)
    if claims["mechanism"] == "ps-dsf":  # not unique: the allocation itself must be one by the definition
        rows = [evidence["allocation"][user.name] for user in cluster.users]
        placed = [[Fraction(row.get(server.name, "0")) for server in cluster.servers] for row in rows]
        return "" if is_ps_dsf(cluster, placed) else "the allocation is not PS-DSF"
    found = MECHANISMS[claims["mechanism"]](cluster)
    truth = {user.name: total(tasks) for user, tasks in zip(cluster.users, found.tasks, strict=True)}
    return _differing(claims["tasks"], truth)


def _worst(table: Document, claims: Document, _: Document) -> str:
    instance = parse_instance(table)
    least = worst_workload(instance).ratio
    return _differing(claims, {"ratio": solve(instance).ratio}) or _differing(claims, {"ratio": least})


TRUTH: dict[str, Callable[[Document, Document, Document], str]] = {
    "assignment": _assignment,
    "region": _region,
    "throughput": _throughput,
    "allocation": _allocation,
    "worst": _worst,
}

# ---- certificates -------------------------------------------------------------------------------------------------


def altered(document: Document, draw: random.Random, parts: tuple[str, ...], most: int = 3) -> Document:
    """Return the document with one to `most` places of the parts altered, and a digest that belongs to it."""
    result = document
    for _ in range(draw.randint(1, most)):
        part = draw.choice(parts)
        found: list[Path_] = list(places(result[part], (part,)))
        path = draw.choice(found)
        result = replaced(result, path, draw.choice(others(at(result, path), draw.randrange(12))))
        if not isinstance(result[part], dict):
            break
    return signed({**result})


def grafted(document: Document, other: Document, draw: random.Random) -> Document:
    """Return the document with one part of another of its kind."""
    part = draw.choice(("instance", "evidence", "claims"))
    return signed({**document, part: other[part]})


def spoilt(text: str, draw: random.Random) -> str:
    """Return a text with some characters removed, doubled, exchanged or replaced."""
    for _ in range(draw.randint(1, 4)):
        i, j = sorted((draw.randrange(len(text)), draw.randrange(len(text))))
        i, j = (i, min(j, i + 8)) if draw.random() < 0.8 else (i, j)
        new = ("", 2 * text[i:j], text[i:j][::-1], draw.choice('{}[]",:/-0123456789eE.\x00\ud800"\\ '))
        text = text[:i] + draw.choice(new) + text[j:] or " "
    return text


def forged(draw: random.Random) -> Document | str:
    """Return a forged certificate, as a document or as a text."""
    document = draw.choice(list(CERTIFICATES.values()))
    way = draw.random()
    if way < 0.1:
        return spoilt(json.dumps(document), draw)
    if way < 0.2:
        return grafted(document, draw.choice([c for c in CERTIFICATES.values() if c["kind"] == document["kind"]]), draw)
    return altered(document, draw, ("instance",) if way < 0.5 else ("evidence", "claims", "instance"))


def attack_certificates(number: int, seed: int) -> Report:
    """Forge certificates and let the checker decide."""
    draw, report, originals = random.Random(seed), Report(), list(CERTIFICATES.values())
    for i in range(number):
        made = forged(draw)
        start = time.process_time()
        try:
            document = checker.load(made) if isinstance(made, str) else made
            checker.check(document)
        except (checker.Refused, checker.Unreadable) as reason:
            report.outcomes["refused" if isinstance(reason, checker.Refused) else "unreadable"] += 1
            if not str(reason) or "\n" in str(reason):
                report.wrong.append(f"forgery {i}: the reason has no line, or several: {str(reason)!r}")
        except Exception as fault:
            report.wrong.append(f"forgery {i}: {type(fault).__name__}: {fault}")
        else:
            false = falsehood(document)
            report.outcomes["accepted, unaltered" if document in originals else "accepted, and true"] += not false
            if false:
                report.wrong.append(f"forgery {i} is accepted: {false}")
        report.took(time.process_time() - start, f"forgery {i}")
    return report


# ---- inputs -------------------------------------------------------------------------------------------------------

COMMANDS: tuple[tuple[str, str], ...] = (
    ("four_types.toml", "solve {}"),
    ("four_types.toml", "solve {} --servers 20 --json"),
    ("ec2.toml", "region {}"),
    ("four_types.toml", "worst {} --vary workload --time-limit 2"),
    ("four_types.toml", "fluid {} --until 2"),
    ("four_types.toml", "simulate {} --policy dra --servers 5 --until 4"),
    ("ec2.toml", "simulate {} --policy nonpreemptive --servers 5 --until 4"),
    ("uniform_sizes.toml", "throughput {} --gap 0.2"),
    ("mixed_sizes.toml", "throughput {} --gap 0.2 --json"),
    ("four_classes.toml", "share {} --mechanism ps-dsf"),
    ("four_classes.toml", "share {} --mechanism all --json"),
    ("admission.toml", "admission moments {} --at 1 --size 3"),
    ("admission_small.toml", "admission exact {} --policy zeroth --threshold 3 --most-deployments 3"),
)


def tables(draw: random.Random) -> Iterator[tuple[str, str, str]]:
    """Yield spoilt inputs for ever: the command that reads each, its form and its text."""
    while True:
        name, command = draw.choice(COMMANDS)
        text = (EXAMPLES / name).read_text()
        if draw.random() < 0.3:
            yield command, "toml", spoilt(text, draw)
            continue
        table: Any = {"file": tomllib.loads(text)}
        for _ in range(draw.randint(1, 2)):
            path = draw.choice(list(places(table["file"], ("file",))))
            strange = [float("nan"), float("inf"), -1, 0, 10**30, "1e999", "", "1/0", None, [], {}, [[]], True, "\n"]
            new = [*others(at(table, path), draw.randrange(12)), draw.choice(strange)]
            table = replaced(table, path, draw.choice(new))
        yield command, "json", json.dumps(table["file"])


def attack_inputs(number: int, seed: int) -> Report:
    """Let commands read spoilt files."""
    draw, report = random.Random(seed), Report()
    with TemporaryDirectory() as folder:
        for i, (command, form, text) in zip(range(number), tables(draw), strict=False):
            path = Path(folder) / f"input{i}.{form}"
            path.write_bytes(text.encode(errors="surrogatepass"))
            out, error, start = io.StringIO(), io.StringIO(), time.process_time()
            try:
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
                    status = run(command.format(path).split())
            except BaseException as fault:
                report.wrong.append(f"input {i} of {command!r}: {type(fault).__name__}: {fault}: {text!r}"[:600])
            else:
                report.outcomes[f"status {status}"] += 1
                said = error.getvalue()
                if status not in (0, 1, 2) or (status == 2 and (said.count("\n") != 1 or out.getvalue())):
                    report.wrong.append(f"input {i} of {command!r}: status {status}, says {said!r}: {text!r}"[:600])
            report.took(time.process_time() - start, f"input {i} of {command!r}")
            path.unlink()
    return report


# ---- exhaustion ---------------------------------------------------------------------------------------------------


def attack_exhaustion() -> Report:
    """Let the checker decide documents made to exhaust it, within the budget that users have."""
    report = Report()
    for make in ATTACKS:
        document = make()
        start = time.process_time()
        try:
            checker.check(document)
        except (checker.Refused, checker.Unreadable) as reason:
            report.outcomes["refused" if isinstance(reason, checker.Refused) else "beyond the budget"] += 1
        except Exception as fault:
            report.wrong.append(f"{make.__name__}: {type(fault).__name__}: {fault}")
        else:
            report.outcomes["accepted, and true"] += 1
            if make is not many_users:  # equal users, one to a server: nothing else is fair
                report.wrong.append(f"{make.__name__}: accepted")
        report.took(time.process_time() - start, make.__name__)
    return report


def main() -> int:
    """Run all attacks; return 0 if nothing was wrong."""
    parser = argparse.ArgumentParser(description="attacks on the checker and the commands")
    parser.add_argument("--certificates", type=int, default=48_000, help="forged certificates")
    parser.add_argument("--inputs", type=int, default=400, help="spoilt input files")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sound = True
    for name, attack in (
        ("certificates", lambda: attack_certificates(options.certificates, options.seed)),
        ("inputs", lambda: attack_inputs(options.inputs, options.seed)),
        ("exhaustion", attack_exhaustion),
    ):
        start = time.process_time()
        report = attack()
        sound = sound and not report.wrong
        print(f"{name} ({time.process_time() - start:.0f} s of CPU)\n{report}", flush=True)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
