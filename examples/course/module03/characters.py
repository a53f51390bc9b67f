"""A tokenizer of two tables, and three reasons why characters are not enough.

Answers "The Simplest Tokenizer" and "Why Characters Aren't Enough" of the third course.
"""

from __future__ import annotations

from byteloom.course.module03 import CharTokenizer

tok = CharTokenizer("hello world")
print(f"{len(tok.stoi)} characters:", list(tok.stoi))
print("text to ids:", tok.stoi)
print("ids to text:", tok.itos)
ids = tok.encode("hello")
print(f"'hello' -> {ids} -> {tok.decode(ids)!r}")
print("round trip:", tok.decode(tok.encode("hello world")) == "hello world")
try:
    tok.encode("x")
except KeyError as error:
    print(f"a character it does not know is a {type(error).__name__}")

sentence = "The transformer architecture revolutionized natural language processing."
print(f"1. long sequences: {len(sentence)} characters are {len(list(sentence))} tokens")
word = "transformer"
print(f"2. no units of meaning: {len(word)} tokens, {list(word)}")
hello = "Hello! 😊".encode()
print(f"3. bytes are even more: {len(hello)} tokens, {list(hello)}, 4 of them one emoji")
