"""Studies of policies: thresholds tuned to an SLA, frontiers, and priors from data."""
