"""What all tests share: the hypothesis profile, the real data where there is some, and a cluster of workers."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", deadline=None, max_examples=5000, suppress_health_check=[HealthCheck.too_slow])
os.environ.setdefault("PACKPROOF_COMPILE", "first")  # compiled code is what tests are about, at an empty cache too
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a run in the background; tests interrupt what they start
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture
def data() -> Path:
    """The folder of real data; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("PACKPROOF_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data: PACKPROOF_DATA is {folder}")
    return folder


@pytest.fixture
def compiling_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let short runs be over before there is machine code, as for users: for tests whose subject it is not."""
    monkeypatch.setenv("PACKPROOF_COMPILE", "beside")


@pytest.fixture(scope="module")
def dask_cluster() -> Iterator[Any]:
    """Give a cluster of two workers, each a process that begins again when it is killed; tests of a module share it."""
    distributed = pytest.importorskip("dask.distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", processes=True
    ) as made:
        yield made


@pytest.fixture
def dask_engine(dask_cluster: Any) -> str:
    """Give the name of that cluster as an engine."""
    return str(dask_cluster.scheduler_address).replace("tcp://", "dask://")
