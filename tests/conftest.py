"""What all tests share: the hypothesis profile and the real data, where there is some."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("soak", deadline=None, max_examples=5000, suppress_health_check=[HealthCheck.too_slow])
os.environ.setdefault("PACKPROOF_COMPILE", "first")  # compiled code is what tests are about, at an empty cache too
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture
def data() -> Path:
    """The folder of real data; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("PACKPROOF_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data: PACKPROOF_DATA is {folder}")
    return folder
