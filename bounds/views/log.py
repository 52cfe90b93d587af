"""``packproof log``: what a log was taken for, what is in it, and what looks wrong."""

from __future__ import annotations

from pathlib import Path

from bounds.answers.log import LogAnswer, LogPeak
from bounds.answers.record import Fields, encode
from bounds.views.panels import Bars
from bounds.views.pictures import drawn
from bounds.views.shown import Picture, Table, number, tables_of
from bounds.views.spans import lasting, moment
from bounds.views.text import many
from fluid.traces.described import describe
from fluid.traces.model import MICROSECONDS, Trace
from theory.errors import quoted


def log_answer(path: Path, trace: Trace) -> LogAnswer:
    """Return what is in a log."""
    found, reading = describe(trace), trace.reading
    assert reading is not None
    begins = None if trace.begins is None else (trace.begins + max(0, int(trace.arrival.min()))) / MICROSECONDS
    return encode(
        LogAnswer,
        found,
        file=path.name,
        format=reading.format,
        rows=reading.rows,
        begins=begins,
        times=reading.written,
        columns=reading.columns,
        unused=reading.unused,
        left_out=dict(reading.left_out),
        common=[Fields(one, demand_float=one.demand) for one in found.common],
        notes=trace.notes,
    )


def first_lines(trace: Trace) -> list[str]:
    """Return what a plan says of its log before everything else."""
    if trace.reading is None:
        return []
    answer = log_answer(Path(), trace)
    more = [("distinct demands", f"{answer.distinct:,}"), *map(_most, answer.peaks)]
    rows = [f"{what}: {value}" for what, value in (*_facts(answer), *more)]
    return [
        f"{_taken(answer)} (the whole answer: packproof log)",
        *rows,
        *(f"looks wrong: {doubt}" for doubt in answer.doubts),
    ]


def sentence(answer: LogAnswer) -> str:
    """Return what a log is and whether something looks wrong, in a sentence."""
    wrong = f"{many(len(answer.doubts), 'thing')} look wrong" if len(answer.doubts) != 1 else "one thing looks wrong"
    return f"{_taken(answer)}; {wrong if answer.doubts else 'nothing looks wrong'}."


def _taken(answer: LogAnswer) -> str:
    omitted = sum(answer.left_out.values())
    without = f", {omitted:,} of them left out" if omitted else ""
    name = quoted(answer.file) if answer.file else "the log"
    counted = f"{many(answer.tasks, 'task')} of {many(answer.rows, 'row')}{without}"
    return f"{name} was read as {answer.format}: {counted}, over {lasting(answer.span)}"


def _facts(answer: LogAnswer) -> list[tuple[str, str]]:
    """Return the span, the stays and the ties of a log, in words."""
    stays, ties = answer.stays, answer.ties
    lengths = (("shortest", stays.shortest), ("longest", stays.longest), ("mean", stays.mean), ("median", stays.median))
    return [
        *([("first arrival", moment(answer.begins, 0.0))] if answer.begins is not None else []),
        ("stays", ", ".join(f"{what} {lasting(value)}" for what, value in lengths)),
        *([("cut off by the end of the log", many(stays.unended, "stay"))] if stays.unended else []),
        (
            "ties",
            f"{ties.arrivals:,} come with another, {ties.most:,} at most; {ties.with_departure:,} as another leaves",
        ),
        *([("all times are multiples of", f"{ties.step} s")] if ties.step != "0" else []),
    ]


def _most(peak: LogPeak) -> tuple[str, str]:
    return f"most in service, {peak.resource}", f"{number(peak.most)} (mean {number(peak.mean, 4)})"


def tables(answer: LogAnswer) -> list[Table]:
    """Return the numbers of a log, its columns, what was left out, peaks and demands, and what looks wrong."""
    numbers, *others = tables_of(answer)
    facts = [["span", lasting(answer.span)], *map(list, _facts(answer))]
    parts = [numbers._replace(rows=[*numbers.rows, *facts], numeric=[False, False])]
    parts += [table for table in others if table.title == "columns"]
    if answer.left_out:
        rows = [[reason, f"{count:,}"] for reason, count in answer.left_out.items()]
        parts.append(Table("rows left out", ["", "rows"], rows, [False, True]))
    parts += [table for table in others if table.title != "columns"]
    place = next((i for i, table in enumerate(parts) if table.title == "what looks wrong"), len(parts))
    return [*parts[:place], _common(answer), *parts[place:]]


def _common(answer: LogAnswer) -> Table:
    """Return the demands that most tasks have."""
    resources = list(answer.common[0].demand) if answer.common else []
    rows = []
    for one in answer.common:
        amounts = [number(one.demand_float[name]) for name in resources]
        rows.append([*([] if resources else [quoted(one.type)]), *amounts, f"{one.tasks:,}"])
    head = [*(resources or ["type"]), "tasks"]
    title = "demands" if answer.distinct <= len(rows) else f"demands of the most tasks, of {answer.distinct:,}"
    return Table(title, head, rows, [bool(resources)] * len(resources or [0]) + [True])


def pictures(answer: LogAnswer) -> list[Picture]:
    """Return the mean and the most in service of each resource, as parts of the most."""
    parts = [
        ("mean in service, as a part of the most", [one.mean / one.most if one.most else 0 for one in answer.peaks])
    ]
    bars = Bars("in service (share of the most)", [drawn(one.resource) for one in answer.peaks], parts)
    return [Picture("Mean in service of each resource, as a part of the most at one instant.", bars)]


def evidence(answer: LogAnswer) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    del answer
    return [("counts, stays, ties and peaks of the rows that were read", "exact, without a certificate")]
