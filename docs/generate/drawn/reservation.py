"""Reservation over time: Erlang's formula, the fluid path, its Lyapunov function, and tails of the Poisson law."""

from __future__ import annotations

from math import exp, log

import numpy as np

import packproof
from bounds.results.autoscaling.model import SMALL, erlang_reward
from bounds.results.autoscaling.subintervals import psi
from bounds.results.instances import dynamic_instance, four_types
from bounds.views.panels import Chart, Curve, Line
from fluid.limits import state_of
from generate.drawn import Drawing, draws
from packproof import policy, stationary_law


@draws("autoscaling/static-limit")
def erlang() -> Drawing:
    """Draw the gap of static reservation to the optimum, and a line that falls like L^-1/2."""
    systems = {
        "four VM types": four_types(),
        "demands 5, 7 on 12": packproof.additive([12], [[5], [7]], [1, 1], [1, 1]),
    }
    sizes, curves = [10**2 * 4**n for n in range(7)], []
    for name, instance in systems.items():
        best = float(packproof.solve(instance).optimal.reward)
        gaps = [1 - erlang_reward(instance, servers) / best for servers in sizes]
        curves.append(Curve(name, sizes, gaps))
    slope = Curve("falls like L^-1/2", sizes, [0.5 * (n / sizes[0]) ** -0.5 for n in sizes], look="plain")
    chart = Chart("servers L (number)", "1 - reward / optimum (1)", [*curves, slope], xscale="log", yscale="log")
    return Drawing("Static reservation: what it lacks of the optimum, by Erlang's formula", [chart])


@draws("autoscaling/poisson-domination")
def tails_of_jobs() -> Drawing:
    """Draw exact tails of the jobs in service on two servers beside those of the Poisson law."""
    from scipy.stats import poisson

    instance, servers = SMALL["sizes 5 and 7"], 2
    laws = {name: stationary_law(policy(name), instance, servers) for name in ("first-fit", "best-fit", "power-of-d")}
    levels, panels = range(1, 5), []
    for j, demand in enumerate((5, 7)):
        mean = servers * float(instance.workload[j])
        curves = [Curve("Poisson", levels, [float(poisson.sf(n - 1, mean)) for n in levels])]
        for rule, law in laws.items():
            tail = [sum(p for y, p in law.totals().items() if y[j] >= n) for n in levels]
            curves.append(Curve(rule, levels, tail))
        ticks = [(n, str(n)) for n in levels]
        panels.append(
            Chart("jobs in service n (number)", "Pr[at least n] (1)", curves, title=f"jobs of {demand}", xticks=ticks)
        )
    return Drawing("Jobs in service on two servers of 12, demands 5 and 7: exact laws and the Poisson law", panels, 2)


@draws("autoscaling/section-7-path")
def path() -> Drawing:
    """Draw jobs of each type, and the reward, along the fluid path from the empty system."""
    instance = four_types()
    found = packproof.fluid_path(packproof.Reservation(instance), 12.0)
    times = np.linspace(0.0, 12.0, 241)
    jobs, reward = found.jobs(times), found.rewards(times)
    curves = [Curve(name, times, jobs[:, j], look="plain") for j, name in enumerate(instance.names)]
    time = "time (mean service times)"
    greedy = Line("greedy reward", float(packproof.solve(instance).greedy.reward))
    return Drawing(
        "Fluid path of dynamic reservation, four VM types at their worst workload, from the empty system",
        [
            Chart(time, "jobs (per server)", curves),
            Chart(time, "reward (per server)", [Curve("fluid path", times, reward, look="plain")], [greedy]),
        ],
        columns=2,
    )


@draws("autoscaling/prop-6.3")
def lyapunov() -> Drawing:
    """Draw the Lyapunov function along paths from empty and from servers full in one configuration."""
    instance = dynamic_instance(0)
    model, function = packproof.Reservation(instance), packproof.lyapunov(instance)
    until, top = 5.0 / float(model.service.min()), float(max(function.weights))
    goal = {stage.configurations[0]: float(stage.fraction) for stage in model.equilibrium.stages}
    most = sum(float(z) * goal.get(k, 0.0) for k, z in zip(function.configurations, function.weights, strict=True))
    times, curves = np.linspace(0.0, until, 100), []
    for name, start in {"from empty": None, **starts(instance, model)}.items():
        along = packproof.fluid_path(model, until, start)
        values = [function.value(model, *along.state(float(t))) / top for t in times]
        curves.append(Curve(name, times, values, look="plain"))
    chart = Chart(
        "time (units of the instance)", "V / Z_1 (1)", curves, [Line("greatest value, of greedy", most / top)]
    )
    return Drawing("The Lyapunov function rises along fluid paths to its greatest value", [chart])


def starts(instance: packproof.Instance, model: packproof.Reservation) -> dict[str, object]:
    """Return states in which all servers have one maximal configuration, and no type more jobs than its workload."""
    rows = packproof.maximal(instance.pools[0].space)[:3]
    return {
        f"from all at ({', '.join(map(str, k))})": state_of(
            model, {tuple(k.tolist()): 1.0}, np.minimum(model.workload, k).tolist()
        )
        for k in rows
    }


@draws("autoscaling/lemma-5.9")
def enters() -> Drawing:
    """Draw the jobs above the workload along a path that begins with too many, and the time of the lemma."""
    instance = dynamic_instance(0)
    model = packproof.Reservation(instance.with_workload([rho / 8 for rho in instance.workload]))
    rows = packproof.maximal(instance.pools[0].space).tolist()
    eps, most = 1e-3, max(max(row) for row in rows)
    time = log(most / eps) / float(model.service.min())
    times = np.linspace(0.0, 1.15 * time, 100)
    jobs = packproof.fluid_path(model, 1.15 * time, state_of(model, {tuple(rows[0]): 1.0})).jobs(times)
    above = np.clip(jobs - model.workload, 1e-9, None).max(axis=1)
    lines = [Line(f"eps = {eps:g}", eps), Line("time of the lemma", time, upright=True)]
    curve, time_axis = Curve("fluid path", times, above, look="plain"), "time (units of the instance)"
    chart = Chart(time_axis, "greatest y_j - rho_j (jobs per server)", [curve], lines, yscale="log", ylim=(1e-5, None))
    return Drawing("Jobs above the workload leave: a random instance at an eighth of its workload", [chart])


@draws("autoscaling/lemma-f.1")
def tails() -> Drawing:
    """Draw exact tails of Poisson laws beside their bounds."""
    from scipy.stats import poisson

    means, panels = np.geomspace(1, 3000, 60), []
    for side, sign in (("above", 1), ("below", -1)):
        curves = []
        for e in (0.1, 0.3):
            edge = (1 + sign * e) * means
            tail = poisson.sf(np.ceil(edge) - 1, means) if sign > 0 else poisson.cdf(np.floor(edge), means)
            bound = [exp(-mean * e**2 * psi(sign * e) / 2) for mean in means]
            curves += [
                Curve(f"bound, e = {e:g}", means, bound, look="plain"),
                Curve(f"tail, e = {e:g}", means, tail, look="plain"),
            ]
        factor = "1 + e" if sign > 0 else "1 - e"
        panels.append(
            Chart(
                "mean m (number)",
                "probability (1)",
                curves,
                title=f"{side} ({factor}) m",
                xscale="log",
                yscale="log",
                ylim=(1e-12, 3),
                xticks=[(10**n, f"{10**n:,}") for n in range(4)],
            )
        )
    return Drawing("Tails of the Poisson law and their bounds", panels, columns=2)
