"""Blocks of a CSV that are plain text: ASCII without quotation, in which each line has as many cells as the header.

The places of all cells of such a block are found at once, and whole columns are taken without a list of rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from csv import field_size_limit
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Packed = NDArray[np.bytes_]
"""Cells as bytes of one width."""

WIDEST = 64
"""Most characters of cells that are packed."""

_END, _BLANK = ord("\n"), ord(" ")


@dataclass(frozen=True)
class PlainBlock:
    """Rows of plain text, cells without space around them.

    Attributes
    ----------
    lines : range
        The numbers of their lines.
    text : str
        The rows, each with an end of line.
    sign : str
        What separates the cells.
    signs : uint8[n + WIDEST]
        The text, and zeros behind it.
    begins, ends : int64[len(lines), C]
        Where each cell begins, and just beyond it.
    """

    lines: range
    text: str
    sign: str
    signs: NDArray[np.uint8]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]

    @property
    def rows(self) -> list[list[str]]:
        """Return the cells of each row."""
        # splitlines would end lines at further control characters
        return [line.split(self.sign) for line in self.text.removesuffix("\n").split("\n")]

    @property
    def last(self) -> list[str]:
        """Return the cells of the last row."""
        return self.text[self.begins[-1, 0] : self.ends[-1, -1]].split(self.sign)

    def begins_with(self, words: Collection[str]) -> bool:
        """Return whether the first cell of a row is one of some words."""
        begins, lengths = self.begins[:, 0], self.ends[:, 0] - self.begins[:, 0]
        letters = np.frombuffer("".join(word[:1] for word in words).encode(), np.uint8)
        perhaps = (lengths <= max(map(len, words))) & np.isin(self.signs[begins], letters)
        places = begins[perhaps].tolist()
        return any(self.text[a : a + n] in words for a, n in zip(places, lengths[perhaps].tolist(), strict=True))

    def column(self, at: int) -> Packed | list[str]:
        """Return the cells of a column, packed unless one of them is long."""
        begins, lengths = self.begins[:, at], self.ends[:, at] - self.begins[:, at]
        width = max(1, int(lengths.max()))
        if width > WIDEST:
            return [self.text[a:b] for a, b in zip(begins.tolist(), self.ends[:, at].tolist(), strict=True)]
        cells = np.lib.stride_tricks.sliding_window_view(self.signs, width)[begins]
        if lengths.min() < width:
            cells[np.arange(width) >= lengths[:, None]] = 0
        return cells.view(f"S{width}").reshape(-1)


def plain_block(text_lines: Sequence[str], first: int, sign: str, width: int) -> PlainBlock | None:
    r"""Return lines as a block of plain text with `width` cells a line; None for others.

    `first` is the number of the first line. Lines with comments, and with an empty or quoted first cell, are not plain.

    Examples
    --------
    >>> block = plain_block(["1,x\n", "22,y\n"], 2, ",", 2)
    >>> block.column(0).tolist(), block.rows, list(block.lines)
    ([b'1', b'22'], [['1', 'x'], ['22', 'y']], [2, 3])
    >>> [plain_block([line], 2, ",", 2) for line in ('1,"x"\n', "1, x\n", "1\n", "#1,x\n", ",x\n", "1,\u00e9\n")]
    [None, None, None, None, None, None]
    """
    text = "".join(text_lines)
    if not text.isascii() or '"' in text:
        return None
    text = text.replace("\r\n", "\n") if "\r" in text else text
    text += "" if text.endswith("\n") else "\n"
    signs = np.frombuffer(text.encode() + bytes(WIDEST), np.uint8)
    is_end = signs == _END
    number = int(is_end.sum())
    places = np.flatnonzero(is_end | (signs == ord(sign)))
    if number != len(text_lines) or len(places) != width * number or not is_end[places[width - 1 :: width]].all():
        return None
    begins = np.concatenate([[0], places[:-1] + 1]).reshape(-1, width)
    ends = places.reshape(-1, width)
    has_cell = ends > begins
    # a cell that is longer is refused by the reader of rows; control characters are taken for blanks
    is_odd = (signs[begins] <= _BLANK) | (signs[ends - 1] <= _BLANK)
    if (is_odd & has_cell).any() or (ends - begins).max() > field_size_limit():
        return None
    if not has_cell[:, 0].all() or (signs[begins[:, 0]] == ord("#")).any():
        return None
    return PlainBlock(range(first, first + number), text, sign, signs, begins, ends)
