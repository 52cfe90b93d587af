"""Cluster admission: deployments that grow on their own, what is believed of them, and whether another may enter."""

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
        "law.admission_files": ("parse_admission", "read_admission", "read_observed"),
        "law.belief": ("Belief", "Observed", "PlugIn", "exact_belief", "plug_in_belief"),
        "law.moments": (
            "Moments",
            "belief_moments",
            "composed_moments",
            "constituents",
            "hourly_payment",
            "joint_moments",
            "kind_moments",
            "mixture",
            "saved_by_labels",
        ),
        "law.absorption": ("ExactMoments", "exact_moments"),
        "law.size_law": ("SizeLaw", "kind_law", "parameters_law"),
        "law.mixture": ("mixed_law",),
        "law.thresholds": ("cantelli", "thresholds"),
        "simulation.simulate": ("AdmissionPolicy", "AdmissionResult", "AdmissionRun", "run_policy"),
        "simulation.world": ("World", "draw_world"),
        "simulation.outlook": ("aligned_horizons",),
        "exact.chain": ("best_threshold", "exact_policy", "small_space", "solved"),
        "exact.optimal": ("Optimum", "optimal_policy"),
        "exact.hidden": ("HiddenOptimum", "hidden_optimum"),
        "study.frontier": ("Frontier", "difference_at", "frontier", "frontiers_of", "ladder_for"),
        "study.tuning": ("bca_interval", "pathwise_bound", "tune"),
        "study.importance": ("redraw_for", "redrawn_probabilities", "weighted_share"),
        "study.estimation": ("Watched", "fit_lifetimes_and_sizes", "fit_priors", "watched"),
        "simulation.replications": ("simulate_admission", "simulate_policies"),
    },
)
