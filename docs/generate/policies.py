"""The reference of policies and their options, from the registry of policies."""

from __future__ import annotations

from pathlib import Path

from fluid.simulation.policy_names import HOMES, all_options, policy
from generate.text import code, plain, save, table

MODELS = {
    "loss": (
        "Loss systems",
        "A job that finds no place is lost. Rewards are earned while jobs are served. Each policy is followed beside a "
        "transcription of its paper: Algorithms 1 and 2 in the claim `autoscaling/algorithm-2-as-printed`, preemption "
        "and the policies without reservation in `tests/fluid/test_transcribed_loss.py`.",
    ),
    "queue": (
        "Queues in continuous time",
        "A job that finds no place waits. Job types have demands on several resources. Each policy is replayed beside "
        "a transcription of its paper: Algorithm 1 in the claim `nonpreemptive/algorithm-1-as-printed`, the others in "
        "`tests/fluid/test_transcribed_queues.py`.",
    ),
    "slotted": (
        "Queues in slots of time",
        "Jobs wait, time is slotted, and sizes are numbers on one resource. Each policy is replayed beside a "
        "transcription of the high-throughput paper in `tests/fluid/test_transcribed_slots.py`.",
    ),
}


def write(docs: Path) -> None:
    """Write the page."""
    parts = [
        "# Policies and their options\n",
        "Options stand in the table `[simulation]` of an instance file, and may vary in the grid of an experiment. A "
        "table may hold options of several policies: each reads its own, and `simulate` says which ones it does not "
        "read. The docstring of a policy's file says what its paper leaves open and what packproof chooses.\n",
    ]
    for model, (title, about) in MODELS.items():
        rows = []
        for name in HOMES:
            found = policy(name)
            if found.model == model:
                options = ", ".join(map(code, found.options)) or "none"
                rows.append((code(name), plain(found.about), options))
        parts += [f"## {title}\n", about + "\n", table(rows, ("policy", "what it does", "options"))]
    rows = [(code(option.name), plain(option.about), code(option.written)) for option in all_options().values()]
    parts += ["## Options\n", table(rows, ("option", "meaning", "value where the file has none"))]
    save(docs / "reference" / "policies.md", "\n".join(parts))
