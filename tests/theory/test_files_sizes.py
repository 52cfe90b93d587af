"""Size files: each law, exact numbers, and one clear line for every mistake."""

from __future__ import annotations

import gzip
from fractions import Fraction
from pathlib import Path

import pytest

from theory.errors import InputError
from theory.files.google_machines import MACHINES, REQUESTS, google_cluster, google_law
from theory.files.sizes import parse_sizes, read_sample, read_sizes, sizes_document
from theory.partition.bounding import bracket
from theory.partition.laws import discrete, uniform

F = Fraction


def written(folder: Path, body: str, name: str = "sizes.toml") -> Path:
    path = folder / name
    path.write_text(body)
    return path


def test_laws(tmp_path: Path) -> None:
    (tmp_path / "sample.csv").write_text("size\n0.25\n1/4\n0.5\n\n")
    bodies = {
        'discrete = { "2/5" = "1/2", "0.6" = 0.5 }': discrete({"2/5": "1/2", "3/5": "1/2"}),
        "uniform = [0.1, 0.9]": uniform("1/10", "9/10"),
        'csv = "sample.csv"': discrete({"1/4": "2/3", "1/2": "1/3"}),
    }
    for body, law in bodies.items():
        found = read_sizes(written(tmp_path, f"[sizes]\n{body}\nservers = 5"))
        assert (found.law, found.servers, found.partition) == (law, 5, None)
        assert parse_sizes(sizes_document(found)) == found
    pieces = read_sizes(written(tmp_path, '[sizes]\npiecewise = [[0.1, 0.2, "1/2"], [0.5, 0.5, "1/2"]]'))
    assert pieces.law.atoms == ((F(1, 2), F(1, 2)),)
    assert parse_sizes(sizes_document(pieces)) == pieces
    as_json = written(tmp_path, '{"sizes": {"uniform": [0.1, 0.9]}}', "sizes.json")
    assert read_sizes(as_json).law == uniform("1/10", "9/10")


def test_partitions(tmp_path: Path) -> None:
    for body in ('["1/4", "1/2"]', '[[0, "1/4"], ["1/4", "1/2"], ["1/2", 1]]'):
        found = read_sizes(written(tmp_path, f"[sizes]\nuniform = [0.1, 0.9]\npartition = {body}")).partition
        assert found is not None
        assert found.upper == (F(1, 4), F(1, 2), F(1))
    body = '[[[0, "1/4"], ["1/2", 1]], [["1/4", "1/2"]]]'
    found = read_sizes(written(tmp_path, f"[sizes]\nuniform = [0.1, 0.9]\npartition = {body}")).partition
    assert found is not None
    assert found.upper == (F(1), F(1, 2))


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("", "sizes: expected exactly one law of discrete, counts, items, uniform, piecewise, csv, got none"),
        ('uniform = [0.1, 0.2]\ncsv = "x"', "sizes: expected exactly one law"),
        ("uniform = [0.1, 0.9]\nserver = 2", "sizes.server: unknown field"),
        (
            'discrete = { "2/5" = "1/2", "3/5" = "1/3" }',
            "sizes.discrete: expected probabilities that sum to 1",
        ),
        ('discrete = { "3/2" = 1 }', "sizes.discrete: expected a size in (0, 1], got '3/2'"),
        ('discrete = { "0" = 1 }', "sizes.discrete: expected a size in (0, 1], got '0'"),
        ('discrete = { "-0.5" = 1 }', "sizes.discrete: expected a size in (0, 1], got '-0.5'"),
        ('discrete = { "a" = 1 }', "sizes.discrete: expected a size in (0, 1], got 'a'"),
        ('discrete = { "1/2" = 2, "1/4" = -1 }', "sizes.discrete.1/4: expected a probability greater than 0, got -1"),
        ('discrete = { "1/2" = "1/2", "0.5" = "1/2" }', "sizes.discrete.0.5: expected each size once"),
        ("discrete = {}", "sizes.discrete: expected at least one size"),
        ("uniform = [0.9, 0.1]", "sizes.uniform: expected two ends"),
        ("uniform = [0.5, 1.5]", "sizes.uniform: expected two ends"),
        ("uniform = [0.5]", "sizes.uniform: expected two ends"),
        ("piecewise = [[0.1, 0.2, 0.4]]", "sizes.piecewise: expected probabilities that sum to 1, got 2/5"),
        ("piecewise = [[0.1, 0.3, 0.5], [0.2, 0.4, 0.5]]", "sizes.piecewise: expected pieces without overlap"),
        ("piecewise = [[0.1, 1.3, 1]]", "sizes.piecewise[1]: expected rows"),
        ("uniform = [0.1, 0.9]\nservers = 0", "sizes.servers: expected a whole number of at least 1, got 0"),
        ("uniform = [0.1, 0.9]\nservers = 1.5", "sizes.servers: expected a whole number of at least 1, got 1.5"),
        (
            'uniform = [0.1, 0.9]\npartition = [[0, "1/3"], ["1/2", 1]]',
            "sizes.partition: expected intervals that",
        ),
        (
            'uniform = [0.1, 0.9]\npartition = [[0, "1/2"], ["1/3", 1]]',
            "sizes.partition: expected intervals that",
        ),
        ("uniform = [0.1, 0.9]\npartition = [1.5]", "sizes.partition[1]: expected a cut in (0, 1), got 1.5"),
        ('csv = "absent.csv"', "absent.csv: cannot be read"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, body: str, line: str) -> None:
    path = written(tmp_path, f"[sizes]\n{body}")
    with pytest.raises(InputError) as error:
        read_sizes(path)
    message = str(error.value)
    assert line in message
    assert message.startswith(str(tmp_path))
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "found an empty file"),
        ("size\n", "expected at least one size, found none"),
        ("size\n0.5\nabc\n", ":3: expected a size in (0, 1], got 'abc'"),
        ("0.5\n1.5\n", ":2: expected a size in (0, 1], got 1.5"),
        ("0.5\n0\n", ":2: expected a size in (0, 1], got 0"),
        ("0.5\n0.1,0.2\n", ":2: expected 1 field, got 2"),
        ("nan\n0.5\n", ":1: expected a size in (0, 1], got 'nan'"),
    ],
)
def test_mistakes_in_samples_name_the_line(tmp_path: Path, text: str, line: str) -> None:
    path = written(tmp_path, text, "sample.csv")
    with pytest.raises(InputError) as error:
        read_sample(path)
    assert line in str(error.value)
    assert str(error.value).startswith(str(path))


@pytest.mark.slow
def test_google_memory_within_one_percent(data: Path) -> None:
    law = google_law(data, "memory")
    assert len(law.atoms) > 600
    best = bracket(law, F(1, 100))
    assert best.lower < best.upper <= best.lower * F(101, 100)
    assert best.upper <= 1 / law.mean
    assert google_law(data, "larger").mean > law.mean


def test_google_needs_its_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        google_law(tmp_path, "cpu")


def test_equal_machines_of_two_platforms_are_one_class(tmp_path: Path) -> None:
    (tmp_path / MACHINES).write_text("platform,cpu_capacity,mem_capacity,count\n0,0.5,0.25,3\n1,1,1,2\n2,0.5,0.25,4\n")
    with gzip.open(tmp_path / REQUESTS, "wt") as file:
        file.write("user,cpu_req,mem_req\n7,0.1,0.2\n")
    shared = google_cluster(tmp_path)
    assert [(server.name, server.count) for server in shared.servers] == [("0.5/0.25", 7), ("1/1", 2)]
