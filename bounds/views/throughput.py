"""What a person or a program sees of supportable workloads: JSON values and lines of text."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bounds.views.assignment import short
from theory.files.sizes import Sizes
from theory.numbers import text
from theory.partition.bounding import Bracket
from theory.partition.universal import Guaranteed


def throughput_json(
    sizes: Sizes, best: Bracket, vqs: Guaranteed, gap: Fraction, rounded: tuple[Fraction | None, ...] | None = None
) -> dict[str, Any]:
    """Return the answer of ``throughput`` as DESIGN's JSON.

    Parameters
    ----------
    sizes : Sizes
    best : Bracket
        Per server.
    vqs : Guaranteed
        Per server.
    gap : Fraction
        The distance that was asked for.
    rounded : (Fraction, Fraction or None), optional
        Workloads of the upper- and lower-rounded queues of the file's partition, on all servers.
    """
    servers = sizes.servers
    lower, upper = servers * best.lower, servers * best.upper
    answer: dict[str, Any] = {
        "maximum": {
            "lower": float(lower),
            "upper": float(upper),
            "exact": text(lower) if lower == upper else None,
            "lower_exact": text(lower),
            "upper_exact": text(upper),
        },
        "gap": float(best.gap),
        "reached": best.gap <= gap,
        "cells": len(best.below.cells),
        "servers": servers,
        "mean_size": text(sizes.law.mean),
        "vqs": float(servers * vqs.workload),
        "vqs_exact": text(servers * vqs.workload),
        "vqs_J": vqs.J,
        "vqs_lost": float(vqs.lost),
        "vqs_guarantee": float(lower * 2 / 3),
        "best_fit_guarantee": float(lower / 2),
        "rounds": [
            {"cells": cells, "lower": float(servers * low), "upper": float(servers * high)}
            for cells, low, high in best.history
        ],
    }
    if rounded is not None:
        low, high = rounded
        answer["partition"] = {
            "upper_rounded": None if low is None else text(low),
            "lower_rounded": None if high is None else text(high),
        }
    return answer


def throughput_lines(answer: dict[str, Any]) -> list[str]:
    """Return the answer of ``throughput`` as text, from its JSON."""
    maximum = answer["maximum"]
    on = f"on {answer['servers']} server" + ("s" if answer["servers"] > 1 else "")
    lines = []
    if maximum["exact"] is not None:
        lines.append(f"maximum supportable workload   {short(Fraction(maximum['exact']))} {on}, exactly")
    else:
        lines += [
            f"maximum supportable workload   between {maximum['lower']:.6g} and {maximum['upper']:.6g} {on}",
            f"  gap {answer['gap']:.3%}, each bound exact and certified, {answer['cells']} cells",
        ]
        if not answer["reached"]:
            lines.append("  NOT the gap asked for: the bounds are right, but wider")
    lost = f", {answer['vqs_lost']:.3%} of the jobs below 2^-{answer['vqs_J']} rounded up" if answer["vqs_lost"] else ""
    share = answer["vqs"] / maximum["upper"], answer["vqs"] / maximum["lower"]
    lines += [
        f"VQS supports                   {short(Fraction(answer['vqs_exact']))} at least (J = {answer['vqs_J']}{lost})",
        f"  that is {share[0]:.2%}" + (f" to {share[1]:.2%}" if share[0] != share[1] else "") + " of the maximum",
        f"guaranteed for any law         VQS {answer['vqs_guarantee']:.6g} (2/3), "
        f"Best-Fit {answer['best_fit_guarantee']:.6g} (1/2)",
    ]
    if "partition" in answer:
        low, high = answer["partition"]["upper_rounded"], answer["partition"]["lower_rounded"]
        above = "without bound" if high is None else short(Fraction(high))
        lines.append(f"the file's partition           upper-rounded {short(Fraction(low))}, lower-rounded {above}")
    return lines
