"""A conversation as one stream of ids, each control token a single id.

Answers "Chat Templates: Encoding a Conversation" of the third course.
"""

from __future__ import annotations

from byteloom.course.module03 import (
    CHAT_TOKENS,
    BPETokenizer,
    chat_token_ids,
    chatml_segments,
    encode_chat,
    render_chatml,
)

conversation = [
    {"role": "system", "content": "You are a helpful assistant."},
    {"role": "user", "content": "What is 2+2?"},
]
print(render_chatml(conversation, add_generation_prompt=True))
print("Control tokens:", CHAT_TOKENS)

tok = BPETokenizer(vocab_size=300)
tok.train("you are a helpful assistant what is 2 + 2 system user", show_progress=False)
ids = encode_chat(tok, conversation, add_generation_prompt=True)
print(f"{len(ids)} tokens:")
print(ids)
print("the two control tokens:", chat_token_ids(tok))
print(f"ordinary tokens: 0..{len(tok.vocab) - 1}")

# The course says that the segments were printed above. They were not; here they are.
for kind, text in chatml_segments(conversation, add_generation_prompt=True):
    print(f"  {kind:7} {text!r}")
