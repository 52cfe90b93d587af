"""Policies of slotted queues with real job sizes (throughput paper): Best-Fit, virtual queues, and baselines."""
