"""Names of `theory.compiled` under which other rooms import them."""

from theory.compiled import OURS, source_of

__all__ = ["OURS", "source_of"]
