"""`Patcher`: bytes to patches, by any rule."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from byteloom import _native
from byteloom._native import NativePatchStream as PatchStream
from byteloom._tokenizer import Tokenizer
from byteloom.errors import PatchingError

from ._batch import PatchBatch
from ._blt import BltExample, blt_example
from ._report import PatchReport, report
from ._starts import token_starts
from ._texts import (
    Boundaries,
    Document,
    Lengths,
    Text,
    as_bytes,
    number,
    reset_bytes,
    spans,
    utf8,
    whole_number,
)

if TYPE_CHECKING:
    from byteloom.explain import ExplainedPatch, PatchExplanation

    from ._model import ByteEntropyModel

__all__ = ["PatchStream", "Patcher", "Units", "from_bits", "to_bits"]

Units: TypeAlias = Literal["bits", "nats"]
Rule: TypeAlias = Literal["global", "monotonic", "both", "space", "static", "byte", "bpe"]


def to_bits(value: float, units: Units) -> float:
    """A threshold of `units` in bits.

    >>> to_bits(1.335442066192627, "nats")
    1.9266356462906138
    """
    if units not in ("bits", "nats"):
        raise PatchingError(f'units must be "bits" or "nats", not {units!r}')
    return value if units == "bits" else value / math.log(2)


def from_bits(value: float, units: Units) -> float:
    """A threshold of bits in `units`."""
    return value if units == "bits" else value * math.log(2)


@dataclass(frozen=True)
class _Options:
    theta: float | None = None
    rise: float | None = None
    units: Units | None = None
    size: int | None = None
    max_patch_length: int | None = None
    reset_on: bytes | None = None

    def given(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


class Patcher:
    """Cuts bytes into patches. It never changes, and may be shared between threads and pickled.

    A patcher is made by `ByteEntropyModel.patcher` or by one of `Patcher.entropy`, `space`, `static`, `byte`
    and `bpe`. The patches of a text, joined, are the text; none is empty. Text is any bytes, valid UTF-8 or
    not; a string is its UTF-8. All but `bpe` decide from the bytes before alone, so a text that goes on
    keeps its patches, except that the last may grow.

    >>> from byteloom.patching import Patcher
    >>> patcher = Patcher.space()
    >>> patcher.patches("to be, or not")
    [b'to ', b'be,', b' or ', b'not']
    >>> patcher.lengths("to be, or not").tolist(), patcher.boundaries("to be, or not").tolist()
    ([3, 3, 4, 3], [0, 3, 6, 10])
    """

    __slots__ = ("_model", "_native", "_options", "_rule", "_tokenizer", "_unlimited")

    def __init__(
        self,
        rule: Rule,
        options: _Options,
        native: _native.NativePatcher | None,
        *,
        model: ByteEntropyModel | None = None,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        self._rule = rule
        self._options = options
        # `None` for "bpe", which a tokenizer does.
        self._native = native
        self._model = model
        self._tokenizer = tokenizer
        self._unlimited: Patcher | None = None

    # Makers.

    @classmethod
    def entropy(
        cls,
        model: ByteEntropyModel,
        *,
        units: Units,
        theta: float | None = None,
        rise: float | None = None,
        max_patch_length: int | None = None,
        reset_on: bytes | None = None,
    ) -> Patcher:
        r"""A patcher that starts a patch where `model` finds the next byte open.

        With `theta` alone (rule `"global"`), a byte starts a patch if its entropy is above `theta`. With
        `rise` alone (`"monotonic"`), if its entropy is more than `rise` above that of the byte before. With
        both (`"both"`), if both hold. Equal is not above.

        Args:
            model: Foretells the bytes. The patcher keeps it as it is now, whatever it learns later.
            units: The unit of the thresholds: `"bits"`, as in this package and the courses, or `"nats"`, as
                in the published configurations of BLT, whose 1.3354 is 1.9266 bits.
            theta: Threshold of the entropy.
            rise: Threshold of the rise from one byte to the next; it may be negative.
            max_patch_length: Longest patch in bytes. A longer one is cut into pieces of this length and a
                rest; where the patches start otherwise does not change.
            reset_on: Bytes after which all is as at the start of a text: the next byte is foretold without
                context and starts a patch. `b"\\\\n"` cuts each line as if it stood alone.

        Raises:
            PatchingError: no threshold, one that is no number, or another unit.

        >>> from byteloom.patching import ByteEntropyModel, Patcher
        >>> model = ByteEntropyModel().train("the cat sat on the mat. " * 20)
        >>> Patcher.entropy(model, theta=1.335442066192627, units="nats").rule
        'global'
        """
        from ._model import ByteEntropyModel  # noqa: PLC0415 - each of the two makes the other

        if not isinstance(model, ByteEntropyModel):
            raise TypeError(f"model must be a ByteEntropyModel, not {type(model).__name__}")
        if theta is None and rise is None:
            raise PatchingError(
                "give theta, rise or both; model.threshold_for(sample) finds one for a mean size"
            )
        theta = None if theta is None else number(theta, "theta")
        rise = None if rise is None else number(rise, "rise")
        longest = _limit(max_patch_length)
        reset_on = reset_bytes(reset_on)
        frozen = model.__copy__()
        native = _native.NativePatcher.entropy(
            frozen._native,  # noqa: SLF001 - of this package
            theta=None if theta is None else to_bits(theta, units),
            rise=None if rise is None else to_bits(rise, units),
            max_patch_length=longest,
            reset_on=reset_on,
        )
        options = _Options(theta, rise, units, None, longest, reset_on)
        rule: Rule = "global" if rise is None else "monotonic" if theta is None else "both"
        return cls(rule, options, native, model=frozen)

    @classmethod
    def space(cls, *, max_patch_length: int | None = None) -> Patcher:
        """A patcher that cuts behind spaces and signs: SpaceByte's rule, which needs no model.

        A byte is space-like if it is neither an ASCII letter or digit nor inside a UTF-8 character. A patch
        starts behind a space-like byte that does not itself follow one (Slagle 2024, arXiv:2404.14408).

        >>> from byteloom.patching import Patcher
        >>> Patcher.space().patches("the cat, the mat")
        [b'the ', b'cat,', b' the ', b'mat']
        """
        longest = _limit(max_patch_length)
        native = _native.NativePatcher.space(max_patch_length=longest)
        return cls("space", _Options(max_patch_length=longest), native)

    @classmethod
    def static(cls, size: int) -> Patcher:
        """A patcher with patches of `size` bytes, the last one shorter.

        >>> from byteloom.patching import Patcher
        >>> Patcher.static(4).patches("ten letters")
        [b'ten ', b'lett', b'ers']
        """
        size = whole_number(size, "size")
        return cls("static", _Options(size=size), _native.NativePatcher.static(size))

    @classmethod
    def byte(cls) -> Patcher:
        r"""A patcher that makes each byte a patch.

        >>> from byteloom.patching import Patcher
        >>> Patcher.byte().patches("é")
        [b'\xc3', b'\xa9']
        """
        return cls("byte", _Options(), _native.NativePatcher.byte())

    @classmethod
    def bpe(cls, tokenizer: Tokenizer, *, max_patch_length: int | None = None) -> Patcher:
        """A patcher whose patches are the tokens of a tokenizer.

        Text that spells a special token is taken as ordinary text. This rule looks ahead and cannot stream.

        >>> import byteloom as bl
        >>> from byteloom.patching import Patcher
        >>> tok = bl.Tokenizer.train("the cat and the can and the cat", vocab_size=265)
        >>> Patcher.bpe(tok).patches("the cat")
        [b'the', b' cat']
        """
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(f"tokenizer must be a byteloom.Tokenizer, not {type(tokenizer).__name__}")
        longest = _limit(max_patch_length)
        return cls("bpe", _Options(max_patch_length=longest), None, tokenizer=tokenizer)

    # Patches.

    def boundaries(self, data: Text) -> Boundaries:
        """Where patches start: indices of their first bytes, ascending, the first of them 0.

        Returns:
            uint32, or int64 for more than 4 GiB; empty for an empty text.

        >>> from byteloom.patching import Patcher
        >>> Patcher.static(3).boundaries("seven b")
        array([0, 3, 6], dtype=uint32)
        """
        if self._native is not None:
            return self._native.boundaries(utf8(data))
        text = as_bytes(data)
        return self._token_boundaries(text)

    def _token_boundaries(self, text: bytes) -> Boundaries:
        assert self._tokenizer is not None  # noqa: S101 - a patcher has this or a native rule
        starts = token_starts(self._tokenizer, text)
        return _native.limit_starts(starts, len(text), max_patch_length=self.max_patch_length)

    def lengths(self, data: Text) -> Lengths:
        """The lengths of the patches in bytes; they add up to the length of the text.

        Returns:
            The smallest unsigned dtype that holds them: uint8, uint16 or uint32.

        >>> from byteloom.patching import Patcher
        >>> Patcher.static(3).lengths("seven b")
        array([3, 3, 1], dtype=uint8)
        """
        if self._native is not None:
            return self._native.lengths(utf8(data))
        text = as_bytes(data)
        return _native.lengths_from_starts(self._token_boundaries(text), len(text))

    def patches(self, data: Text) -> list[bytes]:
        """The patches themselves: slices of the text.

        >>> from byteloom.patching import Patcher
        >>> Patcher.static(3).patches("seven b")
        [b'sev', b'en ', b'b']
        """
        text = as_bytes(data)
        return [text[start:end] for start, end in spans(self.boundaries(text), len(text))]

    def batch(self, texts: Iterable[Text], *, threads: int | None = None) -> PatchBatch:
        """The patches of many texts, each patched as if it were alone.

        Args:
            texts: The texts.
            threads: Threads that patch; all processors by default. Results do not depend on it.

        Returns:
            Their lengths, flat, with the place where each text begins.

        >>> from byteloom.patching import Patcher
        >>> Patcher.static(2).batch(["abc", "", "ab"]).tolist()
        [[2, 1], [], [2]]
        """
        if isinstance(texts, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"texts must be an iterable of texts, not one {type(texts).__name__}")
        if self._native is not None:
            encoded = (utf8(text, f"text {index}") for index, text in enumerate(texts))
            return PatchBatch(*self._native.batch_lengths(encoded, threads=threads))
        if threads is not None:
            whole_number(threads, "threads")
        rows = [self.lengths(as_bytes(text, f"text {index}")) for index, text in enumerate(texts)]
        widest = np.result_type(np.uint8, *rows)
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        return PatchBatch(np.concatenate([np.empty(0, widest), *rows]), offsets)

    def stream(self) -> PatchStream:
        """A stream, which takes a text in pieces.

        `feed(piece)` gives the patches that are finished, `finish()` the last one, if it is not. However the
        text is cut, the patches are the same. `next_starts` says whether the next byte, whatever it is, will
        start a patch.

        Raises:
            PatchingError: the rule is `"bpe"`, which looks ahead.

        >>> from byteloom.patching import Patcher
        >>> stream = Patcher.space().stream()
        >>> stream.feed(b"the ca"), stream.feed(b"t sat"), stream.finish()
        ([b'the '], [b'cat '], b'sat')
        """
        if self._native is None:
            raise PatchingError(
                "bpe patches depend on the bytes that follow, so they cannot stream; patch a whole text"
            )
        return self._native.stream()

    def entropies(self, data: Text) -> npt.NDArray[np.float64]:
        """The entropies that this patcher goes by, in bits: float64, one for each byte.

        Raises:
            PatchingError: the rule needs none.
        """
        if self._model is None:
            raise PatchingError(f"rule {self._rule!r} goes by no entropies")
        return self._model.entropies(data, reset_on=self.reset_on)

    def explain(self, data: Text, *, model: ByteEntropyModel | None = None) -> PatchExplanation:
        """Why each patch starts where it does, as data: entropies, contexts and reasons.

        The patches are those of `patches`. The records are described in `byteloom.explain`. All of them are
        in memory at once, some hundred bytes for each byte of text: for more than some pages use
        `explain_stream`.

        Args:
            data: A text of any bytes.
            model: For rules that go by no entropies: a model to tell them by all the same.

        Returns:
            A `PatchExplanation`.

        Raises:
            PatchingError: `model` was given, and the rule has one of its own.

        >>> from byteloom.patching import ByteEntropyModel
        >>> model = ByteEntropyModel().train("the cat sat on the mat. " * 20)
        >>> explanation = model.patcher(theta=1.5, units="bits").explain("the mat")
        >>> for patch in explanation.patches:
        ...     first = patch.explained[0]
        ...     print(patch.bytes, patch.start.rule, round(first.entropy, 2), first.context, first.seen)
        b't' first 3.16 b'' 480
        b'he ' global 1.85 b't' 100
        b'mat' global 1.74 b'he ' 40
        """
        from ._explain import explain  # noqa: PLC0415 - few programs explain

        return explain(self, as_bytes(data), model)

    def explain_stream(
        self, data: Text, *, model: ByteEntropyModel | None = None
    ) -> Iterator[ExplainedPatch]:
        """The patches of `explain` one by one, each made when it is asked for.

        A patch of more than `ExplainedPatch.MAX_BYTES` bytes comes in several records. Memory beyond the text
        is that of a block of it, of the longest patch, and for rule `"bpe"` of all places where tokens start.
        Arguments and errors are those of `explain`; errors are raised at once.

        >>> from byteloom.patching import Patcher
        >>> patches = Patcher.space().explain_stream("to be or not " * 100_000)
        >>> [(patch.bytes, patch.start.rule) for _, patch in zip(range(2), patches)]
        [(b'to ', 'first'), (b'be ', 'space')]
        """
        from ._explain import stream  # noqa: PLC0415 - as above

        return stream(self, as_bytes(data), model)

    # What is made of them.

    def report(
        self, data: Document | Iterable[Document], *, tokenizer: Tokenizer | None = None
    ) -> PatchReport:
        """What the patches of a text are like: sizes, compute, agreement with words and tokens.

        Args:
            data: Text, bytes, a path or an iterable of these, one document each.
            tokenizer: Compare patch starts with the starts of its tokens too.

        >>> from byteloom.patching import Patcher
        >>> report = Patcher.space().report("the cat sat on the mat")
        >>> report.patches, round(report.mean, 2), report.word_starts.f1
        (6, 3.67, 1.0)
        """
        return report(self, data, tokenizer)

    def blt_example(
        self, data: Text, *, bos: bool = True, eos: bool = True, include_next_token: bool = False
    ) -> BltExample:
        """A text as training code of BLT reads it: token ids and patch lengths.

        Ids are bytes + 4, after BOE 0, BOS 1, EOS 2 and BPE 3. The first token, BOS as a rule, is a patch of
        its own, and the next starts one. EOS belongs to the last patch unless the rule starts one there. A
        limit of patch length counts tokens. `static` and `byte` patches are counted from the first token on.
        By the rules of a rise that code also starts one at the second byte of a text; this follows the rule.

        Args:
            data: The text.
            bos: Begin with BOS.
            eos: End with EOS.
            include_next_token: Count the token after the last as well, whose place is known before it is: the
                lengths then add up to one more than the tokens. After EOS a new sequence begins.

        Returns:
            `BltExample(tokens, patch_lengths)`, both int64.

        >>> from byteloom.patching import Patcher
        >>> example = Patcher.space().blt_example("a cat")
        >>> example.tokens.tolist(), example.patch_lengths.tolist()
        ([1, 101, 36, 103, 101, 120, 2], [1, 2, 4])
        """
        return blt_example(self, data, bos=bos, eos=eos, include_next_token=include_next_token)

    def unlimited(self) -> Patcher:
        """The same patcher without `max_patch_length`.

        >>> from byteloom.patching import Patcher
        >>> Patcher.space(max_patch_length=2).unlimited().patches("the cat")
        [b'the ', b'cat']
        """
        if self.max_patch_length is None:
            return self
        if self._unlimited is None:
            # Kept: making one takes as long as patching megabytes.
            options = replace(self._options, max_patch_length=None)
            self._unlimited = _unpickle(self._rule, self._model or self._tokenizer, options.given())
        return self._unlimited

    # What it is.

    @property
    def rule(self) -> Rule:
        """`"global"`, `"monotonic"`, `"both"`, `"space"`, `"static"`, `"byte"` or `"bpe"`."""
        return self._rule

    @property
    def model(self) -> ByteEntropyModel | None:
        """The entropy model as it was when the patcher was made, where the rule has one."""
        return None if self._model is None else self._model.__copy__()

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The tokenizer, where the rule is `"bpe"`."""
        return self._tokenizer

    @property
    def theta(self) -> float | None:
        """Threshold of the entropy, in `units`."""
        return self._options.theta

    @property
    def rise(self) -> float | None:
        """Threshold of the rise, in `units`."""
        return self._options.rise

    @property
    def units(self) -> Units | None:
        """The unit of the thresholds."""
        return self._options.units

    @property
    def size(self) -> int | None:
        """The patch size, where the rule is `"static"`."""
        return self._options.size

    @property
    def max_patch_length(self) -> int | None:
        """The longest patch in bytes, or `None`."""
        return self._options.max_patch_length

    @property
    def reset_on(self) -> bytes | None:
        """Bytes after which all is as at the start of a text."""
        return self._options.reset_on

    def __repr__(self) -> str:
        options = "".join(f" {name}={value!r}" for name, value in self._options.given().items())
        return f"<byteloom.patching.Patcher rule={self._rule!r}{options}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Patcher):
            return NotImplemented
        mine = (self._rule, self._options, self._tokenizer, self._model)
        return mine == (other.rule, other._options, other.tokenizer, other.model)

    def __hash__(self) -> int:
        return hash((self._rule, self._options))

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._rule, self._model or self._tokenizer, self._options.given())


def _limit(max_patch_length: int | None) -> int | None:
    return None if max_patch_length is None else whole_number(max_patch_length, "max_patch_length")


def _unpickle(rule: Rule, source: Any, options: dict[str, Any]) -> Patcher:
    if rule == "space":
        return Patcher.space(**options)
    if rule == "static":
        return Patcher.static(**options)
    if rule == "byte":
        return Patcher.byte()
    return Patcher.bpe(source, **options) if rule == "bpe" else Patcher.entropy(source, **options)
