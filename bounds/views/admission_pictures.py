"""Pictures of cluster admission: beliefs as they sharpen, and the law of a deployment over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bounds.views.drawing import picture_of_panels
from bounds.views.panels import Bars
from bounds.views.pictures import DASHES, MARK, MARKERS, PAGE, PALETTE, figure, finish, legend_above, save, styled
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


def _density_of_logarithm(x: Any, shape: float, rate: Any) -> Any:
    """Return the density of log X at log x, (rate x)^shape exp(-rate x) / Gamma(shape), of a Gamma law of X."""
    from scipy.special import gammaln

    return np.exp(shape * np.log(rate * x) - rate * x - gammaln(shape))


@styled
def picture_of_beliefs(priors: Priors, stages: Sequence[tuple[str, Observed | None]], target: str | Path) -> None:
    """Draw densities of log mu and of log lambda given data: exact ones as lines, the paper's plug-in dashed."""
    picture, (left, right) = figure(PAGE, 2.9, 2)
    means = []
    for i, (name, seen) in enumerate(stages):
        observed, colour = seen or Observed(), PALETTE[i % len(PALETTE)]
        exact, plug_in = exact_belief(priors, observed), plug_in_belief(priors, observed)
        means.append(exact.mean_mu)
        step = float(np.log(exact.mu[1]) - np.log(exact.mu[0]))  # the nodes are equally spaced in log mu
        left.plot(exact.mu, exact.weight / step, color=colour, lw=1.4, label=name)
        other = _density_of_logarithm(exact.mu, plug_in.mu.shape, plug_in.mu.rate)
        left.plot(exact.mu, other / other.sum() / step, color=colour, lw=1.2, ls="--")
        rates = np.geomspace(exact.mean_lambda / 300, exact.mean_lambda * 12, 400)
        # lambda given mu has a Gamma law, which the belief about mu mixes
        given_mu = _density_of_logarithm(rates, exact.lam_shape, exact.lam_rate[:, None])
        right.plot(rates, exact.weight @ given_mu, color=colour, lw=1.4, label=name)
        other = _density_of_logarithm(rates, plug_in.lam.shape, plug_in.lam.rate)
        right.plot(rates, other, color=colour, lw=1.2, ls="--")
    labels = ("μ, rate at which a core ends (per hour)", "λ, rate of scale-outs (per μ^κ)")
    for axes, label in zip((left, right), labels, strict=True):
        axes.set(xscale="log", xlabel=label, ylabel="density of the logarithm (per unit)", ylim=(0, None))
    finish(left, title="exact; plug-in dashed")
    left.set_xlim(min(means) / 100, max(means) * 20)
    save(picture, target)


@styled
def picture_of_law(
    priors: Priors, parameters: tuple[float, float, float], size: int, times: Sequence[float], target: str | Path
) -> None:
    """Draw quantiles of the size over time for given parameters, and its moments under the priors."""
    picture, (left, right) = figure(PAGE, 2.9, 2)
    laws = [parameters_law(priors, *parameters, size, t) for t in times]
    for low, high, alpha in ((0.01, 0.99, 0.15), (0.1, 0.9, 0.25), (0.25, 0.75, 0.4)):
        ends = [[law.quantile(q) for law in laws] for q in (low, high)]
        left.fill_between(times, *ends, color=PALETTE[0], alpha=alpha, lw=0, label=f"{100 * low:g} to {100 * high:g} %")
    left.plot(times, [law.quantile(0.5) for law in laws], color=PALETTE[0], lw=1.4, label="median")
    left.plot(times, [law.mean for law in laws], color="black", lw=1.2, ls="--", label="mean")
    title = "mu = {:g}, lambda = {:g}, sigma = {:g}".format(*parameters)
    finish(left, xlabel="time ahead (hours)", ylabel="size of the deployment (cores)", ylim=(0, None), title=title)
    some = times[::4]  # each takes a second or two
    exact = [exact_moments(priors, size, t) for t in some]
    right.plot(some, [one.alive for one in exact], "o-", color=PALETTE[2], lw=1.4, label="Pr[Q > 0]")
    right.set(xlabel="time ahead (hours)", ylabel="probability of being alive (share)", ylim=(0, 1.04))
    other = right.twinx()
    other.plot(some, [one.mean for one in exact], "o-", color=PALETTE[0], lw=1.4, label="mean of Q")
    other.plot(some, [one.variance**0.5 for one in exact], "o:", color=PALETTE[0], lw=1.2, label="deviation of Q")
    other.set(ylabel="size of the deployment (cores)", ylim=(0, None))
    other.spines["right"].set_visible(True)
    right.set_title("under the priors")
    legend_above(right, [other])
    save(picture, target)


@styled
def picture_of_tuning(found: Tuned, sla: float, target: str | Path) -> None:
    """Draw the share of refused scale-outs at the thresholds that were tried, with intervals, and the SLA."""
    picture, axes = figure(5.6, 3.1)
    tried = sorted(found.tried, key=lambda one: one[0])
    at = [threshold for threshold, _ in tried]
    share = np.array([interval.mean for _, interval in tried])
    ends = np.clip([[i.mean - max(0.0, i.low), i.high - i.mean] for _, i in tried], 0.0, None).T
    look: dict[str, Any] = {"color": PALETTE[0], "ms": 4, "lw": 1, "capsize": 3}
    axes.errorbar(at, share, ends, fmt="o", label="tried, with 95 % intervals", **look)
    fitted = [share for _, share in sorted(zip([x for x, _ in found.tried], found.fitted, strict=True))]
    axes.plot(at, fitted, color=PALETTE[0], lw=1.2, label="fit")
    axes.axhline(sla, color="black", lw=1, ls="--", label=f"SLA {sla:g}")
    estimated = found.policy.threshold
    axes.axvline(estimated, color=MARK, lw=1, ls=":", label=f"estimated threshold {estimated:.6g}")
    if found.safe is not None:
        safe = found.safe.threshold
        axes.axvline(safe, color=MARK, lw=1, ls="-.", label=f"safe threshold {safe:.6g}")
    unit = "1" if found.policy.name == "second" else "cores"
    axes.set(xlabel=f"threshold of the {found.policy.name}-moment policy ({unit})", ylabel="scale-outs refused (share)")
    drawn = np.concatenate([share - ends[0], share, share + ends[1], [sla]])
    least, most = drawn[drawn > 0].min() / 1.5, min(1.0, 1.5 * drawn.max())
    if (drawn <= 0).any():  # what is never refused stands on the axis, below all that is
        axes.set_yscale("symlog", linthresh=least)
        axes.set_ylim(-least / 4, most)
    else:
        axes.set(yscale="log", ylim=(least, most))
    if found.policy.name == "second":
        axes.set_xscale("log")
    legend_above(axes)
    save(picture, target)


def picture_of_comparison(rows: Sequence[Compared], bound: Interval, sla: float, target: str | Path) -> None:
    """Draw the utilisation of policies at equal SLA with 95 % intervals, and the most that any policy can use."""
    names = [
        f"{row.frontier.policy.name} moment, {many(row.observations, 'observation')}"
        + ("" if row.reached else " (SLA not reached)")
        for row in rows
    ]
    used = [("utilisation", [row.utilisation.mean for row in rows])]
    ends = [(row.utilisation.low, row.utilisation.high) for row in rows]
    label = f"utilisation (share of cores); no policy uses more than {bound.mean:.4f} (pathwise)"
    panel = Bars(label, names, used, f"SLA {sla:g}", whiskers=ends)
    picture_of_panels([panel], target, "Admission policies at equal SLA", columns=1, height=0.9 + 0.3 * len(rows))


@styled
def picture_of_frontier(
    curves: Mapping[str, Sequence[AdmissionResult]], bound: Interval | None, target: str | Path
) -> None:
    """Draw utilisation against the share of refused scale-outs, a curve a policy, with 95 % bands over runs."""
    picture, axes = figure(4.6, 3.1)
    for i, (name, results) in enumerate(curves.items()):
        shown = sorted((one for one in results if one.sla.mean > 0), key=lambda one: one.sla.mean)
        sla = [one.sla.mean for one in shown]
        low, high = ([getattr(one.utilisation, end) for one in shown] for end in ("low", "high"))
        axes.fill_between(sla, low, high, color=PALETTE[i % len(PALETTE)], alpha=0.2, lw=0)
        middle = [one.utilisation.mean for one in shown]
        look = {"marker": MARKERS[i % len(MARKERS)], "ls": DASHES[i % len(DASHES)]}
        axes.plot(sla, middle, color=PALETTE[i % len(PALETTE)], lw=1.2, label=name, **look)
    if bound is not None:
        axes.axhspan(bound.low, bound.high, color=MARK, alpha=0.15, lw=0)
        axes.axhline(bound.mean, color=MARK, lw=1, ls="--", label="no policy can use more (pathwise)")
    finish(axes, xscale="log", xlabel="scale-outs refused (share)", ylabel="utilisation (share of cores)")
    save(picture, target)


@styled
def picture_of_fit(compared: Sequence[QuantityFit], target: str | Path) -> None:
    """Draw for each quantity of a log the share of values that are at least so large, beside simulated logs."""
    picture, axes = figure(PAGE, 4.6, 3, 2)
    for one, place in zip(compared, axes.flat, strict=True):
        looks = {"color": PALETTE[0], "lw": 1.4}, {"color": "black", "lw": 1.0, "ls": "--"}
        names = "log", "simulated from the fitted laws"
        for values, name, look in zip((one.log, one.simulated), names, looks, strict=True):
            x, first = np.unique(values, return_index=True)
            place.step(x, 1 - first / max(len(values), 1), where="pre", label=name, **look)
        place.set(xlabel=QUANTITIES[one.name], ylabel="at least so large (share)", yscale="log")
        most = 2 * max(one.log[-1], 1e-9) if len(one.log) else 1.0
        least = one.log[one.log > 0][0] / 2 if (one.log > 0).any() else most / 100
        place.set_xscale("symlog" if one.name == "scale_outs" else "log")
        place.set(xlim=(0 if one.name == "scale_outs" else least, most), ylim=(0.3 / max(len(one.log), 1), 1.4))
        place.set_title(f"p = {one.p_value:.3f}")
    picture.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    save(picture, target)
