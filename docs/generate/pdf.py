"""Print the page of results as a PDF: ``python -m generate.pdf OUT.pdf`` in the folder ``docs``.

The page is read with the Markdown reader that the documentation is built with, formulas are drawn by matplotlib, and an
installed Chromium prints the result. Nothing is asked for over a network.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

PAGE = Path(__file__).parents[1] / "explanation" / "results.md"

STYLE = """
body { font: 9.5pt/1.35 serif; } h1 { font-size: 17pt; } h2 { font-size: 12.5pt; } a { color: inherit; }
table { border-collapse: collapse; width: 100%; margin: 0.7em 0; font-size: 8.5pt; } tr { break-inside: avoid; }
th, td { border-bottom: 0.5pt solid #999; padding: 2pt 5pt; text-align: left; vertical-align: top; }
td { overflow-wrap: break-word; } code { font-size: 8pt; } img { vertical-align: middle; }
@page { size: A4; margin: 18mm; }
"""

FORMULA = re.compile(r"(?<![\\$])\$([^$\n]+)\$")


def drawn(formula: str) -> str:
    """Return a formula as an image of its own height, for a page of HTML.

    Examples
    --------
    >>> drawn("k_1")[:26]
    '<img alt="k_1" style="heig'
    """
    from base64 import b64encode
    from html import escape

    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # each formula once, at the size of the text around it
    with rc_context({"mathtext.fontset": "stix", "svg.fonttype": "path"}):
        figure = Figure(figsize=(0.01, 0.01))
        figure.text(0, 0, f"${formula.replace(chr(92) + 'le ', chr(92) + 'leq ')}$", fontsize=9.5)
        stream = StringIO()
        figure.savefig(stream, format="svg", bbox_inches="tight", pad_inches=0.01, transparent=True)
    height = re.search(r'height="([0-9.]+)pt"', stream.getvalue())
    assert height is not None
    data = b64encode(stream.getvalue().encode()).decode()
    return (
        f'<img alt="{escape(formula)}" style="height:{float(height[1]):.2f}pt" src="data:image/svg+xml;base64,{data}">'
    )


def html(text: str) -> str:
    """Return a page of Markdown as a page of HTML that needs no other file.

    Links to other pages become plain words; those to the web stay.
    """
    from markdown_it import MarkdownIt

    formulas: list[str] = []

    def put_aside(match: re.Match[str]) -> str:
        formulas.append(match[1])
        return f"FORMULA{len(formulas) - 1}END"

    without = FORMULA.sub(put_aside, text)
    body = MarkdownIt("commonmark").enable("table").render(without)
    body = re.sub(r'<a href="(?!https?:)[^"]*">(.*?)</a>', r"\1", body, flags=re.DOTALL)
    body = re.sub(r"FORMULA(\d+)END", lambda match: drawn(formulas[int(match[1])]), body)
    return f'<!doctype html><html lang="en"><meta charset="utf-8"><title>packproof</title><style>{STYLE}</style>{body}'


def chromium() -> str | None:
    """Return the program that prints, or None where there is none."""
    return next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )


def main(arguments: list[str]) -> int:
    """Print the page to the file that is named, and return 1 where that is not possible, 2 for a wrong call."""
    if len(arguments) != 1 or not arguments[0].endswith(".pdf"):
        print("generate.pdf: expected the name of one file that ends with .pdf", file=sys.stderr)
        return 2
    browser, out = chromium(), Path(arguments[0]).resolve()
    if browser is None:
        print("generate.pdf: expected an installed Chromium, found none", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "results.html"
        page.write_text(html(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        flags = ("--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder}/p")
        subprocess.run(
            [browser, *flags, "--host-resolver-rules=MAP * ~NOTFOUND", f"--print-to-pdf={out}", page.as_uri()],
            check=True,
            capture_output=True,
            timeout=300,
        )
    print(f"{out.name}: {out.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
