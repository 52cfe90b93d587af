"""Results of packproof itself, beyond the papers."""

TITLE = "Results of packproof itself"
STATEMENTS = ""
CLAIMS = {
    "constant": "always-1-1/e tight",
    "approximate": "approximate-greedy",
    "greedy": "worst-workload worst-rewards pools sequential-pools one-resource-family one-resource-not-attained "
    "worst-by-size",
    "one_resource": "one-resource-three-types",
    "all_types": "one-resource-all-types",
    "formal_table": "one-resource-formal",
    "anchors": "one-resource-anchors",
    "general": "one-resource-general",
    "five_types": "one-resource-five-types one-resource-inserted",
    "six_types": "one-resource-six-types",
    "existence": "resource-division-exists",
    "sharing": "algorithm-1-cycles algorithm-1-endless resource-division-not-unique fisher-market "
    "resource-division-not-pareto unfairness-without-bound idle-resources price-of-fairness",
    "part_of_the_way": "algorithm-1-part-of-the-way",
    "partitions": "linear-prices mixed-cells partition-guarantee best-partitions universal-cuts google-throughput",
    "region": "lemma-6.1-constant",
    "traps": "local-max-weight-no-share best-fit-traps vqs-bf-tight vqs-bf-several-servers",
    "five_sixths": "vqs-bf-two-sizes vqs-bf-five-sixths vqs-bf-from-a-backlog",
    "best_fit_exact": "bf-js-nine-elevenths-exact bf-js-nine-elevenths-simulated",
    "divisible_sizes": "divisible-sizes",
    "two_resources": "four-types-two-resources",
    "longer_service": "bf-js-longer-service bf-js-longer-service-simulated",
    "best_fit": "bf-js-nine-elevenths bf-js-both-sides",
    "admission": "gain-by-capacity blind-reserve pathwise-bound small-optimum hidden-bounds",
    "limits": "limit-1-1/e max-weight-rate generator-bound",
}
