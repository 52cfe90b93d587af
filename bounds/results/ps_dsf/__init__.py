"""Results of the PS-DSF paper."""

TITLE = "Per-server dominant-share fairness"
STATEMENTS = "Theorems 1, 2 and 3; Lemmas 1 and 2; Corollary 1; Figures 1, 2, 3, 4, 5 and 6; Tables I and IV"
CLAIMS = {
    "examples": "figure-1 figures-2-3 figure-4 table-4-ps-dsf table-4-tsf section-5-full",
    "characterisations": "equation-11 theorem-1 theorem-2 corollary-1 lemma-2 lemma-2-repaired single-server-drf "
    "algorithm-1-as-printed",
    "properties": "theorem-3 theorem-3-strategy lemma-1 table-1 table-1-tsf-incentive",
    "motion": "section-5-simulation",
}
FIGURES = (
    ("examples", "figure-1 figures-2-3 figure-4 figure-5"),
    ("motion", "figure-6"),
    ("properties", "table-1"),
    ("examples", "table-4"),
)
