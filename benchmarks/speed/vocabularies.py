"""One vocabulary in the form that each peer reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

# Name: the file in the folder `vocab`, and the pattern that it does not hold itself.
FILES = {
    "cl100k": ("cl100k.json", None),
    "gpt2": ("gpt2.tokenizer.json", None),
    "o200k": ("o200k_base.tiktoken", "o200k"),
    "llama3": ("llama3.tiktoken", "llama3"),
    "qwen": ("qwen3.tiktoken", "qwen2"),
}


def tokenizer_json(data: Path, name: str, cache: Path) -> Path:
    """The `tokenizer.json` of a vocabulary, written into `cache` where there are only ranks."""
    file, pattern = FILES[name]
    path = data / "vocab" / file
    if pattern is None:
        return path
    import byteloom

    folder = cache / name
    made = folder / "tokenizer.json"
    if not made.exists():
        tok = byteloom.Tokenizer.load(path, pattern=pattern)
        tok.save_huggingface(folder)
    return made


def letters() -> dict[str, int]:
    """GPT-2's letters for bytes, the other way round."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {chr(byte): byte for byte in printable}
    return letters | {chr(256 + place): byte for place, byte in enumerate(others)}


def ranks_and_pattern(path: Path) -> tuple[dict[bytes, int], str]:
    """What tiktoken takes: the rank of each token that is no added one, and the regex."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    added = {token["content"] for token in content["added_tokens"]}
    byte_of = letters()
    ranks = {
        bytes(byte_of[letter] for letter in token): rank
        for token, rank in content["model"]["vocab"].items()
        if token not in added
    }
    before = content["pre_tokenizer"]
    for step in before.get("pretokenizers", [before]):
        if step["type"] == "Split":
            return ranks, step["pattern"]["Regex"]
    # ByteLevel alone has GPT-2's regex inside.
    return ranks, r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
