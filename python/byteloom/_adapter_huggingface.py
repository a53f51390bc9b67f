"""What `Tokenizer.as_huggingface` returns."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._adapters import View
from ._tokens import ordinary_tokens

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["BatchEncoding", "HuggingFaceAdapter"]

# What `transformers` says of a tokenizer that names no limit.
_NO_LIMIT = int(1e30)


class BatchEncoding(dict[str, Any]):
    """What a Hugging Face tokenizer returns: a mapping whose values are attributes as well.

    >>> rows = BatchEncoding(input_ids=[1, 2], attention_mask=[1, 1])
    >>> rows.input_ids is rows["input_ids"]
    True
    """

    __slots__ = ()

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            message = f"this encoding holds {', '.join(self) or 'nothing'}, not {key!r}"
            raise AttributeError(message) from None

    @property
    def data(self) -> dict[str, Any]:
        """The mapping itself, as `transformers` has it."""
        return self


class HuggingFaceAdapter(View):
    """What data code calls on a fast tokenizer of `transformers`, with its defaults.

    Special tokens that a text spells become their ids, and `add_special_tokens=True` puts the `bos` and
    `eos` tokens around a text as far as the tokenizer has them. Pairs of texts, overflowing tokens and
    tensors other than numpy's are not there; asking for them is an error.

    >>> import byteloom as bl
    >>> tok = bl.Tokenizer.train("low lower", vocab_size=259, special_tokens=["<pad>"], pad="<pad>")
    >>> tok.as_huggingface()(["low", "low low"], padding=True)
    {'input_ids': [[257, 258, 258], [257, 32, 257]], 'attention_mask': [[1, 0, 0], [1, 1, 1]]}
    """

    __slots__ = ()

    is_fast = True
    padding_side = "right"
    truncation_side = "right"
    model_max_length = _NO_LIMIT
    model_input_names = ("input_ids", "attention_mask")
    unk_token = None
    unk_token_id = None

    # Text to ids.

    def __call__(  # noqa: PLR0917 - the order of `transformers`
        self,
        text: str | Sequence[str],
        text_pair: None = None,
        add_special_tokens: bool = True,
        padding: bool | str = False,
        truncation: bool | str | None = None,
        max_length: int | None = None,
        *,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_tensors: str | None = None,
        return_attention_mask: bool | None = None,
        return_offsets_mapping: bool = False,
        return_special_tokens_mask: bool = False,
        return_length: bool = False,
    ) -> BatchEncoding:
        """The ids of a text, or of each text of a list, as a mapping.

        Args:
            text: One text or a list of them.
            text_pair: Not supported.
            add_special_tokens: Put `bos` before and `eos` after, as far as the tokenizer has them.
            padding: `True` or `"longest"` pads to the longest row, `"max_length"` to `max_length`.
            truncation: `True` cuts rows to `max_length`, `bos` and `eos` included. `None` cuts if there is
                a `max_length` and no padding.
            max_length: The longest row that truncation leaves.
            pad_to_multiple_of: Pad further, to a multiple of this.
            padding_side: `"right"` or `"left"`.
            return_tensors: `"np"` for arrays of `int64`; a single text is then one row.
            return_attention_mask: 1 for tokens and 0 for padding; returned unless `False`.
            return_offsets_mapping: The span in characters that each token covers; `(0, 0)` where it stands
                for no text.
            return_special_tokens_mask: 1 for tokens that were added, 0 for those of the text.
            return_length: The length of each row.

        Raises:
            ValueError: padding without a pad token, rows of several lengths as one array, a pair of texts.
        """
        if text_pair is not None:
            message = "text_pair is not supported: encode the two texts and join their ids"
            raise ValueError(message)
        if return_tensors not in (None, "np"):
            message = f"return_tensors must be None or 'np', not {return_tensors!r}: make tensors from arrays"
            raise ValueError(message)
        single = isinstance(text, str)
        texts = [text] if isinstance(text, str) else list(text)
        limit = _limit(padding, truncation, max_length)
        rows = [self._row(one, add_special_tokens, limit, return_offsets_mapping) for one in texts]
        width = self._width(rows, padding, max_length, pad_to_multiple_of)
        side = padding_side or self.padding_side
        if side not in ("right", "left"):
            message = f"padding_side must be 'right' or 'left', not {side!r}"
            raise ValueError(message)

        def padded(values: Iterable[Sequence[Any]], filler: Any) -> list[list[Any]]:
            return [_padded(list(row), filler, width, side) for row in values]

        fields = {"input_ids": padded((ids for ids, _, _ in rows), self._tok.pad_id)}
        if return_special_tokens_mask:
            fields["special_tokens_mask"] = padded((mask for _, mask, _ in rows), 1)
        if return_attention_mask is not False:
            fields["attention_mask"] = padded(([1] * len(ids) for ids, _, _ in rows), 0)
        if return_offsets_mapping:
            fields["offset_mapping"] = padded((spans for _, _, spans in rows), (0, 0))
        values: dict[str, Any] = dict(fields)
        if return_length:
            values["length"] = [len(row) for row in fields["input_ids"]]
        if return_tensors == "np":
            values = {key: _as_array(key, value) for key, value in values.items()}
        elif single:
            values = {key: value[0] for key, value in values.items()}
        return BatchEncoding(values)

    def _row(
        self, text: str, add_special_tokens: bool, limit: int | None, offsets: bool
    ) -> tuple[list[int], list[int], list[tuple[int, int]]]:
        """The ids of one text, which of them were added, and their spans if asked for."""
        if not isinstance(text, str):
            message = f"text must be a str or a list of str, not {type(text).__name__}"
            raise TypeError(message)
        spans: list[tuple[int, int]] = []
        if offsets:
            ids, spans = self._tok.encode_with_offsets(text, allowed_special="all")
        else:
            ids = self._tok.encode(text, allowed_special="all")
        before, after = self._around() if add_special_tokens else ([], [])
        if limit is not None:
            room = limit - len(before) - len(after)
            if room < 0:
                message = f"max_length={limit} leaves no room for the special tokens around a text"
                raise ValueError(message)
            ids, spans = ids[:room], spans[:room]
        mask = [1] * len(before) + [0] * len(ids) + [1] * len(after)
        if offsets:
            spans = [(0, 0)] * len(before) + spans + [(0, 0)] * len(after)
        return before + ids + after, mask, spans

    def _around(self) -> tuple[list[int], list[int]]:
        bos, eos = self._tok.bos_id, self._tok.eos_id
        return [] if bos is None else [bos], [] if eos is None else [eos]

    def _width(
        self,
        rows: list[tuple[list[int], list[int], list[tuple[int, int]]]],
        padding: bool | str,
        max_length: int | None,
        multiple: int | None,
    ) -> int:
        """How long rows must be at least."""
        if padding in (False, "do_not_pad"):
            return 0
        if padding not in (True, "longest", "max_length"):
            message = f"padding must be False, True, 'longest' or 'max_length', not {padding!r}"
            raise ValueError(message)
        if self._tok.pad_id is None:
            message = (
                "padding needs a pad token, and this tokenizer has none: with_special_tokens(pad=…) names one"
            )
            raise ValueError(message)
        if padding == "max_length":
            if max_length is None:
                warnings.warn("padding='max_length' without a max_length pads nothing", stacklevel=3)
            width = max_length or 0
        else:
            width = max((len(ids) for ids, _, _ in rows), default=0)
        return -(-width // multiple) * multiple if multiple else width

    def encode_plus(self, text: str, **options: Any) -> BatchEncoding:
        """`__call__` of one text."""
        return self(text, **options)

    def batch_encode_plus(self, texts: Sequence[str], **options: Any) -> BatchEncoding:
        """`__call__` of a list of texts."""
        return self(list(texts), **options)

    def encode(self, text: str, **options: Any) -> list[int]:
        """The `input_ids` of `__call__`."""
        ids: list[int] = self(text, **options).input_ids
        return ids

    def encode_batch(self, texts: Iterable[str], *, add_special_tokens: bool = True) -> list[list[int]]:
        """The ids of many texts, by all threads."""
        before, after = self._around() if add_special_tokens else ([], [])
        rows = self._tok.encode_batch(texts, allowed_special="all")
        return [before + ids + after for ids in rows] if before or after else rows

    def tokenize(self, text: str, *, add_special_tokens: bool = False) -> list[str]:
        """The tokens of a text, as the vocabulary spells them."""
        return [
            self._tok.id_to_token(id_) for id_ in self.encode(text, add_special_tokens=add_special_tokens)
        ]

    # Ids to text.

    def decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
    ) -> Any:
        """The text of an id, a list or an array of ids, or the texts of a list of lists.

        Unknown ids are a `KeyError`; Hugging Face's own tokenizers drop them.
        """
        _no_clean_up(clean_up_tokenization_spaces)
        if _is_id(token_ids):
            token_ids = [token_ids]
        elif len(token_ids) > 0 and not _is_id(token_ids[0]):
            return self.batch_decode(token_ids, skip_special_tokens)
        return self._tok.decode(token_ids, skip_special_tokens=skip_special_tokens)

    def batch_decode(
        self,
        sequences: Iterable[Any],
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
    ) -> list[str]:
        """`decode` of many."""
        _no_clean_up(clean_up_tokenization_spaces)
        return self._tok.decode_batch(sequences, skip_special_tokens=skip_special_tokens)

    # Look-ups.

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The token of an id, or those of a list, as the vocabulary spells them."""
        if _is_id(ids):
            return self._tok.id_to_token(int(ids))
        special = set(self._tok.special_tokens.values()) if skip_special_tokens else set()
        return [self._tok.id_to_token(int(id_)) for id_ in ids if int(id_) not in special]

    def convert_tokens_to_ids(self, tokens: str | Iterable[str]) -> Any:
        """The id of a token, or those of a list; `None` where there is none."""
        if isinstance(tokens, str):
            return self._tok.token_to_id(tokens)
        return [self._tok.token_to_id(token) for token in tokens]

    def convert_tokens_to_string(self, tokens: Iterable[str]) -> str:
        """The text of tokens."""
        return self._tok.decode(self._known_ids(tokens))

    def _known_ids(self, tokens: Iterable[str]) -> list[int]:
        ids: list[int] = []
        for token in tokens:
            found = self._tok.token_to_id(token)
            if found is None:
                raise KeyError(token)
            ids.append(found)
        return ids

    def get_vocab(self) -> dict[str, int]:
        """All tokens, special ones included, and their ids."""
        tok = self._tok
        vocab = {tok.id_to_token(id_): id_ for id_, _ in ordinary_tokens(tok)}
        return vocab | tok.added_tokens | tok.special_tokens

    def get_added_vocab(self) -> dict[str, int]:
        """The added tokens, special or not, and their ids."""
        return self._tok.added_tokens | self._tok.special_tokens

    @property
    def vocab(self) -> dict[str, int]:
        """The same as `get_vocab()`."""
        return self.get_vocab()

    @property
    def vocab_size(self) -> int:
        """The number of tokens without added ones; `len()` counts all."""
        return self._tok.vocab_size - len(self.get_added_vocab())

    def __len__(self) -> int:
        return self._tok.vocab_size

    def __bool__(self) -> bool:
        return True

    @property
    def name_or_path(self) -> str:
        """The name of the view."""
        return self.name

    @property
    def bos_token_id(self) -> int | None:
        """The id that begins a sequence."""
        return self._tok.bos_id

    @property
    def eos_token_id(self) -> int | None:
        """The id that ends a sequence."""
        return self._tok.eos_id

    @property
    def pad_token_id(self) -> int | None:
        """The id that fills up rows."""
        return self._tok.pad_id

    @property
    def bos_token(self) -> str | None:
        """The token that begins a sequence."""
        return self._name_of(self._tok.bos_id)

    @property
    def eos_token(self) -> str | None:
        """The token that ends a sequence."""
        return self._name_of(self._tok.eos_id)

    @property
    def pad_token(self) -> str | None:
        """The token that fills up rows."""
        return self._name_of(self._tok.pad_id)

    def _name_of(self, id_: int | None) -> str | None:
        return None if id_ is None else self._tok.id_to_token(id_)

    @property
    def special_tokens_map(self) -> dict[str, str]:
        """The tokens that have a role."""
        roles: Mapping[str, str | None] = {
            "bos_token": self.bos_token,
            "eos_token": self.eos_token,
            "pad_token": self.pad_token,
        }
        return {role: token for role, token in roles.items() if token is not None}

    @property
    def all_special_tokens(self) -> list[str]:
        """All special tokens, those with a role first."""
        by_id = sorted(self._tok.special_tokens, key=self._tok.special_tokens.__getitem__)
        return list(dict.fromkeys([*self.special_tokens_map.values(), *by_id]))

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of `all_special_tokens`."""
        special = self._tok.special_tokens
        return [special[token] for token in self.all_special_tokens]

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """How many tokens `add_special_tokens` puts around a text."""
        if pair:
            message = "pairs of texts are not supported"
            raise ValueError(message)
        return sum(map(len, self._around()))


def _limit(padding: bool | str, truncation: bool | str | None, max_length: int | None) -> int | None:
    """The length to cut rows to, if any."""
    if truncation is None:
        return max_length if padding is False else None
    if truncation in (False, "do_not_truncate"):
        return None
    if truncation not in (True, "longest_first", "only_first"):
        message = f"truncation must be True or False, not {truncation!r}"
        raise ValueError(message)
    if max_length is None:
        warnings.warn("truncation=True without a max_length cuts nothing", stacklevel=3)
    return max_length


def _is_id(value: Any) -> bool:
    # An array of one number has `__index__` too.
    return hasattr(value, "__index__") and not getattr(value, "shape", ())


def _padded(row: list[Any], filler: Any, width: int, side: str) -> list[Any]:
    missing = [filler] * (width - len(row))
    return missing + row if side == "left" else row + missing


def _as_array(key: str, rows: list[Any]) -> npt.NDArray[Any]:
    import numpy as np  # noqa: PLC0415 - only where asked for

    if rows and isinstance(rows[0], list) and len({len(row) for row in rows}) > 1:
        message = f"the rows of {key} have several lengths and make no array; ask for padding=True"
        raise ValueError(message)
    return np.asarray(rows, dtype=np.int64)


def _no_clean_up(wanted: bool | None) -> None:
    if wanted:
        message = "clean_up_tokenization_spaces=True would change the text, and is not supported"
        raise ValueError(message)
