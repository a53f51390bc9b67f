"""The tab Patches: how hard each byte is to predict, and the patches that a threshold makes of that."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from byteloom.errors import ByteloomError
from byteloom.explorer.session import ViewError, choice, english_sample, integer, number
from byteloom.patching import ByteEntropyModel, Patcher

from ._sample import SAMPLE

if TYPE_CHECKING:
    from byteloom.explorer.session import Session

__all__ = ["view"]

_RULES = ("global", "monotonic", "both", "space", "static", "byte", "bpe")
_ENTROPY_RULES = ("global", "monotonic", "both")
# Bytes that are sent to be drawn; the figures are of all.
_DRAWN = 400
_LIKELY = 6


def view(session: Session, request: dict[str, Any]) -> dict[str, Any]:
    """The entropies of a text, its patches by one rule, what they save, and the tokens on the same bytes.

    Args:
        session: Holds the tokenizers.
        request: `text`; `tokenizer`; `rule`; `theta` and `rise` in `units`; `size` of static patches; the
            model's `order` and `smoothing`, and `train`, the text it learns from: `"weavers"` or
            `"models"`, which come with the explorer, or `"text"`, the text itself; `target`, a mean patch
            size to find a threshold for; `at`, a byte whose prediction is wanted, or -1.

    Raises:
        ViewError: a request that is not one.
    """
    text = session.text(request)
    data = text.encode()
    rule = choice(request, "rule", _RULES)
    units = cast('Literal["bits", "nats"]', choice(request, "units", ("bits", "nats")))
    train = choice(request, "train", ("weavers", "models", "text"))
    smoothing = cast(
        'Literal["backoff", "witten-bell"]', choice(request, "smoothing", ("backoff", "witten-bell"))
    )
    order = integer(request, "order", 4, least=1, most=8)
    theta = number(request, "theta", 2.0, least=-64, most=64)
    rise = number(request, "rise", 0.5, least=-64, most=64)
    size = integer(request, "size", 4, least=1, most=1000)
    target = number(request, "target", 4.5, least=1, most=10_000)
    at = integer(request, "at", -1, least=-1, most=1 << 31)
    tok = session.tokenizer(request).tokenizer
    learned = {"text": text, "models": SAMPLE, "weavers": english_sample()}[train]
    try:
        if train == "text":  # another one with every letter that is typed: not worth keeping
            model = ByteEntropyModel(order, smoothing=smoothing).train(text)
        else:
            model = session.entropy_model(learned, order=order, smoothing=smoothing)
        if rule in _ENTROPY_RULES:
            patcher = model.patcher(
                units=units,
                theta=None if rule == "monotonic" else theta,
                rise=None if rule == "global" else rise,
            )
        elif rule == "static":
            patcher = Patcher.static(size)
        elif rule == "bpe":
            patcher = Patcher.bpe(tok)
        else:
            patcher = Patcher.byte() if rule == "byte" else Patcher.space()
        report = patcher.report(data, tokenizer=tok).to_dict()
        starts = patcher.boundaries(data)
        token_starts = Patcher.bpe(tok).boundaries(data)
        entropies = model.entropies(data)
        found = None
        if data and rule in _ENTROPY_RULES:
            # Of "both", theta is looked for and the rise stays.
            given: dict[str, Any] = {"rise": rise} if rule == "both" else {}
            found = model.threshold_for(data, target, rule=cast("Any", rule), units=units, **given)
    except ByteloomError as error:
        raise ViewError(str(error)) from None
    shown = _drawn(starts, len(data))
    unit = 1.0 if units == "bits" else math.log(2)
    values = entropies[:shown] * unit
    return {
        "rule": rule,
        "units": units,
        "theta": theta,
        "rise": rise,
        "size": size,
        "highest": 8 * unit,
        "model": {
            "train": train,
            "order": order,
            "context": order - 1,
            "smoothing": smoothing,
            "bytes": len(learned.encode()),
            "bits_per_byte": model.bits_per_byte(data),
        },
        "report": report,
        "bytes": data[:shown].hex(),
        "left_out_bytes": len(data) - shown,
        "entropies": values.tolist(),
        "rises": np.diff(values, prepend=values[:1]).tolist(),
        "starts": starts[starts < shown].tolist(),
        "token_starts": token_starts[token_starts < shown].tolist(),
        "tokens": len(token_starts),
        "target": target,
        "threshold_for_target": found,
        "at": _prediction(model, data, at, unit) if 0 <= at < len(data) else None,
    }


def _prediction(model: ByteEntropyModel, data: bytes, at: int, unit: float) -> dict[str, Any]:
    """What the model expected at a byte: the likeliest bytes, and the one that came."""
    chances = model.distribution(data[:at])
    likely = np.argsort(-chances, kind="stable")[:_LIKELY]
    return {
        "index": at,
        "byte": data[at],
        "probability": float(chances[data[at]]),
        "surprise": -math.log2(chances[data[at]]) * unit,
        "context": data[max(0, at - model.order + 1) : at].hex(),
        "likely": [{"byte": int(byte), "probability": float(chances[byte])} for byte in likely],
    }


def _drawn(starts: Any, size: int) -> int:
    """How many bytes are drawn: all, or whole patches as far as they fit."""
    if size <= _DRAWN:
        return size
    last = int(np.searchsorted(starts, _DRAWN, side="right")) - 1
    return int(starts[last]) or _DRAWN
