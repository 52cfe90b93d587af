"""Column generation over configurations, on pools of servers and for counted jobs."""

from theory.doors import doors
from theory.exact.columns.generation import ConfigurationColumns, PoolColumn, slots_of, trimmed
from theory.exact.columns.starts import largest_first

__all__ = [
    "CELLS", "ConfigurationColumns", "PoolColumn", "Stock", "bins", "greatest_weight", "largest_first", "slots_of",
    "stock", "trimmed",
]  # fmt: skip

# these load the pricing, which many commands do not need
__getattr__, _ = doors(
    __name__, {"cutting_stock": ("CELLS", "Stock", "bins", "stock"), "pricing": ("greatest_weight",)}
)
