"""Claims of the non-preemptive scheduling paper (doi 10.1145/3154493)."""

CLAIMS = {
    "region": (
        "region-2",
        "maximal-same-hull",
        "max-weight",
        "lemma-6.1",
        "refinement-same-guarantee",
        "corollary-6.2",
        "example-1",
        "example-2",
        "table-1",
    ),
    "queues": (
        "example-1-queues",
        "example-2-queues",
        "figure-5",
        "figure-6",
        "figure-8",
    ),
    "drift": (
        "lemma-4.3",
        "lemma-4.1",
        "lemma-4.1-angle",
        "lemma-4.1-constant",
        "prop-4.5",
        "supportable",
        "theorem-3.1",
    ),
}
"""The claims by the module that checks them, in the order in which they are listed."""
