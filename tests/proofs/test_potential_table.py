"""The check of tables in `proofs/PotentialCheck.v`, evaluated by Coq on a small table and on wrong ones."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from bounds.results.packproof.formal_table import table
from tests.proofs.built import PROOFS, proved_checker

EVALUATED = """\
From mathcomp Require Import all_ssreflect.
From Coq Require BinNat.
From packproof Require Import PotentialCheck.
Import BinNums BinNat Checked.
Local Open Scope N_scope.
Definition less (x : seq N) i := set_nth 0 x i (N.pred (nth 0 x i)).
Definition verdicts (t : numbers) :=
  let with_ lows gains :=
    Numbers (unit t) (tangent t) (level t) (cells t) (thick t) lows (highs t) (slopes t) (tips t) gains (peaks t) in
  ([:: table_ok t 316 1000; table_ok t 315 1000; table_ok (with_ (less (lows t) 45%nat) (gains t)) 316 1000;
       table_ok (with_ (lows t) (set_nth [::] (gains t) 2%nat (less (nth [::] (gains t) 2) 1%nat))) 316 1000],
   nth 0 (highs t) 59 * 1000000 / nth 0 (lows t) 0).
Eval vm_compute in verdicts (make 1099511627776 668283167362 12 60 12).
"""


@pytest.mark.slow
def test_coq_refuses_wrong_tables(tmp_path: Path) -> None:
    """A table is accepted; with a smaller loss, a smaller value at a step, or a smaller gain it is not."""
    proved_checker()
    (tmp_path / "evaluated.v").write_text(EVALUATED)
    command = ["coqc", "-q", "-w", "none", "-Q", str(PROOFS), "packproof", str(tmp_path / "evaluated.v")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"true|false", done.stdout) == ["true", "false", "false", "false"]
    largest = int(re.findall(r"\d{6,}", done.stdout)[0])
    assert abs(largest / 1e6 - table(60, 12)[-1][1]) < 1e-5
