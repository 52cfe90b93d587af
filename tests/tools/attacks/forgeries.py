"""Forged certificates: the checker must accept none whose claims are false.

A part of a certificate of the corpus is altered, exchanged with that of another or spoilt as text, and the digest is
made anew. What the checker accepts is held against the solvers: are the claims true of the instance that the document
now holds?
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from fractions import Fraction
from math import ceil
from typing import Any

from bounds import checker
from bounds.adversary import worst_workload
from bounds.adversary.assignment import reward_of
from bounds.adversary.documents import items_of
from bounds.adversary.items import fewest_packing
from bounds.adversary.sharing import fair_shares
from tests.checker.corpus import CERTIFICATES, Document, Path_, at, places, replaced, signed
from tests.checker.test_alterations import others
from tests.tools.attacks.report import Report
from theory.errors import InputError
from theory.files.clusters import parse_cluster
from theory.files.instances import parse_instance
from theory.files.sizes import parse_sizes
from theory.greedy import Offer, cheapest_servers
from theory.greedy.optimal import optimal_assignment, solve
from theory.greedy.servers import greedy_placement, least_servers
from theory.numbers import rational, total
from theory.partition import bracket, vqs_workload
from theory.region import CapacityProgram, region_facets
from theory.sharing.checks import is_ps_dsf
from theory.sharing.judgement import given, judge_given
from theory.sharing.mechanisms import MECHANISMS
from theory.sharing.model import Cluster
from theory.sharing.properties import bottleneck_resource


def falsehood(document: Document) -> str:
    """Return which claim of an accepted certificate is false by the solvers; "" if all are true."""
    try:
        return TRUTH[document["kind"]](document["instance"], document["claims"], document["evidence"])
    except InputError as reason:
        return f"the instance is refused by the readers: {reason}"


def _differing(claims: Document, truth: dict[str, Any]) -> str:
    found = {key: claims[key] for key in truth}
    exact = {key: Fraction(value) if isinstance(value, str) else value for key, value in found.items()}
    return "; ".join(f"{key}: {found[key]} and not {truth[key]}" for key in truth if exact[key] != truth[key])


def _assignment(table: Document, claims: Document, _: Document) -> str:
    instance = parse_instance(table)
    solution = solve(instance)
    greedy = solution.greedy
    truth = {
        "greedy": greedy.reward,
        "optimal": solution.optimal.reward,
        "ratio": solution.ratio,
        "guarantee": greedy.guarantee,
        "guarantee_stagewise": greedy.guarantee_stagewise,
    }
    wrong = _differing(claims, truth)
    if wrong or "servers" not in claims:
        return wrong
    whole = claims["servers"]
    number = whole["servers"]
    least = least_servers(instance, [number * rho for rho in instance.workload])
    if whole["least"] > least.upper or whole["most"] < least.lower:
        return f"least number of servers in [{whole['least']}, {whole['most']}], not in [{least.lower}, {least.upper}]"
    return _differing(whole, {"greedy": greedy_placement(instance, number).reward})


def _region(table: Document, claims: Document, _: Document) -> str:
    instance = parse_instance(table)
    intensity = CapacityProgram(instance).intensity().value
    wrong = _differing(claims, {"traffic_intensity": intensity, "supportable": intensity < 1})
    if wrong or claims.get("facets") is None:
        return wrong
    said = {
        (tuple(Fraction(facet["normal"].get(name, "0")) for name in instance.names), Fraction(facet["offset"]))
        for facet in claims["facets"]
    }
    true = {(tuple(map(Fraction, f.normal)), Fraction(f.offset)) for f in region_facets(instance).facets}
    return "" if said == true else f"facets {said ^ true}"


def _throughput(table: Document, claims: Document, _: Document) -> str:
    sizes = parse_sizes(table)
    best, vqs = bracket(sizes.law, Fraction(1, 100)), vqs_workload(sizes.law)
    lower, upper = sizes.servers * best.lower, sizes.servers * best.upper
    if Fraction(claims["lower"]) > upper or Fraction(claims["upper"]) < lower:
        return f"the maximum in [{claims['lower']}, {claims['upper']}], not in [{lower}, {upper}]"
    return _differing(claims, {"vqs": sizes.servers * vqs.workload})


def _allocation(table: Document, claims: Document, evidence: Document) -> str:
    cluster = parse_cluster(table)
    if claims["mechanism"] == "ps-dsf":  # not unique: the allocation itself must be one by the definition
        return "" if is_ps_dsf(cluster, _placed(cluster, evidence)) else "the allocation is not PS-DSF"
    found = MECHANISMS[claims["mechanism"]](cluster)
    truth = {user.name: total(tasks) for user, tasks in zip(cluster.users, found.tasks, strict=True)}
    return _differing(claims["tasks"], truth)


def _worst(table: Document, claims: Document, _: Document) -> str:
    instance = parse_instance(table)
    least = worst_workload(instance).ratio
    return _differing(claims, {"ratio": solve(instance).ratio}) or _differing(claims, {"ratio": least})


def _packing(table: Document, claims: Document, evidence: Document) -> str:
    items = items_of({"items": {**table["items"], "packing": evidence["packing"]}})
    packing, exact = fewest_packing(items)
    fewest, used = max(packing) + 1, len(set(evidence["rule"]))
    if not claims["least"] <= (fewest if exact else items.bins) <= claims["most"]:
        return f"the fewest bins in [{claims['least']}, {claims['most']}], not {fewest}"
    if "ratio_at_most" in claims:
        kept = Fraction(fewest, used) <= Fraction(claims["ratio_at_most"])
        return _differing(claims, {"bins": used}) or ("" if kept else f"a ratio of {fewest}/{used}")
    return _differing(claims, {"bins": used, "ratio": Fraction(fewest, used)})


def _cost(table: Document, claims: Document, _: Document) -> str:
    instance = parse_instance({name: table[name] for name in ("server", "type")})
    named = [table["offers"][pool.name] for pool in instance.pools]
    offers = [Offer(rational(one["price"]), one.get("most"), one["have"]) for one in named]
    jobs = [Fraction(table["jobs"][name]) for name in instance.names]
    found = cheapest_servers(instance, offers, jobs, table["spare"])
    if found.upper is not None and Fraction(claims["lower"]) > found.upper:
        return f"a least cost of {claims['lower']}: servers cost {found.upper}"
    return "" if Fraction(claims["upper"]) >= found.lower else f"a cost of {claims['upper']}, below {found.lower}"


def _rule(table: Document, claims: Document, evidence: Document) -> str:
    instance = parse_instance(table)
    place = {pool.name: p for p, pool in enumerate(instance.pools)}
    parts = [
        (place[c["pool"]], tuple(c["configuration"].get(name, 0) for name in instance.names), Fraction(c["fraction"]))
        for c in evidence["rule"]
    ]
    reward, best = reward_of(instance, parts), optimal_assignment(instance).reward
    return _differing(claims, {"rule": reward, "optimal": best, "ratio": reward / best})


def _fair_share(table: Document, claims: Document, evidence: Document) -> str:
    cluster = parse_cluster(table)
    fair = fair_shares(cluster)
    if fair is None:
        return "no resource is the bottleneck of all users"
    n = [user.name for user in cluster.users].index(claims["user"])
    tasks = total(map(Fraction, evidence["allocation"][claims["user"]].values()))
    return _differing(claims, {"tasks": tasks, "fair": fair[n], "ratio": tasks / fair[n]})


def _placed(cluster: Cluster, evidence: Document) -> list[list[Fraction]]:
    """Return the tasks of the evidence by user and server."""
    rows = [evidence["allocation"][user.name] for user in cluster.users]
    return [[Fraction(row.get(server.name, "0")) for server in cluster.servers] for row in rows]


def _fairness(table: Document, claims: Document, evidence: Document) -> str:
    cluster = parse_cluster(table)
    judged = judge_given(given(cluster, _placed(cluster, evidence)))
    totals = {user.name: x for user, x in zip(cluster.users, judged.allocation.totals, strict=True)}
    wrong = _differing(claims["tasks"], totals) or _differing(claims, {"feasible": judged.feasible})
    if wrong:
        return wrong
    if judged.feasible:
        common = bottleneck_resource(cluster)
        if (common is None) != ("bottleneck" not in claims):
            return "whether a resource is the bottleneck of all users"
        return _differing(claims["properties"], {name: one.holds for name, one in judged.properties.items()})
    over = {(one.server, one.resource): 1 + one.part for one in judged.overloads}
    said = {(s, r): Fraction(part) for s, row in claims.get("over", {}).items() for r, part in row.items()}
    misplaced = {(one.user, one.server) for one in judged.misplaced}
    named = {(user, s) for user, servers in claims.get("misplaced", {}).items() for s in servers}
    return "" if (over, misplaced) == (said, named) else f"over {over}, misplaced {misplaced}"


TRUTH: dict[str, Callable[[Document, Document, Document], str]] = {
    "assignment": _assignment,
    "region": _region,
    "throughput": _throughput,
    "allocation": _allocation,
    "worst": _worst,
    "packing": _packing,
    "rule": _rule,
    "fair-share": _fair_share,
    "fairness": _fairness,
    "cost": _cost,
}


def altered(document: Document, draw: random.Random, parts: tuple[str, ...], most: int = 3) -> Document:
    """Return the document with one to `most` places of the parts altered, and a digest that belongs to it."""
    result = document
    for _ in range(draw.randint(1, most)):
        part = draw.choice(parts)
        found: list[Path_] = list(places(result[part], (part,)))
        path = draw.choice(found)
        result = replaced(result, path, draw.choice(others(at(result, path), draw.randrange(12))))
        if not isinstance(result[part], dict):
            break
    return signed({**result})


def grafted(document: Document, other: Document, draw: random.Random) -> Document:
    """Return the document with one part of another of its kind."""
    part = draw.choice(("instance", "evidence", "claims"))
    return signed({**document, part: other[part]})


def agreeing(document: Document, draw: random.Random) -> Document:
    """Return the certificate of a packing with worse evidence, and claims that agree with it."""
    count, evidence = len(document["instance"]["items"]["sizes"]), document["evidence"]
    apart = [*range(count)]  # a bin for every item
    rule, packing = (draw.choice((evidence[name], apart)) for name in ("rule", "packing"))
    cheaper = Fraction(draw.randint(0, 4), 4)
    prices = [cheaper * Fraction(price) for price in evidence["prices"]]
    bins, most, bound = max(rule) + 1, max(packing) + 1, cheaper * Fraction(document["claims"]["bound"])
    claims = {"bins": bins, "least": ceil(bound), "most": most, "bound": str(bound)}
    claims[draw.choice(("ratio", "ratio_at_most"))] = str(Fraction(most, bins))
    evidence = {"rule": rule, "packing": packing, "prices": [*map(str, prices)]}
    return signed({**document, "evidence": evidence, "claims": claims})


def spoilt(text: str, draw: random.Random) -> str:
    """Return a text with some characters removed, doubled, exchanged or replaced."""
    for _ in range(draw.randint(1, 4)):
        i, j = sorted((draw.randrange(len(text)), draw.randrange(len(text))))
        i, j = (i, min(j, i + 8)) if draw.random() < 0.8 else (i, j)
        new = ("", 2 * text[i:j], text[i:j][::-1], draw.choice('{}[]",:/-0123456789eE.\x00\ud800"\\ '))
        text = text[:i] + draw.choice(new) + text[j:] or " "
    return text


def forged(draw: random.Random) -> Document | str:
    """Return a forged certificate, as a document or as a text."""
    document = draw.choice(list(CERTIFICATES.values()))
    way = draw.random()
    if way < 0.1:
        return spoilt(json.dumps(document), draw)
    if way < 0.2:
        return grafted(document, draw.choice([c for c in CERTIFICATES.values() if c["kind"] == document["kind"]]), draw)
    if document["kind"] == "packing" and way < 0.5:
        return agreeing(document, draw)
    return altered(document, draw, ("instance",) if way < 0.5 else ("evidence", "claims", "instance"))


def attack_certificates(number: int, seed: int) -> Report:
    """Forge certificates and let the checker decide."""
    draw, report, originals = random.Random(seed), Report(), list(CERTIFICATES.values())
    for i in range(number):
        made = forged(draw)
        start = time.process_time()
        try:
            document = checker.load(made) if isinstance(made, str) else made
            checker.check(document)
        except (checker.Refused, checker.Unreadable) as reason:
            report.outcomes["refused" if isinstance(reason, checker.Refused) else "unreadable"] += 1
            if not str(reason) or "\n" in str(reason):
                report.wrong.append(f"forgery {i}: the reason has no line, or several: {str(reason)!r}")
        except Exception as fault:
            report.wrong.append(f"forgery {i}: {type(fault).__name__}: {fault}")
        else:
            false = falsehood(document)
            report.outcomes["accepted, unaltered" if document in originals else "accepted, and true"] += not false
            if false:
                report.wrong.append(f"forgery {i} is accepted: {false}")
        report.took(time.process_time() - start, f"forgery {i}")
    return report
