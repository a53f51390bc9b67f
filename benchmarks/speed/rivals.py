"""Byteloom and the libraries that encode as it does, each through its own fastest methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from speed.texts import SEPARATOR, Corpus

Ids = Any
"""What a library gives: lists, arrays, bytes of uint32, or objects that hold them."""


@dataclass
class Methods:
    """A loaded tokenizer. A method that a library does not have is None."""

    call: Callable[[str], Ids]
    """One text, in whatever form is fastest."""
    ids: Callable[[str], list[int]]
    """One text to a list."""
    rows: Callable[[Corpus], Ids]
    """Documents to lists."""
    decode: Callable[[list[int]], str]
    flat: Callable[[Corpus], Ids] | None = None
    """Documents to flat ids."""


@dataclass(frozen=True)
class Rival:
    distribution: str
    modules: tuple[str, ...]
    """Imported before any clock starts."""
    load: Callable[[Path, str, int], Methods]
    """From a `tokenizer.json`, the vocabulary's name (for libraries that have it built in), and threads."""
    reads_file: bool = True
    """Whether loading reads that file by the library's own code. Else its time to load is another work."""


def _byteloom(path: Path, _: str, threads: int) -> Methods:
    import byteloom

    tok = byteloom.Tokenizer.load(path)
    return Methods(
        call=tok.encode_array,
        ids=tok.encode,
        rows=lambda corpus: tok.encode_batch(corpus.documents, threads=threads),
        flat=lambda corpus: tok.encode_batch_array(corpus.documents, threads=threads),
        decode=tok.decode,
    )


def _gigatoken(path: Path, _: str, threads: int) -> Methods:
    import gigatoken

    # The wrapper adds Python around each call.
    tok = gigatoken.Tokenizer(str(path))._backend
    separator = SEPARATOR.encode()
    parallel = threads > 1
    return Methods(
        call=tok.encode,
        ids=lambda text: tok.encode(text).tolist(),
        rows=lambda corpus: tok.encode_batch_list(corpus.documents, parallel=parallel),
        flat=lambda corpus: tok.encode_batch(
            gigatoken.BytesSource(corpus.joined, separator=separator), parallel=parallel
        ),
        decode=lambda ids: tok.decode(ids).decode(),
    )


def _fastokens(path: Path, _: str, threads: int) -> Methods:
    import fastokens

    tok = fastokens._native.Tokenizer.from_file(str(path))
    if threads == 1:

        def rows(corpus: Corpus) -> Ids:
            return [tok.encode(text).ids for text in corpus.documents]

    else:

        def rows(corpus: Corpus) -> Ids:
            return [encoding.ids for encoding in tok.encode_batch(corpus.documents)]

    return Methods(
        call=tok.encode,
        ids=lambda text: tok.encode(text).ids,
        rows=rows,
        flat=lambda corpus: tok.encode_batch_flat(corpus.documents),
        decode=tok.decode,
    )


def _tiktoken(path: Path, _: str, threads: int) -> Methods:
    import tiktoken

    from speed.vocabularies import ranks_and_pattern

    ranks, pattern = ranks_and_pattern(path)
    tok = tiktoken.Encoding("measured", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    if threads == 1:

        def rows(corpus: Corpus) -> Ids:
            return [tok.encode_ordinary(text) for text in corpus.documents]

    else:

        def rows(corpus: Corpus) -> Ids:
            return tok.encode_ordinary_batch(corpus.documents, num_threads=threads)

    return Methods(call=tok.encode_ordinary, ids=tok.encode_ordinary, rows=rows, flat=rows, decode=tok.decode)


def _tokenizers(path: Path, _: str, threads: int) -> Methods:
    import tokenizers

    tok = tokenizers.Tokenizer.from_file(str(path))

    def rows(corpus: Corpus) -> Ids:
        return [
            encoding.ids for encoding in tok.encode_batch_fast(corpus.documents, add_special_tokens=False)
        ]

    def ids(text: str) -> list[int]:
        return tok.encode(text, add_special_tokens=False).ids

    return Methods(call=ids, ids=ids, rows=rows, flat=rows, decode=tok.decode)


def _tokie(path: Path, _: str, threads: int) -> Methods:
    import tokie

    tok = tokie.Tokenizer.from_json(str(path))
    return Methods(
        call=lambda text: tok.encode(text, add_special_tokens=False),
        ids=lambda text: tok.encode(text, add_special_tokens=False).ids,
        rows=lambda corpus: [
            encoding.ids for encoding in tok.encode_batch(corpus.documents, add_special_tokens=False)
        ],
        flat=lambda corpus: tok.encode_batch_flat(corpus.documents, add_special_tokens=False),
        decode=tok.decode,
    )


def _kitoken(path: Path, _: str, threads: int) -> Methods:
    import kitoken

    tok = kitoken.Kitoken.from_tokenizers_file(str(path))
    return Methods(
        call=tok.encode,
        ids=tok.encode,
        rows=lambda corpus: [tok.encode(text) for text in corpus.documents],
        decode=lambda ids: tok.decode(ids).decode(),
    )


def _riptoken(path: Path, _: str, threads: int) -> Methods:
    import riptoken

    from speed.vocabularies import ranks_and_pattern

    ranks, pattern = ranks_and_pattern(path)
    tok = riptoken.CoreBPE(ranks, {}, pattern)
    return Methods(
        call=tok.encode_ordinary,
        ids=tok.encode_ordinary,
        rows=lambda corpus: [tok.encode_ordinary(text) for text in corpus.documents],
        decode=lambda ids: bytes(tok.decode_bytes(ids)).decode(),
    )


# These have published vocabularies inside and read no files of ours.
_BUILT_IN = {"cl100k": "cl100k_base", "o200k": "o200k_base"}


def _built_in(vocabulary: str) -> str:
    if vocabulary not in _BUILT_IN:
        raise ValueError(f"has no {vocabulary} inside")
    return _BUILT_IN[vocabulary]


def _quicktok(_: Path, vocabulary: str, threads: int) -> Methods:
    import quicktok

    tok = quicktok.get_encoding(_built_in(vocabulary))
    return Methods(
        call=tok.encode,
        ids=tok.encode,
        rows=lambda corpus: [tok.encode(text) for text in corpus.documents],
        flat=lambda corpus: tok.encode_batch(corpus.documents, threads, False),
        decode=tok.decode,
    )


def _toktok(_: Path, vocabulary: str, threads: int) -> Methods:
    import toktok

    tok = toktok._encoding(_built_in(vocabulary))
    if threads == 1:

        def rows(corpus: Corpus) -> Ids:
            return [tok.encode_ordinary(text) for text in corpus.documents]

    else:

        def rows(corpus: Corpus) -> Ids:
            return tok.encode_batch(corpus.documents, threads=threads)

    return Methods(
        call=tok.encode_ordinary,
        ids=tok.encode_ordinary,
        rows=rows,
        flat=lambda corpus: tok.encode_batch_to_numpy(corpus.documents, threads=threads),
        decode=tok.decode,
    )


def _splintr(_: Path, vocabulary: str, threads: int) -> Methods:
    import splintr

    tok = splintr.Tokenizer.from_pretrained(_built_in(vocabulary))
    return Methods(
        call=tok.encode_flat,
        ids=tok.encode,
        rows=lambda corpus: tok.encode_batch(corpus.documents),
        flat=lambda corpus: tok.encode_batch_flat(corpus.documents),
        decode=tok.decode,
    )


def _rs_bpe(_: Path, vocabulary: str, threads: int) -> Methods:
    from rs_bpe.bpe import openai

    tok = getattr(openai, _built_in(vocabulary))()
    return Methods(
        call=tok.encode,
        ids=tok.encode,
        rows=lambda corpus: [tok.encode(text) for text in corpus.documents],
        decode=tok.decode,
    )


RIVALS: dict[str, Rival] = {
    "byteloom": Rival("byteloom", ("numpy", "byteloom"), _byteloom),
    "gigatoken": Rival("gigatoken", ("numpy", "awkward", "gigatoken"), _gigatoken),
    "fastokens": Rival("fastokens", ("fastokens",), _fastokens),
    "tiktoken": Rival("tiktoken", ("tiktoken",), _tiktoken, reads_file=False),
    "tokenizers": Rival("tokenizers", ("tokenizers",), _tokenizers),
    "tokie": Rival("tokie", ("numpy", "tokie"), _tokie),
    "quicktok": Rival("quicktok-v1", ("numpy", "quicktok"), _quicktok, reads_file=False),
    "toktok": Rival("toktok-rs", ("numpy", "toktok"), _toktok, reads_file=False),
    "splintr": Rival("splintr-rs", ("splintr",), _splintr, reads_file=False),
    "rs_bpe": Rival("rs-bpe", ("rs_bpe.bpe",), _rs_bpe, reads_file=False),
    "riptoken": Rival("riptoken", ("riptoken",), _riptoken, reads_file=False),
    "kitoken": Rival("kitoken", ("kitoken",), _kitoken),
}
