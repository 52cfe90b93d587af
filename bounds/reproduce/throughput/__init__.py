"""Figures and tables of the high-throughput bin packing paper."""
