"""A thousand random clusters: every allocation certified by its independent checker (`make soak`)."""

from __future__ import annotations

import random

import pytest

from bounds.results.instances.drawn import random_cluster
from theory.sharing.mechanisms import MECHANISMS, is_certified

BATCHES = 20


@pytest.mark.soak
@pytest.mark.parametrize("batch", range(BATCHES))
def test_thousand_clusters(batch: int) -> None:
    generator = random.Random(1000 + batch)
    for _ in range(1000 // BATCHES):
        users, servers, resources = generator.randint(1, 20), generator.randint(1, 20), generator.randint(1, 4)
        instance = random_cluster(generator, users, servers, resources, counts=4)
        for mechanism in MECHANISMS.values():
            assert is_certified(mechanism(instance))
