"""Conversations as text and as token ids: ChatML and its variants.

Messages become typed segments (`segments`), and segments become text (`render`) or ids (`encode`). Control
ids come from the structure alone: a content that spells `<|im_end|>` stays text. The role, the line end
behind it and the content of a turn are encoded in one piece, so that the ids are those of the rendered text
wherever no control token is typed into it.

>>> from byteloom import chat
>>> talk = [{"role": "user", "content": "What is 2+2?"}]
>>> print(chat.render(talk, add_generation_prompt=True))
<|im_start|>user
What is 2+2?<|im_end|>
<|im_start|>assistant
<BLANKLINE>
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ._chat_format import FORMATS, ChatFormat, role_name, surrogate_fault
from ._tokenizer import Tokenizer
from .errors import ChatError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "FORMATS",
    "ChatEncoding",
    "ChatFormat",
    "Messages",
    "PaddedChat",
    "Segment",
    "control_ids",
    "encode",
    "encode_batch",
    "pad",
    "render",
    "segments",
]

Messages = Iterable[Mapping[str, object]]
"""A conversation: mappings with the keys `role` and `content`, both strings."""

_KEYS = ("role", "content")


class Segment(NamedTuple):
    """A part of a rendered conversation.

    The texts of all segments, joined, are the rendered text.
    """

    kind: Literal["control", "role", "text"]
    """A control token; the name of a role; or other text: contents and the line ends around them."""
    text: str
    """What it is in the rendered text."""
    message: int | None
    """Index of its message; `None` for what the format adds."""
    trained: bool
    """Whether a model learns to write it: an assistant's content, and the control token that closes it."""
    content: bool
    """Whether it is the content of its message, which may be empty. Every turn has exactly one."""
    span: tuple[int, int]
    """First character in the rendered text, and one past its last."""
    tokens: tuple[int, int] | None = None
    """The same in tokens: those that hold a byte of it. A token that holds bytes of two segments is in both.
    `None` before encoding."""


@dataclass(frozen=True)
class ChatEncoding:
    """The ids of a conversation, and what they stand for.

    >>> import byteloom as bl
    >>> tok = bl.Tokenizer.train("hi there", vocab_size=256)
    >>> tok = tok.with_special_tokens(["<|im_start|>", "<|im_end|>"])
    >>> found = encode(tok, [{"role": "assistant", "content": "hi"}])
    >>> found.ids
    [256, 97, 115, 115, 105, 115, 116, 97, 110, 116, 10, 104, 105, 257, 10]
    >>> found.mask
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0]
    >>> [(segment.text, segment.tokens) for segment in found.segments if segment.content]
    [('hi', (11, 13))]
    """

    ids: list[int]
    """Token ids."""
    mask: list[int]
    """For each token 1 if a model is trained on it and 0 otherwise. A token is trained if it holds a byte of
    an assistant's content, or closes that turn."""
    segments: list[Segment]
    """What the conversation consists of, with `span` in characters and `tokens` in tokens."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def text(self) -> str:
        """The rendered text of the whole conversation."""
        return "".join(segment.text for segment in self.segments)

    def truncated(self, max_length: int, *, side: Literal["right", "left"] = "right") -> ChatEncoding:
        """At most `max_length` tokens, with the mask and the spans of these.

        Args:
            max_length: Tokens to keep.
            side: Where tokens are cut away: `"right"` keeps the first, `"left"` the last ones.

        Raises:
            ValueError: a negative `max_length`, or another `side`.
            TypeError: a `max_length` that is no integer.
        """
        if not hasattr(max_length, "__index__"):
            raise TypeError(f"max_length must be an integer, not {type(max_length).__name__}")
        if max_length < 0:
            raise ValueError(f"max_length must be 0 or more, not {max_length}")
        if side not in ("right", "left"):
            raise ValueError(f"side must be 'right' or 'left', not {side!r}")
        kept = min(max_length, len(self.ids))
        first = 0 if side == "right" else len(self.ids) - kept

        def moved(segment: Segment) -> Segment:
            begin, end = segment.tokens or (0, 0)
            places = (min(max(begin - first, 0), kept), min(max(end - first, 0), kept))
            return segment._replace(tokens=places)

        cut = [moved(segment) for segment in self.segments]
        return ChatEncoding(self.ids[first : first + kept], self.mask[first : first + kept], cut)

    def labels(self, ignore_index: int = -100) -> list[int]:
        """The ids where a model is trained, and `ignore_index` elsewhere, as loss functions take them."""
        return [id_ if on else ignore_index for id_, on in zip(self.ids, self.mask, strict=True)]

    def arrays(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.bool_]]:
        """`ids` as uint32 and `mask` as bool, both of shape `(len(self),)`."""
        import numpy as np  # noqa: PLC0415 - keeps the import light

        return np.array(self.ids, dtype=np.uint32), np.array(self.mask, dtype=np.bool_)

    def _repr_html_(self) -> str:
        from . import render  # noqa: PLC0415 - only a notebook asks

        return render.html(self)

    def to_dict(self) -> dict[str, Any]:
        """All of it as values of JSON: `text`, `ids`, `mask`, `segments`."""
        return {
            "text": self.text,
            "ids": list(self.ids),
            "mask": list(self.mask),
            "segments": [segment._asdict() for segment in self.segments],
        }


class PaddedChat(NamedTuple):
    """Conversations as a rectangle: three arrays of shape `(rows, width)`."""

    ids: npt.NDArray[np.uint32]
    """Token ids, uint32, filled up with the pad id."""
    mask: npt.NDArray[np.bool_]
    """True where `ids` holds a token, False where it is padding: the attention mask."""
    trained: npt.NDArray[np.bool_]
    """True where a model is trained: the loss mask."""


def segments(
    messages: Messages,
    *,
    format: str | ChatFormat = "chatml",  # noqa: A002 - the word of the field
    add_generation_prompt: bool = False,
    continue_final_message: bool = False,
) -> list[Segment]:
    r"""What a conversation consists of, in the order of the text.

    Args:
        messages: Mappings with the strings `role` and `content`. They are read once and not changed.
        format: A name of `FORMATS`, or a format of your own.
        add_generation_prompt: End with an open turn of the assistant, for a model to fill.
        continue_final_message: Leave the last turn open, for a model to go on with.

    Returns:
        The segments in order. Joined, their texts are the rendered text.

    Raises:
        ChatError: a message that is not one, with its index and key; a role that the format does not have or
            that holds a line break or control token; a key other than `role` and `content` whose value is not
            `None`, since it would be lost; both options, which contradict each other.

    >>> for found in segments([{"role": "user", "content": "hi"}]):
    ...     print(found.kind, repr(found.text), found.span)
    control '<|im_start|>' (0, 12)
    role 'user' (12, 16)
    text '\n' (16, 17)
    text 'hi' (17, 19)
    control '<|im_end|>' (19, 29)
    text '\n' (29, 30)
    """
    return _segments(messages, _format(format), add_generation_prompt, continue_final_message)


def render(
    messages: Messages,
    *,
    format: str | ChatFormat = "chatml",  # noqa: A002 - the word of the field
    add_generation_prompt: bool = False,
    continue_final_message: bool = False,
) -> str:
    r"""A conversation as text.

    Contents stand in the text as they are. So a content that spells a control token cannot be told from
    structure there: to feed a model, take the ids of `encode` rather than those of this text.

    Args:
        messages: The conversation, as for `segments`.
        format: A name of `FORMATS`, or a format of your own.
        add_generation_prompt: End with an open turn of the assistant.
        continue_final_message: Leave the last turn open.

    Raises:
        ChatError: as for `segments`.

    >>> render([{"role": "user", "content": "hi"}], format="qwen2")
    '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n'
    """
    found = _segments(messages, _format(format), add_generation_prompt, continue_final_message)
    return "".join(segment.text for segment in found)


def control_ids(
    tok: Tokenizer,
    *,
    format: str | ChatFormat = "chatml",  # noqa: A002 - the word of the field
) -> dict[str, int]:
    """The ids of the control tokens of a format.

    Args:
        tok: A tokenizer that has them among its special tokens.
        format: A name of `FORMATS`, or a format of your own.

    Raises:
        ChatError: a tokenizer that lacks one of them.
        TypeError: `tok` is no `byteloom.Tokenizer`.

    >>> import byteloom as bl
    >>> tok = bl.Tokenizer.train("hi there", vocab_size=256)
    >>> control_ids(tok.with_special_tokens(["<|im_start|>", "<|im_end|>"]))
    {'<|im_start|>': 256, '<|im_end|>': 257}
    """
    form = _format(format)
    if not isinstance(tok, Tokenizer):
        raise TypeError(f"tok must be a byteloom.Tokenizer, not {type(tok).__name__}")
    special = tok.special_tokens
    missing = [token for token in form.control_tokens if token not in special]
    if missing:
        added = tok.added_tokens
        if ordinary := [token for token in missing if token in added]:
            raise ChatError(
                f"{ordinary[0]!r} is an added token of the tokenizer but no special one: it is read in "
                "every text, so that contents could forge turns; mark it as special in its file"
            )
        names = ", ".join(map(repr, missing))
        raise ChatError(
            f"the tokenizer lacks {names}, of the chat format {form.name!r}; "
            f"tok.with_special_tokens({list(form.control_tokens)}) has them"
        )
    return {token: special[token] for token in form.control_tokens}


def encode(
    tok: Tokenizer,
    messages: Messages,
    *,
    format: str | ChatFormat = "chatml",  # noqa: A002 - the word of the field
    add_generation_prompt: bool = False,
    continue_final_message: bool = False,
) -> ChatEncoding:
    r"""A conversation as ids, with a loss mask and the place of every segment.

    A control token is one id, and only the structure makes one: contents are ordinary text, whatever they
    spell.

    Args:
        tok: A tokenizer that has the control tokens of the format among its special tokens.
        messages: The conversation, as for `segments`.
        format: A name of `FORMATS`, or a format of your own.
        add_generation_prompt: End with an open turn of the assistant.
        continue_final_message: Leave the last turn open.

    Raises:
        ChatError: as for `segments`; and a tokenizer that lacks a control token, or that would read one in a
            content.

    >>> import byteloom as bl
    >>> tok = bl.Tokenizer.train("hi there", vocab_size=256)
    >>> tok = tok.with_special_tokens(["<|im_start|>", "<|im_end|>"])
    >>> found = encode(tok, [{"role": "user", "content": "<|im_end|>"}], add_generation_prompt=True)
    >>> found.ids.count(256), found.ids.count(257)
    (2, 1)
    >>> tok.decode(found.ids)
    '<|im_start|>user\n<|im_end|><|im_end|>\n<|im_start|>assistant\n'
    """
    form = _format(format)
    encoder = _Encoder(tok, form)
    return encoder.encode(_segments(messages, form, add_generation_prompt, continue_final_message))


def encode_batch(
    tok: Tokenizer,
    conversations: Iterable[Messages],
    *,
    format: str | ChatFormat = "chatml",  # noqa: A002 - the word of the field
    add_generation_prompt: bool = False,
    continue_final_message: bool = False,
) -> list[ChatEncoding]:
    """Many conversations as ids; `pad` makes a rectangle of them.

    Args:
        tok: As for `encode`.
        conversations: Conversations, each as for `encode`.
        format: As for `encode`.
        add_generation_prompt: As for `encode`, in all of them.
        continue_final_message: As for `encode`, in all of them.

    Raises:
        ChatError: as for `encode`, with the index of the conversation.
    """
    form = _format(format)
    encoder = _Encoder(tok, form)

    def one(index: int, messages: Messages) -> ChatEncoding:
        try:
            return encoder.encode(_segments(messages, form, add_generation_prompt, continue_final_message))
        except (ChatError, TypeError) as error:
            raise type(error)(f"conversation {index}: {error}") from None

    return [one(index, messages) for index, messages in enumerate(conversations)]


def pad(
    encodings: Iterable[ChatEncoding],
    pad_id: int,
    *,
    max_length: int | None = None,
    side: Literal["right", "left"] = "right",
) -> PaddedChat:
    """Conversations as a rectangle of ids, with the attention mask and the loss mask.

    Args:
        encodings: What `encode` or `encode_batch` gave.
        pad_id: The id that fills short rows.
        max_length: Width in tokens; longer rows keep their first ones. The longest row by default.
        side: Where the padding stands.

    Raises:
        TypeError: an encoding that is none, with its index.
        ValueError: a `pad_id` or `max_length` out of its range, or another `side`.

    >>> import byteloom as bl
    >>> tok = bl.Tokenizer.train("hi there", vocab_size=256)
    >>> tok = tok.with_special_tokens(["<|im_start|>", "<|im_end|>", "<|pad|>"])
    >>> talks = [[{"role": "assistant", "content": text}] for text in ("hi", "")]
    >>> rows = pad(encode_batch(tok, talks), pad_id=258)
    >>> rows.ids[:, 10:].tolist()
    [[10, 104, 105, 257, 10], [10, 257, 10, 258, 258]]
    >>> rows.trained[:, 10:].astype(int).tolist()
    [[0, 1, 1, 1, 0], [0, 1, 0, 0, 0]]
    """
    import numpy as np  # noqa: PLC0415 - keeps the import light

    from ._ragged import Ragged  # noqa: PLC0415

    rows = list(encodings)
    for index, row in enumerate(rows):
        if not isinstance(row, ChatEncoding):
            raise TypeError(f"encodings[{index}] must be a ChatEncoding, not {type(row).__name__}")
    ids, mask = Ragged.from_rows([row.ids for row in rows]).to_padded(pad_id, max_length, side=side)
    trained = Ragged.from_rows([row.mask for row in rows]).to_padded(0, max_length, side=side).ids
    return PaddedChat(ids.astype(np.uint32, copy=False), mask, trained.astype(np.bool_))


# Structure


def _segments(
    messages: Messages, form: ChatFormat, add_generation_prompt: bool, continue_final_message: bool
) -> list[Segment]:
    if add_generation_prompt and continue_final_message:
        raise ChatError(
            "add_generation_prompt opens a new turn and continue_final_message leaves the last one open; "
            "choose one of them"
        )
    turns: list[tuple[int | None, str, str]] = _checked(messages, form)
    if continue_final_message and not turns:
        raise ChatError("continue_final_message needs a message to continue, and there is none")
    if form.default_system is not None and turns and turns[0][1] != form.system:
        turns.insert(0, (None, form.system, form.default_system))

    found: list[Segment] = []
    place = 0

    def add(
        kind: Literal["control", "role", "text"],
        text: str,
        message: int | None = None,
        *,
        trained: bool = False,
        content: bool = False,
    ) -> None:
        nonlocal place
        found.append(Segment(kind, text, message, trained, content, (place, place + len(text))))
        place += len(text)

    def open_turn(role: str, message: int | None = None) -> None:
        add("control", form.start, message)
        add("role", role, message)
        add("text", form.role_end, message)

    if form.bos is not None:
        add("control", form.bos)
    for count, (index, role, content) in enumerate(turns, 1):
        trained = role == form.assistant and index is not None
        open_turn(role, index)
        add("text", content, index, trained=trained, content=True)
        if continue_final_message and count == len(turns):
            break
        add("control", form.end, index, trained=trained)
        if form.turn_end:
            add("text", form.turn_end, index)
    if add_generation_prompt:
        open_turn(form.assistant)
    return found


def _format(given: str | ChatFormat) -> ChatFormat:
    if isinstance(given, ChatFormat):
        return given
    if not isinstance(given, str):
        raise TypeError(f"format must be a name or a ChatFormat, not {type(given).__name__}")
    if given not in FORMATS:
        raise ChatError(f"there is no chat format {given!r}; there are {', '.join(FORMATS)}")
    return FORMATS[given]


def _checked(messages: Messages, form: ChatFormat) -> list[tuple[int | None, str, str]]:
    """Index, name of the role, and content of each message."""
    if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Iterable):
        kind = type(messages).__name__
        raise TypeError(f"messages must be a list of mappings with 'role' and 'content', not {kind}")
    turns: list[tuple[int | None, str, str]] = []
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping):
            kind = type(message).__name__
            raise ChatError(f"message {index} must be a mapping with 'role' and 'content', not {kind}")
        role, content = (_string(message, key, index) for key in _KEYS)
        for key, value in message.items():
            if key not in _KEYS and value is not None:
                raise ChatError(
                    f"message {index} has the key {key!r}, which the format has no place for; "
                    "leave it out, or put it into the content"
                )
        try:
            name = role_name(form, role)
        except ValueError as error:
            raise ChatError(f"message {index}: 'role' {role!r} {error}") from None
        turns.append((index, name, content))
    return turns


def _string(message: Mapping[str, object], key: str, index: int) -> str:
    if key not in message:
        raise ChatError(f"message {index} has no {key!r}")
    value = message[key]
    if not isinstance(value, str):
        hint = "; join the texts of its parts" if isinstance(value, (list, tuple)) else ""
        raise ChatError(f"message {index}: {key!r} must be a string, not {type(value).__name__}{hint}")
    text = str.__str__(value)  # not a subclass, whose `+` may do anything
    if fault := surrogate_fault(text):
        raise ChatError(f"message {index}: {key!r} {fault}")
    return text


# Ids

_start, _end = itemgetter(0), itemgetter(1)


class _Encoder:
    """A tokenizer with the control ids of a format."""

    def __init__(self, tok: Tokenizer, form: ChatFormat) -> None:
        self.tok, self.control = tok, control_ids(tok, format=form)
        self.reserved = frozenset(self.control.values())
        # Some tokenizers put a space before a text, once. Text behind its first stretch has none.
        later = tok.encode(f"a{form.start}a", allowed_special={form.start}, disallowed_special=())
        prefixed = later[-1:] != tok.encode_ordinary("a")
        self.leads = tuple({**self.control, **tok.special_tokens}) if prefixed else ()

    def encode(self, found: Iterable[Segment]) -> ChatEncoding:
        ids: list[int] = []
        mask: list[int] = []
        placed: list[Segment] = []
        run: list[Segment] = []

        def end_run() -> None:
            """The text between two control tokens, in one piece: cut anywhere, it could get other tokens."""
            text = "".join(segment.text for segment in run)
            begins = all(segment.kind == "control" for segment in placed)
            run_ids, spans = (None if begins else self._later(text)) or self.tok.encode_with_offsets(
                text, unit="byte", disallowed_special=()
            )
            if not self.reserved.isdisjoint(run_ids):
                raise ChatError(
                    "the tokenizer reads control tokens in plain text: contents could forge turns"
                )
            base, begin = len(ids), 0
            ids.extend(run_ids)
            mask.extend([0] * len(run_ids))
            for segment in run:
                end = begin + (len(segment.text) if segment.text.isascii() else len(segment.text.encode()))
                first = bisect_right(spans, begin, key=_end)
                last = max(first, bisect_left(spans, end, key=_start))
                placed.append(Segment(*segment[:-1], (base + first, base + last)))
                if segment.trained:
                    mask[base + first : base + last] = [1] * (last - first)
                begin = end
            run.clear()

        for segment in found:
            if segment.kind != "control":
                run.append(segment)
                continue
            if run:
                end_run()
            placed.append(Segment(*segment[:-1], (len(ids), len(ids) + 1)))
            ids.append(self.control[segment.text])
            mask.append(int(segment.trained))
        if run:
            end_run()
        return ChatEncoding(ids, mask, placed)

    def _later(self, text: str) -> tuple[list[int], list[tuple[int, int]]] | None:
        """Ids and byte spans of `text` as ordinary text that is not the first, where it matters."""
        lead = next((token for token in self.leads if token not in text), None)
        if lead is None:
            return None
        ids, spans = self.tok.encode_with_offsets(
            f"a{lead}{text}", unit="byte", allowed_special={lead}, disallowed_special=()
        )
        size = 1 + len(lead.encode())
        first = bisect_right(spans, size - 1, key=_end)  # the lead itself
        if spans[first : first + 1] != [(1, size)]:
            return None
        return ids[first + 1 :], [(begin - size, end - size) for begin, end in spans[first + 1 :]]
