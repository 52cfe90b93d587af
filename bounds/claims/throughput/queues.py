"""Claims of the high-throughput paper (001) about its policies at work: Section VII, figures 3 to 5."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.claims.queue_tests import cost, difference, mean_queues, real_window, shown, simulated, skipped
from fluid.simulation.arrivals import JobList
from fluid.simulation.results import QueueResult
from fluid.simulation.slotted.model import SlottedScenario
from fluid.simulation.slotted.sizes import SizeLaw, discrete, uniform
from fluid.traces.preprocess import stretched

SLOT = 100_000
"""Microseconds between decisions on the trace, as printed."""


@claim(
    "vii-a-1",
    "One server, sizes 0.4 and 0.6, 0.014 jobs a slot, geometric service of mean 100: the queue grows under VQS (its "
    "share is 2/3 of 0.02) and is settled under BF-J/S and VQS-BF: growth below a twentieth of the excess 0.014 - "
    "0.02 x 2/3.",
    source="Section VII-A.1",
    printed="VQS is unstable for any arrival rate greater than 2/3 x 0.02; BF-J/S and VQS-BF circumvent this",
    evidence=Evidence.statistical,
    breaks=("0.012 jobs a slot, which VQS carries",),
)
def instability_of_vqs(level: Level, broken: str) -> Outcome:
    """Test growth rates."""
    law = discrete({Fraction(2, 5): 1, Fraction(3, 5): 1})
    until = 400_000 if level is Level.quick else 4_000_000
    scenario = SlottedScenario(law, 1, until, until // 10, rate=0.012 if broken else 0.014, service=0.01)
    results = {name: simulated(name, scenario, 20) for name in ("vqs", "bf-js", "vqs-bf")}
    rates = {name: result.growth(1 - 1e-6) for name, result in results.items()}
    excess = 0.014 - 0.02 * 2 / 3
    settled = all(rates[name].high < excess / 20 for name in ("bf-js", "vqs-bf"))
    computed = ", ".join(f"{name} grows by {shown(rate)} a slot" for name, rate in rates.items())
    return Outcome(f"{computed}; {cost(*results.values())}", rates["vqs"].low > 0 and settled)


@claim(
    "vii-a-2",
    "One server of 10, sizes 2 and 5 (2 : 1), 0.0306 jobs a slot, service of exactly 100 slots: the queue grows under "
    "BF-J/S and VQS-BF, by 0.0006 a slot once they are caught in the configuration (2, 1), and is settled under VQS: "
    "growth below a twentieth of that.",
    source="Section VII-A.2",
    printed="VQS is stable, while both BF-J/S and VQS-BF are not",
    evidence=Evidence.statistical,
    breaks=("service times are geometric",),
)
def instability_of_best_fit(level: Level, broken: str) -> Outcome:
    """Test growth rates in the last part of long runs."""
    law = discrete({Fraction(2): 2, Fraction(5): 1}, 10)
    length = 1 if level is Level.quick else 4
    # VQS-BF is caught later, so it is watched later
    spans = {"bf-js": (4_000_000, 800_000), "vqs-bf": (16_000_000, 12_000_000), "vqs": (2_000_000, 200_000)}
    results: dict[str, QueueResult[Any]] = {}
    for name, (until, warmup) in spans.items():
        scenario = SlottedScenario(
            law, 1, until * length, warmup * length, rate=0.0306, service=0.01, fixed=not broken, bins=50
        )
        results[name] = simulated(name, scenario, 16)
    rates = {name: result.growth(1 - 1e-6) for name, result in results.items()}
    grows = all(rates[name].low > 0 and rates[name].holds(0.0006) for name in ("bf-js", "vqs-bf"))
    computed = ", ".join(f"{name} grows by {shown(rate)} a slot" for name, rate in rates.items())
    return Outcome(f"{computed}; {cost(*results.values())}", grows and rates["vqs"].high < 3e-5)


def _uniform_figure(level: Level, broken: str, low: Fraction, high: Fraction, last: bool) -> Outcome:
    """Compare queues on the same jobs."""
    law = uniform(low, high, Fraction(1, 10_000))
    intensities = (0.9,) if level is Level.quick else (0.85, 0.9, 0.95, 0.97, 0.99)
    until = 50_000 if level is Level.quick else 1_000_000
    until = until if low < Fraction(1, 20) else 4 * until
    good, parts = True, []
    for intensity in intensities:
        scenario = SlottedScenario(law, 5, until, until // 4, rate=intensity * 0.05 / law.mean, service=0.01, bins=50)
        names = ("bf-js", "bf-js", "vqs-bf") if broken else ("vqs", "bf-js", "vqs-bf")
        worst, best, middle = (simulated(name, scenario, 16) for name in names)
        good &= difference(worst, best).low > 0 and difference(worst, middle).low > 0
        if last:  # large jobs: Best-Fit ahead at every intensity
            good &= difference(middle, best).low > 0
        parts.append(f"{intensity}: {mean_queues({'vqs': worst, 'bf-js': best, 'vqs-bf': middle})}")
    return Outcome(f"{'; '.join(parts)}; {cost(worst, best, middle)} each", bool(good))


@claim(
    "figure-4a",
    "Five servers, sizes uniform on [0.01, 0.19] (steps of 1e-4), intensities 0.85 to 0.99: the mean queue of VQS is "
    "larger than those of BF-J/S and VQS-BF.",
    source="Figure 4a",
    printed="VQS is worse; the other two look comparable up to 0.95, then BF-J/S has an advantage (curves lost)",
    evidence=Evidence.statistical,
    breaks=("BF-J/S stands for VQS",),
)
def figure_4a(level: Level, broken: str) -> Outcome:
    """Compare on small jobs."""
    return _uniform_figure(level, broken, Fraction(1, 100), Fraction(19, 100), last=False)


@claim(
    "figure-4b",
    "Five servers, sizes uniform on [0.1, 0.9] (steps of 1e-4), intensities 0.85 to 0.99: the mean queue of VQS is "
    "larger than that of VQS-BF, and that larger than that of BF-J/S.",
    source="Figure 4b",
    printed="VQS and VQS-BF have particularly worse delays when sizes are large (curves lost)",
    evidence=Evidence.statistical,
    breaks=("BF-J/S stands for VQS",),
)
def figure_4b(level: Level, broken: str) -> Outcome:
    """Compare on large jobs."""
    return _uniform_figure(level, broken, Fraction(1, 10), Fraction(9, 10), last=True)


@claim(
    "figure-5",
    "First 84 minutes of the Google trace (37,702 completed tasks) on 300 servers, traffic scaled by 1, 1.3 and 1.6: "
    "BF-J/S and VQS-BF have smaller mean queues than VQS and FIFO-FF at every scaling, by a growing margin. One path, "
    "no chance.",
    source="Figure 5",
    printed="as traffic scaling increases, BF-J/S and VQS-BF have a clear advantage (1000 servers, curves lost)",
    evidence=Evidence.numeric,
    breaks=("FIFO-FF stands for BF-J/S",),
)
def figure_5(level: Level, broken: str) -> Outcome:
    """Run the window."""
    trace = real_window()
    if isinstance(trace, str):
        return skipped(trace)
    scalings = (Fraction(1), Fraction(8, 5)) if level is Level.quick else tuple(Fraction(n, 10) for n in range(10, 17))
    good, parts, margin = True, [], 0.0
    for scaling in scalings:
        window = stretched(trace, 1 / scaling)
        sizes, place = np.unique(window.demand[:, 0], return_inverse=True)
        law = SizeLaw(sizes, int(1 / window.unit[0]), np.zeros(0))
        slot, work = -(-window.arrival // SLOT), np.maximum(1, -(-window.duration // SLOT))
        jobs = JobList(slot, place.astype(np.int32), work)
        scenario = SlottedScenario(law, 300, int(slot[-1]), 0, jobs=jobs)
        names = {"bf-js": "fifo-ff" if broken else "bf-js", "vqs-bf": "vqs-bf", "vqs": "vqs", "fifo-ff": "fifo-ff"}
        results = {name: simulated(run, scenario, 1) for name, run in names.items()}
        queue = {name: result.runs[0].mean_queue for name, result in results.items()}
        ahead = min(queue["vqs"], queue["fifo-ff"]) - max(queue["bf-js"], queue["vqs-bf"])
        good &= ahead > margin
        margin = ahead
        parts.append(f"{float(scaling):g}: {mean_queues(results)}")
    return Outcome("; ".join(parts), bool(good))
