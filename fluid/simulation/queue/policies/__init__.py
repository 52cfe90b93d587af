"""Policies of queues in continuous time (non-preemptive paper): Algorithm 1, M14 and G16."""
