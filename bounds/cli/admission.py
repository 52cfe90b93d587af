"""``packproof admission``: whether a deployment may enter a cluster; laws, beliefs and decisions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bounds.cli.app import Application, JsonFlag, PlotFile, app, show

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

group = Application(
    help="Cluster admission: deployments that grow on their own, and whether another may enter.",
    no_args_is_help=True,
    examples=(
        "packproof admission decide examples/admission.toml --active 120,40,7 --arriving 4 --horizons 1,24,168",
        "packproof admission optimal examples/admission_small.toml --sla 0.05 --most-deployments 4",
    ),
)
app.add_typer(group, name="admission")

AdmissionFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="Cluster and deployments, TOML or JSON.", show_default=False)
]
SizeOption = Annotated[
    int, typer.Option("--size", metavar="C", help="Cores of the deployment now.", show_default=False)
]


def numbers_of(text: str, name: str) -> list[float]:
    """Read numbers with commas between them; bad ones end in one line that names the option."""
    from theory.errors import InputError
    from theory.numbers import rational

    try:
        return [float(rational(part)) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"{name}: expected numbers with commas between them, got {text!r} ({error})") from None


def cores_of(text: str, name: str) -> list[int]:
    """Read whole numbers of cores with commas between them; empty for no deployment."""
    from theory.errors import InputError

    made = numbers_of(text, name) if text.strip() else []
    for value in made:
        if value < 1 or value != int(value) or value > 1e9:
            raise InputError(f"{name}: expected whole numbers of cores of at least 1, got {value:g}")
    return [int(value) for value in made]


def times_of(text: str | None) -> NDArray[np.float64] | None:
    """Read the horizons of an option, if it is given."""
    from fluid.admission.model import horizons_of

    return None if text is None else horizons_of(numbers_of(text, "--horizons"))


def checked_size(size: int, capacity: int, name: str = "--size") -> int:
    """Refuse a number of cores that the cluster does not have."""
    from theory.errors import InputError

    if not 1 <= size <= capacity:
        raise InputError(f"{name}: expected from 1 to the capacity, {capacity} cores, got {size}")
    return size


def time_of(t: float, name: str = "--at") -> float:
    """Refuse what is no time."""
    from math import isfinite

    from theory.errors import InputError

    if not (isfinite(t) and t > 0):
        raise InputError(f"{name}: expected a time greater than 0, got {t!r}")
    return t


@group.command(
    examples=(
        "packproof admission moments examples/admission.toml --at 24,168 --size 4",
        "packproof admission moments examples/admission.toml --at 720 --size 40 --json",
    )
)
def moments(
    file: AdmissionFile,
    at: Annotated[str, typer.Option("--at", metavar="T,...", help="Hours ahead.", show_default=False)],
    size: SizeOption,
    as_json: JsonFlag = False,
) -> None:
    """Moments of a deployment's size at times ahead: exact, and as the paper composes them."""
    from bounds.views.admission import moments_answer, moments_lines
    from fluid.admission.files import read_admission

    cluster = read_admission(file)
    times = [time_of(t) for t in numbers_of(at, "--at")]
    answer = moments_answer(cluster.priors, checked_size(size, cluster.capacity), times)
    show(answer, lambda: moments_lines(answer), as_json=as_json)


@group.command(
    examples=(
        "packproof admission law examples/admission.toml --at 24 --size 4 --given mu=0.05,lambda=1,sigma=4",
        "packproof admission law examples/admission.toml --at 168 --size 9 --given mu=0.05,lambda=0.2,sigma=2 --json",
    )
)
def law(
    file: AdmissionFile,
    at: Annotated[float, typer.Option("--at", metavar="T", help="Hours ahead.", show_default=False)],
    size: SizeOption,
    given: Annotated[
        str | None,
        typer.Option("--given", metavar="mu=X,lambda=Y,sigma=Z", help="Parameters that are known, in place of priors."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """The exact law of a deployment's size at a time, with absorption at 0."""
    from bounds.views.admission import law_answer, law_lines
    from fluid.admission.files import read_admission
    from fluid.admission.law import kind_law, parameters_law
    from fluid.admission.mixture import mixed_law

    cluster = read_admission(file)
    t = time_of(at)
    checked_size(size, cluster.capacity)
    if given is not None:
        found = parameters_law(cluster.priors, *parameters_of(given), size, t)
    elif isinstance(cluster.deployments, tuple) and len(cluster.deployments) == 1:
        found = kind_law(cluster.deployments[0], size, t)
    else:
        found = mixed_law(cluster.priors, size, t)
    show(law_answer(found, size, t) if as_json else None, lambda: law_lines(found, size, t), as_json=as_json)


def parameters_of(text: str) -> tuple[float, float, float]:
    """Read ``mu=X,lambda=Y,sigma=Z`` in any order."""
    from theory.errors import InputError

    names = ("mu", "lambda", "sigma")
    found: dict[str, float] = {}
    for part in text.split(","):
        name, sign, value = part.partition("=")
        if not sign or name.strip() not in names or name.strip() in found:
            raise InputError(f"--given: expected mu=X,lambda=Y,sigma=Z, got {text!r}")
        found[name.strip()] = numbers_of(value, f"--given {name.strip()}")[0]
    if len(found) < 3 or found["mu"] <= 0 or min(found.values()) < 0:
        raise InputError(f"--given: expected mu greater than 0, lambda and sigma of at least 0, got {text!r}")
    return found["mu"], found["lambda"], found["sigma"]


@group.command(
    examples=(
        "packproof admission belief examples/admission.toml --observed examples/observed.json",
        "packproof admission belief examples/admission.toml --observed examples/observed.json --plot belief.png",
    )
)
def belief(
    file: AdmissionFile,
    observed: Annotated[
        Path, typer.Option("--observed", metavar="DATA.json", help="What was observed of it.", show_default=False)
    ],
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """What is believed of a living deployment after observations: exactly, and by the paper's plug-in."""
    from bounds.views.admission import belief_answer, belief_lines
    from fluid.admission.belief import exact_belief, plug_in_belief
    from fluid.admission.files import read_admission, read_observed

    priors = read_admission(file).priors
    seen = read_observed(observed)
    exact, plug_in = exact_belief(priors, seen), plug_in_belief(priors, seen)
    if plot is not None:
        from bounds.views.admission_pictures import picture_of_beliefs

        picture_of_beliefs(priors, [("prior", None), ("observed", seen)], plot)
    answer = belief_answer(exact, plug_in)
    show(answer, lambda: belief_lines(answer), as_json=as_json)


@group.command(
    examples=(
        "packproof admission decide examples/admission.toml --active 120,40,7 --arriving 4 --horizons 1,24,168",
        "packproof admission decide examples/admission.toml --active 12 --arriving 400 --horizons 24",
    )
)
def decide(
    file: AdmissionFile,
    active: Annotated[
        str, typer.Option("--active", metavar="C,...", help="Cores of the deployments in the cluster; may be empty.")
    ],
    arriving: Annotated[int, typer.Option("--arriving", metavar="C", help="Cores of the deployment that arrives.")],
    horizons: Annotated[
        str | None,
        typer.Option("--horizons", metavar="T,...", help="Hours ahead, in increasing order; those of tune by default."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """The thresholds above which each policy accepts an arriving deployment."""
    from bounds.views.admission import decide_answer, decide_lines
    from fluid.admission.decisions import both_thresholds
    from fluid.admission.files import read_admission
    from fluid.admission.outlook import aligned_horizons
    from theory.errors import InputError

    cluster = read_admission(file)
    sizes = cores_of(active, "--active")
    if sum(sizes) > cluster.capacity:
        raise InputError(f"--active: expected at most the capacity, {cluster.capacity} cores, got {sum(sizes)} in all")
    checked_size(arriving, cluster.capacity, "--arriving")
    if sum(sizes) + arriving > cluster.capacity:
        used = sum(sizes)
        print(f"{used} cores and {arriving} more do not fit {cluster.capacity}: nobody may accept", file=sys.stderr)
    given = times_of(horizons)
    times = aligned_horizons() if given is None else given
    answer = decide_answer(*both_thresholds(cluster.priors, cluster.capacity, sizes, arriving, times))
    show(answer, lambda: decide_lines(answer, times.tolist()), as_json=as_json)
