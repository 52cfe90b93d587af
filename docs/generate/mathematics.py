"""Formulas in the text of claims, set as mathematics: ``1 - (1 - 1/J)^J`` becomes ``$1 - (1 - 1/J)^{J}$``.

Claims are written for a terminal. A formula here is the longest expression of the grammar below that begins at a word
and has a sign of mathematics in it: a relation, an index, a power, a Greek letter, a norm, or a number at a letter. All
other text is left as it is.

    expression := term (operator term)*          operator := + - / . x = != < > <= >=
    term       := factor (space factor)*
    factor     := atom ("_" index | "^" power | "'" | "*" | "~")*
    atom       := number | number letter | digit ("," digit)+ | number ".." atom | letter | name of a letter
                | name of a function | "(" expression ("," expression)* ")" | letter "(" ... ")" | "1(" ... ")"
                | letter "[" expression ("|" expression)* "]" | "||" expression "||" | "|" expression "|"
"""

from __future__ import annotations

import re

from generate.text import plain

_LETTERS = "alpha|beta|gamma|delta|eta|kappa|lambda|mu|phi|psi|rho|sigma|tau|xi|epsilon|Psi"
GREEK = {name: rf"\{name}" for name in _LETTERS.split("|")} | {"eps": r"\varepsilon"}
FUNCTIONS = {name: rf"\{name}" for name in ("exp", "log", "min", "max", "sin", "tanh", "sum", "prod", "sqrt")}
OPERATORS = {"+": "+", "-": "-", "/": "/", ".": r"\cdot", "x": r"\times"}
RELATIONS = {"!=": r"\ne", "<=": r"\le", ">=": r"\ge", "<": r"\lt", ">": r"\gt", "=": "="}

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
_NAME = re.compile(rf"(?:{'|'.join(sorted([*GREEK, *FUNCTIONS], key=len, reverse=True))}|[A-Za-z])(?![A-Za-z0-9])")
_INDEX = re.compile(r"_(\w+)|_\{(\w(?:,\w)*)\}")
_POWER = re.compile(r"\^(-?(?:\d+(?:\.\d+)?(?:/\d+)?|[A-Za-z](?![A-Za-z])|kappa))(?:_(\w+))?")
_OPERATOR = re.compile(r"( ?)(!=|<=|>=|[-+/=<>])( ?)|( )([.x])( )(?=[\d(A-Z])")
_TIMES = re.compile(r" [x.] (?=[\d(A-Z])")
_BESIDE = re.compile(r"\)[(\d]")
_WORDS = re.compile(r"[aI](?= (?![-+/=<>])|[,;:.]|$)")
_NUMBERED = re.compile(r"\((?:\d+[a-z]?|[a-z])\)")
_BEGIN = re.compile(r"(?<![\w.^\-'`*/|])(?=[\w(|])")
_ENDS = re.compile(r"'s\b|(?![\w^`\[(~]|[.][\w.]|['\-/*]\w|[ ](?:[<>=]|!=))")
_SIGN = re.compile(r"[_^<>=|\[]|\\[a-zA-Z]{2}|\d/?[A-Za-z]")
_RANGE = re.compile(r"(\d+)\.\.(?=[\dA-Zn])")
_LIST = re.compile(r"\d(?:,\d)+(?!\d|,\d)")
_MULTIPLE = re.compile(r"\d+[A-Za-z](?!\w)")


def with_formulas(text: str) -> str:
    """Return text as Markdown in which formulas are mathematics, and everything else is shown as it is.

    Examples
    --------
    >>> with_formulas("at least 1 - (1 - 1/J)^J of it")
    'at least $1 - (1 - 1/J)^{J}$ of it'
    """
    text, parts, shown, at = " ".join(text.split()), list[str](), 0, 0
    while match := _BEGIN.search(text, at):
        at = match.end()
        formula, end = _longest(text, at)
        if end > at:
            parts += [plain_part(text[shown:at]), f"${formula}$"]
            shown = end
        # a word that begins no formula is passed as a whole
        at = max(end, at + 1)
    return "".join([*parts, plain_part(text[shown:])])


def plain_part(text: str) -> str:
    """Return a part of a text as `plain` does, with the blanks at its ends."""
    inner = text.strip()
    return text[: len(text) - len(text.lstrip())] + plain(inner) + text[len(text.rstrip()) :] if inner else text


def _longest(text: str, at: int) -> tuple[str, int]:
    """Return the longest formula that begins at a place, and its end; the place itself where there is none."""
    reader = _Reader(text)
    reader.expression(at)
    for formula, end in reversed(reader.complete):
        if _ENDS.match(text, end) and _SIGN.search(formula):
            return formula, end
    return "", at


Read = tuple[str, int] | None
"""LaTeX and the end of what was read, or nothing."""


class _Reader:
    """Reads the grammar of this module from a text; `complete` has each expression that could end outside brackets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 0
        self.complete: list[tuple[str, int]] = []

    def expression(self, at: int) -> Read:
        """Read terms with operators between them; a minus may come first."""
        sign = "-" if self.text.startswith("-", at) and self.depth else ""
        read = self.term(at + len(sign), sign)
        while read and (operator := _OPERATOR.match(self.text, read[1])):
            before, symbol, after = operator.groups()[:3] if operator[2] else operator.groups()[3:]
            if before != after and symbol != "/":
                break
            latex = RELATIONS.get(symbol) or OPERATORS[symbol]
            blank = " " if before or after or latex[0] == "\\" else ""
            sign = "-" if symbol in RELATIONS and self.text.startswith("-", operator.end()) else ""
            following = self.term(operator.end() + len(sign), f"{read[0]}{blank}{latex}{blank}{sign}")
            if following is None:
                break
            read = following
        return read

    def term(self, at: int, before: str) -> Read:
        """Read factors beside each other; `before` is the LaTeX of what stands before them."""
        read = self.factor(at)
        if read is None:
            return None
        latex, end = before + read[0], read[1]
        self._note(latex, end)
        while (close := bool(_BESIDE.match(self.text, end - 1))) or self.text.startswith(" ", end):
            following = None if _TIMES.match(self.text, end) else self.factor(end if close else end + 1)
            if following is None:
                break
            number = following[0][0].isdigit()
            if number and not close and latex[-1] not in "0123456789)":
                break  # two things: "with beta 0.98"
            latex, end = f"{latex} {chr(92)}{'cdot' if number else ','} {following[0]}", following[1]
            self._note(latex, end)
        return latex, end

    def _note(self, latex: str, end: int) -> None:
        if not self.depth:
            self.complete.append((latex, end))

    def factor(self, at: int) -> Read:
        """Read an atom with its indexes and powers; the words "a" and "I" and numbers of equations are none."""
        if (not self.depth and _WORDS.match(self.text, at)) or _NUMBERED.match(self.text, at):
            return None
        read = self.atom(at)
        if read is None:
            return None
        latex, end = read
        while True:
            if below := _INDEX.match(self.text, end):
                latex, end = f"{latex}_{{{_index(below[1] or below[2])}}}", below.end()
            elif power := _POWER.match(self.text, end):
                index = f"_{{{_index(power[2])}}}" if power[2] else ""
                latex, end = f"{latex}^{{{GREEK.get(power[1], power[1])}{index}}}", power.end()
            elif self.text.startswith("^(", end) and (inner := self.brackets(end + 1)):
                # x^(l) is one of several, with the brackets; a power needs none
                latex, end = f"{latex}^{{{inner[0] if len(inner[0]) == 3 else inner[0][1:-1]}}}", inner[1]
            elif self.text.startswith(("'", "*"), end) and not self.text[end + 1 : end + 2].isalnum():
                latex, end = latex + {"'": "'", "*": "^{*}"}[self.text[end]], end + 1
            elif self.text.startswith("~", end):
                latex, end = rf"\tilde{{{latex}}}", end + 1
            else:
                break
        return latex, end

    def atom(self, at: int) -> Read:
        """Read a number, a letter, a function of what follows, or an expression in brackets."""
        if self.text.startswith("(", at):
            inner = self.brackets(at)
            # "(N = 6)" is a remark
            return None if inner and re.search(r"[=<>]|\\[lg][te]\b", inner[0]) else inner
        for bar, latex in (("||", r"\lVert {} \rVert"), ("|", r"\lvert {} \rvert")):
            if self.text.startswith(bar, at):
                return self.enclosed(at + len(bar), bar, latex)
        if begin := _RANGE.match(self.text, at):
            last = self.factor(begin.end())
            return (rf"{begin[1]}, \dots, {last[0]}", last[1]) if last else None
        if (multiple := _MULTIPLE.match(self.text, at)) and (self.depth or multiple[0][-1].isupper()):
            return multiple[0], multiple.end()
        if self.text.startswith("1(", at) and (inner := self.brackets(at + 1)):
            return r"\mathbf{1}" + inner[0], inner[1]
        if several := _LIST.match(self.text, at):
            return several[0].replace(",", ", "), several.end()
        if number := _NUMBER.match(self.text, at):
            digits, _, exponent = number[0].partition("e")
            power = f"10^{{{exponent}}}"
            return (power if digits == "1" else rf"{digits} \cdot {power}") if exponent else digits, number.end()
        if not (name := _NAME.match(self.text, at)):
            return None
        if name[0] in FUNCTIONS:
            return self.function(name[0], name.end())
        latex, end = GREEK.get(name[0], name[0]), name.end()
        if self.text.startswith("(", end) and (inner := self.brackets(end)):
            return latex + inner[0], inner[1]
        if self.text.startswith("[", end) and (inner := self.enclosed(end + 1, "]", "[{}]", " | ")):
            return latex + inner[0], inner[1]
        return latex, end

    def function(self, name: str, end: int) -> Read:
        """Read a function with what it is applied to; alone it is a word."""
        latex = FUNCTIONS[name]
        if index := _INDEX.match(self.text, end):
            return f"{latex}_{{{_index(index[1] or index[2])}}}", index.end()
        if self.text.startswith("(", end) and (inner := self.brackets(end)):
            return f"{latex}{{{inner[0][1:-1]}}}" if name == "sqrt" else latex + inner[0], inner[1]
        following = self.factor(end + 1) if self.text.startswith(" ", end) else None
        return (f"{latex} {following[0]}", following[1]) if following else None

    def brackets(self, at: int) -> Read:
        """Read an expression in round brackets, or several with commas between them."""
        return self.enclosed(at + 1, ")", "({})", ", ")

    def enclosed(self, at: int, close: str, latex: str, between: str = "") -> Read:
        """Read an expression, or several with a sign between them, up to what closes them; put it into its LaTeX."""
        self.depth += 1
        inner = self.expression(at)
        while inner and between and self.text.startswith(between, inner[1]):
            following = self.expression(inner[1] + len(between))
            inner = (inner[0] + between.replace("|", r"\mid") + following[0], following[1]) if following else None
        self.depth -= 1
        if inner is None or not self.text.startswith(close, inner[1]):
            return None
        return latex.format(inner[0]), inner[1] + len(close)


def _index(index: str) -> str:
    if len(index) == 1 or index.isdigit() or "," in index:
        return index
    if index == "inf":
        return r"\infty"
    word = index.replace("_", r"\_")
    return GREEK.get(index, rf"\mathrm{{{word}}}")
