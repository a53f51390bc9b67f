"""Byte-latent patching: text without a vocabulary, cut where the next byte is hard to foresee.

A `ByteEntropyModel` counts which bytes follow which in a text. A `Patcher` cuts bytes into patches, by that
model's surprise or by a plain rule; `PatchReport` says what the patches are like. All sizes are in bytes.

>>> from byteloom.patching import ByteEntropyModel
>>> model = ByteEntropyModel(order=4).train("the model predicts the next token from the tokens before. " * 20)
>>> patcher = model.patcher(theta=1.5, units="bits")
>>> patcher.patches("the next model")
[b't', b'he ', b'next model']

The idea and both rules are those of the Byte Latent Transformer (Pagnoni et al. 2024, arXiv:2412.09871),
which takes a small transformer for the model. Counts are exact and the same everywhere, and need no GPU.
"""

from __future__ import annotations

from ._batch import PatchBatch
from ._blt import BOE_ID, BOS_ID, BPE_ID, BYTE_OFFSET, EOS_ID, BltExample, blt_ids
from ._functions import (
    average_patch_size,
    byte_entropy,
    patch_boundaries_global,
    patch_boundaries_monotonic,
    patches_from_boundaries,
    relative_global_compute,
)
from ._model import ByteEntropyModel, Contexts
from ._patcher import Patcher, PatchStream
from ._report import Agreement, PatchReport

__all__ = [
    "BOE_ID",
    "BOS_ID",
    "BPE_ID",
    "BYTE_OFFSET",
    "EOS_ID",
    "Agreement",
    "BltExample",
    "ByteEntropyModel",
    "Contexts",
    "PatchBatch",
    "PatchReport",
    "PatchStream",
    "Patcher",
    "average_patch_size",
    "blt_ids",
    "byte_entropy",
    "patch_boundaries_global",
    "patch_boundaries_monotonic",
    "patches_from_boundaries",
    "relative_global_compute",
]
