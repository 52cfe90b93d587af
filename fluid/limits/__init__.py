"""Fluid limits: reservation, max-weight, rates of decay, drift, Lyapunov functions, convergence, sharing in motion."""

from theory.doors import doors

__getattr__, __all__ = doors(
    __name__,
    {
        "reservation": ("minimum_rates",),
        "reservation.model": ("Reservation",),
        "reservation.path": ("FluidPath", "fluid_path", "state_of"),
        "convergence": ("CrossCheck", "crosscheck", "reservation_limit"),
        "lyapunov_function": ("Lyapunov", "is_unique_maximiser", "lyapunov"),
        "max_weight": ("MaxWeight", "QueuePath", "queue_path"),
        "decay": ("decay_rate", "escape_velocity", "guaranteed_rate", "least_time", "linear_bound", "norm"),
        "drift": ("Algorithm1", "LeastMove", "least_move"),
        "sharing": ("read_schedule", "run_schedule"),
    },
)
