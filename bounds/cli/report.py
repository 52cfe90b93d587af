"""``packproof report``: an answer of ``--json`` as one HTML file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from bounds.cli.app import app
from bounds.cli.made import made
from bounds.cli.options import announcing
from theory.errors import InputError
from theory.files.answer import print_answer


@app.command(
    examples=(
        "packproof report examples/plan_answer.json --out plan.html",
        "packproof check examples/plan_certificate.json && packproof report examples/plan_answer.json --out plan.html",
    )
)
def report(
    answer: Annotated[
        Path, typer.Argument(metavar="ANSWER.json", help="What a command printed with --json.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", metavar="OUT.html", help="File to write.", callback=announcing())],
) -> None:
    """Write an answer of any command as a page: its sentence, pictures and tables, and how each number is known."""
    from bounds.views.checked import parse_answer
    from bounds.views.report import report_page
    from theory.files.places import read_text, write_text

    text = read_text(answer)
    try:
        document = parse_answer(text)
        origin = document.get("made") if isinstance(document, dict) else None
        if not isinstance(origin, dict) or not isinstance(origin.get("command"), str):
            raise InputError("made", "missing, expected an answer of a command with --json, which says what made it")
        page = report_page(document, origin["command"])
    except InputError as error:
        raise InputError(answer, f"{error}") from error
    write_text(out, page)
    print_answer(f"{out}: {len(page.encode()) / 1024:,.0f} KiB")


def write_report(out: Path, answer: Any) -> None:
    """Write the report of an answer of the command that runs."""
    from bounds.views.report import report_page
    from theory.files.places import json_text, write_text

    document = json.loads(json_text({**answer.to_json(), "made": made()}))
    write_text(out, report_page(document, document["made"]["command"]))
