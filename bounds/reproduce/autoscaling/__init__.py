"""Figures and tables of the auto-scaling paper (arXiv 2005.13744)."""
