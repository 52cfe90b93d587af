"""What all formats share: a certificate as it is read, a file as it is written, and how names are quoted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from urllib.parse import quote

from bounds import checker


class Unsuited(Exception):  # noqa: N818 (it is about the format, not a fault)
    """The format says nothing about this certificate; the message says why."""


@dataclass(frozen=True)
class Exported:
    """One file for a foreign tool.

    Attributes
    ----------
    name : str
        Of the file, in a folder of its own.
    states : str
        What the file says, in one sentence.
    expected : str
        What the tool must answer if the certificate is right.
    text : str
    """

    name: str
    states: str
    expected: str
    text: str


@dataclass(frozen=True)
class Certificate:
    """The parts of a certificate whose digest is right; nothing else of it has been verified."""

    kind: str
    instance: Any
    evidence: Any
    claims: Any


def certificate_of(document: dict[str, Any]) -> Certificate:
    """Take apart a certificate whose digest is right; the evidence is for the tool that reads the export to verify."""
    _, kind, instance, evidence, claims, digest = checker.fields(
        document, "the document", "format", "kind", "instance", "evidence", "claims", "digest"
    )
    checker.require(digest == checker.digest(document), "the digest does not belong to the document")
    checker.require(isinstance(evidence, dict) and isinstance(claims, dict), "the evidence or the claims are no table")
    checker.require(isinstance(kind, str) and kind in checker.KINDS, "the kind of certificate is unknown")
    return Certificate(kind, instance, evidence, claims)


def quoted(name: str) -> str:
    r"""Write a name as one word of ASCII, so that no name can end a comment or look like a keyword.

    >>> quoted("big one"), quoted("end\n")
    ('big%20one', 'end%0A')
    """
    return quote(name, safe="")


def legend(mark: str, words: Iterable[str]) -> list[str]:
    """Return comment lines that hold the words, several a line."""
    lines = [mark]
    for word in words:
        if len(lines[-1]) + len(word) > 100 and lines[-1] != mark:
            lines.append(mark)
        lines[-1] += f" {word}"
    return lines if lines != [mark] else []


def numbered(letter: str, names: Iterable[str]) -> list[str]:
    """Return what the identifiers letter1, letter2, ... stand for.

    >>> numbered("y", ["small", "big one"])
    ['y1=small', 'y2=big%20one']
    """
    return [f"{letter}{i}={quoted(name)}" for i, name in enumerate(names, 1)]


Configuration = checker.Configuration


ListedColumns = list[tuple[int, Configuration, Fraction]]  # pool, configuration, amount of servers


def listed_columns(model: checker.Model, columns: Any) -> ListedColumns:
    """Read columns (pool, configuration, fraction) without judging them."""
    place = {pool.name: p for p, pool in enumerate(model.pools)}
    listed: ListedColumns = []
    for column in checker.items(columns, "columns"):
        pool, configuration, fraction = checker.fields(column, "a column", "pool", "configuration", "fraction")
        checker.require(isinstance(pool, str) and pool in place, "a column is of no pool")
        k = model.configuration(configuration, "a column's configuration")
        listed.append((place[pool], k, checker.rational(fraction, "a fraction")))
    return listed


def rationals(value: Any, names: list[str], where: str) -> list[Fraction]:
    """Read one number for every name."""
    return [checker.rational(number, where) for number in checker.fields(value, where, *names)]


@dataclass(frozen=True)
class Boundary:
    """Outer facets of a region, normals and offsets, and its vertices other than the origin, each of one pool each."""

    normals: list[list[Fraction]]
    offsets: list[Fraction]
    vertices: list[list[Configuration]]


def boundary_of(model: checker.Model, certificate: Certificate) -> Boundary | None:
    """Read the facets of a region, the coordinate hyperplanes left out; None where the certificate claims none."""
    claimed, evidence = certificate.claims.get("facets"), certificate.evidence.get("boundary")
    if claimed is None or evidence is None:
        return None
    normals, offsets = [], []
    for facet in checker.items(claimed, "claims.facets"):
        normal, offset = checker.fields(facet, "a facet", "normal", "offset")
        normals.append(rationals(normal, model.names, "a normal"))
        offsets.append(checker.rational(offset, "an offset"))
    width = len(model.names)
    walls = [[Fraction(-int(i == j)) for i in range(width)] for j in range(width)]
    checker.require(normals[:width] == walls and not any(offsets[:width]), "the coordinate facets do not come first")
    vertices, _ = checker.fields(evidence, "evidence.boundary", "vertices", "simplices")
    corners = [
        [model.configuration(k, "a vertex") for k in model.by_pool(corner, "a vertex")]
        for corner in checker.items(vertices, "vertices")
    ]
    return Boundary(normals[width:], offsets[width:], corners)
