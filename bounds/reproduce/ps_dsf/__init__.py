"""Figures and tables of the PS-DSF paper."""
