"""Figures and tables of the paper on cluster admission (arXiv 1804.07571)."""
