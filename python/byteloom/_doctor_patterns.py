"""What the doctor says of patterns."""

from __future__ import annotations

import importlib
import random
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from ._finding import Finding
from ._hard_texts import HARD_TEXTS, fuzzed_text, shrunk
from ._reference import installed
from ._tokenizer import Tokenizer
from .errors import PatternError

__all__ = ["pattern_findings"]

_FUZZED = 300

Matches = Callable[[str], "list[tuple[int, int]]"]


def pattern_findings(pattern: str) -> list[Finding]:
    """What can be said of a pattern: the name of a built-in one, or a regex.

    >>> [finding.code for finding in pattern_findings("(")]
    ['pattern-invalid']
    """
    ranks = {bytes([byte]): byte for byte in range(256)}
    try:
        tok = Tokenizer.from_tiktoken(ranks, pattern=pattern)
    except PatternError as error:
        mend = "mend the regex; the syntax is that of Rust's regex crate, with look-around"
        return [Finding("error", "pattern-invalid", str(error), mend)]
    known = tok.pattern_name is not None
    regex = tok.pattern
    engines = dict(_engines(regex))
    findings = [] if known else list(_cost(tok, regex))
    findings += _loss(engines)
    for name, matches in engines.items():
        if matches is not None:
            findings += _difference(tok, name, matches, known=known)
        elif name != "Python's re":  # which knows neither \p{…} nor much else
            message = f"the pattern does not compile in {name}"
            mend = f"do not hand the pattern to tools that use {name}, or spell it in a simpler way"
            findings.append(Finding("note", "pattern-not-everywhere", message, mend))
    return findings


def _cost(tok: Tokenizer, regex: str) -> Iterator[Finding]:
    backtracks = tok.info()["pattern_engine"] not in ("scanner", "regex")
    if backtracks:
        message = (
            "the pattern needs a backtracking engine (for look-around, back-references, or possessive or "
            "atomic parts), so its time is not bounded by the length of the text"
        )
        mend = "use a built-in pattern, or one without these; encoding ends in PatternError at a step limit"
        yield Finding("warning", "pattern-backtracks", message, mend)
    nested = nested_quantifier(regex)
    if nested is not None:
        message = f"a repeat within a repeat, {nested!r}, takes exponential time in engines that backtrack"
        mend = "make the inner or the outer one possessive, or repeat a class of characters once"
        yield Finding("warning" if backtracks else "note", "pattern-nested-repeats", message, mend)


def nested_quantifier(regex: str) -> str | None:
    r"""The first group that is repeated without limit and holds a part that is, or `None`.

    >>> nested_quantifier(r"(?:\w+\s?)+|x")
    '(?:\\w+\\s?)+'
    >>> nested_quantifier(r"(?:\w+)++|\w+[a+]*|(?:ab)+") is None
    True
    """
    begins: list[int] = []
    unbounded = [False]  # whether the group at each depth holds an endless repeat
    token = re.compile(
        r"\\[pPxuU]\{[^}]*\}|\\.|\[(?:\^?\]|\[:\w+:\]|\\.|[^\]\\])*\]|\(\?>|\(\?[a-zA-Z-]*[:=!]|\(\?<[=!]|\(|\)|[*+]"
        r"|\{\d+,\}|.",
        re.DOTALL,
    )
    place = 0
    while place < len(regex):
        found = token.match(regex, place)
        if found is None:
            break
        part, place = found.group(), found.end()
        if part.startswith("("):
            begins.append(found.start())
            unbounded.append(False)
        elif part == ")" and begins:
            begin, inner = begins.pop(), unbounded.pop()
            repeat = re.compile(r"(?:[*+]|\{\d+,\})(\+?)").match(regex, place)
            atomic = regex.startswith("(?>", begin)
            if repeat is None:
                unbounded[-1] |= inner and not atomic
                continue
            place = repeat.end()
            if inner and not atomic and not repeat.group(1):
                return regex[begin:place]
            unbounded[-1] |= not repeat.group(1)
        elif part in ("*", "+") or (part.startswith("{") and len(part) > 1):
            if regex.startswith("+", place):
                place += 1  # possessive: gives nothing back
            else:
                unbounded[-1] = True
    return None


# Other engines.


def _engines(regex: str) -> Iterator[tuple[str, Matches | None]]:
    """The matches of each engine that is installed; `None` where the pattern does not compile."""
    yield "Python's re", _python("re", regex)
    if installed("regex"):
        yield "Python's regex", _python("regex", regex)
    if installed("tokenizers"):
        yield "Oniguruma (Hugging Face tokenizers)", _oniguruma(regex)


def _python(module: str, regex: str) -> Matches | None:
    library: Any = importlib.import_module(module)
    try:
        compiled = library.compile(regex)
    except (library.error, OverflowError, RecursionError):
        return None
    return lambda text: [match.span() for match in compiled.finditer(text) if match.group()]


def _oniguruma(regex: str) -> Matches | None:
    tokenizers: Any = importlib.import_module("tokenizers")
    try:
        compiled = tokenizers.Regex(regex)
    except Exception:  # noqa: BLE001 - the library raises nothing narrower
        return None
    split = tokenizers.pre_tokenizers.Split(compiled, "removed", invert=True)
    return lambda text: [span for piece, span in split.pre_tokenize_str(text) if piece]


def _texts() -> Iterator[str]:
    yield from HARD_TEXTS
    chance = random.Random(0)  # noqa: S311 - no secrets here
    for _ in range(_FUZZED):
        yield fuzzed_text(chance, any_character=False)


def _gaps(text: str, matches: Matches) -> list[str]:
    """What is left between the matches."""
    gaps = []
    end = 0
    for begin, next_end in [*matches(text), (len(text), len(text))]:
        gaps.append(text[end:begin])
        end = next_end
    return [gap for gap in gaps if gap]


def _pieces(text: str, matches: Matches) -> list[str]:
    """The text, cut where a match begins or ends."""
    spans = matches(text)
    cuts = sorted({0, len(text), *(place for span in spans for place in span)})
    return [text[begin:end] for begin, end in pairwise(cuts)]


def _loss(engines: dict[str, Matches | None]) -> Iterator[Finding]:
    for name, matches in reversed(engines.items()):
        if matches is None:
            continue
        for text in _texts():
            if _gaps(text, matches):
                small = shrunk(text, lambda text, matches=matches: bool(_gaps(text, matches)))  # type: ignore[misc]
                message = (
                    f"the pattern matches no part of {small!r} ({name}): byteloom makes such text pre-tokens "
                    "of its own, other tools lose it"
                )
                mend = r"add an alternative for what is left at the end of the pattern, such as |[\s\S]"
                yield Finding("warning", "pattern-loses-text", message, mend)
                return
        return  # one engine is enough; that they differ is said elsewhere


def _difference(tok: Tokenizer, name: str, matches: Matches, *, known: bool) -> Iterator[Finding]:
    def differs(text: str) -> bool:
        return tok.pretokens(text) != _pieces(text, matches)

    for text in _texts():
        if differs(text):
            small = shrunk(text, differs)
            message = (
                f"{name} reads the pattern in another way: {small!r} is {tok.pretokens(small)} here and "
                f"{_pieces(small, matches)} there"
            )
            mend = (
                "do not copy the regex by hand: saving to a format spells it for the engine of that format"
                if known
                else "do not copy the regex as it is to a tool with that engine; spell out what differs"
            )
            yield Finding("note" if known else "warning", "pattern-means-something-else", message, mend)
            return
