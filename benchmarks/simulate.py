"""Loss systems: events a second beside the peers in the same run, growth with the number of servers, memory a server.

Give the folder of peers (with its environment made by its ``setup.sh``) as ``PEERS``; without it only ours are timed.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

from fluid.simulation.arrivals import Law
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.policy_names import policy
from fluid.simulation.state import Setting
from theory.files.instances import read_instance
from theory.instance import Instance, additive

TWO_SIZES = additive([4], [[1], [2]], [1, 2], [2, 1]).with_workload([Fraction(2), Fraction(1)])
FOUR_TYPES = Path(__file__).parent.parent / "examples" / "four_types.toml"


def two_sizes() -> Instance:
    """The peers' system: 100 servers of 4 slots; size 1 at rate 200 for time 1, size 2 at rate 50 for time 2."""
    from dataclasses import replace

    first, second = TWO_SIZES.types
    return replace(TWO_SIZES, types=(first, replace(second, service_rate=Fraction(1, 2))))


def speed(name: str, scenario: LossScenario, repeats: int = 3) -> float:
    """Events a second, the best of a few runs, compilation excluded."""
    best = 0.0
    for seed in range(repeats):
        run = run_once(policy(name), scenario, seed)
        best = max(best, run.events / run.seconds)
    return best


def peer(folder: Path, script: str) -> dict[str, float]:
    """Run a peer's script and return its events a second by name of what it timed."""
    python = folder / ".venv" / "bin" / "python"
    interpreter = str(python) if python.exists() else sys.executable
    done = subprocess.run([interpreter, script], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"  {script}: does not run here: {done.stderr.strip().splitlines()[-1]}")
    rates: dict[str, float] = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if "events_per_s" in row and row["scenario"].startswith("B"):
            rates[row["tool"]] = max(rates.get(row["tool"], 0.0), row["events_per_s"])
    return rates


def memory_per_server(name: str, instance: Instance, servers: int) -> float:
    """Bytes of the policy's state a server, job lists excluded."""
    state = policy(name).prepare(Setting(instance, servers))
    return sum(array.nbytes for array in state) / servers


def main() -> None:
    """Print one line a measurement, and the ratios."""
    system = two_sizes()
    ours = speed("first-fit", LossScenario(system, 100, 4000.0, 100.0))
    print(f"first-fit, 100 x 4 slots, two sizes: {ours / 1e6:.1f} M events/s")
    calendar = speed("first-fit", LossScenario(system, 100, 2000.0, 100.0, service=Law("log-normal", 2.0)))
    print(f"  the same with log-normal service (event list): {calendar / 1e6:.1f} M events/s")
    folder = os.environ.get("PEERS")
    if folder is not None:
        for script in ("sim_numba.py", "sim_simpy.py", "sim_heapq.py"):
            for tool, rate in peer(Path(folder), script).items():
                print(f"  {tool}: {rate / 1e6:.2f} M events/s; ours is {ours / rate:.2f} times that")
    four = read_instance(FOUR_TYPES)
    for name in ("dra", "power-of-d", "static", "first-fit", "best-fit"):
        print(
            f"{name}, four VM types, L = 10,000: "
            f"{speed(name, LossScenario(four, 10_000, 12.0, 2.0)) / 1e6:.1f} M events/s"
        )
    print("growth of dynamic reservation with the number of servers:")
    times = {}
    for servers in (10**3, 10**4, 10**5, 10**6):
        # from the limit's mix, so that all sizes are timed near equilibrium and not while they fill
        start = mixed(four, servers)
        scenario = LossScenario(four, servers, max(0.5, 1.2e5 / servers), 0.0, initial=start, bins=10)
        times[servers] = 1e9 / speed("dra", scenario, 2)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(f"  L = {servers:>9,}: {times[servers]:6.0f} ns an event, peak memory {peak / 2**20:,.0f} MiB")
    print(f"  time an event from L = 10^3 to 10^6: x {times[10**6] / times[10**3]:.2f}")
    for name in ("dra", "power-of-d", "static", "first-fit", "best-fit"):
        print(f"memory of the state of {name}: {memory_per_server(name, four, 100_000):.0f} bytes a server")


def mixed(instance: Instance, servers: int) -> np.ndarray:
    """Jobs of the greedy assignment on every server, int32[L, J]: what dynamic reservation tends to."""
    from theory.greedy.assignment import global_greedy

    jobs = np.zeros((servers, len(instance.types)), np.int32)
    at = 0
    for stage in global_greedy(instance).stages:
        end = at + int(stage.fraction * servers)
        jobs[at:end] = stage.configurations[0]
        at = end
    return jobs


if __name__ == "__main__":
    begin = time.perf_counter()
    main()
    print(f"{time.perf_counter() - begin:.0f} s in all")
