"""Kernels: copies with other callees, copies as Python, and a cache that notices a changed callee elsewhere."""

import os
import subprocess
import sys

from theory.compiled import bound, kernel, plain


@kernel
def step(x: int) -> int:
    return x + 1


@kernel
def middle(x: int) -> int:
    return 2 * step(x)


@kernel
def top(x: int) -> int:
    return middle(x) + step(x)


def test_bound_reaches_through_the_kernels_between() -> None:
    tenfold = bound(top, step=lambda x: 10 * x)
    assert (top(1), tenfold(1), top(1)) == (6, 30, 6)


def test_two_bindings_do_not_share_machine_code() -> None:
    assert [bound(top, step=other)(3) for other in (lambda x: x, lambda x: -x)] == [9, -9]


def test_plain_is_python_throughout() -> None:
    source = plain(top)
    assert not hasattr(source, "py_func")
    assert not hasattr(source.__globals__["middle"].__globals__["step"], "py_func")
    assert source(1) == 6
    assert plain(top, step=lambda x: f"{x}")(1) == "111"  # only Python doubles a text by 2 *


def test_a_changed_callee_in_another_file_is_noticed(tmp_path) -> None:
    (tmp_path / "caller.py").write_text(
        "from theory.compiled import kernel\nfrom callee import value\n"
        "@kernel\ndef call(x): return value(x)\n"
        "print(call(1))\n"
    )
    answers = []
    for number in (1, 2, 1):
        (tmp_path / "callee.py").write_text(
            f"from theory.compiled import kernel\n@kernel\ndef value(x): return x + {number}\n"
        )
        paths = os.pathsep.join([str(tmp_path), *sys.path])
        environment = os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run(
            [sys.executable, "caller.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        answers.append(int(run.stdout))
    assert answers == [2, 3, 2]
