"""Names of `theory.compiled` under which other rooms import them."""

from theory.compiled import Tools, bound, kernel, noticing_compilation, plain, retooled, routine, step
from theory.compiled import cache_prefix as kept_under
from theory.compiled import has_machine_code as kept
from theory.compiled import plain_unless_compiled as plain_unless_kept

__all__ = [
    "Tools", "bound", "kept", "kept_under", "kernel", "noticing_compilation", "plain", "plain_unless_kept", "retooled",
    "routine", "step",
]  # fmt: skip
