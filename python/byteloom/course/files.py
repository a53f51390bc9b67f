"""The JSON files of the courses."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import byteloom as bl

__all__ = ["SavedState", "read_json", "read_state", "write_json"]


@dataclass(frozen=True)
class SavedState:
    """What a file of the third course holds, each part checked by itself.

    Whether the parts fit shows in building the tokenizer.
    """

    options: dict[str, Any]
    """The arguments of the class."""
    vocab: dict[str, int]
    symbols: list[str]
    """The tokens that no merge makes, special ones left out, in the order of ids."""
    merges: list[tuple[int, int]]
    """Pairs of ids."""


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write `value` in one go, so that one that is no JSON leaves an older file as it was."""
    text = json.dumps(value, ensure_ascii=False)
    with open(os.fspath(path), "w", encoding="utf-8") as file:  # noqa: PTH123 - any path
        file.write(text)


def read_json(path: str | os.PathLike[str]) -> Any:
    """The value that a JSON file holds.

    Raises:
        FormatError: the file is no JSON.
        OSError: the file cannot be read.
    """
    name = os.fspath(path)
    with open(name, encoding="utf-8") as file:  # noqa: PTH123 - any path
        try:
            return json.load(file)
        except (ValueError, RecursionError) as error:
            message = f"{name}: not JSON: {error}"
            raise bl.FormatError(message) from error


def read_state(path: str | os.PathLike[str], kind: str, specials: Mapping[str, int]) -> SavedState:
    """Read a file of the third course's class named `kind`, whose first tokens are `specials`.

    Raises:
        FormatError: a part that is not as the class writes it, with its place.
        OSError: the file cannot be read.
    """
    name = os.fspath(path)

    def fault(message: str) -> bl.FormatError:
        return bl.FormatError(f"{name}: {message}")

    state = read_json(path)
    if not isinstance(state, dict) or not {"type", "vocab", "merges"} <= state.keys():
        raise fault("is no tokenizer of the course: it needs type, vocab and merges")
    if state["type"] != kind:
        raise fault(f"type: it holds a {state['type']}, not a {kind}; load it with that class")
    vocab, pairs = state["vocab"], state["merges"]
    if not isinstance(vocab, dict) or not isinstance(pairs, list):
        raise fault("vocab must be an object and merges a list")
    for token, number in vocab.items():
        if type(number) is not int:
            raise fault(f"vocab: the id of {token!r} is {number!r}, not an integer")
    tokens = sorted(vocab, key=vocab.__getitem__)
    for place, token in enumerate(tokens):
        if vocab[token] != place:
            raise fault(f"vocab: {token!r} has id {vocab[token]} where {place} comes next")
    if tokens[: len(specials)] != list(specials):
        raise fault(f"vocab: the first ids must be those of {', '.join(specials)}")
    merges = []
    for index, pair in enumerate(pairs):
        if not isinstance(pair, list) or len(pair) != 2:  # noqa: PLR2004
            raise fault(f"merges[{index}]: must be a pair of tokens")
        for part in pair:
            if not isinstance(part, str) or part not in vocab:
                raise fault(f"merges[{index}]: {part!r} is not in vocab")
        merges.append((vocab[pair[0]], vocab[pair[1]]))
    if len(tokens) < len(specials) + len(merges):
        raise fault(f"merges: there are {len(merges)} of them, but vocab has only {len(tokens)} tokens")
    options = {key: value for key, value in state.items() if key not in ("type", "vocab", "merges")}
    return SavedState(options, vocab, tokens[len(specials) : len(tokens) - len(merges)], merges)
