"""All benchmarks: ``python -m benchmarks`` (apart: ``python -m benchmarks.sharing``, ``.region``)."""

from __future__ import annotations

from benchmarks import greedy

greedy.main()
