"""Results of the non-preemptive scheduling paper (doi 10.1145/3154493)."""

TITLE = "On non-preemptive VM scheduling in the cloud"
STATEMENTS = (
    "Theorem 3.1; Propositions 4.2 and 4.5; Lemmas 4.1, 4.3, 4.4, 5.1 and 6.1; "
    "Corollaries 5.2, 5.3, 6.2 and 6.3; Remarks 1 and 2; Examples 1 and 2; Table 1; Figures 3, 4, 5, 6, 7 and 8"
)
CLAIMS = {
    "region": "region-2 maximal-same-hull max-weight lemma-6.1 refinement-same-guarantee corollary-6.2 "
    "example-1 example-2 table-1",
    "drift": "lemma-4.3 prop-4.5 supportable theorem-3.1 "
    "lemma-4.1 lemma-4.1-every-type-fits lemma-4.1-angle lemma-4.1-constant",
    "steps": "proposition-4.2 proposition-4.2-event lemma-4.4 equations-19-22 lemma-5.1 lemma-5.1-serving",
    "stability": "theorem-3.1-queues corollary-5.2 corollary-5.3 corollary-6.2-queues corollary-6.3 "
    "remark-1 remark-2 section-6.3 section-6.4 section-6.4-limit",
    "algorithms": "algorithm-1-as-printed",
    "queues": "example-1-queues example-2-queues figure-3 figure-5 figure-6",
    "trace": "figure-7 figure-8",
}
FIGURES = (
    ("queues", "example-1 example-2"),
    ("region", "table-1"),
    ("queues", "figure-5 figure-6"),
    ("trace", "figure-7 figure-8"),
)
