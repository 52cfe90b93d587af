"""The clock by which a test without a marker is too long counts what the test did, and nothing from before it."""

import os
import subprocess
import sys
import time

from tests.conftest import cpu_spent

WORK = "import time\nwhile time.process_time() < 0.6: pass"


def test_a_child_that_worked_before_does_not_count() -> None:
    with subprocess.Popen([sys.executable, "-c", WORK], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.read()  # to its end; the process has not been waited for yet
        time.sleep(0.2)
        before = os.times()
        child.wait()
        assert cpu_spent(before) < 0.3


def test_a_child_that_is_waited_for_counts() -> None:
    before = os.times()
    subprocess.run([sys.executable, "-c", WORK], check=True)
    assert cpu_spent(before) > 0.5
