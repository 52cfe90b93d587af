"""Hierarchical DRF as its authors run it: a small task at a time, to the lowest user of the lowest group, in floats.

Bhattacharya et al. (SoCC 2013) describe a scheduler. Before each task it computes the shares of all nodes of the tree
anew. A user without a place for its next task is blocked. The vectors of a group's users that are not blocked are
scaled down to the least weighted dominant share among them, and added to the vectors of those that are blocked. The
share of the group is the greatest entry of that sum, without saturated resources. Where groups are equally low, to
within two tasks, the one that holds less of the resources that its users can still take comes first.
"""

from __future__ import annotations

from theory.sharing.model import Cluster


class Tree:
    """Two levels of nodes: groups, and their users.

    Parameters
    ----------
    cluster : Cluster
        Of one class of one server.
    steps : int
        A task takes 1/`steps` of a user's dominant resource.
    """

    def __init__(self, cluster: Cluster, steps: int) -> None:
        (capacity,) = cluster.capacity
        self.users, self.steps, self.members = cluster.users, steps, cluster.members
        width = range(len(capacity))
        shares = [[float(user.demand[r] / capacity[r]) if capacity[r] else 0.0 for r in width] for user in self.users]
        self.task = [[share / max(row) / steps for share in row] for row in shares]
        self.size = [1 / max(row) / steps for row in shares]
        self.given = [0] * len(shares)
        self.used, self.saturated = [0.0 for _ in width], [False for _ in width]

    def is_blocked(self, n: int) -> bool:
        """Whether a user cannot get its next task; a resource of which it lacks some is saturated from then on."""
        cap = self.users[n].most_tasks
        if cap is not None and (self.given[n] + 1) * self.size[n] > cap:
            return True
        for r, more in enumerate(self.task[n]):
            if more and self.used[r] + more > 1 + 1e-12:
                self.saturated[r] = True
        return any(more and full for more, full in zip(self.task[n], self.saturated, strict=True))

    def level_of_user(self, n: int) -> float:
        """Return the weighted dominant share of a user."""
        return self.given[n] / self.steps / float(self.users[n].weight)

    def level_of_group(self, weight: float, members: tuple[int, ...], blocked: list[bool]) -> tuple[float, float]:
        """Return the weighted dominant share of a group, and the same of the resources that it can still take."""
        rising = [n for n in members if not blocked[n]]
        least = min(map(self.level_of_user, rising))
        vector = [0.0] * len(self.used)
        for n in members:
            own = self.level_of_user(n)
            scale = 1.0 if blocked[n] else (least / own if own else 0.0)
            vector = [have + scale * self.given[n] * more for have, more in zip(vector, self.task[n], strict=True)]
        open_ = [have for have, full in zip(vector, self.saturated, strict=True) if not full]
        taken = [have for r, have in enumerate(vector) if any(self.task[n][r] for n in rising)]
        return max(open_) / weight, max(taken) / weight

    def fill(self) -> list[float]:
        """Give out tasks until all users are blocked; return how many each has."""
        while True:
            for _ in range(2):  # a resource that saturates blocks users that were asked before
                blocked = [self.is_blocked(n) for n in range(len(self.users))]
            waiting = [
                (self.level_of_group(float(group.weight), members, blocked), members)
                for group, members in self.members
                if not all(blocked[n] for n in members)
            ]
            if not waiting:
                return [given * size for given, size in zip(self.given, self.size, strict=True)]
            lowest = min(level for (level, _), _ in waiting)
            near = [one for one in waiting if one[0][0] <= lowest + 2 / self.steps]
            _, members = min(near, key=lambda one: one[0][1])
            n = min((n for n in members if not blocked[n]), key=self.level_of_user)
            self.given[n] += 1
            self.used = [used + more for used, more in zip(self.used, self.task[n], strict=True)]
