"""The tab Chat: a conversation as text, segments, ids and loss mask, and the attack that fails on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from byteloom import chat
from byteloom.errors import ByteloomError
from byteloom.explorer.session import ViewError, choice, flag

if TYPE_CHECKING:
    from byteloom import Tokenizer
    from byteloom.explorer.session import Session

__all__ = ["view"]

_MAX_MESSAGES = 100
# Tokens that are sent to be drawn; the figures are of all.
_MAX_TOKENS = 600
_MAX_TEXT = 20_000
_MAX_SEGMENT = 600


def view(session: Session, request: dict[str, Any]) -> dict[str, Any]:
    """A conversation in a chat format, encoded by structure, and the same text encoded the careless way.

    Args:
        session: Holds the tokenizers.
        request: `tokenizer`; `messages`, a list of `{"role", "content"}`; `format`, a name of `FORMATS`;
            the switches `prompt` (generation prompt), `continue` (last turn left open) and `add` (give the
            tokenizer the control tokens that it lacks).

    Raises:
        ViewError: a request that is not one, or a conversation that the format does not take.
    """
    messages = _messages(request.get("messages", []))
    form = chat.FORMATS[choice(request, "format", list(chat.FORMATS))]
    named = session.tokenizer(request)
    tok = named.tokenizer
    missing = [token for token in form.control_tokens if token not in tok.special_tokens]
    records: dict[str, Any] = {
        "format": form.to_dict(),
        "formats": list(chat.FORMATS),
        "control_tokens": list(form.control_tokens),
        "missing": missing,
        "added": [],
        "encoding": None,
        "naive": None,
    }
    options: dict[str, Any] = {
        "format": form,
        "add_generation_prompt": flag(request, "prompt"),
        "continue_final_message": flag(request, "continue"),
    }
    try:
        found = chat.segments(messages, **options)
        records["text"] = "".join(segment.text for segment in found)[:_MAX_TEXT]
        if missing:
            if not flag(request, "add"):
                return records
            tok = session.remember(
                ("chat", named.name, form.name), lambda: named.tokenizer.with_special_tokens(missing)
            )
            records["added"] = [{"token": token, "id": tok.special_tokens[token]} for token in missing]
        records.update(_encoded(tok, chat.encode(tok, messages, **options), form))
    except ByteloomError as error:
        raise ViewError(str(error)) from None
    return records


def _encoded(tok: Tokenizer, encoding: chat.ChatEncoding, form: chat.ChatFormat) -> dict[str, Any]:
    text = encoding.text
    control = {tok.special_tokens[token] for token in form.control_tokens}
    careless = tok.encode(text, allowed_special=set(form.control_tokens), disallowed_special=())
    same = careless == encoding.ids
    kinds = [segment.text for segment in encoding.segments if segment.kind == "control"]
    starts, ends = kinds.count(form.start), kinds.count(form.end)
    return {
        "encoding": {
            "tokens": _tokens(tok, encoding.ids, control, encoding.mask),
            "count": len(encoding),
            "trained": sum(encoding.mask),
            "characters": len(text),
            "segments": [_segment(segment) for segment in encoding.segments],
            "control": {
                "all": sum(id_ in control for id_ in encoding.ids),
                "closed_turns": ends,
                "open_turns": starts - ends,
                "bos": len(kinds) - starts - ends,
            },
            "round_trip": tok.decode(encoding.ids) == text,
        },
        "naive": {
            "tokens": [] if same else _tokens(tok, careless, control),
            "count": len(careless),
            "control": sum(id_ in control for id_ in careless),
            "same": same,
        },
    }


def _tokens(
    tok: Tokenizer, ids: list[int], control: set[int], mask: list[int] | None = None
) -> list[dict[str, Any]]:
    return [
        {
            "id": id_,
            "bytes": tok.id_to_bytes(id_).hex(),
            "control": id_ in control,
            "trained": bool(mask[place]) if mask else False,
        }
        for place, id_ in enumerate(ids[:_MAX_TOKENS])
    ]


def _segment(segment: chat.Segment) -> dict[str, Any]:
    return {**segment._asdict(), "text": segment.text[:_MAX_SEGMENT], "characters": len(segment.text)}


def _messages(given: object) -> list[dict[str, str]]:
    if not isinstance(given, list) or len(given) > _MAX_MESSAGES:
        raise ViewError(f"messages must be a list of at most {_MAX_MESSAGES} messages")
    for index, message in enumerate(given):
        if not isinstance(message, dict) or message.keys() != {"role", "content"}:
            raise ViewError(f"message {index} must have a role and a content, and nothing else")
        if not all(isinstance(part, str) for part in message.values()):
            raise ViewError(f"message {index}: role and content must be strings")
    return given
