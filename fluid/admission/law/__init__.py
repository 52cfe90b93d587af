"""The law of a deployment: its size in time, its moments and thresholds, exact, and what is believed of it."""
