"""The methods of `Tokenizer` that explain; their work is in `_explain_build`, imported when it is needed."""

from __future__ import annotations

from . import _native

# Type checkers take it for true; importing `typing` costs more than the rest of the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._native import Errors, SpecialSet, Text
    from .explain import Explanation, Part, TrainingTrace

__all__ = ["Explained"]


class Explained(_native.NativeTokenizer):
    """A tokenizer that shows its steps."""

    __slots__ = ()

    def explain(
        self,
        text: Text,
        *,
        allowed_special: SpecialSet = (),
        disallowed_special: SpecialSet = "all",
        add_special_tokens: bool = False,
        errors: Errors = "strict",
        max_steps: int | None = None,
        max_losers: int | None = 3,
    ) -> Explanation:
        """How a text becomes tokens: every pre-token, symbol, merge and token, as data.

        The ids are those of `encode`; the merges are what the engine's merge rule reports while it runs. The
        records are described in `byteloom.explain`. All of them are in memory at once, some kilobytes for
        each word: for texts of more than some pages use `explain_stream`.

        Args:
            text: As for `encode`.
            allowed_special: As for `encode`.
            disallowed_special: As for `encode`.
            add_special_tokens: As for `encode`.
            errors: As for `encode`.
            max_steps: The most merges told of one pre-token, or of one segment of a long one; `None` for all.
                How many more there were is in `steps_left_out`.
            max_losers: The most losing candidates told of one merge; `None` for all. How many more there were
                is in `losers_left_out`.

        Returns:
            An `Explanation`.

        Raises:
            SpecialTokenError: as `encode` does.
            TextError: as `encode` does.

        >>> import byteloom as bl
        >>> tok = bl.Tokenizer.train("low low lower lowest", vocab_size=260, pattern="gpt2")
        >>> explanation = tok.explain("lower!")
        >>> explanation.ids == tok.encode("lower!")
        True
        >>> for part in explanation.parts:
        ...     print(part.text, part.match.category, [step.result_bytes for step in part.steps], part.ids)
        lower letters [b'lo', b'low'] (257, 101, 114)
        ! symbols [] (33,)
        """
        from ._explain_build import explain  # noqa: PLC0415 - costs more than the rest of the import

        return explain(
            self,
            text,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            add_special_tokens=add_special_tokens,
            errors=errors,
            max_steps=max_steps,
            max_losers=max_losers,
        )

    def explain_stream(
        self,
        text: Text,
        *,
        allowed_special: SpecialSet = (),
        disallowed_special: SpecialSet = "all",
        add_special_tokens: bool = False,
        errors: Errors = "strict",
        max_steps: int | None = None,
        max_losers: int | None = 3,
    ) -> Iterator[Part]:
        """The parts of `explain` one by one: a record for each pre-token and special token.

        Each record is made when it is asked for. Beyond the text, memory is some bytes for each pre-token,
        and a copy of the text where a normalizer changed it. Arguments and errors are those of `explain`;
        errors in the arguments and in the text are raised at once.

        >>> import byteloom as bl, itertools
        >>> tok = bl.Tokenizer.train("low low lower lowest", vocab_size=260, pattern="gpt2")
        >>> parts = tok.explain_stream("lower " * 100_000)
        >>> [part.ids for part in itertools.islice(parts, 2)]
        [(257, 101, 114), (259, 114)]
        """
        from ._explain_build import stream  # noqa: PLC0415 - as above

        return stream(
            self,
            text,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            add_special_tokens=add_special_tokens,
            errors=errors,
            max_steps=max_steps,
            max_losers=max_losers,
        )

    def training_trace(self) -> TrainingTrace:
        """What training did, merge by merge: the count of each pair, the runners-up, and what settled ties.

        For a tokenizer that was trained with `trace=True`. `byteloom.explain.replay` follows a trace and
        gives the merges again.

        Raises:
            TrainingError: there is no trace.

        >>> import byteloom as bl
        >>> tok = bl.Tokenizer.train("low low lower", vocab_size=258, pattern="simple", trace=True)
        >>> for step in tok.training_trace().steps:
        ...     print(step.left_bytes, step.right_bytes, step.count, step.tied, step.decided_by)
        b'l' b'o' 3 2 smallest_pair
        b'lo' b'w' 3 1 count
        """
        from ._trace import read_trace  # noqa: PLC0415 - as above

        return read_trace(self)
