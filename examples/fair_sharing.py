"""Fair sharing of the Google cluster of 2011: every mechanism on its 12,477 machines, side by side.

Users are those with the most requests in the trace, each with its most frequent request; the trace is read from
``PACKPROOF_DATA``. Without it the paper's own cluster of 120 servers (Table IV) is shared instead.

Run ``python examples/fair_sharing.py [PICTURE.png]``.
"""

from __future__ import annotations

import os
from pathlib import Path

from packproof import MECHANISMS, decide, table_4, whole_tasks
from packproof.files import google_cluster
from packproof.views import all_shares_answer, arguments, picture_of_shares, shares_answer, text_of


def main(picture: str | None = None, users: int = 12) -> dict[str, float]:
    """Print the comparison, draw it where asked, and return Jain's index by mechanism."""
    data = Path(os.environ.get("PACKPROOF_DATA", "../shared/data"))
    shared = google_cluster(data, users) if data.exists() else table_4()
    allocations = {name: mechanism(shared) for name, mechanism in MECHANISMS.items()}
    answers = {
        name: shares_answer(allocation, decide(allocation), whole_tasks(allocation), MECHANISMS[name].ignored(shared))
        for name, allocation in allocations.items()
    }
    print("\n".join(text_of(all_shares_answer(answers))))
    if picture is not None:
        picture_of_shares(list(allocations.values()), picture)
    return {name: answer.jain_index for name, answer in answers.items()}


if __name__ == "__main__":
    main(*arguments(__doc__, "PICTURE.png"))
