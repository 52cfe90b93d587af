"""packproof: checks, sharpens and attacks the theory of packing jobs into servers."""

__version__ = "0.1.0"
