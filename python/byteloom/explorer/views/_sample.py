"""A small text of ours that the entropy model of the tab Patches learns from."""

from __future__ import annotations

__all__ = ["SAMPLE"]

_SENTENCES = """\
the model reads the text one token after another and predicts the next token.
a small model predicts the next byte, and a large model predicts the next patch.
when the model has read the word model a thousand times, the rest of the word is no surprise.
the first letter of a new word is the hard part, for the next word could be almost any word.
a tokenizer cuts the text into tokens before the model sees it, and it cuts the same text the same way.
the token is fixed when the tokenizer is trained, and the patch is cut when the text is read.
the model predicts the token, the reader reads the token, and the writer wrote the token.
where the next byte is easy to predict, the bytes stay together in one long patch.
where the next byte is hard to predict, a new patch begins and the large model runs once more.
the price of a model is the number of times that it runs, so long patches are cheap patches.
the old lighthouse keeper reads the weather in the morning and writes it down in the evening.
the model reads the letters of the keeper and predicts what the weather will be.
every byte of the text belongs to one patch, and every patch is a piece of the text.
the text of the next page is about the model and the tokens that the model predicts.
"""

SAMPLE = _SENTENCES * 4
"""Sentences about models and tokens, four times over, so that what they share is learned."""
