"""Cluster admission: deployments that grow on their own, what is believed of them, and whether another may enter."""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "model": (
            "AdmissionCluster",
            "Gamma",
            "InitialSize",
            "Kind",
            "Priors",
            "horizons_of",
            "printed_horizons",
            "spaced_horizons",
        ),
        "files": ("parse_admission", "read_admission", "read_observed"),
        "belief": ("Belief", "Observed", "PlugIn", "exact_belief", "plug_in_belief"),
        "moments": (
            "Moments",
            "belief_moments",
            "composed_moments",
            "constituents",
            "joint_moments",
            "kind_moments",
        ),
        "absorption": ("ExactMoments", "exact_moments"),
        "law": ("SizeLaw", "kind_law", "parameters_law"),
        "mixture": ("mixed_law",),
        "decisions": ("cantelli", "thresholds"),
        "simulate": ("AdmissionPolicy", "AdmissionResult", "AdmissionRun", "run_policy"),
        "world": ("World", "draw_world"),
        "outlook": ("aligned_horizons",),
        "chain": ("best_threshold", "exact_policy", "small_space", "solved"),
        "optimal": ("Optimum", "optimal_policy"),
        "hidden": ("HiddenOptimum", "hidden_optimum"),
        "frontier": ("Frontier", "difference_at", "frontier", "frontiers_of", "ladder_for"),
        "tuning": ("bca_interval", "paired_utilisation", "pathwise_bound", "tune"),
        "importance": ("redraw_for", "redrawn_probabilities", "weighted_share"),
        "pricing": ("hourly_payment", "mixture", "saved_by_labels"),
        "estimation": ("Watched", "fit_lifetimes_and_sizes", "fit_priors", "watched"),
        "replications": ("simulate_admission", "simulate_policies"),
    },
)
