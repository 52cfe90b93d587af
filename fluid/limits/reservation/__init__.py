"""The fluid limit of dynamic reservation: the exact path, a stepping reference, and simplified paths by name."""

from fluid.limits.reservation.draining import emptying_rate, emptying_rates
from fluid.limits.reservation.model import PlannedStage, Reservation, plan
from fluid.limits.reservation.path import FluidPath, fluid_path, state_of
from fluid.limits.reservation.regimes import Regime, decide
from fluid.limits.reservation.stepping import extrapolated, minimum_rates, reflected, settled, stepped

__all__ = [
    "FluidPath",
    "PlannedStage",
    "Regime",
    "Reservation",
    "decide",
    "emptying_rate",
    "emptying_rates",
    "extrapolated",
    "fluid_path",
    "minimum_rates",
    "plan",
    "reflected",
    "settled",
    "state_of",
    "stepped",
]
