"""What the byte model of the third course learns from, and the sentence it is shown. Run it to see them.

Every figure of "Beyond Tokens" hangs on these bytes, so the five sentences are the course's own.
"""

from __future__ import annotations

NEXT = "the next token"
ONE_ROUND = [
    f"the model learns to predict {NEXT} from the previous tokens.",
    f"a language model predicts {NEXT}.",
    "the model reads the tokens and learns the patterns in the tokens.",
    "attention lets the model read every token.",
    "the transformer predicts tokens one token at a time.",
]
CORPUS = " ".join(ONE_ROUND * 6) + " "
SENTENCE = f"the model predicts {NEXT}"

if __name__ == "__main__":
    print(f"{len(CORPUS):,} bytes, one sixth of it:")
    print("\n".join(ONE_ROUND))
    print(f"the sentence, {len(SENTENCE)} bytes: {SENTENCE}")
