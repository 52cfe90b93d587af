"""Tables I and IV of the PS-DSF paper."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from bounds.adversary.sharing import random_cluster, table_1_witnesses
from bounds.results.instances import table_4 as cluster_5
from bounds.results.ps_dsf.examples import GAMMA, OPEN_TSF, PLACES, PRINTED_TSF, PS_DSF_ROW
from bounds.results.ps_dsf.properties import YES
from bounds.results.reproduction import reproduction
from bounds.views.panels import Cells, Panel
from theory.numbers import text
from theory.sharing.maxmin import c_drfh, tsf
from theory.sharing.model import User
from theory.sharing.per_server import ps_dsf, ps_dsf_tdm
from theory.sharing.properties import PROPERTIES, decide
from theory.sharing.strategy import search_lies

MECHANISMS = {"c-drfh": c_drfh, "tsf": tsf, "ps-dsf": ps_dsf, "ps-dsf-tdm": ps_dsf_tdm}
STRATEGY = "strategy_proofness"


@reproduction(
    "ps-dsf/table-1",
    "properties of the mechanisms, each no with a witness",
    printed="the table; stars for strategy proofness and Pareto optimality of PS-DSF",
    lost="the marks, which are taken from the prose",
    chosen="the random clusters on which a yes is decided, and on which lies are tried",
    seed=2,
    claims=("table-1", "table-1-tsf-incentive", "theorem-3", "theorem-3-strategy"),
    tiny={"clusters": 2, "lied": 1},
    quick={"clusters": 16, "lied": 1},
    full={"clusters": 100, "lied": 6},
    columns=1,
    height=2.1,
)
def table_1(clusters: int, lied: int) -> Sequence[Panel]:
    """Decide every property of every mechanism on random clusters and on the witnesses."""
    generator = random.Random(2)
    drawn = [
        random_cluster(generator, generator.randint(2, 5), generator.randint(1, 4), generator.randint(1, 3))
        for _ in range(clusters)
    ]
    witnesses = [instance for _, instance, _ in table_1_witnesses().values()]
    names = [*PROPERTIES, STRATEGY]
    failed = {(name, one): 0 for name in names for one in MECHANISMS}
    tried = dict.fromkeys(failed, 0)
    for one, mechanism in MECHANISMS.items():
        for instance in [*drawn, *witnesses]:
            for name, verdict in decide(mechanism(instance)).items():
                tried[name, one] += 1
                failed[name, one] += verdict.holds is False
        for instance in [*drawn[:lied], *witnesses]:
            lie, _ = search_lies(mechanism, instance, rounds=2)
            tried[STRATEGY, one] += 1
            failed[STRATEGY, one] += lie is not None
    texts, tones = [], []
    for name in names:
        texts.append([_mark(failed[name, one], tried[name, one], name, one) for one in MECHANISMS])
        tones.append(["bad" if failed[name, one] else "good" for one in MECHANISMS])
    marks = Cells([one.upper() for one in MECHANISMS], [name.replace("_", " ") for name in names], texts, tones)
    rows = [
        [", ".join(f"({_numbers(row)})" for row in cluster.capacity), ", ".join(map(_user, cluster.users))]
        for _, cluster, _ in table_1_witnesses().values()
    ]
    return marks, Cells(["servers: capacities", "users: demands"], list(table_1_witnesses()), rows, (), "witnesses")


def _numbers(values: Sequence[Fraction]) -> str:
    return ", ".join(map(text, values))


def _user(user: User) -> str:
    """Write a user's demands, its weight unless that is 1, and its servers unless those are all."""
    weight = "" if user.weight == 1 else f" weight {text(user.weight)}"
    return f"({_numbers(user.demand)}){weight}{' on ' + ', '.join(user.servers) if user.servers else ''}"


SAID = {**YES, "tsf": YES["tsf"] | {"sharing_incentive"}}
"""What the prose says of the five properties but one."""


def _mark(failures: int, tried: int, name: str, mechanism: str) -> str:
    said = "" if name not in SAID["ps-dsf-tdm"] else f"\n(prose: {'yes' if name in SAID[mechanism] else 'no'})"
    return f"no: fails on {failures} of {tried}{said}" if failures else f"held on {tried} tried{said}"


@reproduction(
    "ps-dsf/table-4",
    "tasks by class: printed beside exact",
    printed="the table; 58.33 for user 3 under TSF",
    lost="the demands",
    chosen="the demands that fit the printed tasks alone; user 3's memory, 1/10, is taken from 8.05",
    claims=("table-4-ps-dsf", "table-4-tsf"),
    columns=1,
    height=1.45,
)
def table_4() -> Sequence[Panel]:
    """Return three tables: what comes out, and what is printed in brackets where that is another number."""
    instance = cluster_5()
    users = [user.name for user in instance.users]
    classes = [f"class {one.name}" for one in instance.servers]
    shown = []
    exact = {"tasks of a user alone": (instance.monopoly, GAMMA), "PS-DSF": (ps_dsf(instance).tasks, PS_DSF_ROW)}
    for title, (values, rows) in exact.items():
        printed = [[Fraction(x) for x in row.split()] for row in rows]
        pairs = [list(zip(row, said, strict=True)) for row, said in zip(values, printed, strict=True)]
        texts = [[f"{float(x):g}" + ("" if x == y else f" ({float(y):g})") for x, y in row] for row in pairs]
        tones = [["good" if x == y else "bad" for x, y in row] for row in pairs]
        shown.append(Cells(classes, users, texts, tones, title))
    texts, tones = [], []
    for x, first, rest, place in zip(tsf(instance).totals, PRINTED_TSF, OPEN_TSF, PLACES, strict=True):
        said = Fraction(first) + Fraction(rest)
        texts.append([f"{first} + {float(Fraction(rest)):g}", f"{float(said):g}", f"{float(x):.6g}"])
        tones.append(["", "", "good" if abs(x - said) <= place else "bad"])
    shown.append(Cells(["printed, by class", "printed, in all", "exact, in all"], users, texts, tones, "TSF"))
    return shown
