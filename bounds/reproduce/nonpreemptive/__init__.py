"""Figures and tables of the non-preemptive scheduling paper."""
