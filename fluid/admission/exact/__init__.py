"""Exact Markov chains of small clusters of known kinds, and their optimal policies."""
