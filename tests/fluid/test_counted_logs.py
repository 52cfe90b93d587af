"""One set of VMs as eleven formats write it: the answers beside a count that reads no log.

The VMs come and go at distinct seconds, so that no order is left open. The count is of the numbers they were drawn
from: tasks, distinct demands, what is in service at most, and first-fit on lists.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bounds.cli import run

BEGIN = datetime(2026, 5, 1, tzinfo=UTC)
SERVER = (30, 70)


class Vm(NamedTuple):
    """A VM: seconds after the first of May, cores and GiB."""

    start: int
    end: int
    cpu: int
    memory: int


def drawn() -> list[Vm]:
    """Draw VMs over three weeks; the first of them comes at the first instant."""
    rng = random.Random(7)
    instants = rng.sample(range(1, 20 * 86400), 60)
    sizes = [(2, 4), (2, 8), (4, 8), (8, 32), (30, 70)]
    starts = sorted([0, *instants[1:]])
    stays = rng.sample(range(3600, 2 * 86400), 60)
    return [Vm(t, t + stay, *rng.choice(sizes)) for t, stay in zip(starts, stays, strict=True)]


VMS = drawn()


def at(seconds: int, form: str = "%Y-%m-%dT%H:%M:%SZ") -> str:
    return f"{BEGIN + timedelta(seconds=seconds):{form}}"


# ---- the formats -----------------------------------------------------------------------------------------------------


def azure_v1() -> str:
    return "".join(f"v{i},s,d,{v.start},{v.end},9,3,9,Unknown,{v.cpu},{v.memory}\n" for i, v in enumerate(VMS))


def bucket(number: int, most: int) -> str:
    return str(number) if number <= most else f">{most}"


def azure_v2() -> str:
    rows = [(i, v, bucket(v.cpu, 24), bucket(v.memory, 64)) for i, v in enumerate(VMS)]
    return "".join(f"v{i},s,d,{v.start},{v.end},9,3,9,Unknown,{cpu},{memory}\n" for i, v, cpu, memory in rows)


def azure_with_header() -> str:
    rows = "".join(f"v{i},{v.start},{v.end},{bucket(v.cpu, 24)},{bucket(v.memory, 64)}\n" for i, v in enumerate(VMS))
    return f"vmid,vmcreated,vmdeleted,vmcorecountbucket,vmmemorybucket\n{rows}"


def sacct() -> str:
    def row(i: int, v: Vm) -> str:
        start, end = at(v.start, "%Y-%m-%dT%H:%M:%S"), at(v.end, "%Y-%m-%dT%H:%M:%S")
        return f"{i}|COMPLETED|{start}|{start}|{end}|billing=1,cpu={v.cpu},mem={v.memory}G,node=1\n"

    return "JobID|State|Submit|Start|End|ReqTRES\n" + "".join(row(i, v) for i, v in enumerate(VMS))


def swf() -> str:
    rows = [(i, v, v.memory * 2**20 // v.cpu) for i, v in enumerate(VMS, 1)]
    return "; Version: 2.2\n" + "".join(
        f"{i} {v.start} 0 {v.end - v.start} {v.cpu} -1 -1 {v.cpu} -1 {kb} 1 1 1 -1 1 -1 -1 -1\n" for i, v, kb in rows
    )


def pods_csv() -> str:
    rows = "".join(
        f"p{i},Succeeded,{at(v.start)},{at(v.start)},{at(v.end)},{1000 * v.cpu}m,{v.memory}Gi\n"
        for i, v in enumerate(VMS)
    )
    return f"name,phase,creationTimestamp,scheduled_time,finishedAt,cpu_request,memory_request\n{rows}"


def pods_json() -> str:
    def pod(i: int, v: Vm) -> dict[str, Any]:
        over = {"name": "c", "state": {"terminated": {"finishedAt": at(v.end), "exitCode": 0}}}
        asked = {"cpu": str(v.cpu), "memory": f"{v.memory}Gi"}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{i}", "namespace": "n", "creationTimestamp": at(v.start)},
            "spec": {"containers": [{"name": "c", "resources": {"requests": asked}}]},
            "status": {"phase": "Succeeded", "startTime": at(v.start), "containerStatuses": [over]},
        }

    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod(i, v) for i, v in enumerate(VMS)]})


def german_sheet() -> str:
    rows = "".join(
        f"{at(v.start, '%d.%m.%Y %H:%M:%S')};{at(v.end, '%d.%m.%Y %H:%M:%S')};{v.cpu},0;{v.memory},0\n" for v in VMS
    )
    return f"Start;End;vCPU;RAM (GiB)\n{rows}"


def american_sheet() -> str:
    form = "%m/%d/%Y %I:%M:%S %p"
    rows = "".join(f"{at(v.start, form)},{at(v.end, form)},{v.cpu},{v.memory * 1024}\n" for v in VMS)
    return f"Created,Deleted,Cores,Memory (MiB)\n{rows}"


def google_2019() -> str:
    """Write a submission, a schedule at once and an end for each, as parts of a machine of 64 cores and 128 GiB."""
    rows = []
    for i, v in enumerate(VMS):
        asked = {"cpus": v.cpu / 64, "memory": v.memory / 128}
        for kind, seconds in (("SUBMIT", v.start), ("SCHEDULE", v.start), ("FINISH", v.end)):
            row = {"time": str((1000 + seconds) * 10**6), "type": kind, "collection_id": str(i), "instance_index": "0"}
            rows.append({**row, "collection_type": "JOB", "priority": "0", "resource_request": asked})
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def alibaba_2018() -> str:
    """Write the memory in parts of a hundred: of a machine of 100 GiB."""
    return "".join(
        f"M1,1,j_{i},1,Terminated,{1000 + v.start},{1000 + v.end},{100 * v.cpu},{v.memory}\n" for i, v in enumerate(VMS)
    )


FORMATS: dict[str, tuple[Callable[[], str], tuple[float, float]]] = {
    "azure_v1.csv": (azure_v1, (1, 1)),
    "azure_v2.csv": (azure_v2, (1, 1)),
    "azure_header.csv": (azure_with_header, (1, 1)),
    "sacct.txt": (sacct, (1, 1)),
    "jobs.swf": (swf, (1, 1)),
    "pods.csv": (pods_csv, (1, 1)),
    "pods.json": (pods_json, (1, 1)),
    "german.csv": (german_sheet, (1, 1)),
    "american.csv": (american_sheet, (1, 1)),
    "google_2019.json": (google_2019, (1 / 64, 1 / 128)),
    "alibaba_2018.csv": (alibaba_2018, (1, 1)),
}
"""How each is written, and what a core and a GiB are in its units."""


# ---- the count -------------------------------------------------------------------------------------------------------


def events() -> list[tuple[int, int, Vm]]:
    """Return comings and goings in order."""
    return sorted([(v.start, 1, v) for v in VMS] + [(v.end, -1, v) for v in VMS])


def most_in_service() -> dict[str, int]:
    """Return the most VMs, cores and GiB at one instant."""
    now, most = [0, 0, 0], [0, 0, 0]
    for _, sign, v in events():
        now = [x + sign * y for x, y in zip(now, (1, v.cpu, v.memory), strict=True)]
        most = [max(x, y) for x, y in zip(now, most, strict=True)]
    return dict(zip(("most", "cpu", "memory"), most, strict=True))


def first_fit(servers: int) -> int:
    """Return the VMs that first-fit refuses."""
    free, place, refused = [list(SERVER) for _ in range(servers)], {}, 0
    for _, sign, v in events():
        if sign < 0:
            if v in place:
                free[place[v]] = [free[place[v]][0] + v.cpu, free[place[v]][1] + v.memory]
            continue
        fitting = [s for s, (cpu, memory) in enumerate(free) if cpu >= v.cpu and memory >= v.memory]
        if not fitting:
            refused += 1
            continue
        place[v] = fitting[0]
        free[fitting[0]] = [free[fitting[0]][0] - v.cpu, free[fitting[0]][1] - v.memory]
    return refused


def counted() -> dict[str, Any]:
    servers = next(n for n in range(1, len(VMS) + 1) if not first_fit(n))
    return {"tasks": len(VMS), "distinct": len({v[2:] for v in VMS}), "servers": servers, **most_in_service()}


def answered(name: str, folder: Path, answer: Callable[[list[str]], Any]) -> dict[str, Any]:
    """Return the same numbers, as `log` and `plan` have them; SWF has memory in whole kB a processor."""
    write, (core, gib) = FORMATS[name]
    path = folder / name
    path.write_text(write())
    log = answer(["log", str(path)])
    server = f"--server name=s,cpu={SERVER[0] * core},memory={SERVER[1] * gib}"
    plan = answer(["plan", str(path), *f"{server} --accept 1 --policy first-fit --level quick".split()])
    peaks = {row["resource"]: row["most"] for row in log["peaks"]}
    return {
        "tasks": log["tasks"],
        "distinct": log["distinct"],
        "servers": plan["servers"],
        "most": peaks["tasks"],
        "cpu": peaks["cpu"] / core,
        "memory": peaks["memory"] / gib,
    }


@pytest.mark.parametrize("name", FORMATS)
def test_an_answer_is_the_count(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(words: list[str]) -> Any:
        status = run([*words, "--json"])
        captured = capsys.readouterr()
        assert status == 0, captured.err
        return json.loads(captured.out)

    assert answered(name, tmp_path, answer) == pytest.approx(counted(), rel=1e-6)
