"""What all certificates share: the document, its digest, how it is written, and what verifying it takes."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

from bounds import checker
from theory.files.places import json_text
from theory.files.record import Matching
from theory.instance import Configuration, Instance
from theory.numbers import text

if TYPE_CHECKING:
    from theory.greedy.optimal import Column


@dataclass(frozen=True)
class Certificate:
    """Evidence as data, which `bounds.checker` verifies."""

    format: Literal["packproof/2"]
    kind: Literal[
        "assignment", "allocation", "cost", "fair-share", "fairness", "packing", "region", "rule", "throughput", "worst"
    ]
    instance: Annotated[Mapping[str, Any], "the file that it is about"]
    evidence: Mapping[str, Any]
    claims: Annotated[Mapping[str, Any], "what the evidence shows"]
    digest: Annotated[
        str,
        Matching("^[0-9a-f]{64}$"),
        "SHA-256 of the rest as JSON with sorted keys, without blanks, in UTF-8",
    ]


def signed(kind: str, instance: dict[str, Any], evidence: dict[str, Any], claims: dict[str, Any]) -> dict[str, Any]:
    """Put a certificate together, numbers as integers or exact text, and add its digest."""
    document = {"format": checker.FORMAT, "kind": kind, "instance": instance, "evidence": evidence, "claims": claims}
    # the canonical form that the checker computes the digest of
    content = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {**document, "digest": hashlib.sha256(content.encode("utf-8")).hexdigest()}


def slots(instance: Instance, configuration: Configuration) -> dict[str, int]:
    """Return a configuration as {type: slots}, types without slots left out."""
    return {name: number for name, number in zip(instance.names, configuration, strict=True) if number}


def by_type(instance: Instance, numbers: Iterable[Fraction | int]) -> dict[str, str]:
    """Return a number for every type as {type: text}."""
    return dict(zip(instance.names, map(text, numbers), strict=True))


def columns_document(instance: Instance, columns: Iterable[Column]) -> list[dict[str, Any]]:
    """Return shares of all servers by pool and configuration as they are written in evidence."""
    return [
        {
            "pool": instance.pools[column.pool].name,
            "configuration": slots(instance, column.configuration),
            "fraction": text(column.fraction),
        }
        for column in columns
    ]


def servers_document(instance: Instance, columns: Iterable[tuple[int, Configuration, int]]) -> list[dict[str, Any]]:
    """Return whole servers by pool and configuration as they are written in evidence: each once, in order."""
    numbers: Counter[tuple[int, Configuration]] = Counter()
    for p, k, number in columns:
        numbers[p, k] += number
    return [
        {"pool": instance.pools[p].name, "configuration": slots(instance, k), "servers": numbers[p, k]}
        for p, k in sorted(numbers, key=lambda one: (one[0], [-n for n in one[1]]))
    ]


def by_pool(instance: Instance, values: Sequence[Any]) -> dict[str, Any]:
    """Return a value for every pool as {pool: value}."""
    return {pool.name: value for pool, value in zip(instance.pools, values, strict=True)}


def beyond_checker(document: dict[str, Any]) -> str | None:
    """Return why the checker does not decide a certificate within its limits, of length or time; None if it does.

    This takes as long as verifying it, so at most about `checker.SECONDS`.

    >>> from bounds.certificates import assignment_certificate
    >>> from theory.greedy.optimal import solve
    >>> from theory.instance import additive
    >>> document = assignment_certificate(solve(additive([12], [[5], [7]])))
    >>> beyond_checker(document) is None
    True
    """
    try:
        checker.limit_length(len((json_text(document) + "\n").encode("utf-8")))
        with checker.limited(checker.SECONDS):
            checker.check(document)
    except checker.Unreadable as reason:
        return str(reason)
    return None
