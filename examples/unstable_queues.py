"""Two systems in which a sensible policy is caught in a bad configuration and its queue grows without bound.

Left: Example 1 of the non-preemptive scheduling paper (one server of 6, jobs of 4 and 1). Max-weight at local refresh
times is caught in (1, 2), where small jobs come at 3.56 and are served at 2 per unit time: its queue grows by 1.56.
Right: Section VII-A.1 of the high-throughput paper (one server, sizes 0.4 and 0.6). The reduced configurations of VQS
carry two thirds of what a server can. Bands are 95 % intervals over replications.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from packproof import QueueScenario, SlottedScenario, read_instance, simulate
from packproof.simulation import discrete
from packproof.statistics import Interval
from packproof.views import arguments, chart_over_time, picture_of_panels


def main(picture: Path | None = None) -> dict[str, Interval]:
    """Print and return growth rates, and draw the queues where a picture is asked for."""
    rates = {}
    instance = read_instance(Path(__file__).parent / "caught.toml")
    continuous = QueueScenario(instance, 1, 2000.0, 200.0, bins=100)
    law = discrete({Fraction(2, 5): 1, Fraction(3, 5): 1})
    slots = SlottedScenario(law, 1, 200_000, 20_000, rate=0.014, service=0.01, bins=100)
    systems = [
        [simulate(name, continuous, replications=20) for name in ("nonpreemptive", "max-weight-local")],
        [simulate(name, slots, replications=20) for name in ("bf-js", "vqs-bf", "vqs")],
    ]
    for results in systems:
        for result in results:
            rate = rates[result.policy.name] = result.growth(0.999)
            print(
                f"{result.policy.name:17} queue grows by {rate.mean:9.2e}  [{rate.low:9.2e}, {rate.high:9.2e}] "
                "per unit time"
            )
    if picture is not None:
        titles = ("jobs of 4 and 1 on 6", "sizes 0.4 and 0.6, in slots")
        charts = [chart_over_time(results, title=title) for results, title in zip(systems, titles, strict=True)]
        picture_of_panels(charts, picture, "")
    return rates


if __name__ == "__main__":
    main(*map(Path, arguments(__doc__, "PICTURE.png")))
