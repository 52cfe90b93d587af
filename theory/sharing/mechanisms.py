"""The mechanisms by the names of the command line."""

from __future__ import annotations

from collections.abc import Callable

from theory.sharing.allocation import Allocation
from theory.sharing.maxmin import c_drfh, cdrf, drf, tsf
from theory.sharing.model import Cluster
from theory.sharing.per_server import ps_dsf, ps_dsf_tdm

MECHANISMS: dict[str, Callable[[Cluster], Allocation]] = {
    "drf": drf,
    "c-drfh": c_drfh,
    "cdrf": cdrf,
    "tsf": tsf,
    "ps-dsf": ps_dsf,
    "ps-dsf-tdm": ps_dsf_tdm,
}
