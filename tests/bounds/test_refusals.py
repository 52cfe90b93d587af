"""What the command line refuses: one line that names the option or the field, what was got, and what is expected."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bounds.cli import application, run
from bounds.cli.options import expectation, refusal
from theory.files.kinds import KINDS_OF_FILES
from theory.files.price_catalogue import read_own_types

EXAMPLES = Path(__file__).parents[2] / "examples"
FOUR, RULES = str(EXAMPLES / "four_types.toml"), EXAMPLES / "rules_to_attack.py"
A_CLAIM = "expected a paper or an id of `packproof verify --list`"
SERVERS = "--servers: expected a whole number from 1 to 100,000,000, got"
RULE = f"{RULES}:first_fit"
SIMULATE = ["simulate", FOUR, "--policy", "first-fit"]


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line with which a command ends in status 2."""
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert "Traceback" not in shown.err
    return shown.err.strip()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*SIMULATE, "--until", "9", "--servers", "ten"], f"{SERVERS} 'ten'"),
        ([*SIMULATE, "--until", "9", "--servers", "0"], f"{SERVERS} 0"),
        ([*SIMULATE, "--until", "9", "--servers"], f"{SERVERS} no value"),
        ([*SIMULATE, "--until", "soon"], "--until: expected a number, got 'soon'"),
        ([*SIMULATE, "--polcy", "x"], "--polcy: no such option, did you mean --plot or --policy?"),
        ([*SIMULATE, "--xyz", "x"], "--xyz: no such option, `packproof simulate --help` lists them"),
        (["verify", "figur-3"], f"CLAIM: {A_CLAIM}, got 'figur-3'; did you mean figure-3?"),
        (
            ["verify", "autoscaling/teorem-3.7"],
            f"CLAIM: {A_CLAIM}, got 'autoscaling/teorem-3.7'; did you mean autoscaling/thm-3.7?",
        ),
        (["simulate"], "INSTANCE: missing, expected it after packproof simulate: instance file, TOML or JSON"),
        (SIMULATE, "--until: missing, expected --until T: a number"),
        (["solve", FOUR, "--json=3"], "--json: expected no value, since it is a switch"),
        (
            ["attack", f"{RULES}:first_fit", "--kind", "packing"],
            "--kind: expected one of assignment, items, sharing, online, got 'packing'",
        ),
        (["attack", RULE, "--types", "1.5"], "--types: expected a whole number from 1 to 8, got 1.5"),
        (["attack", RULE, "--evaluations", "0"], "--evaluations: expected a whole number of at least 1, got 0"),
        (["admission", "decde"], "packproof admission: expected one of the commands belief, compare, decide, ex"),
        (["catalogue", "x", "y", "z"], "packproof catalogue: expected no more words, got 'y z'"),
        (["simulat"], "packproof: expected one of the commands admission, attack, catalogue, check, example, "),
        (["worst", FOUR], "--vary: missing, expected --vary VALUE: one of workload, rewards, all"),
        (["worst", FOUR, "--vary", "x"], "--vary: expected one of workload, rewards, all, got 'x'"),
        (["admission", "decide", "x.toml"], "--arriving: missing, expected --arriving C: a whole number"),
    ],
)  # fmt: skip
def test_options(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(arguments, capsys).startswith(said)


def test_what_stands_for_no_value_in_older_parsers_is_none() -> None:
    command = application().parser().commands["solve"]  # type: ignore[attr-defined]
    error = Exception()
    error.param = command.params[0]  # type: ignore[attr-defined]
    line = str(refusal(command, error, {"instance": object()}))
    assert line == str(refusal(command, error, {}))
    assert line.startswith("INSTANCE: missing, expected it after packproof solve")


def test_every_parameter_of_every_command_has_an_expectation() -> None:
    """Whatever the parser refuses can be worded; numbers and choices are told by their kind."""

    def commands(one: Any) -> list[Any]:
        inner = getattr(one, "commands", None)
        return [one] if inner is None else [leaf for each in inner.values() for leaf in commands(each)]

    found = 0
    for command in commands(application().parser()):
        for parameter in command.params:
            if parameter.name != "help":
                assert expectation(command, parameter).strip(), (command.name, parameter.name)
                found += 1
    assert found > 100


@pytest.mark.parametrize("rule", [f"{RULES}:first_fit", f"{RULES}:equal_parts", "drf", "first-fit"])
def test_a_rule_without_its_kind_hears_of_kinds(rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(["attack", rule, "--evaluations", "2", "--workers", "1"], capsys)
    assert "no --kind was given" in line
    assert "--kind items for one that packs items, sharing for one" in line
    assert "no --kind was given" not in refused(["attack", rule, "--kind", "assignment", "--evaluations", "2"], capsys)


def test_known_kinds_where_priors_are_needed_name_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    small, large = str(EXAMPLES / "admission_small.toml"), str(EXAMPLES / "admission.toml")
    arguments = ["--active", "1", "--arriving", "1", "--horizons", "1"]
    line = refused(["admission", "decide", small, *arguments], capsys)
    assert line == f"{small}: deployments: expected priors [deployments], found known kinds [[kind]]"
    assert refused(
        ["admission", "exact", large, "--policy", "zeroth", "--threshold", "1", "--most-deployments", "2"], capsys
    ).startswith(f"{large}: kind:")


NO_MEANING = {
    f"attack {RULE} --items 5": "--kind assignment (the default; did you mean --kind items?)",
    f"attack {RULE} --bins 5": "--kind assignment (the default; did you mean --kind items or --kind sharing?)",
    f"attack {RULE} --kind assignment --items 5": "--kind assignment",
    f"attack {RULE} --kind sharing --items 5": "--kind sharing",
    f"solve {FOUR} --epsilon 0.1": "--oracle exact, which finds the best configuration "
    "(the default; did you mean --oracle fptas?)",
    f"solve {FOUR} --oracle exact --epsilon 0.1": "--oracle exact, which finds the best configuration",
    "verify thm-3.7 --list --level full": "--list, which checks nothing",
}
"""Commands with an option without meaning, and what is said of their mode, and of the mode that was meant."""


@pytest.mark.parametrize("command", NO_MEANING)
def test_a_mode_that_was_not_typed_is_called_the_default(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    option = command.split()[-2]
    assert refused(command.split(), capsys) == f"{option}: has no meaning with {NO_MEANING[command]}"


@pytest.mark.parametrize(
    ("horizons", "said"),
    [
        ("2,1", "expected times in increasing order, got 1 after 2"),
        ("1,3,3", "expected times in increasing order, got 3 after 3"),
        ("1,0", "expected times greater than 0, got 0"),
        ("1,,2", "expected numbers with commas between them, got '1,,2' (it is empty)"),
    ],
)
def test_horizons_say_what_they_got(horizons: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--active", "1", "--arriving", "1", "--horizons", horizons]
    assert (
        refused(["admission", "decide", str(EXAMPLES / "admission.toml"), *arguments], capsys) == f"--horizons: {said}"
    )


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("batch,16,32,cheap", "price: expected a number greater than 0, got 'cheap' (not a number)"),
        ("batch,16,32,", "price: expected a number, got an empty field"),
        (",16,32,1", "name: expected the name of a type, got an empty field"),
        ("batch,16,-1,1", "memory: expected a number of at least 0, got -1"),
        ("batch,16,32,0", "price: expected a number greater than 0, got 0"),
    ],
)
def test_types_of_ones_own_are_refused_by_line_and_column(
    row: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Blank lines count, as in an editor; an empty resource is none."""
    own = tmp_path / "own.csv"
    own.write_text(f"name,cpu,memory,price\nfirst,1,,2\n\n{row}\n")
    arguments = ["instance", "--types", "aws:c5.large", "--own", str(own), "--server", "cpu=96,memory=768"]
    assert refused(arguments, capsys) == f"{own}:4: {said}"
    own.write_text("name,cpu,memory,price\nfirst,1,,2\n")
    assert read_own_types(own) == [{"name": "first", "reward": "2", "demand": {"cpu": "1"}}]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            "time,duration,tpye\n0,1,large",
            "2: tpye: expected a number, got 'large' (not a number): every column ",
        ),
        ("time,duration,type\n0,,large", "2: duration: expected a number, got '' (it is empty)"),
        ("time,duration,type\n0,1,lrge", "2: type: expected one of large, small, got 'lrge'"),
    ],
)
def test_traces(rows: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "t.csv"
    trace.write_text(rows + "\n")
    simulate = [
        "simulate",
        str(EXAMPLES / "caught.toml"),
        "--policy",
        "nonpreemptive",
        "--servers",
        "2",
        "--until",
        "9",
    ]
    assert refused([*simulate, "--trace", str(trace)], capsys).startswith(f"{trace}:{said}")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            "polcy = 'dra'\n",
            "polcy: unknown field; at the top stand instance, until, warmup, replications, seed, policy, s",
        ),
        (
            "[vary]\nworkloads = [1]\n",
            "vary.workloads: unknown field; under [vary] stand policy, servers, workload, intensity, and t",
        ),
        (
            "[simulation]\nservise = 1\n",
            "simulation.servise: unknown field; under [simulation] stand arrivals, service, ",
        ),
    ],
)
def test_a_grid_says_where_fields_stand(
    more: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = tmp_path / "g.toml"
    grid.write_text(f'instance = "{FOUR}"\nuntil = 9\nservers = 3\npolicy = "dra"\n{more}')
    line = refused(["experiment", str(grid), "--store", str(tmp_path / "s.db")], capsys)
    assert line.startswith(f"{grid}: {said}")
    meant = {"p": "policy", "[v": "workload", "[s": "service"}[more[: 1 + more.startswith("[")]]
    assert f"; did you mean {meant}" in line


@pytest.mark.parametrize(
    ("file", "table"),
    [("counted_sizes", "sizes"), ("four_classes", "user"), ("user_4_leaves", "event"), ("admission", "deployments"),
     ("admission_small", "kind"), ("grid", "vary")],
)  # fmt: skip
def test_a_file_of_another_kind_says_which_command_reads_it(
    file: str, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kind, commands = KINDS_OF_FILES[table]
    line = refused(["solve", str(EXAMPLES / f"{file}.toml")], capsys)
    assert f"expected an instance (tables server and type), found {kind} (table {table}): {commands}" in line


READERS = {
    "solve F": "instance",
    "worst F --vary workload --time-limit 1": "instance",
    "region F --facets 0 --no-headroom": "instance",
    "fluid F --until 1": "instance",
    "fluid INSTANCE --until 1 --from F": "state",
    "simulate F --policy first-fit --servers 2 --until 1": "instance",
    "simulate INSTANCE --policy first-fit --servers 2 --until 1 --trace F": "trace",
    "throughput F": "sizes",
    "share F --mechanism tsf": "cluster",
    "share CLUSTER --mechanism tsf --events F": "events",
    "experiment F --status --store S": "grid",
    "check F": "certificate",
    "check CERTIFICATE --instance F": "instance",
    "export F --format lp --out S": "certificate",
    "admission moments F --at 1 --size 4": "admission",
    "admission belief ADMISSION --observed F": "observed",
    "admission decide ADMISSION --state F --arriving 4": "tenants",
}
"""Commands, and the kind of file that they take as F."""

FOUND = {
    "instance.toml": "an instance (table type)",
    "cluster.toml": "users who share a cluster (table user)",
    "sizes.toml": "a law of sizes ",
    "events.toml": "events of sharing (table event)",
    "grid.toml": "the grid of an experiment (table vary)",
    "admission.toml": "a cluster with deployments (table deployments)",
    "observed.json": "what was observed of a deployment (field core_deaths)",
    "certificate.json": "a certificate (field digest)",
    "certificate.toml": "a JSON document, a certificate (field digest): packproof check",
    "state.toml": "a state of the fluid limit (table assignment)",
    "jobs.toml": "comma-separated values (CSV)",
    "lines.toml": "JSON lines: packproof simulate --trace",
    "code.toml": "Python code",
    "picture.toml": "a picture (PNG)",
    "jobs.toml.gz": "a compressed file (gzip)",
    "store.db": "a store of runs (SQLite)",
    "empty.toml": "an empty file",
    "folder.toml": "a directory",
}
"""Files by name, and what a command that takes another kind says of them."""


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of every kind."""
    folder = tmp_path_factory.mktemp("kinds")
    for name, source in (
        ("instance.toml", "caught.toml"), ("cluster.toml", "four_classes.toml"), ("sizes.toml", "uniform_sizes.toml"),
        ("events.toml", "user_4_leaves.toml"), ("grid.toml", "grid.toml"), ("admission.toml", "admission.toml"),
        ("observed.json", "observed.json"), ("jobs.toml", "jobs.csv"), ("code.toml", "own_policies.py"),
    ):  # fmt: skip
        (folder / name).write_bytes((EXAMPLES / source).read_bytes())
    assert run(["solve", str(folder / "instance.toml"), "--certificate", str(folder / "certificate.json")]) == 0
    (folder / "certificate.toml").write_bytes((folder / "certificate.json").read_bytes())
    (folder / "state.toml").write_text("[[assignment]]\nconfiguration = { large = 1 }\nfraction = 1\n")
    (folder / "lines.toml").write_text('{"time": 1, "duration": 2}\n{"time": 2, "duration": 2}\n')
    (folder / "picture.toml").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    (folder / "jobs.toml.gz").write_bytes(gzip.compress((EXAMPLES / "jobs.csv").read_bytes()))
    (folder / "empty.toml").write_text("\n")
    (folder / "folder.toml").mkdir()
    with closing(sqlite3.connect(folder / "store.db")) as store:
        store.execute("create table results (key text)")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("command", READERS)
def test_every_command_names_what_it_found_in_a_wrong_kind_of_file(
    command: str, kinds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line that names the file, what was expected and what was found, without a word of a parser."""
    places = {name.upper(): str(kinds / f"{name}.toml") for name in ("instance", "cluster", "admission")}
    places |= {"S": str(tmp_path / "new.db"), "CERTIFICATE": str(kinds / "certificate.json")}
    for name, found in FOUND.items():
        right = name.partition(".")[0] == READERS[command]
        tables = READERS[command] == "trace" and name in ("jobs.toml", "lines.toml", "jobs.toml.gz")
        law = name == "sizes.toml" and command.startswith("simulate F")  # a law of sizes is for slotted policies
        if (right and name != "certificate.toml") or tables or law:
            continue
        if right and READERS[command] == "certificate":
            continue  # the name of a certificate is free
        line = refused(
            [places.get(word, str(kinds / name) if word == "F" else word) for word in command.split()], capsys
        )
        assert line.startswith(f"{kinds / name}: expected "), (name, line)
        assert f"found {found}" in line or f", {found}" in line, (name, line)
        assert not re.search("Expect|Invalid|line 1|column 1|key/value|byte 0x", line), (name, line)


POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"creationTimestamp": "2026-05-01T00:00:00Z"},
    "spec": {"containers": [{"resources": {"requests": {"cpu": "500m", "memory": "128Mi"}}}]},
}


@pytest.mark.parametrize("command", [*READERS, "plan F LOG --server cpu=4 --accept 1", "admission fit F"])
def test_what_kubectl_writes_is_sent_to_no_command_that_does_not_read_it(
    command: str, kinds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lists and single objects, short and longer than what is looked at, as JSON and as YAML."""
    places = {name.upper(): str(kinds / f"{name}.toml") for name in ("instance", "cluster", "admission")}
    places |= {"S": str(tmp_path / "new.db"), "CERTIFICATE": str(kinds / "certificate.json")}
    places |= {"LOG": str(EXAMPLES / "vm_log.csv")}
    documents = {
        "pods.json": json.dumps({"apiVersion": "v1", "items": [POD] * 3, "kind": "List"}, indent=4),
        "raw.json": json.dumps({"kind": "PodList", "apiVersion": "v1", "items": [POD]}),
        "pod.json": json.dumps(POD),
        "pods.toml": "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\nkind: List\n",
    }
    if "--trace" in command or "fit" in command:
        documents["many.json"] = json.dumps({"apiVersion": "v1", "items": [POD] * 9000, "kind": "List"}, indent=4)
    for name, content in documents.items():
        (tmp_path / name).write_text(content)
        words = [places.get(word, str(tmp_path / name) if word == "F" else word) for word in command.split()]
        line = refused(words, capsys)
        if "--trace" in command and name.endswith(".json"):  # pods are a log, here of none that ran
            assert line.startswith(f"{tmp_path / name}:1: PodScheduled: expected a time such as"), line
            continue
        assert line.startswith(f"{tmp_path / name}: expected "), line
        assert "found objects of Kubernetes (kubectl get -o json): packproof log, packproof plan and" in line


@pytest.mark.parametrize(("name", "text"), [("a.toml", "a = [1"), ("a.json", '{"a": [1'), ("notes.toml", "some words")])
def test_a_broken_document_names_the_place(
    name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text)
    form = name[-4:].upper().lstrip(".")
    line = refused(["solve", str(tmp_path / name)], capsys)
    said = f"{tmp_path / name}: expected a {form} document, found text that is not well-formed {form}: "
    assert line.startswith(said)
    assert re.search(r"line 1|end of document", line)
    assert "expected a certificate" in refused(["check", str(tmp_path / name)], capsys)


def test_a_file_that_is_called_like_a_table_is_named_once(
    kinds: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(kinds)
    assert refused(["fluid", "sizes.toml", "--until", "1"], capsys).startswith("sizes.toml: expected an instance")


def test_an_item_list_is_no_instance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = tmp_path / "items.toml"
    items.write_text("[items]\ncapacity = [10]\nsizes = [[4], [6], [5]]\n")
    assert "found a list of items (table items): packproof throughput" in refused(["solve", str(items)], capsys)
    assert run(["throughput", str(items)]) == 0, "as the message says"


def test_a_required_field_with_a_slip_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "slip.toml"
    path.write_text(Path(FOUR).read_text().replace("workload", "worklaod", 1))
    assert run(["solve", str(path)]) == 2
    assert "worklaod: unknown field, expected one of " in (line := capsys.readouterr().err)
    assert line.endswith("; did you mean workload?\n")


POOLS = """
[[server]]
name = "wide"
share = 1
capacity = { cpu = 8 }
[[server]]
name = "narrow"
share = 1
capacity = { cpu = 4 }
[[type]]
name = "a"
demand = { cpu = 2 }
reward = 2
workload = 1
"""


@pytest.mark.parametrize(
    ("command", "possible"),
    [
        ("fluid F --until 1", "solve F"),
        ("simulate F --policy dra --servers 160 --until 1 --against-fluid", "solve F"),
        ("simulate F --policy dra-preemption --servers 4 --until 1", "simulate F --policy dra --servers 4 --until 1"),
        ("simulate F --policy vqs --servers 4 --until 9", "simulate F --policy max-weight-local --servers 4 --until 9"),
    ],
)
def test_what_takes_one_pool_names_what_takes_several(
    command: str, possible: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names a command that does run on several pools, and it does."""
    path = tmp_path / "pools.toml"
    path.write_text(POOLS)
    line = refused([str(path) if word == "F" else word for word in command.split()], capsys)
    named = "packproof solve" if possible.startswith("solve") else possible.split()[3]
    assert "; " in line
    assert named in line.partition("; ")[2]
    assert run([str(path) if word == "F" else word for word in possible.split()]) == 0
