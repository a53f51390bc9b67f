"""`compare`: tokenizers side by side, on texts, on languages, and as vocabularies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from ._boundaries import BoundaryCounter
from ._comparison import (
    Boundaries,
    Compared,
    Comparison,
    Figures,
    LanguageFigures,
    Overlap,
    VocabularyToken,
)
from ._sources import Source, Texts, named_sources
from ._tokenizer import Tokenizer
from ._tokens import ordinary_tokens, table_of
from .languages import Language, parallel_sample

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ids = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]

__all__ = ["compare"]

_EXAMPLES = 10


def compare(
    tokenizers: Sequence[Tokenizer],
    texts: Texts = (),
    *,
    names: Sequence[str] | None = None,
    languages: bool | Iterable[str] = True,
    overlaps: bool = True,
    max_differences: int = 100,
    errors: str = "strict",
) -> Comparison:
    """Put tokenizers side by side.

    Texts are read as ordinary text: one that spells a special token is text like any other. Long texts and
    files are read in pieces of about 260,000 characters where the patterns are known to allow it; a custom
    regex, a normalizer or an added token makes a text one piece. No number depends on that.

    Args:
        tokenizers: One or more.
        texts: What to encode: a text (`str` or `bytes`), a file by its path (`os.PathLike`), several of them,
            or a mapping of names to them.
        names: What to call the tokenizers; by default their pattern and size.
        languages: Whether to encode the parallel sample too (see `byteloom.languages`), or the codes of the
            languages wanted; English is always among them.
        overlaps: Whether to say what each pair of vocabularies shares, which takes a second for large ones.
        max_differences: Keep at most this many of the stretches that are cut differently, the first of the
            texts. All are counted.
        errors: `"strict"`, or `"replace"` for bytes that are not UTF-8 and lone surrogates.

    Returns:
        The figures, as records.

    Raises:
        TextError: a text is not valid; it is named, with the place.
        ValueError: no tokenizer, names that do not fit, or a language that the sample does not hold.
        OSError: a file cannot be read.

    >>> import byteloom as bl
    >>> small = bl.Tokenizer.train("low lower lowest", vocab_size=258)
    >>> smaller = bl.Tokenizer.train("low lower lowest", vocab_size=257)
    >>> result = bl.compare([small, smaller], "low low lower", names=["A", "B"], languages=False)
    >>> [(row.tokenizer, row.tokens, row.bytes_per_token) for row in result.figures]
    [('A', 7, 1.8571428571428572), ('B', 10, 1.3)]
    >>> result.differences[0].pieces
    ((b'low',), (b'lo', b'w'))
    """
    tokenizers = list(tokenizers)
    names = _names(tokenizers, names)
    sources = named_sources(texts, errors)
    sides = [_Side(name, tok) for name, tok in zip(names, tokenizers, strict=True)]
    sample = _wanted_languages(languages)
    boundaries: list[Boundaries] = []
    figures: list[Figures] = []
    kept = max_differences
    differences = []
    for source in sources:
        measured, counter = _measure(sides, source, kept)
        figures += measured
        boundaries.append(counter.result(source.name))
        differences += counter.differences
        kept = max_differences - len(differences)
    return Comparison(
        tokenizers=tuple(side.summary() for side in sides),
        figures=tuple(figures),
        languages=tuple(_language_figures(sides, sample)),
        overlaps=tuple(_overlap(a, b) for a, b in combinations(sides, 2)) if overlaps else (),
        boundaries=tuple(boundaries),
        differences=tuple(differences),
    )


class _Side:
    """A tokenizer with its name and tables."""

    def __init__(self, name: str, tok: Tokenizer) -> None:
        self.name = name
        self.tok = tok
        self.table = table_of(tok)
        info = tok.info()
        # Where this holds, the bytes of the tokens are those of the text, and their lengths say where it is
        # cut.
        self.exact = bool(info["lossless"]) and not info["normalizer"]

    def encode(self, text: str) -> Ids:
        return self.tok.encode_array(text, disallowed_special=(), dtype="uint32")

    def cuts(self, text: str, ids: Ids) -> npt.NDArray[np.int64]:
        """Where tokens end, in bytes of `text`, ascending, its own end left out."""
        import numpy as np  # noqa: PLC0415

        size = len(text.encode())
        if self.exact:
            ends = np.cumsum(self.table.lengths[ids])
        else:
            _, spans = self.tok.encode_with_offsets(text, unit="byte", disallowed_special=())
            ends = np.unique(np.array([end for _, end in spans], dtype=np.int64))
        return ends[(ends > 0) & (ends < size)]

    def summary(self) -> Compared:
        return Compared(
            name=self.name,
            vocab_size=self.tok.vocab_size,
            pattern_name=self.tok.pattern_name,
            pattern=self.tok.pattern,
            fingerprint=self.tok.fingerprint,
        )


class _Sum:
    """Figures of a text that grows."""

    def __init__(self) -> None:
        self.byte_count = self.characters = self.words = 0
        self.tokens: list[int] = []
        self.partial: list[int] = []

    def add(self, text: str, sides: list[_Side], ids: list[Ids]) -> None:
        self.byte_count += len(text.encode())
        self.characters += len(text)
        self.words += len(text.split())
        self.tokens = self.tokens or [0] * len(sides)
        self.partial = self.partial or [0] * len(sides)
        for place, (side, row) in enumerate(zip(sides, ids, strict=True)):
            self.tokens[place] += len(row)
            self.partial[place] += int(side.table.partial[row].sum())


def _measure(sides: list[_Side], source: Source, kept: int) -> tuple[list[Figures], BoundaryCounter]:
    total = _Sum()
    counter = BoundaryCounter(source.name, kept)
    for piece in source.pieces([side.tok for side in sides]):
        ids = [side.encode(piece) for side in sides]
        total.add(piece, sides, ids)
        if len(sides) > 1:
            counter.add(piece, [side.cuts(piece, row) for side, row in zip(sides, ids, strict=True)])
    figures = [
        Figures.of(
            tokenizer=side.name,
            source=source.name,
            byte_count=total.byte_count,
            characters=total.characters,
            words=total.words,
            tokens=total.tokens[place] if total.tokens else 0,
            partial_tokens=total.partial[place] if total.partial else 0,
        )
        for place, side in enumerate(sides)
    ]
    return figures, counter


def _names(tokenizers: list[Tokenizer], names: Sequence[str] | None) -> list[str]:
    if not tokenizers:
        message = "compare needs at least one tokenizer"
        raise ValueError(message)
    for place, tok in enumerate(tokenizers):
        if not isinstance(tok, Tokenizer):
            message = f"item {place} of tokenizers is no Tokenizer but {type(tok).__name__}"
            raise TypeError(message)
    if names is None:
        chosen: list[str] = []
        for tok in tokenizers:
            name = f"{tok.pattern_name or 'custom'}-{tok.vocab_size}"
            again = sum(other == name or other.startswith(f"{name} (") for other in chosen)
            chosen.append(f"{name} ({again + 1})" if again else name)
        return chosen
    if isinstance(names, str) or len(names) != len(tokenizers) or len(set(names)) != len(names):
        message = f"names must be {len(tokenizers)} different names, one for each tokenizer, not {names!r}"
        raise ValueError(message)
    return list(names)


def _wanted_languages(languages: bool | Iterable[str]) -> list[Language]:
    if languages is False:
        return []
    sample = parallel_sample()
    if languages is True:
        return list(sample)
    codes = [languages] if isinstance(languages, str) else list(languages)
    known = {language.code for language in sample}
    for code in codes:
        if code not in known:
            message = f"the sample holds no language {code!r}; it has {', '.join(sorted(known))}"
            raise ValueError(message)
    return [language for language in sample if language.code in {"en", *codes}]


def _language_figures(sides: list[_Side], sample: list[Language]) -> Iterable[LanguageFigures]:
    reference: dict[str, int] = {}  # the tokens of English, which stands first
    for language in sample:
        text = language.text
        for side in sides:
            ids = side.encode(text)
            reference.setdefault(side.name, len(ids))
            yield LanguageFigures.of(
                tokenizer=side.name,
                source=language.name,
                byte_count=len(text.encode()),
                characters=len(text),
                words=len(text.split()) if language.spaces else None,
                tokens=len(ids),
                partial_tokens=int(side.table.partial[ids].sum()),
                code=language.code,
                script=language.script,
                parity=len(ids) / reference[side.name],
            )


def _overlap(a: _Side, b: _Side) -> Overlap:
    tokens_a = {token: id_ for id_, token in ordinary_tokens(a.tok)}
    tokens_b = {token: id_ for id_, token in ordinary_tokens(b.tok)}
    shared = tokens_a.keys() & tokens_b.keys()
    union = len(tokens_a) + len(tokens_b) - len(shared)
    return Overlap(
        a=a.name,
        b=b.name,
        tokens_a=len(tokens_a),
        tokens_b=len(tokens_b),
        shared=len(shared),
        same_id=sum(tokens_a[token] == tokens_b[token] for token in shared),
        only_a=len(tokens_a) - len(shared),
        only_b=len(tokens_b) - len(shared),
        jaccard=len(shared) / union if union else 1.0,
        examples_a=_examples(tokens_a, tokens_b),
        examples_b=_examples(tokens_b, tokens_a),
    )


def _examples(tokens: dict[bytes, int], others: dict[bytes, int]) -> tuple[VocabularyToken, ...]:
    """The first tokens, by id, that the others lack."""
    own = sorted((id_, token) for token, id_ in tokens.items() if token not in others)
    return tuple(VocabularyToken(id_, token) for id_, token in own[:_EXAMPLES])
