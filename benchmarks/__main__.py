"""All benchmarks: ``python -m benchmarks`` (apart: ``benchmarks.attack``, ``.region``, ``.sharing``, ``.simulate``)."""

from __future__ import annotations

from benchmarks import greedy

greedy.main()
