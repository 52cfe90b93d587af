"""The clock by which a test without a marker is too long counts what the test did, and nothing from before it."""

import subprocess
import sys
import time

import pytest

from tests.conftest import CpuClock, living_children

WORK = "import time\nwhile time.process_time() < 0.6: pass"

pytestmark = pytest.mark.skipif(living_children() is None, reason="this system does not list child processes")


def test_a_child_that_worked_before_does_not_count() -> None:
    with subprocess.Popen([sys.executable, "-c", WORK], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.read()  # to its end; the process has not been waited for yet
        clock = CpuClock()
        time.sleep(1)
        child.wait()
        assert clock.seconds() < 0.3


def test_a_child_that_is_waited_for_counts() -> None:
    clock = CpuClock()
    subprocess.run([sys.executable, "-c", WORK], check=True)
    assert clock.seconds() > 0.5
