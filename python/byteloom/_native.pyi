"""Types of the Rust extension. Documentation lives in the docstrings of the extension itself."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, final, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import Self

from ._ragged import Ragged

Text: TypeAlias = str | bytes | bytearray | memoryview
Errors: TypeAlias = Literal["strict", "replace"]
SpecialSet: TypeAlias = Literal["all"] | Collection[str]
Ids: TypeAlias = Iterable[int] | npt.NDArray[np.integer[Any]]
Dtype: TypeAlias = Literal["uint16", "uint32"] | type[np.uint16] | type[np.uint32]

# What `Explainer` gives: tuples, since the records are made in Python.
RawSpan: TypeAlias = tuple[int, int]
RawPair: TypeAlias = tuple[int, int, int, int, int, int]  # rank, at, start, left, right, result
RawSymbol: TypeAlias = tuple[int, int, Literal["byte", "character", "byte_fallback", "unknown"]]
RawStep: TypeAlias = tuple[RawPair, int, list[RawPair], int]  # pair, end, losers, how many more
RawTrace: TypeAlias = tuple[list[RawStep], list[tuple[int, int, int, int]], list[int], list[int]]
RawToken: TypeAlias = tuple[int, int, RawSpan, RawSpan]  # id, length, bytes, characters
RawSpecial: TypeAlias = tuple[int, bytes, RawSpan, RawSpan, bool]
RawPreToken: TypeAlias = tuple[
    tuple[int, int, int],
    bytes,
    bytes,
    RawSpan,
    list[tuple[int | None, RawSpan]],
    bool,
    list[RawSymbol],
    RawTrace,
    list[RawToken],
]

__version__: str

class NativeTokenizer:
    def __new__(cls, native: NativeTokenizer | None = None, /) -> Self: ...

    # Text in, ids out.
    def encode(
        self,
        text: Text,
        *,
        allowed_special: SpecialSet = ...,
        disallowed_special: SpecialSet = ...,
        add_special_tokens: bool = ...,
        errors: Errors = ...,
    ) -> list[int]: ...
    def encode_ordinary(self, text: Text, *, errors: Errors = ...) -> list[int]: ...
    def encode_batch(
        self,
        texts: Iterable[Text],
        *,
        allowed_special: SpecialSet = ...,
        disallowed_special: SpecialSet = ...,
        add_special_tokens: bool = ...,
        errors: Errors = ...,
        threads: int | None = ...,
    ) -> list[list[int]]: ...
    def encode_array(
        self,
        text: Text,
        *,
        allowed_special: SpecialSet = ...,
        disallowed_special: SpecialSet = ...,
        add_special_tokens: bool = ...,
        errors: Errors = ...,
        dtype: Dtype | None = ...,
        out: npt.NDArray[np.uint16] | npt.NDArray[np.uint32] | None = ...,
    ) -> npt.NDArray[np.uint16] | npt.NDArray[np.uint32]: ...
    def encode_batch_array(
        self,
        texts: Iterable[Text],
        *,
        allowed_special: SpecialSet = ...,
        disallowed_special: SpecialSet = ...,
        add_special_tokens: bool = ...,
        errors: Errors = ...,
        threads: int | None = ...,
        dtype: Dtype | None = ...,
    ) -> Ragged: ...
    def encode_with_offsets(
        self,
        text: Text,
        *,
        unit: Literal["char", "byte"] = ...,
        allowed_special: SpecialSet = ...,
        disallowed_special: SpecialSet = ...,
        add_special_tokens: bool = ...,
        errors: Errors = ...,
    ) -> tuple[list[int], list[tuple[int, int]]]: ...
    def count(
        self,
        text: Text,
        *,
        allowed_special: SpecialSet = ...,
        disallowed_special: SpecialSet = ...,
        add_special_tokens: bool = ...,
        errors: Errors = ...,
    ) -> int: ...
    def count_batch(
        self,
        texts: Iterable[Text],
        *,
        allowed_special: SpecialSet = ...,
        disallowed_special: SpecialSet = ...,
        add_special_tokens: bool = ...,
        errors: Errors = ...,
        threads: int | None = ...,
    ) -> list[int]: ...
    @overload
    def truncate(
        self,
        text: str,
        max_tokens: int,
        *,
        allowed_special: SpecialSet = ...,
        disallowed_special: SpecialSet = ...,
        errors: Errors = ...,
    ) -> str: ...
    @overload
    def truncate(
        self,
        text: bytes | bytearray | memoryview,
        max_tokens: int,
        *,
        allowed_special: SpecialSet = ...,
        disallowed_special: SpecialSet = ...,
        errors: Errors = ...,
    ) -> bytes: ...
    @overload
    def chunk(
        self,
        text: str,
        max_tokens: int,
        *,
        allowed_special: SpecialSet = ...,
        disallowed_special: SpecialSet = ...,
        errors: Errors = ...,
    ) -> list[str]: ...
    @overload
    def chunk(
        self,
        text: bytes | bytearray | memoryview,
        max_tokens: int,
        *,
        allowed_special: SpecialSet = ...,
        disallowed_special: SpecialSet = ...,
        errors: Errors = ...,
    ) -> list[bytes]: ...
    @overload
    def pretokens(self, text: str, *, errors: Errors = ...) -> list[str]: ...
    @overload
    def pretokens(self, text: bytes | bytearray | memoryview, *, errors: Errors = ...) -> list[bytes]: ...

    # Ids in, text out.
    def decode(self, ids: Ids, *, errors: str = ..., skip_special_tokens: bool = ...) -> str: ...
    def decode_bytes(self, ids: Ids, *, skip_special_tokens: bool = ...) -> bytes: ...
    def decode_batch(
        self,
        batch: Iterable[Ids],
        *,
        errors: str = ...,
        skip_special_tokens: bool = ...,
        threads: int | None = ...,
    ) -> list[str]: ...
    def decode_with_offsets(self, ids: Ids, *, skip_special_tokens: bool = ...) -> tuple[str, list[int]]: ...
    def stream_decoder(self, *, skip_special_tokens: bool = ...) -> StreamDecoder: ...

    # Look-ups.
    @property
    def vocab_size(self) -> int: ...
    @property
    def n_vocab(self) -> int: ...
    def __len__(self) -> int: ...
    @property
    def max_token_id(self) -> int: ...
    def id_to_bytes(self, id: int, /) -> bytes: ...
    def id_to_token(self, id: int, /) -> str: ...
    def token_to_id(self, token: str | bytes, /) -> int | None: ...
    @property
    def merges(self) -> list[tuple[int, int]]: ...
    @property
    def special_tokens(self) -> dict[str, int]: ...
    @property
    def added_tokens(self) -> dict[str, int]: ...
    @property
    def bos_id(self) -> int | None: ...
    @property
    def eos_id(self) -> int | None: ...
    @property
    def pad_id(self) -> int | None: ...
    @property
    def pattern(self) -> str: ...
    @property
    def pattern_name(self) -> str | None: ...
    @property
    def fingerprint(self) -> str: ...

    # What the Python half is built on.
    def _explain(
        self,
        text: Text,
        allowed_special: SpecialSet,
        disallowed_special: SpecialSet,
        add_special_tokens: bool,
        errors: Errors,
        max_steps: int | None,
        max_losers: int | None,
        /,
    ) -> Explainer: ...
    def _alternatives(self) -> list[list[str]]: ...
    def _pattern_names(self) -> list[str | None]: ...
    def _info(self) -> dict[str, Any]: ...
    def _metadata(self) -> str: ...
    # How often the pair of each merge occurred, and whether another occurred as often.
    def _merge_figures(self) -> tuple[list[int], list[bool]] | None: ...
    def _to_json(self) -> bytes: ...
    def _to_tiktoken(self) -> tuple[bytes, list[str]]: ...
    def _to_huggingface(self, merges_as_strings: bool, with_config: bool, /) -> tuple[bytes, list[str]]: ...
    def _huggingface_config(self, chat_template: str | None, /) -> bytes: ...
    def _to_gpt2_files(self) -> tuple[bytes, bytes, list[str]]: ...
    def _with_cache_bytes(self, cache_bytes: int, /) -> NativeTokenizer: ...
    def _with_special_tokens(
        self,
        added: Sequence[tuple[str, int | None]],
        bos: str | None,
        eos: str | None,
        pad: str | None,
        /,
    ) -> NativeTokenizer: ...
    # The new id of each old one, -1 for none, and how many tokens stay for others only.
    def _resized(self, vocab_size: int, /) -> tuple[NativeTokenizer, npt.NDArray[np.int64], int]: ...
    # Tokens that are used stay; with a size as many as that.
    def _pruned(
        self, uses: npt.NDArray[np.uint64], vocab_size: int | None, /
    ) -> tuple[NativeTokenizer, npt.NDArray[np.int64], int]: ...
    # By id; special tokens are not counted.
    def _uses(
        self,
        documents: Iterator[str | bytes | PathLike[str]],
        *,
        counts: NativeCounts | None,
        errors: str,
        threads: int | None,
        expected_bytes: int | None,
        progress: Callable[[dict[str, Any]], object] | None,
    ) -> npt.NDArray[np.uint64]: ...

@final
class Explainer:
    @property
    def bos(self) -> int | None: ...
    @property
    def eos(self) -> int | None: ...
    @property
    def text(self) -> bytes: ...
    @property
    def characters(self) -> int: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> RawSpecial | RawPreToken: ...

@final
class StreamDecoder:
    def feed(self, ids: int | Ids, /) -> str: ...
    def flush(self) -> str: ...

@final
class NativeEntropyModel:
    def __new__(
        cls,
        *,
        order: int,
        alpha: float,
        smoothing: Literal["backoff", "witten-bell"],
        memory_limit: int | None,
    ) -> Self: ...
    @property
    def order(self) -> int: ...
    @property
    def alpha(self) -> float: ...
    @property
    def smoothing(self) -> Literal["backoff", "witten-bell"]: ...
    @property
    def memory_limit(self) -> int | None: ...
    @property
    def documents(self) -> int: ...
    @property
    def trained_bytes(self) -> int: ...
    def reset(self) -> None: ...
    # `errors` is "strict", "replace" or "keep", as in `train`. All or nothing where it raises.
    def update(
        self,
        documents: Iterator[str | bytes | PathLike[str]],
        *,
        errors: str,
        threads: int | None,
        expected_bytes: int | None,
        progress: Callable[[dict[str, Any]], object] | None,
    ) -> None: ...
    def merge(self, other: NativeEntropyModel, /) -> None: ...
    # With `reset_on`, every byte behind one of these is predicted as the first byte of a document.
    def entropies(self, data: Text, /, *, reset_on: bytes | None = ...) -> npt.NDArray[np.float64]: ...
    # The lengths of the contexts that answer, and how often each was seen.
    def contexts(
        self, data: Text, /, *, reset_on: bytes | None = ...
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint64]]: ...
    def distribution(self, history: Text, /) -> npt.NDArray[np.float64]: ...
    def bits_per_byte(self, data: Text, /) -> float: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes, /) -> NativeEntropyModel: ...
    def fingerprint(self) -> str: ...
    def info(self) -> dict[str, Any]: ...

@final
class NativePatcher:
    # A byte behind one of `reset_on` is as the first byte of a document: predicted without context, and
    # always the start of a patch. So `reset_on=b"\n"` cuts each line as if it stood alone.
    @staticmethod
    def entropy(
        model: NativeEntropyModel,
        /,
        *,
        theta: float | None,
        rise: float | None,
        max_patch_length: int | None,
        reset_on: bytes | None,
    ) -> NativePatcher: ...
    @staticmethod
    def space(*, max_patch_length: int | None) -> NativePatcher: ...
    @staticmethod
    def static(size: int, /) -> NativePatcher: ...
    @staticmethod
    def byte() -> NativePatcher: ...
    def boundaries(self, data: Text, /) -> npt.NDArray[np.uint32] | npt.NDArray[np.int64]: ...
    def lengths(self, data: Text, /) -> npt.NDArray[np.unsignedinteger[Any]]: ...
    # Flat values and int64 offsets, one more than there are texts. Starts count from the start of their text.
    def batch_boundaries(
        self, texts: Iterable[Text], /, *, threads: int | None
    ) -> tuple[npt.NDArray[np.uint32] | npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
    def batch_lengths(
        self, texts: Iterable[Text], /, *, threads: int | None
    ) -> tuple[npt.NDArray[np.unsignedinteger[Any]], npt.NDArray[np.int64]]: ...
    def stream(self) -> NativePatchStream: ...
    def info(self) -> dict[str, Any]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class NativePatchStream:
    # A patch is given out as soon as its last byte is known to be the last, so `next_starts` is true exactly
    # when nothing is pending. `finish` ends the document; the stream may then take another one.
    def feed(self, data: bytes | bytearray | memoryview | str, /) -> list[bytes]: ...
    def finish(self) -> bytes | None: ...
    @property
    def next_starts(self) -> bool: ...
    @property
    def pending(self) -> bytes: ...

# Cuts patches that are longer than `max_patch_length`; `starts` ascend, begin with 0 and lie below `n_bytes`.
def limit_starts(
    starts: npt.NDArray[np.integer[Any]], n_bytes: int, /, *, max_patch_length: int | None
) -> npt.NDArray[np.uint32] | npt.NDArray[np.int64]: ...

# The lengths of the patches that begin at `starts`, in the smallest type that holds them.
def lengths_from_starts(
    starts: npt.NDArray[np.integer[Any]], n_bytes: int, /
) -> npt.NDArray[np.unsignedinteger[Any]]: ...

@final
class NativeCounts:
    def __new__(
        cls,
        *,
        pattern: str,
        special_tokens: Sequence[str],
        memory_limit: int | None,
        folder: str | PathLike[str] | None,
    ) -> Self: ...
    @property
    def pattern(self) -> str: ...
    @property
    def special_tokens(self) -> list[str]: ...
    @property
    def memory_limit(self) -> int | None: ...
    # All or nothing where it raises.
    def update(
        self,
        documents: Iterator[str | bytes | PathLike[str]],
        *,
        errors: str,
        threads: int | None,
        expected_bytes: int | None,
        reading: Callable[[], str | None],
        progress: Callable[[dict[str, Any]], object] | None,
    ) -> None: ...
    def _reading(self) -> str: ...
    def merge(self, other: NativeCounts, /) -> None: ...
    def prune(self, min_count: int, /) -> None: ...
    # Distinct pre-tokens, and the sum of their counts.
    def sums(self) -> tuple[int, int]: ...
    def most_common(self, number: int, /) -> list[tuple[bytes, int]]: ...
    def write_file(self, path: str | PathLike[str], /) -> None: ...
    @staticmethod
    def read_file(
        path: str | PathLike[str], /, *, memory_limit: int | None, folder: str | PathLike[str] | None
    ) -> NativeCounts: ...
    def write_table(self, path: str | PathLike[str], /) -> int: ...
    @staticmethod
    def read_table(
        path: str | PathLike[str],
        /,
        *,
        pattern: str,
        special_tokens: Sequence[str],
        memory_limit: int | None,
        folder: str | PathLike[str] | None,
    ) -> NativeCounts: ...
    def info(self) -> dict[str, Any]: ...

def train(
    documents: Iterator[str | bytes | PathLike[str]],
    *,
    counts: NativeCounts | None,
    vocab_size: int,
    pattern: str,
    alphabet: str,
    unk: str | None,
    special_tokens: Sequence[str],
    special_position: str,
    special_text: str,
    bos: str | None,
    eos: str | None,
    pad: str | None,
    min_frequency: int,
    max_token_length: int | None,
    tie_break: str,
    errors: str,
    threads: int | None,
    expected_bytes: int | None,
    reading: Callable[[], str | None],
    progress: Callable[[dict[str, Any]], object] | None,
    cache_bytes: int | None,
    trace: bool,
    seed_tokens: Sequence[bytes],
) -> NativeTokenizer: ...
def extend(
    tokenizer: NativeTokenizer,
    documents: Iterator[str | bytes | PathLike[str]],
    *,
    counts: NativeCounts | None,
    vocab_size: int,
    special_text: str,
    min_frequency: int,
    max_token_length: int | None,
    tie_break: str,
    errors: str,
    threads: int | None,
    expected_bytes: int | None,
    reading: Callable[[], str | None],
    progress: Callable[[dict[str, Any]], object] | None,
    cache_bytes: int | None,
    trace: bool,
) -> NativeTokenizer: ...
def from_merges(
    merges: Iterable[tuple[int, int]],
    /,
    *,
    characters: Sequence[str] | None,
    unk: str | None,
    pattern: str,
    special_tokens: Sequence[str],
    special_position: str,
    bos: str | None,
    eos: str | None,
    pad: str | None,
    cache_bytes: int | None,
) -> NativeTokenizer: ...
def from_json(data: bytes, /, *, cache_bytes: int | None) -> NativeTokenizer: ...
def from_tiktoken(
    source: bytes | Mapping[bytes, int],
    /,
    *,
    pattern: str | None,
    special_tokens: Mapping[str, int] | None,
    cache_bytes: int | None,
) -> NativeTokenizer: ...
def from_huggingface(data: bytes, config: bytes | None, /, *, cache_bytes: int | None) -> NativeTokenizer: ...
def from_plain_huggingface(
    data: bytes, config: Callable[[], bytes | None], /, *, cache_bytes: int | None
) -> NativeTokenizer | None: ...
def from_gpt2_files(
    vocab: bytes,
    merges: bytes,
    /,
    *,
    pattern: str,
    special_tokens: Sequence[tuple[str, int | None]],
    cache_bytes: int | None,
) -> NativeTokenizer: ...
def from_sentencepiece(data: bytes, /, *, cache_bytes: int | None) -> NativeTokenizer: ...
def from_minbpe(data: bytes, /, *, cache_bytes: int | None) -> NativeTokenizer: ...
def sniff(data: bytes, /) -> str: ...
def pattern_names() -> list[str]: ...
def simd_path() -> str: ...
def write_atomically(path: PathLike[str] | str, data: bytes, /) -> None: ...
