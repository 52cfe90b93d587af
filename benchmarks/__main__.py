"""All benchmarks: ``python -m benchmarks`` (apart: ``-m benchmarks.sharing``, ``.region``, ``.simulate``)."""

from __future__ import annotations

from benchmarks import greedy

greedy.main()
