"""All benchmarks: ``python -m benchmarks`` (fair sharing apart: ``python -m benchmarks.sharing``)."""

from __future__ import annotations

from benchmarks import greedy

greedy.main()
