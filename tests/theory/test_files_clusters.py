"""The cluster file: what is read, what is written back, and the one line for what is wrong."""

from __future__ import annotations

import copy
import random

import pytest

from bounds.results.instances.drawn import random_cluster
from theory.errors import InputError
from theory.files.clusters import cluster_document, parse_cluster, read_cluster

GOOD = {
    "server": [
        {"name": "A", "capacity": {"cpu": 9, "ram": 12, "bandwidth": 100}},
        {"name": "B", "capacity": {"cpu": 12, "ram": "12"}, "count": 3},
    ],
    "user": [
        {"name": "u1", "demand": {"cpu": 1, "ram": 2, "bandwidth": 10}},
        {"name": "u2", "demand": {"cpu": "1/2", "ram": 2.5}, "weight": 2, "servers": ["B"]},
        {"name": "u3", "demand": {"cpu": 1}, "effective": {"B": {"cpu": 24}}},
    ],
}


def test_read_and_written_back(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(
        '[[server]]\nname = "A"\ncapacity = { cpu = 0.1 }\n[[user]]\nname = "u"\ndemand = { cpu = "1/30" }\n'
    )
    assert str(read_cluster(path).monopoly[0][0]) == "3"
    first = parse_cluster(GOOD)
    assert [str(x) for x in first.monopoly[2]] == ["9", "72"]
    assert parse_cluster(cluster_document(first)) == first
    generator = random.Random(1)
    for _ in range(20):
        drawn = random_cluster(generator, 4, 3, 3, counts=4)
        assert parse_cluster(cluster_document(drawn)) == drawn


def put(path, value):
    def change(document):
        *front, last = path
        for key in front:
            document = document[key]
        document[last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("user", 1, "servers"), ["C"], "f: user[2].servers: expected names of servers of this file (A, B), got 'C'"),
        (("user", 1, "servers"), [], "f: user[2].servers: expected a list of at least one server name"),
        (("user", 1, "servers"), ["B", "B"], "f: user[2].servers: expected each server once, got 'B' again"),
        (("user", 0, "servers"), ["B"], "f: user[1]: expected a server that can run a task of 'u1', but none has its"),
        (("user", 1, "weight"), 0, "f: user[2].weight: expected a number greater than 0, got 0"),
        (("user", 1, "weight"), "-1", "f: user[2].weight: expected a number greater than 0, got '-1'"),
        (("user", 1, "name"), "u1", "f: user[2].name: expected a name of its own, got 'u1' again"),
        (("user", 1, "demand"), {}, "f: user[2].demand: expected at least one positive demand"),
        (("user", 1, "demand"), {"gpu": 1}, "f: user[2].demand.gpu: expected a resource of some server (cpu, ram, ban"),
        (("user", 1, "demand"), {"cpu": -1}, "f: user[2].demand.cpu: expected a number of at least 0, got -1"),
        (("user", 1, "age"), 3, "f: user[2].age: unknown field, expected one of name, demand, weight, servers"),
        (("user", 2, "effective"), {"C": {"cpu": 1}}, "f: user[3].effective.C: expected a server of this file (A, B)"),
        (("user", 2, "effective"), {"B": {"bandwidth": 1}}, "f: user[3].effective.B.bandwidth: expected a resource th"),
        (("user", 2, "effective"), {"B": {"cpu": 0}}, "f: user[3].effective.B.cpu: expected a number greater than 0"),
        (("user",), [], "f: user: expected at least one table [[user]], got []"),
        (("server", 0, "capacity", "cpu"), -9, "f: server[1].capacity.cpu: expected a number of at least 0, got -9"),
        (("server", 0, "capacity", "cpu"), "many", "f: server[1].capacity.cpu: expected a number of at least 0, got"),
        (("server", 0, "capacity"), {"cpu": 0}, "f: server[1].capacity: expected at least one positive capacity"),
        (("server", 1, "count"), 0, "f: server[2].count: expected a whole number of at least 1, got 0"),
        (("server", 1, "count"), 1.5, "f: server[2].count: expected a whole number of at least 1, got 1.5"),
        (("server", 1, "name"), "A", "f: server[2].name: expected a name of its own, got 'A' again"),
        (("server", 1, "name"), "", "f: server[2].name: expected a name, got ''"),
        (("job",), 1, "f: job: unknown field, expected one of server, user"),
    ],
)
def test_one_line_for_bad_input(path, value, line):
    document = copy.deepcopy(GOOD)
    put(path, value)(document)
    with pytest.raises(InputError) as caught:
        parse_cluster(document, "f")
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)
