"""What a tokenizer should do, as plainly as possible: the slow truth that the engine is tested against."""

import re
from collections import Counter
from itertools import islice, pairwise

# The built-in patterns that mean what Python's `re` makes of them.
COURSE_PATTERNS = {
    "none": r"(?s:.+)",
    "simple": r"\s+|\S+",
    "course-words": r" ?\w+| ?[^\w\s]+|\s+",
    "course-ws": r"\s?\w+|\s?[^\w\s]+|\s+",
    "course-gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?[^\s\w]+| ?_+|\s+(?!\S)|\s+",
}


def split(text, pattern):
    """The pre-tokens of `text`; every character is in exactly one.

    >>> split("Two  cats!", "course-words")
    ['Two', '  ', 'cats', '!']
    """
    return re.findall(COURSE_PATTERNS[pattern], text)


def split_specials(text, specials):
    """`text` cut at special tokens, leftmost then longest, as `(part, is_special)`; no part is empty.

    >>> split_specials("a<x>b<x>>", {"<x>", "<x>>"})
    [('a', False), ('<x>', True), ('b', False), ('<x>>', True)]
    """
    parts, ordinary, at = [], "", 0
    while at < len(text):
        found = max((s for s in specials if text.startswith(s, at)), key=len, default=None)
        if found is None:
            ordinary += text[at]
            at += 1
        else:
            parts += [(ordinary, False), (found, True)]
            ordinary, at = "", at + len(found)
    return [part for part in [*parts, (ordinary, False)] if part[0]]


def merge_lowest(symbols, rank, join):
    """Joins neighbours, one pair at a time: the lowest rank first, leftmost among equals.

    `rank(left, right)` is the rank of a pair, `None` where it does not merge.
    """
    symbols = list(symbols)
    while True:
        ranks = [rank(left, right) for left, right in pairwise(symbols)]
        if all(found is None for found in ranks):
            return symbols
        lowest = min(found for found in ranks if found is not None)
        at = ranks.index(lowest)
        symbols[at : at + 2] = [join(symbols[at], symbols[at + 1])]


def encode_ranks(piece, ranks):
    """One pre-token by tiktoken's rule: a pair merges if its bytes are a token; the id is the rank.

    A pre-token that is a token as a whole is that token, even where merges would not build it.

    >>> encode_ranks(b"abcab", {b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"abc": 4})
    [4, 3]
    """
    if piece in ranks:
        return [ranks[piece]]
    single = [piece[i : i + 1] for i in range(len(piece))]
    tokens = merge_lowest(single, lambda a, b: ranks.get(a + b), lambda a, b: a + b)
    return [ranks[token] for token in tokens]


def encode_merges(piece, merges, base=256):
    """One pre-token by a list of merges of ids: bytes are 0 to 255, and merge `i` makes the id `256 + i`.

    With another number of base symbols, `piece` is their numbers; one that is unknown is `None`.

    >>> encode_merges(b"aaaa", [(97, 97)])
    [256, 256]
    >>> encode_merges([0, 1, None], [(0, 1)], base=2)
    [2, None]
    """
    made = {pair: base + index for index, pair in enumerate(merges)}
    return merge_lowest(piece, lambda a, b: made.get((a, b)), lambda a, b: made[a, b])


def count_words(documents, split, specials=()):
    """How often each pre-token occurs, in order of first appearance; a special token ends a document."""
    words = Counter()
    for document in documents:
        for part, is_special in split_specials(document, specials):
            if not is_special:
                words.update(piece.encode() for piece in split(part))
    return words


PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
PLACES = {byte: place for place, byte in enumerate(dict.fromkeys([*PRINTABLE, *range(256)]))}


def hugging_face_order(token_id):
    """A key that sorts ids as Hugging Face numbers them: printable bytes, the other bytes, merged tokens."""
    return PLACES.get(token_id, token_id)


def train(words, merges, tie_break="smallest_pair", min_frequency=2, max_token_length=None, **more):
    """The pairs that training joins, at most `merges` of them; every round counts everything anew.

    `words` maps a pre-token to how often it occurs, in order of first appearance.

    >>> train({b"aaabdaaabac": 1}, 3)
    [(97, 97), (97, 98), (256, 257)]
    >>> train({b"aaabdaaabac": 1}, 3, "first_seen")
    [(97, 97), (256, 97), (257, 98)]
    """
    learned = learn(words, tie_break, min_frequency, max_token_length, **more)
    return [pair for pair, _ in islice(learned, merges)]


def learn(words, tie_break, min_frequency=2, max_token_length=None, base=None, taken=()):
    """Every pair that training joins, one after the other, with its count. Takes what `rounds` takes."""
    for _, ranked in rounds(words, tie_break, min_frequency, max_token_length, base, taken):
        yield ranked[0]


def rounds(words, tie_break, min_frequency=2, max_token_length=None, base=None, taken=()):
    """The tokens before each merge, and all pairs that might be joined, with their counts, the best first.

    `base` are the symbols that words are made of, by number: the bytes unless given. No merge makes one of
    `taken`.
    """
    tokens = [bytes([byte]) for byte in range(256)] if base is None else list(base)
    states = [(list(word), times) for word, times in words.items()]
    order = {
        "smallest_pair": lambda pair: pair,
        "huggingface": lambda pair: (hugging_face_order(pair[0]), hugging_face_order(pair[1])),
        "first_seen": lambda _: (),  # they stay in the order in which they are met
    }[tie_break]
    while True:
        counts = Counter()
        for state, times in states:
            for pair in pairwise(state):
                counts[pair] += times
        allowed = [
            ((left, right), count)
            for (left, right), count in counts.items()
            if count >= min_frequency
            and tokens[left] + tokens[right] not in taken
            and (max_token_length is None or len(tokens[left] + tokens[right]) <= max_token_length)
        ]
        if not allowed:
            return
        ranked = sorted(allowed, key=lambda item: (-item[1], order(item[0])))
        yield tokens, ranked
        best = ranked[0][0]
        tokens.append(tokens[best[0]] + tokens[best[1]])
        for state, _ in states:
            join_everywhere(state, best, len(tokens) - 1)


def number_characters(words):
    """The characters of `words` in order, and the words as numbers of characters.

    >>> number_characters({"ba".encode(): 2})
    (['a', 'b'], {(1, 0): 2})
    """
    texts = {word.decode(): times for word, times in words.items()}
    characters = sorted({character for text in texts for character in text})
    return characters, {tuple(map(characters.index, text)): times for text, times in texts.items()}


def join_everywhere(state, pair, new_id):
    """Replaces `pair` by `new_id` in `state`, left to right without overlaps."""
    at = 0
    while at < len(state) - 1:
        if (state[at], state[at + 1]) == pair:
            state[at : at + 2] = [new_id]
        at += 1
