"""Measures of the source that the house keeps: lines, comments, names that point, long functions, changed packages."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

POINTING = frozenset(["found", "made", "one", "given", "left", "known", "held", "whole", "mine"])
"""Words that point at a value and do not say what it is."""

DIRECTIVES = ("# noqa", "# type:", "# fmt:", "# pragma")
"""How comments begin that are for tools."""


@dataclass(frozen=True)
class Source:
    """A file of Python, read once."""

    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All parts of the tree."""
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[ast.FunctionDef]:
        return [node for node in self.nodes if isinstance(node, ast.FunctionDef)]

    @cached_property
    def _tokens(self) -> list[tokenize.TokenInfo]:
        return list(tokenize.generate_tokens(io.StringIO(self.text).readline))

    @cached_property
    def comments(self) -> set[int]:
        """Lines with a comment for people; directives of tools do not count."""
        return {
            token.start[0]
            for token in self._tokens
            if token.type == tokenize.COMMENT and not token.string.startswith(DIRECTIVES)
        }

    @cached_property
    def code(self) -> set[int]:
        """Lines with code: neither blank, nor only a comment, nor of a docstring."""
        layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
        lines: set[int] = set()
        for token in self._tokens:
            if token.type not in layout:
                lines.update(range(token.start[0], token.end[0] + 1))
        return lines - self._docstrings

    @cached_property
    def _docstrings(self) -> set[int]:
        """Lines of texts that are statements of their own: docstrings, and those of constants."""
        lines: set[int] = set()
        for node in self.nodes:
            text = node.value if isinstance(node, ast.Expr) else None
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        return lines

    def length(self, function: ast.FunctionDef) -> int:
        """Lines of code of a function."""
        return sum(function.lineno <= line <= (function.end_lineno or 0) for line in self.code)

    @cached_property
    def assigned(self) -> list[str]:
        """Names that single assignments ``name = ...`` give a value."""
        targets = [
            node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else node.target
            for node in self.nodes
            if (isinstance(node, ast.Assign) and len(node.targets) == 1) or isinstance(node, ast.AnnAssign)
        ]
        return [target.id for target in targets if isinstance(target, ast.Name)]

    def switches_on_dimensions(self) -> Iterator[int]:
        """Yield lines where a number of dimensions decides what happens."""
        for node in self.nodes:
            if isinstance(node, ast.If | ast.IfExp | ast.While) and any(
                isinstance(part, ast.Attribute) and part.attr == "ndim" for part in ast.walk(node.test)
            ):
                yield node.lineno

    def changes_of_packages(self, packages: frozenset[str]) -> Iterator[str]:
        """Yield assignments to attributes of what was imported from the given packages."""
        foreign: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Import):
                foreign |= {
                    (alias.asname or alias.name).partition(".")[0]
                    for alias in node.names
                    if alias.name.partition(".")[0] in packages
                }
            elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in packages:
                foreign |= {alias.asname or alias.name for alias in node.names}
        for node in self.nodes:
            targets = (
                node.targets
                if isinstance(node, ast.Assign)
                else [node.target]
                if isinstance(node, ast.AugAssign | ast.AnnAssign)
                else []
            )
            for target in targets:
                root: ast.expr = target
                while isinstance(root, ast.Attribute | ast.Subscript):
                    root = root.value
                if root is not target and isinstance(root, ast.Name) and root.id in foreign:
                    yield f"{self.path.name} {ast.unparse(target)}"
