"""Rules that put items into bins, by the names of the literature (``packproof.rules``).

``RULES`` has them by the names of the command line; `packing` says what each does on one resource and on several.

Examples
--------
>>> import packproof
>>> packproof.rules.first_fit([6, 7, 4, 3], 10)
[0, 1, 0, 1]
>>> sorted(packproof.rules.RULES)
['best-fit', 'bfd', 'ffd', 'first-fit', 'harmonic', 'next-fit', 'worst-fit']
"""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {"packing": ("RULES", "best_fit", "bfd", "ffd", "first_fit", "harmonic", "next_fit", "worst_fit")},
)
