"""The fluid limit of dynamic reservation: its exact path, regime by regime."""

from fluid.limits.reservation.draining import emptying_rate, emptying_rates, minimum_rates
from fluid.limits.reservation.model import PlannedStage, Reservation, plan
from fluid.limits.reservation.path import FluidPath, fluid_path, state_of
from fluid.limits.reservation.regimes import Regime, decide

__all__ = [
    "FluidPath",
    "PlannedStage",
    "Regime",
    "Reservation",
    "decide",
    "emptying_rate",
    "emptying_rates",
    "fluid_path",
    "minimum_rates",
    "plan",
    "state_of",
]
