"""Bad inputs: each ends in exit status 2 and one line that names the file and the field.

An entry is the arguments, the files that it needs (name and content), and words that the line must contain, in order.
``{two}`` and the like are pieces of files below.
"""

from __future__ import annotations

TWO = """[server]
capacity = { cpu = 12 }
[[type]]
name = "a"
demand = { cpu = 5 }
reward = 3
workload = 1
[[type]]
name = "b"
demand = { cpu = 7 }
reward = 4
workload = 1
"""
SIZES = '[sizes]\nuniform = ["1/10", "9/10"]\nservers = 2\n[simulation]\nintensity = 0.5\n'
CLUSTER = """[[server]]
name = "A"
capacity = { cpu = 9 }
[[user]]
name = "u"
demand = { cpu = 1 }
"""
GRID = """instance = "two.toml"
until = 10
replications = 1
servers = 5
policy = "dra"
"""
OWN = """from fluid.simulation.policy_interface import Policy, nothing_to_depart, nothing_to_refresh
from fluid.simulation.state import Common, common
def prepare(setting): return Common(**common(setting))
def place(state, job_type, draws): {place}
MINE = Policy("mine", "loss", prepare, place, nothing_to_depart, nothing_to_refresh)
"""


def _swap(text: str, old: str, new: str) -> str:
    assert old in text, old
    return text.replace(old, new, 1)


def _instance(old: str, new: str) -> dict[str, str]:
    return {"i.toml": _swap(TWO, old, new)}


def _simulation(table: str) -> dict[str, str]:
    return {"i.toml": f"{TWO}[simulation]\n{table}\n".replace("workload = 1", 'workload = "1/4"')}  # a stable queue


def _grid(old: str, new: str) -> dict[str, str]:
    return {"two.toml": TWO, "g.toml": _swap(GRID, old, new)}


SOLVE, REGION, SHARE = "solve i.toml", "region i.toml", "share c.toml"
LOSS = "simulate i.toml --policy dra --servers 10 --until 5"
QUEUE = "simulate i.toml --policy nonpreemptive --servers 10 --until 5"
SLOTS = "simulate s.toml --policy bf-js --until 50"
EXPERIMENT = "experiment g.toml --store s.db"
FIRST, GOOD = "demand = { cpu = 5 }", {"i.toml": TWO}
KINDS = {"two.toml": TWO}

REFUSED: list[tuple[str, dict[str, str], list[str]]] = [
    # instance files
    ("solve none.toml", {}, ["none.toml"]),
    (SOLVE, {"i.toml": "server = ["}, ["i.toml"]),
    (SOLVE, {"i.toml": ""}, ["i.toml", "empty"]),
    (SOLVE, _instance("capacity = { cpu = 12 }", ""), ["i.toml", "server", "capacity"]),
    (SOLVE, _instance("cpu = 12", "cpu = -1"), ["i.toml", "server.capacity.cpu"]),
    (SOLVE, _instance("cpu = 12", 'cpu = "x"'), ["i.toml", "server.capacity.cpu"]),
    (SOLVE, _instance("cpu = 12", "cpu = nan"), ["i.toml", "server.capacity.cpu"]),
    (SOLVE, _instance("cpu = 12", "cpu = 6"), ["i.toml", "type[2].demand", "b"]),
    (SOLVE, _instance(FIRST, "demand = { gpu = 5 }"), ["i.toml", "demand", "gpu"]),
    (SOLVE, _instance(FIRST, "demand = { cpu = 0 }"), ["i.toml", "type[1].demand"]),
    (SOLVE, _instance(FIRST, "demand = { cpu = -5 }"), ["i.toml", "demand.cpu"]),
    (SOLVE, _instance(FIRST, "demand = 5"), ["i.toml", "demand"]),
    (SOLVE, _instance("reward = 3", "reward = 0"), ["i.toml", "reward"]),
    (SOLVE, _instance("reward = 3", "reward = inf"), ["i.toml", "reward"]),
    (SOLVE, _instance("workload = 1", "workload = -1"), ["i.toml", "workload"]),
    (SOLVE, _instance("workload = 1", 'workload = "1/0"'), ["i.toml", "workload"]),
    (SOLVE, _instance("workload = 1", "workload = true"), ["i.toml", "workload"]),
    (SOLVE, _instance("workload = 1", "workload = 1\nservice_rate = 0"), ["i.toml", "service_rate"]),
    (SOLVE, _instance("workload = 1", "workload = 1\nweight = 1"), ["i.toml", "weight"]),
    (SOLVE, _instance('name = "b"', 'name = "a"'), ["i.toml", "name"]),
    (SOLVE, _instance('name = "b"', "name = 2"), ["i.toml", "name"]),
    (SOLVE, {"i.toml": TWO.partition("[[type]]")[0]}, ["i.toml", "type"]),
    (SOLVE, {"i.json": "{", "i.toml": "x = "}, ["i.toml"]),
    ("solve i.json", {"i.json": '{"server": 1, "type": []}'}, ["i.json"]),
    ("solve i.json", {"i.json": '{"server": {"configurations": [[1], [1, 2]]}, "type": [{"name": "a"}]}'}, ["i.json"]),
    (SOLVE, {"i.toml": _swap(TWO, "[server]", "[[server]]\nshare = -1")}, ["i.toml", "share"]),
    (f"{SOLVE} --servers 0", GOOD, ["--servers"]),
    (f"{SOLVE} --servers x", GOOD, ["--servers"]),
    (f"{SOLVE} --plot p.gif", GOOD, ["p.gif"]),
    (f"{SOLVE} --plot none/p.png", GOOD, ["none/p.png"]),
    (f"{SOLVE} --certificate none/c.json", GOOD, ["none/c.json"]),
    (f"{SOLVE} --colour red", GOOD, ["--colour"]),
    ("solve", {}, ["INSTANCE"]),
    ("sovle i.toml", GOOD, ["sovle"]),
    # worst, check, instance, verify
    ("worst i.toml", GOOD, ["--vary"]),
    ("worst i.toml --vary prices", GOOD, ["--vary"]),
    ("worst i.toml --vary all --starts 0", GOOD, ["--starts"]),
    ("worst i.toml --vary all --time-limit -1", GOOD, ["--time-limit"]),
    ("check c.json", {}, ["c.json"]),
    ("check c.json", {"c.json": "[]"}, ["c.json"]),
    ("check c.json", {"c.json": "{" * 3000}, ["c.json"]),
    ("export c.json --format lp", {}, ["c.json"]),
    ("export c.json --format lp", {"c.json": "{}"}, ["c.json"]),
    ("export c.json", {"c.json": "{}"}, ["--format"]),
    ("instance --types aws:nothing --server cpu=9,memory=9", {}, ["--types", "aws:nothing"]),
    ("instance --types aws:m5.large --server cpu=9", {}, ["--server", "memory"]),
    ("instance --types aws:m5.large --server cpu=x,memory=9", {}, ["--server", "cpu"]),
    ("instance --types aws:m5.large --server cpu=1,memory=9", {}, ["m5.large"]),
    ("instance --types aws:m5.large --server cpu=9,memory=99 --workload x", {}, ["--workload"]),
    ("verify no-such-claim", {}, ["no-such-claim"]),
    ("verify --paper none", {}, ["--paper"]),
    ("verify --level deep", {}, ["--level"]),
    # regions
    (f"{REGION} --slice a", GOOD, ["--slice"]),
    (f"{REGION} --slice a,z", GOOD, ["--slice", "z"]),
    (f"{REGION} --facets -1", GOOD, ["--facets"]),
    # laws of sizes
    ("throughput s.toml", {}, ["s.toml"]),
    ("throughput s.toml", {"s.toml": TWO}, ["s.toml", "sizes"]),
    ("throughput s.toml", {"s.toml": "[sizes]\nservers = 2\n"}, ["s.toml", "sizes"]),
    ("throughput s.toml", {"s.toml": "[sizes]\nuniform = [0.5]\n"}, ["s.toml", "sizes.uniform"]),
    ("throughput s.toml", {"s.toml": "[sizes]\nuniform = [0.9, 0.1]\n"}, ["s.toml", "sizes"]),
    ("throughput s.toml", {"s.toml": '[sizes]\ndiscrete = { "2" = 1 }\n'}, ["s.toml", "sizes.discrete"]),
    ("throughput s.toml", {"s.toml": '[sizes]\ndiscrete = { "1/2" = 0.4 }\n'}, ["s.toml", "sizes"]),
    ("throughput s.toml", {"s.toml": '[sizes]\ncsv = "none.csv"\n'}, ["none.csv"]),
    ("throughput s.toml", {"s.toml": '[sizes]\ncsv = "d.csv"\n', "d.csv": "size\n0.5\nx\n"}, ["d.csv"]),
    ("throughput s.toml", {"s.toml": _swap(SIZES, "servers = 2", "servers = 0")}, ["s.toml", "sizes.servers"]),
    ("throughput s.toml --gap x", {"s.toml": SIZES}, ["--gap"]),
    ("throughput s.toml --gap 1", {"s.toml": SIZES}, ["--gap"]),
    # clusters
    (SHARE, {}, ["c.toml"]),
    (SHARE, {"c.toml": TWO}, ["c.toml"]),
    (SHARE, {"c.toml": _swap(CLUSTER, "cpu = 9", "cpu = -9")}, ["c.toml", "capacity.cpu"]),
    (SHARE, {"c.toml": _swap(CLUSTER, "demand = { cpu = 1 }", "demand = { ram = 1 }")}, ["c.toml", "ram"]),
    (SHARE, {"c.toml": CLUSTER + 'servers = ["B"]\n'}, ["c.toml", "servers"]),
    (SHARE, {"c.toml": CLUSTER + "weight = 0\n"}, ["c.toml", "weight"]),
    (SHARE, {"c.toml": CLUSTER + '\n[[user]]\nname = "u"\ndemand = { cpu = 1 }\n'}, ["c.toml", "name"]),
    (f"{SHARE} --mechanism fair", {"c.toml": CLUSTER}, ["--mechanism"]),
    (f"{SHARE} --certificate x.json", {"c.toml": CLUSTER}, ["--certificate"]),
    (f"{SHARE} --mechanism drf --events e.toml", {"c.toml": CLUSTER, "e.toml": "until = 3\n"}, ["--events"]),
    (f"{SHARE} --mechanism ps-dsf --events e.toml", {"c.toml": CLUSTER, "e.toml": "until = -3\n"}, ["e.toml", "until"]),
    (
        f"{SHARE} --mechanism ps-dsf --events e.toml --certificate x.json",
        {"c.toml": CLUSTER, "e.toml": "until = 3\n"},
        ["--certificate", "--events"],
    ),
    # fluid limits
    ("fluid i.toml --until 0", GOOD, ["--until"]),
    ("fluid i.toml --until nan", GOOD, ["--until"]),
    ("fluid i.toml", GOOD, ["--until"]),
    ("fluid i.toml --until 3 --points 1", GOOD, ["--points"]),
    ("fluid i.toml --until 3 --from f.toml", GOOD | {"f.toml": "x = 1\n"}, ["f.toml", "x"]),
    ("fluid i.toml --until 3 --from f.toml", GOOD | {"f.toml": "[jobs]\na = 1\n"}, ["f.toml", "jobs"]),
    (
        "fluid i.toml --until 3 --from f.toml",
        GOOD | {"f.toml": "[[assignment]]\nconfiguration = { a = 9 }\nfraction = 1\n"},
        ["f.toml", "assignment"],
    ),
    (
        "fluid p.toml --until 3",
        {"p.toml": _swap(TWO, "[server]", '[[server]]\ncapacity = { cpu = 13 }\nname = "x"\n[[server]]\nname = "y"')},
        ["p.toml", "pool"],
    ),
    # simulation
    ("simulate i.toml --policy none --servers 5 --until 5", GOOD, ["--policy", "none"]),
    ("simulate i.toml --policy dra --until 5", GOOD, ["--servers"]),
    ("simulate i.toml --policy dra --servers 5", GOOD, ["--until"]),
    ("simulate i.toml --policy dra --servers 5 --until -1", GOOD, ["--until"]),
    (f"{LOSS} --warmup 9", GOOD, ["--warmup"]),
    (f"{LOSS} --replications 0", GOOD, ["--replications"]),
    (f"{LOSS} --engine cloud", GOOD, ["--engine"]),
    (f"{LOSS} --seed -1", GOOD, ["--seed"]),
    (f"{LOSS} --store i.toml", GOOD, ["i.toml"]),
    (f"{LOSS} --trace none.csv", GOOD, ["none.csv"]),
    (f"{LOSS} --trace t.csv", GOOD | {"t.csv": "time,duration,cpu\n1,1,6\n"}, ["t.csv:2"]),
    (f"{LOSS} --trace t.csv", GOOD | {"t.csv": "time,duration,cpu\n1,1,5\n0,1,5\n"}, ["t.csv:3", "time"]),
    (f"{LOSS} --trace t.csv", GOOD | {"t.csv": "time,duration,type\n1,1,z\n"}, ["t.csv:2", "type"]),
    (f"{LOSS} --against-fluid --log 3", GOOD, ["--log"]),
    (f"{LOSS} --against-fluid", GOOD, ["--against-fluid", "160"]),
    (LOSS, _simulation('service = "normal"'), ["i.toml", "simulation.service"]),
    (LOSS, _simulation('service = { law = "exponential", scv = 2 }'), ["i.toml", "simulation.service.scv"]),
    (LOSS, _simulation('service = { law = "hyper-exponential", scv = 1 }'), ["i.toml", "simulation.service.scv"]),
    (LOSS, _simulation('arrivals = { law = "poisson", batch = 0 }'), ["i.toml", "simulation.arrivals.batch"]),
    (LOSS, _simulation('arrivals = { trace = "none.csv" }'), ["none.csv"]),
    (LOSS, _simulation('reservation = "2 log"'), ["i.toml", "simulation.reservation"]),
    (LOSS, _simulation('placement = "random"'), ["i.toml", "simulation.placement"]),
    (LOSS, _simulation("initial = { queue = { a = 2 } }"), ["simulation.initial"]),
    (LOSS, _simulation("initial = { full = { z = 2 } }"), ["i.toml", "simulation.initial", "z"]),
    (LOSS, _simulation("initial = { full = { a = 9 } }"), ["simulation.initial"]),
    (LOSS, _simulation('initial = "trace"'), ["simulation.initial"]),
    (LOSS, _simulation("colour = 1"), ["i.toml", "simulation.colour"]),
    (LOSS.replace("dra", "power-of-d"), _simulation("d = 0"), ["i.toml", "simulation.d"]),
    (LOSS.replace("dra", "dra-preemption"), _simulation("priority = { a = 0 }"), ["i.toml", "simulation.priority.b"]),
    (QUEUE, _simulation("beta = 2"), ["simulation.beta"]),
    (QUEUE, _simulation('oracle = "best"'), ["simulation.oracle"]),
    (QUEUE, _simulation("early = 3"), ["simulation.early"]),
    (QUEUE, _simulation("initial = { full = { a = 1 } }"), ["simulation.initial"]),
    (SLOTS, {"s.toml": _swap(SIZES, "intensity = 0.5", "")}, ["simulation.rate"]),
    (SLOTS, {"s.toml": SIZES + "rate = 1\n"}, ["s.toml", "simulation.intensity"]),
    (SLOTS, {"s.toml": SIZES + "service_rate = 2\n"}, ["s.toml", "simulation.service_rate"]),
    (SLOTS, {"s.toml": SIZES + 'service = "exponential"\n'}, ["s.toml", "simulation.service"]),
    (SLOTS.replace("bf-js", "vqs"), {"s.toml": SIZES + "partition = 1\n"}, ["simulation.partition"]),
    (SLOTS.replace("bf-js", "dra"), {"s.toml": SIZES}, ["s.toml", "sizes"]),
    (SLOTS.replace("bf-js", "max-weight"), {"s.toml": SIZES}, ["sizes"]),
    (SLOTS.replace("50", "50.5"), {"s.toml": SIZES}, ["--until"]),
    # authors' policies
    (LOSS.replace("dra", "own.py:MINE"), GOOD, ["own.py"]),
    (LOSS.replace("dra", "own.py"), GOOD, ["own.py"]),
    (LOSS.replace("dra", "own.py:THEIRS"), GOOD | {"own.py": OWN.format(place="return 0")}, ["own.py", "THEIRS"]),
    (LOSS.replace("dra", "own.py:MINE"), GOOD | {"own.py": OWN.format(place="return 99")}, ["own.py:4", "place"]),
    (LOSS.replace("dra", "own.py:MINE"), GOOD | {"own.py": OWN.format(place="return 1 / 0")}, ["own.py:4", "place"]),
    (LOSS.replace("dra", "own.py:MINE"), GOOD | {"own.py": "x = \n"}, ["own.py:1"]),
    # experiments
    ("experiment g.toml", KINDS | {"g.toml": GRID}, ["--store"]),
    (EXPERIMENT, {"g.toml": GRID}, ["two.toml"]),
    (EXPERIMENT, _grid("until = 10", "until = 0"), ["g.toml", "until"]),
    (EXPERIMENT, _grid("until = 10", "until = 10\nwarmup = 10"), ["g.toml", "warmup"]),
    (EXPERIMENT, _grid("replications = 1", "replications = 0"), ["g.toml", "replications"]),
    (EXPERIMENT, _grid('policy = "dra"', ""), ["g.toml", "policy"]),
    (EXPERIMENT, _grid('policy = "dra"', 'policy = "none"'), ["g.toml", "policy"]),
    (EXPERIMENT, _grid('policy = "dra"', 'policy = "dra"\n[vary]\nservers = [3]'), ["g.toml", "servers"]),
    (EXPERIMENT, _grid('policy = "dra"', 'policy = "dra"\n[vary]\nworkload = [1, 1]'), ["g.toml", "vary.workload"]),
    (EXPERIMENT, _grid('policy = "dra"', 'policy = "dra"\n[vary]\nworkload = []'), ["g.toml", "vary.workload"]),
    (EXPERIMENT, _grid('policy = "dra"', 'policy = "dra"\n[vary]\ncolour = [1]'), ["g.toml", "vary.colour"]),
    (f"{EXPERIMENT} --workers 0", KINDS | {"g.toml": GRID}, ["--workers"]),
    (f"{EXPERIMENT} --csv none/out.csv", KINDS | {"g.toml": GRID}, ["none/out.csv"]),
]
