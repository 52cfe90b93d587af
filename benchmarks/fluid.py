"""Fluid paths of dynamic reservation: time and error on random instances, and ordinary solvers on the same system.

SciPy and, where it is installed, diffrax get the same right-hand side, without being told where it switches: first
with the regimes that packproof finds at every evaluation, then the step function that a person would write.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.stepping import settled
from bounds.results.instances.drawn import dynamic_instance
from fluid.limits.reservation import FluidPath, Reservation, fluid_path
from fluid.limits.reservation.regimes import decide, velocities
from theory.instance import additive

COUNT, UNTIL, COMPARED = 200, 50.0, 5.0
SHOWN = (3, 96, 153)
"""Instances for other solvers."""

PATIENCE = 15.0
"""Seconds after which a solver is stopped."""

Flat = NDArray[np.float64]
RightHandSide = Callable[[float, Flat], Flat]


class StoppedError(Exception):
    """A solver's time is up."""


def right_hand_side(model: Reservation) -> tuple[RightHandSide, Flat]:
    """Return the fluid limit as an ordinary differential equation in jobs and masses, and its start, both flat."""
    width = model.types
    configurations = sorted({model.greedy(types) for types in range(1, 1 << width)}, reverse=True)
    arrivals = model.workload * model.service
    empty = (0,) * width

    def rates(_: float, state: Flat) -> Flat:
        jobs, used = np.maximum(state[:width], 0.0), np.maximum(state[width:], 0.0)
        masses = dict(zip(configurations, used.tolist(), strict=True))
        masses[empty] = max(0.0, 1.0 - float(used.sum()))
        regime = decide(model, jobs, masses, arrivals)
        free = arrivals - model.service * jobs
        moving = velocities(model, regime, jobs, masses, free)
        changes = np.where(regime.blocked, model.slots_of(moving.items()), free)
        return np.concatenate((changes, [moving.get(k, 0.0) for k in configurations]))

    return rates, np.zeros(width + len(configurations))


def with_scipy(path: FluidPath, rates: RightHandSide, start: Flat, method: str) -> str:
    """Follow the path with a solver of SciPy, and say how far it came, and how far off."""
    import warnings

    from scipy.integrate import solve_ivp

    begun, calls, reached = time.perf_counter(), 0, 0.0

    def watched(now: float, state: Flat) -> Flat:
        nonlocal calls, reached
        calls, reached = calls + 1, now
        if time.perf_counter() - begun > PATIENCE:
            raise StoppedError
        return rates(now, state)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # LSODA's, on convergence
            done = solve_ivp(watched, (0.0, UNTIL), start, method=method, rtol=1e-8, atol=1e-10)
    except StoppedError:
        return f"stopped after {PATIENCE:.0f} s and {calls} evaluations at t = {reached:.4f} of {UNTIL:.0f}"
    seconds = time.perf_counter() - begun
    off = np.abs(done.y[: path.model.types].T - path.jobs(done.t)).max()
    return f"{seconds:.2f} s, {calls} evaluations, to t = {done.t[-1]:.4f} of {UNTIL:.0f}, at most {off:.1e} off"


def with_diffrax(path: FluidPath, rates: RightHandSide, start: Flat) -> str:
    """Follow the path with diffrax (Tsit5), the right-hand side called back."""
    try:
        import diffrax  # type: ignore[import-not-found,unused-ignore]
        import jax  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return "not installed"
    jax.config.update("jax_enable_x64", True)
    shape = jax.ShapeDtypeStruct(start.shape, np.float64)
    begun, calls, reached = time.perf_counter(), 0, 0.0

    def watched(now: Flat, state: Flat) -> Flat:
        nonlocal calls, reached
        late = time.perf_counter() - begun > PATIENCE
        calls, reached = calls + (not late), reached if late else float(now)
        return np.zeros_like(start) if late else rates(float(now), np.asarray(state))

    def called(now: jax.Array, state: jax.Array, _: object) -> jax.Array:
        return jax.pure_callback(watched, shape, now, state)

    times = np.linspace(0.0, UNTIL, 1001)
    done = diffrax.diffeqsolve(
        diffrax.ODETerm(called),
        diffrax.Tsit5(),
        0.0,
        UNTIL,
        1e-3,
        jax.numpy.asarray(start),
        stepsize_controller=diffrax.PIDController(rtol=1e-8, atol=1e-10),
        saveat=diffrax.SaveAt(ts=times),
        max_steps=200_000,
        throw=False,
    )
    steps = int(done.stats["num_steps"])
    if time.perf_counter() - begun > PATIENCE:
        return f"stopped after {PATIENCE:.0f} s and {calls} evaluations at t = {reached:.4f} of {UNTIL:.0f}"
    took = time.perf_counter() - begun
    off = np.abs(np.asarray(done.ys)[:, : path.model.types] - path.jobs(times)).max()
    return f"{took:.2f} s, {steps} steps, {calls} evaluations, to t = {reached:.4f}, at most {off:.1e} off"


def compared(path: FluidPath, until: float) -> tuple[float, float]:
    """Return the largest difference to extrapolated stepping, and how far that has settled itself."""
    times = sorted({*np.linspace(0.0, until, 6).tolist(), *(t for t in path.switches if t < until)})
    reference, apart = settled(path.model, times)
    return float(np.abs(path.jobs(times) - reference).max()), apart


def main() -> None:
    """Print one line a measurement."""
    models = [Reservation(dynamic_instance(seed)) for seed in range(COUNT)]
    fluid_path(models[0], UNTIL)  # compiles
    seconds, paths = [], []
    for model in models:
        begun = time.perf_counter()
        paths.append(fluid_path(model, UNTIL))
        seconds.append(time.perf_counter() - begun)
    spread = np.quantile(seconds, [0.5, 0.9, 1.0])
    print(
        f"{COUNT} random instances to t = {UNTIL:.0f}: median {spread[0]:.3f} s, nine in ten under {spread[1]:.3f} s, "
        f"longest {spread[2]:.2f} s, {sum(s < 0.1 for s in seconds)} under 0.1 s"
    )
    far = []
    for seed, path in enumerate(paths):
        error, apart = compared(path, COMPARED)
        if error > 1e-6:
            far.append(f"instance {seed}: {error:.1e} (reference settled to {apart:.1e}, exact: {path.exact})")
    print(f"against extrapolated stepping to t = {COMPARED:.0f}: {COUNT - len(far)} within 1e-6; {'; '.join(far)}")
    for seed in SHOWN:
        switches = [round(t, 4) for t in paths[seed].switches]
        print(f"instance {seed}, ours: {seconds[seed]:.3f} s, switches at {switches}; told the modes:")
        others(paths[seed], *right_hand_side(models[seed]))
    path, rates, start = step_function()
    print("one type, admitted while a slot is free, as a step function:")
    others(path, rates, start)


def step_function() -> tuple[FluidPath, RightHandSide, Flat]:
    """Return the smallest system with a limit, as people write it: y' = 2 [y < 1] - y."""

    def rates(_: float, state: Flat) -> Flat:
        return 2.0 * (state < 1.0) - state

    return fluid_path(Reservation(additive([1], [[1]], workload=[2])), UNTIL), rates, np.zeros(1)


def others(path: FluidPath, rates: RightHandSide, start: Flat) -> None:
    """Print what ordinary solvers make of a right-hand side."""
    for method in ("RK45", "LSODA", "Radau"):
        print(f"  scipy {method}: {with_scipy(path, rates, start, method)}", flush=True)
    print(f"  diffrax Tsit5: {with_diffrax(path, rates, start)}", flush=True)


if __name__ == "__main__":
    main()
