"""Names of `theory.compiled` under which other rooms import them."""

from theory.compiled import uncollected

__all__ = ["uncollected"]
