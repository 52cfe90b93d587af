"""Every figure. Colours are distinct in print and for the colour-blind; nothing is drawn on a screen."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.errors import InputError
from theory.files.document import write_bytes
from theory.greedy.optimal import Solution
from theory.greedy.workload_scaling import Scaling, scaling
from theory.instance import Configuration, Instance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREEDY, OPTIMAL, MARK = "#D55E00", "#0072B2", "#555555"
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999", "#332288", "#882255")


def figure(width: float = 9.0, height: float = 4.0, columns: int = 1) -> tuple[Figure, Any]:
    """Return a figure without a window, and its axes (one, or an array of them)."""
    from matplotlib.figure import Figure as NewFigure

    made = NewFigure(figsize=(width, height), layout="constrained")
    return made, made.subplots(1, columns)


def save(made: Figure, path: str | Path) -> None:
    """Write a figure whole or not at all; the format follows the name (png, svg, pdf).

    Raises
    ------
    InputError
        If the name ends in no format that can be drawn, or the place cannot be written.
    """
    kind = Path(path).suffix.lower().lstrip(".") or "png"
    if kind not in made.canvas.get_supported_filetypes():
        raise InputError(f"{path}: expected a picture's name ending in .png, .svg or .pdf")
    buffer = io.BytesIO()
    made.savefig(buffer, format=kind, dpi=144)
    write_bytes(path, buffer.getvalue())


def draw_scaling(axes: Axes, curve: Scaling, here: float | None = 1.0) -> None:
    """Draw greedy and optimal reward against the scale of the workload, with the two critical points."""
    scales = np.array([0.0, *map(float, curve.scales), float(curve.saturated) * 1.15])
    for values, colour, label in (
        (curve.optimal, OPTIMAL, "optimal"),
        (curve.greedy, GREEDY, "greedy"),
    ):
        rewards = np.array([0.0, *map(float, values), float(values[-1])])
        axes.plot(scales, rewards, color=colour, label=label, linewidth=2)
    for point, label in ((curve.full, "all served"), (curve.saturated, "best configuration alone")):
        axes.axvline(float(point), color=MARK, linestyle=":", linewidth=1)
        axes.annotate(
            label,
            (float(point), 0.02),
            xycoords=("data", "axes fraction"),
            rotation=90,
            ha="right",
            va="bottom",
            fontsize=8,
            color=MARK,
        )
    scale, ratio = curve.worst
    at = curve.scales.index(scale)
    axes.plot([float(scale)] * 2, [float(curve.greedy[at]), float(curve.optimal[at])], color="black", linewidth=1.5)
    axes.annotate(
        f"worst ratio {float(ratio):.4f}\nat scale {float(scale):.3g}",
        (float(scale), float(curve.greedy[at])),
        textcoords="offset points",
        xytext=(10, -26),
        fontsize=9,
    )
    if here is not None and here != float(scale):
        axes.axvline(here, color="black", linestyle="--", linewidth=0.8, label="this workload")
    axes.set(xlabel="scale of the workload", ylabel="reward per server", ylim=(0, None), xlim=(0, scales[-1]))
    axes.legend(loc="center right", frameon=False)


def draw_ratio(axes: Axes, curve: Scaling) -> None:
    """Draw the ratio of greedy to optimal reward against the scale of the workload."""
    scales = np.linspace(float(curve.full) * 0.8, float(curve.saturated) * 1.1, 600)
    known = [float(s) for s in curve.scales]
    scales = np.unique(np.concatenate([scales, known]))
    greedy = np.interp(scales, known, [float(v) for v in curve.greedy])
    optimal = np.interp(scales, known, [float(v) for v in curve.optimal])
    ratio = np.where((scales < known[0]) | (scales > known[-1]), 1.0, greedy / optimal)
    axes.plot(scales, ratio, color=GREEDY, linewidth=2)
    scale, worst = curve.worst
    axes.plot([float(scale)], [float(worst)], "o", color="black")
    axes.annotate(
        f"{float(worst):.4f}", (float(scale), float(worst)), textcoords="offset points", xytext=(8, -4), fontsize=9
    )
    axes.axhline(1 - 1 / np.e, color=MARK, linestyle=":", linewidth=1)
    axes.annotate(
        "1 - 1/e: guaranteed always", (scales[-1], 1 - 1 / np.e), ha="right", va="bottom", fontsize=8, color=MARK
    )
    axes.set(xlabel="scale of the workload", ylabel="greedy / optimal", ylim=(0.6, 1.01), xlim=(scales[0], scales[-1]))


def draw_assignments(axes: Axes, solution: Solution) -> None:
    """Draw both assignments as bars of servers, each piece a configuration: taller pieces, more servers."""
    instance = solution.instance
    bars = (
        (
            "greedy",
            [
                (k, float(s.fraction * pool.share))
                for s in solution.greedy.stages
                for pool, k in zip(instance.pools, s.configurations, strict=True)
            ],
        ),
        ("optimal", [(c.configuration, float(c.fraction)) for c in solution.optimal.columns]),
    )
    colours: dict[Configuration, str] = {}
    for x, (_, pieces) in enumerate(bars):
        bottom = 0.0
        for k, share in pieces:
            colour = colours.setdefault(k, PALETTE[len(colours) % len(PALETTE)])
            axes.bar(x, share, 0.7, bottom=bottom, color=colour, edgecolor="white")
            if share > 0.045:
                axes.text(x, bottom + share / 2, _short(instance, k), ha="center", va="center", fontsize=7)
            bottom += share
        if bottom < 1:
            axes.bar(x, 1 - bottom, 0.7, bottom=bottom, color="#EEEEEE", edgecolor="white")
    axes.set(xticks=[0, 1], xticklabels=[name for name, _ in bars], ylabel="share of servers", ylim=(0, 1))


def _short(instance: Instance, k: Configuration) -> str:
    parts = [f"{n}×{name}" for name, n in zip(instance.names, k, strict=True) if n]
    return " ".join(parts) if len(" ".join(parts)) < 28 else "\n".join(parts[:4]) + ("\n…" if len(parts) > 4 else "")


def picture_of_solution(solution: Solution, path: str | Path) -> None:
    """Draw a solution: both assignments, and both rewards along the scale of the workload."""
    made, (left, right) = figure(11, 4.6, 2)
    draw_assignments(left, solution)
    left.set_title(f"greedy keeps {float(solution.ratio):.4f} of the optimum")
    if any(solution.instance.workload):
        draw_scaling(right, scaling(solution.instance))
        right.set_title("the same mix, scaled")
    save(made, path)


def picture_of_scaling(instance: Instance, path: str | Path, title: str) -> None:
    """Draw rewards and their ratio along the scale of an instance's workload."""
    made, (left, right) = figure(11, 4.2, 2)
    curve = scaling(instance)
    draw_scaling(left, curve, here=None)
    draw_ratio(right, curve)
    made.suptitle(title)
    save(made, path)
