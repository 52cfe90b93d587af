"""The code of the how-to on packages of others runs: with the package where it is installed, else with a stand-in."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from bounds.adversary.items import Items, packed_by
from examples.rules_to_attack import first_fit

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "glue-to-another-package.md"


def stand_in(name: str) -> ModuleType:
    """Return a module that answers as the package does, for the calls of the page."""
    module = ModuleType(name)
    if name == "prtpy":

        def pack(algorithm: str, binsize: int, items: dict[int, int]) -> list[list[int]]:
            assert algorithm == "first fit"
            names = list(items)
            bins = first_fit([(items[i],) for i in names], (binsize,))
            return [[i for i, b in zip(names, bins, strict=True) if b == place] for place in range(max(bins) + 1)]

        module.pack, module.packing = pack, SimpleNamespace(first_fit="first fit")  # type: ignore[attr-defined]
        return module

    class Packer:
        def __init__(self) -> None:
            self.sizes: list[tuple[int, int, Any]] = []

        def add_rect(self, width: int, height: int, rid: Any) -> None:
            self.sizes.append((width, height, rid))

        def add_bin(self, width: int, height: int, count: int) -> None:
            assert (height, count) == (1, len(self.sizes))
            self.width = width

        def pack(self) -> None:
            self.bins = first_fit([(width,) for width, _, _ in self.sizes], (self.width,))

        def rect_list(self) -> list[tuple[Any, ...]]:
            rows = zip(self.bins, self.sizes, strict=True)
            return [(b, 0, 0, width, height, rid) for b, (width, height, rid) in rows][::-1]

    def new_packer(rotation: bool, sort_algo: Any) -> Packer:
        assert not rotation
        assert sort_algo is None
        return Packer()

    module.newPacker, module.SORT_NONE = new_packer, None  # type: ignore[attr-defined]
    return module


@pytest.mark.parametrize(("package", "rule"), [("prtpy", "first_fit"), ("rectpack", "rectangles")])
def test_the_glue_gives_packings(package: str, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec(package) is None:
        monkeypatch.setitem(sys.modules, package, stand_in(package))
    code = next(
        part for part in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S) if f"import {package}" in part
    )
    names: dict[str, Any] = {}
    exec(code, names)
    items = Items(((3,), (4,), (5,), (2,), (3,)), (7,), (0, 0, 1, 1, 2))
    packing = packed_by(names[rule], items)
    assert max(packing) == 2, "three bins are needed for 17 of 7 each"
    # few lines: the function has at most four of them
    body = code.split("def ")[1].strip().splitlines()[1:]
    assert len(body) <= 5
