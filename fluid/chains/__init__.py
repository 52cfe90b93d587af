"""Exact Markov chains made from the functions of the policies themselves."""
