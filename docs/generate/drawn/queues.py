"""Queues over time: Algorithm 1 from a long start, what its options cost, and policies for sizes at their loads."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from bounds.claims import Level
from bounds.results.nonpreemptive.settings import LONG
from bounds.results.nonpreemptive.stability import BETA, INSIDE, SYSTEMS, stationary
from bounds.results.simulated_queues import simulated
from bounds.results.throughput.guarantees import FIVE_LAWS, NEAR, TWO_THIRDS, Load, adversarial_laws, maximum, offered
from bounds.views.panels import Chart, Curve, Line
from bounds.views.simulation import curve_of
from fluid.limits.drift import BASIC
from fluid.simulation.arrivals import Law
from generate.drawn import Drawing, draws
from theory.region.membership import traffic_intensity
from theory.region.subset import single_types

SLOTS = 20_000
"""Time for which the queues of the high-throughput paper are drawn."""

BOUNDED = {"beta": Fraction(9, 10), "p": Fraction(-1, 20), "z": Fraction(1, 200)}
"""beta of (29), which the claim on Corollary 6.3 uses."""


@draws(
    "nonpreemptive/theorem-3.1-queues",
    "nonpreemptive/corollary-5.2",
    "nonpreemptive/corollary-5.3",
    "nonpreemptive/corollary-6.2-queues",
    "nonpreemptive/corollary-6.3",
)
def from_long_queues() -> Drawing:
    """Draw the queue over that at the start, of each system that the claims simulate, and one beyond the boundary."""
    panels = []
    for system in LONG:
        boundary = 1 / traffic_intensity(single_types(system.instance(1)))
        runs: Mapping[str, tuple[Fraction, dict[str, Any], Law, bool]] = {
            "Theorem 3.1": (INSIDE * BETA, {"beta": BETA}, Law(), False),
            "hyper-exponential service": (INSIDE * BETA, {"beta": BETA}, Law("hyper-exponential", 4.0), False),
            "requests for vectors": (INSIDE * BETA, {"beta": BETA}, Law(), True),
            "single types": (INSIDE * BETA * boundary, {"oracle": "single", "beta": BETA}, Law(), False),
            "beta of (29)": (INSIDE * Fraction(9, 10), BOUNDED, Law(), False),
            "1.1 times the boundary": (Fraction(11, 10), {"beta": BETA}, Law(), False),
        }
        curves = []
        for name, (load, options, service, batch) in runs.items():
            at, *bands = system.run(load, {**BASIC, **options}, service, batch).curve()
            mean, low, high = (band / sum(system.queue) for band in bands)
            curves.append(Curve(name, at.tolist(), mean.tolist(), low.clip(min=0.0).tolist(), high.tolist()))
        panels.append(
            Chart(
                "time (mean service times)",
                "queue / queue at the start (1)",
                curves,
                [Line("one half", 0.5)],
                title=system.name,
                ylim=(0.0, None),
            )
        )
    return Drawing("Algorithm 1 from long queues, 95 % bands of 16 replications", panels, 2, 3.4)


@draws("nonpreemptive/remark-1", "nonpreemptive/section-6.3", "nonpreemptive/section-6.4")
def options() -> Drawing:
    """Draw mean queues at intensity 0.7: they grow with beta; early renewal and a limit of stalling shorten them."""
    high = {"beta": Fraction(19, 20)}
    runs: dict[str, dict[str, Any]] = {
        "1/2": {"beta": Fraction(1, 2)},
        "3/4": {"beta": Fraction(3, 4)},
        "19/20": high,
        "early\nrenewal": {**high, "early": True},
        "limit of\nstalling": {**high, "cut": Fraction(1, 10), "fall": 1},
    }
    panels = []
    for name, instance, servers, until in SYSTEMS:
        chosen = runs if servers > 1 else {one: runs[one] for one in runs if not one.startswith("limit")}
        found = [
            stationary(instance(Fraction(7, 10)), servers, until, given, Level.quick).queue()
            for given in chosen.values()
        ]
        curves = []
        for label, places in (("beta", range(3)), ("beta = 19/20 with an option", range(3, len(found)))):
            part = [found[n] for n in places]
            x, mean = [float(n) for n in places], [one.mean for one in part]
            curves.append(Curve(label, x, mean, [one.low for one in part], [one.high for one in part], look="marks"))
        panels.append(
            Chart(
                "beta, and options (Sections 6.3, 6.4)",
                "mean queue (jobs)",
                curves,
                title=f"{name}, {servers} server{'s' * (servers > 1)}",
                xticks=[(float(n), one) for n, one in enumerate(chosen)],
                ylim=(0.0, None),
            )
        )
    return Drawing("Algorithm 1 at intensity 0.7: mean queues with 95 % intervals", panels, 2, 2.8)


@draws("throughput/theorem-2", "throughput/theorem-3", "throughput/theorem-4")
def settled() -> Drawing:
    """Draw queues that stay at a level at the loads of the theorems, and of jobs in their order, which need not."""
    half, two_thirds = Fraction(49, 100), NEAR * TWO_THIRDS
    parts = {
        "BF-J/S, Theorem 2": ("bf-js", half, FIVE_LAWS),
        "first in, first out, same load": ("fifo-ff", half, FIVE_LAWS),
        "VQS, Theorem 3": ("vqs", two_thirds, adversarial_laws()),
        "VQS-BF, Theorem 4": ("vqs-bf", two_thirds, adversarial_laws()),
    }
    panels = []
    for title, (policy, share, laws) in parts.items():
        curves = []
        for name, law in laws.items():
            result = simulated(policy, offered(Load(name, law, share * maximum(law)), SLOTS), 8)
            curves.append(curve_of(result, f"sizes {name}" if name[0].isdigit() else name))
        panels.append(Chart("time (slots)", "queue (jobs)", curves, title=title, yscale="symlog", ylim=(0.0, None)))
    about = (
        "One server at 0.49 of the maximum workload, and at 0.97 x 2/3 of it: queues with 95 % bands of 8 replications"
    )
    return Drawing(about, panels, 2, 3.2)
