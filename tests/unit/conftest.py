"""Tokenizers with ids that a test can say by heart."""

import pytest

import byteloom as bl


@pytest.fixture(scope="session")
def bytes_tok():
    """Every byte is its own token; ids are the bytes. `<|end|>` is 256, `<|pad|>` 257, `<|bos|>` 258."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    specials = {"<|end|>": 256, "<|pad|>": 257, "<|bos|>": 258}
    tok = bl.Tokenizer.from_tiktoken(ranks, pattern="cl100k", special_tokens=specials)
    return tok.with_special_tokens(bos="<|bos|>", eos="<|end|>", pad="<|pad|>")


@pytest.fixture(scope="session")
def abc_tok():
    """The bytes, `ab` = 256, `abc` = 257, `日本` = 258, a hole, and `<|end|>` = 300."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {b"ab": 256, b"abc": 257, "日本".encode(): 258}
    return bl.Tokenizer.from_tiktoken(ranks, pattern="none", special_tokens={"<|end|>": 300})
