"""A dask cluster of one worker in a process of its own, with which it dies: ``python -m tests.cluster``.

It prints the address of the scheduler, and ``busy`` once a worker has a task.
"""

from __future__ import annotations

import time


def main() -> None:
    """Serve until killed."""
    from dask.distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", processes=True
    ) as cluster:
        print(cluster.scheduler_address.replace("tcp://", "dask://"), flush=True)
        while not any(state.processing for state in [*cluster.scheduler.workers.values()]):
            time.sleep(0.02)
        print("busy", flush=True)
        time.sleep(600.0)


if __name__ == "__main__":
    main()
