"""The arguments of the scripts in ``examples``: names of files to write, and ``--help``."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter


def arguments(description: str | None, *files: str) -> list[str]:
    """Return the names of files that a script was given, which may be fewer than it takes.

    ``--help`` prints the description and ends the script; any other word that begins with ``-`` is refused with
    status 2, so that no file gets such a name.

    Parameters
    ----------
    description : str
        Of the script: its docstring.
    *files : str
        What may be given, such as ``PICTURE.png``.
    """
    parser = ArgumentParser(description=description, formatter_class=RawDescriptionHelpFormatter, allow_abbrev=False)
    for name in files:
        parser.add_argument(name, nargs="?", help="file to write")
    words = vars(parser.parse_args())
    return [words[name] for name in files if words[name] is not None]
