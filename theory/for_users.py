"""``step`` and ``kernel`` as users of packproof have them: every index is looked at.

An index outside of its array raises IndexError, compiled as in Python. What such a function calls is looked at likewise
(`theory.inside`). Packproof's own steps (`theory.jit`) trust their indices, which takes less time.
"""

from theory.jit import checked as step
from theory.jit import checked_kernel as kernel

__all__ = ["kernel", "step"]
