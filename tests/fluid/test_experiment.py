"""Experiments: stores that are full, locked, foreign or damaged; dask; pairing. Kills are in `tests.tools.faults`."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from bounds.cli import run
from fluid.experiment.grid import read_grid
from fluid.experiment.run import run_experiment
from fluid.experiment.store import Store
from fluid.experiment.summaries import comparisons, summary, table
from tests.instances import TWO
from theory.errors import InputError

INSTANCE = TWO + '[simulation]\nservice = { law = "log-normal", scv = 2 }\n'

GRID = """
instance = "two.toml"
until = {until}
replications = {replications}
seed = 3
[vary]
policy = ["dra", "first-fit", "power-of-d", "best-fit"]
servers = [5, 12]
workload = ["1/2", 1.1]
"""


def grid_file(folder: Path, replications: int = 3, until: float = 10) -> Path:
    (folder / "two.toml").write_text(INSTANCE)
    path = folder / "grid.toml"
    path.write_text(GRID.format(replications=replications, until=until))
    return path


def undisturbed(path: Path, **more: object) -> str:
    grid = read_grid(path)
    with Store(path.parent / f"undisturbed-{len(more)}.db") as store:
        run_experiment(grid, store, **{"workers": 1, **more})
        return table(grid, store)


@pytest.mark.slow
def test_same_table_whoever_runs_it(tmp_path: Path) -> None:
    path = grid_file(tmp_path)
    one = undisturbed(path)
    assert len(list(csv.DictReader(io.StringIO(one)))) == 48
    assert undisturbed(path, workers=2, engine="local") == one


@pytest.mark.slow
def test_resuming_runs_only_the_rest(tmp_path: Path) -> None:
    path = grid_file(tmp_path)
    grid = read_grid(path)
    told: list[int] = []

    def stop_after_ten(state: object) -> None:
        told.append(state.done)  # type: ignore[attr-defined]
        if len(told) == 11:
            raise KeyboardInterrupt

    with Store(tmp_path / "s.db") as store:
        with pytest.raises(KeyboardInterrupt):
            run_experiment(grid, store, workers=1, say=stop_after_ten)
        assert len(list(store.known(c.key for c in grid.cells))) == 10
    with Store(tmp_path / "s.db") as store:
        assert run_experiment(grid, store, workers=1) == 38
        assert run_experiment(grid, store, workers=1) == 0
        assert table(grid, store) == undisturbed(path)


@pytest.mark.processes
def test_workers_end_with_the_driver(tmp_path: Path) -> None:
    """Only the driver is killed (9): its workers leave by themselves, and the store is free."""
    path = grid_file(tmp_path, replications=50, until=20_000)
    root = Path(__file__).parent.parent.parent
    command = [sys.executable, "-m", "packproof", "experiment", str(path), "--store", str(tmp_path / "s.db")]
    process = subprocess.Popen(
        [*command, "--workers", "2"], cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        process.kill()
        pytest.skip("no /proc to look for workers")
    grid = read_grid(path)
    for _ in range(600):
        time.sleep(0.5)
        if (tmp_path / "s.db").exists() and _rows(tmp_path / "s.db"):
            break
    workers = [int(pid) for pid in children.read_text().split()]
    process.kill()
    process.communicate()
    for _ in range(40):
        if not any(_is_worker(pid) for pid in workers):
            break
        time.sleep(0.5)
    assert not any(_is_worker(pid) for pid in workers)
    with Store(tmp_path / "s.db") as store:
        assert 0 < len(store.known(cell.key for cell in grid.cells)) < len(grid.cells)


def _rows(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("select count(*) from results").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def _is_worker(pid: int) -> bool:
    try:
        return b"popen_loky" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.mark.processes
def test_on_dask(tmp_path: Path, dask_engine: str) -> None:
    path = grid_file(tmp_path, replications=1)
    assert undisturbed(path, engine=dask_engine) == undisturbed(path)
    with pytest.raises(InputError, match="no dask scheduler"):
        undisturbed(path, engine="dask://127.0.0.1:1", workers=2, say=None)
    with pytest.raises(InputError, match=r"^engine: expected local"):
        undisturbed(path, engine="mpi")


@pytest.mark.slow
def test_full_disk(tmp_path: Path) -> None:
    """What was finished before the disk was full is kept, the rest follows when there is room."""
    path = grid_file(tmp_path, replications=12, until=2)
    grid = read_grid(path)
    with Store(tmp_path / "s.db", pages=24) as store, pytest.raises(InputError, match="disk is full") as error:
        run_experiment(grid, store, workers=1)
    assert str(error.value).count("\n") == 0
    with Store(tmp_path / "s.db") as store:
        kept = len(store.known(c.key for c in grid.cells))
        assert 0 < kept < len(grid.cells)
        assert run_experiment(grid, store, workers=1) == len(grid.cells) - kept
        assert table(grid, store) == undisturbed(path)


def test_locked_and_foreign_stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "s.db"
    monkeypatch.setattr("fluid.experiment.store.WAIT", 0.1)
    other = sqlite3.connect(place, isolation_level=None)
    other.execute("begin exclusive")
    with pytest.raises(InputError, match="another program holds"):
        Store(place)
    other.execute("rollback")
    other.close()
    Store(place).close()
    for name, content in (("text.db", b"not a store"), ("short.db", b"SQLite format 3\x00 and no more")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=name):
            Store(tmp_path / name)
        assert (tmp_path / name).read_bytes() == content
    foreign = sqlite3.connect(tmp_path / "foreign.db")
    foreign.execute("create table mine (x)")
    foreign.commit()
    foreign.close()
    before = (tmp_path / "foreign.db").read_bytes()
    with pytest.raises(InputError, match="another program's"):
        Store(tmp_path / "foreign.db")
    assert (tmp_path / "foreign.db").read_bytes() == before
    with pytest.raises(InputError, match="directory"):
        Store(tmp_path)
    with pytest.raises(InputError, match="cannot be written"):
        Store(tmp_path / "nowhere" / "s.db")


def test_a_store_is_one_file_by_whatever_name(tmp_path: Path) -> None:
    place, other, folder = tmp_path / "s.db", tmp_path / "other.db", tmp_path / "folder"
    folder.symlink_to(tmp_path)
    other.symlink_to(place)
    for first, second in ((place, other), (other, place), (place, folder / "other.db"), (folder / "s.db", other)):
        key = f"{first} {second}"
        with Store(first) as one, Store(second) as two, Store(first, reading=True) as read:
            assert one.put(key, b"one", 0.5)
            assert not two.put(key, b"two", 0.5)
            assert two.put(key.upper(), b"two", 0.5)
            for store in (one, two, read):
                assert store.read(key, bytes) == (b"one", 0.5)
                assert store.read(key.upper(), bytes) == (b"two", 0.5)
    assert not list(tmp_path.glob("other.db?*"))  # what SQLite needs is beside the file itself


def test_a_store_has_one_name(tmp_path: Path) -> None:
    """SQLite names its log after the file, so that a second name would hide it, or bring it to the wrong file."""
    place, other = tmp_path / "s.db", tmp_path / "other.db"
    with Store(place) as store:
        os.link(place, other)
        store.put("k", b"1", 0.5)  # goes on
        for name in (place, other):
            for reading in (False, True):
                with pytest.raises(InputError, match=rf"^{name}: expected a file with one name, found 2 hard links"):
                    Store(name, reading=reading)
    other.unlink()
    with Store(place) as store:
        assert store.known(["k"]) == {"k"}


@pytest.mark.parametrize("name", [":memory:", "folder/:memory:"])
def test_a_store_is_a_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"^{name}: expected a file to store in"):
        Store(name)
    assert not list(tmp_path.iterdir())


ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select i"
ADDED = {
    "trigger gone": "create trigger gone after insert on results begin delete from results; end",
    "view endless": f"create view endless as {ENDLESS} from n",
    "table more": "create table more (x)",
    "index quick": "create index quick on results (seconds)",
    "table results": "alter table results add column twice real generated always as (seconds * 2) virtual",
    "table words": "create virtual table words using fts5 (x)",
}
REST = "content blob not null, digest text not null, seconds real not null, finished real not null) strict"
REPLACED = (
    f"create view results as {ENDLESS} as key, x'' as content, '' as digest, 1.0 as seconds, 1.0 as finished from n",
    f"create table results (key text, {REST}",
    f"create table results (key text primary key check (key = ''), {REST}",
    "create table results (key text primary key, x)",
)


@pytest.mark.parametrize(
    ("name", "words"), [*ADDED.items(), *(("table results", f"drop table results; {words}") for words in REPLACED)]
)
@pytest.mark.parametrize("reading", [False, True])
def test_a_store_declares_one_table_and_nothing_else(name: str, words: str, reading: bool, tmp_path: Path) -> None:
    place = tmp_path / "s.db"
    with Store(place) as store:
        store.put("k", b"1", 0.5)
    with closing(sqlite3.connect(place)) as connection:
        connection.executescript(words)
    before = place.read_bytes()
    with pytest.raises(InputError, match="with the table results alone") as error:
        Store(place, reading=reading)
    assert name in str(error.value)
    assert str(error.value).startswith(f"{place}: ")
    assert "\n" not in str(error.value)
    assert place.read_bytes() == before


def test_cells_that_go_while_an_experiment_runs_are_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, place = grid_file(tmp_path, replications=2, until=2), tmp_path / "s.db"
    put, lost = Store.put, cycle((True, False))

    def put_and_lose(store: Store, *what: Any, **how: Any) -> None:
        put(store, *what, **how)
        with closing(sqlite3.connect(place, isolation_level=None)) as other:
            other.execute("delete from results where key = ?", (next(lost) and what[0],))

    monkeypatch.setattr(Store, "put", put_and_lose)
    words = ["experiment", str(path), "--store", str(place), "--workers", "1", "--csv", str(tmp_path / "out.csv")]
    assert run(words) == 2
    shown = capsys.readouterr()
    cells = len(read_grid(path).cells)
    assert shown.out == ""
    assert shown.err.splitlines()[-1] == (
        f"{place}: {cells // 2} cells that were stored are missing: another program writes to it; take a new file"
    )
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("changed", ["content", "digest", "key"])
def test_results_that_are_not_those_that_were_stored_are_refused(changed: str, tmp_path: Path) -> None:
    """SQLite checks no content: one bit that has changed on the disk would be taken for a result."""
    path = grid_file(tmp_path, replications=1)
    grid = read_grid(path)
    first, second = grid.cells[0].key, grid.cells[1].key
    with Store(tmp_path / "s.db") as store:
        run_experiment(grid, store, workers=1)
    with closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as connection:
        (content,) = connection.execute("select content from results where key = ?", (first,)).fetchone()
        value = {"content": content[:-1] + bytes([content[-1] ^ 1]), "digest": "0" * 64, "key": second}[changed]
        connection.execute("delete from results where key = ?", (second,))
        connection.execute(f"update results set {changed} = ? where key = ?", (value, first))
    with Store(tmp_path / "s.db") as store:
        with pytest.raises(InputError, match="a cell is damaged: take a new file"):
            run_experiment(grid, store, workers=1)  # before anything is run
        with pytest.raises(InputError, match="a cell is damaged: take a new file"):
            summary(grid, store)


WRITER = """
import sys
from fluid.experiment.store import Store
sys.stdin.read()
for number in range(20):
    with Store(sys.argv[1]) as store:
        store.put(f"both {number}", b"1", 1.0)
        store.put(f"{sys.argv[2]} {number}", b"1", 1.0)
"""


@pytest.mark.slow
def test_writers_at_once_are_all_served(tmp_path: Path) -> None:
    """They make the file together, and open and close it again and again."""
    root, place = Path(__file__).parent.parent.parent, tmp_path / "s.db"
    reading, writing = os.pipe()
    command, how = [sys.executable, "-c", WRITER, str(place)], {"cwd": root, "stdin": reading}
    writers = [subprocess.Popen([*command, str(one)], stderr=subprocess.PIPE, **how) for one in range(4)]
    os.close(reading)
    time.sleep(1.0)
    os.close(writing)  # now they all begin
    assert [writer.communicate()[1] for writer in writers] == [b""] * 4
    assert _rows(place) == 20 + 80


def test_pairing_and_intervals(tmp_path: Path) -> None:
    """Policies see the same jobs, so a difference is known better than from independent runs; keys are distinct."""
    path = grid_file(tmp_path, replications=12, until=20)
    grid = read_grid(path)
    with Store(tmp_path / "s.db") as store:
        run_experiment(grid, store, workers=2)
        groups, pairs = summary(grid, store), comparisons(grid, store)
    assert len(groups) == 16
    assert len(pairs) == 12
    mean = {tuple(group.parameters.values()): group.numbers["reward"] for group in groups}
    for pair in pairs:
        place = tuple(pair.parameters.values())
        a, b = mean[(pair.first, *place)], mean[(pair.second, *place)]
        assert pair.difference.mean == pytest.approx(a.mean - b.mean)
        assert pair.difference.half_width < 0.9 * (a.half_width**2 + b.half_width**2) ** 0.5
    assert len({cell.key for cell in grid.cells}) == len(grid.cells)
    seeds: dict[tuple[object, ...], set[tuple[int, ...]]] = {}
    for cell in grid.cells:
        place = (cell.document["servers"], str(cell.varied["workload"]), cell.replication)
        seeds.setdefault(place, set()).add(tuple(cell.seed().generate_state(4).tolist()))
    assert all(len(states) == 1 for states in seeds.values())
    assert len(set().union(*seeds.values())) == len(seeds)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("until = 0", "until"),
        ("replications = 0", "replications"),
        ('policy = "nothing"', "policy"),
        ("servers = 1.5", "servers"),
        ("warmup = 10", "warmup"),
        ("speed = 3", "speed"),
        ("workload = -1", "workload"),
    ],
)
def test_bad_grids(tmp_path: Path, line: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = grid_file(tmp_path)
    field = line.split(maxsplit=1)[0]
    kept = [text for text in GRID.format(replications=1, until=10).splitlines() if not text.startswith(f"{field} ")]
    path.write_text("\n".join([line, *kept]))
    assert run(["experiment", str(path), "--store", str(tmp_path / "s.db")]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert expected in message
    assert not (tmp_path / "s.db").exists()


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = grid_file(tmp_path, replications=2)
    arguments = ["experiment", str(path), "--store", str(tmp_path / "s.db"), "--workers", "1"]
    assert run([*arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["finished"] == answer["cells"] == 32
    assert len(answer["comparisons"]) == 12
    assert run(arguments) == 0
    assert "differences on the same jobs" in capsys.readouterr().out


def test_interrupted_command_says_what_it_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = grid_file(tmp_path)

    def stop_at_five(numbers: dict[str, object]) -> None:
        if len(seen) == 5:
            raise KeyboardInterrupt
        seen.append(numbers)

    seen: list[object] = []
    put = Store.put
    monkeypatch.setattr(Store, "put", lambda self, *a, **k: (stop_at_five({}), put(self, *a, **k))[1])
    assert run(["experiment", str(path), "--store", str(tmp_path / "s.db"), "--workers", "1"]) == 130
    shown = capsys.readouterr()
    assert "5 of 48 cells" in shown.out
    assert shown.err.strip().endswith("interrupted")


@pytest.mark.parametrize(("version", "advice"), [(5, "use a newer packproof"), (3, "take a new file")])
def test_a_store_of_another_version_is_refused(tmp_path: Path, version: int, advice: str) -> None:
    Store(tmp_path / "s.db").close()
    connection = sqlite3.connect(tmp_path / "s.db")
    connection.execute(f"pragma user_version = {version}")
    connection.close()
    with pytest.raises(InputError, match=f"version 4, found version {version}: {advice}"):
        Store(tmp_path / "s.db")


def test_what_is_kept_stays_as_it_is(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        store.put("k", b"1", 0.5)
        store.put("k", b"2", 0.5)
        assert store.read("k", bytes) == (b"1", 0.5)


def test_options_of_a_policy_do_not_change_the_jobs(tmp_path: Path) -> None:
    """Cells that differ in what only a policy reads have one seed; those that differ in service have not."""
    (tmp_path / "two.toml").write_text(INSTANCE)
    path = tmp_path / "grid.toml"
    text = 'instance = "two.toml"\nuntil = 10\nreplications = 1\nservers = 3\npolicy = "dra"\n[vary]\n'
    for line, seeds in (("reservation = [1, 2, 3]", 1), ('service = ["exponential", "deterministic"]', 2)):
        path.write_text(text + line)
        cells = read_grid(path).cells
        assert len({tuple(cell.seed().generate_state(4).tolist()) for cell in cells}) == seeds
        assert len({cell.key for cell in cells}) == len(cells) > 1


def test_a_value_that_comes_twice_is_refused(tmp_path: Path) -> None:
    path = grid_file(tmp_path)
    path.write_text(path.read_text().replace("servers = [5, 12]", "servers = [5, 12, 5]"))
    with pytest.raises(InputError, match="none comes twice"):
        read_grid(path)
