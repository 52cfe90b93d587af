"""What the papers print, one line a claim; nothing here is computed. ``lost`` marks numbers that the text lost."""

PRINTED = {
    "autoscaling/prop-3.1": "for every workload there is a unique permutation with conditions 1) and 2)",
    "autoscaling/prop-3.5": "the integer greedy assignment divided by L converges to the global greedy assignment",
    "autoscaling/thm-3.7": "greedy keeps at least 1/2 of the optimal reward",
    "autoscaling/def-3.8-two-types": "any system with two job types has the monotone greedy property",
    "autoscaling/def-3.8-three-types": "in general the property might not hold",
    "autoscaling/thm-3.9": "greedy keeps at least 1 - 1/e of the optimal reward under the monotone greedy property",
    "autoscaling/prop-3.10": "the worst-case ratio is not greater than 1 - 1/e (an infimum over J)",
    "autoscaling/introduction": "one VM of reward 4, or two of 3 each: 4 against 6",
    "autoscaling/table-1": "greedy is often identical to the optimum, close to it on average (figures lost)",
    "autoscaling/figure-2": "two critical points; greedy is optimal before the first, after the second (places lost)",
    "autoscaling/figure-2-86-percent": "86% of the optimal reward for the four VM types",
    "autoscaling/no-bad-scenario": "no scenario of the simulations had a ratio below a bound (figure lost)",
    "packproof/always-1-1/e": "not in the paper: it leaves 1 - 1/e open without the monotone greedy property",
    "packproof/tight": "not in the paper: printed as a limit, exact numbers of Appendix C lost",
    "packproof/worst-workload": "not in the paper",
    "packproof/worst-rewards": "not in the paper",
    "packproof/pools": "the paper postpones several server pools",
    "packproof/sequential-pools": "not in the paper",
}
