"""What all tests share: the hypothesis profile, markers by folder, the CPU time of a test, real data, and workers."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", deadline=None, max_examples=5000, suppress_health_check=[HealthCheck.too_slow])
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a run in the background; tests interrupt what they start
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


KINDS = {"processes", "systems", "pictures", "docs", "foreign", "soak"}
"""Folders of `tests` whose tests have the marker of the same name; those of `systems` are `processes`."""

SLOW_WITHOUT_PYTEST = {"test_prices_refute_what_the_definition_says"}
"""Slow tests of the checker, which run without pytest as well and so cannot be marked where they stand."""

MOST_CPU = 3.0
"""CPU seconds that a test without a marker may take, of a machine that is not busy (`slowness`)."""

MOST_OF_A_CLAIM = 10.0
"""CPU seconds of a claim with all of its controls, at the smallest size."""

MOST_COMPILED, MOST_COMPILED_BY_A_CLAIM = 40.0, 90.0
"""CPU seconds for which numba may compile within a test without a marker: the first that needs a loop compiles it. The
two loops of preemption, which claims need, take a minute; after `make verify` they are stored."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of a folder that is named for what its tests cost or need."""
    tests = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(tests) and (kind := item.path.relative_to(tests).parts[0]) in KINDS:
            item.add_marker("processes" if kind == "systems" else kind)
        if item.name in SLOW_WITHOUT_PYTEST:
            item.add_marker("slow")


UNIT, LOOPS = 0.04, 500_000
"""CPU seconds in which an idle machine, as limits mean it, takes so many steps of a loop."""


def slowness() -> float:
    """Return how many times as long this machine takes now as the one of the limits: a busy one shares its cores."""
    start, last = time.process_time(), 0
    for i in range(LOOPS):
        last += i * i % 7
    return max(1.0, (time.process_time() - start) / UNIT)


class CompileClock:
    """The CPU seconds that numba has spent compiling in this process, from when it was first looked at."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._listens = False

    def look(self) -> float:
        """Return the seconds so far."""
        if not self._listens:
            from numba.core import event

            clock = self

            class Listener(event.Listener):
                """Adds up compilations; those within others are part of them."""

                depth = 0
                since = 0.0

                def on_start(self, _event: event.Event) -> None:
                    if self.depth == 0:
                        self.since = time.process_time()
                    self.depth += 1

                def on_end(self, _event: event.Event) -> None:
                    self.depth -= 1
                    if self.depth == 0:
                        clock.seconds += time.process_time() - self.since

            event.register("numba:compile", Listener())
            self._listens = True
        return self.seconds


COMPILING = CompileClock()


class CpuClock:
    """The CPU seconds of this process from now on, and of children that began from now on and have been waited for.

    What numba compiles in this process, at an empty cache, does not count. A worker that an earlier test has left may
    end in any test, with all that it has spent: where one of the children of the beginning has ended, or the system
    does not list them, those of children are not counted.
    """

    def __init__(self) -> None:
        self._children, self._start, self._compiled = living_children(), os.times(), COMPILING.look()

    def seconds(self) -> float:
        """Return the seconds so far."""
        now, start = os.times(), self._start
        own = now.user + now.system - start.user - start.system - (COMPILING.look() - self._compiled)
        waited = now.children_user + now.children_system - start.children_user - start.children_system
        if waited and self._children is not None and self._children <= (living_children() or set()):
            return own + waited
        return own


def living_children() -> set[str] | None:
    """Return the child processes that have not been waited for, by number; None where the system does not list them."""
    if not Path("/proc/thread-self/children").exists():
        return None
    children: set[str] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # the thread may have ended
            children.update(file.read_text().split())
    return children


def pytest_runtest_setup() -> None:
    """Forget the events of the tests before: a short test runs as Python, whichever tests came first in its process."""
    if run := sys.modules.get("fluid.simulation.run"):
        run._EXPECTED.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test without a marker that takes long."""
    clock, compiled_before = CpuClock(), COMPILING.look()
    result = yield
    spent, compiled = clock.seconds(), COMPILING.look() - compiled_before
    if file := os.environ.get("PACKPROOF_TEST_TIMES"):
        with Path(f"{file}.{os.getpid()}").open("a") as stream:
            stream.write(f"{spent:.3f} {compiled:.3f} {item.nodeid}\n")
    if any(map(item.get_closest_marker, (*KINDS, "slow"))):
        return result
    compiles = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"  # without, everything takes longer
    most, most_compiled = MOST_CPU, MOST_COMPILED
    if item.name.startswith("test_claim_and_controls"):
        most, most_compiled = MOST_OF_A_CLAIM, MOST_COMPILED_BY_A_CLAIM
    for seconds, limit, of in ((spent, most, "of CPU"), (compiled, most_compiled, "of compilation")):
        if compiles and seconds > limit and seconds > limit * slowness():
            pytest.fail(
                f"{seconds:.1f} s {of}: a test without a marker takes at most {limit:g} (mark it slow, or shrink it)"
            )
    return result


@pytest.fixture
def data() -> Path:
    """The folder of real data; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("PACKPROOF_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data: PACKPROOF_DATA is {folder}")
    return folder


@pytest.fixture
def compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile also short runs, for tests whose subject is compiled code."""
    monkeypatch.setattr("fluid.simulation.run.LOADED_FROM", 1)
    monkeypatch.setattr("fluid.simulation.run.COMPILED_FROM", 1)
    monkeypatch.setattr("fluid.simulation.run.AUTHORS_COMPILED_FROM", 1)


@pytest.fixture(scope="session")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return an answer of each kind that has a report; tests change copies."""
    from tests.bounds.reported import answers_of_each_kind

    return answers_of_each_kind(tmp_path_factory.mktemp("answers"))


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
