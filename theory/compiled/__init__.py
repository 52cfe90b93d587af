"""The door to numba: functions that run compiled or as plain Python, on the same path; `reference` says what they mean.

``kernel``, ``step`` and ``routine`` are packproof's decorators; ``checked`` and ``checked_kernel`` are the ``step`` and
``kernel`` of users, in which every index is checked.
"""

from theory.compiled.code_cache import called_as, uncollected
from theory.compiled.copies import OURS, source_of
from theory.compiled.kernels import (
    bound,
    cache_prefix,
    checked,
    checked_copy,
    checked_kernel,
    has_machine_code,
    kernel,
    noticing_compilation,
    plain,
    plain_unless_compiled,
    routine,
    step,
)

__all__ = [
    "OURS", "bound", "cache_prefix", "called_as", "checked", "checked_copy", "checked_kernel", "has_machine_code",
    "kernel", "noticing_compilation", "plain", "plain_unless_compiled", "routine", "source_of", "step", "uncollected",
]  # fmt: skip
