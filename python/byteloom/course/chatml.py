"""ChatML with the names of the third course, on `byteloom.chat`.

The course's tokenizers have no control tokens in their vocabulary. Their ids are the next free ones,
`len(tok.vocab)` and the one after it, and the vocabulary stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sized
from itertools import groupby
from typing import Protocol

from byteloom import ChatError, Tokenizer, chat

from .engine import text_of

__all__ = [
    "CHAT_TOKENS",
    "ChatTokenizer",
    "chat_token_ids",
    "chatml_segments",
    "encode_chat",
    "render_chatml",
    "split_on_special",
]

CHAT_TOKENS: list[str] = list(chat.FORMATS["chatml"].control_tokens)
"""The control tokens that begin and end a turn."""


class ChatTokenizer(Protocol):
    """What a tokenizer of the course has, as far as chats need it."""

    @property
    def vocab(self) -> Sized:
        """Its tokens, with the ids `0` to `len(vocab) - 1`."""

    def encode(self, text: str, /) -> list[int]:
        """The ids of a text in which nothing is special."""


def render_chatml(messages: chat.Messages, add_generation_prompt: bool = False) -> str:
    """A conversation as text.

    Args:
        messages: Mappings with the strings `role` and `content`.
        add_generation_prompt: End with an open turn of the assistant.

    Raises:
        ChatError: a message that is not one, with its index and key.

    >>> print(render_chatml([{"role": "user", "content": "What is 2+2?"}], add_generation_prompt=True))
    <|im_start|>user
    What is 2+2?<|im_end|>
    <|im_start|>assistant
    <BLANKLINE>
    """
    return chat.render(messages, add_generation_prompt=add_generation_prompt)


def chatml_segments(messages: chat.Messages, add_generation_prompt: bool = False) -> list[tuple[str, str]]:
    r"""What a conversation consists of, as pairs of kind and text.

    The kinds are `control`, `role` and `text`; the texts joined are the rendered text.
    `byteloom.chat.segments` says more of each.

    Args:
        messages: Mappings with the strings `role` and `content`.
        add_generation_prompt: End with an open turn of the assistant.

    Raises:
        ChatError: a message that is not one, with its index and key.

    >>> chatml_segments([{"role": "user", "content": "hi"}])[:3]
    [('control', '<|im_start|>'), ('role', 'user'), ('text', '\nhi')]
    """
    found = chat.segments(messages, add_generation_prompt=add_generation_prompt)
    return [
        (kind, "".join(segment.text for segment in group))
        for kind, group in groupby(found, key=lambda segment: segment.kind)
    ]


def chat_token_ids(tok: ChatTokenizer | Tokenizer) -> dict[str, int]:
    """The ids of the control tokens: the first ones past the vocabulary.

    A `byteloom.Tokenizer` has them among its special tokens, and those are given.

    Raises:
        ChatError: a `byteloom.Tokenizer` without them.
        TypeError: a tokenizer of another kind.
    """
    if isinstance(tok, Tokenizer):
        return chat.control_ids(tok)
    if not (hasattr(tok, "vocab") and hasattr(tok, "encode")):
        raise TypeError(
            "tok must be a BPETokenizer or ByteLevelBPETokenizer of the course, or a byteloom.Tokenizer, "
            f"not {type(tok).__name__}"
        )
    return {token: len(tok.vocab) + place for place, token in enumerate(CHAT_TOKENS)}


def encode_chat(
    tok: ChatTokenizer | Tokenizer, messages: chat.Messages, add_generation_prompt: bool = False
) -> list[int]:
    """A conversation as ids: a control token is one id, the rest is encoded by `tok`.

    Only the structure makes control ids: a content that spells `<|im_end|>` stays text. Role, line end and
    content of a turn are encoded in one piece.

    Args:
        tok: A tokenizer of the course, or a `byteloom.Tokenizer` that has the control tokens.
        messages: Mappings with the strings `role` and `content`.
        add_generation_prompt: End with an open turn of the assistant.

    Raises:
        ChatError: a message that is not one, with its index and key; a tokenizer without the control tokens,
            or whose own ids reach into theirs.
        TypeError: a tokenizer of another kind.
    """
    if isinstance(tok, Tokenizer):
        return chat.encode(tok, messages, add_generation_prompt=add_generation_prompt).ids
    control = chat_token_ids(tok)
    found = chatml_segments(messages, add_generation_prompt)
    ids: list[int] = []
    for is_control, group in groupby(found, key=lambda pair: pair[0] == "control"):
        texts = [text for _, text in group]
        if is_control:
            ids += [control[text] for text in texts]
            continue
        run = tok.encode("".join(texts))
        if not set(control.values()).isdisjoint(run):
            raise ChatError("the ids of the tokenizer reach past the length of its vocabulary")
        ids += run
    return ids


def split_on_special(text: str, specials: Iterable[str] = CHAT_TOKENS) -> list[str]:
    r"""The pieces of a text, with each special token a piece of its own.

    Joined they are the text; none is empty. Where one special token begins another, the longer one is taken.

    Args:
        text: Any text.
        specials: The special tokens.

    Raises:
        ChatError: an empty special token.
        TypeError: `text` is no `str`, or `specials` no sequence of strings.

    >>> split_on_special("<|im_start|>user\nhi<|im_end|>\n")
    ['<|im_start|>', 'user\nhi', '<|im_end|>', '\n']
    """
    text = text_of(text)
    if isinstance(specials, str):
        raise TypeError(f"specials must be a list of strings, such as [{specials!r}], not a string")
    names = [text_of(name, f"specials[{index}]") for index, name in enumerate(specials)]
    longest_first = sorted(names, key=len, reverse=True)
    if "" in longest_first:
        raise ChatError("a special token is empty")
    if not longest_first:
        return [text] if text else []
    special = f"({'|'.join(map(re.escape, longest_first))})"
    return [piece for piece in re.split(special, text) if piece]
