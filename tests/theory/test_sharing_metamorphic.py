"""The same cluster written otherwise must be shared alike."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.results.instances.drawn import random_cluster
from theory.sharing.allocation import Allocation
from theory.sharing.maxmin import c_drfh, cdrf, tsf
from theory.sharing.mechanisms import MECHANISMS
from theory.sharing.model import Cluster
from theory.sharing.per_server import ps_dsf, ps_dsf_tdm

Mechanism = Callable[[Cluster], Allocation]
SHARED = [pytest.param(MECHANISMS[name], id=name) for name in MECHANISMS]
SEEDS = st.integers(0, 10**6)


def drawn(seed: int) -> tuple[random.Random, Cluster]:
    generator = random.Random(seed)
    return generator, random_cluster(generator, generator.randint(1, 5), generator.randint(1, 4), 3, counts=3)


def renamed(instance: Cluster, names: dict[str, tuple[str, ...]]) -> Cluster:
    """Rewrite placement constraints after servers were split."""
    return replace(
        instance,
        users=tuple(
            replace(u, servers=None if u.servers is None else tuple(new for old in u.servers for new in names[old]))
            for u in instance.users
        ),
    )


@pytest.mark.parametrize("mechanism", SHARED)
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_scale(mechanism: Mechanism, seed: int) -> None:
    generator, instance = drawn(seed)
    units = [Fraction(generator.randint(1, 9), generator.randint(1, 9)) for _ in instance.resources]
    sizes = [Fraction(generator.randint(1, 9), generator.randint(1, 9)) for _ in instance.users]
    heavier = Fraction(generator.randint(1, 9), 7)
    scaled = Cluster(
        instance.resources,
        tuple(
            replace(s, capacity=tuple(c * u for c, u in zip(s.capacity, units, strict=True))) for s in instance.servers
        ),
        tuple(
            replace(
                user,
                demand=tuple(d * u * size for d, u in zip(user.demand, units, strict=True)),
                weight=user.weight * heavier,
            )
            for user, size in zip(instance.users, sizes, strict=True)
        ),
    )
    expected = [x / size for x, size in zip(mechanism(instance).totals, sizes, strict=True)]
    assert list(mechanism(scaled).totals) == expected


@pytest.mark.parametrize("mechanism", SHARED)
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_permutation(mechanism: Mechanism, seed: int) -> None:
    generator, instance = drawn(seed)
    users, servers = list(range(len(instance.users))), list(range(len(instance.servers)))
    generator.shuffle(users)
    generator.shuffle(servers)
    turned = Cluster(
        instance.resources,
        tuple(instance.servers[i] for i in servers),
        tuple(instance.users[n] for n in users),
    )
    totals = mechanism(instance).totals
    assert [*mechanism(turned).totals] == [totals[n] for n in users]


@pytest.mark.parametrize("mechanism", SHARED)
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_server_splitting(mechanism: Mechanism, seed: int) -> None:
    generator, instance = drawn(seed)
    servers, names = [], {}
    for server in instance.servers:
        part = Fraction(generator.randint(1, 4), 5)
        parts = [part, 1 - part]
        names[server.name] = tuple(f"{server.name}.{k}" for k in range(len(parts)))
        servers += [
            replace(server, name=name, capacity=tuple(c * p for c in server.capacity))
            for name, p in zip(names[server.name], parts, strict=True)
        ]
    split = renamed(replace(instance, servers=tuple(servers)), names)
    assert mechanism(split).totals == mechanism(instance).totals


@pytest.mark.parametrize("mechanism", SHARED)
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_user_splitting(mechanism: Mechanism, seed: int) -> None:
    _, instance = drawn(seed)
    half = [replace(user, weight=user.weight / 2) for user in instance.users]
    split = replace(instance, users=(*half, *(replace(user, name=f"{user.name}'") for user in half)))
    whole, parts = mechanism(instance).totals, mechanism(split).totals
    assert [2 * x for x in parts[: len(half)]] == list(whole)
    assert parts[: len(half)] == parts[len(half) :]


@pytest.mark.slow
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_count_is_so_many_servers(seed: int) -> None:
    _, instance = drawn(seed)
    servers, names = [], {}
    for server in instance.servers:
        names[server.name] = tuple(f"{server.name}.{k}" for k in range(server.count))
        servers += [replace(server, name=name, count=1) for name in names[server.name]]
    single = renamed(replace(instance, servers=tuple(servers)), names)
    for mechanism in (c_drfh, cdrf, tsf, ps_dsf, ps_dsf_tdm):
        assert mechanism(single).totals == mechanism(instance).totals


def test_a_needed_difference_is_seen() -> None:
    """Negative control: splitting a user without halving its weight must change the result."""
    _, instance = drawn(3)
    doubled = replace(instance, users=(*instance.users, replace(instance.users[0], name="again")))
    assert ps_dsf(doubled).totals[: len(instance.users)] != ps_dsf(instance).totals
