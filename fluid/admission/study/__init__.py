"""Studies of policies: thresholds tuned to an SLA, frontiers, importance sampling, and priors from data."""
