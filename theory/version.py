"""The version of packproof: the one place where it stands; and of what else decides paths of simulations."""

from functools import cache

__version__ = "1.0.0"


@cache
def versions() -> dict[str, str]:
    """Return the versions of what decides paths, which are part of every key: no row of others is taken for new."""
    from importlib.metadata import version

    return {"packproof": __version__} | {name: version(name) for name in ("numpy", "numba")}
