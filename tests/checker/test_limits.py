"""The limits of the system within which the checker runs: processor time and memory, as before in the end."""

from __future__ import annotations

import resource
import signal
import threading
import time
from typing import Any

from bounds import checker
from tests.checker.corpus import refusal

LATE = "not decided within 0.05 s of processor time, which does not refute it: expected more with --seconds"


def spin(seconds: float = 30.0) -> None:
    """Take processor time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def spin_within(seconds: float) -> None:
    """Take more processor time than is allowed."""
    with checker.limited(seconds):
        spin()


def test_the_time_ends() -> None:
    begun = time.process_time()
    assert refusal(lambda: spin_within(0.05), checker.Unreadable) == LATE
    assert 0.04 < time.process_time() - begun < 5


def test_the_time_ends_again_where_something_has_caught_its_end() -> None:
    def go_on() -> None:
        with checker.limited(0.05):
            assert refusal(spin, checker.Unreadable) == LATE
            spin()

    assert refusal(go_on, checker.Unreadable) == LATE


def test_a_timer_that_runs_goes_on_afterwards() -> None:
    def mine(*_: Any) -> None:
        raise AssertionError("a minute has passed")

    before = signal.signal(signal.SIGPROF, mine)
    signal.setitimer(signal.ITIMER_PROF, 60, 7)
    try:
        with checker.limited(1):
            assert signal.getitimer(signal.ITIMER_PROF)[0] <= 1.1
        assert refusal(lambda: spin_within(0.05), checker.Unreadable) == LATE
        assert signal.getsignal(signal.SIGPROF) is mine
        left, interval = signal.getitimer(signal.ITIMER_PROF)
        assert 50 < left < 61
        assert 6.9 < interval < 7.1
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def test_no_timer_runs_afterwards() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with checker.limited(1):
        assert signal.getsignal(signal.SIGPROF) is not before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGPROF) is before


def test_a_thread_has_no_limit_of_time() -> None:
    ended: list[bool] = []

    def run() -> None:
        with checker.limited(0.05):
            spin(0.2)
            ended.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert ended == [True]


def taking(size: int) -> int:
    """Take memory within the limits, and return how much."""
    with checker.limited(10):
        return len(bytearray(size))


def test_the_memory_ends() -> None:
    before, most = resource.getrlimit(resource.RLIMIT_AS), checker.MEMORY
    reason = "not decided within the memory that is allowed, at most 100 MB, which does not refute it"
    checker.MEMORY = 10**8
    try:
        assert taking(7 * 10**7) == 7 * 10**7
        assert resource.getrlimit(resource.RLIMIT_AS) == before
        assert refusal(lambda: taking(2 * 10**8), checker.Unreadable) == reason
        assert resource.getrlimit(resource.RLIMIT_AS) == before
    finally:
        checker.MEMORY = most


def test_a_smaller_limit_of_memory_stays() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as stream:
        used = int(stream.read().split()[0]) * resource.getpagesize()
    smaller = (used + 10**8, before[1])
    resource.setrlimit(resource.RLIMIT_AS, smaller)
    try:
        assert "at most 1,000 MB" in refusal(lambda: taking(3 * 10**8), checker.Unreadable)
        assert resource.getrlimit(resource.RLIMIT_AS) == smaller
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_a_verdict_is_a_verdict_within_the_limits() -> None:
    def refuse() -> None:
        with checker.limited(10):
            checker.require(False, "no")

    assert refusal(refuse) == "no"
