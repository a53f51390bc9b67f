"""`doctor`: what is wrong with a tokenizer, a tokenizer file or a pattern, and how to mend it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from ._doctor_files import FileReport, inspect
from ._doctor_patterns import pattern_findings
from ._finding import Finding
from ._native import pattern_names
from ._tokenizer import Tokenizer
from ._tokens import ordinary_tokens
from ._vocabulary import unreachable_tokens
from .errors import ByteloomError, FormatError

__all__ = ["Finding", "doctor"]

_SUFFIXES = (".json", ".tiktoken", ".model", ".txt", ".jinja")
_EXAMPLES = 5
_ORDER = {"error": 0, "warning": 1, "note": 2}


def doctor(
    target: Tokenizer | str | os.PathLike[str],
    *,
    pattern: str | None = None,
    embedding_rows: int | None = None,
) -> list[Finding]:
    """Look for what is wrong, and say how it can be mended.

    Args:
        target: A tokenizer; the path of a tokenizer file or of a folder as `transformers` saves it; or a
            pattern: the name of a built-in one, or a regex. A `str` that is no existing path and does not
            end like a tokenizer file is a pattern.
        pattern: The pattern of a file that holds none (`.tiktoken`).
        embedding_rows: How many rows the model's embedding has; in a folder, `config.json` says it.

    Returns:
        The findings, errors first. A file that does not load is an error among them.

    Raises:
        OSError: the path cannot be read.

    >>> import byteloom as bl
    >>> for finding in bl.doctor(r"[a-z]+|[0-9]+"):
    ...     print(finding.severity, finding.code)
    warning pattern-loses-text
    >>> tok = bl.Tokenizer.train("low lower", vocab_size=258, special_tokens=["end"])
    >>> [finding.code for finding in bl.doctor(tok, embedding_rows=256) if finding.severity != "note"]
    ['ids-beyond-embedding', 'special-is-a-word']
    """
    if isinstance(target, Tokenizer):
        findings = _tokenizer_findings(target, embedding_rows)
    elif not isinstance(target, str) or _is_path(target):
        findings = _file_findings(target, pattern, embedding_rows)
    else:
        findings = pattern_findings(target)
    return sorted(dict.fromkeys(findings), key=lambda finding: _ORDER[finding.severity])


def _is_path(target: str) -> bool:
    if target in pattern_names():
        return False
    try:
        return os.path.exists(target) or target.lower().endswith(_SUFFIXES)  # noqa: PTH110 - any string
    except ValueError:  # a NUL
        return False


def _file_findings(
    path: str | os.PathLike[str], pattern: str | None, embedding_rows: int | None
) -> list[Finding]:
    report: FileReport = inspect(path)
    findings = report.findings
    rows = report.embedding_rows if embedding_rows is None else embedding_rows
    try:
        tok = Tokenizer.load(path, pattern=pattern)
    except FormatError as error:
        if pattern is None and "holds no pattern" in str(error):
            message = f"{os.fspath(path)}: these ranks hold no pattern, so their tokens were not tried"
            mend = "name the pattern they were made with"
            return [*findings, Finding("warning", "no-pattern", message, mend)]
        return [*findings, _does_not_load(error)]
    except ByteloomError as error:
        return [*findings, _does_not_load(error)]
    return [*findings, *_tokenizer_findings(tok, rows)]


def _does_not_load(error: Exception) -> Finding:
    mend = "mend the part that the message names, or write the file again with the tool that made it"
    return Finding("error", "does-not-load", str(error), mend)


def _tokenizer_findings(tok: Tokenizer, embedding_rows: int | None) -> list[Finding]:
    tokens = list(ordinary_tokens(tok))
    in_bytes = tok.info().get("alphabet", "bytes") == "bytes"
    findings = [
        *_id_findings(tok, [id_ for id_, _ in tokens], embedding_rows),
        *_special_findings(tok.special_tokens),
        *_token_findings(tokens),
    ]
    if in_bytes:
        findings += _byte_findings({token for _, token in tokens})
        findings += _reach_findings(tok, tokens)
    if tok.pattern:
        findings += pattern_findings(tok.pattern_name or tok.pattern)
    return findings


def _id_findings(tok: Tokenizer, ordinary: list[int], embedding_rows: int | None) -> list[Finding]:
    findings = []
    known = {*ordinary, *tok.special_tokens.values()}
    holes = [id_ for id_ in range(tok.max_token_id + 1) if id_ not in known]
    if holes:
        message = f"{_count(holes, 'id')} below the largest stand for no token: {_ranges(holes)}"
        mend = (
            "size the embedding by the largest id + 1, not by the number of tokens; a model must never "
            "be allowed to emit these ids"
        )
        findings.append(Finding("note", "id-holes", message, mend))
    if embedding_rows is not None and tok.max_token_id >= embedding_rows:
        beyond = sorted(id_ for id_ in known if id_ >= embedding_rows)
        message = (
            f"{_count(beyond, 'id')} beyond the {embedding_rows:,} rows of the embedding: {_ranges(beyond)}"
        )
        mend = f"resize the embedding to at least {tok.max_token_id + 1:,} rows, or drop these tokens"
        findings.append(Finding("error", "ids-beyond-embedding", message, mend))
    return findings


def _special_findings(special: Iterable[str]) -> list[Finding]:
    findings = []
    tags = []
    for name in special:
        bare = name.strip()
        if not bare or re.fullmatch(r"[\w'-]+|[^\w\s]", bare):
            kind = "only whitespace" if not bare else "a plain word" if bare[0].isalnum() else "plain text"
            message = f"the special token {name!r} is {kind}, which ordinary text spells by chance"
            mend = "give it a spelling that texts do not hold, such as <|name|>"
            findings.append(Finding("warning", "special-is-a-word", message, mend))
        elif re.fullmatch(r"</?\w+/?>|\[/?\w+\]", bare):
            tags.append(name)
    if tags:
        message = f"ordinary text, such as HTML, may spell {_examples(tags)}"
        mend = (
            "encode text of others with encode_ordinary, or with disallowed_special='all', which refuses it"
        )
        findings.append(Finding("note", "special-is-a-tag", message, mend))
    return findings


def _token_findings(tokens: list[tuple[int, bytes]]) -> list[Finding]:
    findings = []
    first: dict[bytes, int] = {}
    twice = []
    for id_, token in tokens:
        if first.setdefault(token, id_) != id_:
            twice.append(f"{token!r} ({first[token]} and {id_})")
    if twice:
        message = f"{_count(twice, 'token')} have a second id that is never used: {_examples(twice)}"
        mend = "keep the id that encoding gives, and treat the other as a hole"
        findings.append(Finding("warning", "duplicate-tokens", message, mend))
    empty = [id_ for id_, token in tokens if not token]
    if empty:
        message = f"{_count(empty, 'id')} stand for nothing: {_ranges(empty)}"
        findings.append(Finding("warning", "empty-tokens", message, "remove them, or treat them as holes"))
    return findings


def _byte_findings(tokens: set[bytes]) -> list[Finding]:
    missing = [byte for byte in range(256) if bytes([byte]) not in tokens]
    if not missing:
        return []
    message = f"{_count(missing, 'byte')} have no token: {_ranges(missing)}"
    mend = "add a token for each byte, or text that holds them cannot be encoded"
    return [Finding("error", "bytes-missing", message, mend)]


def _reach_findings(tok: Tokenizer, tokens: list[tuple[int, bytes]]) -> list[Finding]:
    """Tokens that their own bytes do not give."""
    merged: list[str] = []
    split: list[str] = []
    for found in unreachable_tokens(tok, tokens):
        if found.reason != "duplicate":  # those have a finding of their own
            (merged if found.reason == "merges" else split).append(f"{found.id} {found.bytes!r}")
    findings = []
    if merged:
        message = f"{_count(merged, 'token')} cannot be reached: other merges come first: {_examples(merged)}"
        mend = "they are harmless, and waste a row of the embedding; a new vocabulary can do without them"
        findings.append(Finding("warning", "unreachable-tokens", message, mend))
    if split:
        message = (
            f"the pattern splits {_count(split, 'token')}, so that they hardly occur: {_examples(split)}"
        )
        mend = "make sure that this is the pattern that the vocabulary was trained with"
        findings.append(Finding("note", "tokens-the-pattern-splits", message, mend))
    return findings


# Words.


def _count(items: list[int] | list[str], noun: str) -> str:
    return f"{len(items):,} {noun}{'s' * (len(items) != 1)}"


def _examples(items: list[str]) -> str:
    more = len(items) - _EXAMPLES
    return ", ".join(items[:_EXAMPLES]) + (f" and {more:,} more" if more > 0 else "")


def _ranges(ids: list[int]) -> str:
    """Sorted numbers as ranges.

    >>> _ranges([1, 2, 3, 7])
    '1-3, 7'
    """
    runs: list[list[int]] = []
    for id_ in ids:
        if runs and runs[-1][1] == id_ - 1:
            runs[-1][1] = id_
        else:
            runs.append([id_, id_])
    return _examples([f"{first}-{last}" if first != last else f"{first}" for first, last in runs])
