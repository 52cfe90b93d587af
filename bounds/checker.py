"""The checker: verifies a certificate with nothing but the standard library and plain integer arithmetic.

It shares no code with what makes certificates. Run it alone: ``python3 -I -S checker.py CERTIFICATE.json``. Exit
status 0: every claim is proved by the evidence; 1: refused, with the reason; 2: no certificate, or not decided within a
limit; 70: a fault of the checker itself, which is no verdict. The limits on a document stand below, each with its
reason; ``--seconds S`` sets that of processor time.

What is trusted: this file, Python's integers and fractions, and the reader.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import stat
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import wraps
from itertools import pairwise
from math import gcd, lcm
from operator import itemgetter, mul
from threading import current_thread, main_thread
from typing import Any, TypeVar

FORMAT = "packproof/2"
"""The format that this checker reads."""
SECONDS = 60
"""Seconds of processor time for reading and verifying one document, unless ``--seconds`` says otherwise. The slowest
true certificates that are known take about 10."""
MEMORY = 10**9
"""Bytes of memory for reading and verifying one document."""
RESERVE = 4 * 2**20
"""Bytes of it that are free again for what ends the work when the memory is used up."""
MAX_BYTES = 16 * 2**20
"""Largest certificate that is read: what is parsed takes up to 35 times the memory of its text, here 600 MB."""
MAX_DIGITS = 4_000
"""Most digits of a whole number that is not text: Python itself refuses to read longer ones."""
MAX_LENGTH = 100_000
"""Most characters of an exact number: nothing interrupts the arithmetic of two numbers."""
MAX_BITS = 1_000_000
"""Most bits of a power: it is computed in one step, and may be longer than all that the document says."""
MAX_CELLS = 40_000_000
"""Largest table over a grid of sizes (levels times points); sizes beyond, atoms alone, are left to a search."""
MAX_TABLE = 200_000_000
"""Most bytes that a table, or the states that a search has met, take."""
MAX_STATES = 10_000_000
"""Most states that one search for a configuration visits, in about a minute: there may be exponentially many."""
MAX_PIVOTS = 50
"""Most pivots for the prices that cut branches; any prices do, and a few types and resources need about ten."""
MAX_SIMPLICES = 100_000
"""Most simplices of the boundary of a region."""
TRIED = 1_000
"""Most numbers of servers that are tried for the first of which each pool has those that it uses."""
SPLIT = "largest remainders"
"""How servers are split over several pools. Certificates that do not say so round shares down."""
USAGE = "usage: checker.py CERTIFICATE.json [--seconds S]"


S = TypeVar("S")
T = TypeVar("T")


class Refused(Exception):  # noqa: N818 (it is the verdict, not a fault)
    """The certificate does not prove what it claims; the message says why."""


class Unreadable(Exception):  # noqa: N818
    """The input is no certificate, or verifying it is beyond a stated limit."""


def require(condition: bool, reason: str) -> None:
    """Refuse the certificate unless the condition holds."""
    if not condition:
        raise Refused(reason)


def pairs(rows: Iterable[S], others: Iterable[T]) -> Iterable[tuple[S, T]]:
    """Pair the entries of two rows; it fails where one is longer, so that no number goes unread."""
    return zip(rows, others, strict=True)


def limit(number: int, most: int, what: str) -> None:
    """Stop where a document is beyond one of the limits above."""
    if number > most:
        raise Unreadable(f"{number:,} {what}: beyond the {most:,} that this checker decides, which does not refute it")


def add_up(numbers: Iterable[Fraction | int]) -> Fraction:
    """Return the sum of exact numbers."""
    return Fraction(sum(numbers))


def common(numbers: Iterable[int]) -> int:
    """Return the least common multiple, number by number: in one step nothing would interrupt it."""
    result = 1
    for number in numbers:
        result = lcm(result, number)
    return result


# ---- the limits of the system --------------------------------------------------------------------------------------


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Limit the processor time and the memory of what runs within; what takes more is `Unreadable`, never a verdict.

    The time is limited in the main thread, where the system has timers of processor time (Windows has none); the memory
    is limited on Linux. Elsewhere there is no such limit. One operation on long numbers is not interrupted, so that the
    end may come later. In the end the limits of the process are what they were.
    """
    try:
        with limited_memory(), limited_time(seconds):
            yield
    except MemoryError as error:
        raise Unreadable(
            f"not decided within the memory that is allowed, at most {MEMORY // 10**6:,} MB, which does not refute it"
        ) from error


@contextmanager
def limited_time(seconds: float) -> Iterator[None]:
    """Raise `Unreadable` after a number of seconds of processor time, and each second from then on."""

    def end(*_: object) -> None:
        raise Unreadable(
            f"not decided within {seconds:,} s of processor time, which does not refute it: expected more with "
            "--seconds"
        )

    if not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        yield
        return
    handler = signal.signal(signal.SIGPROF, end)
    timer = signal.setitimer(signal.ITIMER_PROF, seconds, 1)
    try:
        yield
    finally:
        try:
            signal.setitimer(signal.ITIMER_PROF, *timer)
        finally:  # the time may end here
            signal.signal(signal.SIGPROF, handler or signal.SIG_DFL)


@contextmanager
def limited_memory() -> Iterator[None]:
    """Limit the memory that is taken beyond what the process has, where Linux says how much that is."""
    try:
        import resource  # Unix alone has it

        with open("/proc/self/statm", "rb") as stream:
            pages = int(stream.read().split()[0])
    except (ImportError, OSError):
        yield
        return
    most = pages * resource.getpagesize() + MEMORY
    before, highest = resource.getrlimit(resource.RLIMIT_AS)
    allowed = most if before == resource.RLIM_INFINITY else min(most, before)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, highest))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, highest))


def with_reserve(work: Callable[[S], T]) -> Callable[[S], T]:
    """Let work hold memory that is set free when there is no more: without any, Python does not end a `with`."""

    @wraps(work)
    def run(given: S) -> T:
        reserve = []
        try:
            reserve.append(bytes(RESERVE))
            return work(given)
        except MemoryError:
            reserve.clear()
            raise

    return run


# ---- reading -------------------------------------------------------------------------------------------------------


def limit_length(length: int) -> None:
    """Refuse a text that is too long, before it is parsed."""
    limit(length, MAX_BYTES, "bytes")


def read(path: str) -> str:
    """Read a regular file of limited size: a device may have no end, and a pipe may never have a writer."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable("expected a file")
    limit_length(status.st_size)
    with open(path, "rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    limit_length(len(content))  # the file may have grown
    try:
        return content.decode("utf-8-sig")  # a byte order mark is no part of a text
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 text (byte {error.start})") from error


@with_reserve
def load(text: str) -> dict[str, Any]:
    """Parse the text of a certificate; keys that stand twice and numbers that are not whole are refused."""

    def table(entries: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(entries)
        require(len(result) == len(entries), "a key stands twice in one object")
        return result

    def number(literal: str) -> Any:
        raise Refused(f"the number {literal[:40]} is not exact text")

    def integer(literal: str) -> int:
        if len(literal) > MAX_DIGITS:
            raise Unreadable(f"a whole number has more than {MAX_DIGITS:,} digits")
        return int(literal)

    try:
        document = json.loads(
            text, object_pairs_hook=table, parse_float=number, parse_constant=number, parse_int=integer
        )
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not well-formed JSON: {' '.join(str(error).split())[:200]}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Unreadable(f"expected a certificate with format {FORMAT}")
    return document


def digest(document: dict[str, Any]) -> str:
    """Return the SHA-256 of the document without its digest: JSON, sorted keys, no blanks, UTF-8."""
    rest = {name: value for name, value in document.items() if name != "digest"}
    try:
        text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()
    except (ValueError, RecursionError) as error:
        raise Refused(f"the document has no digest: {error}") from error


def fields(value: Any, where: str, *names: str, optional: Sequence[str] = ()) -> list[Any]:
    """Return the values of a table that has exactly the given names (None for an optional one left out)."""
    require(isinstance(value, dict), f"{where} is no table")
    if not set(names) <= set(value) <= {*names, *optional}:
        raise Refused(f"{where} does not have the fields {', '.join(map(quoted, names))}")
    require(all(value.get(name, 0) is not None for name in optional), f"{where} has a field without a value")
    return [value.get(name) for name in (*names, *optional)]


def items(value: Any, where: str) -> list[Any]:
    """Return a list."""
    require(isinstance(value, list), f"{where} is no list")
    return list(value)


def rational(value: Any, where: str, *, least: int | None = None) -> Fraction:
    """Read an exact number written as p/q in lowest terms, or n."""
    require(isinstance(value, str) and len(value) <= MAX_LENGTH, f"{where} is no exact number")
    parts = re.fullmatch(r"(-?)([0-9]+)(?:/([0-9]+))?", value)
    require(parts is not None, f"{where} is no exact number")
    sign, above, below = parts.groups() if parts else ("", "", "")
    numerator, denominator = digits(above), digits(below or "1")
    require(denominator != 0, f"{where} has a zero denominator")
    shortest = not any(part and part[0] == "0" and part != "0" for part in (above, below))
    lowest = gcd(numerator, denominator) == 1 and (denominator > 1) == (below is not None)
    require(shortest and lowest and (numerator > 0 or not sign), f"{where} is not in lowest terms")
    number = Fraction(-numerator if sign else numerator, denominator)
    require(least is None or number >= least, f"{where} is less than {least}")
    return number


def digits(text: str) -> int:
    """Read a numeral, in parts where Python would refuse its length."""
    last = int(text[-MAX_DIGITS:])
    return last if len(text) <= MAX_DIGITS else digits(text[:-MAX_DIGITS]) * int(10**MAX_DIGITS) + last


def whole(value: Any, where: str) -> int:
    """Read a whole number of at least 0."""
    require(isinstance(value, int) and not isinstance(value, bool) and value >= 0, f"{where} is no whole number")
    return int(value)


def name_of(value: Any, where: str) -> str:
    """Read a name."""
    require(isinstance(value, str) and value != "", f"{where} is no name")
    return str(value)


# ---- the model -----------------------------------------------------------------------------------------------------

Configuration = tuple[int, ...]


@dataclass(frozen=True)
class Pool:
    """Servers of one kind: additive (capacity and demands in whole units) or explicit (generators)."""

    name: str
    share: Fraction
    capacity: tuple[int, ...]
    demands: tuple[tuple[int, ...], ...]
    generators: tuple[Configuration, ...]

    def holds(self, k: Configuration) -> bool:
        """Return whether a configuration is feasible."""
        if self.generators:
            return any(all(a <= b for a, b in pairs(k, top)) for top in self.generators)
        return all(
            sum(slots * demand[r] for slots, demand in pairs(k, self.demands)) <= c for r, c in enumerate(self.capacity)
        )

    def most(self, j: int) -> int:
        """Return how many jobs of one type fit alone."""
        if self.generators:
            return max(top[j] for top in self.generators)
        return most_of(self.capacity, self.demands[j])


def most_of(free: Sequence[int], demand: Sequence[int]) -> int:
    """Return how many jobs of one demand fit a free capacity."""
    return min([c // d for c, d in pairs(free, demand) if d])


@dataclass(frozen=True)
class Model:
    """An instance: names, rewards and workload of the types, and the pools."""

    names: list[str]
    rewards: list[Fraction]
    workload: list[Fraction]
    pools: list[Pool]
    chosen: dict[tuple[int, ...], list[Configuration]] = field(default_factory=dict)
    """MaxReward by pool of the sets of types for which it was computed."""
    decided: dict[tuple[Fraction | int, ...], Fraction] = field(default_factory=dict)
    """What an average server holds at most, at the prices for which it was decided."""

    def configuration(self, value: Any, where: str) -> Configuration:
        """Read a configuration given as {type: slots}."""
        require(isinstance(value, dict), f"{where} is no table")
        require(set(value) <= set(self.names), f"{where} names an unknown type")
        slots = {name: whole(number, where) for name, number in value.items()}
        require(all(slots.values()), f"{where} lists a type without slots")
        return tuple(slots.get(name, 0) for name in self.names)

    def by_pool(self, value: Any, where: str) -> list[Any]:
        """Read a table with one entry for every pool."""
        return fields(value, where, *(pool.name for pool in self.pools))


def model(value: Any) -> Model:
    """Read the instance of a certificate."""
    servers, kinds = fields(value, "instance", "server", "type")
    types = [_type(kind) for kind in items(kinds, "instance.type")]
    names = [name for name, *_ in types]
    demands = [demand for *_, demand in types]
    require(len(names) > 0 and len(set(names)) == len(names), "type names are missing or stand twice")
    raw = [_server(server, len(names)) for server in items(servers, "instance.server")]
    require(len({name for name, *_ in raw}) == len(raw), "pool names stand twice")
    require(add_up(share for _, share, _, _ in raw) == 1, "the shares do not sum to 1")
    resources = sorted({r for _, _, room, _ in raw for r in room})
    require({r for demand in demands for r in demand} <= set(resources), "a demand is for a resource of no server")
    need_demands = any(room for _, _, room, _ in raw)
    require(not need_demands or all(any(d.values()) for d in demands), "a type has no positive demand")
    pools = [Pool(name, share, *_in_units(room, demands, resources), listed) for name, share, room, listed in raw]
    require(all(any(p.most(j) for p in pools) for j in range(len(names))), "a type fits no server")
    return Model(names, [reward for _, reward, _, _ in types], [load_ for _, _, load_, _ in types], pools)


def _type(value: Any) -> tuple[str, Fraction, Fraction, dict[str, Fraction]]:
    """Read a type: its name, reward, workload and demand."""
    name, reward, workload, rate, demand = fields(
        value, "a type", "name", "reward", "workload", "service_rate", optional=["demand"]
    )
    earns, load_ = rational(reward, "a reward", least=0), rational(workload, "a workload", least=0)
    require(earns > 0 and rational(rate, "a service rate") > 0, "a reward or a service rate is not positive")
    require(demand is None or isinstance(demand, dict), "a demand is no table")
    needs = {r: rational(d, "a demand", least=0) for r, d in (demand or {}).items()}
    return name_of(name, "a type's name"), earns, load_, needs


def _server(value: Any, types: int) -> tuple[str, Fraction, dict[str, Fraction], tuple[Configuration, ...]]:
    """Read a server: its name, share, and either its capacity or its configurations."""
    name, share, capacity, tops = fields(value, "a server", "name", "share", optional=["capacity", "configurations"])
    require((capacity is None) != (tops is None), "a server has not either capacity or configurations")
    size = rational(share, "a share", least=0)
    require(size > 0, "a share is 0")
    require(capacity is None or isinstance(capacity, dict), "a capacity is no table")
    room = {r: rational(c, "a capacity", least=0) for r, c in (capacity or {}).items()}
    listed = tuple(
        tuple(whole(slots, "a slot") for slots in items(top, "a configuration"))
        for top in items(tops if tops is not None else [], "configurations")
    )
    require(all(len(top) == types for top in listed), "a configuration has not one entry for every type")
    require(bool(room) or bool(listed), "a server has neither resources nor configurations")
    return name_of(name, "a server's name"), size, room, listed


def _in_units(
    room: dict[str, Fraction], demands: list[dict[str, Fraction]], resources: list[str]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Scale each resource of a pool so that all demands are whole; round the capacity down to what they can reach."""
    if not room:
        return (), ()
    capacity, columns = [], []
    for r in resources:
        column = [d.get(r, Fraction(0)) for d in demands]
        scale = common(d.denominator for d in column)
        whole_column = [int(d * scale) for d in column]
        step = gcd(*whole_column) or 1
        capacity.append(room.get(r, Fraction(0)) * scale // step)
        columns.append([d // step for d in whole_column])
    return tuple(int(c) for c in capacity), tuple(tuple(column[j] for column in columns) for j in range(len(demands)))


# ---- the greatest weight over all configurations -------------------------------------------------------------------


def greatest(pool: Pool, weights: Sequence[int], types: Iterable[int]) -> int:
    """Return the greatest weight of a configuration that uses only the given types.

    Branch and bound: the slots of one type after the other are decided, from as many as fit down to none. What follows
    a decision is left aside if a bound says that it is worth no more than the best so far, or if the same types had the
    same free capacity before, after decisions worth at least as much.
    """
    kinds = [j for j in types if weights[j] > 0]  # others need no slots: the sets are closed downwards
    if pool.generators or not kinds:
        return max((sum(weights[j] * top[j] for j in kinds) for top in pool.generators), default=0)
    kinds, bounds = bounds_of(pool, weights, kinds)
    demands = [pool.demands[j] for j in kinds]
    width, bits = len(pool.capacity), max(pool.capacity).bit_length() + max(weights).bit_length()
    most = 1 + MAX_TABLE // (300 + (1 + width) * (40 + bits // 8))  # states that are remembered: bytes of each
    best, visited, met = 0, 0, dict[tuple[int, tuple[int, ...]], int]()
    decisions = [(0, pool.capacity, 0, most_of(pool.capacity, demands[0]))]
    while decisions:
        visited += 1
        limit(visited, MAX_STATES, "states of a search")
        i, free, before, slots = decisions.pop()
        left = tuple([c - slots * d for c, d in pairs(free, demands[i])])
        value = before + slots * weights[kinds[i]]
        best = max(best, value)
        deeper, fewer = True, slots > 0
        for price, above, below, falls in bounds[i]:
            if above * sum(map(mul, price, left)) < (best + 1 - value) * below:
                deeper, fewer = False, fewer and not falls
                if falls:
                    break
        if fewer:
            decisions.append((i, free, before, slots - 1))
        if deeper and met.get((i, left), -1) < value:
            if len(met) == most:
                met.clear()
            met[i, left] = value
            decisions.append((i + 1, left, value, most_of(left, demands[i + 1])))
    return best


Bound = tuple[list[int], int, int, bool]


def bounds_of(pool: Pool, weights: Sequence[int], kinds: list[int]) -> tuple[list[int], list[list[Bound]]]:
    """Order types by value, and bound for each what those after it are worth within a free capacity c.

    At any prices of the resources it is at most above / below times price . c, the greatest ratio of weight to price .
    demand among them. Each resource is priced alone, and all together by `prices_of`. A bound falls if fewer slots of
    the type itself do not raise it.
    """
    width = len(pool.capacity)
    prices = prices_of(pool.capacity, [pool.demands[j] for j in kinds], [weights[j] for j in kinds])
    tried = [prices, *([int(r == s) for s in range(width)] for r in range(width if width > 1 else 0))]

    def cost(price: list[int], j: int) -> int:
        return sum(map(mul, price, pool.demands[j]))

    kinds = sorted(kinds, key=lambda j: Fraction(cost(tried[0], j), weights[j]))
    rows: list[list[Bound]] = [[] for _ in kinds]
    for price in tried:
        above, below = 0, 1  # nothing follows the last type
        for j, row in zip(reversed(kinds), reversed(rows), strict=True):
            costs = cost(price, j)
            row.append((price, above, below, weights[j] * below >= above * costs))
            if weights[j] * below > above * costs:
                above, below = weights[j], costs  # 0 below: no bound
    return kinds, rows


def prices_of(capacity: Sequence[int], demands: Sequence[Sequence[int]], weights: Sequence[int]) -> list[int]:
    """Return prices of resources, up to a factor those at which the capacity costs least and no type is worth more.

    They are the multipliers of a linear program, by the simplex method; if it is stopped early, any others.
    """
    width, n = len(capacity), len(demands)
    units = [[int(r == s) for s in range(width)] for r in range(width)]
    table = [[*(row[r] for row in demands), *units[r], c] for r, c in enumerate(capacity)]
    table.append([*(-weight for weight in weights), *[0] * (width + 1)])
    last = 1
    for _ in range(MAX_PIVOTS):
        column = min(range(n + width), key=table[-1].__getitem__)
        if table[-1][column] >= 0:
            break
        rows = [r for r in range(width) if table[r][column] > 0]
        head = table[min(rows, key=lambda r: Fraction(table[r][-1], table[r][column]))]
        table = [row if row is head else cleared(row, head, column, last) for row in table]
        last = head[column]
    prices = [max(0, x) for x in table[-1][n : n + width]]
    shared = gcd(*prices) or 1  # where one resource alone has a price, it is 1, and not as long as the weights
    return [price // shared for price in prices]


def cleared(row: Sequence[int], head: Sequence[int], column: int, last: int) -> list[int]:
    """Return a row without its entry in a column, by fraction-free elimination after the pivot `last`."""
    lead, factor = head[column], row[column]
    return [(lead * a - factor * b) // last for a, b in pairs(row, head)]


def max_rewards(m: Model, types: Iterable[int]) -> list[Configuration]:
    """Return MaxReward of a set of types for every pool; each set is computed once."""
    key = tuple(sorted(types))
    if key not in m.chosen:
        m.chosen[key] = [max_reward(pool, m.rewards, key) for pool in m.pools]
    return m.chosen[key]


def max_reward(pool: Pool, rewards: Sequence[Fraction], types: Sequence[int]) -> Configuration:
    """Return the configuration of greatest reward, ties as Definition 2.2 says, that has the given types alone.

    Reward and configuration are packed into one integer, the reward in front, then the slots of the first type, of the
    second, ...: the greatest integer is the greatest reward and, among equals, the lexicographically greatest.
    """
    n = len(types)
    base = 1 + max((pool.most(j) for j in types), default=0)
    limit(n * base.bit_length(), MAX_BITS, "bits of a packed configuration")
    scale = common(rewards[j].denominator for j in types)
    weights, slots = [0] * len(rewards), [0] * len(rewards)
    for i, j in enumerate(types):
        weights[j] = int(rewards[j] * scale) * base**n + base ** (n - 1 - i)
    packed = greatest(pool, weights, types)
    for i, j in enumerate(types):
        slots[j] = packed // base ** (n - 1 - i) % base
    return tuple(slots)


def greatest_value(pool: Pool, prices: Sequence[Fraction | int]) -> Fraction:
    """Return the greatest value of a configuration at given slot prices."""
    scale = common(price.denominator for price in prices)
    return Fraction(greatest(pool, [int(price * scale) for price in prices], range(len(prices))), scale)


# ---- the claims ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stage:
    """A greedy stage, recomputed: configurations by pool, slots on an average server, fraction, types it exhausts."""

    configurations: list[Configuration]
    slots: list[Fraction]
    fraction: Fraction
    exhausts: list[str]


@with_reserve
def check(document: dict[str, Any]) -> dict[str, Any]:
    """Verify a certificate and return its claims; `limited` limits its time and memory.

    Parameters
    ----------
    document : dict
        As `load` reads it.

    Raises
    ------
    Refused
        With the reason.
    Unreadable
        If verifying is beyond a limit of this file.
    """
    require(not isinstance(document, str), "expected a dict, got a text; for a file, `packproof check FILE` reads it")
    form, kind, instance, evidence, claims, signed = fields(
        document, "the document", "format", "kind", "instance", "evidence", "claims", "digest"
    )
    require(signed == digest(document), "the digest does not belong to the document")
    require(isinstance(kind, str) and kind in KINDS, "the kind of certificate is unknown")
    require(form == FORMAT, "the format is unknown")
    KINDS[kind](instance, evidence, claims)
    return dict(claims)


def check_assignment(instance: Any, evidence: Any, claims: Any) -> None:
    """Verify greedy and optimal reward, their ratio and the guarantees (and whole servers, where claimed)."""
    m = model(instance)
    permutation, stages, columns, slot_prices, server_prices, servers = fields(
        evidence, "evidence", "permutation", "stages", "columns", "slot_prices", "server_prices", optional=["servers"]
    )
    greedy, optimal, ratio, guarantee, stagewise, on_servers = fields(
        claims, "claims", "greedy", "optimal", "ratio", "guarantee", "guarantee_stagewise", optional=["servers"]
    )
    run = greedy_run(m, ordered(m, permutation))
    compare_stages(m, run, items(stages, "evidence.stages"))
    reward = add_up(stage.fraction * total(m.rewards, stage.slots) for stage in run)
    require(rational(greedy, "claims.greedy") == reward, "the greedy reward is not right")
    best = rational(optimal, "claims.optimal")
    require(primal_value(m, columns) == best, "the columns do not earn the optimal reward")
    require(dual_value(m, slot_prices, server_prices) == best, "the prices do not prove the optimal reward")
    require(rational(ratio, "claims.ratio") == (reward / best if best else 1), "the ratio is not right")
    expected, expected_stagewise = guarantees(m, run, reward)
    require(rational(guarantee, "claims.guarantee") == expected, "the guarantee is not right")
    require(
        rational(stagewise, "claims.guarantee_stagewise") == expected_stagewise, "the stagewise guarantee is not right"
    )
    require((servers is None) == (on_servers is None), "evidence and claims on whole servers do not go together")
    if servers is not None:
        check_servers(m, servers, on_servers)


def ordered(m: Model, permutation: Any) -> list[int]:
    """Read the order in which greedy exhausts the types."""
    names = [name_of(name, "a type of the permutation") for name in items(permutation, "evidence.permutation")]
    require(sorted(names) == sorted(m.names), "the permutation is none of the types")
    place = {name: j for j, name in enumerate(m.names)}
    return [place[name] for name in names]


def compare_stages(m: Model, run: list[Stage], stages: list[Any]) -> None:
    """Require that the listed stages are those of the greedy run."""
    require(len(stages) == len(run), "the number of greedy stages is not right")
    for claimed, stage in pairs(stages, run):
        configurations, fraction, exhausts = fields(claimed, "a stage", "configurations", "fraction", "exhausts")
        by_pool = m.by_pool(configurations, "configurations")
        found = [m.configuration(k, "a greedy configuration") for k in by_pool]
        require(found == stage.configurations, "a greedy configuration is not MaxReward of the types left")
        require(rational(fraction, "a fraction") == stage.fraction, "a greedy fraction is not right")
        require(exhausts == stage.exhausts, "a stage does not exhaust what it says")


def guarantees(m: Model, run: list[Stage], reward: Fraction) -> tuple[Fraction, Fraction]:
    """Return two bounds on greedy / optimum: 1 - prod(1 - x_i), and reward / min_i (F_{i-1} + U_i); 1 if all served."""
    served = [add_up(stage.fraction * stage.slots[j] for stage in run) for j in range(len(m.names))]
    if served == m.workload or not run:
        return Fraction(1), Fraction(1)
    missed, before, bounds = Fraction(1), Fraction(0), []
    for stage in run:
        full = total(m.rewards, stage.slots)
        bounds.append(before + full)
        missed *= 1 - stage.fraction
        before += stage.fraction * full
    return 1 - missed, reward / min(bounds)


def total(prices: Sequence[Fraction | int], amounts: Sequence[Fraction | int]) -> Fraction:
    """Return the sum of price times amount."""
    return add_up(p * a for p, a in pairs(prices, amounts) if p and a)


def steps(m: Model, order: Sequence[int]) -> list[list[Configuration]]:
    """Return for every stage the MaxReward configuration of each pool, if the types end in the given order.

    A configuration without slots of the type that ends is also MaxReward of the types left.
    """
    result = [max_rewards(m, order)]
    for i, ended in enumerate(order[:-1], 1):
        result.append(max_rewards(m, order[i:]) if any(k[ended] for k in result[-1]) else result[-1])
    return result


def slots_of(m: Model, configurations: Sequence[Configuration]) -> list[Fraction]:
    """Return the slots of each type on an average server."""
    shares = [pool.share for pool in m.pools]
    return [total(shares, [k[j] for k in configurations]) for j in range(len(m.names))]


def greedy_run(m: Model, order: Sequence[int]) -> list[Stage]:
    """Run the greedy assignment and require that it exhausts the types in the given order (Proposition 3.1)."""
    left, room, run = list(m.workload), Fraction(1), []
    for i, configurations in enumerate(steps(m, order)):
        slots = slots_of(m, configurations)
        lengths = {j: left[j] / slots[j] for j in sorted(order[i:]) if slots[j]}
        length = min(lengths.values())
        last = next(j for j in lengths if lengths[j] == length)
        require(last == order[i], "the permutation is not the order in which greedy exhausts the types")
        fraction = min(length, room)
        if fraction:
            ended = [m.names[j] for j in lengths if lengths[j] == length] if length <= room else []
            run.append(Stage(configurations, slots, fraction, ended))
        room -= fraction
        left = [amount - length * s for amount, s in pairs(left, slots)]
    return run


def columns_of(m: Model, columns: Any, name: str) -> tuple[list[Fraction], list[Fraction]]:
    """Read columns (pool, configuration, amount of servers under `name`); return servers by pool and slots by type.

    They must be feasible, not empty, distinct and in order.
    """
    place = {pool.name: p for p, pool in enumerate(m.pools)}
    used, slots, keys = [Fraction(0)] * len(m.pools), [Fraction(0)] * len(m.names), []
    for column in items(columns, "columns"):
        pool, configuration, amount = fields(column, "a column", "pool", "configuration", name)
        require(isinstance(pool, str) and pool in place, "a column is of no pool")
        p, k = place[pool], m.configuration(configuration, "a column's configuration")
        servers = Fraction(whole(amount, name)) if name == "servers" else rational(amount, name)
        require(servers > 0 and any(k) and m.pools[p].holds(k), "a column is empty or not feasible")
        keys.append((p, [-s for s in k]))
        used[p] += servers
        slots = [have + servers * s if s else have for have, s in pairs(slots, k)]
    require(all(a < b for a, b in pairwise(keys)), "the columns are not in order")
    return used, slots


def primal_value(m: Model, columns: Any) -> Fraction:
    """Return the reward of an assignment whose slots are all used."""
    used, slots = columns_of(m, columns, "fraction")
    require(all(u <= pool.share for u, pool in pairs(used, m.pools)), "the columns use too many servers")
    require(all(s <= w for s, w in pairs(slots, m.workload)), "the columns have more slots than work")
    return total(m.rewards, slots)


def dual_value(m: Model, slot_prices: Any, server_prices: Any) -> Fraction:
    """Return the upper bound that slot prices prove: no configuration of a pool may be worth more than its server."""
    beta = [rational(value, "a slot price", least=0) for value in fields(slot_prices, "slot prices", *m.names)]
    gamma = [rational(value, "a server price", least=0) for value in m.by_pool(server_prices, "server prices")]
    for price, reward, load_ in zip(beta, m.rewards, m.workload, strict=True):
        require(price <= (reward if load_ else 0), "a slot price is above the reward, or not 0 without workload")
    for pool, price in pairs(m.pools, gamma):
        require(greatest_value(pool, beta) == price, "a server price is not the greatest value of a configuration")
    alpha = [reward - price for reward, price in pairs(m.rewards, beta)]
    return total(alpha, m.workload) + total(gamma, [pool.share for pool in m.pools])


# ---- the worst workload --------------------------------------------------------------------------------------------


def check_worst(instance: Any, evidence: Any, claims: Any) -> None:
    """Verify that greedy attains a ratio at the workload of the instance, and keeps it at every other workload."""
    m = model(instance)
    permutation, columns, orders = fields(evidence, "evidence", "permutation", "columns", "orders")
    (claimed,) = fields(claims, "claims", "ratio")
    ratio = rational(claimed, "claims.ratio", least=0)
    require(ratio <= 1, "the ratio is above 1")
    run = greedy_run(m, ordered(m, permutation))
    reward = add_up(stage.fraction * total(m.rewards, stage.slots) for stage in run)
    best = primal_value(m, columns)
    require(best > 0 and reward == ratio * best, "the workload does not attain the ratio")
    alone = [total(m.rewards, stage_slots(m, [j])) for j in range(len(m.names))]
    require_kept(m, ratio, alone, list(range(len(m.names))), [], [], orders)


def stage_slots(m: Model, types: list[int]) -> list[Fraction]:
    """Return the slots of an average server in the stage at which so many types are left."""
    return slots_of(m, max_rewards(m, types))


def require_kept(
    m: Model,
    ratio: Fraction,
    alone: list[Fraction],
    left: list[int],
    exhausted: list[int],
    before: list[tuple[list[Fraction], Fraction]],
    node: Any,
) -> None:
    """Require prices that refute every order in which greedy exhausts some types and goes on with those left.

    Servers run out in the stage that follows (with nothing exhausted, greedy is then optimal), or another type ends
    with it. Where all types end, all work is served, and greedy is optimal again.
    """
    slots = stage_slots(m, left)
    path = [*before, (slots, total(m.rewards, slots))]
    prices, after = fields(node, "an order", "prices", "after")
    require_price(m, ratio, exhausted, path if exhausted else [], prices)
    ends = [j for j in left if slots[j]] if len(left) > 1 else []
    for j, below in pairs(ends, fields(after, "the orders after", *(m.names[j] for j in ends))):
        rest, ended = [i for i in left if i != j], [*exhausted, j]
        require(isinstance(below, dict), "an order is no table")
        if "after" in below:
            require_kept(m, ratio, alone, rest, ended, path, below)
        else:
            (prices,) = fields(below, "an order", "prices")
            require_price(m, ratio, ended, path, prices, least=min(alone[i] for i in rest))


def require_price(
    m: Model,
    ratio: Fraction,
    exhausted: list[int],
    path: list[tuple[list[Fraction], Fraction]],
    prices: Any,
    least: Fraction | None = None,
) -> None:
    """Require prices b of the exhausted types at which no stage earns less than its work and its servers cost.

    With slot prices c = max(0, ratio u - b), and tau the greatest value of an average server at these, ratio times the
    optimum on t servers is at most b . rho + tau t. The stages use up the work rho of the exhausted types, and all
    servers; if each earns at least b . slots + tau a server, greedy earns at least ratio times the optimum. What
    follows the stages, if anything may, earns at least `least` a server and has no slots of the exhausted types.
    """
    b = [Fraction(0)] * len(m.names)
    for j, price in pairs(exhausted, fields(prices, "prices", *(m.names[j] for j in exhausted))):
        b[j] = rational(price, "a price", least=0)
    tau = worth(m, [max(Fraction(0), ratio * reward - price) for reward, price in pairs(m.rewards, b)])
    for slots, reward in path:
        require(total(b, slots) + tau <= reward, "the prices do not refute an order")
    require(least is None or tau <= least, "the prices do not refute the orders that follow")


# ---- whole servers -------------------------------------------------------------------------------------------------


def check_servers(m: Model, evidence: Any, claims: Any) -> None:
    """Verify the integer greedy placement on L servers and the bounds on the least number of servers."""
    number, greedy, lower, upper, split = fields(
        claims, "claims.servers", "servers", "greedy", "least", "most", optional=["split"]
    )
    require(split is None or (split == SPLIT and len(m.pools) > 1), "the split of servers over pools is unknown")
    # the key tells the rules apart, so that none is taken for the other if the claim of one is lost
    key = "pools" if split is None else "split"
    sizes, stages, slot_prices, columns = fields(evidence, "evidence.servers", key, "stages", "slot_prices", "columns")
    count = whole(number, "claims.servers.servers")
    require(count > 0, "no servers")
    jobs = [count * load_ for load_ in m.workload]
    pools = [whole(n, "servers of a pool") for n in m.by_pool(sizes, f"evidence.servers.{key}")]
    require(pools == apportioned(m, count), "the servers of the pools are not in proportion to the shares")
    reward = replay(m, pools, jobs, items(stages, "evidence.servers.stages"))
    require(rational(greedy, "claims.servers.greedy") == reward, "the reward of greedy placement is not right")

    need = [-(-job.numerator // job.denominator) for job in jobs]
    least, most = whole(lower, "claims.servers.least"), whole(upper, "claims.servers.most")
    prices = [rational(value, "a slot price", least=0) for value in fields(slot_prices, "slot prices", *m.names)]
    require(all(n or not price for n, price in pairs(need, prices)), "a price where nothing is needed")
    if least > 0:
        worst = [greatest_value(pool, prices) for pool in m.pools]
        can = [total(most_of_pools(m, n, split), worst) for n in (least - 1, least)]
        require(
            total(prices, need) == 1 and can[0] < 1 <= can[1], "the prices do not prove the least number of servers"
        )
    else:
        require(not any(prices), "prices that prove nothing are not 0")
    used, slots = columns_of(m, columns, "servers")
    require(slots == need, "the columns do not carry just the jobs")
    require(fewest_of_pools(m, used, split) == most, "the columns do not need as many servers as claimed")


def most_of_pools(m: Model, count: int, split: str | None) -> list[int]:
    """Return what each pool has at most of any number of servers up to a given one.

    Without a split, shares are rounded down. By largest remainders, one more server takes none from two pools, as one
    share is rounded to the nearest number. Of P > 2 pools k get one more, and all remainders sum to k. The last of the
    k has at least the remainder of P - k others, and those before it are below 1: its remainder is at least 1/P.
    """
    if split and len(m.pools) == 2:
        return apportioned(m, count)
    up = 1 - Fraction(1, len(m.pools)) if split else 0
    return [int(count * pool.share + up) for pool in m.pools]


def fewest_of_pools(m: Model, used: Sequence[Fraction], split: str | None) -> int:
    """Return the least number of servers of which each pool has those that it uses.

    By largest remainders at most TRIED numbers are tried, the last ones below what is enough if rounded down.
    """
    above = max((-(-n // pool.share) for n, pool in pairs(used, m.pools)), default=0)
    if not split:
        return int(above)
    up = 1 - Fraction(1, len(m.pools))
    below = max(-((up - n) // pool.share) for n, pool in pairs(used, m.pools))
    tried = range(max(int(below), int(above) - TRIED, 0), int(above))
    return next((n for n in tried if all(have >= u for have, u in pairs(apportioned(m, n), used))), int(above))


def check_cost(instance: Any, evidence: Any, claims: Any) -> None:
    """Verify bounds on the least cost of whole servers that hold given jobs, and servers at the upper one.

    The shares, rewards and workloads of the instance say nothing here.
    """
    pools, types, jobs, offers, spare = fields(instance, "instance", "server", "type", "jobs", "offers", "spare")
    m = model({"server": pools, "type": types})
    slot_prices, columns = fields(evidence, "evidence", "slot_prices", "columns")
    priced, lower, upper, servers = fields(claims, "claims", "priced", "lower", "upper", "servers")
    need = [whole(n, "a number of jobs") for n in fields(jobs, "instance.jobs", *m.names)]
    reserve = whole(spare, "instance.spare")
    kinds = [offer_of(value) for value in m.by_pool(offers, "instance.offers")]
    # the jobs are worth a sum of prices; a server holds no more of it than its greatest configuration
    prices = [rational(value, "a slot price", least=0) for value in fields(slot_prices, "slot prices", *m.names)]
    require(all(n or not price for n, price in pairs(need, prices)), "a price where nothing is needed")
    least = total(prices, need)
    for pool, (price, most, have) in pairs(m.pools, kinds):
        worth = greatest_value(pool, prices)
        # no more servers are of use than there are jobs; those that exist cost nothing
        used_at_most = sum(need) if most is None else min(max(most - reserve, 0), sum(need))
        free = min(have, used_at_most)
        least -= worth * free + max(worth - price, Fraction(0)) * (used_at_most - free)
    require(rational(priced, "claims.priced") == least, "the cost that the prices prove is not right")
    # a cost is a whole number of each price, so a multiple of what divides them all
    scale = common(price.denominator for price, _, _ in kinds)
    step = Fraction(gcd(*(int(price * scale) for price, _, _ in kinds)), scale)
    least = max(least, Fraction(0))
    bound = -(-least // step) * step if step else Fraction(0)
    require(rational(lower, "claims.lower") == bound, "the lower bound is not right")
    used, slots = columns_of(m, columns, "servers")
    require(slots == need, "the columns do not hold just the jobs")
    counts = [whole(n, "servers of a pool") for n in m.by_pool(servers, "claims.servers")]
    require(counts == used, "the columns do not use as many servers as claimed")
    cost = Fraction(0)
    for (price, most, have), number in pairs(kinds, counts):
        if number:
            require(most is None or number + reserve <= most, "there are not so many servers")
            cost += price * max(number + reserve - have, 0)
    require(rational(upper, "claims.upper") == cost, "the servers do not cost what is claimed")


def offer_of(value: Any) -> tuple[Fraction, int | None, int]:
    """Read what a kind of servers costs: the price, the most there may be, and how many exist and cost nothing."""
    price, have, most = fields(value, "an offer", "price", "have", optional=["most"])
    exist = whole(have, "servers that exist")
    limit_ = None if most is None else whole(most, "most servers")
    require(limit_ is None or limit_ >= exist, "more servers exist than there may be")
    return rational(price, "a price", least=0), limit_, exist


def apportioned(m: Model, count: int) -> list[int]:
    """Split servers over pools by share; what rounding down leaves goes by largest remainder, then by order."""
    sizes = [int(count * pool.share) for pool in m.pools]
    for p in sorted(range(len(sizes)), key=lambda p: sizes[p] - count * m.pools[p].share)[: count - sum(sizes)]:
        sizes[p] += 1
    return sizes


def replay(m: Model, sizes: Sequence[int], jobs: Sequence[Fraction], stages: list[Any]) -> Fraction:
    """Require that the stages are those of greedy placement and return its reward.

    Servers are assigned one by one, the i-th of a pool's n servers at time i/n, each to MaxReward of the types that no
    earlier server exhausted. A stage is right if a type is exhausted (or time is up) at its end and not a tick before.
    The stages end with the servers, or where no type that is left fits a server of a pool that has any.
    """
    end = common(size or 1 for size in sizes)
    now, slots = 0, [0] * len(jobs)
    types, ks, live = left_over(m, sizes, jobs, slots, list(range(len(jobs))))
    for stage in stages:
        require(bool(live) and now < end, "a stage comes after greedy placement has ended")
        configurations, servers = fields(stage, "a stage", "configurations", "servers")
        found = [m.configuration(k, "a configuration") for k in m.by_pool(configurations, "configurations")]
        require(found == ks, "a configuration is not MaxReward of the types left")
        used = [whole(n, "a number of servers") for n in m.by_pool(servers, "servers")]
        before, now = [now * size // end for size in sizes], end_of(sizes, used, now, end)
        earlier = [(now - 1) * size // end - b for b, size in pairs(before, sizes)]
        for j in live:
            require(slots[j] + placed(earlier, ks, j) < jobs[j], "a stage is longer than its first type lasts")
        slots = [have + placed(used, ks, j) for j, have in enumerate(slots)]
        require(now == end or any(slots[j] >= jobs[j] for j in live), "a stage ends before a type is exhausted")
        types, ks, live = left_over(m, sizes, jobs, slots, types)
    require(now == end or not live, "greedy placement has further stages")
    return total(m.rewards, [min(job, Fraction(have)) for job, have in pairs(jobs, slots)])


def left_over(
    m: Model, sizes: Sequence[int], jobs: Sequence[Fraction], slots: Sequence[int], types: list[int]
) -> tuple[list[int], list[Configuration], list[int]]:
    """Let exhausted types leave in file order; return the types left, their MaxReward by pool, and those in it."""
    types = list(types)
    while types:
        ks = max_rewards(m, types)
        live = [j for j in types if any(k[j] for k, size in pairs(ks, sizes) if size)]
        ended = [j for j in live if slots[j] >= jobs[j]]
        if not ended:
            return types, ks, live
        types.remove(ended[0])
    return [], [], []


def end_of(sizes: Sequence[int], used: Sequence[int], now: int, end: int) -> int:
    """Return the time at which a stage ends that uses so many servers of each pool from a time on."""
    require(all(n <= size for n, size in pairs(used, sizes)), "a stage uses more servers than there are")
    after = [now * size // end + n for n, size in pairs(used, sizes)]
    ticks = [-(-a * end // size) for a, n, size in zip(after, used, sizes, strict=True) if n]
    require(bool(ticks), "a stage uses no server")
    then = max(ticks)
    require([then * size // end for size in sizes] == after, "the servers of a stage are not in proportion")
    return then


def placed(servers: Sequence[int], configurations: Sequence[Configuration], j: int) -> int:
    """Return the slots of a type on so many servers of each pool."""
    return sum(n * k[j] for n, k in pairs(servers, configurations))


# ---- fair sharing --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Share:
    """What a cluster means to a mechanism: by user, and by user and server."""

    users: list[str]
    servers: list[str]
    weights: list[Fraction]
    part: list[list[dict[str, Fraction] | None]]
    """Part of each resource of a server that one task takes; None where the user may not run."""
    alone: list[list[Fraction]]
    """Tasks that a user could run alone on a server if it could be placed anywhere."""
    dominant: list[Fraction]
    """Largest part of the whole cluster's resources that one task takes."""
    most: list[Fraction | None]
    """Tasks that a user wants; None for any number."""
    groups: list[tuple[Fraction, list[int]]] = field(default_factory=list)
    """Weight and users of each group, a user without one as a group of its own; empty where nobody is in a group."""

    def wanted(self, n: int, tasks: Fraction) -> Fraction:
        """Return the part of a number of tasks that a user wants."""
        most = self.most[n]
        return tasks if most is None else min(tasks, most)

    def at_cap(self, totals: list[Fraction]) -> set[int]:
        """Return the users that have all the tasks that they want."""
        return {n for n, tasks in enumerate(totals) if tasks == self.most[n]}


def amounts(value: Any, where: str) -> dict[str, Fraction]:
    """Read a table of amounts, at least 0, by resource."""
    require(isinstance(value, dict), f"{where} is no table")
    return {name_of(r, where): rational(x, where, least=0) for r, x in value.items()}


@dataclass(frozen=True)
class Cluster:
    """The servers of a cluster: what one server of each class has, how many there are, and everything together."""

    one: dict[str, dict[str, Fraction]]
    counts: dict[str, int]
    everything: dict[str, Fraction]
    names: set[str]

    @property
    def pooled(self) -> bool:
        """Whether all servers count as one."""
        return set(self.one) != self.names


def cluster_of(tables: Any, *, pooled: bool) -> Cluster:
    """Read the servers; pooled: all servers as one."""
    one: dict[str, dict[str, Fraction]] = {}
    counts: dict[str, int] = {}
    for table in items(tables, "instance.server"):
        name, capacity, count = fields(table, "a server", "name", "capacity", "count")
        require(name_of(name, "a server's name") not in one, "server names stand twice")
        one[name] = amounts(capacity, "a capacity")
        require(any(one[name].values()), "a server has no positive capacity")
        counts[name] = whole(count, "a count")
        require(count > 0, "a server's count is 0")
    resources = {r for c in one.values() for r in c}
    everything = {r: add_up(counts[s] * c[r] for s, c in one.items() if r in c) for r in sorted(resources)}
    if pooled and len(one) > 1:
        return Cluster({"pool": everything}, {"pool": 1}, everything, set(one))
    return Cluster(one, counts, everything, set(one))


def share_model(instance: Any, *, pooled: bool, grouped: bool = False) -> Share:
    """Read the cluster of a certificate; pooled: all servers as one, without placement constraints.

    Groups of users are refused unless the claim is `grouped`: one that is defined for them.
    """
    if pooled:
        share_model(instance, pooled=False, grouped=grouped)  # what makes no sense makes none as one server
    tables, people, parties = fields(instance, "instance", "server", "user", optional=["group"])
    cluster = cluster_of(tables, pooled=pooled)
    result = Share([], list(cluster.one), [], [], [], [], [])
    known: set[str] = set()
    chosen: list[str | None] = []
    for table in items(people, "instance.user"):
        name, demand, weight, allowed, own, cap, group = fields(
            table, "a user", "name", "demand", "weight", optional=["servers", "effective", "most_tasks", "group"]
        )
        chosen.append(group)
        require(name_of(name, "a user's name") not in known, "user names stand twice")
        known.add(name)
        need = {r: d for r, d in amounts(demand, "a demand").items() if d}
        phi = rational(weight, "a weight", least=0)
        require(
            phi > 0 and bool(need) and need.keys() <= cluster.everything.keys(), "a weight or a demand makes no sense"
        )
        effective = _effective(own, cluster)
        parts = [_part(cluster, s, need, effective) for s in result.servers]
        listed = None if allowed is None else {name_of(s, "a server") for s in items(allowed, "a user's servers")}
        require(listed is None or listed <= cluster.names, "a user names an unknown server")
        require(listed is None or len(listed) == len(allowed), "a user names a server twice")
        places = set(result.servers) if listed is None or cluster.pooled else listed
        may = [s in places for s in result.servers]
        placeable = [part if able else None for part, able in pairs(parts, may)]
        require(any(part is not None for part in placeable), "a user fits no server")
        result.users.append(name)
        result.weights.append(phi)
        result.most.append(None if cap is None else rational(cap, "a user's most_tasks", least=0))
        require(result.most[-1] != 0, "a user wants no task")
        result.part.append(placeable)
        result.alone.append([1 / max(part.values()) if part else Fraction(0) for part in parts])
        total_of = cluster.everything
        result.dominant.append(max(d / total_of[r] if total_of[r] else Fraction(0) for r, d in need.items()))
    require(bool(result.users) and bool(result.servers), "no users or no servers")
    if parties is not None or any(group is not None for group in chosen):
        require(grouped, "the claim is not defined for groups")
        result.groups.extend(_groups(parties, chosen, result.weights))
    return result


def _groups(parties: Any, chosen: list[Any], weights: list[Fraction]) -> list[tuple[Fraction, list[int]]]:
    """Read the weight and the users of each group; a user without one is a group of its own weight."""
    groups: dict[str, tuple[Fraction, list[int]]] = {}
    for table in items(parties, "instance.group"):
        name, weight = fields(table, "a group", "name", "weight")
        require(name_of(name, "a group's name") not in groups, "group names stand twice")
        groups[name] = rational(weight, "a group's weight", least=0), []
        require(groups[name][0] > 0, "a group's weight is 0")
    alone = []
    for n, group in enumerate(chosen):
        if group is None:
            alone.append((weights[n], [n]))
        else:
            require(name_of(group, "a user's group") in groups, "a user names an unknown group")
            groups[group][1].append(n)
    require(all(users for _, users in groups.values()), "a group has no users")
    return [*groups.values(), *alone]


def _effective(own: Any, cluster: Cluster) -> dict[str, dict[str, Fraction]]:
    """Read a user's effective capacities by server; a pool of all servers has none."""
    if own is None:
        return {}
    require(isinstance(own, dict) and set(own) <= cluster.names, "effective: unknown server")
    if cluster.pooled:
        return {}
    read = {s: amounts(c, "an effective capacity") for s, c in own.items()}
    for s, table in read.items():
        sound = all(x and cluster.one[s].get(r) for r, x in table.items())
        require(sound, "an effective capacity is 0, or of a resource that the server does not have")
    return read


def _part(
    cluster: Cluster, server: str, need: dict[str, Fraction], effective: dict[str, dict[str, Fraction]]
) -> dict[str, Fraction] | None:
    """Return the part of each resource of a server class that one task takes; None where it does not fit."""
    one, seen = cluster.one[server], effective.get(server, {})
    room = {r: seen.get(r, c) for r, c in one.items() if c}
    if not all(room.get(r, 0) > 0 for r in need):
        return None
    return {r: d / room[r] / cluster.counts[server] for r, d in need.items()}


LEVELLED = ("c-drfh", "cdrf", "tsf")
"""Mechanisms that are max-min fair in one number a user, and carry prices."""

TAKE_CAPS = ("drf", "c-drfh", "tsf")
"""Mechanisms that are defined for users that want no more than a number of tasks."""

Parts = list[list[dict[str, Fraction] | None]]


def check_allocation(instance: Any, evidence: Any, claims: Any) -> None:
    """Verify that an allocation is the one, or one of those, that the mechanism defines."""
    mechanism, tasks, ignored = fields(claims, "claims", "mechanism", "tasks", optional=["ignored"])
    require(mechanism in ("drf", *LEVELLED, "ps-dsf", "ps-dsf-tdm"), "the mechanism is unknown")
    m = share_model(instance, pooled=mechanism == "drf", grouped=mechanism == "drf")
    require_ignored(instance, ignored, pooled=mechanism == "drf")
    placed_, stages = fields(evidence, "evidence", "allocation", optional=["stages"])
    x = placed_tasks(m, placed_)
    totals = [add_up(tasks for tasks in row if tasks) for row in x]
    claimed = [rational(value, "claims.tasks") for value in fields(tasks, "claims.tasks", *m.users)]
    require(claimed == totals, "the claimed tasks are not those of the allocation")
    by_level = mechanism in LEVELLED
    require((stages is not None) == by_level, "prices belong to the mechanisms that are max-min fair in one number")
    require_wanted(m, totals)
    require(mechanism in TAKE_CAPS or not any(m.most), "the mechanism is not defined for users with caps")
    part: Parts = [
        [p and ({"time": max(p.values())} if mechanism == "ps-dsf-tdm" else p) for p in row] for row in m.part
    ]
    for i in range(len(m.servers)):
        load_ = feasible_load(part, x, i)
        if not by_level and not m.groups:
            require_bottlenecks(m, part, x, totals, i, load_)
    if m.groups:
        require_stops(m, [row[0] or {} for row in part], totals)
    if by_level:
        require_levels(m, part, totals, heights(m, totals, mechanism), items(stages, "evidence.stages"))


def require_ignored(instance: Any, ignored: Any, *, pooled: bool) -> None:
    """Require that what is said to be ignored of a cluster is what counts for nothing where all servers are one.

    Certificates of before do not say it.
    """
    if ignored is None:
        return
    servers, users = len(instance["server"]), instance["user"]
    parts = [
        ("borders of servers", True),
        ("effective capacities", any(user.get("effective") for user in users)),
        ("placement", any(len(user.get("servers", instance["server"])) < servers for user in users)),
    ]
    right = ", ".join(what for what, is_ignored in parts if is_ignored)
    require(
        pooled and servers > 1 and ignored == right, "what the mechanism ignores of the cluster is not what is said"
    )


def placed_tasks(m: Share, value: Any) -> list[list[Fraction]]:
    """Read the tasks of each user on each server."""
    x: list[list[Fraction]] = []
    servers = set(m.servers)
    for table in fields(value, "evidence.allocation", *m.users):
        require(isinstance(table, dict) and set(table) <= servers, "tasks stand on an unknown server")
        found = {s: rational(tasks, "tasks", least=0) for s, tasks in table.items()}
        require(all(found.values()), "tasks that are 0 are listed")
        x.append([found.get(s, Fraction(0)) for s in m.servers])
    return x


def require_wanted(m: Share, totals: list[Fraction]) -> None:
    """Require that nobody has more tasks than it wants."""
    require(all(m.wanted(n, tasks) == tasks for n, tasks in enumerate(totals)), "a user has more tasks than it wants")


def feasible_load(part: Parts, x: list[list[Fraction]], i: int) -> dict[str, Fraction]:
    """Return the part of each resource of a server that is used; tasks that may not run, or do not fit, are refused."""
    require(all(row[i] is not None or not y[i] for row, y in pairs(part, x)), "a task may not run there")
    load_ = load_of(part, x, i)
    require(max(load_.values(), default=Fraction(0)) <= 1, "a server holds more than it can")
    return load_


def load_of(part: Parts, x: list[list[Fraction]], i: int) -> dict[str, Fraction]:
    """Return the part of each resource of a server that is used."""
    load_: dict[str, Fraction] = {}
    for row, tasks in pairs(part, x):
        for r, share in (row[i] or {}).items():
            load_[r] = load_.get(r, Fraction(0)) + (share * tasks[i] if tasks[i] else 0)
    return load_


def require_bottlenecks(
    m: Share, part: Parts, x: list[list[Fraction]], totals: list[Fraction], i: int, load_: dict[str, Fraction]
) -> None:
    """Require a bottleneck of every user at a server: Theorem 1; Theorem 2 is the same with the one resource time.

    A bottleneck is a resource that is used up, of which nobody with tasks on the server has a greater share. Users at
    their caps, which only DRF has here, on its one server, need none: the cap is what keeps them from more.
    """
    here = [(n, p) for n, row in enumerate(part) if (p := row[i]) is not None]
    level = {n: totals[n] * max(p.values()) / m.weights[n] for n, p in here}
    top = {r: max(level[n] for n, p in here if x[n][i] and r in p) for r, used in load_.items() if used == 1}
    full = m.at_cap(totals)
    for n, p in here:
        stopped = n in full or any(r in p and level[n] >= top[r] for r in top)
        require(stopped, "a user has no bottleneck at a server")


@dataclass
class Party:
    """A group while its users rise: at a height of t it holds ``fixed[r] + t * rate[r]`` of each resource."""

    weight: Fraction
    rising: list[int]
    height: Fraction = Fraction(0)  # the weighted dominant share of those who rise
    fixed: dict[str, Fraction] = field(default_factory=dict)  # held by those who have stopped
    rate: dict[str, Fraction] = field(default_factory=dict)

    def waits(self, full: set[str]) -> Fraction:
        """Return its level by what those who rise do not take, without what is full: it does not rise below that."""
        amounts_held = (amount for r, amount in self.fixed.items() if r not in full and r not in self.rate)
        return max(amounts_held, default=Fraction(0)) / self.weight

    def arrives(self, height: Fraction, full: set[str]) -> tuple[Fraction, Fraction]:
        """Return when it comes to a height: the level of the groups, then, of those that wait there, what each holds.

        A group that does not wait comes to its height before those that do begin to rise.
        """
        level = max(self.fixed.get(r, 0) + height * v for r, v in self.rate.items()) / self.weight
        wait = self.waits(full)
        return (level, Fraction(-1)) if level > wait else (wait, level)

    def height_at(self, moment: tuple[Fraction, Fraction], full: set[str]) -> Fraction:
        """Return its height at a moment; it never falls."""
        wait = self.waits(full)
        if wait > moment[0]:
            return self.height
        held = moment[wait == moment[0]] * self.weight
        return max(self.height, min((held - self.fixed.get(r, 0)) / v for r, v in self.rate.items()))


def require_stops(m: Share, need: list[dict[str, Fraction]], totals: list[Fraction]) -> None:
    """Require hierarchical DRF on one server: groups rise by their levels, and their users stop where they must.

    The level of a group is its weighted dominant share, without what is full. Of groups of one level those come first
    that hold less of what they still take. The tasks say at which height each user stops, so the next stop is known.
    """
    pace = [w / max(row.values()) for w, row in pairs(m.weights, need)]  # tasks at a height of 1
    stop = [tasks / v for tasks, v in pairs(totals, pace)]
    parties = [Party(weight, users) for weight, users in m.groups]
    full: set[str] = set()
    while parties:
        for one in parties:
            one.rate = weighted_sum(need, {n: pace[n] for n in one.rising})
        ends = [(one, min(stop[n] for n in one.rising)) for one in parties]
        moments = [one.arrives(end, full) for one, end in ends if end > one.height]
        require(bool(moments), "a user could have more")
        for one in parties:
            one.height = one.height_at(min(moments), full)
        has = {n: one.height * pace[n] for one in parties for n in one.rising}
        load_ = weighted_sum(need, dict(enumerate(totals)) | has)
        full = {r for r, used in load_.items() if used == 1}
        stopped = {n for n, tasks in has.items() if full & need[n].keys() or tasks == totals[n] == m.most[n]}
        right = bool(stopped) and all(has[n] == totals[n] for n in stopped)
        require(right, "a user stops where nothing stops it, or goes on where something does")
        for one in parties:
            gained = weighted_sum(need, {n: totals[n] for n in one.rising if n in stopped})
            one.fixed = {r: one.fixed.get(r, Fraction(0)) + gained.get(r, 0) for r in one.fixed.keys() | gained.keys()}
            one.rising = [n for n in one.rising if n not in stopped]
        parties = [one for one in parties if one.rising]


def weighted_sum(need: list[dict[str, Fraction]], amount: dict[int, Fraction]) -> dict[str, Fraction]:
    """Return what some numbers of tasks of users take of each resource."""
    sums: dict[str, Fraction] = {}
    for n, tasks in amount.items():
        for r, share in need[n].items():
            sums[r] = sums.get(r, Fraction(0)) + tasks * share
    return sums


def heights(m: Share, totals: list[Fraction], mechanism: str) -> list[Fraction]:
    """Return the number of each user in which the mechanism is max-min fair."""
    anywhere = [[p is not None or mechanism == "tsf" for p in row] for row in m.part]
    alone = [add_up(a for a, may in pairs(*rows) if may) for rows in pairs(m.alone, anywhere)]
    unit = [1 / share for share in m.dominant] if mechanism == "c-drfh" else alone
    return [tasks / (w * u) for tasks, w, u in zip(totals, m.weights, unit, strict=True)]


def require_levels(m: Share, part: Parts, totals: list[Fraction], height: list[Fraction], stages: list[Any]) -> None:
    """Require prices, stage by stage, at which no user on its level can have more unless one no higher has less.

    What is feasible costs at most 1 at the prices of a stage, all resources; the tasks of its users, none of which is
    worth more than it costs, are worth 1 already. So none of these users gains unless another of them, who is at or
    below the level, loses. That is so by each stage alone, whatever the others say: levels may be equal. Of users at
    their caps nothing is to be proved.
    """
    reached, proved = Fraction(-1), m.at_cap(totals)
    for stage in stages:
        q = stage_values(m, part, stage)
        require(add_up(worth * totals[n] for n, worth in q.items()) == 1, "the tasks are not worth all resources")
        level = max(height[n] for n in q)
        require(level >= reached, "the stages are not in order")
        on_level = {n for n in q if height[n] == level}
        require(not on_level <= proved, "a stage proves nothing of a further user")
        reached = level
        proved |= on_level
    require(proved == set(range(len(m.users))), "nothing proves that a user cannot have more")


def stage_values(m: Share, part: Parts, stage: Any) -> dict[int, Fraction]:
    """Read the prices of a stage, which sum to 1, and what they let a task of each user be worth."""
    prices, values = fields(stage, "a stage", "prices", "values")
    require(isinstance(prices, dict) and set(prices) <= set(m.servers), "prices of an unknown server")
    y = [amounts(prices.get(s, {}), "prices") for s in m.servers]
    require(add_up(price for row in y for price in row.values()) == 1, "the prices do not sum to 1")
    require(all(all(row.values()) for row in y), "a price that is 0 is listed")
    require(isinstance(values, dict) and set(values) <= set(m.users), "a value of an unknown user")
    place = {user: n for n, user in enumerate(m.users)}
    q = {place[user]: rational(value, "a value", least=0) for user, value in values.items()}
    require(all(q.values()) and bool(q), "a value is 0")
    for n, worth in q.items():
        for row, p in pairs(y, part[n]):
            cost = add_up(row[r] * share for r, share in (p or {}).items() if r in row)
            require(p is None or worth <= cost, "a task is worth more than its resources cost")
    return q


# ---- what a rule keeps ----------------------------------------------------------------------------------------------
#
# That a rule answered as the evidence says is the word of whoever ran it; what the answer is worth is proved.


def check_rule(instance: Any, evidence: Any, claims: Any) -> None:
    """Verify the reward of a rule's assignment, the optimal reward, and their ratio."""
    m = model(instance)
    rule, columns, slot_prices, server_prices = fields(
        evidence, "evidence", "rule", "columns", "slot_prices", "server_prices"
    )
    earned, optimal, ratio = fields(claims, "claims", "rule", "optimal", "ratio")
    used, slots = columns_of(m, rule, "fraction")
    require(all(u <= pool.share for u, pool in pairs(used, m.pools)), "the rule uses too many servers")
    # slots beyond the workload stay empty
    reward = total(m.rewards, [min(s, w) for s, w in pairs(slots, m.workload)])
    require(rational(earned, "claims.rule") == reward, "the reward of the rule is not right")
    best = rational(optimal, "claims.optimal")
    require(primal_value(m, columns) == best > 0, "the columns do not earn the optimal reward")
    require(dual_value(m, slot_prices, server_prices) == best, "the prices do not prove the optimal reward")
    require(rational(ratio, "claims.ratio") == reward / best, "the ratio is not right")


def check_packing(instance: Any, evidence: Any, claims: Any) -> None:
    """Verify a rule's bins and a packing with few, and by prices that no packing has fewer than so many.

    No set of items that fits a bin is worth more than 1, so a packing has at least as many bins as all are worth. Where
    that is fewer than the packing has, the ratio, the fewest bins over those of the rule, is only known to be at most
    that of the packing.
    """
    (table,) = fields(instance, "instance", "items")
    room, listed = fields(table, "instance.items", "capacity", "sizes")
    capacity = tuple(whole(c, "a capacity") for c in items(room, "capacity"))
    require(bool(capacity) and min(capacity) > 0, "a capacity is 0")
    sizes = [tuple(whole(s, "a size") for s in items(row, "an item")) for row in items(listed, "sizes")]
    require(bool(sizes) and all(len(row) == len(capacity) for row in sizes), "an item has not one size a resource")
    rule, packing, prices = fields(evidence, "evidence", "rule", "packing", "prices")
    name = "ratio_at_most" if isinstance(claims, dict) and "ratio_at_most" in claims else "ratio"
    bins, least, most, bound, ratio = fields(claims, "claims", "bins", "least", "most", "bound", name)
    require(whole(bins, "claims.bins") == bins_of(rule, sizes, capacity), "the number of the rule's bins is not right")
    require(whole(most, "claims.most") == bins_of(packing, sizes, capacity), "the number of bins is not right")
    kinds = sorted({row for row in sizes if any(row)})
    values = [rational(price, "a price", least=0) for price in items(prices, "prices")]
    worth_of = dict(pairs(kinds, values)) if len(values) == len(kinds) else {}
    require(len(worth_of) == len(kinds), "there is not one price for every size")
    server = Pool("a bin", Fraction(1), capacity, tuple(kinds), ())
    require(greatest_value(server, values) <= 1, "items that fit a bin are worth more than 1")
    value = add_up(worth_of[row] for row in sizes if any(row))
    require(rational(bound, "claims.bound") == value, "the prices do not prove the bound")
    require(whole(least, "claims.least") == -(-value.numerator // value.denominator), "the least number is not right")
    require(most <= bins, "the packing has more bins than the rule")
    require((name == "ratio") == (least == most), "the ratio is decided if least is most, and at most that otherwise")
    require(rational(ratio, f"claims.{name}") == Fraction(most, bins), "the ratio is not right")


def bins_of(value: Any, sizes: list[Configuration], capacity: Configuration) -> int:
    """Return the number of bins that hold the items, numbered from 0 in the order of their first items."""
    free: list[list[int]] = []
    places = [whole(b, "a bin") for b in items(value, "bins")]
    require(len(places) == len(sizes), "there is not one bin for every item")
    for place, row in pairs(places, sizes):
        require(place <= len(free), "the bins are not numbered in order")
        free += [list(capacity)] if place == len(free) else []
        free[place] = [c - s for c, s in pairs(free[place], row)]
        require(min(free[place]) >= 0, "a bin holds more than it can")
    return len(free)


def check_fair_share(instance: Any, evidence: Any, claims: Any) -> None:
    """Verify what a user has of its weighted max-min fair share of the resource that is dominant for all everywhere."""
    m = share_model(instance, pooled=False)
    placed_, fair, stages = fields(evidence, "evidence", "allocation", "fair", "stages")
    resource, user, tasks, share, ratio = fields(claims, "claims", "resource", "user", "tasks", "fair", "ratio")
    r = name_of(resource, "claims.resource")
    # amounts of users who see other capacities cannot be compared
    require(all("effective" not in table for table in instance["user"]), "a user has effective capacities")
    here = [part for row in m.part for part in row if part is not None]
    require(all(part.get(r) == max(part.values()) for part in here), "the resource is not the bottleneck of all users")
    need = [amounts(table["demand"], "a demand")[r] for table in instance["user"]]
    x, y = placed_tasks(m, placed_), placed_tasks(m, fair)
    for i in range(len(m.servers)):
        feasible_load(m.part, x, i)
        feasible_load(m.part, y, i)
    has, due = ([add_up(tasks for tasks in row if tasks) for row in rows] for rows in (x, y))
    require_wanted(m, has)
    require_wanted(m, due)
    # the amounts of the resource that the users hold, by weight, are max-min fair
    level = [tasks * d / w for tasks, d, w in zip(due, need, m.weights, strict=True)]
    require_levels(m, m.part, due, level, items(stages, "evidence.stages"))
    require(user in m.users, "claims.user is no user")
    n = m.users.index(user)
    require(rational(tasks, "claims.tasks") == has[n], "the tasks of the user are not right")
    require(rational(share, "claims.fair") == due[n] > 0, "the fair share of the user is not right")
    require(rational(ratio, "claims.ratio") == has[n] / due[n], "the ratio is not right")


# ---- allocations of anybody's ---------------------------------------------------------------------------------------

PROPERTIES = (
    "bottleneck_fairness", "envy_freeness", "pareto_optimality", "sharing_incentive", "single_resource_fairness",
)  # fmt: skip


def check_fairness(instance: Any, evidence: Any, claims: Any) -> None:
    """Verify whether tasks fit a cluster, and of those that do, which properties hold."""
    tasks, feasible, *unfit = fields(
        claims, "claims", "tasks", "feasible", optional=["over", "misplaced", "unwanted", *CLAIMED]
    )
    m = share_model(instance, pooled=False)
    placed_, *proofs = fields(evidence, "evidence", "allocation", optional=["prices", "better", "fair"])
    x = placed_tasks(m, placed_)
    totals = [add_up(tasks for tasks in row if tasks) for row in x]
    claimed = [rational(value, "claims.tasks") for value in fields(tasks, "claims.tasks", *m.users)]
    require(claimed == totals, "the claimed tasks are not those of the allocation")
    over, misplaced, unwanted, properties, resource = unfit
    if feasible is not True:
        require(feasible is False, "it is not said whether the tasks fit")
        require(all(one is None for one in (*proofs, properties, resource)), "properties are of tasks that fit")
        require_unfit(m, x, over, misplaced, unwanted)
        return
    require(over is None and misplaced is None, "tasks that fit are on no wrong server")
    require(unwanted is None, "tasks that fit are wanted")
    require_wanted(m, totals)
    for i in range(len(m.servers)):
        feasible_load(m.part, x, i)
    found = fields(properties, "claims.properties", *PROPERTIES)
    require(all(holds is True or holds is False for holds in found), "it is not said whether a property holds")
    bottleneck, envy_free, pareto, incentive, single = found
    alone = [add_up(a for a, part in pairs(*rows) if part is not None) for rows in pairs(m.alone, m.part)]
    owned = [m.wanted(n, w / add_up(m.weights) * most) for n, (w, most) in enumerate(pairs(m.weights, alone))]
    require(incentive == all(has >= due for has, due in pairs(totals, owned)), "the sharing incentive is not right")
    require(envy_free != any_envy(m, x, totals), "envy-freeness is not right")
    prices, better, fair = proofs
    require((prices is not None) == pareto and (better is not None) != pareto, "Pareto optimality is not proved")
    require_efficient(m, totals, prices) if pareto else require_better(m, totals, better)
    fairly = fair_in(m, instance, totals, resource, fair)
    require(bottleneck == fairly, "bottleneck fairness is not right")
    resources = {r for table in instance["server"] for r in table["capacity"]}
    require(single == (fairly if len(resources) == 1 else True), "single-resource fairness is not right")


CLAIMED = ("properties", "bottleneck")
"""What is claimed of tasks that fit: the properties, and the resource that is dominant for all, if there is one."""


def require_unfit(m: Share, x: list[list[Fraction]], over: Any, misplaced: Any, unwanted: Any) -> None:
    """Require all loads beyond capacity, as parts of it, all servers where tasks may not run, and all unwanted tasks.

    At least one of the three.
    """
    shown = any(one is not None for one in (over, misplaced, unwanted))
    require(shown, "nothing shows that the tasks do not fit")
    require(unwanted is None or bool(unwanted), "claims.unwanted is empty")
    has = [add_up(tasks for tasks in row if tasks) for row in x]
    many = [user for n, (user, tasks) in enumerate(pairs(m.users, has)) if m.wanted(n, tasks) != tasks]
    require((unwanted or []) == many, "the users with more tasks than they want are not right")
    loads = [load_of(m.part, x, i) for i in range(len(m.servers))]
    beyond = {s: {r: u for r, u in load_.items() if u > 1} for s, load_ in pairs(m.servers, loads)}
    require(over is None or (isinstance(over, dict) and bool(over)), "claims.over is no table")
    said = {name_of(s, "claims.over"): amounts(table, "claims.over") for s, table in (over or {}).items()}
    require(said == {s: row for s, row in beyond.items() if row}, "the loads beyond capacity are not right")
    wrong = {
        user: [s for s, part, tasks in zip(m.servers, parts, row, strict=True) if part is None and tasks]
        for user, parts, row in zip(m.users, m.part, x, strict=True)
    }
    require(misplaced is None or bool(misplaced), "claims.misplaced is empty")
    right = {user: servers for user, servers in wrong.items() if servers}
    require((misplaced or {}) == right, "the tasks on wrong servers are not right")


def any_envy(m: Share, x: list[list[Fraction]], totals: list[Fraction]) -> bool:
    """Return whether some user could run more tasks with what another holds, scaled by weights."""
    for n, has in enumerate(totals):
        for p, row in enumerate(x):
            value = Fraction(0)
            for i, tasks in enumerate(row):
                mine, theirs = m.part[n][i], m.part[p][i]
                if tasks and mine is not None and theirs is not None:
                    value += tasks * min(theirs.get(r, Fraction(0)) / need for r, need in mine.items())
            if m.wanted(n, value * m.weights[n] / m.weights[p]) > has:
                return True
    return False


def require_efficient(m: Share, totals: list[Fraction], stage: Any) -> None:
    """Require prices by which nobody can have more unless another has less: all are worth something, together all.

    The tasks of users at their caps may be worth nothing.
    """
    full = m.at_cap(totals)
    if len(full) == len(m.users):
        require(stage == {}, "users who want no more need no prices")
        return
    q = stage_values(m, m.part, stage)
    require(q.keys() | full == set(range(len(m.users))), "a user's tasks are worth nothing")
    require(add_up(worth * totals[n] for n, worth in q.items()) == 1, "the tasks are not worth all resources")


def require_better(m: Share, totals: list[Fraction], value: Any) -> None:
    """Require tasks that fit, of which nobody has less than `totals` and somebody more."""
    y = placed_tasks(m, value)
    for i in range(len(m.servers)):
        feasible_load(m.part, y, i)
    others = [add_up(tasks for tasks in row if tasks) for row in y]
    require_wanted(m, others)
    require(all(new >= old for new, old in pairs(others, totals)), "somebody has less in the better allocation")
    require(others != totals, "nobody has more in the better allocation")


def fair_in(m: Share, instance: Any, totals: list[Fraction], resource: Any, fair: Any) -> bool:
    """Return whether nobody has less than its weighted max-min fair amount of the resource that is dominant for all."""
    here = [part for row in m.part for part in row if part is not None]
    comparable = all("effective" not in table for table in instance["user"])
    if resource is None:
        common = set.intersection(*({r for r, u in part.items() if u == max(part.values())} for part in here))
        require(fair is None and not (comparable and common), "a resource is the bottleneck of all users")
        return True
    require(comparable, "a user has effective capacities")
    r = name_of(resource, "claims.bottleneck")
    require(all(part.get(r) == max(part.values()) for part in here), "the resource is not the bottleneck of all users")
    placed_, stages = fields(fair, "evidence.fair", "allocation", "stages")
    y = placed_tasks(m, placed_)
    for i in range(len(m.servers)):
        feasible_load(m.part, y, i)
    due = [add_up(tasks for tasks in row if tasks) for row in y]
    require_wanted(m, due)
    need = [amounts(table["demand"], "a demand")[r] for table in instance["user"]]
    level = [tasks * d / w for tasks, d, w in zip(due, need, m.weights, strict=True)]
    require_levels(m, m.part, due, level, items(stages, "evidence.fair.stages"))
    return all(has >= amount for has, amount in pairs(totals, due))


# ---- capacity regions ----------------------------------------------------------------------------------------------


def check_region(instance: Any, evidence: Any, claims: Any) -> None:
    """Verify the traffic intensity of the workload from both sides and, where claimed, that the facets are all."""
    m = model(instance)
    columns, prices, boundary = fields(evidence, "evidence", "columns", "prices", optional=["boundary"])
    intensity, supportable, facets = fields(claims, "claims", "traffic_intensity", "supportable", optional=["facets"])
    z = rational(intensity, "claims.traffic_intensity", least=0)
    require(supportable is (z < 1), "claims.supportable is not whether the traffic intensity is below 1")
    used, slots = columns_of(m, columns, "fraction")
    require(slots == m.workload, "the columns do not carry just the workload")
    require(all(u <= z * pool.share for u, pool in pairs(used, m.pools)), "the columns use too many servers")
    beta = [rational(value, "a price", least=0) for value in fields(prices, "evidence.prices", *m.names)]
    require(all(load_ or not price for price, load_ in pairs(beta, m.workload)), "a price without workload")
    require(are_coprime(beta) if any(m.workload) else z == 0, "the prices are not coprime integers")
    require(total(beta, m.workload) == z * worth(m, beta), "the prices do not prove the traffic intensity")
    require((boundary is None) == (facets is None), "facets and their evidence do not go together")
    if facets is not None:
        check_facets(m, boundary, facets)


def are_coprime(numbers: Sequence[Fraction]) -> bool:
    """Return whether numbers are integers without a common divisor."""
    return all(x.denominator == 1 for x in numbers) and gcd(*map(int, numbers)) == 1


def worth(m: Model, prices: Sequence[Fraction | int]) -> Fraction:
    """Return the most that an average server can hold at given prices; it is decided once for the same prices."""
    key = tuple(prices)
    if key not in m.decided:
        m.decided[key] = add_up(pool.share * greatest_value(pool, prices) for pool in m.pools)
    return m.decided[key]


Point = list[int]
Plane = tuple[list[int], Fraction]


def check_facets(m: Model, evidence: Any, claims: Any) -> None:
    """Verify that facets describe the region: none is wrong, none is missing, none is idle.

    None is wrong, for each offset is the greatest value of its normal. The simplices have independent corners in the
    region, each lies on a facet, every ridge is in two of them or in a coordinate hyperplane, and some direction is in
    the cone of one only. So every direction is in an odd number of cones, and whatever satisfies the inequalities is
    at or below a point of a simplex. None is idle, for each has a simplex.
    """
    unit = common(pool.share.denominator for pool in m.pools)  # points times this are whole
    vertices, rows = fields(evidence, "evidence.boundary", "vertices", "simplices")
    points = vertices_of(m, vertices, unit)
    planes = planes_of(m, claims, unit)
    simplices = simplices_of(rows, len(m.names), len(points))
    tight = [{f for f, (a, b) in enumerate(planes) if sum(map(mul, a, x)) == b} for x in points]
    homes = facet_cones(planes, points, tight, simplices)
    require(all(homes), "a facet has no simplex")
    require_closed(points, simplices)
    require_once(min(homes, key=len))
    for on in tight:
        require(rank([planes[f][0] for f in on])[0] == len(m.names), "a point listed as a vertex is none")


def vertices_of(m: Model, vertices: Any, unit: int) -> list[Point]:
    """Read the vertices, configurations of the pools, as points times the unit."""
    points = []
    for made in items(vertices, "vertices"):
        ks = [m.configuration(k, "a vertex") for k in m.by_pool(made, "a vertex")]
        require(all(pool.holds(k) for pool, k in pairs(m.pools, ks)), "a vertex is not feasible")
        points.append([int(unit * x) for x in slots_of(m, ks)])
    require(all(a > b for a, b in pairwise(points)), "the vertices are not in order")
    return points


def planes_of(m: Model, claims: Any, unit: int) -> list[Plane]:
    """Read the facets, the coordinate ones first; each offset is the greatest value of its normal."""
    width, planes = len(m.names), []
    for facet in items(claims, "claims.facets"):
        normal, offset = fields(facet, "a facet", "normal", "offset")
        entries = [rational(value, "a normal") for value in fields(normal, "a normal", *m.names)]
        require(are_coprime(entries), "a normal is not of coprime integers")
        planes.append(([int(x) for x in entries], unit * rational(offset, "an offset", least=0)))
    outer = planes[width:]
    walls = (plane == ([-int(i == j) for i in range(width)], Fraction(0)) for j, plane in enumerate(planes[:width]))
    require(len(planes) >= width and all(walls), "the coordinate facets do not come first")
    require(len(outer) > 0 and all(a < b for (a, _), (b, _) in pairwise(outer)), "the facets are not in order")
    for a, b in outer:
        require(min(a) >= 0 < b == unit * worth(m, a), "an offset is not the greatest value of its normal")
    return planes


def simplices_of(rows: Any, width: int, points: int) -> list[list[int]]:
    """Read the simplices: J corners each, in order."""
    simplices = [[whole(v, "a corner") for v in items(row, "a simplex")] for row in items(rows, "simplices")]
    limit(len(simplices), MAX_SIMPLICES, "simplices")
    require(all(a < b for a, b in pairwise(simplices)), "the simplices are not in order")
    for simplex in simplices:
        require(len(simplex) == width and all(a < b for a, b in pairwise(simplex)), "a simplex has not J corners")
        require(simplex[-1] < points, "a simplex has a corner that is no vertex")
    return simplices


def facet_cones(
    planes: list[Plane], points: list[Point], tight: list[set[int]], simplices: list[list[int]]
) -> list[list[list[Point]]]:
    """Return the corners of the simplices of each outer facet; each simplex lies on one, with independent corners."""
    width = len(planes[0][0])
    homes: list[list[list[Point]]] = [[] for _ in planes[width:]]
    for simplex in simplices:
        corners = [points[v] for v in simplex]
        require(rank(corners)[0] == width, "the corners of a simplex are dependent")
        home = [f for f in set.intersection(*(tight[v] for v in simplex)) if f >= width]
        require(len(home) == 1, "a simplex is on no facet")
        homes[home[0] - width].append(corners)
    return homes


def require_closed(points: list[Point], simplices: list[list[int]]) -> None:
    """Require that every ridge is in two simplices, or in a coordinate hyperplane."""
    ridges: dict[tuple[int, ...], int] = {}
    for simplex in simplices:
        for i in range(len(simplex)):
            ridge = (*simplex[:i], *simplex[i + 1 :])
            if not any(all(points[v][j] == 0 for v in ridge) for j in range(len(simplex))):
                ridges[ridge] = ridges.get(ridge, 0) + 1
    require(all(count == 2 for count in ridges.values()), "a ridge is not in two simplices: the boundary is not closed")


def require_once(cones: list[list[Point]]) -> None:
    """Require that a direction inside the first of a facet's cones is in none of its others, by Cramer's rule."""
    first, *others = cones
    middle = [sum(column) for column in zip(*first, strict=True)]
    for corners in others:
        base = rank(corners)[1]
        shares = [rank([*corners[:i], middle, *corners[i + 1 :]])[1] * base for i in range(len(corners))]
        require(min(shares) < 0, "a direction is in two cones")


def rank(rows: Sequence[Sequence[int]]) -> tuple[int, int]:
    """Return the rank of an integer matrix and, if it is square, its determinant (fraction-free elimination)."""
    table, sign, last, done = [list(row) for row in rows], 1, 1, 0
    width = len(table[0]) if table else 0
    for column in range(width):
        pivot = next((r for r in range(done, len(table)) if table[r][column]), None)
        if pivot is None:
            sign = 0
            continue
        if pivot != done:
            table[done], table[pivot], sign = table[pivot], table[done], -sign
        head = table[done]
        table[done + 1 :] = [cleared(row, head, column, last) for row in table[done + 1 :]]
        last, done = head[column], done + 1
    return done, sign * last


# ---- the maximum supportable workload of a law of sizes ------------------------------------------------------------


@dataclass(frozen=True)
class SizeLaw:
    """A law of sizes: atoms and uniform pieces (lower, upper, probability), both in increasing order."""

    atoms: list[tuple[Fraction, Fraction]]
    pieces: list[tuple[Fraction, Fraction, Fraction]]

    def up_to(self, x: Fraction) -> Fraction:
        """Return the probability of sizes up to x."""
        part = add_up(p for size, p in self.atoms if size <= x)
        for low, high, p in self.pieces:
            part += p * min(Fraction(1), max(Fraction(0), (x - low) / (high - low)))
        return part

    def has_between(self, lower: Fraction, upper: Fraction) -> bool:
        """Return whether there are sizes strictly between two bounds."""
        first = bisect_right(self.atoms, lower, key=itemgetter(0))
        piece = bisect_right(self.pieces, lower, key=itemgetter(1))  # the first that ends above the lower bound
        atom = first < len(self.atoms) and self.atoms[first][0] < upper
        return atom or (piece < len(self.pieces) and self.pieces[piece][0] < upper and lower < upper)

    def expectation(self, points: list[Fraction], values: list[Fraction]) -> Fraction:
        """Return the expectation of the function that is linear between the points."""
        segments = list(pairwise(pairs(points, values)))
        result = Fraction(0)
        at = 0
        for size, p in self.atoms:
            while at + 1 < len(segments) and segments[at][1][0] < size:
                at += 1
            (a, low), (b, high) = segments[at] if segments else ((points[0], values[0]), (points[0], values[0]))
            require(a <= size <= b, "a size lies outside the prices")
            result += p * (low + (high - low) * (size - a) / (b - a) if a < b else low)
        for start, end, p in self.pieces:
            require(points[0] <= start and end <= points[-1], "a piece lies outside the prices")
            for (a, low), (b, high) in segments:
                left, right = max(a, start), min(b, end)
                if left < right:
                    middle = low + (high - low) * ((left + right) / 2 - a) / (b - a)
                    result += p * (right - left) / (end - start) * middle
        return result


def size_law(instance: Any) -> tuple[SizeLaw, int]:
    """Read the law of a certificate and the number of servers."""
    (table,) = fields(instance, "instance", "sizes")
    servers, listed, ends, rows = fields(
        table, "instance.sizes", "servers", optional=["discrete", "uniform", "piecewise"]
    )
    exact = _rows_of_law(listed, ends, rows)
    require(all(0 <= a <= b <= 1 and b > 0 and p > 0 for a, b, p in exact), "a size or a probability is out of range")
    require(add_up(p for _, _, p in exact) == 1, "the probabilities do not sum to 1")
    pieces = [(a, b, p) for a, b, p in exact if a < b]
    require(all(first[1] <= second[0] for first, second in pairwise(pieces)), "pieces overlap")
    require(whole(servers, "servers") > 0, "no servers")
    return SizeLaw([(a, p) for a, b, p in exact if a == b], pieces), servers


def _rows_of_law(listed: Any, ends: Any, rows: Any) -> list[tuple[Fraction, Fraction, Fraction]]:
    """Read the one law that is given as rows (lower end, upper end, probability), in order."""
    require(sum(law is not None for law in (listed, ends, rows)) == 1, "there is not exactly one law")
    require(listed is None or isinstance(listed, dict), "the law is no table")
    raw = [[size, size, p] for size, p in (listed or {}).items()] + ([[*items(ends, "uniform"), "1"]] if ends else [])
    raw += [items(row, "a piece") for row in items(rows or [], "piecewise")]
    require(all(len(row) == 3 for row in raw), "a piece has not two ends and a probability")
    return sorted((rational(a, "an end"), rational(b, "an end"), rational(p, "a probability")) for a, b, p in raw)


def check_throughput(instance: Any, evidence: Any, claims: Any) -> None:
    """Verify a lower and an upper bound of the maximum supportable workload, and the workload VQS guarantees."""
    law, servers = size_law(instance)
    below, above, vqs = fields(evidence, "evidence", "below", "above", "vqs")
    lower, upper, workload, lost, number = fields(claims, "claims", "lower", "upper", "vqs", "vqs_lost", "J")
    require(rational(lower, "claims.lower") == servers * mixed_workload(law, below), "the lower bound is not right")
    require(rational(upper, "claims.upper") == servers * priced_workload(law, above), "the upper bound is not right")
    J = whole(number, "claims.J")
    require(2 <= J <= 30, "J is out of range")
    require(rational(lost, "claims.vqs_lost") == law.up_to(Fraction(1, 2**J)), "the share below 1/2^J is not right")
    least = next((j for j in range(2, 31) if law.up_to(Fraction(1, 2**j)) == 0), J)
    require(least == J, "J is not the least for which all sizes are larger than 1/2^J")
    require(rational(workload, "claims.vqs") == servers * reduced_workload(law, J, vqs), "the workload of VQS is not")


SizeCell = tuple[Fraction, Fraction]


def mixed_workload(law: SizeLaw, below: Any) -> Fraction:
    """Return the workload per server that the columns support.

    A cell is a group of atoms, taken at the largest, or a part of a uniform piece. In a configuration of uniform cells
    sizes can be mixed to add up to the sum of lower ends + max(half the sum of widths, greatest width): coordinates of
    the sides of a randomly turned polygon.
    """
    listed, columns = fields(below, "evidence.below", "cells", "columns")
    cells = cells_of(listed)
    shares = cell_shares(law, cells)
    slots, used, last = [Fraction(0)] * len(cells), Fraction(0), None
    place = {str(j): j for j in range(len(cells))}
    for column in items(columns, "columns"):
        k, part = mixed_column(column, cells, place)
        row = [k.get(j, 0) for j in range(len(cells))]
        require(last is None or row < last, "the columns are not in order")
        last = row
        used += part
        slots = [have + part * n if n else have for have, n in pairs(slots, row)]
    require(used <= 1, "the columns use more than a server")
    workload = slots[0] / shares[0]
    require(slots == [workload * share for share in shares], "the slots are not in proportion to the law")
    return workload


def cells_of(listed: Any) -> list[SizeCell]:
    """Read the cells (base, width), by increasing upper end; cells of positive width do not overlap."""
    cells = []
    for cell in items(listed, "cells"):
        require(len(items(cell, "a cell")) == 2, "a cell has not a base and a width")
        cells.append((rational(cell[0], "a base", least=0), rational(cell[1], "a width", least=0)))
    require(all(a + v <= b + w for (a, v), (b, w) in pairwise(cells)), "the cells are not in order")
    require(len(set(cells)) == len(cells), "a cell stands twice")
    wide = [(base, base + width) for base, width in cells if width]
    require(all(a[1] <= b[0] for a, b in pairwise(wide)), "cells overlap")
    return cells


def cell_shares(law: SizeLaw, cells: list[SizeCell]) -> list[Fraction]:
    """Return the probability of each cell; together they are the law."""
    shares: list[Fraction] = []
    done = bisect_right(law.atoms, 0, key=itemgetter(0))  # atoms in the groups before
    for base, width in cells:
        if width:
            first = bisect_right(law.pieces, base, key=itemgetter(1))  # the first piece that ends above the base
            inside = [(a, b, p) for a, b, p in law.pieces[first : first + 1] if a <= base and base + width <= b]
            require(len(inside) == 1, "a cell is not part of a piece")
            shares += [p * width / (b - a) for a, b, p in inside]
        else:
            end = bisect_right(law.atoms, base, key=itemgetter(0))
            require(end > done and law.atoms[end - 1][0] == base, "a group of atoms does not end at an atom")
            shares.append(add_up(p for _, p in law.atoms[done:end]))
            done = end
    require(add_up(shares) == 1, "the cells do not cover the law")
    return shares


def mixed_column(column: Any, cells: list[SizeCell], place: dict[str, int]) -> tuple[dict[int, int], Fraction]:
    """Read a configuration of cells, by their place, which must fit a server, and its fraction."""
    table, fraction = fields(column, "a column", "slots", "fraction")
    require(isinstance(table, dict) and set(table) <= set(place), "an unknown cell")
    k = {place[j]: whole(n, "slots") for j, n in table.items()}
    require(bool(k) and all(k.values()), "a column lists a cell without slots")
    lengths = add_up(n * cells[j][1] for j, n in k.items())
    room = add_up(n * cells[j][0] for j, n in k.items()) + max(lengths / 2, *(cells[j][1] for j in k))
    require(room <= 1, "a configuration does not fit")
    part = rational(fraction, "a fraction", least=0)
    require(part > 0, "a fraction is 0")
    return k, part


def priced_workload(law: SizeLaw, above: Any) -> Fraction:
    """Return the bound per server that prices of sizes prove: one over the price of an average job.

    The prices are linear between points on a grid. Of a dearest configuration at most one size is off the points, and
    it fills the server: so an integer knapsack decides that no configuration is worth more than 1.
    """
    size, listed = fields(above, "evidence.above", "grid", "points")
    grid = whole(size, "grid")
    points, values = priced_points(listed)
    require(grid > 0, "there is no grid")
    require(len(points) > 1 or not law.pieces, "one point does not price a piece")
    between = [law.has_between(Fraction(a, grid), Fraction(b, grid)) for a, b in pairwise(points)]
    one = common(value.denominator for value in values)
    if grid * len(points) <= MAX_CELLS and grid * (40 + one.bit_length() // 8) <= MAX_TABLE:
        require_worth(grid, points, values, between)
    elif any(between):
        raise Unreadable(f"a table of more than {MAX_CELLS:,} cells: beyond what this checker decides")
    else:
        server = Pool("a server", Fraction(1), (grid,), tuple((point,) for point in points), ())
        worth = [int(value * one) for value in values]
        require(greatest(server, worth, range(len(points))) <= one, "a configuration is worth more than 1")
    places = [Fraction(point, grid) for point in points]
    require_used(law, places, values, between, Fraction(1, grid))
    average = law.expectation(places, values)
    require(average > 0, "the prices prove nothing")
    return 1 / average


def priced_points(listed: Any) -> tuple[list[int], list[Fraction]]:
    """Read the points of the grid and their prices."""
    require(bool(items(listed, "points")), "there is no grid")
    points, values = [], []
    for row in listed:
        require(len(items(row, "a point")) == 2, "a point has not a place and a price")
        points.append(whole(row[0], "a point"))
        values.append(rational(row[1], "a price", least=0))
    require(all(a < b for a, b in pairwise(points)), "the points are not in order")
    require(points[0] > 0 or values[0] == 0, "a job of size 0 has a price")
    return points, values


def require_worth(grid: int, points: list[int], values: list[Fraction], between: list[bool]) -> None:
    """Require that no configuration is worth more than 1, where sizes are at points and where `between` them."""
    one = common(value.denominator for value in values)
    worth = [int(value * one) for value in values]
    best = [0] * (grid + 1)
    for point, price in pairs(points, worth):
        if point and price:
            for c in range(point, grid + 1):
                best[c] = max(best[c], best[c - point] + price)
    require(best[grid] <= one, "a configuration is worth more than 1")
    priced = pairwise(pairs(points, worth))
    for ((a, low), (b, high)), inside in pairs(priced, between):
        for g in range(a + 1, min(b, grid + 1)) if inside else ():
            price = (b - a) * (best[grid - g] + low) + (high - low) * (g - a)
            require(price <= (b - a) * one, "a configuration with a size off the points is worth more than 1")


def require_used(
    law: SizeLaw, places: list[Fraction], values: list[Fraction], between: list[bool], step: Fraction
) -> None:
    """Require that every point is of use: prices say nothing that the law does not ask for."""
    sizes = {size for size, _ in law.atoms}
    for i, (left, right) in enumerate(pairwise([False, *between, False])):
        here = places[i] in sizes
        if left and right:
            require(not values[i - 1] == values[i] == values[i + 1], "a point is of no use")
        elif left or right:
            near = (
                law.has_between(places[i] - step, places[i]) if left else law.has_between(places[i], places[i] + step)
            )
            require(here or near, "a point lies beyond the sizes")
        else:
            require(here, "a point is of no use")


def reduced_workload(law: SizeLaw, J: int, vqs: Any) -> Fraction:
    """Return the largest workload per server in the convex hull of the reduced configurations, proved by prices."""
    columns, listed = fields(vqs, "evidence.vqs", "columns", "prices")
    ends = [Fraction(n, 3 * 2 ** (m + 1)) for m in range(J) for n in (6, 4)] + [Fraction(0)]
    shares = [law.up_to(a) - law.up_to(b) for a, b in pairwise(ends)]
    order = reduced_configurations(J)
    slots, used, seen = [Fraction(0)] * (2 * J), Fraction(0), list[list[int]]()
    for column in items(columns, "columns"):
        row, fraction = fields(column, "a column", "slots", "fraction")
        k = [whole(n, "slots") for n in items(row, "slots")]
        require(k in order, "a configuration is none of the reduced ones")
        seen.append(k)
        part = rational(fraction, "a fraction", least=0)
        require(part > 0, "a fraction is 0")
        used += part
        slots = [s + part * n if n else s for s, n in pairs(slots, k)]
    require(all(a > b for a, b in pairwise(seen)), "the columns are not in order")
    require(used == 1, "the columns do not use a server")
    prices = [rational(value, "a price", least=0) for value in items(listed, "prices")]
    require(len(prices) == 2 * J, "there is not one price for every queue")
    require(all(share or not price for share, price in pairs(shares, prices)), "a price without jobs")
    require(all(total(prices, k) <= 1 for k in order), "a reduced configuration is worth more than 1")
    average = total(prices, shares)
    require(average > 0, "the prices prove nothing")
    workload = 1 / average
    require(all(s >= workload * p for s, p in pairs(slots, shares)), "the columns do not carry the workload")
    return workload


def reduced_configurations(J: int) -> list[list[int]]:
    """Return the reduced configurations (19) over the 2 J queues of the universal partition."""
    reduced: list[dict[int, int]] = []
    for m in range(J):
        reduced += [{2 * m: 2**m}, {2 * m + 1: 3 * 2**m // 2}] if m else [{0: 1}]
        reduced += [{1: 1, 2 * m: 2**m // 3}] if m > 1 else []
        reduced += [{1: 1, 2 * m + 1: 2**m // 2}] if m else []
    return [[k.get(j, 0) for j in range(2 * J)] for k in reduced]


KINDS: dict[str, Any] = {
    "assignment": check_assignment,
    "allocation": check_allocation,
    "cost": check_cost,
    "fair-share": check_fair_share,
    "fairness": check_fairness,
    "packing": check_packing,
    "region": check_region,
    "rule": check_rule,
    "throughput": check_throughput,
    "worst": check_worst,
}


def main(arguments: Sequence[str]) -> int:
    """Check one file; print the verdict; return the exit status."""
    paths = list(arguments)
    seconds = SECONDS
    if "--help" in paths or "-h" in paths:
        print(f"{USAGE}\n\n{__doc__}".rstrip())
        return 0
    if "--seconds" in paths[:-1]:
        at = paths.index("--seconds")
        if not re.fullmatch("[1-9][0-9]{0,6}", paths[at + 1]):
            print("--seconds: expected a whole number from 1 to 9,999,999", file=sys.stderr)
            return 2
        seconds = int(paths[at + 1])
        del paths[at : at + 2]
    if len(paths) != 1 or paths[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 2
    try:
        with limited(seconds):
            proved = ", ".join(shown(check(load(read(paths[0])))))
        print(f"valid: {proved}")
    except Refused as reason:
        print(f"refused: {printable(str(reason))}")
        return 1
    except (OSError, Unreadable) as error:
        print(printable(f"{paths[0]}: {error}"), file=sys.stderr)
        return 2
    except Exception as error:
        print(printable(f"{paths[0]}: no verdict, the checker failed: {error!r}")[:1000], file=sys.stderr)
        return 70
    return 0


def printable(text: str) -> str:
    """Write what could forge a line or move the cursor as an escape sequence."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def quoted(name: str) -> str:
    """Return a name, in quotation marks if it has more than letters, digits and a few signs: it imitates nothing."""
    return name if re.fullmatch(r"\w[\w.+/-]*", name) else json.dumps(name, ensure_ascii=False)


def shown(claims: Any, name: str = "") -> list[str]:
    """Return claims as text, nested ones under the names of their tables, lists by their length."""
    if isinstance(claims, dict):
        rows = [(f"{name}.{quoted(key)}" if name else quoted(key), value) for key, value in sorted(claims.items())]
        return [part for path, value in rows for part in shown(value, path)]
    if isinstance(claims, list):
        return [printable(f"{name} {len(claims)} of them")]
    return [printable(f"{name} {claims if isinstance(claims, str) else json.dumps(claims)}")]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
