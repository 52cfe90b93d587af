"""Claims of the auto-scaling paper on the limit of many servers: Theorem 4.1, and 1 - 1/e without Definition 3.8."""

from __future__ import annotations

from math import e, log

import numpy as np

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.claims.instances import WITHOUT_38, at_worst, tight_family
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from fluid.statistics import mean_interval, slope
from theory.exact.configurations import maximal
from theory.greedy.assignment import global_greedy
from theory.greedy.optimal import solve
from theory.instance import explicit

LEVEL = 1 - 1e-6
SEED = 41


@claim(
    "theorem-4.1",
    "The stationary reward of dynamic reservation, g(L) = (log L)^1.5, tends to the greedy reward from empty and "
    "from full servers: three types without the monotone greedy property (full: and the tight family of three types) "
    "at the worst workload, unequal service rates: the gap falls like a power of L below L^-0.35, and at the largest L "
    "the reward keeps more than 1 - 1/e of the optimum.",
    printed=(
        "the reward of DRA over the optimum tends to U(g) / U* >= 1/2 at least; 1 - 1/e by Def. 3.8 (statement "
        "lost; from the proof in Appendix J)"
    ),
    evidence=Evidence.statistical,
)
def theorem_4_1(level: Level, broken: bool) -> Outcome:
    """Fit log gap on log L; broken: the policy is power of two choices."""
    quick = level is Level.quick
    sizes, runs = ((100, 400, 1600), 8) if quick else ((250, 1000, 4000, 16_000), 16)
    until, good, shown = 24.0 if quick else 80.0, True, []
    every = {"no Def. 3.8": explicit(WITHOUT_38, [8, 3, 10]), "tight": tight_family(3)}
    for name, instance in list(every.items())[: 1 if quick else 2]:
        loaded = at_worst(instance)
        limit, best = float(global_greedy(loaded).reward), float(solve(loaded).optimal.reward)
        points, last = [], []
        for servers in sizes:
            full = np.tile(maximal(loaded.pools[0].space)[0].astype(np.int32), (servers, 1))
            rewards = []
            for run in range(runs):
                scenario = LossScenario(loaded, servers, until, until / 2, initial=full if run % 2 else None, bins=4)
                seed = np.random.SeedSequence((SEED, servers, run))
                rewards.append(run_once(policy("power-of-d" if broken else "dra"), scenario, seed).mean_reward)
            if max(rewards) >= limit:
                computed = f"{name}: a reward of {max(rewards) / limit:.4f} of greedy at L = {servers:,}, no gap to fit"
                return Outcome(computed, Evidence.statistical, False)
            points += [(log(servers), log(limit - reward)) for reward in rewards]
            last = rewards
        fitted = slope([x for x, _ in points], [y for _, y in points], LEVEL)
        final = mean_interval(last, LEVEL)
        good &= fitted.high < -0.35 and final.mean > 0.98 * limit and final.low > (1 - 1 / e) * best
        shown.append(
            f"{name}: {final.mean / limit:.4f} of greedy, {final.mean / best:.4f} of the optimum at L = {sizes[-1]:,}, "
            f"gap ~ L^{fitted.mean:.2f} [{fitted.low:.2f}, {fitted.high:.2f}]"
        )
    return Outcome(f"{'; '.join(shown)}; {runs} runs a size, seed {SEED}", Evidence.statistical, bool(good))
