"""Policies of queues in continuous time (paper 004): Algorithm 1, M14 and G16."""
