"""`Tokenizer`: the class that users hold.

Its hot methods (`encode`, `decode`, `count`, …) are native and inherited without a wrapper; this file adds
the methods that make, keep and describe a tokenizer.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping

from . import _formats, _native
from .errors import TrainingWarning

__all__ = ["Tokenizer"]

# Type checkers take it for true; importing `typing` costs more than the rest of the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ._adapter_huggingface import HuggingFaceAdapter
    from ._adapters import TiktokenAdapter

    Document = str | bytes | os.PathLike[str]


class Tokenizer(_native.NativeTokenizer):
    """A byte-level BPE tokenizer: text to ids and back, without loss.

    A tokenizer is made by `Tokenizer.train`, `Tokenizer.load` or one of the `from_` methods and never changes
    after that: it can be shared between threads, pickled, compared, and used as a key.

    >>> import byteloom as bl
    >>> tok = bl.Tokenizer.train("the cat and the can and the cat", vocab_size=265, pattern="course-words")
    >>> ids = tok.encode("the cat")
    >>> [tok.id_to_bytes(i) for i in ids]
    [b'the', b' cat']
    >>> tok.decode(ids)
    'the cat'
    """

    __slots__ = ()

    @classmethod
    def train(
        cls,
        data: Document | Iterable[Document],
        vocab_size: int,
        *,
        pattern: str = "cl100k",
        special_tokens: Sequence[str] = (),
        special_position: str = "last",
        bos: str | None = None,
        eos: str | None = None,
        pad: str | None = None,
        min_frequency: int = 2,
        max_token_length: int | None = None,
        tie_break: str = "smallest_pair",
        errors: str = "strict",
        threads: int | None = None,
        progress: bool | Callable[[dict[str, Any]], object] | None = None,
        cache_bytes: int | None = None,
    ) -> Tokenizer:
        """Learn a vocabulary from text.

        Args:
            data: What to learn from. `str` and `bytes` are text; an `os.PathLike` is a text file, read in
                pieces; an iterable is any mix of these, one document each, never held in memory at once.
                No merge crosses the end of a document.
            vocab_size: Number of tokens wanted, bytes and special tokens included.
            pattern: Pre-tokenizer: the name of a built-in pattern (`byteloom.pattern_names()`) or a regex.
            special_tokens: Control tokens. In training text the string of one is a document boundary: never
                counted, never learned.
            special_position: Ids of the special tokens: `"last"` after all others, `"first"` from 0 on.
            bos: The special token that begins a sequence, one of `special_tokens`.
            eos: The special token that ends one.
            pad: The special token that fills up padded rows.
            min_frequency: A pair is merged only if it occurs at least this often.
            max_token_length: Longest token to learn, in bytes.
            tie_break: Which of several equally frequent pairs comes first: `"smallest_pair"` (smaller left
                id, then right id; as rustbpe), `"huggingface"` (as Hugging Face's trainer), `"first_seen"`
                (the one whose first place in the text comes first).
            errors: What to do with files that are not valid UTF-8, and with lone surrogates in a `str`:
                `"strict"` raises, `"replace"` puts U+FFFD in their place and counts the bytes in the report,
                `"keep"` learns from the bytes of files as they are. `bytes` are always taken as they are.
            threads: Threads that count pre-tokens; all processors by default. Results do not depend on it.
            progress: `True` shows a bar on stderr; a callable receives a dict with `stage`, `done`, `total`
                and `seconds` several times a second.
            cache_bytes: Memory that the new tokenizer may use to remember pre-tokens; see `with_cache_bytes`.

        Returns:
            The tokenizer. What training did is in its `training_report`.

        Raises:
            TrainingError: a vocabulary that cannot be had, or another option out of its range.
            TextError: invalid text, with the file and the byte offset, or the index of the document.
            PatternError: a pattern that does not compile.
            SpecialTokenError: special tokens that are empty or given twice, a role that names none of them.
            TypeError: a document of another type, with its index.

        Warns:
            TrainingWarning: the text ran out of pairs before `vocab_size` was reached.

        >>> import byteloom as bl
        >>> tok = bl.Tokenizer.train(["low low lower", "lowest"], vocab_size=260, special_tokens=["<|end|>"])
        >>> tok.merges
        [(108, 111), (256, 119), (32, 257)]
        >>> tok.special_tokens
        {'<|end|>': 259}
        """
        if isinstance(special_tokens, str):
            message = (
                f"special_tokens must be a sequence of names, such as [{special_tokens!r}], not a string"
            )
            raise TypeError(message)
        # Here, and not above: what only training needs would cost every import.
        from ._training import document_iterator, expected_bytes, progress_callback  # noqa: PLC0415

        with progress_callback(progress) as callback:
            native = _native.train(
                document_iterator(data),
                vocab_size=vocab_size,
                pattern=pattern,
                special_tokens=list(special_tokens),
                special_position=special_position,
                bos=bos,
                eos=eos,
                pad=pad,
                min_frequency=min_frequency,
                max_token_length=max_token_length,
                tie_break=tie_break,
                errors=errors,
                threads=threads,
                expected_bytes=expected_bytes(data),
                progress=callback,
                cache_bytes=cache_bytes,
            )
        tok = cls(native)
        if tok.vocab_size < vocab_size:
            report = tok.training_report or {}
            few = "no pair is left that may be merged"
            if report.get("stopped") == "min_frequency":
                few = f"no pair occurs {min_frequency} times any more"
            message = (
                f"training ended with {tok.vocab_size} tokens of the {vocab_size} asked for: {few}; "
                "give it more text, or lower min_frequency or raise max_token_length if you set them"
            )
            warnings.warn(message, TrainingWarning, stacklevel=2)
        return tok

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        pattern: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
        cache_bytes: int | None = None,
    ) -> Tokenizer:
        """Read a tokenizer file, whatever its format.

        The format is told by the content: byteloom's own JSON, the course's `{"merges": [[a, b], …]}`,
        Hugging Face's `tokenizer.json`, `.tiktoken` rank files, GPT-2's `vocab.json` with `merges.txt`, and
        models of SentencePiece (BPE with byte fallback) and minbpe. A folder is read as `transformers` saves
        one.

        The course's file holds merges alone; the pattern is then `course-words`, and the course's five
        special tokens come last, as in the course.

        A part of a file that cannot be honoured exactly is an error that names it; nothing is guessed or left
        out.

        Args:
            path: The file, or the folder.
            pattern: Only for files that hold no pattern: see `from_tiktoken` and `from_gpt2_files`.
            special_tokens: Likewise.
            cache_bytes: Memory for remembered pre-tokens; see `with_cache_bytes`.

        Raises:
            FormatError: the file is damaged or of no known format; the message names the place.
            OSError: the file cannot be read.

        >>> import byteloom as bl, pathlib, tempfile
        >>> tok = bl.Tokenizer.train("low lower lowest", vocab_size=258)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "tok.json")
        ...     tok.save(path)
        ...     bl.Tokenizer.load(path) == tok
        True
        """
        return cls(
            _formats.read(path, pattern=pattern, special_tokens=special_tokens, cache_bytes=cache_bytes)
        )

    @classmethod
    def from_tiktoken(
        cls,
        source: str | os.PathLike[str] | Mapping[bytes, int],
        *,
        pattern: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
        cache_bytes: int | None = None,
    ) -> Tokenizer:
        """A tokenizer from tiktoken's ranks: a `.tiktoken` file, or a mapping of token bytes to ids.

        Such ranks hold neither a pattern nor special tokens. The published files of r50k, p50k, cl100k and
        o200k are known by their SHA-256 and bring both; for all others `pattern` is required.

        Args:
            source: The file, or `mergeable_ranks` as tiktoken calls them.
            pattern: Name of a built-in pattern, or a regex.
            special_tokens: Content and id of each special token. Given, it replaces those of a known file.
            cache_bytes: Memory for remembered pre-tokens; see `with_cache_bytes`.

        Raises:
            FormatError: a line that is not base64 and a rank, with its number; an unknown file without a
                pattern.
            VocabularyError: a byte without a token, or two tokens with one id.

        >>> import byteloom as bl
        >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"abc": 257}
        >>> tok = bl.Tokenizer.from_tiktoken(ranks, pattern="gpt2", special_tokens={"<|endoftext|>": 258})
        >>> tok.encode("abcab")
        [257, 256]
        """
        data = source if isinstance(source, Mapping) else _formats.read_bytes(source)
        named = "ranks" if isinstance(source, Mapping) else source
        return cls(
            _formats.read_named(
                named,
                lambda: _native.from_tiktoken(
                    data, pattern=pattern, special_tokens=special_tokens, cache_bytes=cache_bytes
                ),
            )
        )

    @classmethod
    def from_huggingface(cls, path: str | os.PathLike[str], *, cache_bytes: int | None = None) -> Tokenizer:
        """A tokenizer from Hugging Face's `tokenizer.json`, or a folder that holds one.

        Byte-level BPE with `Split`, `ByteLevel` and `Digits` pre-tokenizers, added tokens with all their
        flags, `ignore_merges`, NFC, and templates that add `bos` and `eos`. A `tokenizer_config.json` beside
        the file names the roles. Ids are those of `tokenizers`.

        Raises:
            FormatError: a part that is damaged, or that byteloom does not know how to do exactly; its place
                is named.
        """
        if os.path.isdir(path):  # noqa: PTH112 - pathlib costs import time
            path = os.path.join(path, "tokenizer.json")  # noqa: PTH118
        return cls(_formats.read_huggingface(path, _formats.read_bytes(path), cache_bytes))

    @classmethod
    def from_gpt2_files(
        cls,
        vocab: str | os.PathLike[str],
        merges: str | os.PathLike[str],
        *,
        pattern: str = "gpt2",
        special_tokens: Sequence[str] | Mapping[str, int] = (),
        cache_bytes: int | None = None,
    ) -> Tokenizer:
        """A tokenizer from GPT-2's two files, `vocab.json` and `merges.txt`.

        Args:
            vocab: The file of tokens and ids, in GPT-2's byte letters.
            merges: The file of merges, one a line, in the order of their ranks.
            pattern: The pre-tokenizer; the files do not hold it.
            special_tokens: Which tokens are special: names that are in `vocab`, or a mapping of names to ids.
            cache_bytes: Memory for remembered pre-tokens; see `with_cache_bytes`.

        Raises:
            FormatError: a faulty entry or line, with its place.
        """
        return cls(_formats.read_gpt2_files(vocab, merges, pattern, special_tokens, cache_bytes))

    @classmethod
    def from_sentencepiece(cls, path: str | os.PathLike[str], *, cache_bytes: int | None = None) -> Tokenizer:
        """A tokenizer from a SentencePiece model: BPE with byte fallback and no lossy normalizer.

        Ids are those of `sentencepiece`. Control pieces are special tokens, user-defined pieces added tokens.

        Raises:
            FormatError: another kind of model, or a damaged one; the part is named.
        """
        data = _formats.read_bytes(path)
        reader = lambda: _native.from_sentencepiece(data, cache_bytes=cache_bytes)  # noqa: E731
        return cls(_formats.read_named(path, reader))

    @classmethod
    def from_bytes(cls, data: bytes, *, cache_bytes: int | None = None) -> Tokenizer:
        """A tokenizer from the bytes of a native file, as `to_bytes` gives them.

        >>> import byteloom as bl
        >>> tok = bl.Tokenizer.train("low lower", vocab_size=257)
        >>> bl.Tokenizer.from_bytes(tok.to_bytes()) == tok
        True
        """
        return cls(_native.from_json(data, cache_bytes=cache_bytes))

    def to_bytes(self) -> bytes:
        """The tokenizer as the bytes of a native file: JSON in UTF-8."""
        return self._to_json()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tokenizer as byteloom's own JSON.

        The file is written beside its place, synced and renamed, so that a reader never sees half of it.

        Raises:
            OSError: the file cannot be written; an older one stays as it was.
        """
        _formats.write(path, self._to_json())

    def save_tiktoken(self, path: str | os.PathLike[str], *, lossy: bool = False) -> None:
        """Write a `.tiktoken` rank file.

        Such a file holds tokens and ranks only. A pattern and special tokens are losses: they are listed and
        refused unless `lossy` is true; whoever reads the file must be told them.

        Raises:
            FormatError: something would be lost, or ranks alone would not give the same ids.

        >>> import byteloom as bl, pathlib, tempfile
        >>> tok = bl.Tokenizer.train("low lower lowest", vocab_size=258, pattern="gpt2")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "low.tiktoken")
        ...     tok.save_tiktoken(path, lossy=True)
        ...     bl.Tokenizer.from_tiktoken(path, pattern="gpt2").encode("lowest") == tok.encode("lowest")
        True
        """
        data, losses = self._to_tiktoken()
        losses += self._template_loss()
        _formats.refuse_losses("A .tiktoken file", losses, lossy=lossy)
        _formats.write(path, data)

    def save_huggingface(
        self,
        path: str | os.PathLike[str],
        *,
        lossy: bool = False,
        chat_template: str | None = None,
        merges_format: str = "pairs",
    ) -> None:
        """Write a `tokenizer.json`, or a folder that `transformers.AutoTokenizer` reads.

        Args:
            path: A name that ends in `.json` is the file alone; any other is a folder, which gets
                `tokenizer.json`, `tokenizer_config.json` with the special tokens and their roles, and the
                chat template.
            lossy: Write it even where something is lost.
            chat_template: A Jinja template, written as `chat_template.jinja`; for folders only. By default
                the one that the tokenizer came with.
            merges_format: `"pairs"`, or `"legacy"`: strings, as `tokenizers` before 0.20 needs them.

        Raises:
            FormatError: something would be lost; the message lists it.
            ValueError: another `merges_format`, or a chat template without a folder.

        >>> import byteloom as bl, pathlib, tempfile
        >>> tok = bl.Tokenizer.train("low lower lowest", vocab_size=258, special_tokens=["<|end|>"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tok.save_huggingface(folder)
        ...     sorted(path.name for path in pathlib.Path(folder).iterdir())
        ['tokenizer.json', 'tokenizer_config.json']
        """
        if merges_format not in ("pairs", "legacy"):
            message = f'merges_format must be "pairs" or "legacy", not {merges_format!r}'
            raise ValueError(message)
        alone = os.fspath(path).endswith(".json")
        data, losses = self._to_huggingface(merges_format == "legacy", not alone)
        losses += self._template_loss() if alone else []
        _formats.refuse_losses("tokenizer.json", losses, lossy=lossy)
        if alone:
            if chat_template is not None:
                message = "a chat template needs a folder to stand in; give a path that does not end in .json"
                raise ValueError(message)
            _formats.write(path, data)
            return
        os.makedirs(path, exist_ok=True)  # noqa: PTH103
        _formats.write(os.path.join(path, "tokenizer.json"), data)  # noqa: PTH118
        if chat_template is None:
            chat_template = self.chat_template
        config = self._huggingface_config(chat_template)
        _formats.write(os.path.join(path, "tokenizer_config.json"), config)  # noqa: PTH118
        if chat_template is not None:
            template = os.path.join(path, "chat_template.jinja")  # noqa: PTH118
            _formats.write(template, chat_template.encode())

    def save_gpt2_files(self, folder: str | os.PathLike[str], *, lossy: bool = False) -> None:
        """Write GPT-2's two files, `vocab.json` and `merges.txt`, into a folder.

        Raises:
            FormatError: something would be lost, such as a pattern that is not GPT-2's; the message lists it.

        >>> import byteloom as bl, tempfile
        >>> tok = bl.Tokenizer.train("low lower lowest", vocab_size=258, pattern="gpt2")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tok.save_gpt2_files(folder)
        ...     bl.Tokenizer.load(folder) == tok
        True
        """
        vocab, merges, losses = self._to_gpt2_files()
        losses += self._template_loss()
        _formats.refuse_losses("vocab.json with merges.txt", losses, lossy=lossy)
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        _formats.write(os.path.join(folder, "vocab.json"), vocab)  # noqa: PTH118
        _formats.write(os.path.join(folder, "merges.txt"), merges)  # noqa: PTH118

    def with_special_tokens(
        self,
        tokens: Sequence[str] | Mapping[str, int] = (),
        *,
        bos: str | None = None,
        eos: str | None = None,
        pad: str | None = None,
    ) -> Tokenizer:
        """A tokenizer with more special tokens, or other roles. No id moves.

        Args:
            tokens: Names, which get the next free ids after the largest, or a mapping of names to ids.
                A name that is already a special token keeps its id.
            bos: The special token that begins a sequence; it may be an old one. `None` keeps the role.
            eos: The one that ends a sequence.
            pad: The one that fills up padded rows.

        Raises:
            SpecialTokenError: an empty name, an id in use, a role that names no special token.

        >>> import byteloom as bl
        >>> tok = bl.Tokenizer.train("low lower", vocab_size=257)
        >>> chat = tok.with_special_tokens(["<|im_start|>", "<|im_end|>"], eos="<|im_end|>")
        >>> chat.special_tokens
        {'<|im_start|>': 257, '<|im_end|>': 258}
        >>> chat.encode("low<|im_end|>", allowed_special="all")[-1]
        258
        """
        if isinstance(tokens, str):
            message = f"tokens must be a sequence of names, such as [{tokens!r}], not a string"
            raise TypeError(message)
        added: list[tuple[str, int | None]] = (
            list(tokens.items()) if isinstance(tokens, Mapping) else [(name, None) for name in tokens]
        )
        return type(self)(self._with_special_tokens(added, bos, eos, pad))

    def with_cache_bytes(self, cache_bytes: int) -> Tokenizer:
        """The same tokenizer with another limit for remembered pre-tokens.

        Encoding remembers the ids of pre-tokens it has met, in at most `cache_bytes` bytes (64 MiB unless
        asked otherwise). 0 turns this off. Ids never depend on it, and it is no part of equality or of a
        saved file.

        >>> import byteloom as bl
        >>> tok = bl.Tokenizer.train("low lower", vocab_size=257)
        >>> tok.with_cache_bytes(0).info()["cache_bytes"]
        0
        """
        return type(self)(self._with_cache_bytes(cache_bytes))

    @property
    def chat_template(self) -> str | None:
        """The Jinja template that came with a Hugging Face folder, or `None`.

        It is kept in native files and written by `save_huggingface`; byteloom does not run it.
        """
        template: str | None = self._facts().get("huggingface", {}).get("chat_template")
        return template

    def _template_loss(self) -> list[str]:
        return [] if self.chat_template is None else ["chat template: it stands in a folder only"]

    def _facts(self) -> dict[str, Any]:
        import json  # noqa: PLC0415 - rarely needed, and not free to import

        facts: dict[str, Any] = json.loads(self._metadata())
        return facts

    @property
    def training_report(self) -> dict[str, Any] | None:
        """What training did, as plain data; `None` for a tokenizer that was not trained here.

        Sizes (`documents`, `bytes`, `pretokens`, `unique_pretokens`), the options, `merges`, `stopped` (why
        training ended) and `seconds` for each stage. It is kept in saved files, and is no part of equality.

        >>> import byteloom as bl
        >>> report = bl.Tokenizer.train("low lower", vocab_size=257).training_report
        >>> report["bytes"], report["pretokens"], report["merges"]
        (9, 2, 1)
        """
        report: dict[str, Any] | None = self._facts().get("training")
        return report

    def info(self) -> dict[str, Any]:
        """What this tokenizer is, as plain data that JSON can hold.

        >>> import byteloom as bl
        >>> info = bl.Tokenizer.train("low lower", vocab_size=257).info()
        >>> info["vocab_size"], info["pattern_name"], info["unicode"]
        (257, 'cl100k', '16.0.0')
        """
        return self._info()

    def __repr__(self) -> str:
        pattern = self.pattern_name or self.pattern
        shown = pattern if len(pattern) <= 40 else f"{pattern[:37]}..."  # noqa: PLR2004
        return (
            f"<byteloom.Tokenizer vocab_size={self.vocab_size} pattern={shown!r} "
            f"special_tokens={len(self.special_tokens)} fingerprint={self.fingerprint[:12]}>"
        )

    def _repr_html_(self) -> str:
        from . import render  # noqa: PLC0415 - only a notebook asks

        return render.html(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self is other or self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __copy__(self) -> Tokenizer:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tokenizer:
        return self

    def __reduce__(self) -> tuple[Callable[..., Tokenizer], tuple[type[Tokenizer], bytes, int]]:
        return _unpickle, (type(self), self._to_json(), self.info()["cache_bytes"])

    def as_tiktoken(self, name: str | None = None) -> TiktokenAdapter:
        """This tokenizer with the methods and defaults of `tiktoken.Encoding`.

        Args:
            name: What the encoding is called; the name of its pattern by default.

        >>> import byteloom as bl
        >>> enc = bl.Tokenizer.train("low lower", vocab_size=257).as_tiktoken()
        >>> enc.decode_tokens_bytes(enc.encode("lower"))
        [b'lo', b'w', b'e', b'r']
        """
        from ._adapters import TiktokenAdapter  # noqa: PLC0415 - keeps the import light

        return TiktokenAdapter(self, name)

    def as_huggingface(self, name: str | None = None) -> HuggingFaceAdapter:
        """This tokenizer with the methods and defaults of a fast tokenizer of `transformers`.

        Args:
            name: Its `name_or_path`; the name of its pattern by default.

        >>> import byteloom as bl
        >>> hf = bl.Tokenizer.train("low lower", vocab_size=257).as_huggingface()
        >>> hf(["lower", "lo"]).input_ids
        [[256, 119, 101, 114], [256]]
        """
        from ._adapter_huggingface import HuggingFaceAdapter  # noqa: PLC0415 - keeps the import light

        return HuggingFaceAdapter(self, name)


def _unpickle(cls: type[Tokenizer], data: bytes, cache_bytes: int) -> Tokenizer:
    return cls.from_bytes(data, cache_bytes=cache_bytes)
