"""Greedy reservation of an instance, beside its optimum; in the limit of many servers and on whole ones."""
