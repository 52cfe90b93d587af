"""Queues: events and jobs a second, growth with servers and with waiting jobs, memory a server, beside peers.

Give the folder of peers (with its environment made by its ``setup.sh``) as ``PEERS``; without it only ours are timed.
Machines differ and are noisy: trust the ratios. Jobs are drawn within the time taken.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.greedy import exponent
from bounds.results.nonpreemptive.settings import NAMES, table_1
from fluid.simulation.arrivals import JobList
from fluid.simulation.driver import run_once, seed_of
from fluid.simulation.policy_names import policy
from fluid.simulation.queue.model import QueueScenario
from fluid.simulation.slotted.model import SlottedScenario
from fluid.simulation.slotted.sizes import SizeLaw, drawn_slots, uniform
from fluid.simulation.slotted.state import SlottedSetting
from fluid.simulation.state import Setting
from fluid.traces.google import read_google_table
from theory.instance import Instance, additive

SLOTTED = ("bf-j", "bf-s", "bf-js", "vqs", "vqs-bf", "fifo-ff")


def events_per_second(name: str, instance: Instance, servers: int, events: float) -> float:
    """Events a second of a policy in continuous time, the best of three runs."""
    rate = 2 * servers * float(sum(t.workload for t in instance.types))
    scenario = QueueScenario(instance, servers, events / rate, events / rate / 4)
    runs = [run_once(policy(name), scenario, seed_of(1, r)) for r in range(3)]
    return max(run.events / run.seconds for run in runs)


def jobs_per_second(name: str, law: SizeLaw, servers: int, queued: int, jobs: int) -> float:
    """Jobs started a second with so many waiting from the first slot on; load 1.05, so that they stay; best of two."""
    rate = 1.05 * servers * 0.01 / law.mean

    class Queued(SlottedScenario):
        """So many jobs in slot 0, and the stream behind them."""

        def stream(self, arrival_rng: np.random.Generator, start_rng: np.random.Generator) -> Iterator[JobList]:
            zeros = np.zeros(queued, np.int64)
            yield JobList(zeros, law.draw(arrival_rng, queued), arrival_rng.geometric(0.01, queued))
            for chunk in drawn_slots(rate, law, 0.01, arrival_rng):
                yield chunk._replace(times=chunk.times + 1)

    slots = max(2, int(jobs / rate))
    runs = [run_once(policy(name), Queued(law, servers, slots, slots // 5), seed) for seed in (1, 2)]
    return max(float(run.measures.starts.sum()) / run.seconds for run in runs)


def bytes_per_server(state: object, servers: int) -> float:
    """Memory of a state a server, what does not grow with servers included."""
    return sum(array.nbytes for array in state) / servers  # type: ignore[attr-defined]


def main() -> None:
    """Print one line a measurement, and the ratios."""
    instance = table_1(Fraction(89, 100))
    for name in NAMES:
        speed = events_per_second(name, instance, 200, 2e6) / 1e6
        print(f"{name}, Table 1, 200 servers, intensity 0.89: {speed:.1f} M events/s", flush=True)
    sizes = (100, 1000, 10_000, 100_000)
    times = [1 / events_per_second("nonpreemptive", instance, n, 2e6) for n in sizes]
    print(f"  nonpreemptive, time an event from {sizes[0]} to {sizes[-1]:,} servers: x {times[-1] / times[0]:.1f}, "
          f"servers^{exponent(sizes, times):.2f}")  # fmt: skip
    for name in NAMES:
        state = policy(name).prepare(Setting(instance, 10_000))
        print(f"  {name}: {bytes_per_server(state, 10_000):.0f} bytes a server, 3 types")

    plain = additive([1], [[1]], workload=[Fraction(89, 100)])
    ours = events_per_second("nonpreemptive", plain, 200, 2e6)
    print(f"M/M/200: {ours / 1e6:.1f} M events/s")
    folder = os.environ.get("PEERS")
    if folder is not None:
        script = Path(__file__).with_name("queue_peers.py")
        python = Path(folder) / ".venv" / "bin" / "python"
        done = subprocess.run([python, script], capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            row = json.loads(line)
            rate = row["events_per_s"]
            print(f"  {row['tool']}: {rate / 1e6:.3f} M events/s; ours is {ours / rate:.0f} times that")

    for law, what in (
        (uniform(Fraction(1, 100), Fraction(19, 100)), "[0.01, 0.19]"),
        (uniform(Fraction(1, 10), Fraction(9, 10)), "[0.1, 0.9]"),
    ):
        for name in SLOTTED:
            jobs = 1_000_000 if name in ("bf-js", "vqs-bf", "bf-s") else 200_000
            rate = jobs_per_second(name, law, 1000, 100_000, jobs)
            print(
                f"{name}, sizes on {what} by 1e-6, 1,000 servers, 100,000 waiting: {rate / 1e6:.2f} M jobs/s",
                flush=True,
            )
    law = uniform(Fraction(1, 10), Fraction(9, 10))
    for name in ("bf-js", "vqs-bf"):
        servers, queued = (100, 1000, 10_000), (1000, 10_000, 100_000)
        times = [1 / jobs_per_second(name, law, n, 100_000, 500_000) for n in servers]
        more = [1 / jobs_per_second(name, law, 1000, n, 500_000) for n in queued]
        print(f"  {name}: time a job ~ servers^{exponent(servers, times):.2f}, ~ waiting^{exponent(queued, more):.2f}")
        state = policy(name).prepare(SlottedSetting(law.sizes, law.capacity, 10_000))
        few = policy(name).prepare(SlottedSetting(law.sizes, law.capacity, 1))
        more_bytes = (bytes_per_server(state, 1) - bytes_per_server(few, 1)) / 9999
        each = bytes_per_server(few, len(law.sizes))
        print(f"  {name}: {more_bytes:.0f} bytes a server, {each:.0f} bytes a distinct size")

    data = Path(os.environ.get("PACKPROOF_DATA", Path(__file__).parents[2] / "shared" / "data"))
    table = data / "google2011_part0_attempts.csv.gz"
    if table.is_file():
        begin = time.perf_counter()
        trace = read_google_table(table)
        seconds = time.perf_counter() - begin
        print(f"Google trace read: {len(trace):,} attempts in {seconds:.1f} s")


if __name__ == "__main__":
    main()
