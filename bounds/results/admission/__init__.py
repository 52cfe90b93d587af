"""Results of the paper on cluster admission (arXiv 1804.07571)."""

TITLE = "On the cluster admission problem for cloud computing"
STATEMENTS = (
    "Propositions 3.1, 4.3, 4.5, 7.1, C.1 and D.2; Corollaries 3.2 and 7.2; Definitions 6.1 and D.1; "
    "Tables 1, 2, 3 and 4"
)
CLAIMS = {
    "moments": "prop-3.1 prop-3.1-proof corollary-3.2 prop-4.3 prop-4.5 prop-4.5-uncorrelated prop-c.1 "
    "variance-errs-both-ways belief-exact",
    "policies": "prop-d.2 mixture-variance definition-6.1 marginal-heuristic policies-by-observations "
    "labelled-users second-above-zeroth tables-lost",
    "orders": "table-2 appendix-e",
    "sampling": "definition-d.1 redraw-variance",
}
FIGURES = (("policies", "figure-1 figure-2 table-2 figure-9"),)
