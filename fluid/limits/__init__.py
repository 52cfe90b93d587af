"""Fluid limits: reservation, max-weight, rates of decay, drift, Lyapunov functions, convergence, sharing in motion."""
