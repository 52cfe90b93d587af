"""Pictures of cluster admission: beliefs as they sharpen, and the law of a deployment over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bounds.views.drawing import picture_of_panels
from bounds.views.panels import Bars, Chart, Curve, Line
from fluid.admission.law.absorption import exact_moments
from fluid.admission.law.belief import Observed, exact_belief, plug_in_belief
from fluid.admission.law.cluster import Priors
from fluid.admission.law.size_law import parameters_law
from fluid.admission.simulation.simulate import AdmissionResult
from fluid.admission.study.frontier import Compared
from fluid.admission.study.goodness import QUANTITIES, QuantityFit
from fluid.admission.study.tuning import Tuned
from fluid.statistics import Interval
from theory.numbers import many

Array: TypeAlias = NDArray[np.float64]


def _density_of_logarithm(x: Array, shape: float, rate: float | Array) -> Array:
    """Return the density of log X at log x, (rate x)^shape exp(-rate x) / Gamma(shape), of a Gamma law of X."""
    from scipy.special import gammaln

    return np.asarray(np.exp(shape * np.log(rate * x) - rate * x - gammaln(shape)))


def picture_of_beliefs(priors: Priors, stages: Sequence[tuple[str, Observed | None]], target: str | Path) -> None:
    """Draw densities of log mu and of log lambda given data: exact ones as lines, the paper's plug-in dashed."""
    beliefs = [
        (name, exact_belief(priors, seen), plug_in_belief(priors, seen))
        for name, seen in ((name, seen or Observed()) for name, seen in stages)
    ]
    rates, scale_outs = [], []
    for name, exact, plug_in in beliefs:
        # the nodes are equally spaced in log mu
        step = float(np.log(exact.mu[1]) - np.log(exact.mu[0]))
        other = _density_of_logarithm(exact.mu, plug_in.mu.shape, plug_in.mu.rate)
        rates.append((name, exact.mu, exact.weight / step, other / other.sum() / step))
        lam = np.geomspace(exact.mean_lambda / 300, exact.mean_lambda * 12, 400)
        # lambda given mu has a Gamma law, which the belief about mu mixes
        given_mu = _density_of_logarithm(lam, exact.lam_shape, exact.lam_rate[:, None])
        other = _density_of_logarithm(lam, plug_in.lam.shape, plug_in.lam.rate)
        scale_outs.append((name, lam, exact.weight @ given_mu, other))
    labels = ("μ, rate at which a core ends (per hour)", "λ, rate of scale-outs (per μ to the κ)")
    height = "density of the logarithm (per unit)"
    charts = [
        Chart(label, height, _densities(rows), xscale="log", ylim=(0.0, None))
        for label, rows in zip(labels, (rates, scale_outs), strict=True)
    ]
    means = [exact.mean_mu for _, exact, _ in beliefs]
    charts[0] = replace(charts[0], xlim=(min(means) / 100, max(means) * 20))
    picture_of_panels(charts, target, "")


def _densities(rows: Sequence[tuple[str, Array, Array, Array]]) -> list[Curve]:
    """Return exact densities as curves, and those of the plug-in as one dashed curve of several parts."""
    exact = [Curve(name, x.tolist(), density.tolist(), look="plain") for name, x, density, _ in rows]
    plug_in = [
        Curve("plug-in", x.tolist(), other.tolist(), look="reference", continues=place > 0)
        for place, (_, x, _, other) in enumerate(rows)
    ]
    return [*exact, *plug_in]


def picture_of_law(
    priors: Priors, parameters: tuple[float, float, float], size: int, times: Sequence[float], target: str | Path
) -> None:
    """Draw quantiles of the size over time for given parameters, and its moments under the priors."""
    laws = [parameters_law(priors, *parameters, size, t) for t in times]
    median = [law.quantile(0.5) for law in laws]
    bands = []
    for low, high in ((0.01, 0.99), (0.1, 0.9), (0.25, 0.75)):
        lower, upper = ([law.quantile(q) for law in laws] for q in (low, high))
        bands.append(Curve(f"{100 * low:g} to {100 * high:g} %", times, median, lower, upper, look="band"))
    middles = [
        Curve("median", times, median, look="plain"),
        Curve("mean", times, [law.mean for law in laws], look="plain"),
    ]
    title = "μ {:g}, λ {:g}, σ {:g}".format(*parameters)
    some = times[::4]  # each takes a second or two
    exact = [exact_moments(priors, size, t) for t in some]
    alive = Curve("Pr[Q > 0]", some, [one.alive for one in exact])
    moments = [
        Curve("mean of Q", some, [one.mean for one in exact]),
        Curve("deviation of Q", some, [one.variance**0.5 for one in exact]),
    ]
    time, cores, above = "time ahead (hours)", "size of the deployment (cores)", (0.0, None)
    charts = [
        Chart(time, cores, [*bands, *middles], title=title, ylim=above),
        Chart(time, "probability of being alive (share)", [alive], title="under the priors", ylim=(0.0, 1.04)),
        Chart(time, cores, moments, title="under the priors", ylim=above),
    ]
    picture_of_panels(charts, target, "", columns=3)


def picture_of_tuning(tuned: Tuned, sla: float, target: str | Path) -> None:
    """Draw the share of refused scale-outs at the thresholds that were tried, with intervals, and the SLA."""
    picture_of_panels([panel_of_tuning(tuned, sla)], target, "", height=2.8, alone=5.6)


def panel_of_tuning(tuned: Tuned, sla: float) -> Chart:
    """Return the share of refused scale-outs by threshold as a panel."""
    rows = sorted(zip(tuned.tried, tuned.fitted, strict=True), key=lambda row: row[0][0])
    thresholds = [threshold for (threshold, _), _ in rows]
    shares = [interval.mean for (_, interval), _ in rows]
    low = [min(max(0.0, interval.low), interval.mean) for (_, interval), _ in rows]
    high = [max(interval.high, interval.mean) for (_, interval), _ in rows]
    curves = [
        Curve("tried, with 95 % intervals", thresholds, shares, low, high, look="marks"),
        Curve("fit", thresholds, [fitted for _, fitted in rows], look="plain"),
    ]
    estimated = tuned.policy.threshold
    safe = None if tuned.safe is None else tuned.safe.threshold
    name = "estimated, and safe," if safe == estimated else "estimated"
    lines = [Line(f"SLA {sla:g}", sla), Line(f"{name} threshold {estimated:.4g}", estimated, upright=True)]
    if safe is not None and safe != estimated:
        lines.append(Line(f"safe threshold {safe:.4g}", safe, upright=True))
    second = tuned.policy.name == "second"
    drawn = [*low, *shares, *high, sla]
    least, most = min(y for y in drawn if y > 0) / 1.5, min(1.0, 1.5 * max(drawn))
    # what is never refused stands on the axis, below all that is
    zeros = min(drawn) <= 0
    return Chart(
        f"threshold of the {tuned.policy.name}-moment policy ({'probability' if second else 'cores'})",
        "scale-outs refused (share)",
        curves,
        lines,
        xscale="log" if second else "linear",
        yscale="symlog" if zeros else "log",
        ylim=(-least / 4 if zeros else least, most),
        linear_below=least,
    )


def picture_of_comparison(rows: Sequence[Compared], bound: Interval, sla: float, target: str | Path) -> None:
    """Draw the utilisation of policies at equal SLA with 95 % intervals, and the most that any policy can use."""
    names = [
        f"{row.frontier.policy.name} moment, {many(row.observations, 'observation')}"
        + ("" if row.reached else " (SLA not reached)")
        for row in rows
    ]
    used = [("utilisation", [row.utilisation.mean for row in rows])]
    ends = [(row.utilisation.low, row.utilisation.high) for row in rows]
    title = f"Admission policies at SLA {sla:g}; no policy uses more than {bound.mean:.3g} of the cores (pathwise)"
    panel = Bars("utilisation (share of cores)", names, used, whiskers=ends)
    picture_of_panels([panel], target, title, columns=1, height=0.9 + 0.3 * len(rows))


def picture_of_frontier(
    results: Mapping[str, Sequence[AdmissionResult]], bound: Interval | None, target: str | Path
) -> None:
    """Draw utilisation against the share of refused scale-outs, a curve a policy, with 95 % bands over runs."""
    curves = []
    for name, every in results.items():
        shown = sorted((one for one in every if one.sla.mean > 0), key=lambda one: one.sla.mean)
        used = [one.utilisation for one in shown]
        low, high = [one.low for one in used], [one.high for one in used]
        curves.append(Curve(name, [one.sla.mean for one in shown], [one.mean for one in used], low, high))
    refused = [x for curve in curves for x in curve.x]
    if bound is not None:
        mean, low, high = ([y, y] for y in (bound.mean, bound.low, bound.high))
        ends = [min(refused), max(refused)]
        curves.append(Curve("no policy can use more (pathwise)", ends, mean, low, high, look="reference"))
    chart = Chart("scale-outs refused (share)", "utilisation (share of cores)", curves, xscale="log")
    picture_of_panels([chart], target, "", height=2.8, alone=4.6)


def picture_of_fit(compared: Sequence[QuantityFit], target: str | Path) -> None:
    """Draw for each quantity of a log the share of values that are larger, beside simulated logs."""
    title = "Values of a log beside simulated ones, and p-values of the fitted laws"
    picture_of_panels([panel_of_fit(one) for one in compared], target, title, columns=3, height=2.15)


def panel_of_fit(compared: QuantityFit) -> Chart:
    """Return the share of values of a quantity that are larger than a number, in a log and in simulated ones."""
    names = "log", "simulated from the fitted laws"
    counted, log = compared.name == "scale_outs", compared.log
    most = 2 * max(log[-1], 1e-9) if len(log) else 1.0
    least = 0.0 if counted else log[log > 0][0] / 2 if (log > 0).any() else most / 100
    samples = [pair for pair in zip(names, (log, compared.simulated), strict=True) if len(pair[1])]
    return Chart(
        QUANTITIES[compared.name],
        "larger (share)",
        [_larger(name, values, least) for name, values in samples],
        title=f"p = {compared.p_value:.3f}",
        xscale="symlog" if counted else "log",
        yscale="log",
        xlim=(least, most),
        ylim=(0.3 / max(len(log), 1), 1.4),
    )


def _larger(name: str, values: Array, least: float) -> Curve:
    """Return the share of sorted values that are larger than a number, from `least` to the largest value, as steps."""
    x, first = np.unique(values, return_index=True)
    # below the i-th distinct value, from the one before it on, all but first_i values are larger
    shares = 1 - first / len(values)
    return Curve(name, [min(least, x[0]), *x.tolist()], [*shares.tolist(), float(shares[-1])], look="steps")
