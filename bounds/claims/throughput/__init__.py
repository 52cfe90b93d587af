"""Claims of the high-throughput bin packing paper."""

CLAIMS = {
    "workloads": (
        "lemma-2",
        "theorem-1",
        "theorem-1-identities",
        "prop-1",
        "prop-1-tight",
        "k-red",
        "powers-of-two",
        "prop-2",
        "prop-2-p2",
        "prop-2-epsilon",
        "corollary-1",
        "example-vqs",
        "example-best-fit",
        "example-uniform",
        "universal-guarantee",
    ),
    "queues": (
        "vii-a-1",
        "vii-a-2",
        "figure-4a",
        "figure-4b",
        "figure-5",
    ),
}
"""The claims by the module that checks them, in the order in which they are listed."""
