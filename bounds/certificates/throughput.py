"""The certificate of the supportable workload of a law of sizes, and of what VQS guarantees."""

from __future__ import annotations

from typing import Any

from bounds.certificates.document import signed
from theory.files.sizes import Sizes, sizes_document
from theory.numbers import text
from theory.partition.bounding import Bracket
from theory.partition.spread import without_spare_points
from theory.partition.universal import Guaranteed


def throughput_certificate(sizes: Sizes, found: Bracket, vqs: Guaranteed) -> dict[str, Any]:
    """Return the certificate of a bracket of rho* and of the workload that VQS guarantees.

    Parameters
    ----------
    sizes : Sizes
    found : Bracket
        Of the law of `sizes`, per server.
    vqs : Guaranteed
        Of the same law, per server.

    Examples
    --------
    >>> from bounds import checker
    >>> from theory.partition import bracket, uniform, vqs_workload
    >>> law = uniform("1/100", "19/100")
    >>> claims = checker.check(throughput_certificate(Sizes(law, 5), bracket(law), vqs_workload(law)))
    >>> claims["lower"], claims["upper"]
    ('50', '50')
    """
    below, above = found.below, without_spare_points(found.law, found.above)
    # cells by their sizes, so that equal brackets give equal documents
    order = sorted(range(len(below.cells)), key=lambda j: (below.cells[j].top, below.cells[j].base))
    columns = sorted((tuple(-k[j] for j in order), fraction) for k, fraction in below.columns)
    evidence = {
        "below": {
            "cells": [[text(below.cells[j].base), text(below.cells[j].width)] for j in order],
            "columns": [
                {"slots": {str(j): -number for j, number in enumerate(k) if number}, "fraction": text(fraction)}
                for k, fraction in columns
            ],
        },
        "above": {
            "grid": above.grid,
            "points": [[point, text(value)] for point, value in zip(above.points, above.values, strict=True)],
        },
        "vqs": {
            "columns": [
                {"slots": list(k), "fraction": text(fraction)} for k, fraction in sorted(vqs.columns, reverse=True)
            ],
            "prices": list(map(text, vqs.prices)),
        },
    }
    claims = {
        "lower": text(sizes.servers * found.lower),
        "upper": text(sizes.servers * found.upper),
        "vqs": text(sizes.servers * vqs.workload),
        "vqs_lost": text(vqs.lost),
        "J": vqs.J,
    }
    return signed("throughput", sizes_document(sizes), evidence, claims)
