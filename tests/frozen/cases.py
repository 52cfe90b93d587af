"""The commands whose answers may not change: instances of every kind, every command, all sixteen policies.

A case is a name and the arguments of ``packproof``. ``@`` stands for the folder of inputs, ``%`` for that of the
examples, and ``!`` for a folder in which the case may write; files that it writes there are part of the answer.
"""

from __future__ import annotations

SOLVE = {
    f"solve {name}": f"solve {file} --servers {servers} --certificate !out.json --json"
    for name, file, servers in (
        ("four types", "%four_types.toml", 1000),
        ("ec2", "%ec2.toml", 77),
        ("two", "@two.toml", 12),
        ("pools", "@pools.toml", 31),
        ("explicit", "@explicit.json", 20),
        ("loaded", "@loaded.toml", 9),
    )
}

WORST = {
    "worst workload": "worst %four_types.toml --vary workload --out !worst.toml --json",
    "worst workload of pools": "worst @pools.toml --vary workload --json",
    "worst rewards": "worst @two.toml --vary rewards --starts 4 --seed 3 --json",
    "worst all": "worst @two.toml --vary all --starts 3 --seed 1 --out !worst.toml --json",
    "worst of explicit": "worst @explicit.json --vary workload --json",
}

REGION = {
    "region ec2": "region %ec2.toml --servers 40 --certificate !out.json --json",
    "region caught": "region %caught.toml --certificate !out.json --json",
    "region pools": "region @pools.toml --slice a,c --certificate !out.json --json",
    "region explicit": "region @explicit.json --servers 3 --json",
    "region without facets": "region %four_types.toml --facets 0 --no-headroom --certificate !out.json --json",
}

THROUGHPUT = {
    "throughput uniform": "throughput %uniform_sizes.toml --certificate !out.json --json",
    "throughput mixed": "throughput %mixed_sizes.toml --gap 0.02 --certificate !out.json --json",
    "throughput atoms": "throughput @atoms.toml --gap 0 --certificate !out.json --json",
}

SHARE = {
    f"share {mechanism}": f"share @users.toml --mechanism {mechanism} --certificate !out.json --whole --json"
    for mechanism in ("drf", "c-drfh", "cdrf", "tsf", "ps-dsf")
} | {
    "share ps-dsf-tdm": "share @users.toml --mechanism ps-dsf-tdm --lies 3 --seed 2 --json",
    "share all": "share %four_classes.toml --json",
    "share events": "share @users.toml --mechanism ps-dsf --events @leaves.toml --json",
    "share groups": "share @groups.toml --mechanism drf --certificate !out.json --json",
    "share allocation": "share %four_classes.toml --allocation %four_classes_today.csv --certificate !out.json --json",
}

PLAN = {
    "log": "log %vm_log.csv --json",
    "plan": "plan %vm_types.csv %vm_log.csv --server cpu=48,memory=192 --accept 0.99 --json",
    "plan which servers": (
        "plan %vm_types.csv %vm_log.csv --server name=wide,cpu=96,memory=192,price=4.1 "
        "--server name=tall,cpu=48,memory=384,price=3.3,most=6 --accept 0.99 --policy first-fit --spare 1 "
        "--grow web.small=1.5 --json"
    ),
    "plan of jobs that wait": "plan %jobs.csv --server cpu=6 --wait 2 --policy nonpreemptive --json",
}

FLUID = {
    "fluid four types": "fluid %four_types.toml --until 6 --points 7 --json",
    "fluid two": "fluid @two.toml --until 8 --points 5 --csv !out.csv --json",
    "fluid from a state": "fluid %four_types.toml --until 5 --points 6 --from @state.toml --json",
}

OTHERS = {
    "instance": "instance --types aws:m5.large,gcp:n2-standard-4 --server cpu=96,memory=384 --workload 3/2 --json",
    "verify introduction": "verify introduction example-1 --json",
    "against fluid": "simulate @two.toml --policy dra --servers 320 --until 4 --against-fluid --seed 2 --json",
    "experiment": "experiment @grid.toml --store !s.db --csv !out.csv --workers 1 --json",
    "experiment of sizes": "experiment @sizes_grid.toml --store !s.db --csv !out.csv --workers 1 --json",
}


def _simulate(file: str, policy: str, servers: int, until: float, more: str = "") -> str:
    return f"simulate {file} --policy {policy} --servers {servers} --until {until:g} --seed 7 --log 400 --json {more}"


LOSS = ("dra", "dra-preemption", "power-of-d", "static", "first-fit", "best-fit")
QUEUE = ("nonpreemptive", "max-weight-local", "randomized-sampling")
SLOTTED = ("bf-j", "bf-s", "bf-js", "vqs", "vqs-bf", "max-weight", "fifo-ff")

JUMP_CHAIN = {
    f"{name}, jump chain": _simulate("%four_types.toml", name, 30, 8) for name in LOSS if name[-5:] != "ption"
}
EVENT_LIST = {f"{name}, event list": _simulate("@loaded.toml", name, 25, 12) for name in LOSS if name != "static"} | {
    "static, pools": _simulate("@pools.toml", "first-fit", 30, 12),
}
QUEUES = {f"{name}, queue": _simulate("@queues.toml", name, 12, 25) for name in QUEUE} | {
    "caught": _simulate("%caught.toml", "max-weight-local", 2, 60),
    "queue of a trace": _simulate("%caught.toml", "nonpreemptive", 2, 40, "--trace %jobs.csv"),
}
SLOTS = {f"{name}, types": _simulate("@steps.toml", name, 6, 600) for name in SLOTTED} | {
    f"{name}, law": _simulate("@atoms.toml", name, 3, 800) for name in ("bf-js", "vqs", "vqs-bf", "max-weight")
}
PATHS = JUMP_CHAIN | EVENT_LIST | QUEUES | SLOTS
"""Event logs of all policies: run compiled, and as Python too."""

CAUGHT = "simulate %caught.toml --policy nonpreemptive"
REPLICATED = {
    "loss, replications": "simulate %four_types.toml --policy dra --servers 40 --until 30 --replications 3 --json",
    "queue, replications": f"{CAUGHT} --servers 4 --until 200 --replications 3 --json",
    "slots, replications": "simulate %uniform_sizes.toml --policy vqs-bf --until 3000 --replications 3 --json",
    "kept": "simulate @two.toml --policy first-fit --servers 20 --until 50 --replications 2 --store !s.db --json",
}

CASES = SOLVE | WORST | REGION | THROUGHPUT | SHARE | PLAN | FLUID | OTHERS | PATHS | REPLICATED
