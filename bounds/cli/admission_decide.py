"""``packproof admission decide``: what policies compare with their thresholds for a deployment that arrives."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bounds.cli.admission import (
    YEAR,
    AdmissionFile,
    MomentsOption,
    WarmupOption,
    YearOption,
    cores_of,
    group,
    progress_and_store,
    times_of,
)
from bounds.cli.app import show
from bounds.cli.modes import Mode, command_of
from bounds.cli.options import EngineOption, JsonFlag, StoreFile
from fluid.admission.choices import Moments, PolicyName
from theory.errors import InputError
from theory.numbers import many

if TYPE_CHECKING:
    from fluid.admission.law.belief import Tenant
    from fluid.admission.law.cluster import AdmissionCluster
    from fluid.admission.simulation.simulate import AdmissionPolicy

Arriving = Annotated[
    int, typer.Option("--arriving", metavar="C", help="Cores of the deployment that arrives.", show_default=False)
]
Active = Annotated[
    str | None,
    typer.Option(
        "--active", metavar="C,...", help="Cores of the deployments in the cluster; may be empty (or --state)."
    ),
]
State = Annotated[
    Path | None,
    typer.Option("--state", metavar="FILE", help="The deployments and what was seen of each, CSV, JSON or TOML."),
]
Horizons = Annotated[
    str | None,
    typer.Option("--horizons", metavar="T,...", help="Hours ahead, in increasing order; those of tune by default."),
]
Policy = Annotated[PolicyName, typer.Option("--policy", help="Policy that gives a verdict.", show_default=False)]
Threshold = Annotated[float, typer.Option("--threshold", metavar="X", help="Its threshold.", show_default=False)]
Sla = Annotated[
    float,
    typer.Option("--sla", metavar="X", help="Take the threshold that tune estimates for this SLA.", show_default=False),
]


@dataclass(frozen=True, kw_only=True)
class Numbers(Mode):
    """The numbers alone."""

    beside = "no --policy, which gives a verdict"

    file: AdmissionFile
    arriving: Arriving
    active: Active = None
    state: State = None
    horizons: Horizons = None
    as_json: JsonFlag = False


@dataclass(frozen=True, kw_only=True)
class ByThreshold(Numbers):
    """The numbers, and the verdict of a policy by its threshold."""

    beside = "--threshold, which needs no runs"
    chosen_by = ("threshold",)

    policy: Policy
    threshold: Threshold
    moments: MomentsOption = Moments.exact


@dataclass(frozen=True, kw_only=True)
class BySla(Numbers):
    """The numbers, and the verdict of a policy by a threshold that is tuned."""

    beside = "--sla, which says the threshold"
    chosen_by = ("sla",)

    policy: Policy
    sla: Sla
    moments: MomentsOption = Moments.exact
    until: YearOption = YEAR
    warmup: WarmupOption = 0.0
    store: StoreFile = None
    engine: EngineOption = "local"


def _mode(given: Any) -> type[Mode]:
    if given.sla is not None:
        return BySla
    return Numbers if given.policy is None and given.threshold is None else ByThreshold


def numbers(options: Numbers) -> None:
    """Show what policies compare with their thresholds."""
    _decide(options, None)


def by_threshold(options: ByThreshold) -> None:
    """Show it, with a verdict by a threshold."""
    _decide(options, replace(_policy(options), threshold=options.threshold))


def by_sla(options: BySla) -> None:
    """Show it, with a verdict by the threshold that `tune` estimates by default; stored runs are not repeated."""
    from fluid.admission.law.admission_files import read_admission
    from fluid.admission.study.tuning import tune

    policy, cluster = _policy(options), read_admission(options.file)
    _deployments(options, cluster)  # what is wrong with them is said before the long work
    with progress_and_store(options.store) as (say, stored):
        how: dict[str, Any] = {"warmup": options.warmup, "engine": options.engine, "progress": say, "store": stored}
        tuned = tune(cluster, policy, options.sla, options.until, **how)
    _decide(options, tuned.policy)


def _policy(options: ByThreshold | BySla) -> AdmissionPolicy:
    from fluid.admission.simulation.simulate import AdmissionPolicy

    return AdmissionPolicy(options.policy.value, moments=options.moments.value, horizons=times_of(options.horizons))


def _decide(options: Numbers, policy: AdmissionPolicy | None) -> None:
    """Show the numbers of a decision, and the verdict of a policy."""
    from bounds.views.admission import decide_answer
    from fluid.admission.law.admission_files import read_admission
    from fluid.admission.simulation.outlook import aligned_horizons

    cluster = read_admission(options.file)
    tenants, arrival, used = _deployments(options, cluster)
    fits = used + options.arriving <= cluster.capacity
    if not fits:
        taken = many(used, "core")
        more = f"{options.arriving} more do not fit {cluster.capacity}"
        print(f"{taken} and {more}: no policy may accept", file=sys.stderr)
    times = times_of(options.horizons)
    ahead = aligned_horizons() if times is None else times
    observed = options.state is not None
    show(decide_answer(cluster, tenants, arrival, ahead, policy, observed=observed, fits=fits), as_json=options.as_json)


def _deployments(options: Numbers, cluster: AdmissionCluster) -> tuple[list[Tenant], Tenant, int]:
    """Return the deployments in the cluster, the one that arrives, and the cores in use."""
    from fluid.admission.law.admission_files import read_state
    from fluid.admission.law.belief import Tenant
    from fluid.admission.simulation.decision import arriving

    if (options.active is None) == (options.state is None):
        got = "neither" if options.state is None else "both"
        raise InputError("--active", f"expected either --active C,... or --state FILE, got {got}")
    cluster.refuse_size(options.arriving, "arriving")
    if options.state is None:
        tenants, arrival = (
            [Tenant(size) for size in cores_of(options.active or "", "--active")],
            Tenant(options.arriving),
        )
    else:
        tenants, arrival = read_state(options.state), arriving(cluster, options.arriving)
    used = sum(tenant.cores for tenant in tenants)
    if used > cluster.capacity:
        name = "--active" if options.state is None else str(options.state)
        raise InputError(name, f"expected at most the capacity, {many(cluster.capacity, 'core')}, got {used} in all")
    return tenants, arrival, used


group.command(
    "decide",
    examples=(
        "packproof admission decide examples/admission.toml --active 120,40,7 --arriving 4 --horizons 1,24,168",
        "packproof admission decide examples/admission.toml --state examples/tenants.csv --arriving 4 --policy second "
        "--threshold 0.1",
    ),
)(
    command_of(
        _mode,
        {Numbers: numbers, ByThreshold: by_threshold, BySla: by_sla},
        "The numbers that policies compare with their thresholds for an arriving deployment, and a verdict.",
    )
)
