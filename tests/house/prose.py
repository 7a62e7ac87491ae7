"""Measures of prose: vague pronouns per 1,000 words, and texts that begin with a question word."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.house.tree import Module

MAX_VAGUE_PER_1000_WORDS = 3.0
MAX_QUESTION_FIRST = 0.02

VAGUE = re.compile(r"\b(what|who|whose|whoever|whatever|somebody|nobody|everybody)\b", re.I)
QUESTION_FIRST = re.compile(r"(What|Whether|Who|Whose|How|Where|When|Why)\b", re.I)

_CODE = re.compile(r"```.*?```|`[^`\n]*`|^\|.*$", re.S | re.M)
_LEVELS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
_LOGGERS = {"log", "_log", "logger"}


@dataclass(frozen=True)
class Text:
    """One text and its place."""

    where: str
    words: str


def docstrings(module: Module) -> Iterator[Text]:
    """Yield the docstrings of a module, its classes and functions."""
    for node in module.walk():
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            text := ast.get_docstring(node)
        ):
            yield Text(f"{module.path}: {getattr(node, 'name', 'module')}", text)


def log_messages(module: Module) -> Iterator[Text]:
    """Yield the constant texts of log calls, also those that a name of the module stands for."""
    constants = {
        target.id: node.value.value
        for node in module.tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in module.walk():
        if isinstance(node, ast.Call) and _logs(node.func):
            for part in (piece for argument in node.args[:2] for piece in ast.walk(argument)):
                text = constants.get(part.id) if isinstance(part, ast.Name) else getattr(part, "value", None)
                if isinstance(text, str):
                    yield Text(f"{module.path}:{node.lineno}", text)


def _logs(called: ast.expr) -> bool:
    return (
        isinstance(called, ast.Attribute)
        and called.attr in _LEVELS
        and isinstance(called.value, ast.Name)
        and called.value.id in _LOGGERS
    )


def paragraphs(name: str, text: str) -> Iterator[Text]:
    """Yield the paragraphs of a document, without code and tables of names."""
    for paragraph in re.split(r"\n\s*\n", _CODE.sub("", text)):
        if words := paragraph.strip("#*- \n"):
            yield Text(name, words)


def faults(texts: Iterable[Text]) -> list[str]:
    """Return the vague and question-first texts where their share is over the bounds; empty where it is within."""
    every = list(texts)
    words = sum(len(text.words.split()) for text in every)
    vague = [text for text in every if VAGUE.search(text.words)]
    asking = [text for text in every if QUESTION_FIRST.match(text.words)]
    count = sum(len(VAGUE.findall(text.words)) for text in vague)
    found = [f"{t.where}: {t.words[:100]}" for t in vague] if count > MAX_VAGUE_PER_1000_WORDS * words / 1000 else []
    return found + (
        [f"{t.where}: {t.words[:100]}" for t in asking] if len(asking) > MAX_QUESTION_FIRST * len(every) else []
    )
