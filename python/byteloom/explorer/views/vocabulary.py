"""The tab Vocabulary: the tokens of a tokenizer, to search and to judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from byteloom import Vocabulary
from byteloom.explorer.session import ViewError, choice, integer, string

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from byteloom.explorer.session import Session

__all__ = ["view"]

T = TypeVar("T")

_PAGE = 40
_MAX_QUERY = 200
_LISTS = ("search", "longest", "script", "used", "unused", "unreachable")


def view(session: Session, request: dict[str, Any]) -> dict[str, Any]:
    r"""A list of tokens of the vocabulary, one page of it, with figures about the whole.

    Args:
        session: Holds the tokenizers.
        request: `text`, the sample for `"used"` and `"unused"`; `tokenizer`; `list`, one of `"search"`,
            `"longest"`, `"script"`, `"used"`, `"unused"`, `"unreachable"`; `query`, what to search, with `by`
            saying what it is: `"text"`, `"hex"` (bytes such as `e2 98`) or `"id"`; `script`; `page`, from 0.

    Raises:
        ViewError: a request that is not one.
    """
    named = session.tokenizer(request)
    text = session.text(request)
    kind = choice(request, "list", _LISTS)
    page = integer(request, "page", 0, least=0, most=1 << 32)

    def kept(what: str, make: Callable[[], T]) -> T:
        return session.remember(("vocabulary", what, named.name), make)

    vocabulary = kept("all", lambda: Vocabulary(named.tokenizer))
    scripts = kept("scripts", vocabulary.scripts)
    usage = kept(f"usage {text}", lambda: vocabulary.usage(text))
    found: Sequence[Any]
    script = None
    if kind == "search":
        found = _search(vocabulary, request)
    elif kind == "longest":
        found = kept("longest", lambda: vocabulary.longest(len(vocabulary)))
    elif kind == "script":
        script = string(request, "script") or scripts[0].script
        found = [entry for entry in vocabulary if entry.script == script]
        found = sorted(found, key=lambda entry: (-len(entry.bytes), entry.id))
    elif kind == "used":
        found = sorted(usage.used, key=lambda used: (-used.count, used.id))
    elif kind == "unused":
        found = usage.never
    else:
        found = kept("unreachable", vocabulary.unreachable)
    first = min(page, max(0, len(found) - 1) // _PAGE) * _PAGE
    return {
        "list": kind,
        "script": script,
        "entries": [entry.to_dict() for entry in found[first : first + _PAGE]],
        "found": len(found),
        "first": first,
        "page_size": _PAGE,
        "size": len(vocabulary),
        "special": len(vocabulary) - usage.vocabulary,
        "lengths": [[length, count] for length, count in kept("lengths", vocabulary.lengths).items()],
        "scripts": [{"script": row.script, "tokens": row.tokens, "share": row.share} for row in scripts],
        "usage": {
            "tokens": usage.tokens,
            "vocabulary": usage.vocabulary,
            "used": len(usage.used),
            "never": len(usage.never),
            "share": usage.share,
        },
    }


def _search(vocabulary: Vocabulary, request: dict[str, Any]) -> Sequence[Any]:
    query = string(request, "query", longest=_MAX_QUERY)
    by = choice(request, "by", ("text", "hex", "id"))
    if by == "text":
        return vocabulary.search(query)
    if by == "hex":
        try:
            return vocabulary.search(bytes.fromhex(query))
        except ValueError:
            raise ViewError("bytes are pairs of hex digits, such as e2 98") from None
    if not query.strip():
        return list(vocabulary)
    if not (query.strip().isascii() and query.strip().isdigit()):
        raise ViewError("an id is a number of 0 or more")
    wanted = int(query)
    return [entry for entry in vocabulary if entry.id == wanted]
