"""The cluster admission paper's policies: packproof's simulator takes the decisions that the text prescribes."""

from __future__ import annotations

from math import isclose

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.admission.literal import ALWAYS, BEFORE, CHEBYSHEV, UNSEEN, Literal, Rule
from bounds.results.admission.moments import WORKED
from fluid.admission.law.cluster import AdmissionCluster
from fluid.admission.law.thresholds import POLICIES
from fluid.admission.simulation.outlook import aligned_horizons
from fluid.admission.simulation.simulate import AdmissionPolicy, run_policy, seed_of
from fluid.admission.simulation.world import draw_world

CROWDED = AdmissionCluster(15, 4.0, WORKED)
"""A cluster that refuses every few hours: deployments come four an hour, and have 3 to 4 cores for about an hour."""

HOURS = 20.0
AHEAD = aligned_horizons(0.1, 10.0)
RULES = (
    Rule(0, 14.0),
    Rule(1, 11.0),
    Rule(1, 11.0, plug_in=True),
    Rule(2, 0.2),
    Rule(2, 0.2, plug_in=True),
    Rule(2, 0.15, marginal=1.0),
)
"""Thresholds near which numbers lie, so that a wrong number makes another decision."""

SEED = 26


@claim(
    "rules-as-printed",
    "The simulator's zeroth, first and second moment policies are the paper's: in random worlds of 20 hours (one a "
    "rule; 10 in full) each arrival is judged by the same number, to 1e-5, and the same deployments and scale-outs are "
    "granted as in a version of the text, one deployment at a time, with beliefs by sums over 300 nodes of log mu: "
    "exact beliefs and the plug-in (1), moments of M (O + N), and the second-moment policy with the marginal heuristic "
    "too. Moments composed by Propositions 4.3 and 4.5 are not tried here.",
    source="Definitions 4.1, 4.2, 4.4 and 6.1, equations (1) and (18)",
    printed="accept if, after acceptance, at all times ahead, the active cores, the expected cores, or V / (V + (c - "
    "E)^2) are below a threshold; beliefs by counts of core ends, core time and scale-outs",
    evidence=Evidence.numeric,
    breaks=(BEFORE, CHEBYSHEV, UNSEEN, ALWAYS),
)
def rules_as_printed(level: Level, broken: str) -> Outcome:
    judged = granted = refused = differ = 0
    off = 0.0
    for number in range(len(RULES) * (1 if level is Level.quick else 10)):
        rule = RULES[number % len(RULES)]
        world = draw_world(CROWDED, HOURS, seed_of(SEED, number))
        moments = "plug-in" if rule.plug_in else "exact"
        policy = AdmissionPolicy(
            POLICIES[rule.moments], rule.threshold, moments, rule.marginal, horizons=AHEAD, tolerance=0.0
        )
        run = run_policy(CROWDED, world, policy, HOURS)
        text = Literal(world, CROWDED.capacity, WORKED, rule.but(broken), AHEAD, HOURS)
        pairs = [(float(run.needed[d]), value) for d, value in text.judged.items()]
        off = max(off, *(abs(a - b) / max(a, b, 1e-9) for a, b in pairs))
        same = set(np.flatnonzero(run.admitted_ones).tolist()) == text.admitted
        same &= (int(run.asked.sum()), int(run.refused.sum())) == (text.asked, text.refused)
        differ += not (same and all(isclose(a, b, rel_tol=1e-5, abs_tol=1e-9) for a, b in pairs))
        judged, granted, refused = judged + len(pairs), granted + len(text.admitted), refused + text.refused
    computed = (
        f"{judged} arrivals judged, off by {off:.0e} at most, {granted} of them admitted, {refused} scale-outs "
        f"refused; another path in {differ} worlds"
    )
    return Outcome(computed, not differ and 0 < granted < judged and refused > 0)
