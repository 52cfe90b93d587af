"""Second implementations: of policies, by paper and policy, and of engines, which try everything."""
