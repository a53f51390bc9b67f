"""Rows of different lengths in one flat array: what a batch of texts encodes to."""

from __future__ import annotations

from collections import namedtuple

# Type checkers take it for true; importing `typing` costs more than the rest of the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import NamedTuple

    import numpy as np
    import numpy.typing as npt

    class Padded(NamedTuple):
        ids: npt.NDArray[np.uint32] | npt.NDArray[np.uint16]
        mask: npt.NDArray[np.bool_]

else:
    Padded = namedtuple("Padded", ["ids", "mask"])  # noqa: PYI024
    Padded.__doc__ = "A padded batch: two arrays of shape `(rows, width)`."
    Padded.ids.__doc__ = "Token ids, the padding filled with the pad id."
    Padded.mask.__doc__ = "True where `ids` holds a token of the text, False where it is padding."

__all__ = ["Padded", "Ragged"]


class Ragged:
    """The ids of a batch, flat, with the place where each row begins.

    `ids` is a one-dimensional array (uint32 or uint16) of all tokens in order; `offsets` an int64 array one
    longer than the number of rows: row `i` is `ids[offsets[i]:offsets[i + 1]]`. Indexing gives rows as views,
    without a copy.

    >>> import byteloom as bl
    >>> tok = bl.Tokenizer.train("low lower lowest", vocab_size=258, pattern="cl100k")
    >>> batch = tok.encode_batch_array(["low", "", "lower"])
    >>> len(batch), batch.offsets.tolist()
    (3, [0, 1, 1, 4])
    >>> batch[2].tolist() == tok.encode("lower")
    True
    """

    __slots__ = ("ids", "offsets")

    ids: npt.NDArray[np.uint32] | npt.NDArray[np.uint16]
    offsets: npt.NDArray[np.int64]

    def __init__(
        self,
        ids: npt.NDArray[np.uint32] | npt.NDArray[np.uint16],
        offsets: npt.NDArray[np.int64],
    ) -> None:
        self.ids = ids
        self.offsets = offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> npt.NDArray[np.uint32] | npt.NDArray[np.uint16]:
        rows = len(self)
        at = row + rows if row < 0 else row
        if not 0 <= at < rows:
            msg = f"row {row} is out of range: the batch has {rows} rows"
            raise IndexError(msg)
        return self.ids[self.offsets[at] : self.offsets[at + 1]]

    def __iter__(self) -> Iterator[npt.NDArray[np.uint32] | npt.NDArray[np.uint16]]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        return f"<byteloom.Ragged rows={len(self)} tokens={len(self.ids)} dtype={self.ids.dtype}>"

    def __reduce__(self) -> tuple[type[Ragged], tuple[object, object]]:
        return type(self), (self.ids, self.offsets)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of tokens of each row: int64, shape `(rows,)`."""
        return self.offsets[1:] - self.offsets[:-1]

    def tolist(self) -> list[list[int]]:
        """The rows as plain lists."""
        return [row.tolist() for row in self]

    def to_padded(
        self,
        pad_id: int,
        max_length: int | None = None,
        *,
        side: str = "right",
    ) -> Padded:
        """A rectangle of ids, filled up with `pad_id`, and the mask of what is text.

        Args:
            pad_id: The id that fills short rows; it must fit the dtype of `ids`.
            max_length: Width in tokens. Longer rows keep their first `max_length` tokens; the default is the
                longest row.
            side: Where the padding stands, `"right"` or `"left"`.

        Returns:
            `Padded(ids, mask)`, both of shape `(rows, width)`; `mask` is bool.

        Raises:
            ValueError: for a negative `max_length`, another `side`, or a `pad_id` that does not fit.

        >>> import byteloom as bl
        >>> tok = bl.Tokenizer.train("low lower", vocab_size=257, special_tokens=["<pad>"])
        >>> batch = tok.encode_batch_array(["a", "abc"])
        >>> ids, mask = batch.to_padded(tok.token_to_id("<pad>"))
        >>> ids.tolist()
        [[97, 256, 256], [97, 98, 99]]
        >>> mask.tolist()
        [[True, False, False], [True, True, True]]
        """
        import numpy as np  # noqa: PLC0415

        if side not in ("right", "left"):
            msg = f"side must be 'right' or 'left', not {side!r}"
            raise ValueError(msg)
        if max_length is not None and max_length < 0:
            msg = f"max_length must be 0 or more, not {max_length}"
            raise ValueError(msg)
        if not hasattr(pad_id, "__index__"):
            msg = f"pad_id must be an integer, not {type(pad_id).__name__}"
            raise TypeError(msg)
        if not 0 <= pad_id <= np.iinfo(self.ids.dtype).max:
            msg = f"pad_id {pad_id} does not fit the ids, which are {self.ids.dtype}"
            raise ValueError(msg)
        lengths = self.lengths
        width = int(lengths.max(initial=0)) if max_length is None else max_length
        kept = np.minimum(lengths, width)
        mask = np.arange(width) < kept[:, None]
        # Row-major order of the mask is the order of the flat ids, so one gather fills the rectangle.
        within = np.arange(int(kept.sum())) - np.repeat(np.cumsum(kept) - kept, kept)
        source = np.repeat(self.offsets[:-1], kept) + within
        if side == "left":
            mask = mask[:, ::-1].copy()
        ids = np.full((len(self), width), pad_id, dtype=self.ids.dtype)
        ids[mask] = self.ids[source]
        return Padded(ids, mask)

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[int]]) -> Ragged:
        """A `Ragged` of uint32 from plain rows of ids.

        >>> Ragged.from_rows([[1, 2], [], [3]]).offsets.tolist()
        [0, 2, 2, 3]
        """
        import numpy as np  # noqa: PLC0415

        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        ids = np.fromiter((i for row in rows for i in row), dtype=np.uint32, count=int(offsets[-1]))
        return cls(ids, offsets)
