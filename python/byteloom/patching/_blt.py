"""Texts and patches as training code of the Byte Latent Transformer reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from byteloom import _native

from ._texts import Integers, Text, as_bytes

if TYPE_CHECKING:
    from ._patcher import Patcher

__all__ = ["BOE_ID", "BOS_ID", "BPE_ID", "BYTE_OFFSET", "EOS_ID", "BltExample", "blt_example", "blt_ids"]

BOE_ID = 0
"""Begins an example."""
BOS_ID = 1
"""Begins a sequence."""
EOS_ID = 2
"""Ends a sequence."""
BPE_ID = 3
"""A delimiter of BPE patches."""
BYTE_OFFSET = 4
"""The id of byte 0."""


class BltExample(NamedTuple):
    """A text for training code of BLT: see `Patcher.blt_example`."""

    tokens: Integers
    """Ids: bytes + 4, with BOS and EOS. int64, shape `(tokens,)`."""
    patch_lengths: Integers
    """Lengths of the patches in tokens. int64, shape `(patches,)`."""


def blt_ids(data: Text, *, bos: bool = True, eos: bool = True) -> Integers:
    """The ids of a text for BLT: bytes + 4, with BOS 1 before and EOS 2 behind.

    >>> blt_ids("ab").tolist()
    [1, 101, 102, 2]
    """
    text = as_bytes(data)
    ids = np.empty(len(text) + bos + eos, np.int64)
    if bos:
        ids[0] = BOS_ID
    if eos:
        ids[-1] = EOS_ID
    ids[int(bos) : len(text) + bos] = np.frombuffer(text, np.uint8)
    ids[int(bos) : len(text) + bos] += BYTE_OFFSET
    return ids


def blt_example(
    patcher: Patcher, data: Text, *, bos: bool, eos: bool, include_next_token: bool
) -> BltExample:
    """What `Patcher.blt_example` says."""
    text = as_bytes(data)
    tokens = blt_ids(text, bos=bos, eos=eos)
    size = len(tokens) + include_next_token
    if patcher.rule in ("static", "byte"):
        starts = np.arange(0, size, patcher.size or 1)
    else:
        starts = _starts(patcher, text, bos=bos, eos=eos, size=size)
        limited = _native.limit_starts(starts, size, max_patch_length=patcher.max_patch_length)
        starts = limited.astype(np.int64)
    return BltExample(tokens, np.diff(starts, append=size))


def _starts(patcher: Patcher, text: bytes, *, bos: bool, eos: bool, size: int) -> Integers:
    """Tokens that start patches, before any is cut for its length."""
    unlimited = patcher.unlimited()
    if patcher.rule == "bpe":
        # What follows the text, EOS or a new sequence, is no part of its last token.
        starts = np.append(unlimited.boundaries(text).astype(np.int64), len(text))
    elif patcher.rule == "space" and bos:
        # BOS is like a space to what follows, so that a sign behind it does not end a patch.
        starts = unlimited.boundaries(b" " + text + b"\0").astype(np.int64)[1:] - 1
    else:
        # The rule decides about the place behind the text by the bytes before it, whatever comes there.
        starts = unlimited.boundaries(text + b"\0").astype(np.int64)
    starts = np.concatenate([[0, 1], starts + int(bos), [len(text) + bos + 1] if eos else []])
    found = np.unique(starts.astype(np.int64))
    return found[found < size]
