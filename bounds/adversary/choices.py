"""What has names in a search: kinds of rules, and what their instances are like."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What a rule decides."""

    assignment = "assignment"
    items = "items"
    sharing = "sharing"
    online = "online"


class Rewards(StrEnum):
    """What rewards the types of an assignment have."""

    any = "any"
    proportional = "proportional"


class Measure(StrEnum):
    """What a sharing rule keeps, at most 1.

    ``fair``: least tasks of a user over its weighted max-min fair share of the bottleneck resource (1 where no resource
    is the bottleneck of all). ``equal-part``: least tasks over those that the user's weight's part of every server
    would run (sharing incentive). ``utilisation``: mean utilisation of the resources over the greatest possible.
    ``envy``: least tasks over those that a user could run with what another one holds, by weight. ``lie``: tasks of a
    user over those that it gains by misreporting (`bounds.adversary.lies`).
    """

    fair = "fair"
    equal_part = "equal-part"
    utilisation = "utilisation"
    envy = "envy"
    lie = "lie"


class Service(StrEnum):
    """How long slotted policies serve a job."""

    geometric = "geometric"
    deterministic = "deterministic"
