"""All benchmarks: ``python -m benchmarks`` (apart: ``-m benchmarks.sharing``, ``-m benchmarks.simulate``)."""

from __future__ import annotations

from benchmarks import greedy

greedy.main()
