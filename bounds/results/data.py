"""Where the claims find real data."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """Return the folder of real data: ``PACKPROOF_DATA``, or ``shared/data`` beside the project, wherever it runs."""
    return Path(os.environ.get("PACKPROOF_DATA", Path(__file__).parents[3] / "shared" / "data"))
