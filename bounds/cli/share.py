"""``packproof share``: fair sharing of a cluster by one mechanism, or by all side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bounds.cli.app import CertificateFile, JsonFlag, PlotFile, app, progress, show

if TYPE_CHECKING:
    from theory.sharing.model import Cluster


@app.command(
    examples=(
        "packproof share examples/four_classes.toml",
        "packproof share examples/four_classes.toml --mechanism ps-dsf --events examples/user_4_leaves.toml",
    )
)
def share(
    cluster: Annotated[Path, typer.Argument(metavar="CLUSTER", help="Cluster file, TOML or JSON.", show_default=False)],
    mechanism: Annotated[
        str, typer.Option("--mechanism", metavar="NAME|all", help="drf, c-drfh, cdrf, tsf, ps-dsf, ps-dsf-tdm or all.")
    ] = "all",
    whole: Annotated[bool, typer.Option("--whole", help="Also round to whole tasks and report the loss.")] = False,
    lies: Annotated[
        int | None,
        typer.Option(
            "--lies",
            metavar="N",
            min=0,
            max=10_000,
            help="Search for profitable misreports: the systematic ones and N random ones per user.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random misreports.")] = 0,
    events: Annotated[
        Path | None, typer.Option("--events", metavar="FILE", help="Follow the shares as users arrive and leave.")
    ] = None,
    certificate: CertificateFile = None,
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Fair shares of a cluster, utilisation, and which properties hold, with witnesses."""
    from bounds.views.sharing import (
        AllShares,
        Shares,
        allocation_lines,
        comparison_lines,
        shares_answer,
    )
    from theory.errors import InputError
    from theory.files.clusters import read_cluster
    from theory.files.places import write_json
    from theory.sharing.allocation import Allocation, whole_tasks
    from theory.sharing.mechanisms import MECHANISMS
    from theory.sharing.properties import Verdict, decide
    from theory.sharing.strategy import strategy_proofness

    if mechanism != "all" and mechanism not in MECHANISMS:
        raise InputError(f"--mechanism: expected one of {', '.join(MECHANISMS)}, all, got {mechanism!r}")
    if certificate is not None and mechanism == "all":
        raise InputError("--certificate: expected one mechanism, got all")
    if events is not None:
        unused = {"--certificate": certificate is not None, "--whole": whole, "--lies": lies is not None}
        for option in (name for name, is_given in unused.items() if is_given):
            raise InputError(f"{option}: has no meaning with --events, which follows shares over time")
    if events is not None and mechanism == "drf":
        raise InputError("--events: expected a mechanism that divides servers, got drf, which pools them")
    given = read_cluster(cluster)
    if events is not None:
        _over_time(given, events, mechanism, plot, as_json=as_json)
        return
    chosen = list(MECHANISMS) if mechanism == "all" else [mechanism]
    allocations: dict[str, Allocation] = {}
    answers: dict[str, Shares] = {}
    with progress() as say:
        for name in chosen:
            say(f"{name} ...")
            made = allocations[name] = MECHANISMS[name](given)
            properties = decide(made)
            if lies is None:
                properties["strategy_proofness"] = Verdict(None, {"note": "not searched (--lies)"})
            else:
                properties["strategy_proofness"] = strategy_proofness(MECHANISMS[name], given, rounds=lies, seed=seed)
            answers[name] = shares_answer(made, properties, whole_tasks(made) if whole else None)
    if certificate is not None and not allocations[mechanism].exact:
        raise InputError(f"--certificate: the {mechanism} allocation is numeric, not exact: it has none")
    if plot is not None:
        from bounds.views.sharing import picture_of_shares

        picture_of_shares(list(allocations.values()), plot)
    if certificate is not None:
        from bounds.certificates.allocation import allocation_certificate

        write_json(certificate, allocation_certificate(given, allocations[mechanism]))
    if mechanism == "all":
        show(
            AllShares(mechanism="all", mechanisms=answers),
            lambda: comparison_lines(answers, given),
            as_json=as_json,
        )
    else:
        show(answers[mechanism], lambda: allocation_lines(allocations[mechanism], answers[mechanism]), as_json=as_json)


def _over_time(cluster: Cluster, events: Path, mechanism: str, plot: Path | None, *, as_json: bool) -> None:
    """Follow one mechanism, or all, while users come and go: PS-DSF by its servers in motion, the others at once."""
    from bounds.views.sharing import (
        AllInMotion,
        history_answer,
        history_lines,
        picture_of_histories,
        picture_of_history,
    )
    from fluid.limits.sharing import History, read_schedule, run_at_once, run_schedule
    from theory.sharing.mechanisms import MECHANISMS

    schedule = read_schedule(events, cluster)
    divisions = {"ps-dsf": "resource", "ps-dsf-tdm": "time"}
    histories: dict[str, History] = {}
    with progress() as say:
        for name in MECHANISMS if mechanism == "all" else (mechanism,):
            say(f"{name} ...")
            if name in divisions:
                histories[name] = run_schedule(cluster, schedule, division=divisions[name])
            elif name != "drf":  # which pools the servers
                histories[name] = run_at_once(cluster, schedule, MECHANISMS[name])
    if mechanism != "all":
        history = histories[mechanism]
        if plot is not None:
            picture_of_history(history, cluster, plot)
        show(history_answer(mechanism, history, cluster), lambda: history_lines(history, cluster), as_json=as_json)
        return
    if plot is not None:
        picture_of_histories(histories, cluster, plot)
    answers = {name: history_answer(name, history, cluster) for name, history in histories.items()}
    lines = [line for name, one in histories.items() for line in (name, *history_lines(one, cluster), "")][:-1]
    show(AllInMotion(mechanism="all", mechanisms=answers), lambda: lines, as_json=as_json)
