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
        "law": ("SizeLaw", "kind_law", "mixed_law", "parameters_law"),
        "decisions": ("cantelli", "thresholds"),
        "simulate": ("AdmissionPolicy", "AdmissionResult", "AdmissionRun", "run_policy", "simulate_admission"),
        "world": ("World", "draw_world"),
        "outlook": ("aligned_horizons",),
        "chain": ("exact_policy", "small_space", "solved"),
        "tuning": ("at_equal_sla", "bca_interval", "paired_utilisation", "pathwise_bound", "tune"),
        "stored": ("simulate_stored",),
    },
)
