"""Tokenizers in the dress of other libraries; here what `Tokenizer.as_tiktoken` returns.

Thin views: they hold a tokenizer and nothing that can change, and each has its own library's defaults.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ._tokens import ordinary_tokens
from .errors import SpecialTokenError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._tokenizer import Tokenizer

__all__ = ["TiktokenAdapter", "View"]


class View:
    """A tokenizer and a name; equal, hashed and pickled by the two."""

    __slots__ = ("_tok", "name")

    _tok: Tokenizer
    name: str

    def __init__(self, tok: Tokenizer, name: str | None = None) -> None:
        object.__setattr__(self, "_tok", tok)
        object.__setattr__(self, "name", tok.pattern_name or "byteloom" if name is None else name)

    def __setattr__(self, attribute: str, value: object) -> NoReturn:
        message = (
            f"{type(self).__name__}.{attribute} cannot be set: the view is immutable; make a new tokenizer, "
            "such as with with_special_tokens(), and take its view"
        )
        raise AttributeError(message)

    def __delattr__(self, attribute: str) -> NoReturn:
        self.__setattr__(attribute, None)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, View) or type(self) is not type(other):
            return NotImplemented
        return self.name == other.name and self._tok == other._tok

    def __hash__(self) -> int:
        return hash((type(self), self.name, self._tok))

    def __reduce__(self) -> tuple[type[View], tuple[Tokenizer, str]]:
        return type(self), (self._tok, self.name)


class TiktokenAdapter(View):
    """The surface of `tiktoken.Encoding`.

    `encode_with_unstable` and the names with an underscore are left out.

    >>> import byteloom as bl
    >>> enc = bl.Tokenizer.train("low lower", vocab_size=259, special_tokens=["<|endoftext|>"]).as_tiktoken()
    >>> enc.encode("low<|endoftext|>", allowed_special="all"), enc.n_vocab
    ([257, 258], 259)
    """

    __slots__ = ()

    # Text to ids.

    def encode_ordinary(self, text: str) -> list[int]:
        """The ids of a text that is read as text only."""
        return self._tok.encode_ordinary(_text(text), errors="replace")

    def encode(
        self,
        text: str,
        *,
        allowed_special: str | Collection[str] = (),
        disallowed_special: str | Collection[str] = "all",
    ) -> list[int]:
        """The ids of a text; names that are no special token are ignored where they are allowed.

        Raises:
            ValueError: the text spells a disallowed special token.
        """
        allowed, checked = self._policy(text, allowed_special, disallowed_special)
        return self._tok.encode(text, allowed_special=allowed, disallowed_special=checked, errors="replace")

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: str | Collection[str] = (),
        disallowed_special: str | Collection[str] = "all",
    ) -> npt.NDArray[np.uint32]:
        """`encode` into an array of `uint32`."""
        allowed, checked = self._policy(text, allowed_special, disallowed_special)
        ids: npt.NDArray[Any] = self._tok.encode_array(
            text, allowed_special=allowed, disallowed_special=checked, errors="replace", dtype="uint32"
        )
        return ids

    def encode_ordinary_batch(self, text: Iterable[str], *, num_threads: int = 8) -> list[list[int]]:
        """`encode_ordinary` of many texts."""
        texts = [_text(one) for one in text]
        return self._tok.encode_batch(texts, disallowed_special=(), errors="replace", threads=num_threads)

    def encode_batch(
        self,
        text: Iterable[str],
        *,
        num_threads: int = 8,
        allowed_special: str | Collection[str] = (),
        disallowed_special: str | Collection[str] = "all",
    ) -> list[list[int]]:
        """`encode` of many texts."""
        texts = list(text)
        allowed: set[str] = set()
        checked: frozenset[str] = frozenset()
        for one in texts:
            allowed, checked = self._policy(one, allowed_special, disallowed_special)
        return self._tok.encode_batch(
            texts,
            allowed_special=allowed,
            disallowed_special=checked,
            errors="replace",
            threads=num_threads,
        )

    def _policy(
        self, text: str, allowed_special: str | Collection[str], disallowed_special: str | Collection[str]
    ) -> tuple[set[str], frozenset[str]]:
        """What the engine may take as special, and what it is left to refuse."""
        _text(text)
        special = self.special_tokens_set
        allowed = special if allowed_special == "all" else set(allowed_special)
        disallowed = frozenset(special - allowed if disallowed_special == "all" else disallowed_special)
        allowed &= special
        if not allowed and disallowed <= special:
            return allowed, disallowed
        # tiktoken searches the whole text first: inside allowed ones too, and for any string.
        found = _any_of(disallowed).search(text) if disallowed else None
        if found is not None:
            message = (
                f"the text spells the disallowed special token {found.group()!r} at character "
                f"{found.start()}. To encode it as that token, name it in allowed_special; to encode it as "
                "ordinary text, leave it out of disallowed_special, or pass disallowed_special=()"
            )
            raise SpecialTokenError(message)
        return allowed, frozenset()

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The id of one token, special or not.

        Raises:
            KeyError: there is no such token.
        """
        token = text_or_bytes.encode() if isinstance(text_or_bytes, str) else bytes(text_or_bytes)
        found = self._tok.token_to_id(token)
        if found is None:
            found = self._tok.special_tokens.get(token.decode("utf-8", "surrogateescape"))
        if found is None:
            raise KeyError(token)
        return found

    # Ids to text.

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """The text of ids. Unknown ids are a `KeyError`."""
        return self._tok.decode_bytes(tokens).decode("utf-8", errors)

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes of ids. Unknown ids are a `KeyError`."""
        return self._tok.decode_bytes(tokens)

    def decode_batch(
        self, batch: Iterable[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """`decode` of many."""
        if errors == "replace":
            return self._tok.decode_batch(batch, threads=num_threads)
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(
        self,
        batch: Iterable[Sequence[int]],
        *,
        num_threads: int = 8,  # noqa: ARG002 - accepted; one call costs less than a thread
    ) -> list[bytes]:
        """`decode_bytes` of many."""
        return [self._tok.decode_bytes(tokens) for tokens in batch]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """The text of ids, and the index of the character in which each token begins.

        Raises:
            UnicodeDecodeError: the ids are not whole characters.

        >>> import byteloom as bl
        >>> bl.Tokenizer.train("low low", vocab_size=258).as_tiktoken().decode_with_offsets([257, 49])
        ('low1', [0, 3])
        """
        pieces = self.decode_tokens_bytes(tokens)
        text = b"".join(pieces).decode("utf-8")
        offsets: list[int] = []
        begun = 0  # characters that have begun before this token
        for piece in pieces:
            offsets.append(max(0, begun - _is_continuation(piece[0])))
            begun += sum(not _is_continuation(byte) for byte in piece)
        return text, offsets

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one token; an unknown id is a `KeyError`."""
        return self._tok.id_to_bytes(token)

    def decode_tokens_bytes(self, tokens: Iterable[int]) -> list[bytes]:
        """The bytes of each token."""
        return [self._tok.id_to_bytes(token) for token in tokens]

    # Look-ups.

    def token_byte_values(self) -> list[bytes]:
        """The bytes of all tokens that are not special, sorted."""
        return sorted(token for _, token in ordinary_tokens(self._tok))

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`; `KeyError` if there is none."""
        return self._tok.special_tokens["<|endoftext|>"]

    @property
    def special_tokens_set(self) -> set[str]:
        """The names of all special tokens."""
        return set(self._tok.special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Whether an id stands for a special token."""
        return token in self._tok.special_tokens.values()

    @property
    def max_token_value(self) -> int:
        """The largest id."""
        return self._tok.max_token_id

    @property
    def n_vocab(self) -> int:
        """`max_token_value + 1`: holes count, as in tiktoken."""
        return self._tok.max_token_id + 1

    def __getattr__(self, attribute: str) -> NoReturn:
        message = f"{type(self).__name__} has no attribute {attribute!r}"
        if attribute == "encode_with_unstable":
            message += ": tiktoken calls it unstable itself, and byteloom leaves it out"
        raise AttributeError(message)


@functools.lru_cache(maxsize=128)
def _any_of(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(name) for name in sorted(names)))


def _text(text: str) -> str:
    if not isinstance(text, str):
        message = f"text must be str, as tiktoken has it, not {type(text).__name__}"
        raise TypeError(message)
    return text


def _is_continuation(byte: int) -> bool:
    return 0x80 <= byte < 0xC0  # noqa: PLR2004
