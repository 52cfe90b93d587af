"""Cluster admission: deployments that grow on their own, what is believed of them, and whether another may enter.

`law` has the model, beliefs, moments, laws of sizes and thresholds; `exact` Markov chains and optima of small clusters;
`simulation` draws worlds first and runs every policy through them; `study` tunes thresholds, compares policies at equal
rates of refusal, and fits priors to a log.
"""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "law.cluster": (
            "AdmissionCluster",
            "Gamma",
            "InitialSize",
            "Kind",
            "Priors",
            "horizons_of",
            "printed_horizons",
        ),
        "law.admission_files": ("parse_admission", "read_admission", "read_observed", "read_state"),
        "law.belief": ("Belief", "Observed", "PlugIn", "Tenant", "exact_belief", "plug_in_belief"),
        "law.moments": (
            "Moments",
            "belief_moments",
            "composed_moments",
            "constituents",
            "joint_moments",
            "kind_moments",
        ),
        "law.absorption": ("ExactMoments", "exact_moments"),
        "law.size_law": ("SizeLaw", "kind_law", "parameters_law"),
        "law.mixture": ("mixed_law",),
        "law.thresholds": ("cantelli",),
        "simulation.decision": ("Needed", "arriving", "needed"),
        "simulation.simulate": ("AdmissionPolicy", "AdmissionResult", "AdmissionRun", "run_policy"),
        "simulation.world": ("World", "draw_world"),
        "simulation.outlook": ("aligned_horizons",),
        "exact.chain": ("best_threshold", "exact_policy", "small_space", "solved"),
        "exact.optimal": ("Optimum", "optimal_policy"),
        "exact.hidden": ("HiddenOptimum", "hidden_optimum"),
        "study.frontier": (
            "Compared",
            "Frontier",
            "compare",
            "difference_at",
            "frontier",
            "frontier_at",
            "frontiers_of",
            "ladder_for",
        ),
        "study.tuning": ("bca_interval", "pathwise_bound", "tune"),
        "study.estimation": ("Fitted", "fit_lifetimes_and_sizes", "fit_log", "fit_priors"),
        "study.goodness": ("goodness_of_fit",),
        "study.watched": ("TenantLog", "Watched", "watched"),
        "study.tenant_log": ("read_tenant_log",),
        "simulation.replications": ("simulate_admission", "simulate_policies"),
    },
)
