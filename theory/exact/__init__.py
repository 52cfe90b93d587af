"""Exact computation: linear programs, columns, knapsack, enumeration, linear systems."""
