"""Write a certificate of packproof in the form that the proved checkers read.

``python3 proofs/convert.py CERTIFICATE.json > certificate.txt``. Exit status 1: the document cannot be read as a
certificate without fault; 2: it is no certificate, or one with claims of which nothing is proved in Coq.

The document is read by the functions of ``bounds/checker.py`` (standard library); whether its claims are true is
decided by the proved checkers alone. What they do not know is refused as a whole, since half a verdict would be taken
for one: whole servers, facets, laws of sizes that are not finite or whose sizes are taken together, and other kinds of
certificates.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
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
        Lines of words: the kind, counts, whole numbers and rationals; types, users, servers and resources by index.

    Raises
    ------
    checker.Refused
        If the document is not of the form of a certificate, or its digest is wrong.
    checker.Unreadable
        If it is a certificate of something else, or has evidence or claims of which nothing is proved.
    """
    form, kind, instance, evidence, claims, signed = checker.fields(
        document, "the document", "format", "kind", "instance", "evidence", "claims", "digest"
    )
    checker.require(signed == checker.digest(document), "the digest does not belong to the document")
    checker.require(form == checker.FORMAT, "the format is unknown")
    if not isinstance(kind, str) or kind not in KINDS:
        known = "an assignment, a region, a throughput or an allocation"
        raise checker.Unreadable(f"expected a certificate of {known}, got {kind!r}")
    return "\n".join([kind, *KINDS[kind](instance, evidence, claims)]) + "\n"


# ---- words ----------------------------------------------------------------------------------------------------------


def words(numbers: Iterable[Fraction | int]) -> str:
    """Return numbers with blanks between them."""
    return " ".join(map(str, numbers))


def counted(rows: Sequence[Any]) -> str:
    """Return how many numbers or rows of words there are, and all of them."""
    return " ".join(map(str, [len(rows), *rows]))


def flat(rows: Iterable[Iterable[Fraction | int]]) -> str:
    """Return the numbers of all rows."""
    return words(x for row in rows for x in row)


def rationals(values: Sequence[Any], least: int | None = None) -> list[Fraction]:
    """Read exact numbers."""
    return [checker.rational(value, "a number", least=least) for value in values]


# ---- assignments and regions ----------------------------------------------------------------------------------------


def assignment(instance: Any, evidence: Any, claims: Any) -> list[str]:
    """Return the lines of an assignment."""
    m = checker.model(instance)
    if any(isinstance(table, dict) and "servers" in table for table in (evidence, claims)):
        raise checker.Unreadable("the proved checker does not check claims on whole servers (solve without --servers)")
    permutation, stages, columns, slot_prices, server_prices = checker.fields(
        evidence, "evidence", "permutation", "stages", "columns", "slot_prices", "server_prices"
    )
    rewards = checker.fields(claims, "claims", "greedy", "optimal", "ratio", "guarantee", "guarantee_stagewise")
    listed = [stage_line(m, stage) for stage in checker.items(stages, "evidence.stages")]
    return [
        *model_lines(m),
        f"order {counted(checker.ordered(m, permutation))}",
        f"stages {len(listed)}",
        *listed,
        "columns",
        *column_lines(m, columns),
        f"slot_prices {words(rationals(checker.fields(slot_prices, 'slot prices', *m.names)))}",
        f"server_prices {words(rationals(m.by_pool(server_prices, 'server prices')))}",
        f"claims {words(rationals(rewards))}",
    ]


def region(instance: Any, evidence: Any, claims: Any) -> list[str]:
    """Return the lines of a traffic intensity."""
    m = checker.model(instance)
    if any(
        isinstance(table, dict) and name in table for table in (evidence, claims) for name in ("boundary", "facets")
    ):
        raise checker.Unreadable("the proved checker does not check facets (region --facets 0 writes none)")
    columns, prices = checker.fields(evidence, "evidence", "columns", "prices")
    intensity, supportable = checker.fields(claims, "claims", "traffic_intensity", "supportable")
    checker.require(isinstance(supportable, bool), "claims.supportable is not true or false")
    return [
        *model_lines(m),
        "columns",
        *column_lines(m, columns),
        f"prices {words(rationals(checker.fields(prices, 'evidence.prices', *m.names)))}",
        f"claims {checker.rational(intensity, 'claims.traffic_intensity', least=0)} {int(supportable)}",
    ]


def model_lines(m: checker.Model) -> list[str]:
    """Return the types and the pools of an instance."""
    return [
        f"types {len(m.names)}",
        f"rewards {words(m.rewards)}",
        f"workload {words(m.workload)}",
        f"pools {len(m.pools)}",
        *map(pool_line, m.pools),
    ]


def pool_line(pool: checker.Pool) -> str:
    """Return the share of a pool and what its servers hold."""
    if pool.generators:
        return f"{pool.share} listed {len(pool.generators)} {flat(pool.generators)}"
    return f"{pool.share} additive {counted(pool.capacity)} {flat(pool.demands)}"


def stage_line(m: checker.Model, stage: Any) -> str:
    """Return the fraction of a greedy stage, the configurations by pool, and the types that it exhausts."""
    configurations, fraction, exhausts = checker.fields(stage, "a stage", "configurations", "fraction", "exhausts")
    found = [m.configuration(k, "a configuration") for k in m.by_pool(configurations, "configurations")]
    names = checker.items(exhausts, "exhausts")
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


# ---- throughput -----------------------------------------------------------------------------------------------------


def throughput(instance: Any, evidence: Any, claims: Any) -> list[str]:
    """Return the lines of a throughput, of a law of finitely many sizes."""
    law, servers = checker.size_law(instance)
    below, above, vqs = checker.fields(evidence, "evidence", "below", "above", "vqs")
    lower, upper, workload, lost, number = checker.fields(claims, "claims", "lower", "upper", "vqs", "vqs_lost", "J")
    J = checker.whole(number, "claims.J")
    checker.require(2 <= J <= 30, "J is out of range")
    if law.pieces:
        raise checker.Unreadable("the proved checker does not check laws with uniform pieces")
    sizes = [size for size, _ in law.atoms]
    queues, prices = checker.fields(vqs, "evidence.vqs", "columns", "prices")
    queue_prices = rationals(checker.items(prices, "prices"), least=0)
    checker.require(len(queue_prices) == 2 * J, "there is not one price for every queue")
    return [
        f"sizes {counted(sizes)}",
        f"chances {words(p for _, p in law.atoms)}",
        f"servers {servers}",
        f"below {counted(size_columns(law, below))}",
        f"prices {words(size_prices(law, above))}",
        f"J {J}",
        f"queues {counted([queue_column(column, J) for column in checker.items(queues, 'columns')])}",
        f"queue_prices {words(queue_prices)}",
        f"claims {words(rationals([lower, upper, workload, lost]))}",
    ]


def size_columns(law: checker.SizeLaw, below: Any) -> list[str]:
    """Return fraction and jobs of each size of the columns; refused if sizes are taken together."""
    listed, columns = checker.fields(below, "evidence.below", "cells", "columns")
    if checker.cells_of(listed) != [(size, 0) for size, _ in law.atoms]:
        checker.mixed_workload(law, below)  # a forgery is refused
        raise checker.Unreadable("the proved checker does not check sizes that are taken together")
    rows = []
    for column in checker.items(columns, "columns"):
        table, fraction = checker.fields(column, "a column", "slots", "fraction")
        checker.require(isinstance(table, dict), "slots are no table")
        slots = {j: checker.whole(n, "slots") for j, n in table.items()}
        places = [str(j) for j in range(len(law.atoms))]
        checker.require(set(slots) <= set(places) and all(slots.values()), "a column lists no slots of a size")
        rows.append(f"{checker.rational(fraction, 'a fraction')} {words(slots.get(j, 0) for j in places)}")
    return rows


def size_prices(law: checker.SizeLaw, above: Any) -> list[Fraction]:
    """Return the price of each size; refused if others have prices."""
    grid, listed = checker.fields(above, "evidence.above", "grid", "points")
    points, values = checker.priced_points(listed)
    if checker.whole(grid, "grid") == 0 or [Fraction(x, grid) for x in points] != [size for size, _ in law.atoms]:
        checker.priced_workload(law, above)  # a forgery is refused
        raise checker.Unreadable("the proved checker does not check prices of other sizes than those of the law")
    return values


def queue_column(column: Any, J: int) -> str:
    """Return fraction and jobs by queue of a column."""
    row, fraction = checker.fields(column, "a column", "slots", "fraction")
    k = [checker.whole(n, "slots") for n in checker.items(row, "slots")]
    checker.require(len(k) == 2 * J, "a configuration is none of the reduced ones")
    return f"{checker.rational(fraction, 'a fraction')} {words(k)}"


# ---- fair sharing ---------------------------------------------------------------------------------------------------


def allocation(instance: Any, evidence: Any, claims: Any) -> list[str]:
    """Return the lines of an allocation: what a task takes of each class, where it may run, and who has how many."""
    mechanism, tasks, ignored = checker.fields(claims, "claims", "mechanism", "tasks", optional=["ignored"])
    checker.require(mechanism in ("drf", *checker.LEVELLED, "ps-dsf", "ps-dsf-tdm"), "the mechanism is unknown")
    m = checker.share_model(instance, pooled=mechanism == "drf", grouped=mechanism == "drf")
    checker.require_ignored(instance, ignored, pooled=mechanism == "drf")
    if any(most is not None for most in m.most):
        raise checker.Unreadable("the proved checker does not check users with most_tasks")
    if m.groups:
        raise checker.Unreadable("the proved checker does not check groups of users")
    placed, listed = checker.fields(evidence, "evidence", "allocation", optional=["stages"])
    x = checker.placed_tasks(m, placed)
    priced = mechanism in checker.LEVELLED
    checker.require(
        (listed is not None) == priced, "prices belong to the mechanisms that are max-min fair in one number"
    )
    stages = [read_stage(m, stage) for stage in (checker.items(listed, "evidence.stages") if priced else [])]
    parts = [part for row in m.part for part in row if part]
    resources = sorted({r for table in (*parts, *(row for prices, _ in stages for row in prices)) for r in table})
    hosts = [
        f"{int(part is not None)} {alone} {words((part or {}).get(r, 0) for r in resources)}"
        for rows in zip(m.part, m.alone, strict=True)
        for part, alone in zip(*rows, strict=True)
    ]
    return [
        f"mechanism {mechanism}",
        f"users {len(m.users)} classes {len(m.servers)} resources {len(resources)}",
        f"weights {words(m.weights)}",
        f"dominants {words(m.dominant)}",
        *hosts,
        f"placed {flat(x)}",
        f"stages {len(stages)}",
        *(f"{flat([row.get(r, 0) for r in resources] for row in prices)} {words(values)}" for prices, values in stages),
        f"claims {words(rationals(checker.fields(tasks, 'claims.tasks', *m.users)))}",
    ]


def read_stage(m: checker.Share, stage: Any) -> tuple[list[dict[str, Fraction]], list[Fraction]]:
    """Read the prices of a stage by class and resource, and the value of a task of each user."""
    prices, values = checker.fields(stage, "a stage", "prices", "values")
    checker.require(isinstance(prices, dict) and set(prices) <= set(m.servers), "prices of an unknown server")
    rows = [checker.amounts(prices.get(s, {}), "prices") for s in m.servers]
    checker.require(isinstance(values, dict) and set(values) <= set(m.users), "a value of an unknown user")
    worth = {user: checker.rational(value, "a value", least=0) for user, value in values.items()}
    listed = [*worth.values(), *(price for row in rows for price in row.values())]
    checker.require(all(listed), "a value or a price that is 0 is listed")
    return rows, [worth.get(user, Fraction(0)) for user in m.users]


KINDS = {"assignment": assignment, "region": region, "throughput": throughput, "allocation": allocation}


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
