"""``packproof admission fit``: laws that were fitted to a log, as an answer, as text and as a file."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from bounds.answers.admission import FittedAdmission
from bounds.answers.record import Fields, encode
from bounds.views.shown import Table
from bounds.views.text import many
from theory.files.written import document_of

if TYPE_CHECKING:
    from fluid.admission.law.cluster import AdmissionCluster
    from fluid.admission.study.estimation import Fitted
    from fluid.admission.study.goodness import QuantityFit
    from fluid.admission.study.watched import TenantLog

DOUBTED = 0.05
"""Level at which a fit is doubted, all quantities together (Bonferroni); 119 simulated logs can reach it for six."""


def fit_document(log: TenantLog, fitted: Fitted, capacity: int) -> dict[str, Any]:
    """Return the file of the cluster; six digits are far more than standard errors leave."""
    import numpy as np

    from fluid.admission.law.admission_files import AdmissionFile, ClusterTable, DeploymentsTable, InitialTable
    from fluid.admission.law.cluster import Gamma

    def rounded(x: float) -> float:
        return float(f"{x:.6g}")

    p = fitted.priors
    initial: str | InitialTable = "1 + poisson"
    if not p.initial.is_poisson:  # shares as fractions, whose sum is 1
        sizes, counts = np.unique(log.initial, return_counts=True)
        shares = tuple(Fraction(n, len(log.initial)) for n in counts.tolist())
        initial = InitialTable(tuple(sizes.tolist()), shares)
    mu, lam, sigma = (Gamma(rounded(law.shape), rounded(law.rate)) for law in (p.mu, p.lam, p.sigma))
    deployments = DeploymentsTable(mu, lam, sigma, rounded(p.kappa), rounded(p.delta), initial)
    cluster = ClusterTable(capacity, rounded(log.arrivals / log.watch))
    return document_of(AdmissionFile(cluster, deployments))


def fit_answer(
    log: TenantLog, fitted: Fitted, cluster: AdmissionCluster, compared: Sequence[QuantityFit]
) -> FittedAdmission:
    """Return the answer of ``admission fit``."""
    rate = log.arrivals / log.watch
    error = rate / log.arrivals**0.5  # of a Poisson process: the square root of the count
    rows = {"arrival_rate": (rate, error, rate - 1.96 * error, rate + 1.96 * error), **fitted.estimates()}
    seen, few = log.seen, DOUBTED / len(compared)
    return encode(
        FittedAdmission,
        log=Fields(
            deployments=len(log.arrival), open=0 if log.cores is None else int((log.cores > 0).sum()),
            shut_down=int(seen.shut.sum()),
            scale_outs=int(seen.scale_outs.sum()), core_ends=int(seen.core_deaths.sum()), hours=log.watch,
            most_cores=log.most_cores, notes=log.notes,
        ),
        capacity=cluster.capacity,
        initial="1 + poisson" if cluster.priors.initial.is_poisson else "observed",
        parameters=[
            Fields(name=name, value=x, standard_error=error, ci95=(low, high))
            for name, (x, error, low, high) in rows.items()
        ],
        log_likelihood=fitted.log_likelihood,
        converged=fitted.converged,
        goodness=[Fields(name=one.name, distance=one.distance, p_value=one.p_value) for one in compared],
        doubted=[one.name for one in compared if one.p_value <= few],
    )  # fmt: skip


def fit_sentence(answer: FittedAdmission) -> str:
    """Return the answer of ``admission fit`` in a sentence."""
    from fluid.admission.study.goodness import QUANTITIES

    log, number_of_tests = answer.log, len(answer.goodness)
    test = f"{100 * DOUBTED:.0f} %, Bonferroni over {number_of_tests} tests"
    doubted = ", ".join(QUANTITIES[name] for name in answer.doubted)
    verdict = f"the model is in doubt ({test}): {doubted}" if doubted else f"no test rejects the model ({test})"
    return f"The laws were fitted to {many(log.deployments, 'deployment')} in {log.hours:,.6g} hours; {verdict}."


def fit_table(answer: FittedAdmission) -> Table:
    """Return the p-values against logs simulated from the fitted laws."""
    from fluid.admission.study.goodness import QUANTITIES

    title = "p-values against logs simulated from these laws (too large, since the laws were fitted)"
    rows = [[QUANTITIES[one.name], f"{one.p_value:.3f}"] for one in answer.goodness]
    return Table(title, ["quantity", "p-value"], rows, [False, True])
