"""`Tokenizer`: the class that users hold.

Its hot methods (`encode`, `decode`, `count`, …) are native and inherited without a wrapper, those that write
files stand in `_saving.py`, those that change the vocabulary in `_changing.py`; this file adds the methods
that make and describe a tokenizer.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from . import _formats, _native
from ._changing import Changing
from ._explained import Explained
from ._saving import SavingTokenizer

__all__ = ["Tokenizer"]

# Type checkers take it for true; importing `typing` costs more than the rest of the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ._adapter_huggingface import HuggingFaceAdapter
    from ._adapters import TiktokenAdapter
    from ._counts import PretokenCounts

    Document = str | bytes | os.PathLike[str]


class Tokenizer(SavingTokenizer, Changing, Explained):
    """A BPE tokenizer: text to ids and back; without loss, unless its alphabet is one of characters.

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
        data: Document | Iterable[Document] | PretokenCounts,
        vocab_size: int,
        *,
        pattern: str = "cl100k",
        alphabet: str = "bytes",
        unk: str | None = None,
        special_tokens: Sequence[str] = (),
        special_position: str = "last",
        special_text: str = "boundary",
        bos: str | None = None,
        eos: str | None = None,
        pad: str | None = None,
        seed_tokens: Sequence[str | bytes] = (),
        min_frequency: int = 2,
        max_token_length: int | None = None,
        tie_break: str = "smallest_pair",
        errors: str = "strict",
        threads: int | None = None,
        progress: bool | Callable[[dict[str, Any]], object] | None = None,
        cache_bytes: int | None = None,
        trace: bool = False,
        allow_fewer: bool = False,
        strict: bool = False,
    ) -> Tokenizer:
        """Learn a vocabulary from text.

        Args:
            data: What to learn from. `str` and `bytes` are text; an `os.PathLike` is a text file, read in
                pieces, or another that `byteloom.documents` knows (`.jsonl`, `.parquet`, packed files,
                folders, globs); an iterable is any mix of these and of open binary files, one document each,
                never held in memory at once. No merge crosses the end of a document. `PretokenCounts` are
                text that was counted before, with the same pattern and, unless their text is ordinary, the
                same special tokens.
            vocab_size: Number of tokens wanted, bytes or characters and special tokens included.
            pattern: Pre-tokenizer: the name of a built-in pattern (`byteloom.pattern_names()`) or a regex.
            alphabet: What merging begins with: the 256 `"bytes"`, which no text is unknown to, or the
                distinct `"characters"` of the text, with ids in the order of their code points.
            unk: For an alphabet of characters, the special token that every other character becomes.
            special_tokens: Control tokens.
            special_position: Ids of the special tokens: `"last"` after all others, `"first"` from 0 on.
            special_text: What the string of a special token is in training text: a document `"boundary"`,
                never counted, never learned; or `"ordinary"` text, of which no merge makes exactly that
                string.
            bos: The special token that begins a sequence, one of `special_tokens`.
            eos: The special token that ends one.
            pad: The special token that fills up padded rows.
            seed_tokens: Strings that must become tokens, each of them one pre-token. What the text gives
                comes first; then the parts of each seed are joined from the left, in the order of the seeds.
                The tokens that this adds count as any other, and the report has their ids.
            min_frequency: A pair is merged only if it occurs at least this often.
            max_token_length: Longest token to learn, in bytes (in characters, if they are the alphabet).
            tie_break: Which of several equally frequent pairs comes first: `"smallest_pair"` (smaller left
                id, then right id; as rustbpe), `"huggingface"` (as Hugging Face's trainer), `"first_seen"`
                (the one whose first place in the text comes first).
            errors: What to do with files that are not valid UTF-8, and with lone surrogates in a `str`:
                `"strict"` raises, `"replace"` puts U+FFFD in their place and counts the bytes in the report,
                `"keep"` learns from the bytes of files as they are. `bytes` are always taken as they are.
            threads: Threads that count pre-tokens; all processors by default. Results do not depend on it.
            progress: `True` shows a bar on stderr; a callable receives a dict several times a second: `stage`
                (`"count"`, `"sort"` or `"merge"`), `done` and `total` (bytes, pre-tokens or merges),
                `seconds` since the start, `rate` (a second, in this stage) and seconds `left` in it. `total`
                and `left` are `None` where it is not known how much there is, `rate` where nothing is done.
            cache_bytes: Memory that the new tokenizer may use to remember pre-tokens; see `with_cache_bytes`.
            trace: Keep how each merge was chosen; see `training_trace`. Costs nothing where it is off.
            allow_fewer: Whether fewer tokens than `vocab_size` are expected, and no reason to warn.
            strict: Whether fewer tokens than `vocab_size` are an error.

        Returns:
            The tokenizer. What training did is in its `training_report`.

        Raises:
            TrainingError: a vocabulary that cannot be had, a seed that no merges can make, or another option
                out of its range; with `strict`, also a text that ran out of pairs.
            TextError: invalid text, with the file and the byte offset, or the index of the document.
            PatternError: a pattern that does not compile.
            SpecialTokenError: special tokens that are empty or given twice, a role that names none of them,
                an alphabet of characters without `unk`.
            TypeError: a document of another type, with its index.

        Warns:
            TrainingWarning: the text ran out of pairs before `vocab_size` was reached, unless `allow_fewer`
                or `strict`.

        >>> import byteloom as bl
        >>> tok = bl.Tokenizer.train(["low low lower", "lowest"], vocab_size=260, special_tokens=["<|end|>"])
        >>> tok.merges
        [(108, 111), (256, 119), (32, 257)]
        >>> tok.special_tokens
        {'<|end|>': 259}
        """
        # Here, and not above: what only training needs would cost every import.
        from ._training import (  # noqa: PLC0415
            TrainingDocuments,
            check_shortage,
            checked_names,
            checked_seeds,
            expected_bytes,
            progress_callback,
            split_counts,
            tell_shortage,
        )

        check_shortage(strict=strict, allow_fewer=allow_fewer)
        documents, counts = split_counts(data)
        read = TrainingDocuments(documents, errors)
        with progress_callback(progress) as callback:
            native = _native.train(
                iter(read),
                counts=counts,
                vocab_size=vocab_size,
                pattern=pattern,
                alphabet=alphabet,
                unk=unk,
                special_tokens=checked_names(special_tokens),
                special_position=special_position,
                special_text=special_text,
                bos=bos,
                eos=eos,
                pad=pad,
                min_frequency=min_frequency,
                max_token_length=max_token_length,
                tie_break=tie_break,
                errors=errors,
                threads=threads,
                expected_bytes=expected_bytes(documents),
                reading=read.reading,
                progress=callback,
                cache_bytes=cache_bytes,
                trace=trace,
                seed_tokens=checked_seeds(seed_tokens),
            )
        tok = cls(native)
        if not allow_fewer:
            tell_shortage(tok, vocab_size, min_frequency, strict=strict)
        return tok

    @classmethod
    def from_merges(
        cls,
        merges: Iterable[tuple[int, int]],
        *,
        characters: Iterable[str] | None = None,
        unk: str | None = None,
        pattern: str = "cl100k",
        special_tokens: Sequence[str] = (),
        special_position: str = "last",
        bos: str | None = None,
        eos: str | None = None,
        pad: str | None = None,
        cache_bytes: int | None = None,
    ) -> Tokenizer:
        """A tokenizer from its merges: the one that `Tokenizer.train` makes when it learns them.

        Args:
            merges: Pairs of ids in the order in which they apply, as `merges` shows them. The first base
                symbol has the id 0, or the number of special tokens if these come first; each merge makes
                the next id after the base symbols and the merges before it.
            characters: The base symbols, in the order of their ids; the 256 bytes if left out.
            unk: With `characters`, the special token that every other character becomes.
            pattern: Pre-tokenizer: the name of a built-in pattern or a regex.
            special_tokens: Control tokens, in the order of their ids.
            special_position: Ids of the special tokens: `"last"` after all others, `"first"` from 0 on.
            bos: The special token that begins a sequence, one of `special_tokens`.
            eos: The special token that ends one.
            pad: The special token that fills up padded rows.
            cache_bytes: Memory for remembered pre-tokens; see `with_cache_bytes`.

        Raises:
            VocabularyError: a merge of an id that does not exist yet, or one that makes a token again; the
                index of the merge is named.
            SpecialTokenError: special tokens that are empty or given twice, a role or `unk` that names none
                of them, `characters` without `unk`.
            PatternError: a pattern that does not compile.
            TypeError: a merge that is no pair of integers, with its index.

        >>> import byteloom as bl
        >>> tok = bl.Tokenizer.from_merges([(116, 104), (256, 101)], pattern="gpt2")
        >>> tok.encode("the then")
        [257, 32, 257, 110]
        >>> again = bl.Tokenizer.from_merges(
        ...     [(2, 1)], characters="abc", unk="<unk>", special_tokens=["<unk>"], special_position="first"
        ... )
        >>> again.encode("bad")
        [4, 0]
        """
        if isinstance(special_tokens, str):
            message = (
                f"special_tokens must be a sequence of names, such as [{special_tokens!r}], not a string"
            )
            raise TypeError(message)
        return cls(
            _native.from_merges(
                merges,
                characters=None if characters is None else list(characters),
                unk=unk,
                pattern=pattern,
                special_tokens=list(special_tokens),
                special_position=special_position,
                bos=bos,
                eos=eos,
                pad=pad,
                cache_bytes=cache_bytes,
            )
        )

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
    def training_report(self) -> dict[str, Any] | None:
        """What training did, as plain data; `None` for a tokenizer that was not trained here.

        Sizes (`documents`, `bytes`, `pretokens`, `unique_pretokens`, `pretoken_bytes`), the options,
        `merges`, `stopped` (why training ended), and:

        - `ties`: of how many merges the rule for ties decided, since another pair occurred as often.
        - `coverage`: how many `tokens` the text is in this vocabulary, `bytes_per_token`, and how many of its
          pre-tokens (`whole_pretokens`) and of the distinct ones (`whole_unique_pretokens`) are one token;
          `None` after `extend` of a vocabulary of characters.
        - `reading`: what readers of files gave and left out, summed up, with the `reasons` of what was
          `skipped`, as in the `stats` of `byteloom.documents`; `None` where text or plain files were given.
        - `seconds`: to `read` documents, to `count` (plain files are read there), to `merge`, in `total`.
        - with `trace=True`, `trace`: one list for each merge: left id, right id, count, how many pairs had
          that count, and the runners-up as `[left, right, count]` (`training_trace` makes records of it).
        - with seeds, `seed_tokens`: how many were `asked` for, and the ids that were `added` for them.

        The report is kept in saved files, and is no part of equality. Two lists are in neither files nor
        pickles, which would grow by a third: `counts`, how often the pair of each merge occurred when it was
        merged (0 for one that is there for a seed), and `tied`, whether another pair occurred as often.

        After `extend` the report is about the training that came last, and `extended_from` is the size
        before it; `resized` below that leaves no report. `resized` cuts the report to what is left, `prune`
        leaves what it says of the training; `coverage` is `None` then, and so is `ties` where it cannot be
        told.

        >>> import byteloom as bl
        >>> report = bl.Tokenizer.train("low lower", vocab_size=257).training_report
        >>> report["bytes"], report["pretokens"], report["merges"], report["counts"], report["tied"]
        (9, 2, 1, [2], [True])
        >>> report["coverage"]["tokens"], report["coverage"]["whole_pretokens"]
        (7, 0)
        """
        report: dict[str, Any] | None = self._facts().get("training")
        figures = self._merge_figures()
        if report is not None and figures is not None:
            report["counts"], report["tied"] = figures
            report["ties"] = sum(report["tied"])
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
