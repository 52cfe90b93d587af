"""Names of `theory.compiled` under which other rooms import them."""

from theory.compiled import called_as

__all__ = ["called_as"]
