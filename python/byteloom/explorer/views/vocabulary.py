"""The tab Vocabulary: the tokens of a tokenizer, to search and to judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from byteloom import Vocabulary
from byteloom.explorer.session import ViewError, choice, integer, string

if TYPE_CHECKING:
    from collections.abc import Sequence

    from byteloom import Tokenizer
    from byteloom.explorer.session import NamedTokenizer, Session

__all__ = ["view", "warm"]

_PAGE = 40
_MAX_QUERY = 200
_LISTS = ("merged", "search", "longest", "kind", "used", "unused", "unreachable")


@dataclass(frozen=True)
class _Facts:
    """What a vocabulary is, whatever the text."""

    vocabulary: Vocabulary
    merged: list[Any]
    longest: list[Any]
    kinds: list[Any]
    lengths: list[list[int]]


def view(session: Session, request: dict[str, Any]) -> dict[str, Any]:
    r"""A list of tokens of the vocabulary, one page of it, with figures about the whole.

    Args:
        session: Holds the tokenizers.
        request: `text`, the sample for `"used"` and `"unused"`; `tokenizer`; `list`, one of `"merged"` (what
            merges made), `"search"`, `"longest"`, `"kind"`, `"used"`, `"unused"`, `"unreachable"`; `query`,
            what to search, with `by` saying what it is: `"text"`, `"hex"` (bytes such as `e2 98`) or `"id"`;
            `kind`, a script or what stands for one; `page`, from 0.

    Returns:
        The records; only `pending`, what is being done, while a large vocabulary is read.

    Raises:
        ViewError: a request that is not one.
    """
    named = session.tokenizer(request)
    text = session.text(request)
    what = choice(request, "list", _LISTS)
    page = integer(request, "page", 0, least=0, most=1 << 32)

    facts = _facts(session, named)
    if facts is None:
        return {"pending": f"The {named.tokenizer.vocab_size:,} tokens of {named.name} are being read …"}
    vocabulary = facts.vocabulary
    usage = session.remember(("usage", named.name, text), lambda: vocabulary.usage(text))
    found: Sequence[Any] | None
    kind = None
    if what == "merged":
        found = facts.merged
    elif what == "search":
        found = _search(session, named, vocabulary, request)
    elif what == "longest":
        found = facts.longest
    elif what == "kind":
        kind = string(request, "kind") or facts.kinds[0].script
        found = session.remember(("kind", named.name, kind), lambda: _of_kind(vocabulary, str(kind)))
    elif what == "used":
        found = sorted(usage.used, key=lambda used: (-used.count, used.id))
    elif what == "unused":
        found = usage.never
    else:
        found = session.facts(("unreachable", named.name), vocabulary.unreachable)
        if found is None:
            return {"pending": f"Every token of {named.name} is being encoded again …"}
    first = min(page, max(0, len(found) - 1) // _PAGE) * _PAGE
    return {
        "list": what,
        "kind": kind,
        "entries": [entry.to_dict() for entry in found[first : first + _PAGE]],
        "found": len(found),
        "first": first,
        "page_size": _PAGE,
        "size": len(vocabulary),
        "special": len(vocabulary) - usage.vocabulary,
        "merged": len(facts.merged),
        "lengths": facts.lengths,
        "kinds": [{"kind": row.script, "tokens": row.tokens, "share": row.share} for row in facts.kinds],
        "usage": {
            "tokens": usage.tokens,
            "vocabulary": usage.vocabulary,
            "used": len(usage.used),
            "never": len(usage.never),
            "share": usage.share,
        },
    }


def warm(session: Session) -> None:
    """Begin what the first look at the tab needs."""
    _facts(session, session.tokenizers[0])


def _facts(session: Session, named: NamedTokenizer) -> _Facts | None:
    return session.facts(("vocabulary", named.name), lambda: _read(named.tokenizer))


def _read(tok: Tokenizer) -> _Facts:
    vocabulary = Vocabulary(tok)
    ordinary = [entry for entry in vocabulary if not entry.special]
    in_bytes = tok.info()["alphabet"] == "bytes"

    def is_merged(entry: Any) -> bool:
        # Every longer token is two shorter ones, joined.
        return len(entry.bytes if in_bytes else entry.text or "") > 1

    return _Facts(
        vocabulary,
        merged=[entry for entry in ordinary if is_merged(entry)],
        longest=sorted(ordinary, key=lambda entry: (-len(entry.bytes), entry.bytes)),
        kinds=vocabulary.scripts(),
        lengths=[[length, count] for length, count in vocabulary.lengths().items()],
    )


def _of_kind(vocabulary: Vocabulary, kind: str) -> list[Any]:
    entries = [entry for entry in vocabulary if entry.script == kind]
    return sorted(entries, key=lambda entry: (-len(entry.bytes), entry.id))


def _search(
    session: Session, named: NamedTokenizer, vocabulary: Vocabulary, request: dict[str, Any]
) -> Sequence[Any]:
    query = string(request, "query", longest=_MAX_QUERY)
    by = choice(request, "by", ("text", "hex", "id"))
    if by == "id":
        if not query.strip():
            return list(vocabulary)
        if not (query.strip().isascii() and query.strip().isdigit()):
            raise ViewError("an id is a number of 0 or more")
        return [entry for entry in vocabulary if entry.id == int(query)]
    try:
        wanted = bytes.fromhex(query) if by == "hex" else query
    except ValueError:
        raise ViewError("bytes are pairs of hex digits, such as e2 98") from None
    return session.remember(("search", named.name, wanted), lambda: vocabulary.search(wanted))
