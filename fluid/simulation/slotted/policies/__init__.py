"""Policies of slotted queues with real job sizes (paper 001): Best-Fit, virtual queues, and baselines."""
