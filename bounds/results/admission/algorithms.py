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
from fluid.admission.study.tuning import pathwise_bound

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


@claim(
    "pathwise-bound",
    "No policy uses more cores than are active, up to the capacity, if no request is ever refused: that bound is the "
    "mean of min(c, cores) of a world in which every deployment enters, followed event by event, and in the same 3 "
    "worlds (30 in full) the zeroth, first and second moment policies stay below it, whatever their threshold (three "
    "each).",
    source="Section 5.3",
    printed="no bound is printed: it is packproof's own, beside the paper's utilisations",
    evidence=Evidence.numeric,
    breaks=("deployments that do not fit stay out of the bound",),
)
def pathwise(level: Level, broken: str) -> Outcome:
    worlds = 3 if level is Level.quick else 30
    shares = pathwise_bound(CROWDED, HOURS, replications=worlds, seed=SEED).by_run
    off, least = 0.0, 1.0
    rule = Rule(0) if broken else Rule(3)
    for number, share in enumerate(shares.tolist()):
        world = draw_world(CROWDED, HOURS, seed_of(SEED, number))
        text = Literal(world, CROWDED.capacity, WORKED, rule, AHEAD, HOURS)
        off = max(off, abs(share - text.core_hours / HOURS / CROWDED.capacity))
        policies = [AdmissionPolicy("zeroth", cores) for cores in (8.0, 12.0, 16.0)]
        policies += [AdmissionPolicy("first", cores, horizons=AHEAD) for cores in (8.0, 12.0, 16.0)]
        policies += [AdmissionPolicy("second", risk, horizons=AHEAD) for risk in (0.05, 0.2, 1.0)]
        used = [run_policy(CROWDED, world, policy, HOURS).utilisation for policy in policies]
        least = min(least, share - max(used))
    shown = f"mean bound {float(shares.mean()):.4f}, off by {off:.0e}; least gap to a policy {least:.4f}"
    return Outcome(shown, off < 1e-9 and least >= 0)
