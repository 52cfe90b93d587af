"""Queues in slots of time with real job sizes on one resource (throughput paper)."""
