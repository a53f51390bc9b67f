"""The third course, module 03: tokenizers of characters and of bytes, pre-tokens, chats, patches.

Everything the module names is here:

- `CharTokenizer`: two look-up tables, a token for each character;
- `BPETokenizer`: byte-pair encoding over characters, with `<UNK>`;
- `ByteLevelBPETokenizer`: the same over bytes, where nothing is unknown; `bytes_to_unicode`,
  `demonstrate_byte_level`;
- `gpt2_pretokenize`: where merges stop;
- `count_pairs`, `merge`: the two moves of training on a plain list;
- `SPECIAL_TOKENS`: the first four ids of every tokenizer;
- `render_chatml`, `encode_chat` and what belongs to them: chats as text and as ids (the file `chatml`);
- `ByteEntropyModel`, `byte_entropy` and the functions of patches (the file `blt`).

>>> from byteloom.course.module03 import ByteLevelBPETokenizer
>>> tok = ByteLevelBPETokenizer(vocab_size=400)
>>> stats = tok.train("the code returns hello world " * 20, show_progress=False)
>>> tok.decode(tok.encode("café ☕"))
'café ☕'
"""

from __future__ import annotations

from collections.abc import Iterable

import byteloom as bl

from .blt import (
    ByteEntropyModel,
    average_patch_size,
    byte_entropy,
    patch_boundaries_global,
    patch_boundaries_monotonic,
    patches_from_boundaries,
    relative_global_compute,
)
from .bpe import SPECIAL_TOKENS, BPETokenizer, ByteLevelBPETokenizer
from .chatml import (
    CHAT_TOKENS,
    chat_token_ids,
    chatml_segments,
    encode_chat,
    render_chatml,
    split_on_special,
)
from .engine import pretokens, text_of
from .pairs import get_pairs as count_pairs
from .pairs import merge
from .report import say

__all__ = [
    "CHAT_TOKENS",
    "SPECIAL_TOKENS",
    "BPETokenizer",
    "ByteEntropyModel",
    "ByteLevelBPETokenizer",
    "CharTokenizer",
    "average_patch_size",
    "byte_entropy",
    "bytes_to_unicode",
    "chat_token_ids",
    "chatml_segments",
    "count_pairs",
    "demonstrate_byte_level",
    "encode_chat",
    "gpt2_pretokenize",
    "merge",
    "patch_boundaries_global",
    "patch_boundaries_monotonic",
    "patches_from_boundaries",
    "relative_global_compute",
    "render_chatml",
    "split_on_special",
]


class CharTokenizer:
    """The simplest tokenizer: each character of the text is a token, with ids in the order of code points.

    Args:
        text: The text whose characters there are to be.

    Attributes:
        chars: The characters, ascending.
        stoi: The id of each character ("string to integer").
        itos: The character of each id ("integer to string").

    Raises:
        TextError: a lone surrogate in the text, with its index.
        TypeError: `text` is no `str`.

    >>> tok = CharTokenizer("hello world")
    >>> tok.encode("hello")
    [3, 2, 4, 4, 5]
    >>> tok.decode([3, 2, 4, 4, 5])
    'hello'
    """

    def __init__(self, text: str) -> None:
        self.chars = sorted(set(text_of(text)))
        self.stoi = {char: i for i, char in enumerate(self.chars)}
        self.itos = dict(enumerate(self.chars))

    def encode(self, text: str) -> list[int]:
        """The id of each character.

        Raises:
            KeyError: a character that has no id.
            TextError: a lone surrogate in the text, with its index.
            TypeError: `text` is no `str`.
        """
        return [self.stoi[char] for char in text_of(text)]

    def decode(self, ids: Iterable[int]) -> str:
        """The characters of ids, joined.

        Raises:
            UnknownTokenError: an id that stands for no character, with its position.
        """
        characters = []
        for position, token in enumerate(ids):
            if token not in self.itos:
                raise bl.UnknownTokenError(token, position)
            characters.append(self.itos[token])
        return "".join(characters)


def bytes_to_unicode() -> dict[int, str]:
    r"""A printable character for each byte, as GPT-2 has it: printable bytes stand for themselves, the others
    for the characters from U+0100 on.

    >>> letters = bytes_to_unicode()
    >>> letters[ord("A")], letters[ord(" ")], letters[ord("\n")]
    ('A', 'Ġ', 'Ċ')
    """
    tok = bl.Tokenizer.from_merges([], cache_bytes=0)
    return {byte: tok.id_to_token(byte) for byte in range(256)}


def gpt2_pretokenize(text: str) -> list[str]:
    """The pre-tokens of a text by GPT-2's rules: contractions, letters, digits, symbols, white space.

    Joined, they are the text. The pattern is the one that the module spells for Python's `re`, with the
    characters of Unicode 16.0 (`byteloom` knows it as `course-gpt2`).

    Raises:
        TextError: a lone surrogate in the text, with its index.
        TypeError: `text` is no `str`.

    >>> gpt2_pretokenize("Don't merge GPT2 across_words!")
    ['Don', "'t", ' merge', ' GPT', '2', ' across', '_', 'words', '!']
    """
    return pretokens(text, "course-gpt2")


def demonstrate_byte_level() -> None:
    """Print what the two tokenizers make of a text that training never saw, and the bytes of its characters.

    >>> demonstrate_byte_level()  # doctest: +ELLIPSIS
    Text: 'café ☕ 你好 — 42'
    ...
    Character-level : 14 tokens, 7 <UNK>, round-trip=False
    Byte-level      : 23 tokens, 0 <UNK>, round-trip=True
    """
    corpus = "the code returns hello world def class self " * 20
    text = "café ☕ 你好 — 42"
    say(f"Text: {text!r}\n\nUTF-8 breakdown:")
    for char in text:
        say(f"  {char!r:6} → codepoint U+{ord(char):04X} → bytes {list(char.encode())}")
    say()
    for name, kind in (("Character-level", BPETokenizer), ("Byte-level", ByteLevelBPETokenizer)):
        tok = kind(vocab_size=400)
        tok.train(corpus, show_progress=False)
        ids = tok.encode(text)
        unknown = ids.count(SPECIAL_TOKENS["<UNK>"])
        say(f"{name:16}: {len(ids)} tokens, {unknown} <UNK>, round-trip={tok.decode(ids) == text}")
