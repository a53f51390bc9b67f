"""Vocabularies made of others equal those that training makes; kept ids encode as before."""

import tempfile
import warnings
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import byteloom as bl
from helpers import train_quietly
from oracle import encode_merges, encode_ranks, learn, merge_lowest
from strategies import corpora, few, merge_lists, rank_tables

TIE_BREAKS = ["smallest_pair", "huggingface", "first_seen"]
SPECIALS = ["<s>", "<s>a", "b "]

options = st.fixed_dictionaries(
    {
        "min_frequency": st.sampled_from([1, 1, 2, 3]),
        "max_token_length": st.sampled_from([None, None, None, 2, 3, 5]),
        "pattern": st.sampled_from(["none", "course-words", "cl100k"]),
    }
)
positions = st.sampled_from(["last", "first"])


def extend_quietly(tok, data, vocab_size, **chosen):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bl.TrainingWarning)
        return tok.extend(data, vocab_size, **chosen)


def without_pattern(options):
    return {name: value for name, value in options.items() if name != "pattern"}


# Smaller


@pytest.mark.parametrize("tie_break", TIE_BREAKS)
@few
@given(documents=corpora(SPECIALS), chosen=options, position=positions, share=st.floats(0, 1))
def test_resized_is_what_training_to_that_size_gives(tie_break, documents, chosen, position, share):
    train = {
        "tie_break": tie_break,
        "special_tokens": SPECIALS,
        "special_position": position,
        "eos": "<s>",
        **chosen,
    }
    tok = train_quietly(documents, 320, **train)
    size = 259 + round(share * (tok.vocab_size - 259))
    small, new_ids, report = tok.resized(size)
    assert small == train_quietly(documents, size, **train)
    assert small.training_report["counts"] == tok.training_report["counts"][: size - 259]
    assert small.training_report["merges"] == len(small.merges)
    assert len(new_ids) == tok.vocab_size
    for old, new in enumerate(new_ids.tolist()):
        assert new < 0 or small.id_to_bytes(new) == tok.id_to_bytes(old)
    assert (new_ids >= 0).sum() == size == report.kept
    assert report.dropped == tok.vocab_size - size
    assert report.moved == sum(new not in (-1, old) for old, new in enumerate(new_ids.tolist()))


@few
@given(documents=corpora(), share=st.floats(0, 1))
def test_an_alphabet_of_characters_is_resized_too(documents, share):
    train = {"alphabet": "characters", "unk": "<u>", "special_tokens": ["<u>"], "min_frequency": 1}
    least = train_quietly(documents, 2000, max_token_length=2, **train)
    least = least.vocab_size - len(least.merges)
    tok = train_quietly(documents, least + 30, **train)
    size = least + round(share * (tok.vocab_size - least))
    small, new_ids, _ = tok.resized(size)
    assert small == train_quietly(documents, size, **train)
    assert (new_ids >= 0).sum() == size


@given(ranks=rank_tables(), share=st.floats(0, 1), texts=st.lists(st.text("abc"), max_size=5))
def test_any_ranks_are_resized_so_that_ids_stay_meaningful(ranks, share, texts):
    tok = bl.Tokenizer.from_tiktoken(ranks, pattern="none", special_tokens={"<e>": 5000})
    size = 257 + round(share * (tok.vocab_size - 257))
    small, new_ids, _ = tok.resized(size)
    assert small.vocab_size == size == small.max_token_id + 1
    assert len(new_ids) == tok.max_token_id + 1
    kept = {tok.id_to_bytes(old): int(new) for old, new in enumerate(new_ids) if new >= 0}
    assert kept == {small.id_to_bytes(new): new for new in range(size)}
    # The rule of the ranks that are left.
    left = {token: new for token, new in kept.items() if token in ranks}
    rebuilt = bl.Tokenizer.from_tiktoken(left, pattern="none", special_tokens={"<e>": size - 1})
    for text in texts:
        assert rebuilt.decode(small.encode(text)) == text
        if set(rebuilt.merges) == set(small.merges):
            assert small.encode(text) == (encode_ranks(text.encode(), left) if text else [])


@pytest.mark.parametrize("pattern", ["none", "course-words"])
@few
@given(documents=corpora(SPECIALS), data=corpora(SPECIALS))
def test_pruned_by_text_its_ids_are_the_old_ones_renamed(pattern, documents, data):
    tok = train_quietly(documents, 320, pattern=pattern, special_tokens=SPECIALS, min_frequency=1)
    small, new_ids, report = tok.prune(data=data)
    used = set()
    for document in data:
        ids = tok.encode(document, allowed_special="all")
        used |= set(ids)
        assert small.encode(document, allowed_special="all") == new_ids[ids].tolist()
    made = {256 + index: pair for index, pair in enumerate(tok.merges)}
    wanted, needed = {id_ for id_ in used if id_ in made}, set()
    open_ = set(wanted)
    while open_:
        parts = {part for id_ in open_ for part in made[id_] if part in made}
        open_ = parts - needed
        needed |= parts
    expected = {*range(256), *tok.special_tokens.values(), *wanted, *needed}
    assert {old for old, new in enumerate(new_ids) if new >= 0} == expected
    assert report.builders == len(needed - wanted)
    assert [new for new in new_ids if new >= 0] == list(range(small.vocab_size))
    again = tok.prune(data=bl.PretokenCounts(data, pattern=pattern, special_tokens=SPECIALS))
    assert again.tokenizer == small
    named = tok.prune(keep=[*used, *(tok.id_to_bytes(id_) for id_ in wanted)])
    assert named.tokenizer == small
    assert named.report == report


@given(ranks=rank_tables(), data=st.lists(st.text("abc"), max_size=5))
def test_any_ranks_are_pruned_so(ranks, data):
    tok = bl.Tokenizer.from_tiktoken(ranks, pattern="none")
    small, new_ids, _ = tok.prune(data=data)
    for text in data:
        assert small.encode(text) == new_ids[tok.encode(text)].tolist()


@given(merges=merge_lists(), data=st.lists(st.text("abc"), max_size=5))
def test_any_merges_are_pruned_so(merges, data):
    try:
        tok = bl.Tokenizer.from_merges(merges, pattern="none")
    except bl.VocabularyError:
        assume(False)  # two merges made the same token
    small, new_ids, _ = tok.prune(data=data)
    for text in data:
        ids = tok.encode(text)
        assert ids == encode_merges(text.encode(), merges)
        assert small.encode(text) == new_ids[ids].tolist()


@few
@given(documents=corpora(), data=corpora(), share=st.floats(0, 1))
def test_pruned_to_a_size_the_least_used_are_gone(documents, data, share):
    tok = train_quietly(documents, 300, special_tokens=["<e>"], min_frequency=1)
    size = 257 + round(share * (tok.vocab_size - 257))
    small, new_ids, _ = tok.prune(data=data, vocab_size=size)
    assert small.vocab_size == size
    # The same, step by step.
    uses = [0] * tok.vocab_size
    for document in data:
        for id_ in tok.encode(document):
            uses[id_] += 1
    made = {256 + index: pair for index, pair in enumerate(tok.merges)}
    while len(made) > size - 257:
        parts = {part for pair in made.values() for part in pair}
        gone = min((id_ for id_ in made if id_ not in parts), key=lambda id_: (uses[id_], -id_))
        for part in made.pop(gone):
            uses[part] += uses[gone]
    assert {old for old, new in enumerate(new_ids) if new >= 0} == {*range(256), *made, tok.vocab_size - 1}
    for token in range(256, size - 1):
        assert small.encode_ordinary(small.id_to_bytes(token))[-1] < size


# Larger


@pytest.mark.parametrize("tie_break", TIE_BREAKS)
@few
@given(documents=corpora(SPECIALS), chosen=options, position=positions, first=st.integers(0, 30))
def test_extending_on_the_same_text_is_longer_training(tie_break, documents, chosen, position, first):
    train = {"tie_break": tie_break, "special_tokens": SPECIALS, "special_position": position, **chosen}
    short = train_quietly(documents, 259 + first, **train)
    extended = extend_quietly(short, documents, 310, tie_break=tie_break, **without_pattern(chosen))
    at_once = train_quietly(documents, 310, **train)
    if position == "first":
        assert extended == at_once
    spelled = [
        [(tok.id_to_bytes(left), tok.id_to_bytes(right)) for left, right in tok.merges]
        for tok in (extended, at_once)
    ]
    assert spelled[0] == spelled[1]
    assert extended.training_report["counts"] == at_once.training_report["counts"][len(short.merges) :]
    assert extended.training_report["stopped"] == at_once.training_report["stopped"]
    for token in range(short.vocab_size):
        assert extended.id_to_bytes(token) == short.id_to_bytes(token)
    assert extended.special_tokens == short.special_tokens
    back = extended.resized(short.vocab_size)
    assert back.tokenizer == short
    assert back.report.moved == 0


@pytest.mark.parametrize("tie_break", ["smallest_pair", "first_seen"])
@few
@given(documents=corpora(), first=st.integers(0, 10), min_frequency=st.sampled_from([1, 2]))
def test_characters_are_extended_so_too(tie_break, documents, first, min_frequency):
    train = {"alphabet": "characters", "unk": "<u>", "special_tokens": ["<u>"], "special_position": "first"}
    train |= {"tie_break": tie_break, "min_frequency": min_frequency}
    longest = train_quietly(documents, 2000, **train)
    least = longest.vocab_size - len(longest.merges)
    short = train_quietly(documents, least + first, **train)
    extended = extend_quietly(short, documents, 2000, tie_break=tie_break, min_frequency=min_frequency)
    assert extended == longest


@given(
    known=st.text("ab", min_size=1, max_size=12),
    words=st.lists(st.text("abxy", min_size=1, max_size=12), max_size=6),
    tie_break=st.sampled_from(["smallest_pair", "first_seen"]),
)
def test_unknown_characters_end_words(known, words, tie_break):
    tok = train_quietly(
        known,
        100,
        alphabet="characters",
        unk="<u>",
        special_tokens=["<u>"],
        pattern="none",
        special_position="first",
        max_token_length=2,
        min_frequency=1,
    )
    extended = extend_quietly(tok, words, 60, min_frequency=1, tie_break=tie_break)
    tokens = [tok.id_to_bytes(token) for token in range(1, tok.vocab_size)]
    base = len(tokens) - len(tok.merges)
    merges = [(left - 1, right - 1) for left, right in tok.merges]
    counted = {}
    for word in words:
        part = []
        for character in [*word, None]:
            if character is not None and character.encode() in tokens[:base]:
                part.append(tokens.index(character.encode()))
            elif part:
                key = tuple(encode_merges(part, merges, base))
                counted[key] = counted.get(key, 0) + 1
                part = []
    expected = [pair for pair, _ in islice(learn(counted, tie_break, 1, base=tokens), 60 - tok.vocab_size)]
    assert [(left - 1, right - 1) for left, right in extended.merges[len(merges) :]] == expected


@pytest.mark.parametrize("tie_break", ["smallest_pair", "first_seen"])
@given(
    ranks=rank_tables(),
    words=st.lists(st.text("abc", min_size=1, max_size=15), max_size=8),
    more=st.sampled_from([3, 20]),
    min_frequency=st.sampled_from([1, 2]),
    longest=st.sampled_from([None, 4, 7]),
)
def test_any_ranks_are_extended_as_the_oracle_does(tie_break, ranks, words, more, min_frequency, longest):
    tok = bl.Tokenizer.from_tiktoken(ranks, pattern="none", special_tokens={"<e>": 9000})
    extended = extend_quietly(
        tok,
        words,
        tok.vocab_size + more,
        tie_break=tie_break,
        min_frequency=min_frequency,
        max_token_length=longest,
    )
    # Symbols are numbered as training would: bytes, then tokens by rank.
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += sorted((token for token in ranks if len(token) > 1), key=ranks.__getitem__)
    numbers = {ranks[token]: number for number, token in enumerate(tokens)}
    counted = {}
    for word in words:
        key = tuple(numbers[id_] for id_ in encode_ranks(word.encode(), ranks))
        counted[key] = counted.get(key, 0) + 1
    found = learn(counted, tie_break, min_frequency, longest, base=tokens, taken=set(tokens))
    pairs = [pair for pair, _ in islice(found, more)]
    made = list(tokens)
    for left, right in pairs:
        made.append(made[left] + made[right])
    new = range(9001, 9001 + len(pairs))
    assert [extended.id_to_bytes(token) for token in new] == made[len(tokens) :]
    assert extended.vocab_size == tok.vocab_size + len(pairs)
    # It encodes by the old merges, then the new ones.
    place = {pair: len(tokens) + index for index, pair in enumerate(pairs)}
    ids = {number: id_ for id_, number in numbers.items()} | dict(zip(place.values(), new, strict=True))
    for word in words:
        start = [numbers[id_] for id_ in encode_ranks(word.encode(), ranks)]
        merged = merge_lowest(start, lambda a, b: place.get((a, b)), lambda a, b: place[a, b])
        assert extended.encode(word) == [ids[number] for number in merged]


@few
@given(documents=corpora(SPECIALS), data=corpora(SPECIALS))
def test_changed_ones_are_saved_and_read_as_any_other(documents, data):
    tok = train_quietly(documents, 290, special_tokens=SPECIALS, min_frequency=1)
    extended = extend_quietly(tok, data, 310, min_frequency=1)
    small = extended.resized((259 + extended.vocab_size) // 2).tokenizer
    for made in (extended, extended.prune(data=data).tokenizer, small):
        again = bl.Tokenizer.from_bytes(made.to_bytes())
        assert again == made
        for document in data:
            ids = made.encode(document, allowed_special="all")
            assert again.encode(document, allowed_special="all") == ids
            assert made.decode(ids) == document


@given(
    ranks=rank_tables(),
    data=st.lists(st.text("abc"), max_size=6),
    texts=st.lists(st.text("abc", max_size=30), max_size=6),
)
def test_rank_files_hold_changed_ranks_or_are_refused(ranks, data, texts):
    tok = bl.Tokenizer.from_tiktoken(ranks, pattern="none")
    changed = [
        tok.resized((256 + tok.vocab_size) // 2).tokenizer,
        tok.prune(data=data).tokenizer,
        tok.prune(data=data, vocab_size=(256 + tok.vocab_size) // 2).tokenizer,
        extend_quietly(tok, data, tok.vocab_size + 5, min_frequency=1),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ranks.tiktoken")
        for made in changed:
            try:
                made.save_tiktoken(path, lossy=True)
            except bl.FormatError:
                continue
            again = bl.Tokenizer.load(path, pattern="none")
            for text in [*data, *texts]:
                assert again.encode(text) == made.encode(text)


# Seeds


seeds = st.lists(st.text("abc ", min_size=1, max_size=9), min_size=1, max_size=6)


@pytest.mark.parametrize("tie_break", TIE_BREAKS)
@few
@given(documents=corpora(), wanted=seeds, room=st.integers(0, 60), position=positions)
def test_seeds_are_tokens_behind_those_of_the_text(tie_break, documents, wanted, room, position):
    train = {
        "tie_break": tie_break,
        "pattern": "none",
        "special_tokens": ["<e>"],
        "special_position": position,
    }
    size = 257 + room
    try:
        tok = train_quietly(documents, size, seed_tokens=wanted, **train)
    except bl.TrainingError as error:
        assert "more tokens than vocab_size leaves room for" in str(error)
        assert room < sum(len(seed) for seed in wanted)
        return
    for seed in wanted:
        assert len(tok.encode(seed)) == 1
    plain = train_quietly(documents, size, **train)
    added = tok.training_report["seed_tokens"]["added"]
    base = 256 + (position == "first")
    learned = (added[0] - base) if added else len(tok.merges)
    assert tok.merges[:learned] == plain.merges[:learned]
    assert added == list(range(base + learned, base + learned + len(added)))
    assert tok.vocab_size == size or (
        learned == len(plain.merges) and tok.training_report["stopped"] != "vocab_size"
    )
    counts = tok.training_report["counts"]
    assert len(counts) == len(tok.merges)
    assert counts[:learned] == plain.training_report["counts"][:learned]
    assert counts[learned : learned + len(added)] == [0] * len(added)
    # What came behind the seeds was learned from the text as it was then.
    behind = learned + len(added)
    if behind < len(tok.merges):
        before = tok.resized(257 + behind).tokenizer
        more = extend_quietly(before, documents, size, tie_break=tie_break)
        assert [more.id_to_bytes(a) + more.id_to_bytes(b) for a, b in more.merges] == [
            tok.id_to_bytes(a) + tok.id_to_bytes(b) for a, b in tok.merges
        ]
