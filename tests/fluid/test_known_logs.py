"""Logs of known origin: a small file of each, made by hand after its published description, and what is in it."""

from __future__ import annotations

import gzip
import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fluid.traces.described import describe
from fluid.traces.documents import quantity
from fluid.traces.model import Outcome, Trace
from fluid.traces.readers import read_trace
from theory.errors import InputError

LOGS = Path(__file__).parent / "logs"
FINISH, KILL, EVICT, FAIL, CENSORED = (Outcome[name] for name in ("finish", "kill", "evict", "fail", "censored"))
GIB = 2**30

EXPECTED: dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]], dict[str, int]]] = {
    "sacct.txt": (
        ("cpu", "memory", "gpu"),
        [
            (0, 93600, (4, 16, 1), FINISH),
            (7200, 3600, (32, 128, 0), KILL),
            (7200, 3600, (32, 128, 0), KILL),
            (18000, 76199, (2, 4, 0), CENSORED),
        ],
        {"that are steps of jobs": 2, "with State PENDING": 1, "without Start": 1},
    ),
    "sacct_columns.txt": (
        ("cpu", "memory"),
        [
            (0, 93600, (4, 16), FINISH),
            (7200, 3600, (32, 128), KILL),
            (7200, 3600, (32, 128), KILL),
            (18000, 1800, (2, Fraction(4000, 1024)), FAIL),
        ],
        {},
    ),
    "condor_history.txt": (
        ("cpu", "memory", "disk", "gpu"),
        [
            (0, 3600, (4, 8, 1, 0), FINISH),
            (30, 600, (1, 2, 0.5, 2), FAIL),
            (40, 700, (2, 0.5, 0, 0), KILL),
            (300, 2660, (8, 0, 0.25, 1), CENSORED),
            (400, 1200, (1, 1, 0, 0), EVICT),
        ],
        {"that run outside of the pool (universe 7, 9, 12)": 1, "without JobCurrentStartDate": 1},
    ),
    "jobs.swf": (
        ("cpu", "memory"),
        [(0, 3600, (4, 0), FINISH), (120, 60.5, (8, 8), FAIL), (300, 100, (1, 0.5), FINISH)],
        {
            "that are parts of a job, which has a line of its own (status 2, 3, 4)": 1,
            "that request nothing": 1,
            "with -1 for run time": 1,
        },
    ),
    "azure_v1.csv": (
        ("cpu", "memory"),
        [(0, 2591700, (1, 1.75), FINISH), (424500, 900, (4, 7), FINISH), (1133100, 0, (16, 112), FINISH)],
        {},
    ),
    "azure_v2.csv": (
        ("cpu", "memory"),
        [(0, 2591400, (2, 4), FINISH), (424500, 900, (30, 70), FINISH), (558300, 1115400, (8, 32), FINISH)],
        {},
    ),
    "helios.csv": (
        ("cpu", "gpu"),
        [
            (0, 36848, (1, 1), FINISH),
            (26, 189, (32, 8), FAIL),
            (26, 189, (32, 8), FAIL),
            (27, 675233, (4, 0), KILL),
        ],
        {},
    ),
    "cluster_job_log": (
        ("gpu",),
        [(0, 60, (2,), FAIL), (120, 3600, (1,), FINISH), (120, 3600, (2,), FINISH), (2460, 780, (1,), CENSORED)],
        {"of attempts that have ended at a time that is not said": 1, "without start_time": 1},
    ),
    "pods.json": (
        ("cpu", "memory", "gpu"),
        [
            (0, 3959, (4, Fraction(2 * GIB + 10**9, GIB), 0), CENSORED),
            (300, 3600, (2.25, Fraction(134217728, GIB), 2), FINISH),
        ],
        {
            "of pods that have ended at a time that is not said": 1,
            "that request nothing": 1,
            "without PodScheduled": 1,
        },
    ),
    "pods.csv": (
        ("cpu", "memory"),
        [(0, 3900, (0.5, 2), CENSORED), (300, 3600, (2, 0.5), FINISH)],
        {"with phase Pending": 1},
    ),
    "sheet.csv": (
        ("cpu", "memory"),
        [
            (0, 5400, (1.5, 4), FINISH),
            (330, 57270, (2, 8.5), FINISH),
            (12 * 86400 - 8 * 3600, 129600, (2, 8.5), FINISH),
        ],
        {},
    ),
}
"""Resources; arrival, stay, demand and outcome of each task; rows that are left out, by reason."""


def rows_of(trace: Trace) -> list[tuple[Any, ...]]:
    demands = [tuple(n * u for n, u in zip(row, trace.unit, strict=True)) for row in trace.demand.tolist()]
    times = ((trace.arrival / 1e6).tolist(), (trace.duration / 1e6).tolist())
    return list(zip(*times, demands, trace.outcome.tolist(), strict=True))


@pytest.mark.parametrize("zipped", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", EXPECTED)
def test_a_log_of_known_origin(name: str, zipped: bool, tmp_path: Path) -> None:
    path = LOGS / name
    if zipped:
        path = tmp_path / f"{name}.gz"
        path.write_bytes(gzip.compress((LOGS / name).read_bytes()))
    resources, tasks, left_out = EXPECTED[name]
    trace = read_trace(path)
    assert trace.resources == resources
    assert rows_of(trace) == tasks
    assert trace.reading is not None
    assert dict(trace.reading.left_out) == left_out


def test_every_column_is_read_or_named_as_unused() -> None:
    for name in set(EXPECTED) - {"pods.json", "cluster_job_log"}:
        trace = read_trace(LOGS / name)
        assert trace.reading is not None
        for header in trace.reading.unused:
            assert any(note.startswith("columns not used: ") and f'"{header}"' in note for note in trace.notes), name


def test_what_is_assumed_is_said() -> None:
    notes = read_trace(LOGS / "azure_v2.csv").notes
    assert "vmcorecountbucket: 1 row with >24 count as 30" in notes
    assert "vmmemorybucket: 1 row with >64 count as 70" in notes
    notes = read_trace(LOGS / "sacct.txt").notes
    assert "Slurm: resources not used: billing" in notes
    assert "each row counts as ReqTRES says: 4 in 3 rows" in notes
    notes = read_trace(LOGS / "pods.json").notes
    assert "Kubernetes: requests not used: hugepages-2Mi" in notes
    assert "no row asks for disk: it is not counted" in notes


def test_open_rows_may_be_dropped() -> None:
    for name in ("sacct.txt", "pods.json", "cluster_job_log", "pods.csv"):
        trace = read_trace(LOGS / name, drop_open=True)
        assert CENSORED not in trace.outcome.tolist(), name
        assert "1 row without an end dropped" in trace.notes, name


def test_rows_that_never_ran_are_refused_where_that_is_asked() -> None:
    with pytest.raises(InputError, match=r"sacct\.txt:5: State: expected the state of a row that ran, got 'PENDING'"):
        read_trace(LOGS / "sacct.txt", strict=True)


def test_azure_with_a_header(tmp_path: Path) -> None:
    header = "vmid,vmcreated,vmdeleted,vmcorecountbucket,vmmemorybucket\n"
    (tmp_path / "t.csv").write_text(header + "a,0,300,2,4\nb,300,900,>24,>64\n")
    assert rows_of(read_trace(tmp_path / "t.csv")) == [(0, 300, (2, 4), FINISH), (300, 600, (30, 70), FINISH)]


SACCT = "JobID|State|Submit|Start|End|ReqTRES\n1|COMPLETED|{submit}|{start}|2026-05-01T02:00:00|{tres}\n"
CONDOR = "QDate,JobStartDate,CompletionDate,EnteredCurrentStatus,JobStatus,RequestCpus\n100,200,300,300,{},{}\n"
GOOD = {"submit": "2026-05-01T00:00:00", "start": "2026-05-01T01:00:00", "tres": "cpu=1,mem=1G,node=1"}


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("s.txt", SACCT.format(**{**GOOD, "tres": "cpu"}), ":2: ReqTRES: expected trackable"),
        ("s.txt", SACCT.format(**{**GOOD, "tres": "cpu=x"}), ":2: ReqTRES: expected a number for cpu"),
        ("s.txt", SACCT.format(**{**GOOD, "tres": "cpu=1,mem=1X"}), ":2: ReqTRES: expected memory such as 16G"),
        ("s.txt", SACCT.format(**{**GOOD, "tres": ""}), ":1: expected the rows of the jobs of Slurm (sacct)"),
        ("s.txt", SACCT.format(**{**GOOD, "submit": "yesterday"}), ":2: Submit: expected a time such as"),
        ("s.txt", SACCT.format(**{**GOOD, "start": "2026-05-01T03:00:00"}), ":2: End: expected arrival <= start"),
        ("s.txt", SACCT.format(**GOOD).replace("COMPLETED", "DONE"), ":2: State: expected a state of Slurm"),
        ("s.txt", "JobID|State|ReqTRES\n1|COMPLETED|cpu=1\n", ":1: expected Eligible or Start or Submit, and Elapsed"),
        ("s.txt", "JobID|Submit|Elapsed|AllocCPUS\n1|2026-05-01T00:00:00|5|1\n", ":2: Elapsed: expected [days-]hours"),
        ("s.txt", "JobID|Submit|ElapsedRaw|AllocCPUS|ReqMem\n1|2026-05-01|5|1|1Q\n", ":2: ReqMem: expected memory"),
        ("h.txt", CONDOR.format(8, 1), ":2: JobStatus: expected a status of HTCondor, 1 to 7, got '8'"),
        ("h.txt", CONDOR.format(4, "2G"), ":2: RequestCpus: expected a number, got '2G' ("),
        ("h.txt", CONDOR.format(4, 1).replace("EnteredCurrentStatus", "x"), ":1: expected CompletionDate and Entered"),
        ("h.csv", "gpu_num,cpu_num,node_num,submit_time\n", ":1: expected end_time in the jobs of Helios; found"),
        ("a.swf", "1 0 0 10 x 0 0 1 1 -1 1 1 1 1 1 1 1 1\n", ":1: expected a header"),
        ("a.swf", "1 0 0 10 1 0 0 1 1 -1 1 1 1 1 1 1 1 1\n2 1 1\n", ":2: expected 18 fields, got 3"),
        ("a.swf", "1 0 0 10 1 0 0 1 1 -1 9 1 1 1 1 1 1 1\n", ":1: status: expected one of 1, 0, 5, -1, got '9'"),
        ("p.json", '[{"a": 1}, 3]', ": expected a trace, a header with time, duration"),
        ("p.json", '[{"a": 1}', ":1: expected a document of JSON ("),
        ("p.json", '{"apiVersion": "v1", "items": [], "kind": "List"}', ": expected pods (kubectl get"),
        ("p.json", '{"apiVersion": "v1", "items": [{"kind": "Node"}]}', ": expected pods (kubectl get"),
        ("p.json", '{"apiVersion": "v1", "items": [{"kind": "Pod"}]}', ":1: metadata: missing, expected it with"),
        ("p.json", '{"apiVersion": "v1", "items": [3]}', ":1: expected an object, got '3'"),
        ("p.json", '{"apiVersion": "v1", "items": [{"spec": [], "metadata": {}}]}', ":1: spec: expected an object"),
        ("p.json", '[{"attempts": [{"end_time": []}], "submitted_time": "", "status": ""}]', ":1: attempts.end_time:"),
        ("p.json", '[{"attempts": 3, "submitted_time": "", "status": ""}]', ":1: attempts: expected a list, got '3'"),
        ("p.json", '{"apiVersion": "v1", "items": 3}', ": items: expected a list of pods, got '3'"),
        ("c.csv", "start,end,type\n05/01/2026,05/02/2026,a\n", ":1: start and end: expected dates that"),
        ("c.csv", "start,end,type\n13/01/2026,01/14/2026,a\n", ":1: start and end: expected dates that"),
        ("c.csv", "start,end,type\n31.12.2026,32.12.2026,a\n", ":2: end: expected a date such as 31.12.2026 23:59"),
        ("c.csv", "start,end,type\n31.12.2026,noon,a\n", ":2: end: expected a date such as 31.12.2026 23:59"),
        ("c.csv", "start,end,type\n31.12.2026 13:00 PM,31.12.2026,a\n", ":2: start: expected a date such"),
    ],
)  # fmt: skip
def test_malformed_logs_end_in_one_line(name: str, text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_trace(path)
    assert str(caught.value).startswith(f"{path}{complaint}"), caught.value
    assert "\n" not in str(caught.value)


def test_a_pod_with_odd_fields_is_refused_by_its_number(tmp_path: Path) -> None:
    document = json.loads((LOGS / "pods.json").read_text())
    document["items"][1]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "2 cores"
    path = tmp_path / "pods.json"
    path.write_text(json.dumps(document))
    with pytest.raises(
        InputError,
        match=r"pods\.json:2: spec\.containers\.resources\.requests\.cpu: expected a quantity such as 500m or 2Gi, got",
    ):
        read_trace(path)


def test_sidecars_and_limits_count() -> None:
    """A container's limit is its request where it has none; an init container that stays adds to the others."""
    from fluid.traces.documents import _requests

    def one(cpu: str, **more: str) -> dict[str, Any]:
        return {"resources": {"requests": {"cpu": cpu}}, **more}

    spec = {"containers": [one("1"), {"resources": {"limits": {"cpu": "2"}}}], "initContainers": [one("2")]}
    assert _requests(spec) == {"cpu": 3}
    spec["initContainers"] = [one("1", restartPolicy="Always"), one("4")]
    assert _requests(spec) == {"cpu": 5}, "the init container runs beside the sidecar before it"
    spec["initContainers"] = [one("4"), one("2", restartPolicy="Always")]
    assert _requests(spec) == {"cpu": 5}, "containers run beside the sidecar"
    assert quantity("1.5e3") == 1500


def test_an_array_of_objects_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text('[\n {"start": 0, "end": 10, "vCPU": 2},\n {"start": 5, "end": 20, "vCPU": 1.5}\n]')
    assert rows_of(read_trace(path)) == [(0, 10, (2,), FINISH), (5, 15, (1.5,), FINISH)]


def test_dates_of_a_country_are_one_log(tmp_path: Path) -> None:
    forms = {
        "dots": ("1.5.2026 08:00", "13.5.2026 20:30:15"),
        "strokes": ("01/05/2026 8:00", "13/05/2026 20:30:15"),
        "american": ("5/1/2026 8:00 AM", "5/13/2026 8:30:15 PM"),
        "year": ("2026/05/01 08:00", "2026/5/13 20:30:15"),
        "iso": ("2026-05-01 08:00", "2026-05-13 20:30:15"),
    }
    for form, (start, end) in forms.items():
        path = tmp_path / f"{form}.csv"
        path.write_text(f"start,end,type\n{start},{end},a\n{end},{end},b\n")
        trace = read_trace(path)
        assert trace.duration.tolist() == [(12 * 86400 + 12 * 3600 + 1815) * 10**6, 0], form
        assert trace.begins == 1777622400 * 10**6, form


def test_noon_and_midnight_of_a_clock_of_twelve_hours(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        "start,end,type\n5/13/2026 12:00 AM,5/13/2026 12:00 PM,a\n5/13/2026 12:30 PM,5/13/2026 1:30 p.m.,a\n"
    )
    assert (read_trace(path).duration / 1e6).tolist() == [12 * 3600, 3600]


def test_a_log_of_another_name_is_the_same(tmp_path: Path) -> None:
    for name, other in (("jobs.swf", "jobs.txt"), ("pods.json", "pods"), ("sacct.txt", "sacct.csv")):
        shutil.copy(LOGS / name, tmp_path / other)
        assert rows_of(read_trace(tmp_path / other)) == EXPECTED[name][1]


def test_what_a_log_of_the_archive_does_not_know_is_said(tmp_path: Path) -> None:
    notes = read_trace(LOGS / "jobs.swf").notes
    assert "SWF: memory that is not known (-1) counts as 0" in notes
    assert not any("status" in note and "taken to have run" in note for note in notes)
    file = tmp_path / "jobs.swf"
    known = (LOGS / "jobs.swf").read_text().splitlines()
    last = known[-1].split()
    file.write_text(" ".join([*last[:10], "-1", *last[11:]]) + "\n")
    (unknown,) = [note for note in read_trace(file).notes if note.startswith("SWF: jobs whose status")]
    assert unknown == "SWF: jobs whose status is not known (-1) are taken to have run to their end"
    assert "SWF: memory that is not known (-1) counts as 0" not in read_trace(file).notes


def test_parts_of_jobs_are_not_missed(tmp_path: Path) -> None:
    """Steps of jobs are most rows of some logs; that as many rows of another kind are left out looks wrong."""
    header, *rows = (LOGS / "sacct.txt").read_text().splitlines()
    place = header.split("|").index("State")
    (job,) = [row for row in rows if row.split("|")[place] == "COMPLETED" and "." not in row.split("|")[0]][:1]
    steps = [row.replace(row.split("|")[0], f"{row.split('|')[0]}.{n}", 1) for n, row in enumerate([job] * 20)]
    waiting = ["|".join([*row.split("|")[:place], "PENDING", *row.split("|")[place + 1 :]]) for row in [job] * 20]
    doubts = []
    for n, more in enumerate((steps, waiting)):
        file = tmp_path / f"{n}.txt"
        file.write_text("\n".join([header, *rows, *more]) + "\n")
        doubts.append(describe(read_trace(file)).doubts)
    assert not any("rows are left out" in doubt for doubt in doubts[0])
    assert any(doubt.endswith("rows are left out") for doubt in doubts[1])
