"""Fluid paths as JSON, as text and as a table of comma-separated values."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.limits.reservation import FluidPath
from theory.instance import Configuration

NEAR = (0.1, 0.01, 0.001)
"""Shares of the equilibrium reward within which the path is said to be."""


MOMENT = 1e-9
"""What lasts less is not told in lines."""


def sample_times(path: FluidPath, points: int) -> NDArray[np.float64]:
    """Return equally spaced times, and every switch."""
    return np.unique(np.concatenate([np.linspace(0.0, path.until, points), path.switches]))


def _named(path: FluidPath, configuration: Configuration) -> dict[str, int]:
    return dict(zip(path.model.instance.names, configuration, strict=True))


def _shown(path: FluidPath, configuration: Configuration) -> str:
    parts = [f"{n} {name}" for name, n in _named(path, configuration).items() if n]
    return " + ".join(parts) or "idle"


def _drivers(path: FluidPath) -> list[dict[str, Any]]:
    """Return what happens between switches: the mode, and which type drives each configuration that is followed."""
    names = path.model.instance.names
    return [
        {
            "from": segment.start,
            "until": segment.stop,
            "mode": segment.mode.kind,
            "follows": [
                {
                    "configuration": _named(path, stage.configuration),
                    "driver": names[stage.driver] if stage.driver >= 0 else None,
                }
                for stage in segment.mode.followed
                if stage.moves
            ],
            "drains": [_named(path, k) for k in segment.mode.asked],
            "blocked": [name for name, blocked in zip(names, segment.mode.blocked, strict=True) if blocked],
        }
        for segment in path.segments
    ]


def path_json(path: FluidPath, points: int) -> dict[str, Any]:
    """Return the answer of ``fluid`` as DESIGN's JSON."""
    times = sample_times(path, points)
    names = path.model.instance.names
    jobs, admitted, masses = path.jobs(times), path.admitted(times), path.masses(times)
    return {
        "time": times.tolist(),
        "jobs": {name: jobs[:, j].tolist() for j, name in enumerate(names)},
        "reward": path.rewards(times).tolist(),
        "admitted": {name: admitted[:, j].tolist() for j, name in enumerate(names)},
        "assignment": [
            {"configuration": _named(path, k), "fraction": [max(0.0, float(x)) for x in values]}
            for k, values in masses.items()
        ],
        "equilibrium_reward": float(path.goal.reward),
        "equilibrium": [
            {"configuration": _named(path, stage.configurations[0]), "fraction": float(stage.fraction)}
            for stage in path.goal.stages
        ],
        "modes": _drivers(path),
        "draining_limits": path.draining_limits,
        "gross_margin": float(path.gross_margin(times).min()),
        "exact": path.exact,
        "time_within": {f"{share:g}": path.time_within(share) for share in NEAR},
    }


def path_lines(path: FluidPath) -> list[str]:
    """Return the answer of ``fluid`` as text."""
    names, final = path.model.instance.names, path.state(path.until)
    goal = float(path.goal.reward)
    reward = float(path.rewards([path.until])[0])
    lines = [f"reward at time {path.until:g}   {reward:.6g} per server; greedy assignment {goal:.6g}"]
    for share in NEAR:
        time = path.time_within(share)
        lines.append(f"within {100 * share:g} % of it   {'not yet' if time is None else f'from time {time:.4g}'}")
    mean = "not surely the exact limit: part of who drains, or of what drains, is a mean"
    lines.append("exact limit" if path.exact else mean)
    lines += ["", "modes"]
    for segment in path.segments:
        if segment.stop - segment.start < MOMENT and segment is not path.segments[-1]:
            continue
        mode = segment.mode
        followed = [
            f"{_shown(path, s.configuration)} with {names[s.driver]}"
            for s in mode.followed
            if s.moves and s.driver >= 0
        ]
        drains = [_shown(path, k) for k in mode.asked]
        blocked = [name for name, b in zip(names, mode.blocked, strict=True) if b]
        parts = [
            f"follows {', '.join(followed)}" if followed else "",
            f"drains {', '.join(drains)}" if drains else "",
            f"rest to {_shown(path, mode.rest)}" if any(mode.rest) else "",
            f"blocked {', '.join(blocked)}" if blocked else "",
        ]
        lines.append(f"  {segment.start:9.4f}  {mode.kind:8s}  " + "; ".join(part for part in parts if part))
    lines += ["", f"at time {path.until:g}"]
    lines += [
        f"  {100 * mass:8.4f}%  {_shown(path, k)}" for k, mass in sorted(final[1].items(), reverse=True) if mass > 1e-6
    ]
    lines += [f"  {y:10.6f}  jobs of {name} per server" for name, y in zip(names, final[0].tolist(), strict=True)]
    return lines


def path_csv(path: FluidPath, points: int) -> str:
    """Return times, jobs, admitted rates, reward and fractions of configurations, one row a time."""
    times, names = sample_times(path, points), path.model.instance.names
    masses = path.masses(times)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(
        ["time", *(f"jobs {name}" for name in names), *(f"admitted {name}" for name in names), "reward"]
        + [_shown(path, k) for k in masses]
    )
    table = np.column_stack([times, path.jobs(times), path.admitted(times), path.rewards(times), *masses.values()])
    writer.writerows(table.tolist())
    return buffer.getvalue()
