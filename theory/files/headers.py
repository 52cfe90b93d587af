"""What the columns of a table are, by their headers: a meaning, and a unit of its quantity.

``VM Size``, ``RAM (GiB)``, ``duration_ms`` and ``cpu [m]`` are a name and perhaps a unit, which stands in brackets or
is the last word. Each quantity has one table of units. A unit that is not in it is refused, since a number without its
factor is a wrong number.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from theory.errors import InputError
from theory.numbers import rational

KIB = 1024

RESOURCES: Mapping[str, tuple[str, ...]] = {
    "cpu": (
        "vcpu", "vcpus", "vcpu_count", "cores", "core", "cpu_cores", "num_cores", "core_count", "cpu_count",
        "num_cpus", "ncpus", "alloc_cpus", "req_cpus", "cpu_request", "cpu_requests", "requests_cpu", "request_cpu",
        "requested_cpu", "req_cpu", "cpu_num", "cpus", "cpu",
    ),
    "memory": (
        "memory", "mem", "ram", "memory_size", "memory_request", "memory_requests", "requests_memory",
        "request_memory", "requested_memory", "req_memory", "req_mem", "mem_request", "mem_requests", "requests_mem",
    ),
    "disk": ("disk", "storage", "disk_size", "ssd"),
    "gpu": (
        "gpu", "gpus", "num_gpus", "gpu_count", "accelerators", "gpu_request", "gpu_requests", "requests_gpu",
        "requests_nvidia_com_gpu", "nvidia_com_gpu", "num_gpu", "gpu_num",
    ),
}  # fmt: skip
"""Headers of resources, in lower case with ``_`` for every other sign; of several the one that is named first.

Beside a number of cores, a column ``cpu`` may be a utilisation, so that it comes last.
"""

TYPE = ("vm_size", "vm_type", "instance_type", "machine_type", "vm_flavor", "flavor", "flavour", "sku", "type")
"""Headers of the name of a type."""

COUNT = (
    "num_instances", "instances", "instance_count", "instance_num", "num_replicas", "replicas", "replica_count",
    "num_vms", "vm_count", "vms", "count", "quantity", "qty", "multiplicity", "copies", "n",
)  # fmt: skip
"""Headers of the number of VMs that a row stands for."""


# ---- units -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantity:
    """A quantity and its units.

    Attributes
    ----------
    name, base : str
        What it is, and the unit that numbers are turned into; a number without a unit is in this one.
    units : mapping of str to Fraction
        How many of the base a unit is, by each of its spellings in lower case.
    known : str
        The units in words, for messages.
    unclear : mapping of str to str
        Spellings that may mean several things, and what to say of them.
    counts_as : mapping of str to str
        Units that are not taken at their word, and what they count as.
    """

    name: str
    base: str
    units: Mapping[str, Fraction]
    known: str
    unclear: Mapping[str, str] = field(default_factory=dict)
    counts_as: Mapping[str, str] = field(default_factory=dict)

    def factor(self, unit: str) -> Fraction:
        """Return how many of the base a unit is; 1 for none.

        Raises
        ------
        ValueError
            A unit that is not known, or may mean several things.

        Examples
        --------
        >>> TIME.factor("hours"), SIZE.factor("mi"), CORES.factor("m"), TIME.factor("")
        (Fraction(3600, 1), Fraction(1, 1024), Fraction(1, 1000), Fraction(1, 1))
        >>> TIME.factor("m")
        Traceback (most recent call last):
        ValueError: expected a unit of time (ns, us, ms, s, min, h, d or w), got 'm', which may be minutes or months
        """
        if unit in self.units:
            return self.units[unit]
        if not unit:
            return Fraction(1)
        why = f", {self.unclear[unit]}" if unit in self.unclear else ""
        raise ValueError(f"expected a unit of {self.name} ({self.known}), got {unit[:40]!r}{why}")


def _spelt(factors: Mapping[str, tuple[Fraction | int, str]]) -> dict[str, Fraction]:
    """Return the factor of each spelling; the text of an entry has further spellings, ``(s)`` for a plural as well."""
    units: dict[str, Fraction] = {}
    for short, (factor, more) in factors.items():
        for word in (short, *more.split()):
            one, plural, _ = word.partition("(s)")
            units |= dict.fromkeys([one, one + "s"] if plural else [one], Fraction(factor))
    return units


PERCENT = dict.fromkeys(("%", "percent", "percentage", "pct"), "a share of what is not said")

TIME = Quantity(
    "time",
    "s",
    _spelt(
        {
            "ns": (Fraction(1, 10**9), "nsec(s) nanosec(s) nanosecond(s) nanos"),
            "us": (Fraction(1, 10**6), "usec(s) microsec(s) microsecond(s) micros"),
            "ms": (Fraction(1, 1000), "msec(s) millisec(s) millisecond(s) millis milli"),
            "s": (1, "sec(s) second(s)"),
            "min": (60, "mins minute(s)"),
            "h": (3600, "hr(s) hour(s)"),
            "d": (86400, "day(s)"),
            "w": (7 * 86400, "wk(s) week(s)"),
        }
    ),
    "ns, us, ms, s, min, h, d or w",
    {"m": "which may be minutes or months"},
)

_PREFIXES = {"k": ("kilo", "kibi", 2), "m": ("mega", "mebi", 1), "g": ("giga", "gibi", 0), "t": ("tera", "tebi", -1)}
_PREFIXES |= {"p": ("peta", "pebi", -2)}

SIZE = Quantity(
    "memory",
    "GiB",
    _spelt(
        {"bytes": (Fraction(1, KIB**3), "byte b")}
        | {
            f"{letter}ib": (
                Fraction(1, KIB) ** steps,
                f"{letter}i {letter}b {letter}byte(s) {letter}ibyte(s) {decimal}byte(s) {binary}byte(s) "
                f"{letter if letter != 'm' else ''}",
            )
            for letter, (decimal, binary, steps) in _PREFIXES.items()
        }
    ),
    "bytes, Ki, Mi, Gi, Ti, KiB, MiB, GiB, TiB, kB, MB, GB or TB",
    {"m": "which may be MiB or a thousandth", **PERCENT},
    {
        spelling: f"{letter.upper()}iB"
        for letter, (decimal, _, _) in _PREFIXES.items()
        for spelling in (letter, f"{letter}b", f"{letter}byte", f"{letter}bytes", f"{decimal}byte", f"{decimal}bytes")
    },
)
"""Memory and disk. A GB counts as a GiB, since clouds mostly write GB and mean GiB."""

_NUMBER = "count number num no #"
_PARTS = {
    "milli": (Fraction(1, 1000), "m"),
    "micro": (Fraction(1, 10**6), "u"),
    "nano": (Fraction(1, 10**9), "n"),
}


def _devices(name: str, nouns: Sequence[str]) -> Quantity:
    """Return a quantity that is counted, or given in thousandths as Kubernetes does."""
    parts = {
        prefix: (factor, " ".join([letter, *(f"{begin}{noun}(s)" for noun in nouns for begin in (prefix, letter))]))
        for prefix, (factor, letter) in _PARTS.items()
    }
    words = " ".join(f"{noun}(s)" for noun in nouns)
    return Quantity(name, nouns[0] + "s", _spelt({nouns[0]: (1, f"{words} {_NUMBER}"), **parts}),
                    f"{nouns[0]}s, or m or milli for thousandths", PERCENT)  # fmt: skip


CORES = _devices("cpu", ("core", "cpu", "vcpu"))
GPUS = _devices("gpu", ("gpu", "device", "card"))
NUMBERS = Quantity("a number", "", _spelt({"count": (1, f"{_NUMBER} core(s) vm(s) instance(s) replica(s)")}), "none")

MOMENTS = ("time", "created", "started", "start", "end", "arrival")
"""Meanings that are points in time, whose headers may say how they are counted."""

QUANTITIES: Mapping[str, Quantity] = {
    **dict.fromkeys(("cpu", "cores"), CORES),
    **dict.fromkeys(("memory", "disk"), SIZE),
    "gpu": GPUS,
    **dict.fromkeys((*MOMENTS, "duration", "lifetime", "core_time"), TIME),
    **dict.fromkeys(("count", "scale_outs", "added_cores", "ended_cores"), NUMBERS),
}
"""The quantity of each meaning; names of types, prices and the like have none."""

CLOCKS = frozenset({"utc", "gmt", "epoch", "unix", "iso", "iso8601", "since", "in", "timestamp", "1970", "8601"})
"""Words beside a unit of points in time that change nothing: all of them are counted from 1970, in UTC."""

ODD = frozenset({"m", *PERCENT, "month", "months", "year", "years", "quarter", "quarters", "fortnight", "fortnights"})
ODD |= {"decade", "decades", "tick", "ticks", "jiffies", "cycles", "frames", "mhz", "ghz", "hz", "bit", "bits", "kbit"}
ODD |= {"mbit", "gbit", "kbits", "mbits", "gbits", "page", "pages", "block", "blocks", "sectors", "units", "points"}
"""Last words that are units, but none that could be used."""

_NOUNS = ("core", "cpu", "vcpu", "gpu", "device", "card", "vm", "instance", "replica")
_COUNTED = {*_NUMBER.split(), *_NOUNS, *(f"{noun}s" for noun in _NOUNS)}
LAST_WORDS = ODD.union(*(quantity.units for quantity in (TIME, SIZE, CORES, GPUS))) - _COUNTED
"""Last words of a header that are units: those of every quantity, so that ``memory_hours`` is seen to be wrong."""


# ---- headers ---------------------------------------------------------------------------------------------------------


class Header(NamedTuple):
    """A header as it is compared: its words without the unit, the unit (empty for none), and its words with it."""

    words: str
    unit: str
    all_words: str


def header_of(cell: str) -> Header:
    """Return the words and the unit of a header.

    Examples
    --------
    >>> header_of("RAM (GiB)")
    Header(words='ram', unit='gib', all_words='ram')
    >>> header_of("duration_ms")
    Header(words='duration', unit='ms', all_words='duration_ms')
    >>> header_of("created-at")[:2], header_of("cpu [%]")[:2], header_of("start (ms since epoch)")[:2]
    (('created_at', ''), ('cpu', '%'), ('start', 'ms since epoch'))
    """
    cell = cell.strip().lower().replace("µ", "u").replace("μ", "u")
    outside = re.sub(r"[\W_]+", "_", re.sub(r"[(\[{<].*", "", cell).replace("%", " percent ")).strip("_")
    inside = re.findall(r"[(\[{<]([^)\]}>]*)", cell)
    stated = " ".join(re.sub(r"[^\w%#$/]+", " ", part).strip() or "()" for part in inside)
    words, units = outside, ""
    while "_" in words and words.rpartition("_")[2] in LAST_WORDS | CLOCKS:
        words, _, word = words.rpartition("_")
        units = f"{word} {units}"
    return Header(words, f"{units}{stated}".strip(), outside)


def unit_of(meaning: str, header: str) -> str:
    """Return the unit that a header states for a meaning, as its quantity spells it; empty for none.

    Examples
    --------
    >>> unit_of("start", "start (ms since epoch)"), unit_of("cpu", "CPU (milli cores)"), unit_of("memory", "RAM")
    ('ms', 'millicores', '')
    """
    words = header_of(header).unit.split()
    left_out = CLOCKS if meaning in MOMENTS else {"in"}
    return "".join(word for word in words if word not in left_out)


def factor_of(meaning: str, header: str) -> Fraction:
    """Return what a number below a header is multiplied by: GiB of memory and disk, cores of cpu, seconds of times.

    Raises
    ------
    InputError
        A unit that the quantity does not have; the line names the header and the known units.

    Examples
    --------
    >>> factor_of("memory", "RAM (MiB)"), factor_of("duration", "runtime_h"), factor_of("cpu", "vCPU")
    (Fraction(1, 1024), Fraction(3600, 1), Fraction(1, 1))
    >>> factor_of("memory", "RAM (hours)")
    Traceback (most recent call last):
    theory.errors.InputError: RAM (hours): expected a unit of memory (bytes, Ki, Mi, Gi, Ti, KiB, MiB, GiB, TiB, kB, MB,
    GB or TB), got 'hours'
    """
    quantity = QUANTITIES.get(meaning)
    if quantity is None:
        return Fraction(1)
    try:
        return quantity.factor(unit_of(meaning, header))
    except ValueError as error:
        raise InputError(header[:60], f"{error}") from error


def columns_by_meaning(headers: Sequence[str], meanings: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the header for each meaning that a table has.

    Of several headers it is one with a unit that is known, and then the one whose name comes first.

    Examples
    --------
    >>> columns_by_meaning(["VM Size", "vCPU", "cpu (%)", "note"], {"type": TYPE, **RESOURCES})
    {'type': 'VM Size', 'cpu': 'vCPU'}
    """
    chosen: dict[str, str] = {}
    for meaning, names in meanings.items():
        ranks = {
            cell: (not _is_known(meaning, cell), names.index(name))
            for cell in headers
            if cell not in chosen.values() and (name := _name_in(cell, meaning, names))
        }
        if ranks:
            chosen[meaning] = min(ranks, key=ranks.__getitem__)
    return chosen


def _name_in(cell: str, meaning: str, names: Sequence[str]) -> str:
    """Return the name of a meaning that a header has, ``createdAt`` for ``created_at`` too; empty if it has none."""
    header = header_of(cell)
    by_letters = {name.replace("_", ""): name for name in reversed(names)}
    name = by_letters.get(header.all_words.replace("_", ""), "")
    return name or by_letters.get(header.words.replace("_", ""), "") if meaning in QUANTITIES else name


def _is_known(meaning: str, cell: str) -> bool:
    try:
        factor_of(meaning, cell)
    except InputError:
        return False
    return True


def unused_columns(headers: Sequence[str], used: Collection[str]) -> tuple[str, ...]:
    """Return the note on the columns of a table that are not used; nothing where there are none.

    Examples
    --------
    >>> unused_columns(["start", "end", "cost", "VM Size"], ["start", "end", "VM Size"])
    ('columns not used: "cost"',)
    """
    names = [cell for cell in headers if cell and cell not in used]
    return (f"columns not used: {_in_quotes(names)}",) if names else ()


def _in_quotes(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


# ---- cells -----------------------------------------------------------------------------------------------------------


class Amounts:
    """Reads the cells of a column of amounts exactly; a unit stands in the header, or in cells (``500m``, ``4Gi``).

    Examples
    --------
    >>> cores = Amounts("cpu", "cpu")
    >>> cores("500m"), cores("2"), Amounts("memory", "RAM (MiB)")("512")
    (Fraction(1, 2), Fraction(2, 1), Fraction(1, 2))
    """

    def __init__(self, meaning: str, header: str) -> None:
        self.meaning, self.header = meaning, header
        self.factor = factor_of(meaning, header)
        self._quantity = QUANTITIES[meaning]
        self._stated = unit_of(meaning, header)
        self._units: set[str] = {self._stated} - {""}  # that stand in the header or in cells
        self._without = False  # whether a number other than 0 has none
        self._read: dict[str, Fraction] = {}

    def __call__(self, cell: str) -> Fraction:
        """Read a cell; an empty one is 0.

        Raises
        ------
        ValueError
            No number, a negative one, or a unit that is not known, or stands twice or in some cells only.
        """
        value = self._read.get(cell)
        if value is None:
            value = self._amount(cell or "0")
            if len(self._read) < 100_000:
                self._read[cell] = value
        return value

    def _amount(self, cell: str) -> Fraction:
        number, unit = cell, ""
        with_unit = re.fullmatch(r"([\d.,]+(?:[eE][+-]?\d+)?)\s*([a-zA-Zµ%]+)", cell)
        if with_unit:
            number, unit = with_unit[1], with_unit[2].lower().replace("µ", "u")
        try:
            value = rational(number)
        except ValueError as error:
            raise ValueError(f"expected a number, got {cell[:60]!r} ({error})") from error
        if value < 0:
            raise ValueError(f"expected a number of at least 0, got {cell[:60]!r}")
        if unit and self._stated:
            raise ValueError(f"expected a number, as the header has a unit, got {cell[:60]!r}")
        factor = self._quantity.factor(unit) if unit else self.factor
        self._units |= {unit} - {""}
        self._without |= not unit and not self._stated and value > 0
        if self._quantity is SIZE and self._units and self._without:
            raise ValueError(f"expected a unit in each cell or in none, got {cell[:60]!r}")
        return value * factor

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what was assumed of the units that were read."""
        taken = sorted({self._quantity.counts_as[unit] for unit in self._units if unit in self._quantity.counts_as})
        if taken:
            units = sorted(unit for unit in self._units if unit in self._quantity.counts_as)
            return (f"{self.meaning}: {', '.join(units)} counts as {', '.join(taken)}",)
        if self._without and self._quantity is SIZE:
            return (f"{self.meaning}: numbers without a unit are taken for GiB",)
        return ()
