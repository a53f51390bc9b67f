"""Train a small tokenizer and look at it from all sides. Usage: demo.py [TEXT_FILE…]

Without files it learns from the help texts of Python's own `help()`, which are on every machine with Python.
"""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from pathlib import Path
from pydoc_data.topics import topics

import byteloom as bl

VOCAB_SIZE = 1_024
END = "<|endoftext|>"
SENTENCE = "The value of an expression is an object, isn't it? Zoë counted to 2026 🚀"
PLACE = Path("demo", "tok.json")


def main(files: list[str]) -> None:
    """Train, show, check, save."""
    if files:
        try:
            documents: list[str | bytes] = [Path(file).read_bytes() for file in files]
        except OSError as error:
            sys.exit(f"demo: {error.filename}: {error.strerror}")
        source = ", ".join(files)
    else:
        documents = list(topics.values())
        source = "the texts of Python's help()"
    size = sum(len(as_bytes(text)) for text in documents)

    heading("Training")
    print(f"Learning {VOCAB_SIZE:,} tokens from {source}: {size:,} bytes.")
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bl.TrainingWarning)  # a short text gives fewer tokens, which is shown
        tok = bl.Tokenizer.train(documents, VOCAB_SIZE, pattern="cl100k", special_tokens=[END], eos=END)
    print(
        f"Done in {time.perf_counter() - start:.2f} s: 256 bytes, {len(tok.merges)} merges, 1 special token."
    )

    show_merges(tok)
    show_longest(tok)

    heading("Bytes per token")
    tokens = sum(tok.count_batch(documents, disallowed_special=()))
    print(f"before:  1.00   every byte is a token of its own: {size:,} tokens")
    print(f"after:  {size / max(tokens, 1):5.2f}   the same text in {tokens:,} tokens")

    PLACE.parent.mkdir(exist_ok=True)
    tok.save(PLACE)

    heading("A sentence")
    print("A dot is a space; bytes in ⟨ ⟩ are a part of a character.\n", flush=True)
    show = [sys.executable, "-m", "byteloom", "encode", str(PLACE), "--show", "--text", SENTENCE]
    subprocess.run(show, check=True)

    heading("There and back")
    ids = tok.encode(SENTENCE)
    print(f"ids:   {ids[:12]} …")
    print(f"text:  {tok.decode(ids)}")
    again = bl.Tokenizer.load(PLACE)
    same = all(again.decode_bytes(again.encode_ordinary(text)) == as_bytes(text) for text in documents)
    print("All of the training text came back, byte for byte." if same else "SOMETHING WAS LOST")

    heading("Yours now")
    print(f"saved in {PLACE} ({PLACE.stat().st_size:,} bytes). Try:\n")
    print(f"  .venv/bin/byteloom encode {PLACE} --show --text 'Any text you like'")
    print(f"  .venv/bin/byteloom count {PLACE} README.md")
    if not same:
        sys.exit(1)


def show_merges(tok: bl.Tokenizer) -> None:
    """The first 24 merges, in three columns."""
    heading("The first merges")
    print("Training joins the most frequent pair of neighbours, again and again:\n")
    merges = [
        f"{place:3}. {name(tok, left):>6} + {name(tok, right):<5} = {name(tok, 255 + place):<8}"
        for place, (left, right) in enumerate(tok.merges[:24], 1)
    ]
    for row in range(min(8, len(merges))):
        print("  ".join(merges[row::8]).rstrip())


def show_longest(tok: bl.Tokenizer) -> None:
    """The longest tokens of all, and the longest that are words."""
    heading("The longest tokens")
    special = set(tok.special_tokens.values())
    learned = sorted(set(range(256, tok.vocab_size)) - special, key=lambda id_: -len(tok.id_to_bytes(id_)))
    words = [id_ for id_ in learned if tok.id_to_bytes(id_).strip().isalpha()]
    print("of all:  ", "  ".join(name(tok, id_) for id_ in learned[:4]))
    print("of words:", "  ".join(name(tok, id_) for id_ in words[:8]))


def heading(text: str) -> None:
    """A line that begins a part."""
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}\n{'-' * len(text)}")


def name(tok: bl.Tokenizer, id_: int) -> str:
    """A token in quotes, its newlines and unprintable bytes escaped."""
    token = tok.id_to_bytes(id_)
    try:
        return repr(token.decode())
    except UnicodeDecodeError:
        return repr(token)[1:]


def as_bytes(text: str | bytes) -> bytes:
    """The text in UTF-8."""
    return text.encode() if isinstance(text, str) else text


if __name__ == "__main__":
    main(sys.argv[1:])
