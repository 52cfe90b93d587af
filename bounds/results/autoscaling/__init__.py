"""Results of the auto-scaling paper (arXiv 2005.13744)."""

TITLE = "A theory of auto-scaling for resource reservation in cloud services"
STATEMENTS = (
    "Theorems 3.7, 3.9, 4.1 and 6.1; Propositions 3.1, 3.5, 3.10, 5.4, 5.10, 6.2 and 6.3; "
    "Corollary 3.6; Lemmas 5.9, 6.4, B.1, D.1, F.1, F.2, F.3, G.1, G.2, G.3, G.4 and I.1; "
    "Definitions 2.3, 3.4 and 3.8; Remarks 1, 2, 3 and 4; Figures 2, 3, 4, 5 and 6; Table 1"
)
CLAIMS = {
    "model": "poisson-domination upper-bound-lp static-limit",
    "greedy": "introduction definition-2.3 prop-3.1 definition-3.4 prop-3.5 corollary-3.6",
    "guarantees": "thm-3.7 def-3.8-two-types def-3.8-three-types thm-3.9 reduction-3.9 prop-3.10",
    "vm_types": "table-1 figure-2 figure-2-between",
    "scenarios": "no-bad-scenario",
    "event_by_event": "remark-2 remark-4 lemma-d.1",
    "algorithms": "algorithm-2-as-printed periodic-cra estimate-cra",
    "convergence": "theorem-4.1 prop-5.4",
    "fluid": "theorem-6.1 lemma-5.9 prop-5.10 section-7-path equations-24-28 prop-5.10-p2 prop-5.10-p3 drain-rates",
    "subintervals": "equations-33-38 lemma-f.1 lemma-f.2 lemma-f.3 lemma-g.1 lemma-g.2 lemma-g.3 lemma-g.4 lemma-i.1 "
    "remark-3 prop-5.10-claims",
    "lyapunov": "prop-6.2 prop-6.3 lemma-6.4",
    "figures": "figure-3 figure-2-86-percent figure-4 figure-6-preemption figure-6-spike",
    "traces": "figure-5-bound figure-5-order figure-6-window",
}
FIGURES = (
    ("vm_types", "table-1 figure-2"),
    ("event_by_event", "figure-1"),
    ("figures", "figure-3 figure-4"),
    ("traces", "figure-5 figure-6"),
)
