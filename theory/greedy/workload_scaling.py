"""Greedy and optimal reward as the whole workload is scaled: piecewise linear, breakpoints exact."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from theory.greedy.assignment import MaxRewards, global_greedy
from theory.greedy.optimal import AssignmentProgram
from theory.instance import Instance
from theory.numbers import total
from theory.shown import Shown


@dataclass(frozen=True, repr=False)
class Scaling(Shown):
    """Rewards along the ray ``scale * workload``.

    Attributes
    ----------
    full : Fraction
        First critical point: up to it everything is served, so greedy is optimal; 1 / sum(z).
    saturated : Fraction
        Second critical point: from it on greedy uses the best configuration alone, so greedy is optimal; 1 / z_1.
    scales : tuple of Fraction
        All breakpoints of either curve from `full` to `saturated`, increasing.
    greedy, optimal : tuple of Fraction
        Rewards at the breakpoints; linear in between.
    """

    full: Fraction
    saturated: Fraction
    scales: tuple[Fraction, ...]
    greedy: tuple[Fraction, ...]
    optimal: tuple[Fraction, ...]

    @property
    def worst(self) -> tuple[Fraction, Fraction]:
        """Return (scale, ratio) where the ratio is least: between breakpoints it is monotone."""
        ratios = [(g / o, s) for s, g, o in zip(self.scales, self.greedy, self.optimal, strict=True)]
        ratio, scale = min(ratios)
        return scale, ratio


def scaling(instance: Instance) -> Scaling:
    """Compute greedy and optimal reward along the scale of an instance's workload, exactly.

    Parameters
    ----------
    instance : Instance
        Some workload is positive; types without workload do not matter.

    Raises
    ------
    ValueError
        If no type has workload.

    Notes
    -----
    Greedy: breakpoints 1 / (z_1 + ... + z_i), z of Proposition 3.1 (it scales with the workload). Optimum: concave,
    each dual solution is a line above it, and lines are intersected until no new one appears: two exact programs a
    piece.
    Source: auto-scaling paper, Section 7.1 (Figure 2).

    Examples
    --------
    >>> from theory.instance import additive
    >>> curve = scaling(additive([12], [[5], [7]]))
    >>> curve.full, curve.saturated, curve.worst
    (Fraction(2, 3), Fraction(2, 1), (Fraction(1, 1), Fraction(3, 4)))
    """
    Instance.expected(instance)
    if not any(instance.workload):
        raise ValueError("expected some workload")
    # greedy turns where a stage ends with the servers: at the scale 1 / (z_1 + ... + z_i)
    rewards = MaxRewards(instance)
    lengths = [z for z in global_greedy(instance, rewards).lengths if z]
    breaks = [1 / total(lengths[: i + 1]) for i in range(len(lengths))]
    full, saturated = breaks[-1], breaks[0]
    program = AssignmentProgram(instance)

    def line(scale: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        best = program.solve([scale * rho for rho in instance.workload])
        slope = total(a * rho for a, rho in zip(best.job_prices, instance.workload, strict=True))
        return best.reward, slope, best.reward - slope * scale

    pending = [(full, saturated)]
    values: dict[Fraction, Fraction] = {}
    while pending:
        low, high = pending.pop()
        (a, slope_a, base_a), (b, slope_b, base_b) = line(low), line(high)
        values[low], values[high] = a, b
        if slope_a == slope_b or low == high:
            continue
        # the optimum is concave: where it lies on the lines of both ends at their crossing, it turns there alone
        cross = (base_b - base_a) / (slope_a - slope_b)
        if low < cross < high:
            if slope_a * cross + base_a == line(cross)[0]:
                values[cross] = slope_a * cross + base_a
            else:
                pending += [(low, cross), (cross, high)]
    scales = sorted({*values, *breaks})
    greedy = [global_greedy(instance.with_workload([s * rho for rho in instance.workload]), rewards) for s in scales]
    optimal = [values[s] if s in values else line(s)[0] for s in scales]
    return Scaling(full, saturated, tuple(scales), tuple(g.reward for g in greedy), tuple(optimal))
