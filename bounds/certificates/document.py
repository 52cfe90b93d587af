"""What all certificates share: the document, its digest, and how configurations are written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from theory.instance import Configuration, Instance

FORMAT = "packproof/1"


def signed(
    kind: str,
    instance: dict[str, Any],
    evidence: dict[str, Any],
    claims: dict[str, Any],
    form: str = FORMAT,
) -> dict[str, Any]:
    """Put a certificate together and add its digest.

    Parameters
    ----------
    kind : str
        What the checker is to verify.
    instance, evidence, claims : dict
        JSON values; numbers are integers or exact text.
    form : str
        The format, which changes where a kind of certificate does.

    Returns
    -------
    dict
        With ``digest``: SHA-256 of the rest as JSON with sorted keys, without blanks, in UTF-8.
    """
    document: dict[str, Any] = {
        "format": form,
        "kind": kind,
        "instance": instance,
        "evidence": evidence,
        "claims": claims,
    }
    content = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {**document, "digest": hashlib.sha256(content.encode("utf-8")).hexdigest()}


def slots(instance: Instance, configuration: Configuration) -> dict[str, int]:
    """Return a configuration as {type: slots}, types without slots left out."""
    return {name: number for name, number in zip(instance.names, configuration, strict=True) if number}


def by_pool(instance: Instance, values: Sequence[Any]) -> dict[str, Any]:
    """Return a value for every pool as {pool: value}."""
    return {pool.name: value for pool, value in zip(instance.pools, values, strict=True)}
