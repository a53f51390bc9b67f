"""The methods of `Tokenizer` that change its vocabulary; their work is in `_change`, imported when needed."""

from __future__ import annotations

from . import _native

# Type checkers take it for true; importing `typing` costs more than the rest of the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from typing import Any

    from typing_extensions import Self

    from ._change import VocabularyChange
    from ._counts import PretokenCounts

    Document = str | bytes | os.PathLike[str]

__all__ = ["Changing"]


class Changing(_native.NativeTokenizer):
    """A tokenizer from which others of another size are made."""

    __slots__ = ()

    def resized(self, vocab_size: int) -> VocabularyChange:
        """The smaller vocabulary that the first merges make, and where each id goes.

        Merges are a chain: those of a small vocabulary are the first of a large one. So the result equals the
        tokenizer that training to `vocab_size` gives, at once and without the text. Any other vocabulary of
        merges, read from a file, is shortened in the same way.

        Bytes and special tokens stay; so do the characters of an alphabet of characters. Ids of the result go
        from 0 on without holes, and tokens keep their order: special tokens that stood behind all others move
        up, and tokens that `extend` learned are the first to go.

        Args:
            vocab_size: Number of tokens wanted, special tokens included.

        Returns:
            The tokenizer, the new id of each old one, and a report; see `VocabularyChange`.

        Raises:
            VocabularyError: a size below that of what stays, or above the present one.

        >>> import byteloom as bl
        >>> text = "low low lower lowest"
        >>> tok = bl.Tokenizer.train(text, vocab_size=260, special_tokens=["<|end|>"])
        >>> small, new_ids, report = tok.resized(258)
        >>> small == bl.Tokenizer.train(text, vocab_size=258, special_tokens=["<|end|>"])
        True
        >>> new_ids[256:].tolist(), report.dropped, report.moved_special
        ([256, -1, -1, 257], 2, 1)
        """
        from ._change import resized  # noqa: PLC0415 - keeps the import light

        return resized(self, vocab_size)

    def prune(
        self,
        *,
        keep: Iterable[int | str | bytes] | None = None,
        data: Document | Iterable[Document] | PretokenCounts | None = None,
        vocab_size: int | None = None,
        errors: str = "strict",
        threads: int | None = None,
        progress: bool | Callable[[dict[str, Any]], object] | None = None,
    ) -> VocabularyChange:
        """The vocabulary without tokens that are not wanted, and where each id goes.

        What to keep is named by `keep`, or found by encoding `data`: tokens that it never uses go. Bytes and
        special tokens stay in any case, and so does every token that a kept one is made of: the report says
        how many stay for that reason only. Characters that merging begins with stay where no bytes could
        stand in for them. Kept tokens keep their order.

        Text whose tokens are all kept has the same tokens as before. So without `vocab_size` the ids of
        `data` are the old ones, renamed.

        With `vocab_size`, tokens go one by one until that many are left, the least used first. Only a token
        that builds no other can go; its uses then count as uses of its two parts. Of equally used tokens the
        one that was learned last goes first.

        Args:
            keep: Ids, or tokens as text or bytes.
            data: Documents, as for `Tokenizer.train`. Strings of special tokens in it are these tokens.
            vocab_size: With `data`, the number of tokens wanted.
            errors: With `data`, `"strict"`, `"replace"` or `"keep"`, as for `Tokenizer.train`.
            threads: With `data`, threads that count; all processors by default. Results do not depend on it.
            progress: With `data`, as for `Tokenizer.train`.

        Returns:
            The tokenizer, the new id of each old one, and a report; see `VocabularyChange`.

        Raises:
            VocabularyError: something in `keep` that is no token, with its index; a size below that of what
                stays, or above the present one.
            ValueError: both `keep` and `data`, or neither; counts that do not fit the tokenizer.
            TextError: invalid text in `data`, with its place.

        >>> import byteloom as bl
        >>> tok = bl.Tokenizer.train("low low lower lowest newest", vocab_size=261)
        >>> [tok.id_to_bytes(i) for i in range(256, 261)]
        [b'lo', b'low', b' low', b'es', b'est']
        >>> small, new_ids, report = tok.prune(data="lower lower")
        >>> [small.id_to_bytes(i) for i in range(256, small.vocab_size)]
        [b'lo', b'low', b' low']
        >>> report.kept, report.dropped, report.builders
        (259, 2, 1)
        >>> new_ids[tok.encode("lower lower")].tolist() == small.encode("lower lower")
        True
        """
        from ._change import prune  # noqa: PLC0415 - as above

        return prune(
            self,
            keep=keep,
            data=data,
            vocab_size=vocab_size,
            errors=errors,
            threads=threads,
            progress=progress,
        )

    def extend(
        self,
        data: Document | Iterable[Document] | PretokenCounts,
        vocab_size: int,
        *,
        special_text: str = "boundary",
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
    ) -> Self:
        """A tokenizer with more tokens, learned from text. No id moves.

        Text is split and merged as this tokenizer does, and training goes on from there: the old merges come
        first, the new ones after them. New tokens get the ids after the largest, also where that is a special
        token; `resized` moves special tokens, and says so. On the text that it was trained on, with the same
        options, a tokenizer is extended by the merges that one longer training would have learned.

        Tokenizers from files are extended in the same way. An alphabet of characters gets no new ones.

        Args:
            data: What to learn from, as for `Tokenizer.train`.
            vocab_size: Number of tokens wanted, those that are there included.
            special_text: As for `Tokenizer.train`, for all special and added tokens of this tokenizer.
            min_frequency: A pair is merged only if it occurs at least this often.
            max_token_length: Longest token to learn, in bytes (in characters, if they are the alphabet).
            tie_break: The rule for equally frequent pairs, as for `Tokenizer.train`.
            errors: As for `Tokenizer.train`.
            threads: As for `Tokenizer.train`.
            progress: As for `Tokenizer.train`.
            cache_bytes: Memory for remembered pre-tokens; that of this tokenizer by default.
            trace: Keep how each new merge was chosen; see `training_trace`.
            allow_fewer: Whether fewer tokens than `vocab_size` are expected, and no reason to warn.
            strict: Whether fewer tokens than `vocab_size` are an error.

        Returns:
            The tokenizer. Its `training_report` is about the new merges.

        Raises:
            TrainingError: a vocabulary that cannot be had, or another option out of its range; a tokenizer
                that changes text before it cuts it; with `strict`, also a text that ran out of pairs.
            TextError: invalid text, with its place.

        Warns:
            TrainingWarning: as for `Tokenizer.train`.

        >>> import byteloom as bl
        >>> tok = bl.Tokenizer.train("low low lower", vocab_size=258, special_tokens=["<|end|>"])
        >>> more = tok.extend("new newer newest", vocab_size=260)
        >>> [more.id_to_bytes(i) for i in range(256, 260)]
        [b'lo', b'<|end|>', b'ew', b'new']
        """
        from ._change import extend  # noqa: PLC0415 - as above

        return extend(
            self,
            data,
            vocab_size,
            special_text=special_text,
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            tie_break=tie_break,
            errors=errors,
            threads=threads,
            progress=progress,
            cache_bytes=cache_bytes,
            trace=trace,
            allow_fewer=allow_fewer,
            strict=strict,
        )
