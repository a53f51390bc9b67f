"""Three courses that build a tokenizer from scratch, with their own names and results, on byteloom's engine.

A reader of one of the courses changes one import, and everything it prints comes out the same, only fast:

- `byteloom.course.step1`: a byte-level tokenizer in one class, 1,024 tokens, rules saved as JSON;
- `byteloom.course.lesson2`: byte-pair encoding as a handful of functions and one dict of merges;
- `byteloom.course.module03`: tokenizers of characters and of bytes, GPT-2's pre-tokens, special tokens,
  chat templates, byte-latent patches.

The classes have `to_tokenizer()`: the same ids as a `byteloom.Tokenizer`, which does everything else.

>>> from byteloom.course.step1 import Tokenizer
>>> tok = Tokenizer.train("the cat and the can and the cat", 270)
>>> tok.encode("the cat")
[259, 263]
>>> tok.to_tokenizer().encode("the cat")
[259, 263]
"""

__all__ = ["lesson2", "module03", "step1"]
