"""The certificate of a workload's traffic intensity and of the facets of its region."""

from __future__ import annotations

from typing import Any

from bounds.certificates.document import by_pool, by_type, columns_document, signed, slots
from theory.files.instances import instance_document
from theory.greedy.optimal import Column
from theory.instance import Instance
from theory.numbers import text
from theory.region.facets import Region
from theory.region.membership import Intensity


def region_certificate(instance: Instance, intensity: Intensity, region: Region | None = None) -> dict[str, Any]:
    """Return the certificate of a workload's traffic intensity and, where given, of all facets of the region.

    Parameters
    ----------
    instance : Instance
    intensity : Intensity
        Of the instance's workload.
    region : Region, optional
        All facets; their evidence is a triangulation of the outer boundary (`theory.region.facets`).

    Examples
    --------
    >>> from bounds import checker
    >>> from theory.instance import additive
    >>> from theory.region import CapacityProgram, region_facets
    >>> instance = additive([6], [[4], [1]], workload=["1/2", 4])
    >>> answer = region_certificate(instance, CapacityProgram(instance).intensity(), region_facets(instance))
    >>> claims = checker.check(answer)
    >>> claims["traffic_intensity"], claims["supportable"], claims["facets"][-1]
    ('1', False, {'normal': {'t1': '4', 't2': '1'}, 'offset': '6'})
    """
    evidence: dict[str, Any] = {
        "columns": columns_document(instance, [Column(*column) for column in intensity.columns]),
        "prices": by_type(instance, intensity.prices),
    }
    claims: dict[str, Any] = {"traffic_intensity": text(intensity.value), "supportable": intensity.supportable}
    # without facets the certificate states the intensity alone
    if region is not None:
        evidence["boundary"] = {
            "vertices": [by_pool(instance, [slots(instance, k) for k in ks]) for ks in region.configurations],
            "simplices": [list(simplex) for simplex in region.simplices],
        }
        claims["facets"] = facets_document(instance, region)
    return signed("region", instance_document(instance), evidence, claims)


def facets_document(instance: Instance, region: Region) -> list[dict[str, Any]]:
    """Return all facets as ``{"normal": {type: text}, "offset": text}``."""
    return [{"normal": by_type(instance, facet.normal), "offset": text(facet.offset)} for facet in region.facets]
