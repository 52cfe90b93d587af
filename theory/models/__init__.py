"""The programs of the papers as cvxpy models, which packproof's exact answers are compared with."""

from theory.doors import doors

__getattr__, __all__ = doors(__name__, {"programs": ("configuration", "drift", "intensity", "ps_dsf_tdm", "static")})
