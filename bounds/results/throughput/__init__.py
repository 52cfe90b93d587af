"""Results of the high-throughput bin packing paper."""

TITLE = "High-throughput bin packing"
STATEMENTS = "Theorems 1, 2, 3 and 4; Propositions 1 and 2; Corollary 1; Lemmas 1, 2, 3, 4 and 5; Figures 1, 3, 4 and 5"
CLAIMS = {
    "workloads": "lemma-2 theorem-1 theorem-1-identities example-best-fit example-uniform",
    "partitions": "prop-1 prop-1-tight k-red powers-of-two first-j-hull "
    "prop-2 prop-2-p2 prop-2-epsilon corollary-1 universal-guarantee",
    "drift": "lemma-3 lemma-4 lemma-5",
    "guarantees": "lemma-1 theorem-2 theorem-3 theorem-3-no-more theorem-4",
    "queues": "example-vqs vii-a-1 vii-a-2 figure-3 figure-4a figure-4b",
    "traces": "figure-1 figure-5 figure-5-vqs-bf",
}
FIGURES = (
    ("traces", "figure-1"),
    ("partitions", "figure-2"),
    ("queues", "figure-3a figure-3b figure-4a figure-4b"),
    ("traces", "figure-5"),
)
