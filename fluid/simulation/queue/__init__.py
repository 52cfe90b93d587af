"""Queues in continuous time: jobs that find no place wait, first come first served within a type (paper 004)."""
