"""The real data of the claims and figures: part of the Google trace of 2011.

The functions that read it raise `WithoutData` where it is absent.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from bounds.claims import WithoutData
from fluid.traces.google import read_google_table
from fluid.traces.model import Trace
from fluid.traces.preprocess import completed, single_resource

WINDOW = "google2011_part0_attempts.csv.gz"  # the first 84 minutes of the trace


def data_folder() -> Path:
    """Return the folder of real data: ``PACKPROOF_DATA``, or ``shared/data`` beside the project, wherever it runs."""
    return Path(os.environ.get("PACKPROOF_DATA", Path(__file__).parents[3] / "shared" / "data"))


@cache
def real_table() -> Trace:
    """Return all tasks of the real window."""
    path = data_folder() / WINDOW
    if not path.is_file():
        raise WithoutData(f"no real data: {path.name} is not in PACKPROOF_DATA")
    return read_google_table(path)


@cache
def real_window() -> Trace:
    """Return the completed tasks that arrive in the real window, as sizes."""
    return single_resource(completed(real_table()).arrivals)
