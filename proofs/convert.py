"""Write an assignment certificate of packproof in the form that the proved checker reads.

``python3 proofs/convert.py CERTIFICATE.json > certificate.txt``. Exit status 1: the document cannot be read as a
certificate without fault; 2: it is no certificate of an assignment, or it claims something of whole servers.

The document is read by the functions of ``bounds/checker.py`` (standard library); whether its claims are true is
decided by the proved checker alone. It knows nothing of whole servers, so that a document that has them is refused as
a whole: half a verdict would be taken for one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bounds import checker


def converted(document: dict[str, Any]) -> str:
    """Return a certificate as the words that ``packproof-checker`` reads.

    Parameters
    ----------
    document : dict
        What `checker.load` returns.

    Returns
    -------
    str
        Lines of words: counts, whole numbers and rationals, types by their index.

    Raises
    ------
    checker.Refused
        If the document is not of the form of a certificate, or its digest is wrong.
    checker.Unreadable
        If it is a certificate of something else, or has evidence or claims on whole servers.
    """
    form, kind, instance, evidence, claims, signed = checker.fields(
        document, "the document", "format", "kind", "instance", "evidence", "claims", "digest"
    )
    checker.require(signed == checker.digest(document), "the digest does not belong to the document")
    checker.require(form in checker.FORMATS, "the format is unknown")
    if kind != "assignment":
        raise checker.Unreadable(f"expected a certificate of an assignment, got {kind!r}")
    m = checker.model(instance)
    if any(isinstance(part, dict) and "servers" in part for part in (evidence, claims)):
        raise checker.Unreadable("the proved checker does not check claims on whole servers (solve without --servers)")
    permutation, stages, columns, slot_prices, server_prices = checker.fields(
        evidence, "evidence", "permutation", "stages", "columns", "slot_prices", "server_prices"
    )
    rewards = checker.fields(claims, "claims", "greedy", "optimal", "ratio", "guarantee", "guarantee_stagewise")
    every_end = form == checker.FORMATS[1]
    listed = [stage_line(m, stage, every_end) for stage in checker.items(stages, "evidence.stages")]
    lines = [
        f"types {len(m.names)}",
        f"rewards {words(m.rewards)}",
        f"workload {words(m.workload)}",
        f"pools {len(m.pools)}",
        *map(pool_line, m.pools),
        f"order {counted(checker.ordered(m, permutation))}",
        f"ends {'all' if every_end else 'one'}",
        f"stages {len(listed)}",
        *listed,
        "columns",
        *column_lines(m, columns),
        f"slot_prices {words(rationals(checker.fields(slot_prices, 'slot prices', *m.names)))}",
        f"server_prices {words(rationals(m.by_pool(server_prices, 'server prices')))}",
        f"claims {words(rationals(rewards))}",
    ]
    return "\n".join(lines) + "\n"


def words(numbers: Sequence[Fraction | int]) -> str:
    """Return numbers with blanks between them."""
    return " ".join(map(str, numbers))


def counted(numbers: Sequence[int]) -> str:
    """Return how many numbers there are, and the numbers."""
    return words([len(numbers), *numbers])


def rationals(values: Sequence[Any]) -> list[Fraction]:
    """Read exact numbers."""
    return [checker.rational(value, "a number") for value in values]


def pool_line(pool: checker.Pool) -> str:
    """Return the share of a pool and what its servers hold."""
    if pool.generators:
        return f"{pool.share} listed {len(pool.generators)} {words([s for top in pool.generators for s in top])}"
    return f"{pool.share} additive {counted(pool.capacity)} {words([d for row in pool.demands for d in row])}"


def stage_line(m: checker.Model, stage: Any, every_end: bool) -> str:
    """Return the fraction of a greedy stage, the configurations by pool, and the types that it exhausts."""
    configurations, fraction, exhausts = checker.fields(stage, "a stage", "configurations", "fraction", "exhausts")
    found = [m.configuration(k, "a configuration") for k in m.by_pool(configurations, "configurations")]
    one = [] if exhausts is None else [exhausts]
    names = checker.items(exhausts, "exhausts") if every_end else one
    checker.require(all(isinstance(name, str) and name in m.names for name in names), "an exhausted type is unknown")
    ended = [m.names.index(name) for name in names]
    slots = [s for k in found for s in k]
    return f"{checker.rational(fraction, 'a fraction')} {words(slots)} {counted(ended)}"


def column_lines(m: checker.Model, columns: Any) -> list[str]:
    """Return for every pool how many columns it has, then fraction and configuration of each."""
    place = {pool.name: p for p, pool in enumerate(m.pools)}
    rows: list[list[str]] = [[] for _ in m.pools]
    last = 0
    for column in checker.items(columns, "columns"):
        pool, configuration, fraction = checker.fields(column, "a column", "pool", "configuration", "fraction")
        checker.require(isinstance(pool, str) and pool in place, "a column is of no pool")
        checker.require(place[pool] >= last, "the columns are not in order")
        last = place[pool]
        slots = m.configuration(configuration, "a column's configuration")
        rows[last].append(f"{checker.rational(fraction, 'a fraction')} {words(slots)}")
    return [" ".join([str(len(row)), *row]) for row in rows]


def main(arguments: Sequence[str]) -> int:
    """Convert the named certificate to standard output."""
    if len(arguments) != 1:
        print("usage: convert.py CERTIFICATE.json", file=sys.stderr)
        return 2
    try:
        text = converted(checker.load(Path(arguments[0]).read_text(encoding="utf-8")))
    except checker.Refused as reason:
        print(checker.printable(f"refused: {reason}"), file=sys.stderr)
        return 1
    except (checker.Unreadable, OSError, UnicodeDecodeError) as reason:
        print(checker.printable(f"unreadable: {reason}"), file=sys.stderr)
        return 2
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
