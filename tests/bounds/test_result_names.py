"""What claims and reproduced results may be called: either spelling of a kind, the last part, the paper."""

from __future__ import annotations

from collections import Counter

import pytest

import packproof
from bounds.claims import PAPERS
from bounds.cli import run
from bounds.results import modules
from bounds.results.names import chosen
from bounds.results.reproduction import modules as results
from bounds.results.reproduction import reproductions
from theory.errors import InputError

PAIRS = ("theorem thm", "proposition prop", "corollary cor", "lemma lem", "figure fig", "definition def")
CLAIMS, RESULTS = list(modules()), list(results())


def otherwise(identity: str) -> str:
    """Return an id with the other spelling of its kind; the id itself where its name begins with no kind."""
    for long, short in map(str.split, PAIRS):
        for one, other in ((long, short), (short, long)):
            if f"/{one}-" in identity:
                return identity.replace(f"/{one}-", f"/{other}-", 1)
    return identity


def test_each_claim_has_both_spellings_and_no_claim_has_that_of_another() -> None:
    """`verify` and ``packproof.claims`` take the other spelling for the same claim, and for no other."""
    respelled = [one for one in CLAIMS if otherwise(one) != one]
    assert len(respelled) > 80
    assert not {otherwise(one) for one in respelled} & set(CLAIMS)
    for identity in respelled:
        assert list(modules([otherwise(identity)])) == [identity]
    assert packproof.claims.autoscaling.theorem_3_7 is packproof.claims.autoscaling.thm_3_7
    assert packproof.claims.nonpreemptive.lem_6_1.id == "nonpreemptive/lemma-6.1"
    with pytest.raises(AttributeError, match="theorem_9_9"):
        _ = packproof.claims.autoscaling.theorem_9_9


def test_ids_papers_and_last_parts_are_names_of_claims() -> None:
    for paper in PAPERS:
        assert list(modules([paper])) == [one for one in CLAIMS if one.startswith(f"{paper}/")]
    for last in {one.partition("/")[2] for one in CLAIMS}:
        assert list(modules([last])) == [one for one in CLAIMS if one.endswith(f"/{last}")]
    assert list(modules(["theorem-1"], "ps-dsf")) == ["ps-dsf/theorem-1"]


def test_a_last_part_is_a_name_of_a_result_where_one_paper_has_it() -> None:
    times = Counter(one.partition("/")[2] for one in RESULTS)
    assert max(times.values()) > 1
    for last, number in times.items():
        every = [one for one in RESULTS if one.endswith(f"/{last}")]
        if number == 1:
            assert [one.id for one in reproductions([last])] == every
            continue
        with pytest.raises(InputError) as error:
            reproductions([last])
        asked = str(error.value).partition("did you mean ")[2].rstrip("?").replace(" or ", ", ")
        assert asked.split(", ") == every


def test_the_command_asks_which_figure_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "figure-2"]) == 2
    assert capsys.readouterr().err == (
        "RESULT: expected PAPER/RESULT of `packproof reproduce --list`, got 'figure-2'; "
        "did you mean autoscaling/figure-2, throughput/figure-2 or admission/figure-2?\n"
    )


def test_all_excuses_no_wrong_name() -> None:
    assert [one.id for one in reproductions(["all", "ps-dsf"])] == RESULTS
    with pytest.raises(InputError, match="got 'nothing'"):
        reproductions(["all", "nothing"])


@pytest.mark.parametrize("name", ["", "/", "thm-", "-3.7", "Theorem 3.7", "thm/3.7", "theorem-theorem-3.7"])
def test_what_only_resembles_a_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="CLAIM: expected a paper or an id"):
        modules([name])


def test_names_keep_the_order_of_the_ids() -> None:
    assert chosen(["b/x", "a"], ["a/x", "b/x", "a/y"], "N", "a name", ambiguous=True) == ("a/x", "b/x", "a/y")
