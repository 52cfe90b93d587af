"""What the checker reads and prints: JSON, exact numbers, names, files, arguments, and the limits that it states."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

from bounds import checker
from tests.checker.corpus import CERTIFICATES, Document, changed, refusal, signed

ONE = CERTIFICATES["assignment, one pool"]


def test_the_limits_are_as_published() -> None:
    assert checker.FORMAT == "packproof/2"
    assert (checker.SECONDS, checker.MEMORY) == (60, 10**9)
    assert (checker.MAX_BYTES, checker.MAX_DIGITS, checker.MAX_LENGTH) == (2**24, 4000, 10**5)
    assert (checker.MAX_BITS, checker.MAX_CELLS, checker.MAX_TABLE) == (10**6, 4 * 10**7, 2 * 10**8)
    assert (checker.MAX_STATES, checker.MAX_SIMPLICES, checker.MAX_PIVOTS) == (10**7, 10**5, 50)


def test_a_certificate_is_a_table_with_a_format() -> None:
    assert checker.load('{"format": "packproof/2", "a": [1, "x", null, true]}')["a"] == [1, "x", None, True]
    assert checker.load(json.dumps(ONE)) == ONE
    for text in (
        "[]",
        "{}",
        '"packproof/2"',
        '{"format": "packproof/1"}',
        '{"format": "packproof/3"}',
        '{"format": 1}',
    ):
        assert refusal(lambda text=text: checker.load(text), checker.Unreadable).startswith("expected a certificate")
    for text in ("", "{", "[" * 100_000, "nul", "{'a': 1}"):
        assert "not well-formed JSON: " in refusal(lambda text=text: checker.load(text), checker.Unreadable)


def test_numbers_in_json_are_whole() -> None:
    for literal in ("1.5", "1e3", "NaN", "Infinity", "-Infinity", "1." + "5" * 60):
        text = f'{{"format": "packproof/2", "n": {literal}}}'
        assert refusal(lambda text=text: checker.load(text)) == f"the number {literal[:40]} is not exact text"
    text = '{{"format": "packproof/2", "n": {}}}'
    longest = "9" * checker.MAX_DIGITS
    assert checker.load(text.format(longest))["n"] == 10**checker.MAX_DIGITS - 1
    reason = refusal(lambda: checker.load(text.format(longest + "9")), checker.Unreadable)
    assert reason == "a whole number has more than 4,000 digits"


def test_a_key_that_stands_twice() -> None:
    text = '{"format": "packproof/2", "x": {"a": 1, "a": 1}}'
    assert refusal(lambda: checker.load(text)) == "a key stands twice in one object"


def test_the_fault_of_a_text_is_told_in_short_and_on_one_line() -> None:
    original = checker.json.loads

    def fails(*_: Any, **__: Any) -> Any:
        raise ValueError("x\n  y" + "z" * 300)

    checker.json.loads = fails  # type: ignore[assignment]
    try:
        reason = refusal(lambda: checker.load(""), checker.Unreadable)
    finally:
        checker.json.loads = original
    assert reason == "not well-formed JSON: x y" + "z" * 197


def test_the_digest_is_that_of_the_text_without_it() -> None:
    document: Document = {"b": "é", "a": [1, {"d": None, "c": True}], "digest": "?"}
    text = '{"a":[1,{"c":true,"d":null}],"b":"é"}'
    assert checker.digest(document) == hashlib.sha256(text.encode()).hexdigest()
    assert "no digest" in refusal(lambda: checker.digest({"a": "\ud800"}))
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert "no digest" in refusal(lambda: checker.digest({"a": deep}))


def test_a_digest_of_another_document_is_refused() -> None:
    for other in ("", None, 0, "0" * 64, ONE["digest"].upper(), ONE["digest"][:-1]):
        reason = refusal(lambda other=other: checker.check({**ONE, "digest": other}))
        assert reason == "the digest does not belong to the document"


def test_exact_numbers_have_one_form() -> None:
    def read(value: Any, least: int | None = None) -> Fraction:
        return checker.rational(value, "it", least=least)

    for text in ("0", "7", "-7", "1/2", "-10/3", "10/7", "9" * 9000, "-" + "1" * 4001 + "/" + "1" + "0" * 4001):
        above, _, below = text.partition("/")
        exact = Fraction(long_int(above), long_int(below or "1"))
        assert read(text) == exact
        assert type(read(text)) is Fraction
    for text in (
        "+1",
        "1 ",
        " 1",
        "",
        "-",
        "/",
        "1/",
        "/2",
        "1/2/3",
        "1.0",
        "1e2",
        "0x1",
        "1\n",
        "--1",
        "1/-2",
        "٣",
        "½",
    ):
        assert refusal(lambda text=text: read(text)) == "it is no exact number"
    for value in (1, None, True, 1.0, ["1"], {}, b"1"):
        assert refusal(lambda value=value: read(value)) == "it is no exact number"
    for text in ("00", "01", "1/02", "2/4", "4/2", "3/1", "0/1", "0/2", "-0", "-01", "-2/4", "01/2", "-0/5"):
        assert refusal(lambda text=text: read(text)) == "it is not in lowest terms"
    for text in ("1/0", "0/0", "1/00"):
        assert refusal(lambda text=text: read(text)) == "it has a zero denominator"
    assert read("1" * checker.MAX_LENGTH) > 0
    assert refusal(lambda: read("1" * (checker.MAX_LENGTH + 1))) == "it is no exact number"
    assert (read("0", 0), read("-1", -1), read("1/2", 0)) == (0, -1, Fraction(1, 2))
    for text, least in (("-1/2", 0), ("-1", 0), ("1/2", 1)):
        assert refusal(lambda text=text, least=least: read(text, least)) == f"it is less than {least}"


def long_int(text: str) -> int:
    """Return the number of a numeral of any length: digit by digit in blocks of a hundred."""
    sign, result = (-1, 0) if text[0] == "-" else (1, 0)
    text = text.lstrip("-")
    start = len(text) % 100
    for block in (text[:start], *(text[i : i + 100] for i in range(start, len(text), 100))):
        result = result * 10 ** len(block) + int(block or "0")
    return sign * result


def test_long_numerals_are_read_in_parts() -> None:
    for length in (1, 3999, 4000, 4001, 8000, 8001, 12_345):
        text = ("123456789" * 1400)[:length]
        assert checker.digits(text) == long_int(text)


def test_whole_numbers_names_lists_and_tables() -> None:
    assert (checker.whole(0, "it"), checker.whole(7, "it")) == (0, 7)
    for value in (-1, True, False, "1", 1.0, None, [1]):
        assert refusal(lambda value=value: checker.whole(value, "it")) == "it is no whole number"
    assert checker.name_of("a b", "it") == "a b"
    for value in ("", None, 1, ["a"]):
        assert refusal(lambda value=value: checker.name_of(value, "it")) == "it is no name"
    assert checker.items([1, 2], "it") == [1, 2]
    for value in ((1,), {}, "ab", None):
        assert refusal(lambda value=value: checker.items(value, "it")) == "it is no list"
    assert checker.fields({"b": 1, "a": None}, "it", "a", "b", optional=["c"]) == [None, 1, None]
    assert checker.fields({"c": 2, "a": 0}, "it", "a", optional=["c"]) == [0, 2]
    for value in ({"a": 1}, {"a": 1, "b": 2, "d": 3}, {}, {"b": 1, "c": 2}):
        reason = refusal(lambda value=value: checker.fields(value, "it", "a", "b", optional=["c"]))
        assert reason == "it does not have the fields a, b"
    for value in (["a", "b"], None, "ab", {"a", "b"}):
        assert refusal(lambda value=value: checker.fields(value, "it", "a", "b")) == "it is no table"


def test_there_is_one_format_and_there_are_eight_kinds() -> None:
    for name, document in CERTIFICATES.items():
        assert document["format"] == "packproof/2", name
        for form in ("packproof/1", "packproof/3", None, 2):
            reason = refusal(lambda form=form, document=document: checker.check(changed(document, (("format",), form))))
            assert reason == "the format is unknown"
    for kind in ("x", None, [], {}, 3, "Region"):
        reason = refusal(lambda kind=kind: checker.check(changed(ONE, (("kind",), kind))))
        assert reason == "the kind of certificate is unknown"
    for key in ONE:
        reason = refusal(lambda key=key: checker.check({k: v for k, v in ONE.items() if k != key}))
        assert reason.startswith("the document does not have the fields format, kind, instance")
    assert refusal(lambda: checker.check({**ONE, "more": 1})).startswith("the document does not have")


def test_a_stage_lists_every_type_that_it_exhausts() -> None:
    for document in CERTIFICATES.values():
        if document["kind"] == "assignment" and (stages := document["evidence"]["stages"]):
            ends = [next(iter(stage["exhausts"]), None) for stage in stages]  # the name of one, in place of a list
            other = [{**stage, "exhausts": end} for stage, end in zip(stages, ends, strict=True)]
            reason = refusal(
                lambda document=document, other=other: checker.check(changed(document, (("evidence", "stages"), other)))
            )
            assert "exhaust" in reason


def test_the_claims_are_returned() -> None:
    assert checker.check(ONE) == ONE["claims"]


def status(*arguments: str) -> tuple[int, str, str]:
    """Return the exit status of the checker, and what it prints."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = checker.main(arguments)
    return code, out.getvalue(), err.getvalue()


def test_the_command() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.json"
        path.write_text(json.dumps(ONE))
        code, out, err = status(str(path))
        assert (code, err) == (0, "")
        assert out == (
            "valid: greedy 3/2, guarantee 3/4, guarantee_stagewise 3/4, optimal 2, ratio 3/4, servers.greedy 15, "
            "servers.least 10, servers.most 10, servers.servers 10\n"
        )
        for arguments in ((str(path), "--seconds", "1"), ("--seconds", "9999999", str(path))):
            assert status(*arguments) == (0, out, "")
        for number in ("0", "01", "-1", "x", "1.5", "", "1" + "0" * 7, "1 "):
            reason = "--seconds: expected a whole number from 1 to 9,999,999\n"
            assert status(str(path), "--seconds", number) == (2, "", reason)
        usage = "usage: checker.py CERTIFICATE.json [--seconds S]\n"
        wrong = ((), (str(path), str(path)), (str(path), "--seconds"), ("--seconds", "7"), ("--verbose",), ("-",))
        for arguments in wrong:
            assert status(*arguments) == (2, "", usage)
        for arguments in (("--help",), ("-h",), (str(path), "--help")):
            code, out, err = status(*arguments)
            assert (code, err) == (0, "")
            assert out.startswith(f"{usage}\n")
            assert "--seconds S" in out.removeprefix(usage)
        path.write_text(json.dumps({**ONE, "digest": "x"}))
        assert status(str(path)) == (1, "refused: the digest does not belong to the document\n", "")
        path.write_text("{}")
        code, out, err = status(str(path))
        assert (code, out) == (2, "")
        assert err == f"{path}: expected a certificate with format packproof/2\n"
        code, out, err = status(str(path) + "\n")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"{path}\\n: ")


def test_a_fault_of_the_checker_is_told_in_short() -> None:
    original = checker.KINDS["region"]

    def fails(*_: Any) -> None:
        raise KeyError("a\nb" + "c" * 2000)

    checker.KINDS["region"] = fails
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "c.json"
            document = {"format": "packproof/2", "kind": "region", "instance": 0, "evidence": 0, "claims": {}}
            path.write_text(json.dumps(signed(document)))
            code, out, err = status(str(path))
    finally:
        checker.KINDS["region"] = original
    assert (code, out, len(err)) == (70, "", 1001)
    assert err.startswith(f"{path}: no verdict, the checker failed: KeyError('a\\nbccc")


def test_a_file_is_text_in_utf8_of_limited_length() -> None:
    limit = checker.MAX_BYTES
    try:
        checker.MAX_BYTES = 10
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "c.json"
            for content in (b"", b"0123456789", "\ufeffäbc".encode()):
                path.write_bytes(content)
                assert checker.read(str(path)) == content.decode("utf-8-sig")
            path.write_bytes(b"0123456789a")
            assert refusal(lambda: checker.read(str(path)), checker.Unreadable) == too_long(11, 10)
            path.write_bytes(b"ab\xff")
            assert refusal(lambda: checker.read(str(path)), checker.Unreadable) == "not UTF-8 text (byte 2)"
    finally:
        checker.MAX_BYTES = limit


def too_long(length: int, most: int = 2**24) -> str:
    """Return how the checker says that a document is too long."""
    return f"{length:,} bytes: beyond the {most:,} that this checker decides, which does not refute it"


def test_the_length_of_a_document_is_looked_at_before_it_is_parsed() -> None:
    longest = json.dumps(ONE).ljust(checker.MAX_BYTES)  # blanks are part of the text that is read
    load = checker.load
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.json"
        path.write_text(longest)
        assert status(str(path))[0] == 0
        path.write_text(longest + " ")
        checker.load = lambda _: {}["parsed"]
        try:
            assert status(str(path)) == (2, "", f"{path}: {too_long(checker.MAX_BYTES + 1)}\n")
        finally:
            checker.load = load
        with path.open("r+b") as stream:
            stream.truncate(10**9)
        assert status(str(path)) == (2, "", f"{path}: {too_long(10**9)}\n")


def test_what_is_printed_cannot_move_the_cursor() -> None:
    assert checker.printable("a\nb\x1b[2K\u202eä ") == "a\\nb\\x1b[2K\\u202eä "
    claims = {"b": {"d": "x\ny", "c": 3}, "a": [1, 2], "e": None, "f": True}
    assert checker.shown(claims) == ["a 2 of them", "b.c 3", "b.d x\\ny", "e null", "f true"]


def test_no_name_imitates_what_stands_around_it() -> None:
    for plain in ("ann", "m5.large", "a_b-c+d/e", "Ärzte", "7", "_", "名前"):
        assert checker.quoted(plain) == plain
    for name in ("ann 4, bob", "a:b", "a,b", 'a"b', "a'b", "-", ".", "+ 3 b", "a=b", "\t", "e\u0301", "a\u00a0b"):
        assert checker.quoted(name) == json.dumps(name, ensure_ascii=False)
    claims = {"tasks": {"ann 4, tasks.bob": "1", "k\n": [0], "\u202e": 2, ".": 3}}
    assert checker.shown(claims) == [
        'tasks."." 3',
        'tasks."ann 4, tasks.bob" 1',
        'tasks."k\\n" 1 of them',
        'tasks."\\u202e" 2',
    ]
    reason = refusal(lambda: checker.fields({}, "it", "a, b", "c"))
    assert reason == 'it does not have the fields "a, b", c'
