"""Queues in continuous time (non-preemptive paper): jobs wait, first come first served within a type."""
