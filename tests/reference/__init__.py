"""Second implementations of policies from the papers; the name of a file says the paper and the policy."""
