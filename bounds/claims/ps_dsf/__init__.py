"""Claims of the PS-DSF paper."""

CLAIMS = {
    "sharing": (
        "figure-1",
        "figures-2-3",
        "figure-4",
        "table-4-ps-dsf",
        "table-4-tsf",
        "section-5-full",
        "theorem-1",
        "theorem-2",
        "theorem-3",
        "theorem-3-strategy",
        "lemma-1",
        "table-1",
        "table-1-tsf-incentive",
        "section-5-simulation",
    ),
}
"""The claims by the module that checks them, in the order in which they are listed."""
