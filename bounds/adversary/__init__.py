"""Worst-case instances by optimisation: the exactly worst workload, and rewards driven to their worst."""
