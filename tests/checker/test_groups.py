"""Certificates of groups of users: hierarchical DRF, worked by hand or by the definition, and forgeries of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.checker.corpus import CERTIFICATES, GONE, Document, changed, document, refused, verdict

STOPS = "a user stops where nothing stops it, or goes on where something does"
REASONS = {STOPS, "a user could have more", "a server holds more than it can"}
CLAIM, TASKS = ("claims", "tasks"), ("evidence", "allocation")


@dataclass(frozen=True)
class Case:
    """One server with a capacity of each resource; users with demands, weights, groups and caps; their fair tasks."""

    capacity: int
    demands: Sequence[Sequence[int]]
    tasks: Sequence[int | str]
    groups: str
    """The group of each user, a letter; a dot for none."""
    weights: Sequence[int | str] = ()
    group_weights: str = ""
    """Digits, a weight for each group in alphabetical order; 1 where left out."""
    caps: Sequence[int | str | None] = ()

    def document(self) -> Document:
        """Return the certificate."""
        users: list[Document] = []
        for n, demand in enumerate(self.demands):
            weight = str(self.weights[n]) if self.weights else "1"
            user = {"name": f"u{n}", "demand": named(demand), "weight": weight}
            user |= {} if self.groups[n] == "." else {"group": self.groups[n]}
            user |= {"most_tasks": str(self.caps[n])} if self.caps and self.caps[n] is not None else {}
            users.append(user)
        letters = sorted(set(self.groups) - {"."})
        groups = [
            {"name": one, "weight": weight}
            for one, weight in zip(letters, self.group_weights or "1" * len(letters), strict=True)
        ]
        capacity = named([self.capacity] * len(self.demands[0]))
        instance = {"server": [{"name": "A", "capacity": capacity, "count": 1}], "user": users, "group": groups}
        tasks = {user["name"]: str(x) for user, x in zip(users, self.tasks, strict=True)}
        placed = {name: {"A": x} for name, x in tasks.items()}
        return document("allocation", instance, {"allocation": placed}, {"mechanism": "drf", "tasks": tasks})


def named(amounts: Sequence[int]) -> dict[str, str]:
    """Return the amounts by resource, without those that are 0."""
    return {f"r{r}": str(amount) for r, amount in enumerate(amounts) if amount}


CASES = {
    # the two examples of the paper on hierarchical DRF
    "unlike users": Case(10, [[0, 1], [1, 0], [0, 1]], [5, 10, 5], ".gg"),
    "blocked users": Case(6, [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]], [2, 2, 2, 3, 3], "..gg."),
    # r0 is gone at a level of 2/3; g waits by what it holds of r1, and h takes the rest of r2, though it has more of it
    "one group waits": Case(
        30,
        [[1, 2, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 0, 1]],
        [10, 4, 20, 16, 10],
        "gghh.",
        [1, "1/5", 1, "3/5", "1/2"],
    ),
    # r0 is gone at 1/2; g and h both wait there, and g takes what is left of r3, as it has less of it
    "two groups wait": Case(
        8,
        [[1, 2, 0, 0], [0, 0, 0, 1], [1, 0, 2, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 1]],
        [2, 2, 2, 2, 4, 4],
        "gghh..",
        [1, "1/4", 1, "1/2", 1, 1],
    ),
    # u1 raises nothing here; said to take 2 of r2 it would have 18/7
    "a companion is blocked": Case(12, [[1, 1, 4], [4, 0, 1], [0, 1, 0]], [2, "5/2", 10], "gg."),
    # all of one resource, by weights: g has 2 of 10 parts, h six, and u3 two
    "one resource": Case(4, [[1]] * 4, ["1/5", "3/5", "12/5", "4/5"], "ggh.", [1, 3, 5, 2], "26"),
    # u0 has its cap at a level of 1/3; r0 is gone at 1/2, and u2 takes the rest of r1
    "a cap": Case(6, [[1, 0], [1, 0], [0, 1], [1, 1]], [1, 2, 3, 3], "ggg.", caps=[1, None, None, None]),
    # r1 is gone at 1/2, and r0 at 2/3; a forger leaves u1 at what it has at the first stop
    "two stops in a group": Case(12, [[0, 1], [1, 0], [0, 1], [1, 0]], [6, 8, 6, 4], "gg..", [1, 1, 1, "1/2"]),
    # r0 is gone at 2/3; h falls to 1/3, and r2 is gone when it comes to 2/3 again, where g waits
    "gone before those that wait": Case(
        12,
        [[1, 2, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 0, 1]],
        [4, 2, 8, 8, 2],
        "gghh.",
        [1, "1/4", 1, "1/2", "1/4"],
    ),
    # drawn, with shares by a solver: each notices a change of the checker that those above do not
    "drawn 1": Case(
        12,
        [[3, 1, 3], [1, 1, 5], [0, 5, 1], [5, 2, 0]],
        ["60/59", "96/59", "48/59", "432/295"],
        "g..g",
        [3, 2, 1, 1],
    ),
    "drawn 2": Case(
        12,
        [[3, 2, 3], [0, 1, 0], [0, 1, 2], [1, 5, 0], [3, 2, 0]],
        ["3/8", "9/8", "7/2", "9/40", "11/4"],
        "gghgh",
        [2, 2, 2, 2, 3],
        "13",
        [None, None, None, None, "11/4"],
    ),
    "drawn 3": Case(
        12,
        [[1, 1, 1], [0, 5, 0], [0, 1, 1], [0, 1, 1], [1, 1, 2]],
        ["1/4", "41/90", "22/3", 1, "41/36"],
        "hhg.h",
        [3, 3, 1, 1, 3],
        "21",
        ["1/4", None, None, 1, None],
    ),
    "drawn 4": Case(
        12,
        [[1, 3, 5, 1], [2, 0, 2, 0], [0, 3, 0, 1], [3, 1, 0, 0], [0, 2, 1, 5], [0, 5, 1, 5]],
        ["12/25", "48/25", "64/75", "64/25", "36/25", "64/125"],
        "hhgghg",
        [1, 1, 1, 3, 3, 1],
        caps=[None, None, None, None, "11/4", None],
    ),
}
DOCUMENTS = {name: case.document() for name, case in CASES.items()}


def test_fair_shares_are_accepted() -> None:
    for name, honest in DOCUMENTS.items():
        assert not verdict(honest), name


def with_tasks(honest: Document, tasks: dict[str, Fraction]) -> Document:
    """Return a certificate of other tasks."""
    written = {user: str(x) for user, x in tasks.items()}
    return changed(honest, (CLAIM, written), (TASKS, {user: {"A": x} for user, x in written.items() if x != "0"}))


def test_other_tasks_are_refused() -> None:
    """Less for one user; more for one; from one user to another, as much as keeps a resource full."""
    for name, case in CASES.items():
        fair = {f"u{n}": Fraction(x) for n, x in enumerate(case.tasks)}
        for user, x in fair.items():
            for other in (x * Fraction(9, 10), x * Fraction(11, 10)):
                found = verdict(with_tasks(DOCUMENTS[name], fair | {user: other}))
                assert found in REASONS | {"a user has more tasks than it wants"}, (name, user, found)
        for moved in exchanges(case, fair):
            assert verdict(with_tasks(DOCUMENTS[name], fair | moved)), (name, moved)


def exchanges(case: Case, fair: dict[str, Fraction]) -> Iterator[dict[str, Fraction]]:
    """Yield the tasks of two users after one gave an eighth of its own to the other, who takes as much of one."""
    for n, demand in enumerate(case.demands):
        for m, needed in enumerate(case.demands):
            for r, amount in enumerate(demand):
                if n != m and amount and needed[r]:
                    part = fair[f"u{n}"] / 8
                    yield {f"u{n}": fair[f"u{n}"] - part, f"u{m}": fair[f"u{m}"] + part * amount / needed[r]}


def test_a_user_left_at_the_first_stop() -> None:
    fair = {f"u{n}": Fraction(x) for n, x in enumerate(CASES["two stops in a group"].tasks)}
    refused(STOPS, with_tasks(DOCUMENTS["two stops in a group"], fair | {"u1": Fraction(6)}))


def test_users_that_stop_where_they_need_not() -> None:
    """All r1 is gone; the user of r0 has stopped there, too, but nothing keeps it from more."""
    honest = DOCUMENTS["unlike users"]
    refused("a user could have more", with_tasks(honest, dict.fromkeys(("u0", "u1", "u2"), Fraction(5))))
    none = dict.fromkeys(("u0", "u1", "u2"), "0")
    refused("a user could have more", changed(honest, (CLAIM, none), (TASKS, {user: {} for user in none})))


def test_these_shares_are_not_those_of_users_without_groups() -> None:
    """Without its groups, each of these certificates is wrong."""
    for name in ("one group waits", "two groups wait", "a companion is blocked", "a cap"):
        honest = DOCUMENTS[name]
        users = [{key: value for key, value in user.items() if key != "group"} for user in honest["instance"]["user"]]
        alone = changed(honest, (("instance", "group"), GONE), (("instance", "user"), users))
        refused("a user has no bottleneck at a server", alone)


OTHERS: list[tuple[str, tuple[str | int, ...], Any]] = [
    ("unlike users", ("group", 0, "weight"), "2"),
    ("unlike users", ("user", 0, "weight"), "2"),
    ("one group waits", ("group", 0, "weight"), "2"),
    ("one group waits", ("user", 1, "weight"), "2/5"),
    ("one group waits", ("user", 4, "weight"), "1"),
    ("two groups wait", ("group", 0, "weight"), "2"),
    ("two groups wait", ("group", 1, "weight"), "2"),
    ("two groups wait", ("user", 1, "weight"), "3/4"),
    ("one resource", ("group", 0, "weight"), "3"),
    ("one resource", ("user", 0, "weight"), "2"),
    ("one resource", ("user", 3, "weight"), "1"),
    ("one resource", ("user", 0, "group"), "h"),
    ("a companion is blocked", ("user", 1, "demand", "r2"), "2"),
    ("a cap", ("user", 0, "most_tasks"), "2"),
    ("a cap", ("user", 0, "most_tasks"), GONE),
]


def test_of_another_cluster() -> None:
    """The same shares of a cluster that differs in one value; a cap beyond what its user has changes nothing."""
    for name, place, value in OTHERS:
        assert verdict(changed(DOCUMENTS[name], (("instance", *place), value))) in REASONS, (name, place)
    assert not verdict(changed(DOCUMENTS["blocked users"], (("instance", "user", 3, "most_tasks"), "4")))


def test_weights_that_count_for_nothing() -> None:
    """The weight of a single user in its group, and of all users and of all groups in other units."""
    honest = DOCUMENTS["unlike users"]
    single = changed(honest, (("instance", "user", 0, "group"), "f"), (("instance", "user", 0, "weight"), "7"))
    groups = [{"name": "f", "weight": "3"}, {"name": "g", "weight": "3"}]
    assert not verdict(changed(single, (("instance", "group"), groups)))
    units = [(("instance", "user", n, "weight"), "5") for n in (1, 2)]
    assert not verdict(changed(honest, *units))


def test_everybody_has_what_it_wants() -> None:
    content = Case(8, [[1], [1]], [1, 2], "g.", caps=[1, 2]).document()
    assert not verdict(content)
    refused(STOPS, changed(content, (("instance", "user", 1, "most_tasks"), GONE)))


def test_one_server_of_several() -> None:
    """DRF of all servers as one says what it ignores; so it does of groups."""
    honest = DOCUMENTS["unlike users"]
    servers = [{"name": name, "capacity": named([5, 5]), "count": 1} for name in "AB"]
    placed = {user: {"pool": x} for user, x in honest["claims"]["tasks"].items()}
    pooled = changed(honest, (("instance", "server"), servers), (TASKS, placed))
    assert not verdict(changed(pooled, (("claims", "ignored"), "borders of servers")))
    refused("a server holds more than it can", with_pool(pooled, "6"))


def with_pool(pooled: Document, tasks: str) -> Document:
    """Return a certificate in which the first user has other tasks."""
    return changed(pooled, ((*CLAIM, "u0"), tasks), ((*TASKS, "u0", "pool"), tasks))


# ---- groups that make no sense, and claims that are not defined for them ---------------------------------------------


SENSELESS: list[tuple[Any, str]] = [
    (GONE, "instance.group is no list"),
    ({"g": "1"}, "instance.group is no list"),
    ([], "a user names an unknown group"),
    ([{"name": "h", "weight": "1"}], "a user names an unknown group"),
    ([{"name": "g", "weight": "1"}, {"name": "h", "weight": "1"}], "a group has no users"),
    ([{"name": "g", "weight": "1"}] * 2, "group names stand twice"),
    ([{"name": "g", "weight": "0"}], "a group's weight is 0"),
    ([{"name": "g", "weight": "-1"}], "a group's weight is less than 0"),
    ([{"name": "g", "weight": 1}], "a group's weight is no exact number"),
    ([{"name": "g"}], "a group does not have the fields name, weight"),
    ([{"name": "", "weight": "1"}], "a group's name is no name"),
]


def test_groups_that_make_no_sense() -> None:
    for groups, reason in SENSELESS:
        found = verdict(changed(DOCUMENTS["unlike users"], (("instance", "group"), groups)))
        assert found.startswith(reason), (groups, found)


def test_a_user_of_no_name_of_a_group() -> None:
    for wrong in (1, ["g"], {}, True):
        assert verdict(changed(DOCUMENTS["unlike users"], (("instance", "user", 1, "group"), wrong)))


def test_claims_that_are_not_defined_for_groups() -> None:
    """Of shares by other mechanisms, and of properties."""
    kinds = [one for name, one in CERTIFICATES.items() if "user" in one["instance"] and not name.startswith("drf")]
    assert {one["kind"] for one in kinds} >= {"allocation", "fairness"}
    for honest in kinds:
        group = (("instance", "group"), [{"name": "g", "weight": "1"}])
        member = (("instance", "user", 0, "group"), "g")
        for change in ((group, member), (member,), ((("instance", "group"), []),)):
            refused("the claim is not defined for groups", changed(honest, *change))
